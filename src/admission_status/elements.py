"""The vocabulary of the kit, in one place: four elements, three classes, each element's own words, the reply's shape.

The words stand in `policy.json` and are read here; prompt, recheck, floors, scores and board ask this module. A reply
nests its answers, four objects in a list; everything behind it works on the flat form, one name a value.
"""
from collections import namedtuple

from src.shared.files import BadData
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


def load(policy, path):
    """policy.json's elements as {name: Element}, the order first. BadData lists what is missing."""
    entries, problems = policy.get("elements", {}), []
    for name in ELEMENTS:
        entry = entries.get(name, {})
        for part in ("words", "means"):
            if set(entry.get(part, {})) != set(CLASSES):
                problems.append(f"{path}: /elements/{name}/{part}: one text for each of {', '.join(CLASSES)} is wanted")
        if len(set(entry.get("words", {}).values())) < len(CLASSES):
            problems.append(f"{path}: /elements/{name}/words: a word stands for two classes; give each its own")
    supports = policy.get("rulebook", {}).get("decisions", {})
    if tuple(supports) != SUPPORTS:
        problems.append(f"{path}: /rulebook/decisions: this kit's verdicts are {', '.join(SUPPORTS)}, in this order")
    if problems:
        raise BadData(*problems)
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
