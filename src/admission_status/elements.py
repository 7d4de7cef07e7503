"""The vocabulary of the kit, in one place: four elements, three classes, each element's own words, the reply's shape.

The words stand in `policy.json` and are read here; prompt, recheck, floors, scores and board ask this module. A reply
nests its answers, four objects in a list; everything behind it works on the flat form, one name a value.
"""
from collections import namedtuple

from src.shared import shapes
from src.shared import values as v
from src.shared.reply import fold_word

CLASSES = AMBIGUOUS, PRESENT, ABSENT = "AMBIGUOUS", "PRESENT", "ABSENT"
ELEMENTS = ORDER, EXPECTATION, COMORBIDITIES, SERVICES = (
    "admitting_order", "stay_expectation", "comorbidities", "services_delivered")
DISCHARGE, NIGHTS = VALUES = "expected_discharge", "expected_nights"
SUPPORT, CONFIDENCE, WHY = ANSWERS = "support", "confidence", "why"
KEYS = ("elements", *ANSWERS)
SUPPORTS = ORDER_GAP, EXPECTATION_GAP, NOT_MET, SUPPORTED = (
    "ORDER-GAP", "EXPECTATION-GAP", "BENCHMARK-NOT-MET", "INPATIENT-SUPPORTED")

# words {class: word}, means {class: what it says}
Element = namedtuple("Element", "name title words means")

_EACH_CLASS = shapes.record(dict.fromkeys(CLASSES, shapes.SAID))
ENTRIES = shapes.record(dict.fromkeys(ELEMENTS, shapes.record(
    {"title": shapes.TEXT, "words": _EACH_CLASS, "means": _EACH_CLASS}, ("title",))))


def load(entries, path, problems):
    """policy.json's elements as {name: Element}, the order first; None where they have been refused already."""
    if entries is None:
        return None
    problems += (f"{path}: /elements/{name}/words: a word stands for two classes; give each its own"
                 for name in ELEMENTS if len(set(map(v.fold_word, entries[name]["words"].values()))) < len(CLASSES))
    return {name: Element(name, entries[name].get("title", name), entries[name]["words"], entries[name]["means"])
            for name in ELEMENTS}


def kind(vocabulary, element, word):
    """The class of an element's word; None for no word, and for one that is not the element's."""
    return next((kind for kind, own in vocabulary[element].words.items() if own == word), None)


def citation(element):
    """The flat name of an element's quotation."""
    return f"{element}_citation"


def flatten(reply):
    """A reply's object, or an answer that is flat already, as {flat name: raw value}; what is not answered is absent.

    Expected date and nights count on the row of the expectation only. An element answered twice gives the list of its
    findings, which no reader takes for a word.
    """
    if "elements" not in reply:
        return reply
    flat = {name: reply[name] for name in ANSWERS if name in reply}
    rows = reply["elements"] if isinstance(reply["elements"], list) else []
    for row in rows:
        element = fold_word(row.get("element"), ELEMENTS) if isinstance(row, dict) else None
        if element in flat:
            flat[element] = [flat[element], row.get("finding")]
        elif element:
            flat |= {element: row.get("finding"), citation(element): row.get("citation")}
            flat |= {name: row.get(name) for name in VALUES if element == EXPECTATION}
    return flat


def nest(flat):
    """The other way round: {flat name: value} → a reply's object, absent values null."""
    rows = [{"element": name, "finding": flat.get(name), "citation": flat.get(citation(name)),
             **{value: flat.get(value) if name == EXPECTATION else None for value in VALUES}} for name in ELEMENTS]
    return {"elements": rows, **{name: flat.get(name) for name in ANSWERS}}
