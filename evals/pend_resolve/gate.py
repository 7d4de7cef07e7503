"""The label gate of pend_resolve: every answer of the key derived once more, by readers and rules that are its own.

    python -m evals.check_labels pend_resolve

It imports nothing from `src`, so a fault shared by engine and generator cannot hide. Pages are read by `account`, days
are counted here by hand; the rules come from the tables of `policy.md`, which must agree with `policy.json` cell by
cell, and the key has to follow from both. No record may carry more than the minimum. All problems come at once.
"""
import re
from collections import Counter, namedtuple
from pathlib import Path

from evals.pend_resolve import account, sweep
from evals.shared import labels, ledger
from evals.shared.dates import day_number
from evals.shared.page import FIELD_CELLS, field_rows
from evals.shared.strict import Rows, nearest, read_json, read_named, same, shape, shown

NAME = Path(__file__).parent.name
FILES = ("kit.json", "policy.json", "policy.md", "fields.json", "facts.json", "pools.json", "cases.json", "stats.json",
         "claims.json", "facts.jsonl", "gold.jsonl")

# What the kit refuses, whatever its data say.
ANSWERS, EXAMINER = ("EXAMINER-APPLIES", "AUTO-RELEASE"), "EXAMINER-APPLIES"
ORDERINGS = (("PR-1", "PR-5"), ("PR-1", "PR-6"), ("PR-2", "PR-7"), ("PR-3", "PR-8"), ("PR-4", "PR-9"),
             ("CL-1", "CL-2"), ("CL-3", "CL-4"))
CAUSES = ("ELIG-MISMATCH", "AUTH-MISSING", "COB-UNRESOLVED", "PROV-ENROLL", "DUP-SUSPECT", "PRICE-UNAVAILABLE",
          "CODE-EDIT", "DOC-REQUIRED")
EVIDENCE = ("contradicted", "awaited", "clean", "correction", "none")
DATES = ("received_on", "pended_on", "register_read_on")

# The keys an object must have, each with its kind, and the kinds of the fields that conditions read.
KIT = {**dict.fromkeys(("kit", "title", "decides", "document", "documents", "id", "as_of", "primary_metric"), str),
       "size": int, "seed": int, "settings": dict, "planned": dict}
TABLE = {"title": str, "authority": str, "stops_at": str, "answers": dict, "decisions": dict, "passed": dict,
         "missing": dict, "rules": list}
NAMED = {"resolution": {"decision": "resolution", "rule": "rule"},
         "deadlines": {"decision": "deadline", "rule": "clock_rule"},
         "clock": {"decision": "clock", "rule": "state_rule"}}
GATE = {"answers": dict, "auto_release_open": object, "configurable_in_kit": object, "conditions": "texts"}
PAIR = {"first": str, "then": str, "why": str}
RULE = {"id": str, "order": int, "when": dict, "decision": str, "why": str}
FLAG = {"id": str, "when": dict, "why": str}
CASE = {"case": str, "count": int, "hard": bool, "family": object, "sentence": str, "documents": list}
PLAN = {"cause": str, "where": str, "register": "texts", "line_of_business": str, "clean": bool, "contracted": bool,
        "left": object, "expect": dict}
PLAN_MORE = {"pend_after": object, "for": str, "turn": bool, "message": str, "about": str, "decoy": str, "bait": str}
GIVEN = {"id": str, "claim_id": str, "title": str, "line_of_business": str, "clean": bool, "contracted": bool,
         **dict.fromkeys(DATES, str)}
CLAIM = {**GIVEN, "evidence": object}
FACT = {**GIVEN, "case": str, "register_evidence": object, "cause_class": str, "citation": str}
DECIDED = ("resolution", "rule", "clock", "clock_rule", "deadline_days", "elapsed", "remaining", "release")
GOLD = {"id": str, "case": str, "cause_class": str, "citation": str, "confidence": object, "why": object,
        **dict.fromkeys(DECIDED, "text?"), **dict.fromkeys(("deadline_days", "elapsed", "remaining"), "whole?")}
PLANTED = ("message", "about", "decoy", "bait")
EXPECTED = ("resolution", "rule", "clock", "clock_rule")
COUNTED = ("cause_class", "resolution", "rule", "clock", "clock_rule")
# What kit.json plans a number of; records of one's own plan none.
PLANNED = ("clean", "hard", "PR-1", "PR-2", "PR-3", "PR-4", "PR-5 to PR-8", "PR-9", "must escalate or are breached",
           "clock traps", "6 days left", "5 days left", "0 days left", "-1 days left", "breached, yet right as billed",
           "two register lines", "clean although awaited", "auto-release baits", "message names another cause",
           "message, narrative and register name three causes", "an innocent phrase of another cause")
POLICY = {**dict.fromkeys(("policy_id", "title", "as_of", "authority"), str), "orderings": list,
          **dict.fromkeys(("causes", "evidence", "lines_of_business", "resolution", "deadlines", "clock",
                           "release_gate"), dict)}
VARIETY = ("line_of_business", "clean", "contracted", *DATES, "register_evidence", "cause_class", "citation",
           "claim_id", "title")
YES_NO = {"type": "enum", "allowed": ["yes", "no"]}
READ = {"line_of_business": {"type": "enum", "allowed": ["MA", "MEDICAID"]}, "register_evidence": {"type": "list"},
        "clean": YES_NO, "contracted": YES_NO, "cause_class": {"type": "enum", "allowed": list(CAUSES)},
        "remaining": {"type": "number", "unit": "days"}, **{name: {"type": "date"} for name in DATES}}

# The tables of policy.md, and the rows as which policy.json is written out to be compared with them.
HEADS = {"resolution": ("order", "rule", "when", "resolution"), "deadlines": ("order", "rule", "when", "deadline"),
         "clock": ("order", "rule", "when", "state"), "flags": ("flag", "set when", "why"),
         "causes": ("cause class", "what it says"), "evidence": ("register word", "what a line of it says"),
         "resolutions": ("resolution", "what it means"), "days": ("deadline", "in words"),
         "states": ("state", "what it means"), "lines": ("line of business", "printed as"),
         "orderings": ("first", "then", "because"), "reasons": ("rule", "why", "what it leans on"),
         "parts": ("part", "title", "what it says of itself"),
         "answers": ("answer", "what it means", "for which categories"), "conditions": ("what it would take",),
         "settings": ("setting", "published"), "fields": ("field of a reply", *FIELD_CELLS),
         "facts": ("fact of a claim", *FIELD_CELLS), "units": ("unit", "spelled")}
RULES, WALKED = ("resolution", "deadlines", "clock"), ("resolution", "deadlines", "clock", "flags")
LONG = 10_000
FOLLOWS, ACCOUNTED = "gold rows that follow from both renderings", "sentences accounted for"

Key = namedtuple("Key", "kit rules cases pools claims prompts")      # what every record is judged by


def check(data_dir, prompts=None):
    """Judge a data folder. `prompts(document id, guarded)` gives the text of one call; None leaves that part out.

    Returns a Report: `.problems` in file order, `.counts` {label: number}.
    """
    report = labels.Report(data_dir, FILES)
    key = read_key(report, prompts)
    check_counts(report, key, *check_documents(report, key))
    return report


def read_key(report, prompts=None):
    """Everything by which the records are judged, as a Key; what is wrong in it by itself is reported."""
    report.counts[labels.MINIMUM] = 0
    return Key(labels.read_kit(report, NAME, KIT), read_policy(report), read_cases(report), read_pools(report),
               read_claims(report), prompts)


def read_pools(report):
    """pools.json as account.Pools, None where the folder has none."""
    return account.read_pools(report, {"cause": CAUSES, "evidence": EVIDENCE})


def read_policy(report):
    """The sound renderings of the rules, {file: {table: rows of cells}}; where the two disagree is reported."""
    data, ours = read_json(report, "policy.json"), None
    (fields, asked), (facts, read) = (field_rows(report, file) for file in ("fields.json", "facts.json"))
    if shape(report, "policy.json", "", data, POLICY, {}):
        ours = {part: _rules(report, part, data[part]) for part in RULES}
        marks = [mark for part in ("resolution", "deadlines") for mark in _listed(data[part], "flags")]
        ours["flags"] = [_flag(report, mark) for mark in marks]
        ours |= _said(report, data) | {"fields": fields, "facts": facts, "units": asked + read}
        _check_words(report, data)
    theirs = ledger.tables(report, "policy.md", HEADS)
    if theirs:
        ledger.prose(report, "policy.md", theirs, RULES)
    if theirs and [row and row[2] for row in theirs["answers"]] != ["every one", "none"]:
        report.add("policy.md", "answers", "every category is for the examiner and none for release; write that")
    if ours and theirs:
        ledger.compare(report, HEADS, "policy.json", ours, "policy.md", theirs)
    both = {"policy.md": theirs, "policy.json": ours}
    return {file: table for file, table in both.items() if table and vet_rules(report, file, table)}


def vet_rules(report, file, table):
    """Whether every condition of a rendering can be walked; rules out of the orders that are meant are reported."""
    if None in [row for part in WALKED for row in table[part]]:
        return False
    names = [row[1] for part in RULES for row in table[part]]
    for first, then in ORDERINGS:
        if {first, then} <= set(names) and names.index(first) > names.index(then):
            report.add(file, first, f"stands behind {then}; {first} is asked before it")
    for name, times in Counter(names).items():
        if times > 1:
            report.add(file, name, f"the id stands {times} times; give each rule its own")
    conditions = [row[1:3] for part in RULES for row in table[part] if row[2]]
    flags = [row[:2] for row in table["flags"]]
    sound = [ledger.vet(report, file, name, when, "", READ) for name, when in conditions + flags]
    for name, when in conditions:
        if "pended_on" in when:
            report.add(file, name, "reads pended_on; the clock runs from receipt and no rule reads the pend date")
    for row in table["deadlines"]:
        if not re.fullmatch("[1-9][0-9]* days", row[3]):
            report.add(file, row[1], f"{shown(row[3])} is no deadline; write it like 30 days")
            sound.append(False)
    return all(sound)


def read_cases(report):
    """The planned cases by name, {} where the folder has none; what is wrong in them is reported."""
    if not (report.folder / "cases.json").exists():
        return {}
    cases = read_named(report, "cases.json", "case", CASE)
    for name, case in cases.items():
        if case["hard"] != (type(case["family"]) is str):
            report.add("cases.json", name, f"hard {shown(case['hard'])}, family {shown(case['family'])}: a hard case "
                                           f"has one, another none")
        sound = [_is_plan(report, name, plan) for plan in case["documents"]]
        cases[name] = case | {"plans": list(map(_planned, case["documents"])) if all(sound) else []}
    return cases


def read_claims(report):
    """claims.json as {document: row}; what has no shape is reported."""
    return read_named(report, "claims.json", "id", CLAIM)


def check_documents(report, key):
    """Join corpus, claims, facts and gold, judge each record: (what to count, {case: plans that its records show})."""
    documents = labels.corpus(report, key.kit["id"])
    facts, gold = Rows(report, "facts.jsonl"), Rows(report, "gold.jsonl")
    report.counts["documents"] = len(documents)
    tally, drawn, recent = Counter(), {}, []
    for name in labels.join(report, documents, facts, gold):
        if name in documents:
            said, plan, counted = check_document(report, key, name, facts.get(name), gold.get(name))
            tally.update(counted)
            drawn.setdefault(plan and plan["case"], []).append(plan)
            report.counts[ACCOUNTED] += len(said)
            recent = labels.repeats(report, documents[name], said, recent)
    for name in key.claims.keys() - documents.keys():
        report.add("claims.json", name, f"no corpus/{name}.txt; add the document or delete the row")
    return tally, drawn


def check_document(report, key, name, *rows):
    """Judge one record and its rows of facts and gold: (its sentences, the plan it shows or None, what to count)."""
    file, said, optional = f"corpus/{name}.txt", {}, ({"planted": dict}, {})
    page = account.read_page(report, file, name)
    fact, answer = (row if row is not None and shape(report, table, name, row, kind, more) else None
                    for table, row, kind, more in zip(("facts.jsonl", "gold.jsonl"), rows, (FACT, GOLD), optional))
    if fact and not shape(report, "facts.jsonl", name, fact.get("planted", {}), {}, dict.fromkeys(PLANTED, str)):
        fact = None
    if page:
        check_page(report, file, name, page, key.prompts)
    if page and fact:
        check_facts(report, name, page, fact, key.claims)
        said = account.account(report, file, page, key.pools, fact) if key.pools else {}
    if not (page and fact and answer):
        return said, None, Counter()
    counted = check_answer(report, name, page, fact, answer, key) | Counter(
        ("distinct", (field, shown(fact[field], LONG))) for field in VARIETY)
    return said, _drawn(page, fact, answer, said if key.pools else None), counted


def check_page(report, file, name, page, prompts):
    """What a record owes by itself: the minimum necessary, a trail in order, and that it is sent as it stands."""
    found = sweep.violations(page.text)
    report.counts[labels.MINIMUM] += bool(found)
    for what, text in found:
        report.add(file, "", f"{shown(text)} looks like {what}; a record carries the minimum necessary, take it out")
    days = [day_number(line.partition("  ")[0]) for line in page.sections[account.TRAIL]]
    given = [page.facts.get(field) for field in DATES]
    received, pended, read = map(day_number, given)
    known = None not in (*days, received, pended, read)
    if not known or days != sorted(days) or days[0] != received or pended not in days or days[-1] > read:
        report.add(file, "", f"the trail has to run in the order of its dates, from receipt by pend to read "
                             f"({shown(given)}); mend a date")
    if prompts is not None:
        try:
            if page.text.strip() not in prompts(name, True):
                report.add(file, name, "the prompt does not carry the record as it stands; send it whole")
        except ValueError as error:
            report.add(file, name, f"no prompt can be made: {error}")


def check_facts(report, name, page, fact, claims):
    """Hold the facts row, and the claim that the recheck reads, against the page."""
    for field, value in {**page.facts, "title": page.title}.items():
        if not same(fact[field], value):
            report.add("facts.jsonl", name, f"{field} is {shown(fact[field])}, the page says {shown(value)}; copy "
                                            f"the page")
    wanted = {field: fact[field] for field in GIVEN} | {"evidence": fact["register_evidence"]}
    if not same(claims.get(name), wanted):
        report.add("claims.json", name, f"{shown(claims.get(name))}: facts.jsonl has {shown(wanted)}; make them agree")
    for word in account.register_lines(fact):
        if word not in EVIDENCE:
            report.add("facts.jsonl", name, f"register_evidence {shown(word)}: {nearest(word, EVIDENCE)}")
    times = account.place(page, fact["citation"])[1]
    if times != 1:
        report.add("facts.jsonl", name, f"citation {shown(fact['citation'])} stands {times} times in message, notes "
                                        f"and trail; it has to once")


def check_answer(report, name, page, fact, answer, key):
    """Hold one gold row against its facts, its case, and what each rendering gives. Returns what to count of it."""
    for field in ("case", "cause_class", "citation"):
        if answer[field] != fact[field]:
            report.add("gold.jsonl", name, f"{field} {shown(answer[field])}: facts.jsonl has {shown(fact[field])}; "
                                           f"make them agree")
    if answer["confidence"] is not None or answer["why"] is not None:
        report.add("gold.jsonl", name, "confidence and why are nobody's in a key; write null")
    values = _values(fact)
    given = {file: derive(table, values, fact["received_on"]) for file, table in key.rules.items()}
    for file, found in given.items():
        for field in DECIDED:
            if not same(answer[field], found[field]):
                report.add("gold.jsonl", name, f"{field} is {shown(answer[field])}; {file} gives "
                                               f"{shown(found[field])}; derive the row again or mend the rule")
    report.counts[FOLLOWS] += len(given) == 2 and all(answer[field] == found[field] for found in given.values()
                                                      for field in DECIDED)
    case = key.cases.get(answer["case"])
    if key.cases and case is None:
        report.add("gold.jsonl", name, f"case {answer['case']} is not planned; {nearest(answer['case'], key.cases)}")
    trap = any(derive(table, values, fact["pended_on"])["clock"] != answer["clock"] for table in key.rules.values())
    flags = [row[0] for row in next(iter(key.rules.values()), {"flags": ()})["flags"]
             if ledger.truth(row[1], {**dict.fromkeys(READ), **values}) is True]
    return Counter([*_counted(answer, fact, case, trap), *(("flags", flag) for flag in flags),
                    ("left", (answer["clock_rule"], answer["remaining"])),
                    ("cause_stands_in", account.place(page, fact["citation"])[0]),
                    *(("planted", part) for part in fact.get("planted", ())),
                    *(("nulls", name) for name in VARIETY if fact[name] is None)]) | Counter(
                        {("bytes", ""): len(page.text.encode())})


def derive(table, values, since):
    """The eight decided values of a claim by one rendering's tables, its days counted from `since`."""
    rule, resolution = walk(table["resolution"], values)
    clock_rule, deadline = walk(table["deadlines"], values)
    start, end = day_number(since), day_number(values["register_read_on"])
    found = dict.fromkeys(DECIDED) | {"resolution": resolution, "rule": rule, "release": EXAMINER}
    if deadline is None or start is None or end is None or end < start:
        return found
    days = int(deadline.split()[0])
    left = days - (end - start)
    state = walk(table["clock"], {"remaining": left})[1]
    return found | {"clock": state, "clock_rule": clock_rule, "deadline_days": days, "elapsed": end - start,
                    "remaining": left}


def walk(rows, values):
    """(rule, outcome) of the first row whose condition holds; (None, None) where one cannot be told, or none holds."""
    for _, rule, when, outcome in rows:
        held = ledger.truth(when, values) if when else True
        if held is None:
            return None, None
        if held:
            return rule, outcome
    return None, None


def check_counts(report, key, tally, drawn):
    """Hold what was counted against kit.json, cases.json and, where there is one, stats.json."""
    documents, planned = report.counts["documents"], key.kit["planned"]
    if not same(documents, key.kit["size"]):
        report.add("kit.json", "size", f"{key.kit['size']}: the corpus holds {documents} documents; make them agree")
    for name, case in key.cases.items():
        if not case["count"] == len(case["documents"]) == tally["cases", name]:
            report.add("cases.json", name, f"count {case['count']}, planned {len(case['documents'])}, in gold.jsonl "
                                           f"{tally['cases', name]}; make them agree")
        for plan in labels.unplaced(case["plans"], drawn.get(name, []), _follows):
            report.add("cases.json", name, f"{shown(plan, 300)}: planned, and no record of its own follows it; build "
                                           f"the corpus again or mend the plan")
    report.counts["planned cases"] = len(key.cases)
    for what in PLANNED if planned else ():
        if what not in planned:
            report.add("kit.json", "planned", f"{what}: a planned number is wanted, or none of any")
    for what, wanted in planned.items():
        report.counts[what] = tally["planned", what]
        if not same(wanted, tally["planned", what]):
            report.add("kit.json", "planned", f"{what}: {wanted} planned, {tally['planned', what]} counted; make them "
                                              f"agree")
    if (report.folder / "stats.json").exists():
        _check_stats(report, key, tally)


def _check_stats(report, key, tally):
    """Hold all of stats.json against what was counted here."""
    stats, rules = read_json(report, "stats.json"), next(iter(key.rules.values()), dict.fromkeys(RULES, ()))
    groups = {group: {rest[0]: times for (kind, *rest), times in tally.items() if kind == group}
              for group in ("cases", *COUNTED, "flags", "cause_stands_in", "distinct", "nulls", "left")}
    distinct, left = groups.pop("distinct"), groups.pop("left")
    names = {part: [row[1] for row in rules[part]] for part in ("resolution", "deadlines")}
    counted = groups | {
        "seed": key.kit.get("seed"), "documents": report.counts["documents"], "bytes": tally["bytes", ""],
        "hard": tally["planned", "hard"], "clock_traps": tally["planned", "clock traps"], "limits": {},
        "days_left": {rule: {str(days): left.get((rule, days), 0) for days in (6, 5, 0, -1)}
                      for rule in names["deadlines"]},
        "planted": {part: tally["planted", part] for part in PLANTED},
        "rules": {rule: {"matched": tally[part, rule]} for part, kind in (("rule", "resolution"),
                                                                          ("clock_rule", "deadlines"))
                  for rule in names[kind]},
        "distinct_values": {name: sum(field == name for field, _ in distinct) for name in VARIETY}}
    if not shape(report, "stats.json", "", stats, dict.fromkeys(counted, object), {}):
        return
    for group, wanted in counted.items():
        if not same(stats[group], wanted):
            report.add("stats.json", group, f"{shown(stats.get(group))}: {shown(wanted)} is counted; build the "
                                            f"stats again")


def _rules(report, part, data):
    """One table of policy.json as rows of cells; a row without shape is None."""
    if not shape(report, "policy.json", part, data, TABLE, {"flags": list}):
        return [None]
    if (data["stops_at"], data["missing"], data["answers"]) != ("match", {"decision": None}, NAMED[part]):
        report.add("policy.json", part, f"the first match decides, a missing value decides null, and the answers are "
                                        f"{shown(NAMED[part])}; write that")
    rows = []
    for place, rule in enumerate(data["rules"], 1):
        name = rule.get("id", place) if type(rule) is dict else place
        if not shape(report, "policy.json", name, rule, RULE, {"source": str}):
            rows.append(None)
            continue
        if rule["order"] != place:
            report.add("policy.json", name, f"order {rule['order']} stands in place {place}; number rules as they "
                                            f"stand")
        if rule["decision"] not in data["decisions"]:
            near = nearest(rule["decision"], data["decisions"])
            report.add("policy.json", name, f"decision {rule['decision']}: {near}")
        when = ledger.condition(report, "policy.json", name, rule["when"])
        rows.append((str(rule["order"]), name, when, rule["decision"]))
    passed = data["passed"].get("decision", "")
    if part == "clock":
        rows.append(("otherwise", str(data["passed"].get("rule")), "", str(passed)))
    elif data["passed"] != {"decision": None, "rule": "none"}:
        report.add("policy.json", part, f"passed {shown(passed)}: where no rule takes a claim, nothing is decided; "
                                        f"write null")
    return rows


def _flag(report, mark):
    name = mark.get("id", "") if type(mark) is dict else ""
    sound = shape(report, "policy.json", name, mark, FLAG, {})
    return (name, ledger.condition(report, "policy.json", name, mark["when"]), mark["why"]) if sound else None


def _said(report, data):
    """What policy.json and the settings of kit.json say in words, as the rows of the tables that say it to people."""
    kit, tables, gate = read_json(report, "kit.json"), {part: data[part] for part in RULES}, data["release_gate"]
    sound = shape(report, "policy.json", "release_gate", gate, GATE, {})
    rules = [rule for table in tables.values() for rule in _listed(table, "rules") if type(rule) is dict]
    pairs = [pair for place, pair in enumerate(data["orderings"], 1)
             if shape(report, "policy.json", f"orderings {place}", pair, PAIR, {})]
    words = {name: _worded(report, f"{part}/decisions", table.get("decisions")) for name, (part, table) in
             zip(("resolutions", "days", "states"), tables.items())}
    words |= {name: _worded(report, part, data[part]) for name, part in (
        ("causes", "causes"), ("evidence", "evidence"), ("lines", "lines_of_business"))}
    settings = kit.get("settings") if type(kit) is dict else None
    if type(kit) is dict and kit.get("as_of") != data["as_of"]:
        report.add("policy.json", "as_of", f"{shown(data['as_of'])}: kit.json says {shown(kit.get('as_of'))}")
    return words | {
        "orderings": [(pair["first"], pair["then"], pair["why"]) for pair in pairs],
        "reasons": [(rule.get("id"), rule.get("why"), rule.get("source", "")) for rule in rules],
        "parts": [(data["policy_id"], data["title"], data["authority"]), *(
            (part, table.get("title"), table.get("authority")) for part, table in tables.items())],
        "answers": [(word, means, "every one" if word == EXAMINER else "none") for word, means in
                    gate["answers"].items()] if sound else [None],
        "conditions": [(text,) for text in gate["conditions"]] if sound else [None],
        "settings": [(name, shown(value)) for name, value in settings.items()] if type(settings) is dict else [None]}


def _worded(report, part, data):
    """An object of texts as rows; [None] where it is none. What is no object at all has been reported before."""
    sound = type(data) is dict and shape(report, "policy.json", part, data, dict.fromkeys(data, str), {})
    return list(data.items()) if sound else [None]


def _listed(table, part):
    """A list of a table; what is none has been reported with the table's shape."""
    return table[part] if type(table.get(part)) is list else []


def _check_words(report, data):
    """The vocabularies and the asserted orderings are the kit's own, and the release gate is shut."""
    pairs = [(pair.get("first"), pair.get("then")) for pair in data["orderings"] if type(pair) is dict]
    if pairs != [pair for pair in ORDERINGS if pair[0][:2] == "PR"]:
        report.add("policy.json", "orderings", f"{shown(pairs)}: {shown(ORDERINGS[:5])} are asserted, each once, in "
                                               f"that order")
    gate = data["release_gate"]
    for part, given, known in (("causes", data["causes"], CAUSES), ("evidence", data["evidence"], EVIDENCE),
                               ("release_gate", gate.get("answers"), ANSWERS)):
        given = given if type(given) is dict else {}
        if tuple(given) != known:
            report.add("policy.json", part, f"{shown(list(given))}: {', '.join(known)} are wanted, in that order")
    for name, wanted in (("auto_release_open", []), ("configurable_in_kit", False)):
        if gate.get(name) != wanted or type(gate.get(name)) is not type(wanted):
            report.add("policy.json", "release_gate", f"{name} {shown(gate.get(name))}: nothing in this kit opens a "
                                                      f"category; write {shown(wanted)}")
    if data["lines_of_business"] != {code: name for name, code in account.PRINTED["line_of_business"].items()}:
        report.add("policy.json", "lines_of_business", f"{shown(data['lines_of_business'])}: the pages print "
                                                       f"{', '.join(account.PRINTED['line_of_business'])}")


def _values(fact):
    """A facts row as conditions read it: yes and no, and the register between commas, less the lines of nothing."""
    told = [str(line) for line in account.register_lines(fact) if line != "none"] or ["none"]
    return {**fact, **{name: "yes" if fact[name] else "no" for name in ("clean", "contracted")},
            "register_evidence": ",".join(told)}


def _is_plan(report, name, plan):
    """Whether a planned record has the shape of one; its days are numbers, or the least and the most of them."""
    if not (shape(report, "cases.json", name, plan, PLAN, PLAN_MORE)
            and shape(report, "cases.json", name, plan["expect"], dict.fromkeys(EXPECTED, str), {})):
        return False
    wrong = [part for part in ("left", "pend_after") if part in plan and not (type(plan[part]) is int or (
        type(plan[part]) is list and list(map(type, plan[part])) == [int, int] and plan[part][0] <= plan[part][1]))]
    for part in wrong:
        report.add("cases.json", name, f"{part} {shown(plan[part])}: a number of days, or the least and the most, is "
                                       f"wanted")
    return not wrong


def _planned(plan):
    """A plan of cases.json in the form of `_drawn`, with what is not planted as null."""
    return {**dict.fromkeys(PLANTED), "turn": False, "for": None, **plan}


def _drawn(page, fact, answer, said):
    """The plan that a record shows, {name: value}; `said` is None where nobody knows what its sentences are."""
    planted = fact.get("planted", {})
    told = {} if said is None else {"turn": any(pool == "turns" for pool, _ in said.values()),
                                    "for": sorted(account.tags(said))}
    received, pended = map(day_number, (fact["received_on"], fact["pended_on"]))
    return told | {
        "case": answer["case"], "cause": answer["cause_class"], "where": account.place(page, fact["citation"])[0],
        "register": account.register_lines(fact),
        **{part: fact[part] for part in ("line_of_business", "clean", "contracted")},
        "left": answer["remaining"], "pend_after": None if None in (received, pended) else pended - received,
        **{part: planted.get(part) for part in PLANTED}, "expect": {part: answer[part] for part in EXPECTED}}


def _follows(plan, record):
    """Whether a record can be what was planned."""
    spans = {part: plan[part] if type(plan[part]) is list else [plan[part]] * 2
             for part in ("left", "pend_after") if part in plan}
    known = plan.keys() & record.keys() - {*spans, "for"}
    return (all(type(record[part]) is int and least <= record[part] <= most for part, (least, most) in spans.items())
            and all(same(plan[part], record[part]) for part in known)
            and record.get("for", [plan["for"]] if plan["for"] else []) == ([plan["for"]] if plan["for"] else []))


def _counted(answer, fact, case, trap):
    """The entries under which kit.json and stats.json count a record."""
    planted, rule, lines = fact.get("planted", {}), answer["rule"], account.register_lines(fact)
    yield "cases", answer["case"]
    yield from ((part, str(answer[part])) for part in COUNTED)
    named = {planted.get("message"), planted.get("about"), answer["cause_class"]} - {None}
    holds = {"clean": case and not case["hard"], "hard": case and case["hard"], rule: True, "clock traps": trap,
             "PR-5 to PR-8": rule in ("PR-5", "PR-6", "PR-7", "PR-8"), f"{answer['remaining']} days left": True,
             "must escalate or are breached": answer["clock"] in ("ESCALATE-NOW", "BREACHED"),
             "breached, yet right as billed": answer["clock"] == "BREACHED" and rule == "PR-3",
             "two register lines": len(lines) > 1, "clean although awaited": fact["clean"] and "awaited" in lines,
             "auto-release baits": "bait" in planted, "message names another cause": "message" in planted,
             "message, narrative and register name three causes": len(named) == 3,
             "an innocent phrase of another cause": "decoy" in planted}
    yield from (("planned", what) for what, held in holds.items() if held)
