"""A quote and a document → where the quote stands, and whether it is the labelled line: fold, locate, credit.

Spans are (start, end) in code points of the document as given. An exact match wins. Otherwise both texts are folded
(kinds of quotation marks, dashes and blanks, case, composed and decomposed letters, bullets, hyphens at line ends),
with a map back, so that a highlighted span is exactly the characters that were quoted. There is no similarity: words
left out, swapped or spelt otherwise are not found, nor is anything that begins or ends within a word or a number.
Digits, fractions, accents and relation signs are never folded (NFKC would read 10² as 102).
"""
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import namedtuple
from functools import lru_cache

MIN_CHARS = 3  # letters and digits; a shorter quote is evidence for anything
COVERAGE_MIN = .60
PRECISION_MIN = .30

# spans: every place, in order. how: "exact", "folded" or None. reason: None, or absent, elided, empty, too_short.
# flags: what had to be done to the quote first, or whole_document.
Located = namedtuple("Located", "spans how reason flags")
# span: the best occurrence or None; coverage of the labelled span by it, and precision, the labelled part of it.
Credit = namedtuple("Credit", "credited coverage precision span")
_Folded = namedtuple("_Folded", "text starts ends joints joint_at")

_NOTHING = "\u200b-\u200f\u2060\ufeff"
_MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
_DASHES = "-\u2010-\u2015\u2212\ufe58\ufe63\uff0d"
_BULLET = r"[•‣◦▪●∙·*–—-](?=[ \t])\s+"
_PIECE = re.compile(
    rf"(?P<blank>\s*\n[ \t]*{_BULLET}|\s+)|(?P<bullet>\A{_BULLET})|(?P<nothing>[{_NOTHING}]+)"
    rf"|(?<=[\w{_MARKS}])(?P<joint>-{{2,3}}|[{_DASHES}\xad])[{_NOTHING}]*(?P<gap>\s*)(?=\w)"
    rf"|(?P<dash>-{{2,3}}|[{_DASHES}])|\xad"
    rf"|(?P<plain>[!#-&(-,./-_a-~]+(?![{_MARKS}]))|(?P<letter>.[{_MARKS}]*)", re.DOTALL)
_AS = {mark: folded for marks, folded in (("„“”‟«»＂", '"'), ("‚‘’‛‹›ʼ´`", "'"), ("…", "...")) for mark in marks}
_ELLIPSIS = re.compile(r"\.{3}|…|\. \. \.")
_EDGE_BLANKS = rf"[\s{_NOTHING}]+"
_CONTROLS = {"\f": r"\f", "\b": r"\b", "\t": r"\t", "\r": r"\r", "\n": r"\n"}


def locate(document, quote):
    """Every place where `quote` stands in `document`, as a Located.

    >>> locate("Note: the patient’s “pain score” was 3.", 'the patient\\'s "pain score"').spans
    [(6, 32)]
    """
    stripped = re.sub(rf"\A{_EDGE_BLANKS}|{_EDGE_BLANKS}\Z", "", quote)
    if not stripped:
        return Located([], None, "empty", [])
    if sum(map(str.isalnum, stripped)) < MIN_CHARS:
        return Located([], None, "too_short", [])
    for variant, flags in _variants(stripped, quote):
        spans, how = _find(document, variant)
        if spans:
            if (spans[0][1] - spans[0][0]) == len(document.strip()):
                flags = flags + ["whole_document"]
            return Located(spans, "folded" if "backslash_reading" in flags else how, None, flags)
    return Located([], None, "elided" if _ELLIPSIS.search(stripped) else "absent", [])
