"""Two free readers of an admission record: one goes by phrases, one says that everything is there.

`rules` is tried in earnest: phrase lists for each element over the sections of prose, a date and a number of nights
read off the line it quotes, then the very rulebook that the model is rechecked with. Its lists are in `phrases.json`.
"""
import datetime
import functools
import re

from src.admission_status import elements, recheck
from src.shared import sections, shapes
from src.shared.files import tell

FILE = "phrases.json"
WORDS = shapes.list_of(shapes.SAID)
LISTS = shapes.record(dict.fromkeys((elements.PRESENT, "and", "unless", elements.AMBIGUOUS), shapes.some(WORDS)),
                      ("and",))
PHRASES = {**dict.fromkeys(elements.ELEMENTS, LISTS), "sections": WORDS, "numbers": WORDS}
UNIT = re.compile(r"[^\n]+")
SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z0-9])")
DATED_LINE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?: [0-9]{2}:[0-9]{2})?  ")
ISO, LONG = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"), re.compile(r"([A-Z][a-z]+) ([0-9]{1,2}), ([0-9]{4})")


def rules(kit, document, text):
    """The reply of phrase lists: the first line that fits an element is its evidence."""
    phrases = _phrases(kit.book.data / FILE)
    units, flat = list(_units(text, phrases["sections"])), {}
    for name, element in kit.book.elements.items():
        kind, unit = _find(units, phrases[name])
        if name == elements.EXPECTATION and kind == elements.PRESENT:
            values = _values(unit, phrases["numbers"])
            kind = elements.PRESENT if any(value is not None for value in values.values()) else elements.AMBIGUOUS
            flat |= values
        flat |= {name: element.words[kind], elements.citation(name): unit}
    answer = recheck.recheck(kit.book, kit.source(document), recheck.normalise(kit.book, flat))
    return elements.nest(flat | {elements.SUPPORT: answer.values[elements.SUPPORT]})


def always_present(kit, document, text):
    """Says that all four elements are there, quotes nothing, reads no date and offers no verdict."""
    return elements.nest({name: element.words[elements.PRESENT] for name, element in kit.book.elements.items()})


def _units(text, titles):
    """The dated lines and the sentences of the named sections, in order."""
    for section in sections.cut(text):
        for line in UNIT.findall(sections.body(text, section)) if section.title in titles else ():
            yield from [line] if DATED_LINE.match(line) else SENTENCE_END.split(line)


def _find(units, lists):
    """(class, the unit) of the first that fits the present phrases, else the ambiguous ones; (ABSENT, None) else."""
    for unit in units:
        needed = [part for part in (elements.PRESENT, "and") if part in lists]
        if all(lists[part].search(unit) for part in needed) and not lists["unless"].search(unit):
            return elements.PRESENT, unit
    unit = next((unit for unit in units if lists[elements.AMBIGUOUS].search(unit)), None)
    return (elements.AMBIGUOUS if unit else elements.ABSENT), unit


def _values(unit, numbers):
    """The expected date, or else the number of nights, that a line states; its own leading date is not one of them."""
    unit = DATED_LINE.sub("", unit, count=1)
    found = ISO.search(unit)
    date = found[0] if found else _long_date(LONG.search(unit))
    words = "|".join(["[0-9]+", *map(re.escape, numbers)])
    nights = re.search(rf"\b({words})(?: further| more)? (?:mid)?nights?\b", unit, re.IGNORECASE)
    word = nights[1].lower() if nights and not date else None
    return {elements.DISCHARGE: date, elements.NIGHTS: numbers.index(word) if word in numbers else word and int(word)}


def _long_date(found):
    try:
        return found and datetime.datetime.strptime(found[0], "%B %d, %Y").date().isoformat()
    except ValueError:
        return None


@functools.lru_cache(maxsize=None)
def _phrases(path):
    """phrases.json with a pattern in place of each list. BadData lists what is wrong in it."""
    problems = []
    found = shapes.read(path, PHRASES, problems)
    tell(problems)
    for lists in found.values():
        if isinstance(lists, dict):
            lists.update({kind: re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})", re.IGNORECASE)
                          for kind, words in lists.items()})
    return found
