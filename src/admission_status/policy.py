"""The rulebook TM-2026 as data: load it, walk it over an order finding and a midnight count, decide one row of inputs.

`support` takes these two and nothing else: severity, comorbidities and services have no way into a rule. Whether the
order rules or the expectation decide is the order of the table, so a missing order decides even where the expectation
contradicts itself; the contradiction is flagged beside it.
"""
from collections import namedtuple
from pathlib import Path

from src.admission_status import benchmark, elements
from src.shared import fields as field_list
from src.shared import prompt, shapes, walk
from src.shared.files import BadData, Problems
from src.shared.values import Finding, Unreadable, shown

COUNT, BENCHMARK, ADMITTED = "midnights", "two_midnights", "admitted_at"
ORDER_INPUT = "order_finding"
INPUTS = (ORDER_INPUT, elements.DISCHARGE, elements.NIGHTS, ADMITTED)
KNOWN = (*INPUTS, elements.EXPECTATION)     # of a flat row; the last may be left out

# What policy.json holds, and what of it may be left out.
VALUE = shapes.record({"value": shapes.FROM_1, **dict.fromkeys(("unit", "source", "from"), shapes.TEXT)},
                      ("unit", "source", "from"))
POLICY = {"policy": shapes.TEXT, "as_of": shapes.DATE, "values": shapes.record({BENCHMARK: VALUE}),
          "classes": shapes.TEXTS_BY_NAME, "elements": elements.ENTRIES, "rulebook": shapes.OBJECT}
SOME = ("policy", "as_of", "classes")
# The fields that the code asks for by their names, with their types.
ASKED = {**dict.fromkeys((*elements.ELEMENTS, elements.SUPPORT), "enum"), elements.DISCHARGE: "date",
         **dict.fromkeys((elements.NIGHTS, elements.CONFIDENCE, COUNT, BENCHMARK), "number"), ADMITTED: "datetime",
         **dict.fromkeys((*map(elements.citation, elements.ELEMENTS), elements.WHY), "text")}

# data folder, Fields of all, the list of those that a reply holds, walk.Table, {name: Element}, the benchmark,
# {document: encounter facts}, settings of the scorer, the prompt's Template, as-of date
Book = namedtuple("Book", "data fields reply table elements threshold records settings template as_of")


def load(data):
    """Everything of a data folder, validated together. BadData lists what is wrong."""
    data, wrong = Path(data), Problems()
    path, where = data / "policy.json", f"{data / 'policy.json'}: /rulebook"
    policy = shapes.read(path, POLICY, wrong.found, SOME)
    document = walk.outline(where, policy["rulebook"], wrong.found)
    if document["decisions"] and tuple(document["decisions"]) != elements.SUPPORTS:
        wrong.found.append(f"{where}/decisions: this kit's verdicts are {', '.join(elements.SUPPORTS)}, in this order")
    vocabulary = elements.load(policy["elements"], path, wrong.found)
    words = {name: vocabulary and tuple(vocabulary[name].words.values()) for name in elements.ELEMENTS}
    fields = field_list.load(data / "fields.json", words | walk.vocabulary(document), wrong.found, ASKED)
    table = walk.load(where, document, fields, wrong.found, (elements.ORDER, COUNT, BENCHMARK))
    page = wrong.of(prompt.read_page, data / "policy.md")
    template = wrong.of(prompt.load, data / "prompt.md", prompt.rendered(FIXED, page, vocabulary, table))
    records = wrong.of(_records, data / "records.json")
    wrong.refuse()
    reply = [field for field in fields.all if field.name not in (ADMITTED, COUNT, BENCHMARK)]
    return Book(data, fields, reply, table, vocabulary, policy["values"][BENCHMARK]["value"], records, {}, template,
                policy.get("as_of"))


def support(book, order_finding, midnights):
    """Walk the rulebook: a walk.Decision. Its decision is None where nothing is decided, and so is then its rule.

    order_finding is a word of the order or None; midnights an int, None for no expectation, or the Finding for which
    there is no count.
    """
    walked = book.table.decide(*row(book, order_finding, midnights))
    return walked if walked.decision else walk.Decision(None, None, walked.trace, walked.error)


def row(book, order_finding, midnights):
    """(values, findings) that the rulebook is walked over, of what `support` is given."""
    unread = {COUNT: midnights} if isinstance(midnights, Finding) else {}
    return {elements.ORDER: order_finding, COUNT: None if unread else midnights, BENCHMARK: book.threshold}, unread


def count(book, values, findings):
    """Midnights of typed values: an int, None where no expectation is documented, or the Finding that forbids a count.

    Only a documented expectation is counted. Without a readable word on it (the key is there and None) there is no
    count to be had, which is not the same as no expectation; inputs without that key state it by the value alone.
    """
    word = values.get(elements.EXPECTATION, book.elements[elements.EXPECTATION].words[elements.PRESENT])
    if word is None:
        return Unreadable(elements.EXPECTATION, "has no finding, so nobody knows whether to count")
    if word != book.elements[elements.EXPECTATION].words[elements.PRESENT]:
        return None
    unread = [name for name in elements.VALUES if isinstance(findings.get(name), Finding)]
    if unread:
        # A length in another unit is there and is not counted; taken as not stated it would be reported as a gap.
        return Unreadable(findings[unread[0]].raw, findings[unread[0]].why)
    if ADMITTED in findings and any(values.get(name) is not None for name in elements.VALUES):
        return findings[ADMITTED]
    try:
        return benchmark.midnights(values.get(ADMITTED), *(values.get(name) for name in elements.VALUES))
    except benchmark.NotComputable as e:
        return e


def decide(book, inputs):
    """The rules alone: {support, rule, midnights, meets_benchmark, trace, flags, notes}; the first four are None where
    nothing is decided.

    `inputs` {order_finding, expected_discharge, expected_nights, admitted_at} with or without stay_expectation, or a
    reply's object with its `elements`; further keys are allowed. Without admitted_at that of the document `id` in records.json counts. BadData where there
    is no order finding, or where a value that a rule reads cannot be read.
    """
    raw = _raw(book, inputs)
    values, findings = book.fields.read(raw, [book.fields.by_name[name] for name in raw])
    if values[elements.ORDER] is None:
        words = ", ".join(book.elements[elements.ORDER].words.values())
        why = findings.get(elements.ORDER, f"is not stated; one of {words} is wanted")
        raise BadData("; ".join([f"{ORDER_INPUT}: {why}", *field_list.unread(_flat(inputs), KNOWN)]))
    counted = count(book, values, findings)
    walked = support(book, values[elements.ORDER], counted)
    if walked.error and not isinstance(counted, benchmark.NotComputable):
        raise BadData("; ".join(f"{name}: {finding}" for name, finding in findings.items()) or walked.error)
    number = None if isinstance(counted, Finding) else counted
    notes = _notes(book, inputs, values, findings, counted)
    return {"support": walked.decision, "rule": walked.rule, "midnights": number,
            "meets_benchmark": benchmark.meets(number, book.threshold), "trace": walked.trace,
            "flags": list(notes), "notes": list(notes.values())}


def admitted_at(book, document):
    """The document's admission as text, from the structured facts and never from the page. BadData without one."""
    try:
        return book.records[document][ADMITTED]
    except KeyError:
        raise BadData(f"{book.data / 'records.json'}: {document}: no {ADMITTED}; write the document's encounter facts, "
                      "midnights are counted from them") from None


def _raw(book, inputs):
    """{field name: raw value} of what the rules read. BadData where none of it is given."""
    flat = elements.flatten(inputs)
    nested = flat is not inputs
    rows = inputs.get("elements") if nested else []
    if not (shapes.LIST.holds(rows) and all(map(shapes.OBJECT.holds, rows))):
        raise BadData(f"elements: {shown(rows)} is no list of objects with an element and its finding")
    order = elements.ORDER if nested else ORDER_INPUT
    if not nested and not any(name in inputs for name in KNOWN):
        hints = [f"{key}{near}" for key in inputs if (near := field_list.near(key, INPUTS))]
        given = ", ".join(map(str, inputs)) or "nothing"
        raise BadData(f"none of the values that the rules read is given; got {given}; wanted: {', '.join(INPUTS)}"
                      + (f"; near: {', '.join(hints)}" if hints else ""))
    known = book.records.get(inputs.get("id"), {}) if isinstance(inputs.get("id"), str) else {}
    raw = {elements.ORDER: flat.get(order), **{name: flat.get(name) for name in elements.VALUES},
           ADMITTED: inputs.get(ADMITTED, known.get(ADMITTED))}
    # In a flat row an empty cell is not stated, as if the column were not there; in a reply the element is unanswered.
    word = flat.get(elements.EXPECTATION)
    is_stated = word is not None and not (isinstance(word, str) and not word.strip())
    return raw | ({elements.EXPECTATION: word} if nested or is_stated else {})


def _flat(inputs):
    """The keys that a flat row gives beside the document's id; a reply has keys of its own, and none of them is one."""
    return {} if elements.flatten(inputs) is not inputs else {key: inputs[key] for key in inputs if key != "id"}


def _notes(book, inputs, values, findings, counted):
    """{flag: sentence} of what a person should see beside the decision."""
    notes = {f"{name}_not_read": f"{name}: {finding}" for name, finding in findings.items()}
    if isinstance(counted, benchmark.NotComputable):
        notes[counted.flag] = str(counted)
    if counted is None and any(values[name] is not None for name in elements.VALUES):
        notes["value_without_expectation"] = "a date or nights are given beside a finding that documents no expectation"
    documented = book.elements[elements.EXPECTATION].words[elements.PRESENT]
    if counted is None and values.get(elements.EXPECTATION) == documented:
        notes["expectation_without_value"] = (f"the expectation is called {documented}, and neither a date nor nights are "
                                              "given")
    # Without a count, whatever else was given may have been meant for the value that is missing.
    unread = (field_list.misspelt if isinstance(counted, int) else field_list.unread)(_flat(inputs), KNOWN)
    return notes | ({"unknown_key": "; ".join(unread)} if unread else {})


def _records(path):
    """{document: encounter facts} of records.json; a folder that is still to be built has none."""
    return shapes.read_rows(path, {ADMITTED: shapes.TEXT}) if path.exists() else {}


def _say_elements(vocabulary):
    """The elements with their words and what each word says, for the prompt."""
    def said(element):
        return "\n".join(f"- {element.words[kind]}: {element.means[kind]}" for kind in elements.CLASSES)
    return "\n\n".join(f"{element.name}: {element.title}\n{said(element)}" for element in vocabulary.values())


# What prompt.md is filled with, once for all documents.
FIXED = {"rulebook": lambda page, vocabulary, table: page,
         "elements": lambda page, vocabulary, table: _say_elements(vocabulary),
         "supports": lambda page, vocabulary, table: prompt.render_decisions(table),
         "names": lambda page, vocabulary, table: ", ".join(vocabulary)}
