"""admission_status on the measuring side: floors, scores, named errors in order of expense, planted faults."""
from evals.admission_status import attacks, floors, score
from evals.shared.bench import UNANSWERED, Bench, Matrix, Metric, NamedError, Score
from src.admission_status import elements

METRICS = (
    Metric("support", "support verdict", True),
    Metric("records", "record all right", True),
    Metric("admitting_order", "admitting order", False),
    Metric("elements", "element findings", False),
    Metric("value_stated", "expected date or nights", False),
    Metric("value_absent", "no value where none is stated", False),
    Metric("located", "citations found in the record", False),
    Metric("credited", "citations on the labelled line", False),
    Metric("uncited_right", "nothing quoted for nothing", False),
)

ERRORS = (
    NamedError("benchmark_overstated", "benchmark overstated", True,
               "a record was called supported that is not: an inpatient claim goes out without its evidence"),
    NamedError("order_gap_softened", "order gap softened", False,
               "an order was seen where none stands: the one line that nobody reads twice says that all is well"),
    NamedError("order_gap_invented", "order gap invented", False,
               "a signed order was overlooked: somebody chases a signature that is on file"),
    NamedError("order_class_confused", "order class confused", False,
               "missing and ambiguous were confused: the wrong thing is asked for"),
    NamedError("gap_reported_unmet", "gap reported as unmet", True,
               "a gap in the record became a finding about the stay: nobody asks for the missing sentence"),
    NamedError("value_invented", "value invented", False,
               "a date or a number of nights was given that is not the practitioner's: a count is made from it"),
    NamedError("quoted_nothing", "line quoted for nothing", False,
               "a line was offered as evidence of what the record does not carry"),
    NamedError("certain_and_wrong", "certain and wrong", False,
               "a confidence of 1 was stated for a record that is not all right"),
)


def matrices(kit):
    """The confusion matrices: the verdict, each element's words, and the first cause of a wrong record."""
    return (Matrix(elements.SUPPORT, "support", (*elements.SUPPORTS, UNANSWERED)),
            *(Matrix(name, element.title, (*element.words.values(), UNANSWERED))
              for name, element in kit.book.elements.items()),
            Matrix("cause", "first cause of a wrong record", (score.NOTHING, *score.CAUSES), True))


def overstates(kit, reply):
    """Plant a wrong verdict over right readings, which the recheck puts right."""
    return {**reply, elements.SUPPORT: elements.SUPPORTED, elements.CONFIDENCE: 1}


def sees_an_order(kit, reply):
    """Plant a misread order, which no recheck can see."""
    flat = elements.flatten(reply)
    return elements.nest({**flat, elements.ORDER: kit.book.elements[elements.ORDER].words[elements.PRESENT],
                          elements.CONFIDENCE: 0.9})


BENCH = Bench(METRICS, ERRORS, matrices, score.judge, {"rules": floors.rules, "always-present": floors.always_present},
              (overstates, sees_an_order), lambda document: None, attacks.ATTACKS,
              (Score("brier", "Brier score of the stated confidence (0 is best)", score.BRIER_UNITS),),
              tuple(map(elements.citation, elements.ELEMENTS)))
