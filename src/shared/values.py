"""Raw values → values: numbers with their unit, names, lists of names, words of a vocabulary, dates.

A reader returns the value, or None where nothing is stated, or raises one of two findings: `OtherUnit` (a number was
read, in a unit that is not asked for: nothing is stated in the asked one) and `Unreadable` (a person has to look).
Both keep the raw text. Nothing here guesses: `1,200` may be either number, so it is neither.
"""
import datetime
import decimal
import functools
import re
import unicodedata

MAX_DIGITS = 30
_TOO_LARGE = 10 ** MAX_DIGITS
# A point is a decimal mark, as on the pages and in JSON. A comma is one unless it may as well be a thousands mark, as
# in `1,200`; with both kinds, or one kind twice, the groups say which is which.
_NUMBER = re.compile(r"""([+-]?)(?:
    (?P<plain>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)
    | (?P<comma>[0-9]+,[0-9]+)
    | (?P<english>[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]+ | [0-9]{1,3}(?:,[0-9]{3}){2,})
    | (?P<other>[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+ | [0-9]{1,3}(?:\.[0-9]{3}){2,})
    )(?![0-9.,]*[0-9])\s*(.*)""", re.DOTALL | re.VERBOSE)
_TWO_READINGS = re.compile(r"[1-9][0-9]{0,2},[0-9]{3}")
_SIGNS = re.compile(r"[;+&\n]")
# A name that is compared whole is made of letters, digits and these signs; any other may stand between two names.
_IN_A_NAME = frozenset(" _'.()[]%-")
_PLAIN = re.compile(r"(?=[0-9 ]*[A-Za-z])[A-Za-z0-9]+(?: [A-Za-z0-9]+)*")          # what most names are
# The numbers before a chemical name, as in 2,4-D: the one comma that parts nothing.
_LOCANTS = re.compile(r"\d{1,2}(?:,\d{1,2})+-(?=[^\W\d])")
_WORDS = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
# So may a hyphen beside a blank, a full stop before one, and the words for and, or and with on labels in Europe.
_APART = re.compile(r"\s-|-\s|(?<!\.\w)(?<!\bst)(?<!\bno)(?<!\bcv)(?<!\bvar)(?<!\bssp)(?<!\bspp)\.\s|\s(?-i:[yeoi])\s", re.I)
_BETWEEN = frozenset("and or nor plus with et ou avec und oder sowie bzw mit con och og eller en \xe9s".split())
# What stands where a name is wanted and is none: as the whole, at the beginning, or anywhere in it.
_PLACEHOLDERS = frozenset({"n a", "na", "not applicable", "unknown", "unclear", "tba", "tbc", "tbd", "nil", "null",
                           "nothing", "zero", "ditto", "same", "various", "x", "xx", "xxx"})
_NO_NAME_BEGINS = frozenset("all any every each other others everything anything see refer consult ask contact do avoid "
                            "yes as not no none aucun aucune kein keine ninguno".split())
_NO_NAME_HOLDS = frozenset("only prohibited forbidden permitted allowed except excluding unless containing including etc "
                           "label listed stated specified products mixtures formulations pesticides herbicides fungicides insecticides adjuvants "
                           "substances".split())
_REMARK_BEGINS = frozenset("not no none see unknown unclear unspecified disputed unsettled tba tbc tbd".split())
_EVERYBODY, _OF_ANY_KIND = frozenset("all any every everyone everybody".split()), frozenset(
    "department departments system systems people staff of them".split())
_TELLING = _BETWEEN | _PLACEHOLDERS | _NO_NAME_BEGINS | _NO_NAME_HOLDS | frozenset("yeoi")
_BLANKS = re.compile(r"[^\S\t\n\r\x0b\x0c\x1c-\x1f\x85\u2028\u2029]+")     # those that part no lines or columns
_SELECTORS = frozenset(map(chr, (*range(0x180b, 0x180e), *range(0xfe00, 0xfe10), 0x34f, *range(0xe0100, 0xe01f0))))
_UNSEEN, _FILLERS = ("Cc", "Cf", "Co", "Cn", "Cs", "Mn", "Me"), "\u115f\u1160"
_ALIKE = str.maketrans({"\N{RIGHT SINGLE QUOTATION MARK}": "'", "\N{HYPHEN}": "-", "\N{NON-BREAKING HYPHEN}": "-",
                        "\N{REGISTERED SIGN}": None, "\N{TRADE MARK SIGN}": None})
_DASHES = "\u00ad\u02d7\u2043\u2212"     # soft hyphen, modifier letter, bullet and minus: dashes by their looks alone
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_DATE_TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}):([0-9]{2})")
_MINUS = str.maketrans({"\N{MINUS SIGN}": "-", "\N{NO-BREAK SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " "})


class Finding(ValueError):
    """A raw value that gives no value: `.raw` as it came, `.why` in words."""

    def __init__(self, raw, why):
        super().__init__(f"{shown(raw)} {why}")
        self.raw, self.why = raw, why


class OtherUnit(Finding):
    """A number in a unit that is not the asked one: treated as not stated, with the raw text shown."""


class Absent(Finding):
    """A field that was asked for and not given at all: not stated for the rules, and yet no null was answered."""


class Unreadable(Finding):
    """A value that may mean several things, or none: a decision that needs it is refused."""


def read_number(raw, unit, words):
    """A number as Decimal or int, or None. `words` are the spellings of `unit`; "2.5 L/ha", "2,5" and 2.5 are one.

    >>> read_number("2,5 L/ha", "L/ha", frozenset({"l/ha"}))
    Decimal('2.5')
    """
    kind = type(raw)
    if raw is None or kind is int and -_TOO_LARGE < raw < _TOO_LARGE:
        return raw
    if kind is int or kind is decimal.Decimal:
        return _bounded(raw)
    if kind is str:
        return _number_of_text(raw, unit, words)
    if kind is float:
        return _bounded(decimal.Decimal(repr(raw)))
    raise Unreadable(raw, f"is {_kind(raw)} where a number{_in(unit)} is wanted")


@functools.lru_cache(maxsize=4096)
def _number_of_text(raw, unit, words):
    text = raw.translate(_MINUS).strip()
    if not text:
        return None
    found = _NUMBER.fullmatch(text)
    if not found:
        raise Unreadable(raw, f"is not one plain number{_in(unit)}; write it like 1200 or 2.5")
    if found["comma"] and _TWO_READINGS.fullmatch(found["comma"]):
        raise Unreadable(raw, f"may be two numbers{_in(unit)}; write it like 1200 or 1.2")
    tail = found[found.lastindex]
    if tail and not (tail[0].isalpha() or tail[0] in "(%"):
        raise Unreadable(raw, f"is not one plain number{_in(unit)}; write it like 1200 or 2.5")
    if tail and fold_name(tail).replace(" / ", "/").translate(_MINUS) not in words:
        if re.search("[0-9]", tail):
            raise Unreadable(raw, f"holds more than one number; one number{_in(unit)} is wanted")
        raise OtherUnit(raw, f"is not in {unit}" if unit else "carries a unit where none is expected")
    digits = (found["plain"] or (found["english"] or "").replace(",", "")
              or (found["comma"] or found["other"]).replace(".", "").replace(",", "."))
    return _bounded(decimal.Decimal(found[1] + digits))


def _bounded(number):
    if type(number) is int:
        if abs(number) < _TOO_LARGE:
            return number
    elif abs(number.adjusted()) < MAX_DIGITS and len(number.as_tuple().digits) <= MAX_DIGITS:
        return number
    raise Unreadable(str(number)[:40], f"has more than {MAX_DIGITS} digits")


def read_one_name(raw):
    """A name that is compared whole: what may be several, or stands for none, or cannot be seen whole, is refused.

    >>> read_one_name(" Winter  WHEAT ")
    'Winter WHEAT'
    """
    name = read_name(raw)
    why = name and _no_one_name(raw.strip())
    if why:
        raise Unreadable(raw, why)
    return name


@functools.lru_cache(maxsize=4096)
def _no_one_name(raw):
    """Why a text without blanks around it is not the name of one thing; None for one that is."""
    if _PLAIN.fullmatch(raw) and _TELLING.isdisjoint(raw.casefold().split()):
        return None
    name = _BLANKS.sub(" ", unicodedata.normalize("NFC", raw).translate(_ALIKE))
    # Outside the Latin script a vowel may be a mark of its own, which is seen beside the letter that it belongs to.
    name = "".join(sign for i, sign in enumerate(name) if not (_is_mark(sign) and _has_marks(name[:i])))
    unseen = next(filter(_is_unseen, name), None)
    if unseen:
        return f"holds a character that cannot be seen ({_called(unseen)}); type the name anew"
    name = _LOCANTS.sub("", name, count=1) if _LOCANTS.match(name) else name
    words = _WORDS.findall(name.casefold())
    if _is_no_name(words, name):
        return ("reads like a remark that there is no name, or which are meant; write each name as it is registered, the "
                "word none where there is none, or leave it out where it is not known")
    odd = next((sign for sign in name if not (sign in _IN_A_NAME or _is_plain(sign))), None)
    if any(name.count(opens) != name.count(closes) for opens, closes in ("()", "[]")):
        return "holds half of a pair of brackets; write each name in full, with commas between names alone"
    if not (odd or name[0].isalnum() or name[0] in "(["):
        return f"begins with {_called(name[0])}; begin with the name"
    apart = _APART.search(name)
    found = odd or apart and apart[0].strip() or next(filter(_BETWEEN.__contains__, words[:-1]), None)
    if not found and words[-1] in _BETWEEN - {"plus"}:      # which is the last word of many a product's own name
        found = words[-1]
    return found and (f"may be several names, for it holds {_called(found)}; one name is wanted, and in a list a comma "
                      f"between each two")


def _is_no_name(words, name):
    """Whether the folded words of a name say that there is none, or which ones are meant; `No. 5` is a name."""
    if not any(map(str.isalpha, name)) or " ".join(words) in _PLACEHOLDERS or not _NO_NAME_HOLDS.isdisjoint(words):
        return True
    return words[0] in _NO_NAME_BEGINS and words != ["none"] and not (words[0] == "no" and name[2:3] == ".")


def _is_unseen(sign):
    return sign in _FILLERS or unicodedata.category(sign) in _UNSEEN and not sign.isspace()


def _is_mark(sign):
    return unicodedata.category(sign) in ("Mn", "Mc") and not sign in _SELECTORS


def _has_marks(before):
    """Whether the last letter of a text is of a script whose letters take marks."""
    letter = next((sign for sign in reversed(before) if not _is_mark(sign)), "")
    return unicodedata.category(letter or " ") == "Lo" and not letter.isascii()


def _is_plain(sign):
    """Whether a sign is a letter or a digit that looks like no other: neither full-width nor raised nor joined."""
    if sign.isascii():
        return sign.isalnum()
    return unicodedata.category(sign) in ("Lu", "Ll", "Lt", "Lo") and unicodedata.normalize("NFKC", sign) == sign


def _called(text):
    """A word as it stands, a sign that may look like another with its number."""
    return repr(text) if text.isascii() and text.isprintable() or len(text) > 1 else f"{text!r} (U+{ord(text):04X})"


def read_name(raw):
    """A name as printed, blanks collapsed; None where nothing is stated."""
    if raw is None:
        return None
    if type(raw) is str:
        return " ".join(raw.split()) or None
    raise Unreadable(raw, f"is {_kind(raw)} where a name is wanted")


@functools.lru_cache(maxsize=4096)
def is_remark(name):
    """Whether a name says that there is none, is not known, or stands elsewhere, or all of them are meant.

    >>> [name for name in ("TBD", "not classified, see the narrative", "All departments", "?") if not is_remark(name)]
    []
    >>> [name for name in ("Contact Centre", "Other Income", "No. 5 Branch", "Products") if is_remark(name)]
    []
    """
    words = _WORDS.findall(name.casefold())
    return not words or " ".join(words) in _PLACEHOLDERS or words[0] in _REMARK_BEGINS and name[2:3] != "." or (
        words[0] in _EVERYBODY and set(words[1:]) <= _OF_ANY_KIND)


def read_known_name(raw):
    """A name of any wording, which may hold commas or `and`; refused is a remark in its place, and what cannot be seen.

    None where nothing is stated.
    """
    name = read_name(raw)
    why = name and _no_known_name(name)
    if why:
        raise Unreadable(raw, why)
    return name


@functools.lru_cache(maxsize=4096)
def _no_known_name(name):
    unseen = next(filter(_is_unseen, unicodedata.normalize("NFC", name)), None)
    if unseen:
        return f"holds a character that cannot be seen ({_called(unseen)}); type the name anew"
    if is_remark(name) and fold_name(name) != "none":
        return ("reads like a remark in the place of a name; write each name as it is known, or leave it out where it "
                "is not")
    return None


def read_text(raw):
    """A text exactly as it stands, such as a quotation; None where nothing is stated."""
    if raw is None or type(raw) is str:
        return raw if raw and raw.strip() else None
    raise Unreadable(raw, f"is {_kind(raw)} where a text is wanted")


def read_list(raw, allowed=None, one_name=False):
    """The names of a comma list as a tuple in printed order; `none` alone is the tuple ("none",). None if not stated.

    With `allowed`, each name has to be one of these words and is given as it is spelt there; with `one_name`, each is
    refused that `read_one_name` refuses.

    >>> read_list("winter wheat,  carrots")
    ('winter wheat', 'carrots')
    """
    if raw is None:
        return None
    if type(raw) is list and all(type(name) is str and "," not in name for name in raw):
        text = ",".join(raw)
    elif type(raw) is str:
        text = raw
    else:
        raise Unreadable(raw, f"is {_kind(raw)} where names with commas between them are wanted")
    names = _list_of_text(text, one_name)
    return names if names is None or allowed is None else tuple(read_word(name, allowed) for name in names)


@functools.lru_cache(maxsize=4096)
def _list_of_text(raw, one_name):
    if _SIGNS.search(raw.strip()):
        raise Unreadable(raw, "has other signs than commas between its names; put a comma between each two")
    parts = _parts(raw) if one_name else [part.strip() for part in raw.split(",") if part.strip()]
    names = tuple(" ".join(part.split()) for part in parts)
    if len(names) > 1 and "none" in map(fold_name, names):
        raise Unreadable(raw, "lists the word none beside names; it is either none or names")
    for part in parts if one_name else ():
        why = _no_one_name(part)
        if why:
            raise Unreadable(raw, why if len(parts) == 1 else f"lists {shown(part)}, which {why}")
    return names or None


def _parts(raw):
    """The names of a list, without blanks around them; the commas in the numbers before a chemical name part none."""
    found = re.finditer(rf"\s*((?:{_LOCANTS.pattern})?[^,]*)(?:,|\Z)", raw)
    return [name.strip() for match in found for name in match.groups() if name.strip()]


def read_word(raw, allowed):
    """The word of a closed vocabulary, spelt as in `allowed`; case, blanks, hyphens and underscores do not matter.

    >>> read_word("Wait Required", ("within_label", "wait_required"))
    'wait_required'
    """
    if raw is None:
        return None
    if type(raw) is not str:
        raise Unreadable(raw, f"is {_kind(raw)} where one of {', '.join(allowed)} is wanted")
    if raw in allowed:
        return raw
    if not raw.strip():
        return None
    hits = [word for word in allowed if fold_word(word) == fold_word(raw)]
    if not hits:
        raise Unreadable(raw, f"is not one of {', '.join(allowed)}")
    if len(hits) > 1:
        raise Unreadable(raw, f"may be {' or '.join(hits)}; spell it as one of them")
    return hits[0]


def read_date(raw):
    """An ISO calendar date as `datetime.date`; None where nothing is stated. Other spellings are refused.

    >>> read_date("2028-02-29").isoformat()
    '2028-02-29'
    """
    if raw is None or raw == "":
        return None
    if type(raw) is str and _DATE.fullmatch(raw.strip()):
        try:
            return datetime.date.fromisoformat(raw.strip())
        except ValueError:
            pass
    raise Unreadable(raw, "is not a calendar date; write it like 2026-09-01")


def read_date_time(raw):
    """A local `YYYY-MM-DD HH:MM` as `datetime.datetime`; None where nothing is stated. `24:00` is refused."""
    if raw is None or raw == "":
        return None
    found = _DATE_TIME.fullmatch(raw.strip()) if type(raw) is str else None
    if found and int(found[2]) < 24 and int(found[3]) < 60:
        day = read_date(found[1])
        return datetime.datetime(day.year, day.month, day.day, int(found[2]), int(found[3]))
    raise Unreadable(raw, "is not a local time; write it like 2026-09-01 23:59")


@functools.lru_cache(maxsize=4096)
def fold_name(name):
    """The form in which names are compared, always whole: trimmed, blanks collapsed, composed, case folded, one hyphen
    and one apostrophe for all, no signs of a trade mark, no full stop behind it."""
    return _folded(name).rstrip(". ")


@functools.lru_cache(maxsize=4096)
def fold_word(word):
    """The form in which words of a vocabulary are compared: like names, and hyphens and underscores are blanks.

    Every sign that looks like one of these is one, and a letter is the plain letter that it looks like.
    """
    if not word.isascii():
        word = "".join(map(_plain_sign, unicodedata.normalize("NFKC", word)))
    return _folded(re.sub(r"[-_\s]+", " ", word))


def _plain_sign(sign):
    """A blank for each kind of dash and low line, nothing for what is not seen, any other sign as it is."""
    if sign in _DASHES or unicodedata.category(sign) in ("Pd", "Pc"):
        return " "
    return "" if unicodedata.category(sign) == "Cf" else sign


def _folded(text):
    return unicodedata.normalize("NFC", " ".join(text.translate(_ALIKE).split())).casefold()


def unanswered(names, reply):
    """{name: Absent} of the asked `names` that a reply's object leaves out."""
    return {name: Absent(None, "was not answered") for name in names if name not in reply}


def plain(value):
    """A typed value as it stands in a JSON record: lists of names as printed, dates as ISO text, the rest as it is."""
    if isinstance(value, tuple):
        return ", ".join(value)
    return value.isoformat() if isinstance(value, datetime.date) else value


def shown(raw):
    """A raw value as a short quoted text for a message."""
    try:
        return cut(repr(str(raw) if isinstance(raw, decimal.Decimal) else raw))
    except RecursionError:
        return "a value nested too deeply to be shown"


def cut(text):
    """A text short enough for a message."""
    return text if len(text) <= 80 else text[:77] + "..."


def near(name, known, alike=0.5):
    """' (did you mean …?)' for the nearest known name, or ''.

    Of a long name the beginning may do, since that is what a person types; half of it at least.
    """
    import difflib  # only a slip pays for this import
    name, known = str(name)[:80], list(map(str, known))
    begins = {word[:len(name) + 1]: word for word in reversed(known) if len(name) < len(word) <= 2 * len(name)}
    close = difflib.get_close_matches(name, [*known, *begins], 1, alike)
    return f" (did you mean {begins.get(close[0], close[0])}?)" if close else ""


def _in(unit):
    return f" in {unit}" if unit else ""


def _kind(raw):
    return {bool: "a true/false value", list: "a list", dict: "an object", str: "a text"}.get(type(raw), "a number")
