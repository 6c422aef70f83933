#!/usr/bin/env python3
"""Writes src/text/unicode/generated/unicode_tables.inc: the Unicode facts that tokenizers depend on.

Ids must equal those of the `tokenizers` package, and that package mixes several versions of Unicode: Oniguruma's tables
(general categories, \\w), the Rust standard library's (is_numeric, lower case), and older crates' (punctuation, marks,
normalization). So each property is measured on the installed package, code point by code point, and not taken from one
version of the standard. Combining classes and case pairs start from Python's unicodedata. Takes about a minute.

usage: tools/generate_unicode.py > src/text/unicode/generated/unicode_tables.inc
"""
import sys
import unicodedata
import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
CATEGORIES = "Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co".split()


def matching(pattern):
    """Code points that Oniguruma matches with the pattern."""
    split = pre_tokenizers.Split(Regex(pattern), "removed")
    out = set()
    for i in range(0, len(POINTS), 2000):
        block = POINTS[i:i + 2000]
        kept = set("".join(piece for piece, _ in split.pre_tokenize_str("".join(map(chr, block)))))
        out.update(c for c in block if chr(c) not in kept)
    return out


def pieces(pre, c):
    return [p for p, _ in pre.pre_tokenize_str("a" + chr(c) + "a")]


def hex_rows(values, per_line=16):
    text = [("0x%x" % v) for v in values]
    return "\n".join("  " + ",".join(text[i:i + per_line]) + "," for i in range(0, len(text), per_line))


def array(kind, name, values):
    print(f"constexpr {kind} {name}[] = {{\n{hex_rows(values)}\n}};")


def packed(name, values):
    """Differences, 7 bits a byte with the lower ones first, the sign in the lowest bit: a third of
    the numbers. unicode.cpp unpacks a table when it is first asked for."""
    rows, row, previous = [], "", 0
    for value in values:
        step, previous = value - previous, value
        code = 2 * step if step >= 0 else -2 * step - 1
        while True:
            byte = "%d," % (code % 128 + (128 if code > 127 else 0))
            if len(row) + len(byte) > 99:
                rows.append(row)
                row = ""
            row += byte
            code //= 128
            if code == 0:
                break
    print("constexpr std::uint8_t %s[] = {\n%s\n};" % (name, "\n".join(rows + [row])))


def runs(value_of, shift):
    """Start points of runs of equal value, as (start << shift | value)."""
    out, last = [], None
    for c in range(0x110000):
        v = value_of(c)
        if v != last:
            out.append(c << shift | v)
            last = v
    return out


attributes = [0] * 0x110000
for index, name in enumerate(CATEGORIES):
    if name == "Cs":
        for c in range(0xD800, 0xE000):
            attributes[c] = index
    elif index:
        for c in matching(r"\p{%s}" % name):
            attributes[c] = index
digits, punctuation, words = pre_tokenizers.Digits(True), pre_tokenizers.Punctuation(), pre_tokenizers.Whitespace()
accents = normalizers.StripAccents()
pattern_word = matching(r"\w")
for c in POINTS:
    attributes[c] |= (c in pattern_word) << 5
    attributes[c] |= (len(pieces(digits, c)) > 1) << 6
    attributes[c] |= (len(pieces(punctuation, c)) > 1) << 7
    attributes[c] |= (pieces(words, c) == ["a" + chr(c) + "a"]) << 8
    attributes[c] |= (accents.normalize_str(chr(c)) == "") << 9

lowercase = normalizers.Lowercase()
lower = {c: lowercase.normalize_str(chr(c)) for c in POINTS}
lower = {c: ord(s) for c, s in lower.items() if len(s) == 1 and ord(s) != c}


def fold(c):
    s = chr(c).casefold()
    return ord(s) if len(s) == 1 else c


folds = {c: fold(c) for c in POINTS if fold(c) != c}
folds[0x1E9E] = 0xDF

nfd, nfkd, nfc = normalizers.NFD(), normalizers.NFKD(), normalizers.NFC()


def hangul(c):
    return 0xAC00 <= c < 0xD7A4


canonical = {c: nfd.normalize_str(chr(c)) for c in POINTS if not hangul(c)}
canonical = {c: s for c, s in canonical.items() if s != chr(c)}
compatible = {c: nfkd.normalize_str(chr(c)) for c in POINTS if not hangul(c)}
compatible = {c: s for c, s in compatible.items() if s != canonical.get(c, chr(c))}


def combining_class(c):
    v = unicodedata.combining(chr(c)) if not 0xD800 <= c < 0xE000 else 0
    if not v:
        return 0
    s = canonical.get(c, chr(c))
    known = (v < 240 and nfd.normalize_str("\u0345" + chr(c)) == s + "\u0345") or \
            (v > 1 and nfd.normalize_str(chr(c) + "\u0334") == "\u0334" + s)
    return v if known else 0


pairs = []
for c in canonical:
    raw = unicodedata.decomposition(chr(c)).split()
    if len(raw) == 2 and not raw[0].startswith("<"):
        first, second = int(raw[0], 16), int(raw[1], 16)
        if nfc.normalize_str(chr(first) + chr(second)) == chr(c):
            pairs.append((first, second, c))
pairs.sort()


def decompositions(name, table):
    keys, starts, text = [], [], []
    for c in sorted(table):
        keys.append(c)
        starts.append(len(text))
        text += [ord(x) for x in table[c]]
    starts.append(len(text))
    packed(f"k{name}Keys", keys)
    packed(f"k{name}Starts", starts)
    packed(f"k{name}Text", text)


print(f"// Generated by tools/generate_unicode.py on tokenizers {tokenizers.__version__} and Python's unicodedata {unicodedata.unidata_version}. Do not edit.")
print("// General categories are those of Unicode 16.0 (Oniguruma).")
print("// Runs: first code point << 10 | attributes (bits 0-4 category; 5 word of patterns, 6 numeric, 7 punctuation, 8 word of Whitespace, 9 mark that StripAccents removes).")
array("std::uint32_t", "kAttributeRuns", runs(lambda c: attributes[c], 10))
print("// Runs: first code point << 8 | canonical combining class.")
packed("kCombiningRuns", runs(combining_class, 8))
print("// Pairs: code point, lower case.")
packed("kLower", [v for c in sorted(lower) for v in (c, lower[c])])
print("// Pairs: code point, simple case folding.")
packed("kFold", [v for c in sorted(folds) for v in (c, folds[c])])
print("// Triples: first, second, composed; sorted.")
packed("kCompose", [v for p in pairs for v in p])
print("// Full canonical decompositions without Hangul, then the compatibility decompositions that differ from them.")
decompositions("Canonical", canonical)
decompositions("Compatible", compatible)
