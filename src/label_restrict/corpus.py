"""The corpus and its key: invented label extracts with one spray plan each, all of it drawn from one seed.

    python -m tools.build_corpus label_restrict

`cases.json` plans what is in it and what is right; `pools.json` holds every name, limit, spelling and remark. A plan is
drawn along the rule table: for each check a limit, and the *room* that the plan leaves to it (0 is exactly at the
limit, less than 0 is over it). The key is written by the walk over the drawn values. A case that walks to another
answer than the planned one is refused, so a changed rule cannot slip into the key unseen.
"""
import itertools
from collections import Counter

from src.label_restrict import checks
from src.shared import key, shapes
from src.shared.draw import CASE, decided, not_one_of, planned, refuse_unplanned
from src.shared.fields import near
from src.shared.files import BadData, read_json, to_json
from src.shared.shapes import COUNT, LINE, NUMBER, by_name, list_of, options, record, some
from src.shared.values import shown
from src.shared.walk import ORDERINGS

MADE, DAYS_SINCE = "applications_made_this_season", "days_since_last_application"
STATUS = "application_status"
# What is drawn together: the field of the plan, the label's list, and the pool of both.
NAMES = {"crop": ("crop_proposed", "permitted_crops"), "partner": ("tank_mix_partner", "tank_mix_prohibited_with")}
CHOSEN = ("listed", "unlisted", "none")
# What a case may say about its documents; a list of options gives each document one of them.
PLAN = {
    "crop": LINE._replace(words="listed, unlisted, or a kind of near name in pools.json"),
    "partner": LINE._replace(words="none, listed, unlisted, or a kind of near name in pools.json"),
    "set": by_name(options(shapes.Kind(lambda value: NUMBER.holds(value) or LINE.holds(value), "a number or a text"))),
    "room": by_name(options(NUMBER._replace(words="what the plan leaves to the label's limit, a number"))),
    "unstated": list_of(LINE._replace(words="a field that the page leaves open")),
    "note": LINE._replace(words="the tone of the remark"),
    "note_about": LINE._replace(words="the check that the remark has to talk about"),
}
CASES = {**CASE, "hard": shapes.FLAG, "family": shapes.TEXT_OR_NULL, "plan": record(PLAN, PLAN),
         "expect": record({"verdict": LINE, "deciding_restriction": LINE})}
LINES, NUMBERS, COUNTS = (some(list_of(kind)) for kind in (LINE, NUMBER, COUNT))
POOLS = {
    "layout": LINES, "field_ids": LINES, "registrations": LINES,
    "products": record({"begins": LINES, "ends": LINES, "strengths": NUMBERS, "forms": LINES, "substances": LINES}),
    "names": record(dict.fromkeys(NAMES, LINES)), "lengths": record(dict.fromkeys(NAMES, COUNTS)),
    "partner_in_tank": LINES,
    "near": record(dict.fromkeys(NAMES, by_name(some(list_of(record({"plan": LINE, "listed": LINES})))))),
    "limits": by_name(NUMBERS), "room": by_name(NUMBERS),
    "steps": by_name(shapes.Kind(lambda value: NUMBER.holds(value) and value > 0, "a number above 0")),
    "previous_season_applications": COUNTS,
    "decimals": by_name(some(list_of(shapes.Kind(lambda value: COUNT.holds(value) and value <= shapes.DIGITS,
                                                 f"a whole number from 0 to {shapes.DIGITS}")))),
    "spellings": by_name(some(list_of(shapes.template("n", "s")))),
    STATUS: LINES, "tones": by_name(LINES),
    "notes": some(list_of(record({"tone": LINE, "text": LINE, "when": LINE, "about": LINES}, ("when", "about")))),
}


def build(book, seed):
    """{path in the data folder: text} of the corpus, facts.jsonl, gold.jsonl and stats.json; same seed, same bytes.

    BadData where a case cannot be drawn, where a pool runs dry, or where the rules do not give a case's planned answer.
    """
    draw, cases = planned(book.data, seed, POOLS, CASES, lambda draw, case: (
        _plan_problems(book, draw, case) if case else _pool_problems(book, draw)))
    documents = [case for case in cases for _ in range(case["count"])]
    draw.rng.shuffle(documents)
    rows = [_draw_row(book, draw, case, name) for case, name in zip(documents, _ids(book, draw, len(documents)))]
    remarks = _deal_remarks(draw, documents, rows)
    answers = [decided(case["where"], row["id"], checks.decide, book, row) for case, row in zip(documents, rows)]
    refuse_unplanned((case["where"], case["expect"],
                      {"verdict": answer[book.verdict], "deciding_restriction": answer[book.restriction]}, row["id"])
                     for case, row, answer in zip(documents, rows, answers))
    gold = [key.gold_row(row, answer, [field.name for field in book.fields.all]) for row, answer in zip(rows, answers)]
    pages = {f"corpus/{row['id']}.txt": page(book, draw, row) for row in rows}
    stats = _stats(book, draw, seed, documents, gold, answers, remarks, pages)
    return {**pages, "facts.jsonl": key.json_lines(rows), "gold.jsonl": key.json_lines(gold),
            "stats.json": to_json(stats, indent=2) + "\n"}


def page(book, draw, row):
    """One document: the sections of the layout, each title underlined, each value behind the label of its line."""
    return "\n\n".join(f"{title}\n{'-' * len(title)}\n{_section(book, draw, row, title)}"
                       for title in draw.pool("layout")) + "\n"


def _ids(book, draw, size):
    """The document ids in order, in the form of kit.json's `id` (LBL-0000)."""
    form = read_json(book.data / "kit.json").get("id")
    if form is None:
        raise BadData(f"{book.data / 'kit.json'}: /id: is missing; write the form of a document's id, like LBL-0000")
    stem = form.rstrip("0")
    return [f"{stem}{number:0{len(form) - len(stem)}}" for number in range(1, size + 1)]


def _draw_row(book, draw, case, name):
    """The facts of one document but for status and remark, in the order of fields.json."""
    plan = case["plan"]
    facts = {field: draw.option(value) for field, value in plan.get("set", {}).items()}
    for what, default in (("crop", "listed"), ("partner", draw.one("partner_in_tank"))):
        chosen, listed = _draw_names(draw, what, plan.get(what, default))
        facts = dict(zip(NAMES[what], (chosen, ", ".join(listed)))) | facts
    for rule in book.table.rules:
        if rule["test"] in ORDERINGS:
            _draw_number(draw, case, rule, facts)
    if facts.get(MADE) == 0 and DAYS_SINCE not in plan.get("set", {}):
        facts[DAYS_SINCE] = None
    facts.setdefault("previous_season_applications", draw.one("previous_season_applications"))
    facts["field_id"] = draw.fresh(lambda: draw.code("field_ids"))
    facts.update(dict.fromkeys(plan.get("unstated", ())))
    return {"id": name, "case": case["case"], "product": _draw_product(draw),
            **{field.name: facts.get(field.name) for field in book.fields.copied}}


def _draw_product(draw):
    """The line that names the product: name with its strength, registration, active substance."""
    name = draw.fresh(lambda: draw.one("products", "begins") + draw.one("products", "ends"))
    strength, form = draw.one("products", "strengths"), draw.one("products", "forms")
    return (f"{name} {strength} {form} -- registration {draw.code('registrations')} -- "
            f"active substance {draw.one('products', 'substances')} {strength} g/L")


def _draw_names(draw, what, kind):
    """(the plan's name, the label's list in printed order) of one kind: the name in it, not in it, or only nearly."""
    known = draw.pool("near", what)
    if kind in known:
        pair = draw.one("near", what, kind)
        chosen, listed = pair["plan"], list(pair["listed"])
    else:
        chosen = "none" if kind == "none" else draw.one("names", what)
        listed = [chosen] if kind == "listed" else []
    others = [name for name in draw.pool("names", what) if name != chosen and name not in listed]
    more = max(0, draw.one("lengths", what) - len(listed))
    if more > len(others):
        given = ", ".join(dict.fromkeys([chosen, *listed]))
        raise draw.refusal(f"{len(others)} beside {given}, and a list wants {more} of them; add names, or "
                           f"shorten /lengths/{what}", "names", what)
    listed += draw.rng.sample(others, more)
    draw.rng.shuffle(listed)
    return chosen, listed


def _draw_number(draw, case, rule, facts):
    """Set a check's limit and the plan's value, the room between them as planned or else from its pool."""
    limit = rule["value"]
    if isinstance(limit, str):
        limit = facts.setdefault(limit[1:], draw.one("limits", limit[1:]))
    if rule["field"] in facts:
        return
    towards = -1 if rule["test"] in ("<", "<=") else 1
    room = case["plan"].get("room", {}).get(rule["id"], draw.pool("room", rule["id"]))
    values = [limit + towards * apart for apart in (room if isinstance(room, list) else [room])]
    if max(values) < 0:
        raise BadData(f"{case['where']}: /plan/room/{rule['id']}: no room of {to_json(room)} to a limit of {limit} "
                      f"leaves a value of 0 or more; plan a larger limit")
    facts[rule["field"]] = draw.rng.choice([value for value in values if value >= 0])


def _deal_remarks(draw, documents, rows):
    """Give each document its status and a remark that no other has; returns the remarks as pools.json has them.

    Tones are dealt by planned verdict, in the proportions of pools.json, so that how a remark sounds says little about
    the plan. What it talks about is chance, unless the case asks for a check.
    """
    wheels = {verdict: (itertools.cycle(tones), itertools.cycle(draw.pool("application_status")))
              for verdict, tones in draw.pool("tones").items()}
    left, dealt = list(draw.pool("notes")), [None] * len(rows)
    for i in sorted(range(len(rows)), key=lambda i: "note_about" not in documents[i]["plan"]):
        plan = documents[i]["plan"]
        tones, statuses = wheels[documents[i]["expect"]["verdict"]]
        status = next(statuses)
        dealt[i] = _pick_remark(draw, left, plan.get("note") or next(tones), plan.get("note_about"), status)
        left.remove(dealt[i])
        rows[i] |= {"application_status": status, "agronomist_note": dealt[i]["text"]}
    return dealt


def _pick_remark(draw, left, tone, about, status):
    fit = [remark for remark in left if remark["tone"] == tone and remark.get("when", status) == status
           and (about is None or about in remark.get("about", ()))]
    if not fit:
        raise BadData(f"{draw.path}: /notes: no {tone} remark is left for a plan that is {status}"
                      f"{f', about {about}' if about else ''}; write more of them")
    return draw.rng.choice(fit)


def _section(book, draw, row, title):
    if title in book.fields.sections_withheld:
        return row["product"]
    return "\n".join(f"{field.line} {_spelt(book, draw, field, row[field.name])}".lstrip()
                     for field in book.fields.copied if field.section == title)


def _spelt(book, draw, field, value):
    """A value as a page might print it. BadData where the field's reader would not read it back."""
    if value is None:
        text = draw.rng.choice(sorted(field.silent)) if field.silent else ""
    else:
        text = _spelt_number(draw, field, value) if field.type == "number" else value
    printed, wanted = (book.fields.read({field.name: raw}, [field])[0] for raw in (text, value))
    if not text or printed != wanted:
        raise BadData(f"{draw.path}: {field.name}: {value} would be printed as {text!r}, which fields.json does not "
                      f"read back; give the field that spelling, or not_stated phrases")
    return text


def _spelt_number(draw, field, value):
    spellings = draw.pool("spellings")
    form = draw.one("spellings", field.name if field.name in spellings else field.unit)
    _, _, own = f"{value:f}".partition(".")
    places = max(len(own.rstrip("0")), draw.one("decimals", field.unit))
    return form.format(n=f"{value:.{places}f}", s="" if value == 1 else "s")


def _pool_problems(book, draw):
    """A sentence for whatever in the pools names nothing, or is missing for these rules."""
    fields, table = book.fields, book.table
    layout, sections = draw.pools["layout"], (*fields.sections_sent, *fields.sections_withheld)
    if sorted(layout) != sorted(sections):
        yield f"/layout: {', '.join(layout)}: each section of fields.json is wanted once: {', '.join(sections)}"
    for pool, words in {"tones": table.decisions, "room": _ordered(table)}.items():
        yield from (f"/{pool}: {word!r} names nothing{near(word, words)}" for word in draw.pools[pool]
                    if word not in words)
    yield from (f"/tones: {verdict} is missing; write the tones of its remarks" for verdict in table.decisions
                if verdict not in draw.pools["tones"])
    for what, (field, _) in NAMES.items():
        near_names = [(f"/near/{what}/{kind}", name) for kind, pairs in draw.pools["near"][what].items()
                      for pair in pairs for name in (pair["plan"], *pair["listed"])]
        for at, name in [*((f"/names/{what}", name) for name in draw.pools["names"][what]), *near_names]:
            _, findings = fields.read({field: name}, [fields.by_name[field]])
            yield from (f"{at}: {finding}" for finding in findings.values())
    partners = (*CHOSEN, *draw.pools["near"]["partner"])
    for pool, words in ((("partner_in_tank",), partners), ((STATUS,), fields.by_name[STATUS].allowed),
                        *((("tones", verdict), _tones(draw)) for verdict in draw.pools["tones"])):
        yield from (f"/{'/'.join(pool)}: {problem}" for word in draw.pool(*pool)
                    for problem in not_one_of("entry", word, words))
    for place, note in enumerate(draw.pools["notes"]):
        words = {"about": (table.rule_ids, note.get("about", ())),
                 "when": (draw.pools[STATUS], [note["when"]] if "when" in note else ())}
        yield from (f"/notes/{place}: {problem}" for name, (known, found) in words.items() for word in found
                    for problem in not_one_of(name, word, known))


def _plan_problems(book, draw, case):
    """A sentence for whatever in a case names nothing, and for each value that its field does not read."""
    plan, table, by_name = case["plan"], book.table, book.fields.by_name
    fields = [field.name for field in book.fields.copied]
    known = {"set": fields, "unstated": fields, "room": _ordered(table)}
    for part, words in known.items():
        yield from (f"/plan/{part}: {word!r} names nothing{near(word, words)}"
                    for word in plan.get(part, ()) if word not in words)
    named = {"note": _tones(draw), "note_about": table.rule_ids,
             **{what: (*CHOSEN, *draw.pools["near"][what]) for what in NAMES}}
    for name, words in named.items():
        yield from (f"/plan: {problem}" for problem in not_one_of(name, plan.get(name, words[0]), words))
    for name, value in plan.get("set", {}).items():
        for each in (value if isinstance(value, list) else [value]) if name in fields else ():
            is_number, (_, findings) = by_name[name].type == "number", book.fields.read({name: each}, [by_name[name]])
            if findings or NUMBER.holds(each) != is_number:
                yield (f"/plan/set: {name} {shown(each)} is not {NUMBER.words if is_number else 'a text'} that its "
                       f"field reads")
    for name, words in (("verdict", table.decisions), ("deciding_restriction", table.rule_ids)):
        yield from (f"/expect: {problem}" for problem in not_one_of(name, case["expect"][name], words))


def _ordered(table):
    return [rule["id"] for rule in table.rules if rule["test"] in ORDERINGS]


def _tones(draw):
    return sorted({note["tone"] for note in draw.pools["notes"]})


def _stats(book, draw, seed, documents, gold, answers, remarks, pages):
    """What was built, counted; every figure is of the rows themselves."""
    verdicts = [row[book.verdict] for row in gold]
    return {
        "seed": seed, "documents": len(gold), "bytes": sum(len(text.encode()) for text in pages.values()),
        "cases": dict(sorted(Counter(row["case"] for row in gold).items())),
        "hard_families": key.counts(case["family"] for case in documents if case["family"]),
        "verdict": key.counts(verdicts),
        "deciding_restriction": key.counts(row[book.restriction] for row in gold),
        "status": {verdict: key.counts(row["application_status"] for row in gold if row[book.verdict] == verdict)
                   for verdict in book.table.decisions},
        "needs_hold": sum(row["needs_hold"] for row in gold),
        "tones": {verdict: key.counts(remark["tone"] for remark, word in zip(remarks, verdicts) if word == verdict)
                  for verdict in book.table.decisions},
        "remarks_about": key.counts("deciding check" if row[book.restriction] in remark["about"] else "another check"
                                    for remark, row in zip(remarks, gold) if remark.get("about")),
        **key.coverage(book.table, [answer["trace"] for answer in answers], draw.pool("steps")),
        **key.variety(gold, [field.name for field in book.fields.all]),
    }
