"""Rules L-1 to L-8 over one matter: `step(matter, carried, rules)` → the outcome of a run, and what it leaves behind.

`policy.json` holds the three ordered tables (who matches, who is overdue, which stage) and the thresholds; here is only
what no table can say: joining events to people, counting days, and carrying the state on. Pure: nothing is read or
written, and nothing is sent to anybody. L-8 has no code: whether a roster lags behind the truth cannot be seen on it.
"""
import datetime
from collections import namedtuple

from src.legal_hold.matter import fold_id
from src.legal_hold.state import Carried, Record
from src.shared import values as v

CUSTODIAN, NOT_CUSTODIAN = "CUSTODIAN", "NOT_CUSTODIAN"
OVERDUE, MATCH = "overdue", "match"
INCOMPLETE, CLOSED, RELEASING, SCOPING = "INCOMPLETE", "CLOSED", "RELEASING", "SCOPING"
YES, NO = "yes", "no"
# table {field: type} of what each is given here, and the words of its decisions that are asked for
GIVEN = {
    MATCH: {"department": "string", "relevant_departments": "list", "named_by_role": "enum", "system": "string",
            "relevant_systems": "list", **dict.fromkeys(("since", "last_day", "period_start", "period_end"), "date")},
    OVERDUE: {**dict.fromkeys(("new_this_run", "acknowledged", "escalated_before"), "enum"),
              **dict.fromkeys(("days_since_notice", "escalation_days"), "number")},
    "stage": {**dict.fromkeys(("scope", "released_before", "release_memo"), "enum"),
              **dict.fromkeys(("new_custodians", "newly_overdue"), "number")},
}
WORDS = {MATCH: (MATCH,), OVERDUE: (OVERDUE,), "stage": (INCOMPLETE, CLOSED, RELEASING, SCOPING)}

# policy: the whole of policy.json; match, overdue, stage: walk.Tables; days {threshold: number}
Rules = namedtuple("Rules", "policy match overdue stage days")
# stage: a word, or None where a contradiction decides nothing; hold_status {id: status}, the roster in its order and
# then whoever is on hold and not on it; notices: ids that need one today; on_hold: ids on hold once this run is over;
# trace {"match", "overdue": {id: rule}, "stage": walk}; flags [(flag id, whom)]
Outcome = namedtuple("Outcome", "stage hold_status notices escalate on_hold trace flags")


def step(matter, carried, rules):
    """One run of one matter. `matter` as matter.read gives it, `carried` a state.Carried; both stay as they are.

    Returns (Outcome, next Carried). Where a value that the rules read contradicts itself nothing is decided: the stage
    is None and the state stays what it was, so that the run can be taken again.
    """
    flags = list(matter.flags)
    matter, known = _as_spelt(matter, carried)
    held = {} if carried.released else _logged(known, matter, flags)
    dated = {name: record[1:4] for name, record in known.items()} | {"the release": [carried.released]}
    flags += [("carried_date_after_snapshot", name) for name, days in dated.items() if any(
        isinstance(day, datetime.date) and day > matter.snapshot for day in days)]
    memo = _memo(matter, carried, flags)
    found, contradictions, trace = {}, [], {}
    if matter.unsettled is None and not carried.released:
        found, contradictions, trace = _matches(matter, held, rules, flags)
    if contradictions and memo is None:
        return Outcome(None, None, None, None, list(known), {"match": trace, "overdue": {}, "stage": []},
                       flags + contradictions), carried
    number = _run(matter, carried)
    new = _logged({name: Record(number, None, None, None, why) for name, why in found.items()}, matter, flags)
    people = {**held, **new}
    flags += [("event_for_no_custodian", name) for name in dict.fromkeys(event.id for event in matter.events)
              if name not in people]
    overdue = {name: walk_overdue(rules, record, matter.snapshot, name in new) for name, record in people.items()}
    late = [name for name in _in_order(matter, people) if overdue[name].decision == OVERDUE]
    walked = walk_stage(rules, matter.unsettled is None, bool(carried.released), memo is not None, len(new), len(late))
    trace = {"match": trace, "overdue": {name: found.rule for name, found in overdue.items()}, "stage": walked.trace}
    return _settle(matter, carried, walked.decision, memo, held, new, late, trace, flags)


def follow(matter, carried, custodians, finds_scope, rules):
    """(Decision of L-7, ids newly overdue) that follow from somebody else's word on who is a custodian: see `asked`."""
    values, late = asked(matter, carried, custodians, finds_scope, rules)
    walked = rules.stage.decide(values, {})
    return walked, late if _is_live(walked.decision) else []


def asked(matter, carried, custodians, finds_scope, rules):
    """({field: value} that L-7 is asked over, ids whose acknowledgement is late) by that word.

    `custodians` are ids on the roster, `finds_scope` says whether the scope is held for settled; the rest is this run's
    events and the state.
    """
    matter, known = _as_spelt(matter, carried)
    held = {} if carried.released else _logged(known, matter, [])
    memo = _memo(matter, carried, [])
    new = custodians - held.keys()
    roster = {person.id for person in matter.candidates}
    late = [name for name in _in_order(matter, held) if name in custodians or name not in roster
            if walk_overdue(rules, held[name], matter.snapshot, False).decision == OVERDUE]
    return _of_stage(finds_scope, bool(carried.released), memo is not None, len(new), len(late)), late


def walk_overdue(rules, record, snapshot, is_new):
    """The Decision of L-6 on one custodian's Record."""
    days = None if record.notice is None else (snapshot - record.notice).days
    return rules.overdue.decide({"new_this_run": _word(is_new), "acknowledged": _word(_counts(record, snapshot)),
                                 "escalated_before": _word(record.escalated), "days_since_notice": days,
                                 "escalation_days": rules.days["escalation_days"]}, {})


def walk_stage(rules, is_settled, was_released, has_memo, new, late):
    """The Decision of L-7 on a matter: new and late are numbers of people."""
    return rules.stage.decide(_of_stage(is_settled, was_released, has_memo, new, late), {})


def _of_stage(is_settled, was_released, has_memo, new, late):
    return {"scope": "settled" if is_settled else "unsettled", "released_before": _word(was_released),
            "release_memo": _word(has_memo), "new_custodians": new, "newly_overdue": late}


def log(record, events, snapshot):
    """(Record with a window's events about its person, [flag id]): the first notice counts, and the first
    acknowledgement dated from that notice to the snapshot."""
    flags = [f"{type_}_after_snapshot" for type_ in ("notice", "ack")
             if any(event.type == type_ and event.on > snapshot for event in events)]
    notices = [event.on for event in events if event.type == "notice" and event.on <= snapshot]
    notice = min([*notices, *([record.notice] if record.notice else [])], default=None)
    acks = [event.on for event in events if event.type == "ack" and event.on <= snapshot]
    counting = [day for day in acks if notice is not None and day >= notice]
    record = record._replace(notice=notice)
    early = isinstance(record.acknowledged, datetime.date) and (notice is None or record.acknowledged < notice)
    if early or len(counting) < len(acks):
        flags.append("ack_before_notice")
    known = record.acknowledged if _counts(record, snapshot) else None
    return record._replace(acknowledged=known or min(counting, default=record.acknowledged)), flags


def _counts(record, snapshot):
    """Whether an acknowledgement counts: dated from the first notice to the snapshot, or told without a date."""
    day = record.acknowledged
    return day is True or day is not None and record.notice is not None and record.notice <= day <= snapshot


def _as_spelt(matter, carried):
    """(Matter, {id: Record} of the carried custodians) with every id spelt as on the roster, or else as carried."""
    spelt = {fold_id(name): name for name in carried.custodians}
    spelt |= {fold_id(person.id): person.id for person in matter.candidates}
    events = [event._replace(id=spelt.get(fold_id(event.id), event.id)) for event in matter.events]
    return matter._replace(events=events), {spelt[fold_id(name)]: record
                                            for name, record in carried.custodians.items()}


def _logged(people, matter, flags):
    """The records of people with this window's events written into them."""
    found = {}
    for name, record in people.items():
        found[name], raised = log(record, [event for event in matter.events if event.id == name], matter.snapshot)
        flags += [(flag, name) for flag in raised]
    return found


def _memo(matter, carried, flags):
    """The date of the release memo that this run has to see, or None; one that waited for the scope counts."""
    if matter.release and matter.release > matter.snapshot:
        flags.append(("release_memo_after_snapshot", matter.release.isoformat()))
        return carried.memo
    return carried.memo or matter.release


def _matches(matter, held, rules, flags):
    """({id: why} of who newly matches, contradictions that the rules read, {id: the rule that decided})."""
    found, contradictions, trace = {}, [], {}
    if matter.scope.start > matter.scope.end:
        is_read = any(_fits_but_for_dates(rules, matter, person, access) for person in matter.candidates
                      if person.id not in held for access in person.accesses)
        (contradictions if is_read else flags).append(
            ("period_ends_before_it_begins", f"{matter.scope.start} to {matter.scope.end}"))
    for person in matter.candidates:
        if person.id in held:
            trace[person.id] = "L-2"
            continue
        if person.department is None:
            flags.append(("blank_department", person.id))
        why = next(((access, walked.rule) for access in person.accesses if not _is_reversed(access)
                    and (walked := _walk_match(rules, matter, person, access)).decision == MATCH), None)
        trace[person.id] = why[1] if why else rules.match.document["passed"]["rule"]
        if why:
            found[person.id] = _why(matter, person, *why)
        for access in person.accesses:
            where, is_read = f"{person.id}, {access.system}", not why and _are_dates_read(rules, matter, person, access)
            if _is_reversed(access):
                (contradictions if is_read else flags).append(("access_ends_before_it_begins", where))
            elif is_read and access.since is None:
                flags.append(("access_start_not_stated", where))
    return found, contradictions, trace


def _is_reversed(access):
    return access.since is not None and access.until is not None and access.since > access.until


def _walk_match(rules, matter, person, access):
    """The Decision of L-1 on one access."""
    values = {"department": person.department, "relevant_departments": matter.scope.departments,
              "named_by_role": _word(person.id in matter.scope.named), "system": access.system,
              "relevant_systems": matter.scope.systems, "since": access.since,
              "last_day": access.until or matter.scope.end,
              "period_start": matter.scope.start, "period_end": matter.scope.end}
    return rules.match.decide(values, {})


def _are_dates_read(rules, matter, person, access):
    """Whether dates that cannot be right are what keeps an access from matching: it would match once they fitted."""
    return (access.since is None or _is_reversed(access)) and _fits_but_for_dates(rules, matter, person, access)


def _fits_but_for_dates(rules, matter, person, access):
    """Whether an access would match if it and the relevant period had lasted for ever."""
    scope = matter.scope._replace(start=datetime.date.min, end=datetime.date.max)
    fitting = access._replace(since=scope.start, until=None)
    return _walk_match(rules, matter._replace(scope=scope), person, fitting).decision == MATCH


def _why(matter, person, access, rule):
    in_scope = person.department and v.fold_name(person.department) in map(v.fold_name, matter.scope.departments)
    return {"department": person.department, "system": access.system, "since": access.since.isoformat(),
            "until": access.until and access.until.isoformat(), "by_role": not in_scope, "rule": rule}


def _settle(matter, carried, stage, memo, held, new, late, trace, flags):
    """The Outcome and the next state, once the stage is known."""
    live = _is_live(stage)
    people = {**held, **new} if live else held
    escalate = late if live else []
    for name in escalate:
        people[name] = people[name]._replace(escalated=matter.snapshot)
    released = carried.released or (memo if stage == RELEASING else None)
    waiting = memo if stage == INCOMPLETE else None
    _flag_state(matter, stage, held, waiting, flags)
    on_hold = [] if released else _in_order(matter, people)
    outcome = Outcome(stage, _statuses(matter, people if live else {}), [name for name in new if live], escalate,
                      on_hold, trace, flags)
    return outcome, Carried(matter.name or carried.matter, _run(matter, carried), matter.snapshot, released, waiting,
                            carried.custodians if carried.released else people)


def _flag_state(matter, stage, held, waiting, flags):
    on_roster = {person.id for person in matter.candidates}
    for name, record in held.items():
        if stage == INCOMPLETE:
            flags.append(("held_custodian_reported_not_custodian", name))
        if name not in on_roster:
            flags.append(("custodian_not_on_roster", name))
        if record.notice is None and not record.acknowledged:
            flags.append(("notice_not_recorded", name))
    if waiting:
        flags.append(("release_memo_waits_for_scope", waiting.isoformat()))


def _statuses(matter, people):
    """Everybody's status, the roster first; whoever is on hold and not on the roster stands behind it (L-2)."""
    return {**{person.id: CUSTODIAN if person.id in people else NOT_CUSTODIAN for person in matter.candidates},
            **dict.fromkeys(people, CUSTODIAN)}


def _in_order(matter, people):
    """The names of people in the order of the roster, then those who are not on it."""
    listed = [person.id for person in matter.candidates if person.id in people]
    return listed + [name for name in people if name not in listed]


def _is_live(stage):
    return stage not in (INCOMPLETE, CLOSED, RELEASING)


def _run(matter, carried):
    return matter.run or (carried.run or 0) + 1


def _word(is_so):
    return YES if is_so else NO
