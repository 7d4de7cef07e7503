"""What the board shows of one reading: the extract, the answers person by person, who is carried, clock and walk."""
from src.legal_hold import corpus, legalhold, page, recheck, review, state
from src.legal_hold.matter import fold_id
from src.shared import sections
from src.shared.view import panels as draw

STAYS = "stays on this machine"
NOBODY = {(): "nobody"}
STILL_HELD = ("The scope is not settled, so this run reports everybody as NOT_CUSTODIAN. That releases nobody: the "
              "{number} in the list below stay on hold.")
WATCHLIST = "A watchlist for a person to act on. Nothing here tells anybody anything or changes a hold."


def panels(book, document, text, answers):
    """The panels of one reading. `answers` {name: Answer or None}, gold first."""
    run, carried = book.chains.run(document), book.chains.carried(document)
    found = review.review(book, book.chains.row(document), carried)[0]
    named = groups(book, document, text, carried, found)
    return [extract(book, text, named), fields(run, answers), *unknown(run, carried, answers), *on_hold(carried, found),
            draw.ladder(book.rules.stage, answers, "The walk of L-7",
                        lambda answer: recheck.asked(book, document, answer), [recheck.STAGE]),
            clock(book, run, carried), *flags(found),
            draw.note("As the model is told it:", "Carried state in the prompt",
                      lines=state.describe(carried).split("\n")),
            draw.note(book.rules.policy["authority"], "What no condition says",
                      lines=[f"{rule}: {text}" for rule, text in book.rules.policy["articles"].items()], once=True),
            draw.note(WATCHLIST, "Watchlist", once=True)]


def extract(book, text, named):
    """The extract as it stands, each person's entry, each event and the scope marked, the personal details shown as
    withheld."""
    titles = book.rules.policy["sections"]["withheld"]
    withheld = [(section.start, min(section.body_end + 1, section.end), STAYS) for section in sections.cut(text)
                if section.title in titles]
    spans = {name if name == "scope" or name.startswith("event-") else recheck.unit(name): span
             for name, span in page.spans(text).items()}
    return draw.document(text, spans, withheld, "The extract", named)


def groups(book, document, text, carried, found):
    """{what rules and named errors speak of: [marks]}: who is new and needs a notice, who was on hold before, whose
    clock is asked for, whom a fact outside of the labelled lines makes a custodian, the scope, the release memo."""
    notices, events = book.rules.policy["events"]["notice"], page.events(text)
    released, about = [name for name, event in events.items() if event.id is None], {}
    for is_notice in (True, False):         # the clock begins with the first notice
        for name, event in events.items():
            if event.id and (event.says.casefold() in notices) is is_notice:
                about.setdefault(fold_id(event.id), []).append(name)
    roster = [person["id"] for person in book.chains.row(document)["candidates"]]
    late = {f"{recheck.ESCALATE}.{fold_id(name)}": [*about.get(fold_id(name), ()), recheck.unit(name)]
            for name in [*roster, *carried.custodians]}
    special = [person["id"] for person in book.chains.row(document)["candidates"]
               if person.get("kind") in corpus.SPECIAL]
    units = {"new_custodians": found["notices"] or (), "on_hold": carried.custodians, "special": special}
    return {**{name: list(map(recheck.unit, ids)) for name, ids in units.items()}, **late,
            "newly_overdue": [mark for name in found["escalate"] or () for mark in late[
                f"{recheck.ESCALATE}.{fold_id(name)}"]], "release_memo": released}


def fields(run, answers):
    """Stage and escalations first, then everybody on the roster, then whoever else an answer names."""
    named = [name for answer in answers.values() if answer for name in recheck.people(answer.values)]
    people = dict.fromkeys([*(fold_id(person.id) for person in run.candidates), *named])
    entries = [(recheck.STAGE, None, "stage", None), (recheck.ESCALATE, None, "escalate_list", NOBODY)]
    entries += [(recheck.unit(name), None, draw.BY_VALUE, None) for name in people]
    return draw.fields(entries + [(recheck.RATIONALE, None, None, None)], answers)


def unknown(run, carried, answers):
    """A note for each answer that names somebody who is neither on the roster nor on hold."""
    known = [*(person.id for person in run.candidates), *carried.custodians]
    for name, answer in answers.items():
        found = recheck.strangers(answer.values, known) if answer else []
        if found:
            yield draw.note(f"{name}: {', '.join(found)}", "Named, and neither on the roster nor on hold", "warn")


def on_hold(carried, found):
    """Who came into this run on hold and why they matched, beside what this run reports of them."""
    rows = [[name, f"run {record.since_run or '?'}", state.matched(record.why) or "not kept", _told(record),
             (found["hold_status"] or {}).get(name, "not decided")] for name, record in carried.custodians.items()]
    title = "On hold when this run began" if not carried.released else "On hold until the release"
    if not rows:
        return [draw.note("Nobody was on hold when this run began.", title)]
    shown = [draw.table(["person", "since", "matched by", "notice and answer", "reported at this run"], rows, title)]
    if found["matter_stage"] == legalhold.INCOMPLETE and not carried.released:
        shown.insert(0, draw.note(STILL_HELD.format(number=len(rows)), "The hold goes on", "warn"))
    return shown


def clock(book, run, carried):
    """The days since each custodian's first notice, and what L-6 makes of them."""
    following = legalhold.step(run, carried, book.rules)[1]
    steps = []
    for name, record in following.custodians.items():
        if record.notice:
            days = (run.snapshot - record.notice).days
            rule = legalhold.walk_overdue(book.rules, record._replace(escalated=_before(carried, name)), run.snapshot,
                                          name not in carried.custodians)
            by = f" by {rule.rule}" if rule.trace[-1]["result"] == "matched" else ", the limit is not reached"
            steps.append((f"{name}: {rule.decision.replace('_', ' ')}{by}", run.snapshot, "-", record.notice,
                          f"{days} days"))
    if not steps:
        return draw.note("No notice is on record yet, so no clock runs.", "The clock of L-6")
    return draw.arithmetic(steps, f"The clock of L-6: {book.rules.days['escalation_days']} days")


def flags(found):
    """A note for each flag of the run, with whom it concerns."""
    return [draw.note(note, flag, "warn") for flag, note in zip(found["flags"], found["notes"])]


def _before(carried, name):
    record = carried.custodians.get(name)
    return record and record.escalated


def _told(record):
    said = [f"notice {record.notice}" if record.notice else "no notice on record"]
    for what, value in (("acknowledged", record.acknowledged), ("escalated", record.escalated)):
        if value:
            said.append(what if value is True else f"{what} {value}")
    return "; ".join(said)
