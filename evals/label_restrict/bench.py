"""label_restrict on the measuring side: floors, scores, named errors in order of expense, planted faults."""
from evals.label_restrict import attacks, floors, score
from evals.shared.bench import UNANSWERED, Bench, Matrix, Metric, NamedError

METRICS = (
    Metric("verdict", "verdict", True),
    Metric("restriction", "deciding restriction", True),
    Metric("needs_hold", "needs_hold", True),
    Metric("fields", "copied fields", False),
    Metric("self_check_catches", "own errors caught without labels", False),
)

ERRORS = (
    NamedError("unsafe_clearance", "unsafe clearance", True,
               "a plan that must be stopped was cleared: the sprayer goes out"),
    NamedError("right_verdict_wrong_restriction", "right verdict, wrong restriction", True,
               "the desk is told to stop or wait for a reason that is not the reason"),
    NamedError("over_stop", "over-stop", True, "a plan inside the label was held back: a spray day is lost"),
    NamedError("self_check_false_alarm", "false alarm of that check", False,
               "a right answer contradicts the values given with it: somebody looks for nothing"),
)


def matrices(kit):
    """The confusion matrices with their labels; the verdicts are those of the check set in hand."""
    return (Matrix("verdict", "verdict", (*kit.book.table.decisions, UNANSWERED)),
            Matrix("go_ahead", "may it go ahead", (score.GO, score.STOP, UNANSWERED)),
            Matrix("needs_hold", "hold", ("hold", "no hold", "not computed")))


def clears(kit, reply):
    """Plant the most expensive error: whatever the values say, the plan is cleared."""
    passed = kit.book.table.document["passed"]
    return {**reply, kit.book.verdict: passed["decision"], kit.book.restriction: passed["rule"]}


def misreads(kit, reply):
    """Plant a misread value, which no recheck can see: the count of last season in place of this one's."""
    return {**reply, "applications_made_this_season": reply["previous_season_applications"]}


BENCH = Bench(METRICS, ERRORS, matrices, score.judge,
              {"note-tone": floors.note_tone, "line-reader": floors.line_reader}, (clears, misreads),
              lambda document: None, attacks.ATTACKS)
