"""The corpus and its key: invented pend records, written around planned causes, registers and days, from one seed.

    python -m tools.build_corpus pend_resolve

`cases.json` plans every record: the cause and where its sentence stands, what the register holds, which deadline it has
and how many days of it are left, what is planted beside. `pools.json` holds every sentence by what it establishes. The
key is what was planted; resolution and clock are the policy's, and a record that has others than planned is refused.
"""
import datetime

from src.pend_resolve import clock, policy
from src.shared import key, shapes
from src.shared.draw import CASE, decided, not_one_of, plan_problems, planned, refuse_unplanned
from src.shared.files import to_json
from src.shared.shapes import FLAG, LINE, list_of, one_of, record, some, span, template

FACTS, MESSAGE, NOTES, TRAIL, REGISTER = (
    "CLAIM FACTS", "PEND MESSAGE", "DESK NOTES", "CORRESPONDENCE AND SYSTEM TRAIL", "ADJUDICATION REGISTER")
# What the plan of a record may say.
WHERE = ("message", "note", "trail")
DAYS = shapes.Kind(lambda value: type(value) is int and abs(value) <= shapes.MANY,
                   f"a whole number from -{shapes.MANY} to {shapes.MANY}")
SPAN = span(DAYS)
PLAN = {
    "cause": LINE, "where": one_of(WHERE), "register": some(list_of(LINE)), "line_of_business": LINE,
    "clean": FLAG, "contracted": FLAG,
    "left": shapes.Kind(lambda value: DAYS.holds(value) or SPAN.holds(value), "days left, or [least, most] of them"),
    "pend_after": SPAN._replace(words="[least, most] days from receipt to the pend"),
    "for": LINE._replace(words="what sentences are written for, if there are any"),
    "message": LINE._replace(words="another cause, which the message names"),
    "about": LINE._replace(words="the cause that an empty register line is about"),
    "turn": FLAG._replace(words="true where the notes put the message aside, or false"),
    "decoy": LINE._replace(words="another cause, of which is said that it is in order"),
    "bait": LINE._replace(words="the kind of the line that claims an open category"),
    "expect": record(dict.fromkeys(("resolution", "rule", "clock", "clock_rule"), LINE)),
}
MAY_LACK = ("pend_after", "for", "message", "about", "turn", "decoy", "bait")
CASES = {**CASE, "hard": FLAG, "family": shapes.TEXT_OR_NULL, "documents": list_of(record(PLAN, MAY_LACK))}
LINES = some(list_of(LINE))
POOLS = {
    "layout": shapes.order_of((FACTS, MESSAGE, NOTES, TRAIL, REGISTER)),
    **dict.fromkeys(("claim_ids", "titles", "queues", "plans", "turns", "messages", "notes"), LINES),
    "message_forms": some(list_of(template(""))),
    "causes": some(list_of(record({"cause": LINE, "where": one_of(WHERE), "text": LINE, "for": LINE}, ("for",)))),
    "register": some(list_of(record({"evidence": LINE, "cause": shapes.TEXT_OR_NULL, "text": LINE, "for": LINE},
                                    ("for",)))),
    "decoys": some(list_of(record({"cause": LINE, "text": LINE}))),
    "baits": some(list_of(record({"kind": LINE, "where": one_of((*WHERE, "register")), "text": LINE}))),
    "trail": record({"received": LINES, "pended": LINES, "other": LINES}),
}
PLANTED = ("message", "about", "decoy", "bait")
READ_DAYS_BACK = (0, 0, 0, 1, 4)        # how long before as_of a register was read
DAY = datetime.timedelta(days=1)
APART = 5        # records in a row in which no sentence comes twice


def build(book, seed):
    """{path in the data folder: text} of corpus, claims.json, facts.jsonl, gold.jsonl and stats.json.

    BadData where a plan names nothing, a pool runs dry, or the policy gives another answer than the planned one.
    """
    draw, cases = planned(book.data, seed, POOLS, CASES, lambda draw, case: (
        plan_problems(case, lambda plan: _misplanned(book, draw, plan)) if case else _pool_problems(book, draw)))
    plans = [(case, plan) for case in cases for plan in case["documents"]]
    draw.rng.shuffle(plans)
    stock = Stock(draw)
    built = [_record(book, stock, f"PC-{number:04}", case, plan) for number, (case, plan) in enumerate(plans, 1)]
    rows, pages = [row for row, _ in built], {f"corpus/{row['id']}.txt": text for row, text in built}
    answers = [decided(case["where"], row["id"], policy.decide, book, row) for (case, _), row in zip(plans, rows)]
    refuse_unplanned((case["where"], plan["expect"], answer, row["id"])
                     for (case, plan), row, answer in zip(plans, rows, answers))
    names = [field.name for field in book.reply.all]
    gold = [key.gold_row(row, answer, names) for row, answer in zip(rows, answers)]
    return {**pages, "claims.json": _claims(rows), "facts.jsonl": key.json_lines(rows),
            "gold.jsonl": key.json_lines(gold),
            "stats.json": to_json(_stats(book, seed, plans, rows, gold, answers, pages), indent=2) + "\n"}


class Stock:
    """What is left of the cause sentences, and in which record each entry of another pool was used last."""

    def __init__(self, draw):
        self.draw, self.causes, self.used, self.record = draw, list(draw.pool("causes")), {}, 0

    def pick(self, *names, fits=lambda entry: True):
        """An entry of a pool that the records just before this one do not have; else the one unused for longest."""
        numbers = [number for number, entry in enumerate(self.draw.pool(*names)) if fits(entry)]
        if not numbers:
            raise self.draw.refusal("no entry of the planned kind; write one", *names)
        since = {number: self.record - self.used.get((names, number), -APART) for number in numbers}
        rested = [number for number in numbers if since[number] >= APART] or [max(numbers, key=since.get)]
        chosen = self.draw.rng.choice(rested)
        self.used[names, chosen] = self.record
        return self.draw.pool(*names)[chosen]

    def take(self, cause, where, tag=None):
        """A cause sentence that no record of this build has yet; one for the plan's `for`, where there is any."""
        found = _written_for(tag, [entry for entry in self.causes if (entry["cause"], entry["where"]) ==
                                   (cause, where)])
        if not found:
            raise self.draw.refusal(f"no sentence of {cause} for the {where} is left; write more of them", "causes")
        chosen = self.draw.rng.choice(found)
        self.causes.remove(chosen)
        return chosen


def _record(book, stock, name, case, plan):
    """(facts row, page) of one record."""
    draw, stock.record = stock.draw, stock.record + 1
    days = _days(book, draw, plan)
    cause = stock.take(plan["cause"], plan["where"], plan.get("for"))
    bait = next((entry for entry in draw.pool("baits") if entry["kind"] == plan.get("bait")), None)
    message = _message(stock, plan, cause, bait)
    trail, cause_line = _trail(stock, days, plan, cause, bait)
    notes, register = _notes(stock, plan, cause, bait), _register(stock, plan, bait)
    citation = {"message": message[0], "note": cause["text"], "trail": cause_line}[plan["where"]]
    row = {"id": name, "case": case["case"], "claim_id": draw.fresh(lambda: draw.code("claim_ids")),
           "title": stock.pick("titles"), "line_of_business": plan["line_of_business"], "clean": plan["clean"],
           "contracted": plan["contracted"], **{field: day.isoformat() for field, day in days.items()},
           "register_evidence": plan["register"] if len(plan["register"]) > 1 else plan["register"][0],
           "cause_class": plan["cause"], "citation": citation,
           "planted": {part: plan[part] for part in PLANTED if part in plan}}
    bodies = {FACTS: _facts(book, stock, row), MESSAGE: "\n".join(message), NOTES: notes, TRAIL: trail,
              REGISTER: register}
    text = f"PEND RECORD {name}: {row['title']}\n\n" + "\n\n".join(
        f"{title}\n{'-' * len(title)}\n{bodies[title]}" for title in draw.pool("layout")) + "\n"
    return row, text


def _days(book, draw, plan):
    """Receipt, pend and read day of a plan: receipt from the days left, the pend somewhere behind it."""
    read = datetime.date.fromisoformat(book.policy["as_of"]) - draw.rng.choice(READ_DAYS_BACK) * DAY
    elapsed = book.days[plan["expect"]["clock_rule"]] - _between(draw, plan["left"])
    after = _between(draw, plan.get("pend_after", [1, max(1, min(21, elapsed - 1))]))
    received = read - elapsed * DAY
    return {clock.FROM: received, clock.NEVER: received + after * DAY, clock.TO: read}


def _facts(book, stock, row):
    told = {"Claim id": row["claim_id"], "Line of business": book.policy["lines_of_business"][row["line_of_business"]],
            "Provider contract": policy.YES_NO[row["contracted"]], "Clean claim": policy.YES_NO[row["clean"]],
            "Received on": row["received_on"], "Pended on": row["pended_on"],
            "Register read on": row["register_read_on"],
            "Queue": f"{stock.pick('queues')} at {stock.pick('plans')}"}
    return "\n".join(f"{label}: {value}" for label, value in told.items())


def _message(stock, plan, cause, bait):
    """The printed message and what stands below it: the cause itself, another cause, or nothing in particular."""
    if plan["where"] == "message":
        text = cause["text"]
    elif "message" in plan:
        text = stock.take(plan["message"], "message")["text"]
    else:
        text = stock.pick("messages")
    return [stock.draw.code("message_forms").format(text)] + _here(bait, "message")


def _notes(stock, plan, cause, bait):
    """Two paragraphs of the desk: fillers, then what is planted in the order in which a person would write it."""
    draw = stock.draw
    fillers = [stock.pick("notes") for _ in range(draw.rng.choice((2, 3, 3, 4)))]
    decoy = [entry["text"] for entry in draw.pool("decoys") if entry["cause"] == plan.get("decoy")]
    turn = [stock.pick("turns")] if plan.get("turn") else []
    told = [cause["text"]] if plan["where"] == "note" else []
    cut = draw.rng.randrange(1, len(fillers))
    first = fillers[:1] + decoy + turn
    second = _shuffled_in(draw, fillers[1:cut], told) + fillers[cut:]
    return "\n\n".join(" ".join(part) for part in (first, second, _here(bait, "note")) if part)


def _trail(stock, days, plan, cause, bait):
    """(the dated lines in order, the dated line of the cause or None)."""
    draw, received, pended, read = stock.draw, days[clock.FROM], days[clock.NEVER], days[clock.TO]
    events = [(received, stock.pick("trail", "received")), (pended, stock.pick("trail", "pended"))]
    events += [(_day(draw, pended, read), stock.pick("trail", "other")) for _ in range(draw.rng.choice((1, 2, 2, 3)))]
    events += [(_day(draw, pended, read), text) for text in _here(bait, "trail")]
    told = (_day(draw, pended, read), cause["text"]) if plan["where"] == "trail" else None
    events += [told] if told else []
    lines = [f"{day}  {text}" for day, text in sorted(events, key=lambda event: event[0])]
    return "\n".join(lines), told and f"{told[0]}  {told[1]}"


def _register(stock, plan, bait):
    """The lines of the register in the planned order, each about the cause where the pool has such a line."""
    lines = []
    for evidence in plan["register"]:
        about = plan.get("about", plan["cause"]) if evidence == policy.NOTHING else plan["cause"]
        causes = [about] if "about" in plan or len(plan["register"]) > 1 else [about, None]
        meant = _written_for(plan.get("for"), [entry for entry in stock.draw.pool("register")
                                               if entry["evidence"] == evidence and entry["cause"] in causes])
        lines.append(stock.pick("register", fits=lambda entry: entry in meant)["text"])
    return "\n".join(lines + _here(bait, "register"))


def _written_for(tag, entries):
    """The entries that are written for a plan's `for`; where there is none, those that are written for any."""
    return [entry for entry in entries if entry.get("for") == tag] or [entry for entry in entries if "for" not in entry]


def _here(bait, where):
    return [bait["text"]] if bait and bait["where"] == where else []


def _shuffled_in(draw, fillers, told):
    parts = fillers + told
    draw.rng.shuffle(parts)
    return parts


def _between(draw, span):
    return draw.rng.randint(*span) if isinstance(span, list) else span


def _day(draw, start, end):
    return start + draw.rng.randint(0, max(0, (end - start).days)) * DAY


def _claims(rows):
    """claims.json: of each row what is known without reading, with the register as `evidence`; one claim a line."""
    kept = ("id", "claim_id", "title", "line_of_business", "clean", "contracted", clock.FROM, clock.NEVER, clock.TO)
    claims = [{**{name: row[name] for name in kept}, "evidence": row["register_evidence"]} for row in rows]
    return "[\n" + ",\n".join(f"  {to_json(claim)}" for claim in claims) + "\n]\n"


def _pool_problems(book, draw):
    """A sentence for whatever in the pools names nothing."""
    words = {"cause": book.policy["causes"], "evidence": book.policy["evidence"]}
    for pool in ("causes", "register", "decoys"):
        for place, entry in enumerate(draw.pools[pool]):
            yield from (f"/{pool}/{place}: {problem}" for name, known in words.items() if entry.get(name) is not None
                        for problem in not_one_of(name, entry[name], known))


def _misplanned(book, draw, plan):
    """A sentence for each value of a plan that names nothing."""
    causes, pools = book.policy["causes"], draw.pools
    words = {"line_of_business": book.policy["lines_of_business"],
             **dict.fromkeys(("cause", "message", "about"), causes),
             "decoy": [entry["cause"] for entry in pools["decoys"]],
             "bait": [entry["kind"] for entry in pools["baits"]],
             "for": {entry["for"]: None for entry in pools["causes"] + pools["register"] if "for" in entry}}
    for name, known in words.items():
        yield from not_one_of(name, plan[name], known) if name in plan else ()
    for word in plan["register"]:
        yield from not_one_of("register", word, book.policy["evidence"])
    yield from not_one_of("expect/clock_rule", plan["expect"]["clock_rule"], book.days)


def _stats(book, seed, plans, rows, gold, answers, pages):
    """What was built, counted; every figure is of the rows themselves."""
    traps = [answer["clock"] != _from_pend(book, row) for row, answer in zip(rows, answers)]
    trace = [answer["trace"] for answer in answers]
    ended = {rule["id"]: {"matched": sum({"rule": rule["id"], "result": "matched"} in steps for steps in trace)}
             for rule in book.table.rules + book.deadlines.rules}
    left = {rule: {str(days): sum(answer["clock_rule"] == rule and answer["remaining"] == days for answer in answers)
                   for days in (6, 5, 0, -1)} for rule in book.days}
    return {
        "seed": seed, "documents": len(gold), "bytes": sum(len(text.encode()) for text in pages.values()),
        "cases": dict(sorted(key.counts(row["case"] for row in gold).items())),
        "hard": sum(case["hard"] for case, _ in plans),
        **{name: key.counts(row[name] for row in gold) for name in
           ("cause_class", "resolution", "rule", "clock", "clock_rule")},
        "flags": key.counts(flag for answer in answers for flag in answer["flags"]),
        "clock_traps": sum(traps), "days_left": left,
        "planted": {part: sum(part in row["planted"] for row in rows) for part in PLANTED},
        "cause_stands_in": key.counts(plan["where"] for _, plan in plans),
        "rules": ended, "limits": {},
        **key.variety(rows, ["line_of_business", "clean", "contracted", *(clock.FROM, clock.NEVER, clock.TO),
                             "register_evidence", "cause_class", "citation", "claim_id", "title"]),
    }


def _from_pend(book, row):
    values, findings = policy.read(book, row)
    return clock.read(book, values).from_pend[0]
