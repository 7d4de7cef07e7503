"""The corpus and its key: invented admission records, written around planned facts, all of it drawn from one seed.

    python -m tools.build_corpus admission_status

`cases.json` plans every document: what the order is, whose expectation stands there and how many midnights it crosses,
what is named and what only hinted at, which decoys lie beside. `pools.json` holds every sentence by what it evidences.
The key is what was planted, and its verdict is the rulebook's; a case whose rule is another than planned is refused.
"""
import datetime
import re
from collections import Counter, namedtuple

from src.admission_status import elements, policy
from src.shared import key, shapes
from src.shared.draw import CASE, decided, not_one_of, plan_problems, planned, refuse_unplanned
from src.shared.files import to_json
from src.shared.shapes import LINE, by_name, list_of, one_of, record, some, template

DAY, MINUTE = datetime.timedelta(days=1), datetime.timedelta(minutes=1)
FIRST_DAY, DAYS = datetime.date(2026, 4, 6), 130
# The sentences that establish each class; whatever else an element has in pools.json evidences it for nobody.
ORDER_CLASS = {"present": elements.PRESENT, "spoken": elements.PRESENT, "observation_first": elements.PRESENT,
               "observation": elements.AMBIGUOUS, "unsigned": elements.AMBIGUOUS, "intent": elements.AMBIGUOUS,
               "blank": elements.AMBIGUOUS, "missing": elements.ABSENT}
NAMED_CLASS = {"named": elements.PRESENT, "unnamed": elements.AMBIGUOUS, "none": elements.ABSENT}
COUNTED, FOREIGN = ("date", "nights"), ("conditional", "planner", "earlier", "family")
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
HEADINGS = FACTS, ORDERS, PROSE, SERVICES, REVIEW = (
    "ENCOUNTER FACTS", "ORDERS AND AUTHENTICATION", "ADMITTING PRACTITIONER DOCUMENTATION", "SERVICES DELIVERED",
    "UTILIZATION REVIEW NOTES")
LABEL_WIDTH = 24
# The paragraphs of a note, and what is remarked in which.
STORY, FINDINGS, PLAN = "story", "findings", "plan"
PLACES = {STORY: ("source", "lives", "works", "habits", "medicines", "review"), FINDINGS: ("seen",),
          PLAN: ("paper", "wishes", "team")}
PLAIN, SIGNS = "plain", {"severe": 3, "calm": 2}       # tones, and how many signs of one stand in a note

# What the plan of a document may say.
EXPECTS = "date N, nights N, vague, conditional N, planner N, earlier N, or null; N is the number of midnights, to 12"
PLAN_OF = {
    "order": one_of(ORDER_CLASS), "expects": shapes.TEXT_OR_NULL._replace(words=EXPECTS),
    "comorbidities": one_of(NAMED_CLASS), "services": one_of(NAMED_CLASS),
    "decoys": some(list_of(LINE._replace(words="a foreign expectation with its N, beside the labelled one"))),
    "tone": one_of((PLAIN, *SIGNS)), "relative": shapes.FLAG, "planned": shapes.FLAG,
    "service_days": shapes.Kind(lambda value: type(value) is int and 0 < value <= 60,
                                "a number of days with a line of services each, from 1 to 60"),
    "admitted": shapes.Kind(lambda value: _is_admission(value), "HH:MM, or YYYY-MM-DD HH:MM"), "line": LINE,
}
WANTED = {"order", "expects", "comorbidities", "services"}
CASES = {**CASE, "hard": shapes.FLAG, "expect": record({"support": LINE, "rule": LINE}),
         "documents": list_of(record(PLAN_OF, PLAN_OF.keys() - WANTED))}
LINES = some(list_of(LINE))
THREE = shapes.at_least(3, LINES)
# What a sentence may leave open: anywhere, and where it tells a number of midnights or the time of an order.
SLOTS = [form(slot) for slot in ("line", "role", "past", "condition", "conditions", "service", "services")
         for form in (str, str.capitalize)]
COUNTS = [form(slot) for slot in ("date", "n", "s") for form in (str, str.capitalize)]
TOLD, DATED, TIMED = (some(list_of(template(*SLOTS, *more))) for more in ((), COUNTS, ("time", "Time")))
SAID = {
    elements.ORDER: {**dict.fromkeys(ORDER_CLASS.keys() - {"observation_first", "missing"}, TOLD), "signed": TIMED},
    elements.EXPECTATION: {**dict.fromkeys((*COUNTED, *FOREIGN, "zero"), DATED), "vague": TOLD},
    elements.COMORBIDITIES: dict.fromkeys(("named", "unnamed", "relative"), TOLD),
    elements.SERVICES: dict.fromkeys(("named", "unnamed", "planned"), TOLD),
}
SUBJECTS = [subject for subjects in PLACES.values() for subject in subjects]
POOLS = {
    **dict.fromkeys(("facilities", "roles", "titles"), LINES), "conditions": THREE,
    "lines": some(by_name(record({"presenting": LINES, "services": THREE}))),
    "evidence": record({name: record(kinds) for name, kinds in SAID.items()}),
    "fillers": record({"orders": TOLD, **dict.fromkeys(("services", "review", "bait"), LINES),
                       "prose": shapes.at_least(4, record(dict.fromkeys(SUBJECTS, TOLD), SUBJECTS)),
                       **{tone: shapes.at_least(number, by_name(LINES)) for tone, number in SIGNS.items()}}),
}

# One document while it is written: plan of the case, encounter facts, admission, {flat name: value} planted, {section:
# [(moment, line)]}, {paragraph: [sentence]}
Draft = namedtuple("Draft", "plan facts admitted key lines prose")


def build(book, seed):
    """{path in the data folder: text} of corpus, records.json, facts.jsonl, gold.jsonl and stats.json.

    BadData where a plan names nothing, a pool is empty, or the rulebook does not give a case's planned answer.
    """
    draw, cases = planned(book.data, seed, POOLS, CASES, lambda draw, case: (
        plan_problems(case, lambda plan: _misplanned(draw, plan)) if case else ()))
    plans = [(case, plan) for case in cases for plan in case["documents"]]
    draw.rng.shuffle(plans)
    drafts = [_draft(draw, case, plan, f"ADM-{number:04}") for number, (case, plan) in enumerate(plans, 1)]
    rows = [{"id": draft.facts["id"], "case": draft.facts["case"],
             "elements": elements.nest(_worded(book, draft.key))["elements"]} for draft in drafts]
    known = book._replace(records={draft.facts["id"]: draft.facts for draft in drafts})
    answers = [decided(case["where"], row["id"], policy.decide, known, row) for (case, _), row in zip(plans, rows)]
    refuse_unplanned((case["where"], case["expect"], answer, row["id"])
                     for (case, _), row, answer in zip(plans, rows, answers))
    gold = [key.gold_row(row, answer, elements.KEYS) for row, answer in zip(rows, answers)]
    pages = {f"corpus/{draft.facts['id']}.txt": page(book, draft) for draft in drafts}
    records = "[\n" + ",\n".join("  " + to_json(draft.facts) for draft in drafts) + "\n]\n"
    return {**pages, "records.json": records, "facts.jsonl": key.json_lines(rows), "gold.jsonl": key.json_lines(gold),
            "stats.json": to_json(_stats(book, seed, drafts, gold, answers, pages), indent=2) + "\n"}


def page(book, draft):
    """One document: the title line, then five sections, each under its heading in capitals."""
    facts = draft.facts
    told = {"Encounter": facts["id"], "Admitted": facts["admitted_at"], "Facility": facts["facility"],
            "Service line": facts["service_line"], "Admitting role": facts["attending_role"],
            "Record assembled as at": book.as_of}
    bodies = {FACTS: "\n".join(f"{label:<{LABEL_WIDTH}}{value}" for label, value in told.items()),
              PROSE: "\n\n".join(" ".join(sentences) for sentences in draft.prose.values() if sentences),
              **{title: "\n".join(text for _, text in sorted(draft.lines[title], key=lambda line: line[0]))
                 for title in (ORDERS, SERVICES, REVIEW)}}
    return f"ADMISSION RECORD {facts['id']} -- {facts['title']}\n\n" + "\n\n".join(
        f"{title}\n{'-' * len(title)}\n{bodies[title]}" for title in HEADINGS) + "\n"


def _draft(draw, case, plan, name):
    """Draw one document: its facts, then what is planted, then what only fills."""
    admitted = _admitted(draw, plan.get("admitted", ""))
    facts = {"id": name, "title": draw.deal("titles"), "case": case["case"], "hard": case["hard"],
             "admitted_at": f"{admitted:%Y-%m-%d %H:%M}", "facility": draw.deal("facilities"),
             "service_line": plan.get("line") or draw.deal("lines"), "attending_role": draw.deal("roles")}
    draft = Draft(plan, facts, admitted, {}, {title: [] for title in (ORDERS, SERVICES, REVIEW)},
                  {paragraph: [] for paragraph in (STORY, FINDINGS, PLAN)})
    _prose_fillers(draw, draft)
    _plant_order(draw, draft)
    _plant_expectation(draw, draft)
    for decoy in plan.get("decoys", ()):
        _foreign(draw, draft, decoy)
    _plant_comorbidities(draw, draft)
    _plant_services(draw, draft)
    _line_fillers(draw, draft)
    for sentences in draft.prose.values():
        draw.rng.shuffle(sentences)
    draft.prose[STORY].insert(0, draw.deal("lines", facts["service_line"], "presenting"))
    return draft


def _plant_order(draw, draft):
    """Put the order of the plan under orders, an intent into the note, the labelled line into the key."""
    kind, at = draft.plan["order"], draft.admitted - draw.rng.randint(0, 35) * MINUTE
    draft.key[elements.ORDER] = ORDER_CLASS[kind]
    if kind == "missing":
        return
    if kind == "intent":
        text = _sentence(draft, PLAN, _say(draw, draft, elements.ORDER, kind))
    elif kind == "spoken":
        _order_line(draw, draft, at, "spoken")
        later = draft.admitted + draw.rng.randint(40, 200) * MINUTE
        text = _order_line(draw, draft, later, "signed", time=f"{at:%H:%M}")
    elif kind == "observation_first":
        _order_line(draw, draft, at - draw.rng.randint(200, 500) * MINUTE, "observation")
        text = _order_line(draw, draft, at, "present")
    else:
        text = _order_line(draw, draft, at, kind)
    draft.key[elements.citation(elements.ORDER)] = text


def _order_line(draw, draft, at, kind, **slots):
    text = f"{at:%Y-%m-%d %H:%M}  {_say(draw, draft, elements.ORDER, kind, **slots)}"
    draft.lines[ORDERS].append((at, text))
    return text


def _plant_expectation(draw, draft):
    """The sentence of the plan's expectation, and its value in the key."""
    kind, number = _split(draft.plan["expects"])
    counted = kind in COUNTED
    draft.key[elements.EXPECTATION] = (elements.ABSENT if kind is None else elements.PRESENT if counted
                                       else elements.AMBIGUOUS)
    if kind is None:
        return
    if counted:
        date = draft.admitted.date() + number * DAY if kind == "date" else None
        draft.key.update({elements.DISCHARGE: date and date.isoformat(), elements.NIGHTS: None if date else number})
    if kind in FOREIGN:
        text = _foreign(draw, draft, draft.plan["expects"])
    else:
        pool = "zero" if kind == "nights" and not number else kind
        text = _sentence(draft, PLAN, _say(draw, draft, elements.EXPECTATION, pool, number=number))
    draft.key[elements.citation(elements.EXPECTATION)] = text


def _foreign(draw, draft, what):
    """A length that is not the practitioner's own: a planner's in the review notes, any other in the note."""
    kind, number = _split(what)
    text = _say(draw, draft, elements.EXPECTATION, kind, number=number)
    if kind == "planner":
        return _dated(draft, REVIEW, text, draw.rng.randint(0, 2))
    return _sentence(draft, STORY if kind == "earlier" else PLAN, text)


def _plant_comorbidities(draw, draft):
    kind = draft.plan["comorbidities"]
    draft.key[elements.COMORBIDITIES] = NAMED_CLASS[kind]
    if kind != "none":
        draft.key[elements.citation(elements.COMORBIDITIES)] = _sentence(
            draft, STORY, _say(draw, draft, elements.COMORBIDITIES, kind))
    if draft.plan.get("relative"):
        _sentence(draft, STORY, _say(draw, draft, elements.COMORBIDITIES, "relative"))


def _plant_services(draw, draft):
    """The line of the plan's services, on the day of admission or the next, and lines that go on without a name."""
    kind, first = draft.plan["services"], 1 if draft.admitted.hour > 19 else draw.rng.randint(0, 1)
    draft.key[elements.SERVICES] = NAMED_CLASS[kind]
    if kind != "none":
        text = _say(draw, draft, elements.SERVICES, kind)
        draft.key[elements.citation(elements.SERVICES)] = _dated(draft, SERVICES, text, first)
    for day in range(1, draft.plan.get("service_days", 1)):
        _dated(draft, SERVICES, _say(draw, draft, elements.SERVICES, "unnamed"), first + day)
    if draft.plan.get("planned"):
        _dated(draft, SERVICES, _say(draw, draft, elements.SERVICES, "planned"), first)


def _prose_fillers(draw, draft):
    """Some remarks and how ill the patient looks: evidence of nothing, each in the paragraph where it belongs."""
    places = draw.pool("fillers", "prose")
    for subject in draw.rng.sample(list(places), draw.rng.randint(2, 4)):
        place = next(place for place, subjects in PLACES.items() if subject in subjects)
        _sentence(draft, place, _fill(draw, draft, draw.deal("fillers", "prose", subject)))
    tone = draft.plan.get("tone", PLAIN)
    for sign in draw.rng.sample(list(draw.pool("fillers", tone)), SIGNS[tone]) if tone != PLAIN else ():
        _sentence(draft, FINDINGS, draw.deal("fillers", tone, sign))


def _line_fillers(draw, draft):
    """Lines that fill the dated sections: orders that admit nobody, entries about entries, a reviewer's day."""
    for _ in range(draw.rng.randint(1, 3)):
        at = draft.admitted + draw.rng.randint(5, 400) * MINUTE
        draft.lines[ORDERS].append((at, f"{at:%Y-%m-%d %H:%M}  {_fill(draw, draft, draw.deal('fillers', 'orders'))}"))
    if not draft.lines[SERVICES] or draw.rng.random() < .4:
        _dated(draft, SERVICES, draw.deal("fillers", "services"), 1)
    for _ in range(draw.rng.randint(1, 3)):
        _dated(draft, REVIEW, draw.deal("fillers", "review"), draw.rng.randint(1, 3))
    if draft.plan.get("tone") == "severe":
        _dated(draft, REVIEW, draw.deal("fillers", "bait"), 1)


def _sentence(draft, paragraph, text):
    draft.prose[paragraph].append(text)
    return text


def _dated(draft, section, text, days):
    day = draft.admitted.date() + days * DAY
    text = f"{day}  {text}"
    draft.lines[section].append((datetime.datetime.combine(day, datetime.time()), text))
    return text


def _say(draw, draft, element, kind, **slots):
    """A sentence of the pool, its slots filled."""
    return _fill(draw, draft, draw.deal("evidence", element, kind), **slots)


def _fill(draw, draft, template, number=None, time=None):
    """Fill what a template asks for, and draw nothing that it does not ask for."""
    facts, wanted = draft.facts, set(re.findall(r"\{(\w+)\}", template))
    slots = {"line": facts["service_line"], "role": facts["attending_role"], "time": time}
    if wanted & {"date", "past"}:
        days = number if "date" in wanted else -draw.rng.randint(70, 330)
        slots["date"] = slots["past"] = _date(draw, draft.admitted.date() + days * DAY)
    if "n" in wanted:
        slots |= {"n": draw.rng.choice([NUMBERS[number], str(number)]), "s": "" if number == 1 else "s"}
    if wanted & {"conditions", "condition"}:
        slots |= _named(draw, draw.pool("conditions"), "condition")
    if {name.lower() for name in wanted} & {"services", "service"}:
        slots |= _named(draw, draw.pool("lines", facts["service_line"], "services"), "service")
    slots |= {name.capitalize(): text[:1].upper() + text[1:] for name, text in slots.items() if text}
    return template.format(**slots)


def _named(draw, pool, noun):
    chosen = draw.rng.sample(pool, draw.rng.choice([2, 2, 3]))
    joint = " and " if len(chosen) == 2 else ", and "
    return {noun: chosen[0], f"{noun}s": ", ".join(chosen[:-1]) + joint + chosen[-1]}


def _date(draw, date):
    return draw.rng.choice([date.isoformat(), date.isoformat(), f"{date:%B} {date.day}, {date.year}"])


def _admitted(draw, given):
    day = FIRST_DAY + draw.rng.randrange(DAYS) * DAY
    clock = f"{draw.rng.randrange(6, 23):02}:{draw.rng.randrange(60):02}"
    given = given.split() or [clock]
    return datetime.datetime.fromisoformat(f"{given[0] if len(given) == 2 else day} {given[-1]}")


def _split(what):
    """'date 3' → ('date', 3); a kind without a number has None."""
    kind, _, number = (what or "").partition(" ")
    return kind or None, int(number) if number else None


def _worded(book, planted):
    """The planted classes as each element's own words."""
    return {name: book.elements[name].words[value] if name in book.elements else value
            for name, value in planted.items()}


def _is_admission(value):
    """Whether a plan's text is a time, or a time of a day on which a record may be."""
    if type(value) is not str or not re.fullmatch("(?:20[0-9]{2}-[0-9]{2}-[0-9]{2} )?[0-9]{2}:[0-9]{2}", value):
        return False
    try:
        return bool(datetime.datetime.fromisoformat(f"{FIRST_DAY} {value}"[-len("2026-04-06 00:00"):]))
    except ValueError:
        return False


def _misplanned(draw, plan):
    """A sentence for each value of a plan that names nothing."""
    yield from not_one_of("line", plan["line"], draw.pools["lines"]) if "line" in plan else ()
    for what, kinds in [(plan["expects"], (*COUNTED, *FOREIGN)), *((what, FOREIGN) for what in plan.get("decoys", ()))]:
        kind, _, number = (what or "vague").partition(" ")
        counts = number in map(str, range(len(NUMBERS)))
        if not (kind in kinds and counts or kind == "vague" and not number and kinds != FOREIGN):
            yield f"{what!r} is no expectation; write {EXPECTS if kinds != FOREIGN else ' N, '.join(FOREIGN) + ' N'}"


def _stats(book, seed, drafts, gold, answers, pages):
    """What was built, counted; every figure is of the rows themselves."""
    flat = [{**elements.flatten(row), "rule": row["rule"], "midnights": row["midnights"]} for row in gold]
    names = [field.name for field in book.reply if field.name not in (elements.CONFIDENCE, elements.WHY)]
    return {
        "seed": seed, "documents": len(gold), "bytes": sum(len(text.encode()) for text in pages.values()),
        "cases": dict(sorted(Counter(row["case"] for row in gold).items())),
        "hard": sum(draft.facts["hard"] for draft in drafts),
        "support": key.counts(row["support"] for row in gold), "rule": key.counts(row["rule"] for row in gold),
        "findings": {name: key.counts(row[name] for row in flat) for name in elements.ELEMENTS},
        "expectation_values": sum(any(row.get(name) is not None for name in elements.VALUES) for row in flat),
        "midnights": key.counts(row["midnights"] for row in flat if row["midnights"] is not None),
        **key.coverage(book.table, [answer["trace"] for answer in answers], {}),
        **key.variety(flat, [*names, "rule", "midnights"]),
    }
