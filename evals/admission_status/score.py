"""Grade one answer of admission_status against its gold row: findings, values, citations, verdict, named errors.

A citation is located on the clean record's own characters and credited by overlap with the labelled line; the two
floors are `coverage_min` and `precision_min` of the book's settings. No answer is a miss on every mark.
"""
from evals.shared.bench import UNANSWERED, Marks
from evals.shared.quote import credit
from src.admission_status import elements
from src.admission_status.elements import ABSENT, CONFIDENCE, ELEMENTS, EXPECTATION, ORDER, PRESENT, SUPPORT, VALUES
from src.shared import citation

# Why a record is wrong, the most expensive first: only the first is counted.
NOTHING = "nothing wrong"
CAUSES = ("no_answer", "order_gap_softened", "order_gap_invented", "order_class_confused", "value_invented",
          "expectation_misread", "value_misread", "context_misread", "support_misapplied", "quote_not_found",
          "quote_elsewhere", "quoted_nothing")
BRIER_UNITS = 10_000
# Upper edges of what is stated as confidence; 1 stands by itself.
BINS = (("below 0.5", 0.5), ("0.5 to 0.7", 0.7), ("0.7 to 0.8", 0.8), ("0.8 to 0.9", 0.9), ("0.9 to 1", 1))


def judge(kit, gold, answer):
    """Marks of an answer (raw or rechecked, or None) against gold (both typed Answers)."""
    want, got = gold.values, answer.values if answer else {}
    findings = {name: got.get(name) == want[name] for name in ELEMENTS}
    value = answer is not None and all(got[name] == want[name] and name not in answer.problems for name in VALUES)
    quotes = {name: _quote(kit, gold, got, name) for name in ELEMENTS}
    right = got.get(SUPPORT) == want[SUPPORT]
    whole = right and value and all(findings.values()) and all(quote[1] for quote in quotes.values())
    stated = any(want[name] is not None for name in VALUES)
    hits = {"support": right, "records": whole, "admitting_order": findings[ORDER],
            "elements": [sum(findings.values()), len(findings)],
            **{"value_stated" if stated else "value_absent": value}, **_citation_marks(want, quotes),
            **{f"field.{name}": hit for name, hit in findings.items()},
            **{f"field.{name}": answer is not None and got[name] == want[name] for name in VALUES}}
    errors = _errors(kit.book.elements, want, got, quotes)
    hits |= errors | _confidence(got.get(CONFIDENCE), whole)
    cells = {SUPPORT: [want[SUPPORT], got.get(SUPPORT) or UNANSWERED],
             **{name: [want[name], got.get(name) or UNANSWERED] for name in ELEMENTS},
             "cause": [NOTHING, _cause(answer, errors, findings, value, quotes, right, want)]}
    return Marks(hits, cells)


def _quote(kit, gold, got, name):
    """(found in the record or None where nothing is quoted, right) of one element's quotation."""
    labelled, quote = (values.get(elements.citation(name)) for values in (gold.values, got))
    word = elements.kind(kit.book.elements, name, got.get(name))
    if quote is None:
        return None, labelled is None and word is not None
    page = kit.source(gold.document)
    if labelled is None or word == ABSENT:
        return bool(citation.locate(kit.text(page), quote).spans), False
    found = credit(kit, page, quote, labelled)
    return found.span is not None, found.credited


def _citation_marks(want, quotes):
    """Located and credited over the elements that a line carries; rightly unquoted over those that none does."""
    carried = [quotes[name] for name in ELEMENTS if want[elements.citation(name)] is not None]
    bare = [quotes[name] for name in ELEMENTS if want[elements.citation(name)] is None]
    marks = {"located": [sum(found is True for found, _ in carried), len(carried)],
             "credited": [sum(right for _, right in carried), len(carried)],
             "uncited_right": [sum(right for _, right in bare), len(bare)]}
    return {name: hit for name, hit in marks.items() if hit[1]}


def _errors(vocabulary, want, got, quotes):
    """The named errors that this document offers an opportunity for."""
    had, has = (elements.kind(vocabulary, ORDER, values.get(ORDER)) for values in (want, got))
    errors = {}
    if want[SUPPORT] != elements.SUPPORTED:
        errors["benchmark_overstated"] = got.get(SUPPORT) == elements.SUPPORTED
    if had == PRESENT:
        errors["order_gap_invented"] = has not in (None, PRESENT)
    else:
        errors["order_gap_softened"] = has == PRESENT
        errors["order_class_confused"] = has not in (None, PRESENT, had)
    if want[SUPPORT] == elements.EXPECTATION_GAP:
        errors["gap_reported_unmet"] = got.get(SUPPORT) == elements.NOT_MET
    if all(want[name] is None for name in VALUES):
        errors["value_invented"] = any(got.get(name) is not None for name in VALUES)
    bare = [name for name in ELEMENTS if want[elements.citation(name)] is None]
    if bare:
        errors["quoted_nothing"] = any(quotes[name][0] is not None for name in bare)
    return errors


def _confidence(stated, right):
    """Where a confidence is stated: its squared error, the bin it falls in, and whether certainty was wrong."""
    if stated is None:
        return {}
    label = next((name for name, edge in BINS if stated < edge), "exactly 1")
    marks = {"brier": [round(BRIER_UNITS * (float(stated) - right) ** 2), BRIER_UNITS],
             f"record right where the confidence is {label}": right}
    return marks | ({"certain_and_wrong": not right} if stated == 1 else {})


def _cause(answer, errors, findings, value, quotes, right, want):
    """The first of CAUSES that holds, or NOTHING."""
    stated = any(want[name] is not None for name in VALUES)
    carried = [quotes[name] for name in ELEMENTS if want[elements.citation(name)] is not None]
    holds = {"no_answer": answer is None, **errors, "expectation_misread": not findings[EXPECTATION],
             "value_misread": stated and not value, "context_misread": not all(findings.values()),
             "support_misapplied": not right, "quote_not_found": any(not found for found, _ in carried),
             "quote_elsewhere": not all(right for _, right in carried)}
    return next((cause for cause in CAUSES if holds.get(cause)), NOTHING)
