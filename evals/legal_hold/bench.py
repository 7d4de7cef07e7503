"""legal_hold on the measuring side: floors, scores, named errors in order of expense, planted faults, attacks."""
from evals.legal_hold import attacks, floors, score
from evals.shared.bench import UNANSWERED, Bench, Matrix, Metric, NamedError
from src.legal_hold.legalhold import CUSTODIAN, NOT_CUSTODIAN

METRICS = (
    Metric("stage", "stage of the matter", True),
    Metric("notice_today", "does a notice need issuing today", True),
    Metric("units_ordinary", "hold status, ordinary people", False),
    Metric("units_special", "hold status, REORG and NAMED people", False),
    Metric("escalations", "newly overdue people found", True),
    Metric("escalate_list", "escalate list as a whole", True),
    Metric("stage_later", "stage at runs 2 and 3", True),
    Metric("notice_later", "notice today at runs 2 and 3", True),
)

PEOPLE, READINGS = "people", "readings"     # what a named error counts

ERRORS = (
    NamedError("missed_custodian", "missed custodian", False,
               "evidence that nobody was told to keep; there is no undo", PEOPLE),
    NamedError("missed_special", "of these, REORG and NAMED", False,
               "the labelled lines do not hold the fact that makes them custodians", PEOPLE),
    NamedError("missed_notice", "missed notice", True,
               "somebody is new on hold and nobody is asked to tell them today", READINGS),
    NamedError("missed_escalation", "missed escalation", True, "silence past the limit that nobody looks into", PEOPLE),
    NamedError("over_inclusion", "over-inclusion", False,
               "somebody reviews and clears a person who was never concerned", PEOPLE),
    NamedError("false_notice", "false notice", True, "a notice is asked for that nobody needs", READINGS),
    NamedError("false_escalation", "false escalation", True,
               "somebody is chased who has answered, or was never asked", PEOPLE),
    NamedError("unknown_people", "names somebody not on the roster", False,
               "the answer speaks of somebody whom the page does not know", READINGS),
)


def matrices(kit):
    """The confusion matrices with their labels; the stages are those of the rules in hand."""
    return (Matrix("stage", "stage", (*kit.book.rules.stage.decisions, UNANSWERED)),
            Matrix("notice", "notice today", (score.DUE, score.NOT_DUE, UNANSWERED)))


def forgets(kit, reply):
    """Plant the most expensive error: the first custodian is answered as none."""
    people = [dict(person) for person in reply["candidates"]]
    first = next((person for person in people if person["hold_status"] == CUSTODIAN), None)
    if first:
        first["hold_status"] = NOT_CUSTODIAN
    return {**reply, "candidates": people}


def chases(kit, reply):
    """Plant false escalations: everybody on hold is put up again."""
    return {**reply, "escalate": [person["id"] for person in reply["candidates"] if person["hold_status"] == CUSTODIAN]}


def leaves_out(kit, reply):
    """Plant a reply that leaves its last person out and names a stranger instead."""
    return {**reply, "candidates": [*reply["candidates"][:-1], {"id": "EMP-0000", "hold_status": CUSTODIAN}]}


def cluster(document):
    """The matter of a document: its readings are not independent."""
    return document.rpartition("-R")[0]


BENCH = Bench(METRICS, ERRORS, matrices, score.judge,
              {"dept-only": floors.dept_only, "dept-only-mem": floors.dept_only_mem,
               "roster-rule-mem": floors.roster_rule_mem},
              (forgets, chases, leaves_out), cluster, attacks.ATTACKS)
