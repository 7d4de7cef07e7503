"""The label gate of label_restrict: every answer of the key derived once more, by readers and rules that are its own.

    python -m evals.check_labels label_restrict

It imports nothing from `src`, so a fault shared by engine and generator cannot hide. The page is read by a parser of
its own; the rules come from the tables of `policy.md`, which must agree with `checks.json` cell by cell; the key has to
follow from the page through each of the two. All problems are reported at once, each with file, row and remedy.
"""
from collections import Counter, namedtuple
from decimal import Decimal
from pathlib import Path

from evals.shared import labels, ledger
from evals.shared.page import FIELD_CELLS, field_rows, read_fields, read_page, value_of
from evals.shared.strict import Rows, nearest, read_json, shape, shown

NAME = Path(__file__).parent.name
FILES = ("kit.json", "fields.json", "checks.json", "policy.md", "examples.json", "cases.json", "stats.json",
         "facts.jsonl", "gold.jsonl")
OPTIONAL = ("examples.json", "stats.json")

# What the kit refuses, whatever its data say: these two reach no rule.
NEVER_READ = {"previous_season_applications", "agronomist_note"}
# There are days since the last application exactly where the season has an application.
DAYS_SINCE, SEASON_COUNT = "days_since_last_application", "applications_made_this_season"

# The keys an object must have, and those it may have, each with its kind.
KIT = {"kit": str, "id": str, "size": int, "hard_family_floors": dict}
CHECKS = {"title": str, "authority": str, "stops_at": str, "answers": dict, "decisions": dict, "passed": dict,
          "missing": dict, "classes": dict, "rules": list, "flags": list, "hold": dict}
ENDINGS = {"passed": {"decision": str, "rule": str}, "missing": {"decision": str}}
CHECK = {"id": str, "order": int, "class": str, **ledger.CLAUSE, "decision": str, "why": str}
CHECK_MORE = {**ledger.CLAUSE_MORE, "not_applicable": dict}
MARK = {"id": str, "when": dict, "why": str}
EXAMPLE = {"sentence": str, "change": dict, "expect": dict}
CASE = {"case": str, "count": int, "hard": bool, "family": "text?", "sentence": str, "expect": dict}
ANSWER = {"verdict": str, "deciding_restriction": str}
PLAN = {"set": {}, "room": {}, "unstated": []}  # the parts of a plan that a page shows as values

# The tables of policy.md, and the rows as which checks.json and fields.json are written out to be compared with them.
HEADS = {
    "checks": ("order", "check", "class", "has to hold", "unit", "not applicable when", "verdict if it does not"),
    "endings": ("ending", "verdict", "deciding restriction"),
    "marks": ("mark", "kind", "set when"),
}
FIELD_HEADS = {"fields": ("field", *FIELD_CELLS), "units": ("unit", "spelled")}
PASSED, MISSING, REACHED = "every check passed", "a value is missing", "the check reached"

HOLD = "needs_hold"
FOLLOWS = "gold rows that follow from both renderings"

Key = namedtuple("Key", "kit fields cases rules prompts")  # what every document is judged by


def check(data_dir, prompts=None):
    """Judge a data folder. `prompts(document id, guarded)` gives the text of one call; None leaves that part out.

    Returns a Report: `.problems` in file order, `.counts` {label: number}. Holds one document in memory at a time.
    """
    report = labels.Report(data_dir, FILES)
    kit = read_kit(report)
    checks, words = read_checks(report)
    fields = read_fields(report, words, NEVER_READ)
    policy = ledger.tables(report, "policy.md", HEADS | FIELD_HEADS)
    if not (words and fields.all):      # all else would be held against nothing
        blank = [file for file, found in (("fields.json", fields.all), ("checks.json", words)) if not found]
        labels.unjudged(report, Rows(report, "gold.jsonl"), *blank)
        return report
    if policy:
        ledger.compare(report, HEADS, "checks.json", checks, "policy.md", policy)
        compare_fields(report, policy)
    rules = {file: table for file, table in (("policy.md", policy), ("checks.json", checks))
             if table and vet_rules(report, file, table, fields)}
    check_examples(report, fields, rules)
    cases = read_cases(report, kit, words)
    check_documents(report, Key(kit, fields, cases, rules, prompts))
    return report


def compare_fields(report, policy):
    """Hold fields.json cell by cell against its tables in policy.md."""
    listed = dict(zip(FIELD_HEADS, field_rows(report, "fields.json", ["sections"])))
    ledger.compare(report, FIELD_HEADS, "fields.json", listed, "policy.md", policy)


def read_kit(report):
    """What the gate needs of kit.json: the form of an id, how many documents and answers are planned, the floors."""
    kit = read_json(report, "kit.json")
    planned = kit.get("planned", {}) if type(kit) is dict else {}
    numbers = dict.fromkeys(planned if type(planned) is dict else (), int)
    if not (shape(report, "kit.json", "", kit, KIT) and shape(report, "kit.json", "planned", planned, numbers)):
        return {"id": None, "size": None, "hard_family_floors": {}}
    if kit["kit"] != NAME:
        report.add("kit.json", "kit", f"{shown(kit['kit'])}: this is the gate of {NAME}; write that name")
    floors = kit["hard_family_floors"]
    sound = shape(report, "kit.json", "hard_family_floors", floors, dict.fromkeys(floors, int))
    return kit if sound else {**kit, "hard_family_floors": {}}


def read_checks(report):
    """checks.json as tables of rows, None where it has no shape, and {"$decisions": words, "$rules": words}."""
    data = read_json(report, "checks.json")
    if not (shape(report, "checks.json", "", data, CHECKS, {})
            and all([shape(report, "checks.json", part, data[part], keys, {}) for part, keys in ENDINGS.items()])
            and all([shape(report, "checks.json", f"class {name}", group, {"decision": str, "why": str}, {})
                     for name, group in data["classes"].items()])):
        return None, {}
    for part, wanted in (("stops_at", "breach"), ("answers", dict(zip(("decision", "rule"), ANSWER)))):
        if data[part] != wanted:
            report.add("checks.json", part, f"{shown(data[part])}: this kit's is {shown(wanted)}; write that")
    checks = [_rule_row(report, data, rule, place) for place, rule in enumerate(data["rules"], 1)]
    if None not in checks:
        checks.sort(key=lambda row: int(row[0]))        # the walk goes by it, wherever a check stands
    marks = [_mark_row(report, "flag", mark) for mark in data["flags"]] + [_mark_row(report, "hold", data["hold"])]
    ids = [row[1] for row in checks if row]
    for name, times in Counter(ids + [row[0] for row in marks if row] + [data["passed"]["rule"]]).items():
        if times > 1:
            report.add("checks.json", name, f"the id stands {times} times; give each check and each mark its own")
    endings = [(PASSED, data["passed"]["decision"], data["passed"]["rule"]),
               (MISSING, data["missing"]["decision"], REACHED)]
    words = {"$decisions": list(data["decisions"]), "$rules": [*ids, data["passed"]["rule"]]}
    return {"checks": checks, "endings": endings, "marks": marks}, words


def vet_rules(report, file, table, fields):
    """Whether every condition can be walked; what stands in the way is reported."""
    sound = [None not in table["checks"] + table["endings"] + table["marks"] and len(table["endings"]) == 2]
    for _, name, _, holds, unit, skipped, _ in filter(None, table["checks"]):
        sound.append(ledger.vet(report, file, name, holds, unit, fields.copied))
        sound.append(not skipped or ledger.vet(report, file, name, skipped, "", fields.copied))
    for mark, kind, when in filter(None, table["marks"]):
        sound.append(ledger.vet(report, file, mark, when, "", fields.all if kind == "hold" else fields.copied))
    return all(sound)


def check_examples(report, fields, rules):
    """Walk the worked examples, where there are any, through each rendering of the rules."""
    if fields.unsound or not (report.folder / "examples.json").exists():
        return
    data = read_json(report, "examples.json")
    if not (shape(report, "examples.json", "", data, {"row": dict, "examples": list}, {})
            and shape(report, "examples.json", "row", data["row"], dict.fromkeys(fields.copied, "text?"), {})):
        return
    row = _example_values(report, "row", data["row"], fields)
    for place, example in enumerate(data["examples"], 1):
        name = example.get("sentence", place) if type(example) is dict else place
        if (shape(report, "examples.json", name, example, EXAMPLE, {})
                and shape(report, "examples.json", name, example["expect"], ANSWER, {})
                and shape(report, "examples.json", name, example["change"], {}, dict.fromkeys(fields.copied, "text?"))):
            values = {**row, **_example_values(report, name, example["change"], fields)}
            for file, table in rules.items() if values.keys() == fields.copied.keys() else ():
                got = dict(zip(ANSWER, walk(table, values)))
                if got != example["expect"]:
                    report.add("examples.json", name, f"expects {_said(example['expect'])}; {file} gives {_said(got)}; "
                                                      f"mend the example or the rule")
    report.counts["worked examples"] = len(data["examples"])


def _example_values(report, name, raw, fields):
    """The values of an example as a page would give them; what cannot be read is reported and left out."""
    values = {}
    for field in raw.keys() & fields.copied.keys():
        try:
            values[field] = None if raw[field] is None else value_of(raw[field], fields.copied[field], fields.units)
        except ValueError as error:
            report.add("examples.json", name, f"{field} {shown(raw[field])}: {error}")
    return values


def read_cases(report, kit, words):
    """The planned cases by name; what is wrong in them is reported."""
    data, cases = read_json(report, "cases.json"), {}
    if type(data) is not list:
        report.add("cases.json", "", f"{shown(data)}: a list of planned cases is wanted")
        return cases
    for place, case in enumerate(data, 1):
        name = case.get("case", place) if type(case) is dict else place
        if (shape(report, "cases.json", name, case, CASE, {"plan": dict})
                and shape(report, "cases.json", name, case["expect"], ANSWER, {})):
            if name in cases:
                report.add("cases.json", name, "stands twice; keep one case of that name")
            cases[name] = case
            _vet_case(report, case, kit, words)
    return cases


def check_documents(report, key):
    """Join corpus, facts and gold, judge each document against its rows, then the key as a whole."""
    documents = labels.corpus(report, key.kit["id"])
    facts, gold = Rows(report, "facts.jsonl"), Rows(report, "gold.jsonl")
    report.counts["documents"] = len(documents)
    tally, first, varied, unsound = Counter(), {}, set(), 0
    for name in labels.join(report, documents, facts, gold):
        page = read_page(report, documents[name], key.fields) if name in documents else None
        fact, answer = (_sound_row(report, table, name, page, key) for table in (facts, gold))
        if page:
            check_page(report, documents[name], name, page, key)
        if fact and answer and fact["case"] != answer["case"]:
            report.add("facts.jsonl", name, f"case {fact['case']}: gold.jsonl says {answer['case']}; make them agree")
        unsound += name in gold.places and not answer
        if answer:
            check_answer(report, name, answer, page, key)
            tally.update(_counted(answer))
            varied.update(field for field in key.fields.all if first.setdefault(field, answer[field]) != answer[field])
    for field in first if key.cases and len(gold.places) > 1 else ():
        if field not in varied:
            report.add("gold.jsonl", field, f"{shown(first[field])} in every row: its reading is never tested; vary it")
    if len(documents) != key.kit["size"]:
        report.add("kit.json", "size", f"{key.kit['size']}: the corpus holds {len(documents)} documents; make them "
                                       f"agree")
    if unsound:
        report.add("gold.jsonl", "", f"{unsound} of {len(gold.places)} rows have not the keys of fields.json; cases, "
                                     f"floors and stats are not counted until they have")
    else:
        check_counts(report, key, tally)


def check_page(report, file, name, page, key):
    """What a page owes by itself: nothing withheld in what is sent, days since an application where there is one."""
    report.counts["values found on their lines"] += len(page.values)
    labels.privacy(report, file, name, page.withheld, page.sent, key.prompts)
    count, days = page.values.get(SEASON_COUNT, 0), page.values.get(DAYS_SINCE)
    if {SEASON_COUNT, DAYS_SINCE} <= page.values.keys() and (days is None) != (count == 0):
        report.add(file, name, f"{SEASON_COUNT} {shown(count)}, {DAYS_SINCE} {shown(days)}: days are stated exactly "
                               f"where the season has an application; mend one of the two")


def check_answer(report, name, answer, page, key):
    """Hold one gold row against its vocabulary, its planned case, and the page walked through each rendering."""
    for field in (field for field in key.fields.all.values() if field["type"] == "enum"):
        if answer[field["name"]] not in field["allowed"]:
            report.add("gold.jsonl", name, f"{field['name']} {shown(answer[field['name']])}: one of "
                                           f"{', '.join(field['allowed'])} is wanted")
    case = key.cases.get(answer["case"])
    if case is None and key.cases:
        report.add("gold.jsonl", name, f"case {answer['case']} is not planned; {nearest(answer['case'], key.cases)}")
    elif case and case["expect"] != {part: answer[part] for part in ANSWER}:
        report.add("gold.jsonl", name, f"gold says {_said(answer)}; case {case['case']} of cases.json expects "
                                       f"{_said(case['expect'])}; plan and key must agree")
    if page and page.values.keys() == key.fields.copied.keys():
        follows = [_follows(report, name, answer, file, table, page.values) for file, table in key.rules.items()]
        report.counts[FOLLOWS] += len(follows) == 2 and all(follows)
        if case and "plan" in case:
            _check_plan(report, name, case, page.values, key.rules)


def walk(table, values):
    """(verdict, deciding restriction): the first check that is breached or lacks a value, else how a walk ends.

    Whether a check applies is asked first, so a check that does not apply never asks for its values.
    """
    (_, *passed), (_, missing, _) = table["endings"]
    for _, name, _, holds, _, exempt, verdict in table["checks"]:
        skipped = ledger.truth(exempt, values) if exempt else False
        satisfied = skipped or (None if skipped is None else ledger.truth(holds, values))
        if not satisfied:
            return (missing if satisfied is None else verdict), name
    return tuple(passed)


def check_counts(report, key, tally):
    """Hold what was counted against kit.json, cases.json and, where there is one, stats.json."""
    families = Counter()
    for verdict, number in key.kit.get("planned", {}).items() if key.cases else ():
        if tally["verdict", verdict] != number:
            report.add("kit.json", "planned", f"{verdict} {shown(number)}: gold.jsonl holds "
                                              f"{tally['verdict', verdict]}; make them agree")
    for name, case in key.cases.items():
        counted = tally["cases", name]
        families[case["family"]] += counted
        if counted != case["count"]:
            report.add("cases.json", name, f"count {case['count']}: gold.jsonl holds {counted}; make them agree")
    report.counts["planned cases"] = len(key.cases)
    if key.cases:
        labels.at_least(report, "cases.json", "hard family", families, key.kit["hard_family_floors"])
    if (report.folder / "stats.json").exists():
        _check_stats(report, report.counts["documents"], tally)


def _rule_row(report, data, rule, place):
    name = rule.get("id", place) if type(rule) is dict else place
    if not shape(report, "checks.json", name, rule, CHECK, CHECK_MORE):
        return None
    group, decision = data["classes"].get(rule["class"]), rule["decision"]
    if rule["order"] != place:
        report.add("checks.json", name, f"order {rule['order']} stands in place {place}; number checks as they stand")
    if group is None:
        report.add("checks.json", name, f"class {rule['class']} is unknown; {nearest(rule['class'], data['classes'])}")
    elif decision != group["decision"]:
        report.add("checks.json", name, f"decision {decision}: a check of class {rule['class']} decides "
                                        f"{group['decision']}; change the class or the decision")
    if decision not in data["decisions"]:
        report.add("checks.json", name, f"decision {decision} is unknown; {nearest(decision, data['decisions'])}")
    holds = ledger.clause(report, "checks.json", name, rule, with_unit=False)
    exempt = rule.get("not_applicable")
    exempt = "" if exempt is None else ledger.condition(report, "checks.json", name, exempt)
    return str(rule["order"]), name, rule["class"], holds, rule.get("unit", ""), exempt, decision


def _mark_row(report, kind, mark):
    name = mark.get("id", kind) if type(mark) is dict else kind
    if not shape(report, "checks.json", name, mark, MARK, {}):
        return None
    return name, kind, ledger.condition(report, "checks.json", name, mark["when"])


def _vet_case(report, case, kit, words):
    def refuse(message):
        report.add("cases.json", case["case"], message)

    family, floors = case["family"], kit["hard_family_floors"]
    if case["hard"] != (family is not None):
        refuse(f"hard {shown(case['hard'])}, family {shown(family)}: a case is hard where it belongs to a family")
    if family is not None and family not in floors:
        refuse(f"family {shown(family)} has no floor in kit.json; {nearest(family, floors)}")
    for part, known in (("verdict", "$decisions"), ("deciding_restriction", "$rules")):
        if words and case["expect"][part] not in words[known]:
            refuse(f"{part} {case['expect'][part]} is unknown; {nearest(case['expect'][part], words[known])}")


def _sound_row(report, table, name, page, key):
    """A document's row of facts or gold, None where its keys are not right; each value is held against the page.

    Where no cases are planned, the facts are somebody's own: what they leave out is not stated, and they need no
    product.
    """
    row, fields = table.get(name), key.fields
    if row is None or not fields.all:
        return None
    wanted = {"id": str, "case": str if key.cases else "text?", **dict.fromkeys(fields.copied, object)}
    if table.file == "gold.jsonl":
        wanted |= dict.fromkeys([*fields.all, HOLD], object)
    elif key.cases:
        wanted["product"] = str
    else:
        row = {**dict.fromkeys(["case", *fields.copied]), **row}
    if not shape(report, table.file, name, row, wanted, {"product": str} if table.file == "facts.jsonl" else {}):
        return None
    printed = {**page.values, "product": page.withheld} if page else {}
    for field, value in printed.items():
        if field in row and (type(row[field]) is bool or row[field] != value):
            report.add(table.file, name, f"{field} is {shown(row[field])}, the page says {shown(value)}; copy the page")
    return row


def _counted(answer):
    """The entries under which stats.json counts a gold row."""
    yield "cases", answer["case"]
    yield from ((part, str(answer[part])) for part in ANSWER)
    yield from (("nulls", field) for field, value in answer.items() if value is None)
    if answer[HOLD] is True:
        yield HOLD, HOLD


def _check_stats(report, documents, tally):
    stats = read_json(report, "stats.json")
    counted = {"documents": documents, HOLD: tally[HOLD, HOLD]}
    counted |= {group: {name: times for (kind, name), times in tally.items() if kind == group}
                for group in ("cases", *ANSWER, "nulls")}
    for group, wanted in counted.items() if type(stats) is dict else ():
        if stats.get(group, wanted) != wanted:
            report.add("stats.json", group, f"{shown(stats[group])}: {shown(wanted)} is counted; build the stats again")


def _follows(report, name, answer, file, table, values):
    """Whether one rendering of the rules gives what the gold row says, the hold included."""
    said, got = {part: answer[part] for part in ANSWER}, dict(zip(ANSWER, walk(table, values)))
    when = next((when for _, kind, when in table["marks"] if kind == "hold"), None)
    hold = when and ledger.truth(when, {**values, **said})
    if got != said:
        report.add("gold.jsonl", name, f"gold says {_said(said)}; {file} as it stands gives {_said(got)}; derive the "
                                       f"row again or mend the rule")
    if answer[HOLD] is not hold:
        report.add("gold.jsonl", name, f"{HOLD} is {shown(answer[HOLD])}; {file} gives {shown(hold)} for "
                                       f"{said['verdict']} and {values.get('application_status')}; derive it again")
    _, verdict, rule = table["endings"][0]
    if (said["verdict"] == verdict) != (said["deciding_restriction"] == rule):
        report.add("gold.jsonl", name, f"{_said(said)}: {rule} goes with {verdict} and with nothing else; mend one")
    return got == said and answer[HOLD] is hold


def _check_plan(report, name, case, values, rules):
    """Hold a page against the plan of its case: what it sets, how much room a limit leaves, what stays unstated."""
    def differs(part, wanted, got):
        report.add("cases.json", case["case"], f"{part} {shown(wanted)}: {name} has {shown(got)}; mend the plan or "
                                               f"build the corpus again")

    plan = {part: case["plan"].get(part, empty) for part, empty in PLAN.items()}
    if not shape(report, "cases.json", case["case"], plan, {"set": dict, "room": dict, "unstated": "texts"}):
        return
    silent = {DAYS_SINCE} if values.get(SEASON_COUNT) == 0 else set()
    if {field for field, value in values.items() if value is None} - silent != set(plan["unstated"]):
        differs("unstated", plan["unstated"], sorted(field for field, value in values.items() if value is None))
    got = {field: values.get(field) for field in plan["set"].keys() - set(plan["unstated"])}
    got |= {check: _room(check, values, rules) for check in plan["room"]}
    for part, wanted in {**plan["set"], **plan["room"]}.items():
        if part in got and got[part] not in (wanted if type(wanted) is list else [wanted]):
            differs(part, wanted, got[part])


def _room(check, values, rules):
    """How far a check's first value lies inside its limit, below 0 outside; None where that is no number."""
    holds = next((row[3] for table in rules.values() for row in table["checks"] if row[1] == check), "")
    atom = ledger.parse(holds)[1][0]
    limit = atom and (values.get(atom.name) if atom.number is None else Decimal(atom.number))
    if limit is None or values.get(atom.field) is None or atom.test not in ledger.ORDER:
        return None
    return (limit - values[atom.field]) * (1 if atom.test.startswith("<") else -1)


def _said(answer):
    return f"{answer['verdict']} by {answer['deciding_restriction']}"
