"""Read what a kit says about itself beside its figures: `board.json` of its data folder, judged as a whole.

    watched    [{"mark", "why"}]: the figures to look at, the most telling first
    ripple     [{"from", "to", "why", "measured"}]: what moves with what. "together": both are marks, and how often they
               fall together is counted; null: reasoned, and both are words
    fires      [{"gate", "mark", "value", "why"}]: thresholds of a run, fail_under a value (or the best floor) of a
               mark, or max_regressions, which names no mark
    add_first  [{"what", "why"}]: what this kit lacks most
    cadence    [{"when", "do", "why"}]: when to run what
    report     [{"id", "title", "paragraphs"}]: prose of the static report
    turns      [{"error", "on", "said_by", "word", "part", "nothing"}]: which marks of a page a named error is about,
               and which field of an answer (`turning`)
    arms       [{"arm", "says"}]: what each of the kit's own arms does, in a sentence
    terms      [{"term", "says"}]: what the kit's own words mean

A mark is written as the commands write it: `verdict` for the raw answers, `rechecked.verdict` for the others; what is
watched is shown in both. Figures in the prose are placeholders (`prose`), which are filled where it is shown.
"""
import re
from decimal import Decimal

from src.shared import shapes
from src.shared.fields import near
from src.shared.files import BadData, read_json
from src.shared.values import shown
from src.shared.view import prose

FILE = "board.json"
BRACE = re.compile(r"[{}]")
BEST_FLOOR, FAIL_UNDER, MAX_REGRESSIONS, TOGETHER = "best floor", "fail_under", "max_regressions", "together"
TEXT, OBJECTS = shapes.TEXT, shapes.Kind(lambda value: type(value) is list and all(map(shapes.OBJECT.holds, value)),
                                         "a list of objects")
MEASURED = shapes.Kind(lambda value: value in (None, TOGETHER), f"{TOGETHER!r} or null")
GATE = shapes.Kind(lambda value: value in (FAIL_UNDER, MAX_REGRESSIONS), f"{FAIL_UNDER!r} or {MAX_REGRESSIONS!r}")
LIMIT = shapes.Kind(lambda value: value == BEST_FLOOR or type(value) in (int, Decimal) and value >= 0,
                    f"{BEST_FLOOR!r} or a number from 0")
SIDES = "gold", "answer"
SIDE = shapes.Kind(lambda value: value in SIDES, f"{' or '.join(map(repr, SIDES))}")
# section {key: Kind}; every key is wanted but those in SOME, and every section but those in AT_WILL
SECTIONS = {
    "watched": {"mark": TEXT, "why": TEXT},
    "ripple": {"from": TEXT, "to": TEXT, "why": TEXT, "measured": MEASURED},
    "fires": {"gate": GATE, "mark": TEXT, "value": LIMIT, "why": TEXT},
    "add_first": {"what": TEXT, "why": TEXT},
    "cadence": {"when": TEXT, "do": TEXT, "why": TEXT},
    "report": {"id": TEXT, "title": TEXT, "paragraphs": shapes.TEXTS},
    "turns": {"error": TEXT, "on": shapes.TEXTS, "said_by": SIDE, "word": TEXT, "part": TEXT,
              "nothing": TEXT},
    "arms": {"arm": TEXT, "says": TEXT},
    "terms": {"term": TEXT, "says": TEXT},
}
AT_WILL, SOME = ("report", "turns", "arms", "terms"), ("said_by", "word", "part")
PROSE = ("why", "what", "when", "do", "title", "paragraphs", "nothing", "says")     # the keys of prose


def read(data):
    """The board of a data folder as {section: [entry]}, every section there; None where no such file is kept.

    BadData lists everything wrong with its JSON pointer.
    """
    path = data / FILE
    if not path.exists():
        return None
    found = read_json(path)
    problems = list(_misfits(found, path))
    if problems:
        raise BadData(*problems)
    return {name: found.get(name, []) for name in SECTIONS}


def kept(opened):
    """The board of an opened kit, read once; empty sections where it cannot be read, which the watch view tells."""
    if "board" not in opened.kept:
        try:
            opened.kept["board"] = read(opened.kit.data) or dict.fromkeys(SECTIONS, ())
        except BadData:
            opened.kept["board"] = dict.fromkeys(SECTIONS, ())
    return opened.kept["board"]


def texts(board):
    """Yield (JSON pointer, text) of all the prose in a board: what may hold placeholders."""
    for section, entries in board.items():
        for number, entry in enumerate(entries):
            for key, text in _texts(entry):
                yield f"/{section}/{number}/{key}", text


def filled(board, figures):
    """The same board with the figures filled into its prose; what means nothing is in `figures.unknown`."""
    return {section: [_filled(entry, figures) for entry in entries] for section, entries in board.items()}


def _texts(entry):
    """Yield (key, text) of an entry's prose; the ends of a reasoned edge are prose, of a measured one marks."""
    for key, value in entry.items():
        if key in PROSE or key in ("from", "to") and entry.get("measured") is None:
            yield from ((key, text) for text in ([value] if type(value) is str else value))


def _filled(entry, figures):
    proses = {key for key, _ in _texts(entry)}
    fill = lambda value: ([prose.fill(text, figures) for text in value] if type(value) is list
                          else prose.fill(value, figures))
    return {key: fill(value) if key in proses else value for key, value in entry.items()}


def _misfits(found, path):
    """A sentence for everything in a board that is not as it should be, with its place."""
    if not shapes.OBJECT.holds(found):
        yield f"{path}: {shown(found)} is not an object; its sections are {', '.join(SECTIONS)}"
        return
    for name in found:
        if name not in SECTIONS:
            yield f"{path}: /{name}: no such section{near(name, SECTIONS)}; sections: {', '.join(SECTIONS)}"
    yield from shapes.misfits(found, dict.fromkeys(SECTIONS, OBJECTS), f"{path}: /",
                              [name for name in SECTIONS if name not in AT_WILL])
    for name, kinds in SECTIONS.items():
        entries = found.get(name)
        for number, entry in enumerate(entries if OBJECTS.holds(entries) else ()):
            yield from _misfits_of(entry, kinds, f"{path}: /{name}/{number}")


def _misfits_of(entry, kinds, at):
    for key in entry:
        if key not in kinds:
            yield f"{at}: unknown key {key!r}{near(key, kinds)}; keys: {', '.join(kinds)}"
    needed = [key for key in kinds if key not in SOME and (key != "mark" or "gate" not in kinds)]
    unfit = list(shapes.misfits(entry, kinds, at, needed))
    yield from unfit
    if unfit:
        return
    for key, text in _texts(entry):
        if not text.strip():
            yield f"{at}: {key} is empty; write what it says, or take the entry out"
        elif BRACE.search(prose.PLACE.sub("", text)):
            yield f"{at}: {key} {shown(text)}: a brace stands alone; a placeholder is written {{name.name}}"
    yield from _misfits_of_gate(entry, at)
    if not all(entry.get("on", ["-"])):
        yield f"{at}: on holds an empty name; a mark of the page, a group of them, walk, blame, own or missed is wanted"
    if "word" in entry and "said_by" not in entry:
        yield f"{at}: said_by is missing; word is what one of {' and '.join(SIDES)} says and the other does not"


def _misfits_of_gate(entry, at):
    gate, value = entry.get("gate"), entry.get("value")
    if gate == FAIL_UNDER and "mark" not in entry:
        yield f"{at}: mark is missing; {FAIL_UNDER} names the metric that must be reached"
    if gate == FAIL_UNDER and value != BEST_FLOOR and value > 1:
        yield f"{at}: value {value} is no share; a number from 0 to 1 is wanted"
    if gate == MAX_REGRESSIONS and type(value) is not int:
        yield f"{at}: value {shown(value)} is no count; write how many documents may get worse"
    if gate == MAX_REGRESSIONS and "mark" in entry:
        yield f"{at}: mark belongs to {FAIL_UNDER}; {MAX_REGRESSIONS} looks at the headline and the first named error"
