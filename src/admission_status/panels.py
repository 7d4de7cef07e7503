"""What the board shows of one record: the page with its labelled lines, findings, quotations, walk and arithmetic."""
from src.admission_status import benchmark, elements, policy, recheck
from src.shared import citation
from src.shared.values import Finding
from src.shared.view import panels as draw

SUPPORTS_ONLY = ("What the evidence supports by TM-2026, for a reviewer to confirm. It determines no status and writes "
                 "none anywhere; severity, comorbidities and services reach no rule.")


def panels(book, document, text, answers):
    """The panels of one record. `answers` {name: Answer or None}, gold first."""
    return [page(text, next(iter(answers.values()))), fields(book, answers), quotations(book, text, answers),
            draw.ladder(book.table, answers, "The walk of TM-2026", lambda answer: policy.row(
                book, answer.values[elements.ORDER], recheck.count(book, document, answer)), [elements.SUPPORT]),
            *arithmetic(book, document, answers),
            draw.note(SUPPORTS_ONLY, "Supports, never determines", once=True)]


def page(text, gold):
    """The record as it stands, the line that carries each element marked."""
    spans = {}
    for name in elements.ELEMENTS:
        quote = gold.values[elements.citation(name)] if gold else None
        spans |= {name: place for place in citation.locate(text, quote or "").spans[:1]}
    counted = [elements.EXPECTATION] if elements.EXPECTATION in spans else []
    return draw.document(text, spans, title="The admission record",
                         groups=dict.fromkeys((policy.COUNT, *elements.VALUES), counted))


def fields(book, answers):
    """The verdict first, then the findings with the order in front, then what the expectation says."""
    marks = {elements.SUPPORT: elements.SUPPORT}
    marks |= {name: f"field.{name}" for name in (*elements.ELEMENTS, *elements.VALUES)}
    entries = [(name, book.fields.by_name[name].unit, mark, None) for name, mark in marks.items()]
    return draw.fields(entries + [(elements.CONFIDENCE, None, None, None), (elements.WHY, None, None, None)], answers)


def quotations(book, text, answers):
    """Each element's quotation in each answer, and whether it stands in the record."""
    rows = [[element.title, *(draw.quoted(text, answer, elements.citation(name)) for answer in answers.values())]
            for name, element in book.elements.items()]
    return draw.table(["element", *answers], rows, "Quotations")


def arithmetic(book, document, answers):
    """The count of midnights, once for all answers that read the expectation alike."""
    found = {}
    for name, answer in answers.items():
        if answer:
            key = str([answer.values.get(field) for field in (elements.EXPECTATION, *elements.VALUES)])
            found.setdefault(key, (answer, []))[1].append(name)
    return [_count(book, document, answer, "; ".join(names)) for answer, names in found.values()]


def _count(book, document, answer, names):
    title = f"Midnights: {names}"
    counted = recheck.count(book, document, answer)
    if isinstance(counted, Finding):
        return draw.note(f"The midnights cannot be counted, which is not the same as none: {counted}.", title, "warn")
    if counted is None:
        return draw.note("The admitting practitioner documents no expectation, so there is nothing to count.", title)
    values, _ = recheck.readings(book, document, answer)
    steps = benchmark.explain(values[policy.ADMITTED], *(values[name] for name in elements.VALUES), book.threshold)
    return draw.arithmetic(steps, title)
