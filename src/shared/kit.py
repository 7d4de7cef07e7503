"""What a kit is, and how one is found: by its marker `data/K/kit.json`, never by a list.

A kit is one value, `KIT` in `src/K/kit.py`: functions over a *book*, which is everything read once from the kit's data
folder. In a stand-alone kit the data lies directly in `data/` and the runs directly in `results/`.
"""
import decimal
import functools
import importlib
import os
from collections import namedtuple
from pathlib import Path

from src.shared import shapes
from src.shared.fields import near
from src.shared.files import BadData, Problems, read_json, read_jsonl, read_text

ROOT = Path(__file__).resolve().parents[2]
MARKER = "kit.json"

# load(data folder) → book, validated
# keys(book) → every key that a reply is asked for
# required(book) → those of them without which an object is no reply
# schema(book) → JSON schema of a reply, for JSON_MODE=schema
# prompt(book, document id, text, guarded) → [Part], fixed ones first; guarded=False sends the whole page
# normalise(book, object of the reply) → Answer
# recheck(book, document id, Answer) → Answer with the decided fields derived anew
# decide(book, inputs) → {decided keys…, "trace", "flags", "notes"}; BadData where nothing can be decided
# panels(book, document id, text, {name: Answer}) → [panel] for the board
# build(book, seed) → {path in the data folder: text}: the corpus and its key
# vocabularies(book) → {key: allowed words}: a reply outside them gives way to one inside, so an example is no answer
# headline(book) → blame.Headline: what is asked when a headline answer is wrong, or None where nothing is to be told
# and of a kit whose documents follow one another, else None:
# step(book, inputs, kept state as JSON or None) → (what decide gives, the state to keep)
# schedule(book, states=paths or facts=path) → what tools/due.py asks for: positions of the runs taken, and when a roster
# is stale
# settings: names of the shares that kit.json sets and `book.settings` holds
# variants {arm: (letter of its run ids, function in place of prompt)}: prompts that differ in one block
Definition = namedtuple("Definition", "load keys required schema prompt normalise recheck decide panels build "
                                      "step schedule variants vocabularies headline settings",
                        defaults=(None, None, None, lambda book: {}, lambda book: None, ()))

# values {field: value}, problems {field: {"raw", "why"}} of what could not be read, trace of the rules or None;
# document is the id where it is known, which a reply does not say
Answer = namedtuple("Answer", "values problems trace document", defaults=(None,))


class Kit:
    """A kit opened on a data folder: its definition bound to its book."""

    def __init__(self, name, data, results, alone):
        self.name, self.data, self.results, self.alone = name, Path(data), results, alone
        self._corpus = os.path.join(self.data, "corpus", "")
        self.definition = importlib.import_module(f"src.{name}.kit").KIT
        wrong = Problems()
        self.about = _about(self.data / MARKER, name, self.definition.settings, wrong.found)
        self.book = wrong.of(self.definition.load, self.data)
        wrong.refuse()
        if self.definition.settings:
            self.book = self.book._replace(settings=self.about["settings"])

    @property
    def hyphened(self):
        """The kit's name as run ids spell it."""
        return self.name.replace("_", "-")

    def set(self, name, value):
        """Change one of the settings that kit.json names, for this opened kit alone: a share from 0 to 1.

        BadData for a name that it has not, and for any other value.
        """
        known = self.about.get("settings", {})
        if name not in known:
            raise BadData(f"--set {name}: {self.name} has no such setting{near(name, known)}"
                          + (f"; settings: {', '.join(known)}" if known else ""))
        if not SHARE.holds(value):
            raise BadData(f"--set {name}: {value} is no share; a number from 0 to 1 is wanted")
        self.book = self.book._replace(settings={**self.book.settings, name: value})

    def gold(self):
        """Yield the rows of the gold key in file order, one at a time: that order is the order of the documents."""
        for number, row in read_jsonl(self.data / "gold.jsonl"):
            if not is_file_name(row.get("id")):
                raise BadData(f"{self.data / 'gold.jsonl'}: line {number}: id {row.get('id')!r} is no document; it is "
                              "the name of a file in corpus/, without .txt")
            yield row

    def documents(self):
        """Yield the document ids in the order of the gold key."""
        return (row["id"] for row in self.gold())

    def text(self, document):
        """The document's page, exactly as it stands. The last few are remembered: one is gone over many times."""
        place = f"{self._corpus}{document}.txt"
        try:
            known = os.stat(place)
        except OSError:
            return read_text(place)
        return _page(place, known.st_mtime_ns, known.st_size)

    def source(self, document):
        """The document that the kit's facts are kept under: itself, but for a planted twin."""
        return document

    def prompt(self, document, guarded=True):
        """The parts of the call for one document, in send order."""
        return self.definition.prompt(self.book, document, self.text(document), guarded)


@functools.lru_cache(maxsize=128)
def _page(place, changed, size):
    return read_text(place)


def is_file_name(document):
    """Whether an id can name a file in the corpus and nothing outside it."""
    return isinstance(document, str) and document.isprintable() and document[:1] not in ("", ".") and not set(document) & set("/\\\0+")


def names():
    """The kits of this checkout, sorted; a stand-alone kit is the only one."""
    if (ROOT / "data" / MARKER).exists():
        return [_alone()]
    found = sorted(path.parent.name for path in ROOT.glob(f"data/*/{MARKER}"))
    if not found:
        raise BadData(f"{ROOT / 'data'}: no kit; a kit is a folder with a {MARKER}")
    return found


def load(name=None, data=None):
    """Open a kit by name (hyphens count as underscores; the only kit needs none), or on another data folder.

    BadData for an unknown name, with the near ones, and for everything wrong in the data folder.
    """
    known = names()
    alone = (ROOT / "data" / MARKER).exists()
    if name is None:
        if len(known) > 1:
            raise BadData(f"name a kit; kits: {', '.join(known)}")
        name = known[0]
    wanted = str(name).replace("-", "_")
    if wanted not in known:
        raise BadData(f"no kit is called {name}{near(wanted, known)}; kits: {', '.join(known)}")
    results = ROOT / "results" if alone else ROOT / "results" / wanted
    if data is not None and not Path(data).is_dir():
        raise BadData(f"{data}: no such folder; --data names a folder with {MARKER}, fields.json, corpus/ …")
    return Kit(wanted, home(wanted) if data is None else data, results, alone)


def home(name):
    """The kit's own data folder in this checkout."""
    return ROOT / "data" if (ROOT / "data" / MARKER).exists() else ROOT / "data" / name


def _alone():
    about = read_json(ROOT / "data" / MARKER)
    if not isinstance(about, dict) or not isinstance(about.get("kit"), str):
        raise BadData(f"{ROOT / 'data' / MARKER}: /kit: the name of the kit is missing")
    return about["kit"]


def _about(path, name, settings, problems):
    """kit.json of the kit of this name, whatever else it says of itself."""
    own = shapes.Kind(lambda value: value == name, f"{name}, whose files these are")
    shares = shapes.record(dict.fromkeys(settings, SHARE))
    return shapes.read(path, {"kit": own, **ABOUT, "settings": shares}, problems,
                       (*SOME, *["settings"] * (not settings)), beside=True)


def _is_share(value):
    """Whether a setting's value is a share: nan and what is outside 0 to 1 is none."""
    number = isinstance(value, (int, float, decimal.Decimal)) and not isinstance(value, bool)
    return number and (not isinstance(value, decimal.Decimal) or value.is_finite()) and 0 <= value <= 1


SHARE = shapes.Kind(_is_share, "a share, a number from 0 to 1")
# What every kit.json says, and what of it may be left out; a kit may say more.
ABOUT = {**dict.fromkeys(("title", "decides", "document", "documents", "primary_metric", "id"), shapes.SAID),
         **dict.fromkeys(("seed", "size"), shapes.WHOLE)}
SOME = ("id", "document", "seed", "size")
