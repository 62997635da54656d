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


classes, canonical, excluded, compatible = {}, [], [], []
for code in range(0x110000):
    if 0xD800 <= code < 0xE000 or code in HANGUL:
        continue
    char = chr(code)
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
