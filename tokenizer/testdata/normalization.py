"""Prints ../normalization.txt: what the reference knows of decompositions and combining classes.

It has the tables of Unicode 9. What came later does not decompose, compose or move there.
"""
import unicodedata

from tokenizers import normalizers

nfd, nfkd, nfc = (form().normalize_str for form in (normalizers.NFD, normalizers.NFKD, normalizers.NFC))
HANGUL = range(0xAC00, 0xD7A4)


def combining_class(char):
    """The class, where the reference moves the character past another of a higher or lower class."""
    value = unicodedata.combining(char)
    moved = nfd("a\u0345" + char) != "a\u0345" + char or nfd("a" + char + "\u0334") != "a" + char + "\u0334"
    return value if value and (moved or char in "\u0345\u0334") else 0


def codes(text):
    return ".".join(f"{ord(c):x}" for c in text)


def known(block):
    """Whether any of the characters decomposes or moves; a newline lets neither happen across it."""
    alone, after, before = ("\n".join(form % c for c in block) for form in ("%s", "a\u0345%s", "a%s\u0334"))
    return nfd(alone) != alone or nfkd(alone) != alone or nfd(after) != after or nfd(before) != before


def characters():
    """All characters of blocks in which one is known."""
    for start in range(0, 0x110000, 0x80):
        block = [chr(c) for c in range(start, start + 0x80) if not 0xD800 <= c < 0xE000 and c not in HANGUL]
        if known(block):
            yield from block


classes, canonical, excluded, compatible = {}, [], [], []
for char in characters():
    code = ord(char)
    if nfd(char) != char:
        canonical.append(f"{code:x}={codes(nfd(char))}")
        if nfc(char) != char:
            excluded.append(f"{code:x}")
    elif combining_class(char):
        classes.setdefault(combining_class(char), []).append(f"{code:x}")
    if nfkd(char) != nfd(char):
        compatible.append(f"{code:x}={codes(nfkd(char))}")
for value in sorted(classes):
    print("class", value, *classes[value])
print("canonical", *canonical)
print("excluded", *excluded)
print("compatible", *compatible)
