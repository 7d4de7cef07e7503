"""The corpus and its key: invented matters over three scheduled runs each, all of it drawn from one seed.

    python -m tools.build_corpus legal_hold

`cases.json` plans the matters, `pools.json` holds every name, narrative and script of events. A matter is drawn whole,
then told in three extracts; the key is written by `legalhold.step` over what was drawn. A case that comes out with
other stages than planned is refused, so a changed rule cannot slip into the key unseen.
"""
import datetime
from collections import Counter

from src.legal_hold import page, review
from src.shared import key, shapes
from src.shared.draw import CASE, decided, not_one_of, planned, refuse_unplanned
from src.shared.files import BadData, read_json, to_json
from src.shared.shapes import COUNT, DATE, FROM_1, LINE, by_name, list_of, one_of, options, record, some, span, template

# People whom the narrative's words about a role fit; access decides who of them is a custodian.
ROLE = ("named", "named_from_last_day", "named_to_first_day", "same_title", "same_title_late", "same_title_early")
SPECIAL = ("reorganised", "named", "named_from_last_day", "named_to_first_day")
MATCHING = ("match", "begins_on_last_day", "begins_a_day_earlier", "ends_on_first_day", "ends_a_day_later")
AT_AN_EDGE = (*MATCHING, "late_by_a_day", "early_by_a_day")
LATE = ("late", "late_and_gone", "late_by_a_day")
# Kinds of people that any matter may have; those of SPECIAL and ROLE need its departments, or somebody whom it names.
KINDS = (*MATCHING, *LATE, "early", "early_by_a_day", "wrong_system", "wrong_department", "neither", "near_name",
         "left_without_department")
EVERY_KIND = (*KINDS, *dict.fromkeys(SPECIAL + ROLE))
ANY_KIND = one_of(EVERY_KIND)
SOURCES = MATTERS, ALIAS, NAMED, BLANK = "matters", "alias", "named", "blank"
RUNS = list_of(FROM_1)
# What a plan may say; a list gives each matter of the case one entry, but for `only` and `widened`.
PLAN = {
    "source": options(one_of(SOURCES)), "match": options(COUNT._replace(words="how many people match at run 1")),
    "special": options(one_of(SPECIAL)),
    "people": options(record(dict.fromkeys(EVERY_KIND, COUNT), EVERY_KIND)),
    "only": some(list_of(ANY_KIND)), "scripts": options(by_name(COUNT)), "widened": some(list_of(LINE)),
    "moved": options(COUNT._replace(words="how many custodians change department after run 1")),
    "purged": options(COUNT._replace(words="how many custodians lose an access from the roster")),
    "release": options(record({"day": span(COUNT), "copy": span(COUNT)}, ("copy",))),
    "dispute": options(record({"runs": RUNS, "settled": FROM_1}, ("settled",))),
}
CASES = {**CASE, "family": LINE, "plan": record(PLAN, PLAN.keys() - {"match"}),
         "expect": record({"stages": list_of(LINE), "escalated": list_of(COUNT)})}
LINES = some(list_of(LINE))
SOURCE = {"type": LINE, "systems": LINES}
PLACED = {**SOURCE, "departments": LINES, "narrative": LINE}
WIDEN = record({"department": LINE, "why": LINE})
EVENT = {"type": one_of(("notice", "ack", "reminder")), "day": span(COUNT), "after": span(COUNT), "ahead": shapes.FLAG,
         "logged_at_run": FROM_1}
TOLD = ("departments", "extra")
POOLS = {
    "layout": shapes.order_of(page.LAYOUT), "synthetic": LINES, "employee_ids": LINES,
    "people": record({"first": LINES, "last": LINES}), "departments": some(by_name(LINES)), "near": by_name(LINE),
    "everyday": shapes.at_least(3, LINES), "narratives": by_name(LINES),
    MATTERS: some(list_of(record({**PLACED, "widen": WIDEN}, ("narrative",)))),
    ALIAS: some(list_of(record({**PLACED, "phrase": LINE}))),
    NAMED: some(list_of(record({**PLACED, "phrase": LINE, "department": LINE, "title": LINE}))),
    BLANK: some(list_of(record({**SOURCE, "narrative": LINE}))),
    "unsettled": record({"blank": LINE, "disputed": LINE}),
    "memos": record({"disputed": some(list_of(template("first", "second", "other", *TOLD))),
                     "settled": some(list_of(template("on", *TOLD))),
                     "widened": some(list_of(template("on", "why", *TOLD)))}),
    "opened": span(DATE),
    "days": record({**dict.fromkeys(("period_before_opening", "period_ends_before_opening", "first_run"), span(COUNT)),
                    "run_behind_snapshot": some(list_of(COUNT))}),
    "late_kinds": some(list_of(one_of(LATE))), "distractors": some(list_of(one_of(KINDS))),
    "scripts": by_name(list_of(record(EVENT, ("day", "after", "ahead", "logged_at_run")))), "default_scripts": LINES,
    "event_lines": record({**dict.fromkeys(("notice", "ack", "reminder"), template("on", "id")),
                           "release": template("on")}),
    "roster_head": template("snapshot"), "events_head": LINE, "no_events": LINE,
    **dict.fromkeys(("remarks", "closing", "streets", "towns"), LINES),
}


def build(book, seed):
    """{path in the data folder: text} of the corpus, facts.jsonl, gold.jsonl and stats.json; same seed, same bytes.

    BadData where a case cannot be drawn, where a pool runs dry, or where the rules do not give a case's planned stages.
    """
    draw, cases = planned(book.data, seed, POOLS, CASES,
                          lambda draw, case: _plan_problems(draw, case) if case else _pool_problems(draw))
    size, cadence = _roster(book.data / "kit.json"), book.rules.policy["cadence"]
    documents = [(case, place) for case in cases for place in range(case["count"])]
    draw.rng.shuffle(documents)
    rows, gold, pages, outcomes = [], [], {}, []
    for number, (case, place) in enumerate(documents, 1):
        facts = _draw_matter(draw, case, _dealt(case["plan"], place), f"MTR-{number:04}", size, cadence)
        answers = decided(case["where"], facts[0]["matter"], _review, book, facts)
        found = {"stages": [answer["matter_stage"] for answer in answers],
                 "escalated": [len(answer["escalate"] or ()) for answer in answers]}
        refuse_unplanned([(case["where"], case["expect"], found, facts[0]["matter"])])
        rows += facts
        gold += [key.gold_row(row, answer, ("matter_stage", "candidates", "escalate", "rationale"))
                 for row, answer in zip(facts, answers)]
        pages |= {f"corpus/{row['id']}.txt": page.write(row, draw.pools) for row in facts}
        outcomes += answers
    stats = _stats(book, seed, documents, rows, gold, pages, outcomes)
    return {**pages, "facts.jsonl": key.json_lines(rows), "gold.jsonl": key.json_lines(gold),
            "stats.json": to_json(stats, indent=2) + "\n"}


class Matter:
    """What a matter is drawn around: its pool entry, its dates as calendar dates, its departments and systems."""

    def __init__(self, draw, plan, name):
        source, days = plan.get("source", MATTERS), draw.pool("days")
        first, last = map(datetime.date.fromisoformat, draw.pool("opened"))
        self.name, self.entry = name, draw.deal(source)
        self.narrative = self.entry.get("narrative") or draw.deal("narratives", self.entry["type"])
        self.opened = first + datetime.timedelta(draw.rng.randint(0, (last - first).days))
        self.start = self.opened - datetime.timedelta(draw.rng.randint(*days["period_before_opening"]))
        self.end = self.opened - datetime.timedelta(draw.rng.randint(*days["period_ends_before_opening"]))
        self.first_run = self.opened + datetime.timedelta(draw.rng.randint(*days["first_run"]))
        self.departments, self.systems = self.entry.get("departments", []), self.entry["systems"]
        self.extra = self.entry.get("widen", {}).get("department")
        near_ones = draw.pool("near").values()
        self.foreign = [other for other in draw.pool("departments") if other not in self.departments
                        and other not in (self.extra, self.entry.get("department"), *near_ones)]
        if not self.foreign:
            raise draw.refusal(f"none is left for people outside {self.entry['type']}; add departments", "departments")
        self.other_systems = sorted({system for entry in draw.pool(MATTERS) for system in entry["systems"]}
                                    - set(self.systems))

    def day(self, number):
        """The calendar date of a day counted from the first snapshot."""
        return self.first_run + datetime.timedelta(number)


def _draw_matter(draw, case, plan, name, size, cadence):
    """The facts of a matter's runs."""
    matter = Matter(draw, plan, name)
    people = [_draw_person(draw, matter, kind) for kind in _kinds(draw, matter, plan, size)]
    ids = sorted(draw.fresh(lambda: draw.code("employee_ids")) for _ in people)
    draw.rng.shuffle(people)
    people = [{"id": name, **person} for name, person in zip(ids, people)]
    later = _changed(draw, matter, plan, people)
    release = plan.get("release", {})
    memos = [draw.rng.randint(*release[part]) for part in ("day", "copy") if part in release]
    days = [entry["day"] for entry in cadence]
    taken = [day + draw.one("days", "run_behind_snapshot") for day in days]
    events = _draw_events(draw, matter, plan, people, taken, memos[0] if memos else None)
    facts, personal = [], _draw_personal(draw, people)
    for place, entry in enumerate(cadence):
        opens, closes = days[place - 1] if place else -1, entry["day"]
        early = max([event["day"] for event in events if event["early"] == entry["run"]], default=0)
        logged = [event for event in events if opens < event["day"] <= closes or event["early"] == entry["run"]]
        memo = next((day for day in memos if opens < day <= closes), None)
        facts.append({
            "id": f"{matter.name}-R{entry['run']}", "case": case["case"], "matter": matter.name, "run": entry["run"],
            "runs": len(cadence), "run_name": entry["name"], "title": matter.entry["type"],
            "opened": str(matter.opened),
            "snapshot": str(matter.day(closes)), "run_on": str(matter.day(max(taken[place], early))),
            "previous": str(matter.day(opens)) if place else None,
            "next": str(matter.day(days[place + 1])) if place + 1 < len(days) else None,
            **_scope_at(draw, matter, plan, entry["run"], opens, people), "narrative": matter.narrative,
            "candidates": later if place else people,
            "events": [{"on": str(matter.day(event["day"])), "type": event["type"], "id": event["id"]} for event in
                       sorted(logged, key=lambda event: (event["day"], event["id"]))],
            "release_memo": memo and str(matter.day(memo)), "synthetic": draw.one("synthetic"),
            "remarks": [draw.deal("remarks"), *draw.pool("closing")], "personal": personal})
    return facts


def _kinds(draw, matter, plan, size):
    """The kind of each person on the roster: the planned ones, then others up to the size of a roster."""
    kinds = ["match"] * plan["match"] + [kind for kind, number in plan.get("people", {}).items() for _ in range(number)]
    kinds += [plan.get("special")] * ("special" in plan) + ["widened"] * len(plan.get("widened", ()))
    rest = plan.get("only") or draw.pool("distractors")
    return kinds + [draw.rng.choice(rest) for _ in range(size - len(kinds))]


def _draw_person(draw, matter, kind):
    """{kind, name, department, title, systems} of one person, confirmed_department where the roster is wrong."""
    department = _department(draw, matter, kind)
    title = matter.entry["title"] if kind in ROLE else \
        draw.one("departments", department or draw.rng.choice(matter.departments or matter.foreign))
    systems = [(system, *_everyday_days(draw, matter)) for system in
               draw.rng.sample(draw.pool("everyday") + matter.other_systems[:2], draw.rng.randint(1, 3))]
    if kind not in ("wrong_system", "neither", "same_title"):
        number = 1 if "day" in kind else draw.rng.randint(1, len(matter.systems))
        systems += [(system, *_relevant_days(draw, matter, kind)) for system in draw.rng.sample(matter.systems, number)]
    draw.rng.shuffle(systems)
    name = draw.fresh(lambda: f"{draw.one('people', 'first')} {draw.one('people', 'last')}")
    found = {"kind": kind, "name": name, "department": department, "title": title,
             "systems": [{"name": system, "since": str(since), "until": until and str(until)}
                         for system, since, until in systems]}
    if kind == "reorganised":
        found["confirmed_department"] = draw.rng.choice(matter.departments)
    return found


def _department(draw, matter, kind):
    if kind in ROLE:
        return matter.entry["department"]
    if kind == "widened":
        return matter.extra
    if kind == "left_without_department":
        return ""
    near_ones = [draw.pools["near"][name] for name in matter.departments if name in draw.pools["near"]]
    if kind == "near_name" and near_ones:
        return draw.rng.choice(near_ones)
    if kind in ("wrong_department", "neither", "near_name", "reorganised") or not matter.departments:
        return draw.rng.choice(matter.foreign)
    return draw.rng.choice(matter.departments)


def _everyday_days(draw, matter):
    """First and last day of an access to a system out of scope; some have ended within the relevant period."""
    began = matter.start - datetime.timedelta(draw.rng.randint(20, 1400))
    return began, draw.rng.choice([None, None, None, matter.start + datetime.timedelta(draw.rng.randint(10, 200))])


def _relevant_days(draw, matter, kind):
    """(first day, last day or None) of an access to a relevant system, by kind of person."""
    start, end, day = matter.start, matter.end, datetime.timedelta(1)
    before = start - day * draw.rng.randint(30, 1600)
    inside = start + day * draw.rng.randint(5, (end - start).days - 5)
    edges = {"begins_on_last_day": (end, None), "begins_a_day_earlier": (end - day, None),
             "late_by_a_day": (end + day, None),
             "ends_on_first_day": (before, start), "ends_a_day_later": (before, start + day),
             "early_by_a_day": (before, start - day), "named_from_last_day": (end, None),
             "named_to_first_day": (before, start),
             "left_without_department": (before, inside),
             "early": (before - day * 400, start - day * draw.rng.randint(2, 300)),
             "late": (end + day * draw.rng.randint(2, (matter.first_run - end).days - 1), None),
             "late_and_gone": (end + day * draw.rng.randint(2, 12), end + day * draw.rng.randint(14, 40))}
    edges |= {"same_title_late": edges[draw.one("late_kinds")], "same_title_early": edges["early"]}
    if kind in edges:
        return edges[kind]
    return draw.rng.choice([(before, None), (before, None), (inside, None), (before, inside)])


def _changed(draw, matter, plan, people):
    """The roster from run 2 on: some custodians have moved out of the departments in scope, or lost their accesses."""
    matched = [person["id"] for person in people if person["kind"] == "match"]
    chosen = draw.rng.sample(matched, plan.get("moved", 0) + plan.get("purged", 0))
    moved, purged = chosen[:plan.get("moved", 0)], chosen[plan.get("moved", 0):]
    later = []
    for person in people:
        if person["id"] in moved:
            department = draw.rng.choice(matter.foreign)
            person = {**person, "department": department, "title": draw.one("departments", department)}
        elif person["id"] in purged:
            person = {**person,
                      "systems": [access for access in person["systems"] if access["name"] not in matter.systems]}
        later.append(person)
    return later


def _draw_events(draw, matter, plan, people, taken, released):
    """[{day, type, id, early}] of all custodians; `early` is the run whose log already holds what is dated after it.

    `taken` are the days of the runs: a notice goes out once a run has asked for it, save where its script says ahead.
    """
    custodians = [person["id"] for person in people if person["kind"] in (*MATCHING, plan.get("special"))]
    draw.rng.shuffle(custodians)
    planned = [script for script, number in plan.get("scripts", {}).items() for _ in range(number)]
    scripts = planned + [draw.deal("default_scripts") for _ in custodians[len(planned):]]
    widened = [person["id"] for person in people if person["kind"] == "widened"]
    found = []
    for name, script, asked in [*((*pair, taken[0]) for pair in zip(custodians, scripts)),
                                *((*pair, taken[1]) for pair in zip(widened, plan.get("widened", ())))]:
        day = 0
        for event in draw.pools["scripts"][script]:
            first, last = event.get("after") or event["day"]
            waits = max(0, asked - first) if event["type"] == "notice" and not event.get("ahead") else 0
            day = draw.rng.randint(first + waits, last + waits) + (day if "after" in event else 0)
            found.append({"day": day, "type": event["type"], "id": name, "early": event.get("logged_at_run")})
    return [event for event in found if released is None or event["day"] <= released]


def _scope_at(draw, matter, plan, run, opens, people):
    """The scope of one run, true and as printed: {scope, scope_unsettled, departments_on_file, memos}."""
    departments, dispute = list(matter.departments), plan.get("dispute", {})
    listed, told, says, unsettled = departments, {}, None, None
    if plan.get("source") == "alias":
        listed = page.NOT_CLASSIFIED
    elif plan.get("source") == "blank":
        listed, unsettled = page.NONE_RECORDED, draw.pool("unsettled", "blank")
    elif run in dispute.get("runs", ()):
        listed, unsettled, says = page.DISPUTED, draw.pool("unsettled", "disputed"), "disputed"
        told = {"first": matter.day(opens + 3), "second": matter.day(opens + 9), "other": departments[0]}
    elif run == dispute.get("settled"):
        says, told = "settled", {"on": matter.day(opens + 12)}
    elif "widened" in plan and run > 1:
        says, told = "widened", {"on": matter.day(5), "why": matter.entry["widen"]["why"]}
        departments = listed = departments + [matter.extra]
    told |= {"departments": ", ".join(matter.departments), "extra": matter.extra}
    memos = [memo.format(**told) for memo in draw.pool("memos", says)] if says else []
    scope = {"departments": [] if unsettled else departments, "systems": matter.systems,
             "period": [str(matter.start), str(matter.end)]}
    named = [person["id"] for person in people if person["kind"] in ROLE]
    return {"scope": scope | ({"named": named} if named else {}), "scope_unsettled": unsettled,
            "departments_on_file": listed, "memos": memos}


def _draw_personal(draw, people):
    """One line a person, by their place on the roster: nothing in it stands anywhere else on the page."""
    return [f"{place}. home address: {draw.fresh(lambda: _address(draw))}; personal mobile: "
            f"{draw.fresh(lambda: f'(555) 01{draw.rng.randint(0, 9)}-{draw.rng.randint(1000, 9999)}')}; national ID "
            f"ending in "
            f"{draw.rng.randint(1000, 9999)}" for place, _ in enumerate(people, 1)]


def _address(draw):
    return f"{draw.rng.randint(3, 990)} {draw.one('streets')}, {draw.one('towns')}"


def _dealt(plan, place):
    """What a case plans for one of its matters."""
    return {name: value[place] if _is_dealt(name, value) else value for name, value in plan.items()}


def _is_dealt(name, value):
    """Whether a plan's value is a list with an entry for each matter of the case."""
    return isinstance(value, list) and name not in ("only", "widened")


def _review(book, facts):
    """What the rules say of a matter's runs, one after the other, as `decide` would."""
    kept, answers = None, []
    for row in facts:
        answer, kept = review.step(book, row, kept)
        answers.append(answer)
    return answers


def _roster(path):
    """How many people a roster has, as kit.json says."""
    problems = []
    size = shapes.read(path, {"roster": FROM_1}, problems, beside=True)["roster"]
    if problems:
        raise BadData(*problems)
    return size


def _pool_problems(draw):
    """A sentence for whatever in the pools names nothing, or leaves nothing to draw from."""
    pools = draw.pools
    for name, script in pools["scripts"].items():
        yield from (f"/scripts/{name}/{place}: {to_json(event)}: either day or after is wanted, [least, most] days"
                    for place, event in enumerate(script) if ("day" in event) == ("after" in event))
    words = {"default_scripts": pools["scripts"], "near": pools["departments"]}
    for pool, known in words.items():
        yield from (f"/{pool}: {problem}" for word in pools[pool] for problem in not_one_of("entry", word, known))
    yield from (f"/near: {problem}" for word in pools["near"].values()
                for problem in not_one_of("entry", word, pools["departments"]))
    for source in (MATTERS, ALIAS, NAMED):
        for place, entry in enumerate(pools[source]):
            found = [*entry["departments"], *filter(None, [entry.get("department")]),
                     *filter(None, [entry.get("widen", {}).get("department")])]
            yield from (f"/{source}/{place}: {problem}" for word in found
                        for problem in not_one_of("department", word, pools["departments"]))
    yield from (f"/{MATTERS}/{place}: type {entry['type']!r} has no narrative, here or in /narratives; write one"
                for place, entry in enumerate(pools[MATTERS])
                if not ("narrative" in entry or pools["narratives"].get(entry["type"])))
    days, opened = pools["days"], pools["opened"]
    shortest = days["period_before_opening"][0] - days["period_ends_before_opening"][1]
    if shortest < 10:
        yield f"/days: a relevant period of {shortest} days may be drawn; 10 at least are wanted"
    if days["period_ends_before_opening"][0] + days["first_run"][0] < 3:
        yield "/days: a first run less than 3 days behind the relevant period may be drawn; write larger numbers"
    yield from (f"/opened: {day} is not a day from 1950 to 2200" for day in opened if not "1950" < day < "2200")


def _plan_problems(draw, case):
    """A sentence for whatever in a case names nothing, and for what cannot be drawn together."""
    plan, pools = case["plan"], draw.pools
    unfit = [f"/plan/{name}: {len(value)} entries for {case['count']} matters; one each is wanted"
             for name, value in plan.items() if _is_dealt(name, value) and len(value) != case["count"]]
    yield from unfit
    for place in range(case["count"]) if not unfit else ():
        one = _dealt(plan, place)
        yield from (f"/plan/scripts: {problem}" for script in (*one.get("scripts", ()), *one.get("widened", ()))
                    for problem in not_one_of("entry", script, pools["scripts"]))
        source, lost = one.get("source", MATTERS), one.get("moved", 0) + one.get("purged", 0)
        if lost > one["match"]:
            yield f"/plan: {lost} are moved or purged of match {one['match']}; plan no more than match"
        kinds = {*one.get("people", ()), *one.get("only", ()), *filter(None, [one.get("special")])}
        for kind in sorted(kinds & set(ROLE)) if source != NAMED else ():
            yield f"/plan: {kind!r} is somebody whom the narrative names; write \"source\": \"{NAMED}\""
        if "reorganised" in kinds and source == BLANK:
            yield f"/plan: 'reorganised' needs departments in scope; write another source than {BLANK!r}"
        if "widened" in one and source != MATTERS:
            yield f"/plan: widened needs a matter that names what is added; write \"source\": \"{MATTERS}\""


def _stats(book, seed, documents, rows, gold, pages, outcomes):
    """What was built, counted; every figure is of the rows themselves."""
    units = Counter(person["hold_status"] for row in gold for person in row["candidates"])
    special = sum(person["kind"] in SPECIAL for row in rows for person in row["candidates"])
    traces = [answer["trace"] for answer in outcomes]
    ended = Counter(rule for trace in traces for part in ("match", "overdue") for rule in trace[part].values())
    ended.update(entry["rule"] for trace in traces for entry in trace["stage"] if entry["result"] == "matched")
    rules = [rule["id"] for part in ("match", "overdue", "stage") for rule in getattr(book.rules, part).rules]
    return {
        "seed": seed, "documents": len(gold), "bytes": sum(len(text.encode()) for text in pages.values()),
        "matters": len(documents), "cases": dict(sorted(Counter(row["case"] for row in gold).items())),
        "families": key.counts(case["family"] for case, _ in documents),
        "matter_stage": key.counts(row["matter_stage"] for row in gold),
        "units": dict(sorted(units.items())), "special_units": special,
        "drawn_from": {name: _fingerprint(book.data / name) for name in ("cases.json", "pools.json")},
        "readings_that_need_a_notice": sum(bool(row["notices"]) for row in gold),
        "readings_newly_overdue": sum(bool(row["escalate"]) for row in gold),
        "people_newly_overdue": sum(len(row["escalate"]) for row in gold),
        "kinds": key.counts(person["kind"] for row in rows if row["run"] == 1 for person in row["candidates"]),
        "rules": {rule: {"matched": ended[rule]} for rule in rules}, "limits": _limits(book, rows, outcomes),
        **key.variety(gold, ("matter_stage", "candidates", "escalate", "rationale")),
    }


def _fingerprint(path):
    import hashlib  # only a build pays for this import
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _limits(book, rows, outcomes):
    """How many people stand on each side of each limit, among those for whom nothing else decides."""
    apart = {"L-1 first day of access": Counter(), "L-1 last day of access": Counter(), "L-6e": Counter()}
    for row in (row for row in rows if row["run"] == 1):
        start, end = map(datetime.date.fromisoformat, row["scope"]["period"])
        for access in (access for person in row["candidates"] if person["kind"] in AT_AN_EDGE
                       for access in person["systems"] if access["name"] in row["scope"]["systems"]):
            apart["L-1 first day of access"][(datetime.date.fromisoformat(access["since"]) - end).days] += 1
            if access["until"]:
                apart["L-1 last day of access"][(datetime.date.fromisoformat(access["until"]) - start).days] += 1
    for row, answer in zip(rows, outcomes):
        for name, rule in answer["trace"]["overdue"].items():
            if rule in ("L-6e", book.rules.overdue.document["passed"]["rule"]):
                notice = datetime.date.fromisoformat(answer["carried"]["custodians"][name]["notice_sent"])
                days = (datetime.date.fromisoformat(row["snapshot"]) - notice).days
                apart["L-6e"][days - book.rules.days["escalation_days"]] += 1
    return {name: {"step": 1, "unit": "days", **{side: found[away] for side, away in key.SIDES.items()}}
            for name, found in apart.items()}
