"""The corpus and its key: invented pend records, written around planned causes, registers and days, from one seed.

    python -m tools.build_corpus pend_resolve

`cases.json` plans every record: the cause and where its sentence stands, what the register holds, which deadline it has
and how many days of it are left, what is planted beside. `pools.json` holds every sentence by what it establishes. The
key is what was planted; resolution and clock are the policy's, and a record that has others than planned is refused.
"""
import datetime

from src.pend_resolve import clock, policy
from src.shared import key
from src.shared.draw import Draw, not_one_of, plan_problems, read_cases, refuse_unplanned
from src.shared.files import BadData, to_json

FACTS, MESSAGE, NOTES, TRAIL, REGISTER = (
    "CLAIM FACTS", "PEND MESSAGE", "DESK NOTES", "CORRESPONDENCE AND SYSTEM TRAIL", "ADJUDICATION REGISTER")
CASE_KEYS = {"case", "count", "hard", "family", "sentence", "documents"}
# What the plan of a record may say.
PLAN_KEYS = {
    "cause": "the cause class that is established", "where": "message, note or trail: where its sentence stands",
    "register": "[what each line of the register holds]", "line_of_business": "MA or MEDICAID",
    "clean": "true or false", "contracted": "true or false", "left": "days left, or [least, most]",
    "pend_after": "[least, most] days from receipt to the pend", "for": "sentences written for this, if there are any",
    "message": "another cause, which the message names", "about": "the cause that an empty register line is about",
    "turn": "true: the notes put the message aside", "decoy": "another cause, of which is said that it is in order",
    "bait": "kind of the line that claims an open category", "expect": "{resolution, rule, clock, clock_rule}",
}
PLANTED = ("message", "about", "decoy", "bait")
READ_DAYS_BACK = (0, 0, 0, 1, 4)        # how long before as_of a register was read
DAY = datetime.timedelta(days=1)
APART = 5        # records in a row in which no sentence comes twice


def build(book, seed):
    """{path in the data folder: text} of corpus, claims.json, facts.jsonl, gold.jsonl and stats.json.

    BadData where a plan names nothing, a pool runs dry, or the policy gives another answer than the planned one.
    """
    draw = Draw(book.data / "pools.json", seed)
    cases = read_cases(book.data / "cases.json", CASE_KEYS,
                       lambda case: plan_problems(case, PLAN_KEYS, lambda plan: _misplanned(book, plan)))
    plans = [(case, plan) for case in cases for plan in case["documents"]]
    draw.rng.shuffle(plans)
    stock = Stock(draw)
    built = [_record(book, stock, f"PC-{number:04}", case, plan) for number, (case, plan) in enumerate(plans, 1)]
    rows, pages = [row for row, _ in built], {f"corpus/{row['id']}.txt": text for row, text in built}
    answers = [policy.decide(book, row) for row in rows]
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
            raise BadData(f"{self.draw.path}: /{'/'.join(names)}: no entry of the planned kind; write one")
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
            raise BadData(f"{self.draw.path}: /causes: no sentence of {cause} for the {where} is left; write "
                          f"more of them")
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


def _misplanned(book, plan):
    """A sentence for each value of a plan that names nothing."""
    causes = book.policy["causes"]
    words = {"where": ("message", "note", "trail"), "line_of_business": book.policy["lines_of_business"],
             **dict.fromkeys(("cause", "message", "about", "decoy"), causes)}
    for name, known in words.items():
        yield from not_one_of(name, plan[name], known) if name in plan else ()
    for word in plan.get("register", ("",)):
        yield from not_one_of("register", word, book.policy["evidence"])
    yield from not_one_of("expect/clock_rule", plan.get("expect", {}).get("clock_rule"), book.days)


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
