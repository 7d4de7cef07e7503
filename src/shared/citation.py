"""A quote and a document → where the quote stands, and whether that is the labelled line: fold, locate, credit.

Spans are (start, end) in code points of the document as given. An exact match wins. Else both texts are folded, with
a map back, so that a highlighted span is exactly the characters that were quoted. Folded are kinds of quotation
marks, dashes and blanks, case, composed and decomposed letters, ligatures, list marks, and hyphens at line ends.
Never folded: digits, fractions, accents, relation signs (NFKC would read 10² as 102). There is no similarity: a quote
with words left out, swapped or respelt is not found, nor is one that begins or ends within a word or a number.
"""
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import namedtuple
from functools import lru_cache

FINDS = 50          # times the length of a document that looking for one quote by `str.find` may read
MOST_PARTED = 30    # places that are tried before all the others
MIN_CHARS = 3  # letters and digits; a shorter quote is evidence for anything
COVERAGE_MIN = .60
PRECISION_MIN = .30

_NOTHING = "\u200b-\u200f\u2060\ufeff"
_ACCENTS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
_DASHES = "-\u2010-\u2015\u2212\ufe58\ufe63\uff0d"
# Bullets are list marks wherever they stand alone, these signs only at a line start; before a number a dash may be
# its sign, so there it is none.
_BULLET = r"(?<!\S)[•‣◦▪●∙](?!\S)"
_LIST_MARK = r"(?:[·*](?=[ \t])|[-–—](?=[ \t]+[^\s\d]))\s+"
_PLAIN = "[!#-&(-,./-_a-~]+"
_PIECE = re.compile(
    rf"(?P<blank>\s*\n[ \t]*{_LIST_MARK}|\s+)|(?P<nothing>[{_NOTHING}]+|{_BULLET})"
    rf"|(?<=[\w{_ACCENTS}])(?P<joint>-{{2,3}}|[{_DASHES}\xad])[{_NOTHING}]*(?P<gap>\s*)(?=\w)"
    rf"|(?P<dash>-{{2,3}}|[{_DASHES}])|(?P<soft>\xad)"
    rf"|(?P<plain>{_PLAIN}(?: {_PLAIN})*(?![{_ACCENTS}]))|(?P<letter>.[{_ACCENTS}]*)", re.DOTALL)
_AS = {mark: plain for marks, plain in (("„“”‟«»＂", '"'), ("‚‘’‛‹›ʼ´`", "'"), ("…", "...")) for mark in marks}
_ELLIPSIS = re.compile(r"\.{3}|…|\. \. \.")
_EDGES = re.compile(rf"\A[\s{_NOTHING}]+|[\s{_NOTHING}]+\Z")
_SPELT = {"\f": r"\f", "\b": r"\b", "\t": r"\t", "\r": r"\r", "\n": r"\n"}
_NO_JOINT = frozenset({""})
# Scripts that set no blanks between words: Thai to Lao, Burmese, Khmer, kana and Chinese.
_UNSPACED = ("\u0e00\u0eff", "\u1000\u109f", "\u1780\u17ff", "\u3040\u9fff", "\U00020000\U0003ffff")

# text: the folded text. starts, ends: for each of its characters the original span. joints: {index: readings} of the
# hyphens within words, which are not in the text but stand before the character at that index; order: its keys.
_Folded = namedtuple("_Folded", "text starts ends joints order")
# span: the best occurrence or None; coverage: its share of the labelled span; precision: the labelled share of it.
Credit = namedtuple("Credit", "credited coverage precision span")


class Located(namedtuple("Located", "spans how reason flags")):
    """spans: every place in order. how: "exact", "folded" or None. reason: None or absent, elided, empty, too_short.
    flags: outer_marks_removed, final_mark_removed, backslash_reading (done to the quote first), whole_document."""
    __slots__ = ()

    @property
    def count(self):
        return len(self.spans)


@lru_cache(maxsize=256)
def locate(document, quote):
    """Every place where `quote` stands in `document`, as a Located; one that cannot be checked is not found.

    The same question comes for every arm and column; an answer is shared and not to be changed.

    >>> locate("Note: the patient’s “pain score” was 3.", 'the patient\\'s "pain score"').spans
    [(6, 32)]
    """
    stripped = _EDGES.sub("", quote)
    if not stripped:
        return Located([], None, "empty", [])
    if sum(map(str.isalnum, stripped)) < MIN_CHARS:
        return Located([], None, "too_short", [])
    for variant, flags in _variants(stripped, quote):
        spans, how = _find(document, variant)
        if spans:
            start, end = spans[0]
            whole = ["whole_document"] if end - start == len(document.strip()) else []
            return Located(spans, "folded" if "backslash_reading" in flags else how, None, flags + whole)
    return Located([], None, "elided" if _ELLIPSIS.search(stripped) else "absent", [])


def credit(spans, labelled, coverage_min=COVERAGE_MIN, precision_min=PRECISION_MIN):
    """The best of `spans` against the labelled (start, end), as a Credit. No spans: not credited, 0 and 0.

    Credited are at least `coverage_min` of the labelled span in a quote of which at least `precision_min` is labelled.

    >>> credit([(0, 40)], (10, 20))
    Credit(credited=False, coverage=1.0, precision=0.25, span=(0, 40))
    """
    if labelled[0] >= labelled[1]:
        raise ValueError(f"the labelled span {labelled} is empty")
    best = Credit(False, 0.0, 0.0, None)
    for start, end in spans:
        overlap = max(0, min(end, labelled[1]) - max(start, labelled[0]))
        coverage, precision = overlap / (labelled[1] - labelled[0]), overlap / (end - start)
        credited = coverage >= float(coverage_min) and precision >= float(precision_min)
        if not best.span or (credited, coverage, precision) > best[:3]:
            best = Credit(credited, coverage, precision, (start, end))
    return best


def _variants(stripped, raw):
    """(quote, flags) as given, then without what a model adds to a quote, then with its lost backslashes."""
    tries = [(stripped, [])]
    if re.match(_LIST_MARK, stripped):
        tries.append(("\n" + stripped, []))  # as if at a line start, where the mark is nothing
    if {_AS.get(mark, mark) for mark in (stripped[0], stripped[-1])} in ({'"'}, {"'"}):
        tries.append((_EDGES.sub("", stripped[1:-1]), ["outer_marks_removed"]))
    tries += [(text[:-1].rstrip(), flags + ["final_mark_removed"]) for text, flags in tries
              if text[-1] in ".,;" and text[-2] != "."]
    # JSON reads the \f, \t and \b of \frac, \times and \beta as control characters; \n may be a line break as well.
    for controls in (r"[\f\x08\t\r]", r"[\f\x08\t\r\n]"):
        spelt = re.sub(controls + "(?=[A-Za-z])", lambda m: _SPELT[m[0]], raw)
        if spelt != raw:
            tries.append((_EDGES.sub("", spelt), ["backslash_reading"]))
    return tries


def _find(document, quote):
    """(spans, how): the exact places, or else the folded ones."""
    folded, sought = _fold(document), _fold(quote)
    exact = _places(document, quote, lambda at: _cuts_raw(folded, at), lambda at: True)
    spans = [(at, at + len(quote)) for at in exact]
    if spans:
        return spans, "exact"
    part, parted = sought.text.rstrip(), ([], [])
    alike = _places(folded.text, part, lambda at: _cuts(folded, at), lambda at: _joints_agree(folded, sought, at, parted))
    return [(folded.starts[at], folded.ends[at + len(part) - 1]) for at in alike], "folded"


def _places(text, part, cuts, agrees):
    """Where `part` stands in `text`, from left to right, none overlapping the one before.

    A place neither begins nor ends where `cuts` says so, and `agrees` is asked last.
    """
    free = 0
    for at in _hits(text, part):
        if at >= free and not cuts(at) and not cuts(at + len(part)) and agrees(at):
            yield at
            free = at + len(part)


def _hits(text, part):
    """Every place of `part` in `text`, overlapping ones too, in time that grows with both and not with their product."""
    at = text.find(part)
    for _ in range(1 + FINDS * len(text) // len(part)):
        if at < 0:
            return
        yield at
        at = text.find(part, at + 1)
    # A text that repeats itself; from here on by the algorithm of Knuth, Morris and Pratt, which never looks back.
    back, k = [0] * len(part), 0
    for i in range(1, len(part)):
        while k and part[i] != part[k]:
            k = back[k - 1]
        k += part[i] == part[k]
        back[i] = k
    k = 0
    for i in range(at, len(text) if at >= 0 else 0):
        while k and (k == len(part) or text[i] != part[k]):
            k = back[k - 1]
        k += text[i] == part[k]
        if k == len(part):
            yield i + 1 - k


@lru_cache(maxsize=8)
def _fold(text):
    """A text → its _Folded form."""
    out, starts, ends, joints = [], [], [], {}
    for piece in _PIECE.finditer(text):
        kind, raw, (start, end) = piece.lastgroup, piece[0], piece.span()
        if kind in ("nothing", "soft"):
            continue
        if kind == "gap":
            joints[len(starts)] = _readings(piece)
            continue
        if kind == "blank" and (not out or out[-1] == " "):
            ends[-1:] = [end] if out else []
            continue
        if kind == "plain":
            out.append(raw.lower())
            starts += range(start, end)
            ends += range(start + 1, end + 1)
            continue
        folded = " " if kind == "blank" else "-" if kind == "dash" else _AS.get(raw) or _caseless(raw)
        out.append(folded)
        starts += [start] * len(folded)
        ends += [end] * len(folded)
    return _Folded("".join(out), starts, ends, joints, list(joints))


def _caseless(letter):
    """A letter with its accents, decomposed and case folded; ligatures come apart, superscripts stay."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", letter).casefold())


def _readings(piece):
    """What the hyphen between two letters or digits may stand for: "" (nothing), "-", or "- " (with its blank)."""
    dash, gap, text = piece["joint"], piece["gap"], piece.string
    between_letters = not text[piece.start() - 1].isdigit() and not text[piece.end()].isdigit()
    if dash == "\xad":
        return {"", "-", "- "} if gap else {"", "-"}
    if not gap:
        return {"-"}
    if not gap.strip(" \t\xa0"):  # no line break
        return {"- "}
    return {"", "-", "- "} if between_letters and dash in "-\u2010" else {"-", "- "}


def _joints_agree(folded, sought, at, parted):
    """Whether the hyphens within words can be read alike in the quote and in the document behind `at`.

    parted  places in the quote, and in the document, where of late they could not be; in a text that repeats itself,
            it is most likely there again
    """
    def agree(place):
        return folded.joints.get(place + at, _NO_JOINT) & sought.joints.get(place, _NO_JOINT)

    length, (in_quote, in_document) = len(sought.text), parted
    if not all(map(agree, in_quote)) or not all(agree(place - at) for place in in_document if at < place < at + length):
        return False
    first, last = bisect_right(folded.order, at), bisect_left(folded.order, at + length)
    for place in {place - at for place in folded.order[first:last]} | set(sought.order):
        if not agree(place):
            in_quote[:] = [place, *in_quote[:MOST_PARTED]]
            in_document[:] = [place + at, *in_document[:MOST_PARTED]]
            return False
    return True


def _cuts_raw(folded, at):
    """`_cuts` for a position in the original text; a letter and its accents are never parted."""
    i = bisect_left(folded.starts, at)
    return bool(i) and folded.ends[i - 1] > at and folded.text[i - 1] != " " or _cuts(folded, i)


def _cuts(folded, i):
    """Whether a quote that begins or ends before the folded character `i` would cut a word or a number."""
    text = folded.text
    if not 0 < i < len(text):
        return False
    if folded.starts[i] == folded.starts[i - 1]:
        return True
    if i in folded.joints:
        return "" in folded.joints[i]
    left, right = text[i - 1], text[i]
    if _is_wordy(left) and _is_wordy(right):
        return not any(first <= char <= last for first, last in _UNSPACED for char in (left, right))
    if left.isalpha() and right == "'":
        return text[i + 1:i + 2].isalpha()  # "can" is not in "can't"
    if left.isdigit() and right in ".,:/":
        return text[i + 1:i + 2].isdigit()
    if right.isdigit():
        before = text[i - 2:i - 1]
        return left in ".,:/" and before.isdigit() or left == "±" or left in "-+" and before in " ([{=:<>~"
    return False


def _is_wordy(char):
    return char.isalnum() or unicodedata.category(char)[0] == "M"
