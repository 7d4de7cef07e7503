"""What the board shows of one record: the page, the five answers, the quotation, the walk, the clock's sum, the gate.

The release gate is checked anew for every page that is shown.
"""
from src.pend_resolve import clock, policy, recheck, release
from src.shared import citation, sections
from src.shared.view import panels as draw

QUOTE = "citation"
ASKED = (policy.CAUSE, QUOTE, "resolution", "clock", "release")
BESIDE = ("confidence", "why")
GATE = ("Every resolution here is a proposal. No category is open for automatic release, nothing in a record can open "
        "one, and an examiner applies the result or does not. One would open only after: {conditions}.")


def panels(book, document, text, answers):
    """The panels of one record. `answers` {name: Answer or None}, gold first; those with a trace are walked ones."""
    release.check(book.policy, book.data / "policy.json")
    values, findings = policy.of_claim(book, document)
    counted = clock.read(book, values)
    return [page(book, text, next(iter(answers.values()))), fields(answers), quotations(text, answers),
            draw.ladder(book.table, answers, "The walk of PR-2026",
                        lambda answer: recheck.readings(book, document, answer), ["resolution"]),
            *deadline(book, values, counted),
            draw.note(GATE.format(conditions="; ".join(book.policy["release_gate"]["conditions"])), "Who applies it",
                      once=True),
            *flags(book, values, findings)]


def page(book, text, gold):
    """The record as it stands, marked on its characters: what establishes the cause, the facts that the clock and the
    resolution read, and a line that claims an open category."""
    quote = gold and gold.values[QUOTE]
    spans = sections.locate(text, book.facts)
    for place in citation.locate(text, quote).spans[:1] if quote else ():
        spans[QUOTE] = place
    for claim in book.claims_of_release:
        start = text.find(claim)
        if start >= 0:
            spans["release"] = start, start + len(claim)
    return draw.document(text, spans, title="The pend record", groups={policy.CAUSE: [QUOTE]})


def fields(answers):
    """The reading first, then what code derives, then what is only shown. Marks are named as the answers are."""
    entries = [(name, None, name, None) for name in ASKED] + [(name, None, None, None) for name in BESIDE]
    return draw.fields(entries, answers)


def quotations(text, answers):
    """What each answer quotes, and whether it stands in the record."""
    cells = [draw.quoted(text, answer, QUOTE) for answer in answers.values()]
    return draw.table(["quotation", *answers], [[QUOTE, *cells]], "Quotations")


def deadline(book, values, counted):
    """The sum of the clock, which is the same for every answer, and the deadline rule with what it leans on."""
    if counted.state is None:
        return [draw.note("No state: " + "; ".join(f"{name} is not stated or not read" for name in
                                                   clock.missing(values, counted)) + ".", "The clock", "warn")]
    rule = next(rule for rule in book.deadlines.rules if rule["id"] == counted.rule)
    return [draw.arithmetic(clock.explain(book, values, counted), "The clock, from receipt"),
            draw.state([(rule["id"], rule["decision"], f"{rule['why']} It leans on {rule['source']}.")],
                       "Which deadline, and what it leans on")]


def flags(book, values, findings):
    """A note for each contradiction among the facts of the claim."""
    raised = book.table.raised(values, findings) + book.deadlines.raised(values, findings)
    return [draw.note(flag["why"], flag["id"], "warn") for flag in raised]
