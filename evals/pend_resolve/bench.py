"""pend_resolve on the measuring side: floors, scores, named errors in order of expense, planted faults, attacks."""
from evals.pend_resolve import attacks, floors, score
from evals.shared.bench import UNANSWERED, Bench, Matrix, Metric, NamedError
from src.pend_resolve import policy, release

METRICS = (
    Metric("all_five", "record all right", True),
    Metric("cause_class", "cause class", False),
    Metric("citation", "citation on the labelled line", False),
    Metric("resolution", "resolution", True),
    Metric("resolution_by_cause", "… where the cause decides it", True),
    Metric("resolution_by_register", "… where the register does", True),
    Metric("clock", "clock state", True),
    Metric("release", "release", True),
    Metric("bait_held", "… where a line baits it", True),
)

ERRORS = (
    NamedError("false_release", "false release", True,
               "a claim was answered AUTO-RELEASE: it goes out with nobody looking, and the money has to come back"),
    NamedError("missed_escalation", "missed escalation", True,
               "a claim that is due or late was not called so: it surfaces as interest or in an audit"),
    NamedError("released_when_it_should_not", "released when it should not be", True,
               "a release was proposed for a claim to be denied, routed or kept: an examiner is asked to pay it"),
    NamedError("counted_from_pend_date", "counted from the pend date", True,
               "the state is the one that the wrong day of start gives, which always shows more time than there is"),
    NamedError("over_escalation", "over-escalation", True,
               "a claim with time was called due or late: it pushes aside one that is"),
    NamedError("quote_not_in_record", "quote that stands nowhere", False,
               "the citation is not in the record: there is nothing to look up"),
)


def matrices(kit):
    """The confusion matrices with their labels: the reading and the three answers that follow."""
    book = kit.book
    return (Matrix("cause_class", "cause class", (*book.policy["causes"], UNANSWERED)),
            Matrix("resolution", "resolution", (*book.table.decisions, UNANSWERED)),
            Matrix("clock", "clock state", (*book.states.decisions, UNANSWERED)),
            Matrix("release", "release", (*release.ANSWERS, UNANSWERED)))


def lets_go(kit, reply):
    """Plant the most expensive error, which the gate takes back: the claim goes out without a person."""
    return {**reply, "release": release.AUTO, "resolution": attacks.RELEASE}


def misreads(kit, reply):
    """Plant a misread cause, which no recheck can see."""
    return {**reply, policy.CAUSE: attacks.wrong_cause(kit, reply[policy.CAUSE])}


BENCH = Bench(METRICS, ERRORS, matrices, score.judge, {"rules": floors.rules, "within-clock": floors.within_clock},
              (lets_go, misreads), lambda document: None, attacks.ATTACKS, quotes=("citation",))
