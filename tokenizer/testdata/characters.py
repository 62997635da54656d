"""Prints ../characters.txt: the character classes as the reference's own engines have them.

Each line is a name and ranges of code points. They are measured, not taken from a version of
Unicode, because the parts of the reference have different ones: patterns, digits, punctuation
and the edges of words.
"""
from tokenizers import Regex, pre_tokenizers

SURROGATES = 0xD800, 0xE000
EVERY = "".join(map(chr, [*range(SURROGATES[0]), *range(SURROGATES[1], 0x110000)]))
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co".split()
SCRIPTS = "Arabic Cyrillic Devanagari Greek Han Hangul Hebrew Hiragana Katakana Latin Thai".split()


def code(index):
    return index if index < SURROGATES[0] else index + SURROGATES[1] - SURROGATES[0]


def matches(source, text):
    """What a pattern matches in a text, with its place."""
    return pre_tokenizers.Split(Regex(source), "removed", invert=True).pre_tokenize_str(text)


def pattern(source):
    """Ranges of the characters that a pattern matches."""
    return [span for _, span in matches(source + "+", EVERY)]


def properties(names):
    """Ranges of the characters that have each of some properties, of which no character has two: all characters are looked at once."""
    runs = matches("|".join(r"\p{%s}+" % name for name in names), EVERY)
    firsts = "".join(text[0] for text, _ in runs)
    for name in names:
        yield name, [runs[i][1] for _, (i, _) in matches(r"\p{%s}" % name, firsts)]


def odd(tokenizer):
    """Ranges of the characters that a pre-tokenizer keeps together, where the first character is none of them."""
    return [span for _, span in tokenizer.pre_tokenize_str(EVERY)[1::2]]


def word():
    """Ranges of what Whitespace takes for a word: joined to a letter before it."""
    ws = pre_tokenizers.Whitespace()
    pieces = ws.pre_tokenize_str(EVERY)
    return [span for text, span in pieces if len(ws.pre_tokenize_str("a" + text[0])) == 1]


def show(name, spans):
    parts = []
    for start, end in spans:
        first, last = code(start), code(end - 1)
        halves = [(first, last)] if not first < SURROGATES[0] <= last else [(first, SURROGATES[0] - 1), (SURROGATES[1], last)]
        parts += [f"{a:x}-{b:x}" if a != b else f"{a:x}" for a, b in halves]
    print(name, *parts)


for name, spans in properties(CATEGORIES):
    show(name, spans)
show("space", pattern(r"\s"))
show("patternword", pattern(r"\w"))
show("classword", pattern(r"[\w]"))  # not the same: superscripts and fractions of Latin-1
show("numeric", odd(pre_tokenizers.Digits(individual_digits=False)))
show("punctuation", odd(pre_tokenizers.Punctuation("contiguous")))
show("word", word())
for name, spans in properties(SCRIPTS):
    show(name, spans)
