#!/usr/bin/env python3
"""Writes src/text/unicode/generated/unicode_tables.inc: the Unicode facts that tokenizers depend
on.

Ids must equal those of the `tokenizers` package, and that package mixes several versions of
Unicode: Oniguruma's tables (general categories, \\w), the Rust standard library's (is_numeric,
lower case), and older crates' (punctuation, marks, normalization). So each property is measured on
the installed package, code point by code point, and not taken from one version of the standard.
Combining classes and case pairs start from Python's unicodedata. Takes about a minute.

usage: tools/generate_unicode.py > src/text/unicode/generated/unicode_tables.inc
"""
import sys
import textwrap
import unicodedata
import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
CATEGORIES = ("Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf "
              "Cs Co").split()


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


made = []  # name, values, bytes and stride of each table


def varint(value):
    out = []
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return out + [value]


def array(name, values, stride=1):
    """A table as differences from the value `stride` before: zigzag, seven bits a byte, a third of
    its size."""
    deltas = [v - (values[i - stride] if i >= stride else 0) for i, v in enumerate(values)]
    made.append((name, values, [b for d in deltas for b in varint(2 * d if d >= 0 else -2 * d - 1)],
                 stride))


def print_tables():
    for name, _, packed, _ in made:
        rows = textwrap.wrap(", ".join(map(str, packed)), 96)
        print(f"constexpr unsigned char {name}_bytes[] = {{\n" + "\n".join(rows).replace(", ", ",")
              + "};")
    print("struct Tables {\n  Tables() {")
    for name, _, _, stride in made:
        print(f"    unpack({name}_bytes, {name}, {stride});")
    print("  }")
    for name, values, _, _ in made:
        print(f"  std::uint32_t {name}[{len(values)}];")
    print("};")


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
digits, punctuation, words = pre_tokenizers.Digits(
    True), pre_tokenizers.Punctuation(), pre_tokenizers.Whitespace()
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
    array(f"{name}_keys", keys)
    array(f"{name}_starts", starts)
    array(f"{name}_text", text)


print(f"// Generated by tools/generate_unicode.py on tokenizers {tokenizers.__version__} and "
      f"Python's unicodedata {unicodedata.unidata_version}.")
print("// Do not edit.")
print("// Tables as differences from the value a stride before: zigzag, seven bits a byte; "
      "unicode.cpp")
print("// unpacks them. General categories are those of Unicode 16.0 (Oniguruma).")
print("// attribute_runs: first code point << 10 | attributes (bits 0-4 category; 5 word of "
      "patterns, 6")
print("// numeric, 7 punctuation, 8 word of Whitespace, 9 mark that StripAccents removes).")
array("attribute_runs", runs(lambda c: attributes[c], 10))
print("// combining_runs: first code point << 8 | canonical combining class.")
array("combining_runs", runs(combining_class, 8))
print("// lower, fold: code point, its lower case or simple case folding.")
array("lower", [v for c in sorted(lower) for v in (c, lower[c])], 2)
array("fold", [v for c in sorted(folds) for v in (c, folds[c])], 2)
print("// pairs: first, second, composed; sorted.")
array("pairs", [v for p in pairs for v in p], 3)
print("// Full canonical decompositions without Hangul, then the compatibility decompositions "
      "that differ")
print("// from them.")
decompositions("canonical", canonical)
decompositions("compatible", compatible)
print_tables()
