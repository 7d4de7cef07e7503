"""The label gate of admission_status: every answer of the key derived once more, by readers and rules that are its own.

    python -m evals.check_labels admission_status

It imports nothing from `src`. Each page is cut into lines and sentences, and each of them has to be a sentence of
`pools.json`, which says what it evidences; from these and from the admission time the four findings, the value, the
midnights and the verdict are derived, the verdict through `policy.json` and `policy.md` apart. A word list of its own
proves that no filler carries a mark of any element, and that every sentence of evidence does.
"""
import re
from collections import Counter, namedtuple
from pathlib import Path

from evals.shared import labels, ledger, page, personal
from evals.shared.dates import CLOCK, day_number, is_moment
from evals.shared.strict import Rows, nearest, read_json, read_named, read_text, same, shape, shown

NAME = Path(__file__).parent.name
FILES = ("kit.json", "policy.json", "policy.md", "fields.json", "pools.json", "cases.json", "records.json",
         "stats.json", "facts.jsonl", "gold.jsonl")
ORDER, EXPECTATION, COMORBIDITIES, SERVICES = ELEMENTS = (
    "admitting_order", "stay_expectation", "comorbidities", "services_delivered")
AMBIGUOUS, PRESENT, ABSENT = CLASSES = "AMBIGUOUS", "PRESENT", "ABSENT"
DISCHARGE, NIGHTS = "expected_discharge", "expected_nights"
ANSWER = ("support", "rule", "midnights", "meets_benchmark")
BENCHMARK = "two_midnights"

KIT = {**dict.fromkeys(("kit", "title", "decides", "document", "documents", "id", "primary_metric"), str),
       "size": int, "seed": int, "settings": dict}
POLICY = {"policy": str, "as_of": str, "values": dict, "classes": dict, "elements": dict, "rulebook": dict}
VALUE = {"value": int, "unit": str, "source": str, "from": str}
ELEMENT = {"title": str, "words": dict, "means": dict}
RULEBOOK = {"title": str, "authority": str, "stops_at": str, "answers": dict, "decisions": dict, "passed": dict,
            "missing": dict, "rules": list}
RULE = {"id": str, "order": int, "when": dict, "decision": str, "why": str, "source": str}
CASE = {"case": str, "count": int, "hard": bool, "sentence": str, "expect": dict, "documents": list}
PLAN = {"order": str, "expects": "text?", "comorbidities": str, "services": str}
PLAN_MORE = {"decoys": "texts", "tone": str, "relative": bool, "planned": bool, "service_days": int, "admitted": str,
             "line": str}
RECORD = dict.fromkeys(("id", "title", "case", "admitted_at", "facility", "service_line", "attending_role"), str) | {
    "hard": bool}
ROW = {"element": str, "finding": str, "citation": object, DISCHARGE: object, NIGHTS: object}
FACTS = {"id": str, "case": str, "elements": list}
GOLD = {**FACTS, "support": "text?", "rule": "text?", "midnights": "whole?",
        **dict.fromkeys(("meets_benchmark", "confidence", "why"), object)}
# The tables of policy.md, and the rows as which policy.json, fields.json and the settings of kit.json are written out.
HEADS = {"rules": ("order", "rule", "when", "unit", "support"),
         "values": ("value", "amount", "unit", "source", "from"), "words": ("element", *CLASSES),
         "classes": ("class", "what it says of a record"), "titles": ("element", "title"),
         "means": ("element", "class", "what its word says"), "decisions": ("support", "what it means"),
         "reasons": ("rule", "why", "what it leans on"), "parts": ("rulebook", "title", "what it says of itself"),
         "settings": ("setting", "published"), "fields": ("field", *page.FIELD_CELLS), "units": ("unit", "spelled")}
ENDINGS = {"stops_at": "match", "answers": {"decision": "support", "rule": "rule"},
           "passed": {"decision": None, "rule": "none"}, "missing": {"decision": None}}

FACTS_TITLE, ORDERS_TITLE, NOTE_TITLE, SERVICES_TITLE, REVIEW_TITLE = TITLES = (
    "ENCOUNTER FACTS", "ORDERS AND AUTHENTICATION", "ADMITTING PRACTITIONER DOCUMENTATION", "SERVICES DELIVERED",
    "UTILIZATION REVIEW NOTES")
# The label of each facts line, and the encounter fact behind it; as_of is the policy's.
FACT_LINES = {"Encounter": "id", "Admitted": "admitted_at", "Facility": "facility", "Service line": "service_line",
              "Admitting role": "attending_role", "Record assembled as at": "as_of"}
MOMENT = {ORDERS_TITLE: r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}", SERVICES_TITLE: r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
          REVIEW_TITLE: r"[0-9]{4}-[0-9]{2}-[0-9]{2}"}
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
DATE = rf"(?:[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}|(?:{'|'.join(MONTHS)}) [0-9]{{1,2}}, [0-9]{{4}})"
# The worked examples of policy.md, each with its count as the last word; the days on which a stay from January 1 ends.
STAY = re.compile(r"In at ([0-9]{2}:[0-9]{2}) and out (?:late )?on the (day after next|next day) is \w+")
NO_NIGHT = re.compile(r"No night at all is a count of \w+")
OUT = {"next day": "2026-01-02", "day after next": "2026-01-03"}
SENTENCE_END = re.compile(r"(?<=[.?!]) (?=[A-Z0-9])")
# What a sentence that evidences an element cannot do without, and a filler may not have.
MARKS = {
    ORDER: r"inpatient|outpatient|observation|admit\w*|admission\w*",
    EXPECTATION: rf"nights?|midnights?|discharg\w*|stay\w*|hospitali\w+|hospital care|days|home|{DATE}",
    COMORBIDITIES: r"histor\w*|chronic\w*|comorbid\w*|problems?|background|long-standing|conditions?|illness\w*|PMH",
    SERVICES: r"deliver\w*|received|given|performed|provided|care|treat\w*|interventions?|therap\w+|management|"
              r"measures|completed|done|billed|services?|flowsheet|carried out",
}
# What nobody's record here may hold: who the patient is, and the name of anybody who treats them.
NOBODY = personal.compiled({**personal.WHO, "a name": (r"\b(?-i:Dr|Prof|DR)\b\.? ?(?-i:[^\W\d_a-z])",)})
MIN_EVIDENCE, UNTOLD, LONG = 79, "?", 10_000
# The values of which stats.json counts how many different ones there are.
VARIETY = (*ELEMENTS, *(f"{name}_citation" for name in ELEMENTS), DISCHARGE, NIGHTS, "support", "rule", "midnights")
NAMED = ("condition", "conditions", "service", "services", "Services")  # the slots that hold names
OWN, FOREIGN = ("date", "nights", "zero"), ("vague", "conditional", "planner", "earlier", "family")
# What pools.json holds: the kinds of sentence of each element, and of fillers; those of a mapping have groups below.
POOLS = {"facilities": "texts", "roles": "texts", "titles": "texts", "lines": dict, "conditions": "texts",
         "evidence": dict, "fillers": dict}
EVIDENCE = {ORDER: ("present", "spoken", "signed", "observation", "unsigned", "intent", "blank"),
            EXPECTATION: (*OWN, *FOREIGN), COMORBIDITIES: ("named", "unnamed", "relative"),
            SERVICES: ("named", "unnamed", "planned")}
FILLERS = {"orders": "texts", "prose": dict, "severe": dict, "calm": dict, "services": "texts", "review": "texts",
           "bait": "texts"}
REMARKS = ("source", "seen", "lives", "works", "habits", "paper", "wishes", "medicines", "team", "review")
LINE = {"presenting": "texts", "services": "texts"}
# What records.json draws from which pool.
DRAWN = {"title": "titles", "facility": "facilities", "service_line": "lines", "attending_role": "roles"}

Key = namedtuple("Key", "kit as_of words rules cases records pools prompts")  # what every document is judged by
Unit = namedtuple("Unit", "section at text element kind slots")  # one line or sentence, told what it is
Derived = namedtuple("Derived", "elements plan")  # {element: (class, citation, date, nights)}, the plan that it shows


def check(data_dir, prompts=None):
    """Judge a data folder. `prompts(document id, guarded)` gives the text of one call; None leaves that part out.

    Returns a Report: `.problems` in file order, `.counts` {label: number}. Without pools.json, as for records of your
    own, findings are taken from the key and only what follows from them is judged.
    """
    report = labels.Report(data_dir, FILES)
    key = read_key(report, prompts)
    check_counts(report, key, *check_documents(report, key))
    return report


def read_key(report, prompts=None):
    """Everything by which the documents are judged, as a Key; what is wrong in it by itself is reported."""
    pools = read_pools(report)
    kit = labels.read_kit(report, NAME, KIT)
    return Key(kit, *read_policy(report), read_cases(report), read_records(report, pools), pools, prompts)


def read_policy(report):
    """(as-of date, {element: {class: word}}, {file: its tables} of the sound renderings); what differs is reported."""
    ours, as_of = json_tables(report, labels.read_kit(report, NAME, KIT))
    theirs = ledger.tables(report, "policy.md", HEADS)
    if theirs:
        check_examples(report, " ".join(ledger.prose(report, "policy.md", theirs, ("rules",))))
    if ours and theirs:
        ledger.compare(report, HEADS, "policy.json", ours, "policy.md", theirs)
    return as_of, _words(ours or theirs), {
        file: tables for file, tables in (("policy.json", ours), ("policy.md", theirs))
        if tables and vet_rules(report, file, tables)}


def check_examples(report, prose):
    """Count the worked examples on the page that goes to the model anew: both sides of the benchmark, and no night."""
    told = [(found[0], midnights(f"2026-01-01 {found[1]}", OUT[found[2]], None)) for found in STAY.finditer(prose)]
    told += [(found[0], midnights("2026-01-01 00:00", None, 0)) for found in NO_NIGHT.finditer(prose)]
    for text, count in told:
        if text.split()[-1] not in (str(count), NUMBERS[count]):
            report.add("policy.md", shown(text), f"it is {count}; count again")
    if {count for _, count in told} != {0, 1, 2}:
        report.add("policy.md", "", "an example each of 0, 1 and 2 midnights is wanted, in these words: In at 23:50 "
                                    "and out on the day after next (the next day) is two; No night at all is a count "
                                    "of 0")


def json_tables(report, kit):
    """policy.json as the tables of policy.md, None where it has no shape, and its as-of date."""
    data, (fields, units) = read_json(report, "policy.json"), page.field_rows(report, "fields.json")
    if not (shape(report, "policy.json", "", data, POLICY, {})
            and shape(report, "policy.json", "rulebook", data["rulebook"], RULEBOOK, {})
            and shape(report, "policy.json", "decisions", data["rulebook"]["decisions"],
                      dict.fromkeys(data["rulebook"]["decisions"], str), {})
            and shape(report, "policy.json", "classes", data["classes"], dict.fromkeys(CLASSES, str), {})
            and all([shape(report, "policy.json", name, value, VALUE, {}) for name, value in data["values"].items()])
            and all([shape(report, "policy.json", f"rule {place}", rule, RULE, {})
                     for place, rule in enumerate(data["rulebook"]["rules"], 1)])
            and shape(report, "policy.json", "elements", data["elements"], dict.fromkeys(ELEMENTS, dict), {})
            and all([shape(report, "policy.json", name, element, ELEMENT, {}) and all([
                shape(report, "policy.json", f"{name}/{part}", element[part], dict.fromkeys(CLASSES, str), {})
                for part in ("words", "means")]) for name, element in data["elements"].items()])):
        return None, None
    book = data["rulebook"]
    for part, wanted in ENDINGS.items():
        if book[part] != wanted:
            report.add("policy.json", part, f"{shown(book[part])}: this kit's is {shown(wanted)}; write that")
    _vet_rulebook(report, book)
    rules = [(str(rule["order"]), rule["id"], _condition(report, rule), rule["when"].get("unit", ""), rule["decision"])
             for rule in book["rules"]]
    values = [(name, str(value["value"]), value["unit"], value["source"], value["from"])
              for name, value in data["values"].items()]
    words = [(name, *(element["words"][kind] for kind in CLASSES)) for name, element in data["elements"].items()]
    return {
        "rules": rules, "values": values, "words": words, "classes": list(data["classes"].items()),
        "titles": [(name, element["title"]) for name, element in data["elements"].items()],
        "means": [(name, kind, element["means"][kind]) for name, element in data["elements"].items()
                  for kind in element["means"]],
        "decisions": list(book["decisions"].items()),
        "reasons": [(rule["id"], rule["why"], rule["source"]) for rule in book["rules"]],
        "parts": [(data["policy"], book["title"], book["authority"])],
        "settings": [(name, shown(value)) for name, value in kit["settings"].items()],
        "fields": fields, "units": units}, data["as_of"]


def vet_rules(report, file, tables):
    """Whether one rendering can be walked. Order finding and midnights are the only fields: nothing else gets in."""
    if None in [row for part in ("rules", "values", "words") for row in tables[part]]:
        return False
    known = {ORDER: {"type": "enum", "allowed": list(_words(tables).get(ORDER, {}).values())},
             "midnights": {"type": "number", "unit": "midnights"}}
    known |= {name: {"type": "number", "unit": unit} for name, amount, unit, *_ in tables["values"] if amount.isdigit()}
    unknown = {BENCHMARK, *(name for name, *_ in tables["values"])} - known.keys()
    for name in unknown:
        report.add(file, name, "a whole number from 0 is wanted among the values")
    if unknown:
        return False
    return all([ledger.vet(report, file, rule, when, unit, known) for _, rule, when, unit, _ in tables["rules"]])


def read_pools(report):
    """pools.json, vetted, as {section: ({sentence: (element, kind)}, [(pattern, element, kind)]), NAMED: {name}}.

    None where the folder has none.
    """
    if not (report.folder / "pools.json").exists():
        return None
    data = read_json(report, "pools.json")
    if not (shape(report, "pools.json", "", data, POOLS, {})
            and shape(report, "pools.json", "evidence", data["evidence"], dict.fromkeys(EVIDENCE, dict), {})
            and shape(report, "pools.json", "fillers", data["fillers"], FILLERS, {})
            and all([shape(report, "pools.json", name, data["evidence"][name], dict.fromkeys(kinds, "texts"), {})
                     for name, kinds in EVIDENCE.items()])
            and all([shape(report, "pools.json", name, line, LINE, {}) for name, line in data["lines"].items()])
            and all([shape(report, "pools.json", name, data["fillers"][name], dict.fromkeys(
                REMARKS if name == "prose" else data["fillers"][name], "texts"), {})
                for name, kind in FILLERS.items() if kind is dict])):
        return None
    entries = list(_entries(data))
    _vet_sentences(report, entries, data)
    slots, pools = _slots(data), {title: ({}, []) for title in TITLES[1:]}
    pools[NAMED] = {name.lower() for name in (*data["conditions"], *_services(data))}
    pools |= {fact: set(data[pool]) for fact, pool in DRAWN.items()}
    for section, element, kind, template in entries:
        plain, patterns = pools[section]
        if "{" in template:
            patterns.append((re.compile(_pattern(template, slots)), element, kind))
        else:
            plain[template] = element, kind
    return pools


def read_records(report, pools):
    """The encounter facts by document, those that can be counted from."""
    return {name: record for name, record in read_named(report, "records.json", "id", RECORD).items()
            if _is_sound(report, name, record, pools)}


def read_cases(report):
    """The planned cases by name, the plans of their documents vetted."""
    cases = read_named(report, "cases.json", "case", CASE)
    return {name: case for name, case in cases.items()
            if shape(report, "cases.json", name, case["expect"], {"support": str, "rule": str}, {})
            and all([_is_plan(report, name, plan) for plan in case["documents"]])}


def check_documents(report, key):
    """Join corpus, records, facts and gold, judge each document: (what to count, {case: plans that its pages show})."""
    documents = labels.corpus(report, key.kit["id"])
    facts, gold = Rows(report, "facts.jsonl"), Rows(report, "gold.jsonl")
    report.counts["documents"] = len(documents)
    report.counts[labels.MINIMUM] += 0
    tally, shown_plans, recent = Counter(), {}, []
    for name in labels.join(report, documents, facts, gold):
        if name not in key.records:
            report.add("records.json", name, "no encounter facts; write them, midnights are counted from admitted_at")
        elif name in documents:
            units, plan, counted = check_document(report, key, name, facts.get(name), gold.get(name))
            tally.update(counted)
            shown_plans.setdefault(key.records[name]["case"], []).extend([plan] if plan else ())
            if key.pools:
                recent = labels.repeats(report, documents[name], map(_sentence, units), recent)
    for name in key.records.keys() - documents.keys():
        report.add("records.json", name, f"no corpus/{name}.txt; add the document or delete the facts")
    return tally, shown_plans


def check_document(report, key, name, *rows):
    """Judge one document and its rows of facts and gold: (its units, the plan that it shows or None, what to count)."""
    file, record = f"corpus/{name}.txt", key.records[name]
    text = read_text(report, file) or ""
    sound = [row is not None and shape(report, table, name, row, kind, {}) for table, row, kind in
             zip(("facts.jsonl", "gold.jsonl"), rows, (FACTS, GOLD))]
    units = read_page(report, file, text, record, key)
    check_prompt(report, name, text, key)
    if sound != [True, True]:
        return units, None, Counter()
    derived = derive(report, file, name, units, record) if key.pools else None
    check_rows(report, name, rows, record, derived, key)
    counted = Counter(_counted(rows[1], record)) | Counter({("bytes", ""): len(text.encode())})
    return units, derived and derived.plan, counted


def read_page(report, file, text, record, key):
    """The lines and sentences of a document as Units; title, headings and facts lines are held against the record."""
    told_of = personal.found(NOBODY, text)
    report.counts[labels.MINIMUM] += bool(told_of)
    for what, words in told_of:
        report.add(file, "", f"{shown(words)} looks like {what}; it may tell who somebody is, take it out")
    found = re.fullmatch(r"([^\n]*)\n\n" + r"\n\n".join(
        rf"{title}\n{'-' * len(title)}\n(.*?)" for title in TITLES) + r"\n", text, re.DOTALL)
    if not found:
        report.add(file, "", f"a title line and the sections {', '.join(TITLES)}, each underlined, are wanted")
        return []
    title, told, *bodies = found.groups()
    if title != f"ADMISSION RECORD {record['id']} -- {record['title']}":
        report.add(file, "line 1", f"{shown(title)}: records.json calls it {shown(record['title'])}; make them agree")
    lines = [re.split(r" {2,}", line, maxsplit=1) for line in told.split("\n")]
    wanted = [[label, key.as_of if fact == "as_of" else record[fact]] for label, fact in FACT_LINES.items()]
    if lines != wanted:
        report.add(file, FACTS_TITLE, f"{shown(lines)}: records.json and policy.json say {shown(wanted)}; mend one")
    return [unit for section, body in zip(TITLES[1:], bodies)
            for unit in _units(report, file, section, body, record, key)]


def derive(report, file, name, units, record):
    """What a page says of the four elements by its sentences, and which plan it follows."""
    of = {element: [unit for unit in units if unit.element == element] for element in ELEMENTS}
    admitted = record["admitted_at"]
    found = {ORDER: _derive_order(report, file, of[ORDER], admitted), EXPECTATION: _derive_expectation(of[EXPECTATION])}
    for element in (COMORBIDITIES, SERVICES):
        named, unnamed = ([unit for unit in of[element] if unit.kind == kind] for kind in ("named", "unnamed"))
        found[element] = (PRESENT, named) if named else (AMBIGUOUS, unnamed) if unnamed else (ABSENT, [])
    elements = {}
    for element, (kind, labelled) in found.items():
        if len(labelled) > 1:
            report.add(file, element, f"{len(labelled)} lines carry it alike, so that no label is right; keep one")
        unit = labelled[0] if labelled else None
        value = _value(unit) if element == EXPECTATION and kind == PRESENT else (None, None)
        elements[element] = kind, unit and unit.text, *value
    return Derived(elements, _plan(units, of, elements, record))


def check_rows(report, name, rows, record, derived, key):
    """Hold the rows of facts and gold against the page, and the verdict against both renderings of the rulebook."""
    facts, gold = rows
    for table, row in (("facts.jsonl", facts), ("gold.jsonl", gold)):
        if row["case"] != record["case"]:
            report.add(table, name, f"case {row['case']}: records.json says {record['case']}; make them agree")
        if not all([shape(report, table, name, part, ROW, {}) for part in row["elements"]]) or [
                part["element"] for part in row["elements"]] != list(ELEMENTS):
            report.add(table, name, f"elements: one row for each of {', '.join(ELEMENTS)} is wanted, in this order")
            return
        for part in row["elements"] if derived else ():
            kind, citation, date, nights = derived.elements[part["element"]]
            wanted = {"element": part["element"], "finding": key.words.get(part["element"], {}).get(kind),
                      "citation": citation, DISCHARGE: date, NIGHTS: nights}
            if not same(part, wanted):
                report.add(table, name, f"{shown(part, 200)}: the page says {shown(wanted, 200)}; copy the page")
    if (gold["confidence"], gold["why"]) != (None, None):
        report.add("gold.jsonl", name, "confidence and why belong to replies; the key leaves them null")
    case, is_planned = key.cases.get(record["case"]), key.cases or key.pools     # of one's own records nothing is
    if is_planned and (case is None or case["hard"] is not record["hard"]):
        report.add("records.json", name, f"case {record['case']}, hard {record['hard']}: no such case is planned; "
                                         f"{nearest(record['case'], key.cases)}")
    elif case and not same(case["expect"], {part: gold[part] for part in ("support", "rule")}):
        report.add("gold.jsonl", name, f"{_said(gold)}; case {case['case']} of cases.json expects "
                                       f"{_said(case['expect'])}; plan and key must agree")
    _check_verdict(report, name, gold, record, key)


def check_prompt(report, name, record, key):
    """The call holds the whole record, once and unchanged, and nothing of the key."""
    if key.prompts is None:
        return
    text, file = key.prompts(name, True), f"corpus/{name}.txt"
    if text.count(record) != 1:
        report.add(file, name, f"the prompt holds the record {text.count(record)} times; once and whole is wanted")
    leaks = [word for word in key.cases if word in text]
    if leaks:
        report.add(file, name, f"the prompt names the planned case {leaks[0]}; take it out")


def check_counts(report, key, tally, shown_plans):
    """Hold what was counted against kit.json, cases.json and, where there is one, stats.json."""
    documents = report.counts["documents"]
    if documents != key.kit["size"]:
        report.add("kit.json", "size", f"{key.kit['size']}: the corpus holds {documents} documents; make them agree")
    for name, case in key.cases.items():
        counted = tally["cases", name]
        if counted != case["count"]:
            report.add("cases.json", name, f"count {case['count']}: gold.jsonl holds {counted}; make them agree")
        if key.pools and len(case["documents"]) != case["count"]:
            report.add("cases.json", name, f"count {case['count']}: {len(case['documents'])} documents are planned")
        plans = list(map(_planned, case["documents"]))
        for plan in labels.unplaced(plans, shown_plans.get(name, []), _follows) if key.pools else ():
            report.add("cases.json", name, f"{shown(plan, 300)}: planned, and on no page of its own; build again")
    report.counts["planned cases"] = len(key.cases)
    if (report.folder / "stats.json").exists():
        _check_stats(report, key, tally)


def _check_stats(report, key, tally):
    """Hold all of stats.json against what was counted here."""
    groups = {group: {part[0]: number for (kind, *part), number in tally.items() if kind == group}
              for group in ("cases", "support", "rule", "midnights", "nulls")}
    rules = [row[1] for row in next(iter(key.rules.values()), {"rules": ()})["rules"]]
    counted = groups | {
        "seed": key.kit["seed"], "documents": report.counts["documents"], "bytes": tally["bytes", ""],
        "hard": tally["hard", True], "expectation_values": tally["values", True], "limits": {},
        "findings": {element: {part[1]: number for (kind, *part), number in tally.items()
                               if kind == "finding" and part[0] == element} for element in ELEMENTS},
        "rules": {rule: {"matched": tally["rule", rule]} for rule in rules},
        "distinct_values": {name: sum(kind == "distinct" and part[0] == name for kind, *part in tally)
                            for name in VARIETY}}
    stats = read_json(report, "stats.json")
    if not shape(report, "stats.json", "", stats, dict.fromkeys(counted, object), {}):
        return
    for group, wanted in counted.items():
        if not same(stats[group], wanted):
            report.add("stats.json", group, f"{shown(stats[group])}: {shown(wanted)} is counted; build the stats again")


def midnights(admitted, date, nights):
    """Midnights of one expectation by day numbers; None where it states none or contradicts itself.

    >>> midnights("2028-02-28 22:00", "2028-03-01", None)
    2
    """
    if (date is None) == (nights is None):
        return None
    if date is None:
        return nights if type(nights) is int and nights >= 0 else None
    start, end = day_number(admitted[:10]), day_number(date)
    return None if None in (start, end) or end < start else end - start


def walk(tables, order, count):
    """(support, rule) by the first row whose condition holds; (None, None) where one that is reached cannot be told."""
    values = {ORDER: order, "midnights": count, **{name: int(amount) for name, amount, *_ in tables["values"]}}
    for _, rule, when, _, support in tables["rules"]:
        holds = ledger.truth(when, values)
        if holds is None:
            return None, None
        if holds:
            return support, rule
    return None, None


def _is_plan(report, name, plan):
    """Whether a planned document has the shape of one; what of it no page shows is left to `unplaced`."""
    if not shape(report, "cases.json", name, plan, PLAN, PLAN_MORE):
        return False
    admitted = plan.get("admitted", "00:00")
    if not (CLOCK.fullmatch(admitted) or is_moment(admitted)):
        report.add("cases.json", name, f"admitted {shown(admitted)}: a time of day, with or without a date, is wanted")
    return True


def _is_sound(report, name, record, pools):
    """Whether encounter facts can be counted from; those that are in no pool are reported."""
    for fact, pool in DRAWN.items() if pools else ():
        if record[fact] not in pools[fact]:
            report.add("records.json", name, f"{fact} {shown(record[fact])} is none of pools.json /{pool}; "
                                             f"{nearest(record[fact], pools[fact])}")
    if not is_moment(record["admitted_at"]):
        report.add("records.json", name, f"admitted_at {shown(record['admitted_at'])}: YYYY-MM-DD HH:MM is wanted")
        return False
    return True


def _sentence(unit):
    """What a unit says, without the date of its line."""
    return re.sub(r"^[0-9][0-9: -]*  ", "", unit.text)


def _check_verdict(report, name, gold, record, key):
    """Midnights, verdict and rule of a gold row, derived from its own findings through each rendering."""
    rows = {part["element"]: part for part in gold["elements"]}
    own = rows[EXPECTATION]["finding"] == key.words.get(EXPECTATION, {}).get(PRESENT)
    count = midnights(record["admitted_at"], rows[EXPECTATION][DISCHARGE], rows[EXPECTATION][NIGHTS]) if own else None
    if own and count is None:
        report.add("gold.jsonl", name, "the expectation is documented and gives no count; state a date or nights")
    follows = []
    for file, tables in key.rules.items():
        support, rule = walk(tables, rows[ORDER]["finding"], count)
        least = next(int(amount) for value, amount, *_ in tables["values"] if value == BENCHMARK)
        wanted = dict(zip(ANSWER, (support, rule, count, None if count is None else count >= least)))
        follows.append(same({part: gold[part] for part in ANSWER}, wanted))
        if not follows[-1]:
            report.add("gold.jsonl", name, f"{shown({part: gold[part] for part in ANSWER})}; {file} as it stands gives "
                                           f"{shown(wanted)}; derive the row again or mend the rule")
    report.counts["gold rows that follow from both renderings"] += len(follows) == 2 and all(follows)


def _vet_rulebook(report, book):
    for place, rule in enumerate(book["rules"], 1):
        if rule["order"] != place:
            report.add("policy.json", rule["id"], f"order {rule['order']} in place {place}; number rules as they stand")
        if rule["decision"] not in book["decisions"]:
            report.add("policy.json", rule["id"], f"decision {rule['decision']} is unknown; "
                                                  f"{nearest(rule['decision'], book['decisions'])}")
    for name, times in Counter(rule["id"] for rule in book["rules"]).items():
        if times > 1:
            report.add("policy.json", name, f"the id stands {times} times; give each rule its own")


def _condition(report, rule):
    if not shape(report, "policy.json", rule["id"], rule["when"], ledger.CLAUSE, ledger.CLAUSE_MORE):
        return ""
    return ledger.clause(report, "policy.json", rule["id"], rule["when"], with_unit=False)


def _words(tables):
    """{element: {class: word}} of one rendering."""
    return {row[0]: dict(zip(CLASSES, row[1:])) for row in (tables or {}).get("words", ()) if row}


def _entries(data):
    """(section, element or None, kind, sentence) of everything that a page may say."""
    for element, kinds in EVIDENCE.items():
        for kind in kinds:
            section = {ORDER: ORDERS_TITLE, SERVICES: SERVICES_TITLE}.get(element, NOTE_TITLE)
            section = {"intent": NOTE_TITLE, "planner": REVIEW_TITLE}.get(kind, section)
            yield from ((section, element, kind, sentence) for sentence in data["evidence"][element][kind])
    homes = {"orders": ORDERS_TITLE, "services": SERVICES_TITLE, "review": REVIEW_TITLE, "bait": REVIEW_TITLE}
    for kind in FILLERS:
        group = data["fillers"][kind]
        parts = [group] if type(group) is list else [group[part] for part in (REMARKS if kind == "prose" else group)]
        yield from ((homes.get(kind, NOTE_TITLE), None, kind, sentence) for part in parts for sentence in part)
    for line in data["lines"].values():
        yield from ((NOTE_TITLE, None, "presenting", sentence) for sentence in line["presenting"])


def _vet_sentences(report, entries, data):
    """Enough sentences, none twice, a mark in every one of evidence and none in a filler."""
    names = {COMORBIDITIES: data["conditions"], SERVICES: _services(data)}
    marks = {element: "|".join([words, *map(re.escape, names.get(element, ()))]) for element, words in MARKS.items()}
    any_mark = re.compile(rf"\b(?:{'|'.join(marks.values())})\b", re.IGNORECASE)
    marks = {element: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for element, words in marks.items()}
    evidence = {sentence for _, element, _, sentence in entries if element}
    report.counts["sentences of evidence"], report.counts["fillers without a mark"] = len(evidence), 0
    if len(evidence) < MIN_EVIDENCE:
        report.add("pools.json", "evidence", f"{len(evidence)} distinct sentences; at least {MIN_EVIDENCE} are wanted")
    lists = [data[pool] for pool in set(DRAWN.values()) - {"lines"}] + [data["conditions"]]
    lists += [[sentence for *_, sentence in entries], *(line["services"] for line in data["lines"].values())]
    for sentence, times in (found for texts in lists for found in Counter(texts).items()):
        if times > 1:
            report.add("pools.json", shown(sentence, 60), f"stands {times} times; keep one of them")
    for _, element, kind, sentence in entries:
        plain = re.sub(r"\{(\w+)\}", lambda slot: "2026-01-01" if slot[1] in ("date", "past") else "", sentence)
        if element and not marks[element].search(plain):
            report.add("pools.json", shown(sentence, 60), f"carries no mark of {element}; say what it evidences")
        found = None if element or not any_mark.search(plain) else next(
            name for name, mark in marks.items() if mark.search(plain))
        if found:
            report.add("pools.json", shown(sentence, 60), f"is a filler of {kind} and carries a mark of {found}: "
                                                          f"{shown(marks[found].search(plain)[0])}; reword it")
        report.counts["fillers without a mark"] += not element and not found


def _slots(data):
    """{slot: pattern} of what a template's braces may hold; names of conditions and services are looked up apart."""
    slots = {"line": "|".join(data["lines"]), "role": "|".join(data["roles"]), "date": DATE, "past": DATE, "s": "s?",
             "time": "[0-9]{2}:[0-9]{2}", "n": rf"[0-9]+|{'|'.join(NUMBERS)}", **dict.fromkeys(NAMED, "[^.:;]+")}
    return slots | {"Role": "|".join(role.capitalize() for role in data["roles"])}


def _services(data):
    return [name for line in data["lines"].values() for name in line["services"]]


def _pattern(template, slots):
    parts = re.split(r"\{(\w+)\}", template)
    return "".join(f"(?P<{part}>{slots.get(part, '(?!)')})" if place % 2 else re.escape(part)
                   for place, part in enumerate(parts))


def _units(report, file, section, body, record, key):
    """The units of one section, each told what it is; one that is no sentence of the pools is reported."""
    last = ""
    for line in filter(None, body.split("\n")):
        if section == NOTE_TITLE:
            yield from (_told(report, file, section, "", sentence, sentence, record, key)
                        for sentence in SENTENCE_END.split(line))
            continue
        found = re.fullmatch(rf"({MOMENT[section]})  (.+)", line)
        if not found or day_number(found[1][:10]) is None or len(found[1]) > 10 and not is_moment(found[1]):
            report.add(file, section, f"{shown(line)}: a line begins with its date, and its time under orders")
        elif found[1] < last:
            report.add(file, section, f"{shown(line)}: stands behind a later line; put it in order")
        else:
            last = found[1]
            yield _told(report, file, section, found[1], line, found[2], record, key)


def _told(report, file, section, at, text, sentence, record, key):
    if key.pools is None:
        return Unit(section, at, text, None, None, {})
    plain, patterns = key.pools[section]
    if sentence in plain:
        return Unit(section, at, text, *plain[sentence], {})
    for pattern, element, kind in patterns:
        found = pattern.fullmatch(sentence)
        if found:
            slots = found.groupdict()
            for slot, fact in (("line", "service_line"), ("role", "attending_role"), ("Role", "attending_role")):
                if slots.get(slot, record[fact]).lower() != record[fact].lower():
                    report.add(file, section, f"{shown(text)}: the record's {fact} is {record[fact]}")
            for name in re.split(",? and |, ", ", ".join(slots[slot].lower() for slot in NAMED if slot in slots)):
                if name and name not in key.pools[NAMED]:
                    report.add(file, section, f"{shown(name)} is no condition or service of pools.json; put it there")
            return Unit(section, at, text, element, kind, slots)
    report.add(file, section, f"{shown(text)} is no sentence of this section in pools.json; put it there")
    return Unit(section, at, text, None, None, {})


def _derive_order(report, file, units, admitted):
    """(class, labelled units). A signed inpatient order counts whatever stood before, a spoken one once signed."""
    signed = [unit for unit in units if unit.kind == "signed" and any(
        other.kind == "spoken" and other.at < unit.at and other.at[11:] == unit.slots["time"] for other in units)]
    for unit in units:
        if unit.at > admitted and unit.kind != "signed":
            report.add(file, ORDERS_TITLE, f"{shown(unit.text)}: stands behind the admission; the order comes first")
        if unit.kind == "signed" and unit not in signed:
            report.add(file, ORDERS_TITLE, f"{shown(unit.text)}: no spoken order of that time stands before it")
    present = [unit for unit in units if unit.kind == "present"] + signed
    if present:
        return PRESENT, present
    return (AMBIGUOUS if units else ABSENT), units


def _derive_expectation(units):
    own = [unit for unit in units if unit.kind in OWN]
    foreign = [unit for unit in units if unit.kind in FOREIGN]
    return (PRESENT, own) if own else (AMBIGUOUS, foreign) if foreign else (ABSENT, [])


def _value(unit):
    """(date, nights) that a sentence on a length of stay states; a date that is past is none of this stay."""
    number = "0" if unit.kind == "zero" else unit.slots.get("n")
    if number is not None:
        return None, NUMBERS.index(number) if number in NUMBERS else int(number)
    return _iso(unit.slots["date"]) if "date" in unit.slots else None, None


def _plan(units, of, elements, record):
    """The plan that a page shows: what cases.json may say of a document, {name: value}."""
    kinds = [unit.kind for unit in of[ORDER]]
    order = ("spoken" if "signed" in kinds else "observation_first" if {"observation", "present"} <= set(kinds)
             else kinds[0] if kinds else "missing")
    labelled = {citation for _, citation, *_ in elements.values()}
    own = next((unit for unit in of[EXPECTATION] if unit.text == elements[EXPECTATION][1]), None)
    told = {name: next((unit.kind for unit in of[name] if unit.text in labelled), "none")
            for name in (COMORBIDITIES, SERVICES)}
    return {
        "order": order, "expects": own and _length(own, record),
        "comorbidities": told[COMORBIDITIES], "services": told[SERVICES],
        "decoys": sorted(_length(unit, record) for unit in of[EXPECTATION] if unit.text not in labelled),
        "tone": "+".join(sorted({unit.kind for unit in units} & {"severe", "calm"})) or "plain",
        "relative": any(unit.kind == "relative" for unit in of[COMORBIDITIES]),
        "planned": any(unit.kind == "planned" for unit in of[SERVICES]),
        "lines": sum(unit.kind != "planned" for unit in of[SERVICES]),
        "admitted": record["admitted_at"], "line": record["service_line"]}


def _planned(plan):
    """A plan of cases.json in the form of `_plan`, with the defaults of what it leaves out."""
    given = {"expects": None, "tone": "plain", "relative": False, "planned": False, **plan}
    lines = given.pop("service_days", 1) - (plan["services"] == "none")
    return given | {"decoys": sorted(plan.get("decoys", ())), "lines": lines}


def _follows(plan, page):
    """Whether a page can be what was planned. A page that prints no number of somebody's length may be of any."""
    def alike(wanted, found):
        return wanted == found or found == f"{wanted.partition(' ')[0]} {UNTOLD}"

    decoys, told = plan["decoys"], page["decoys"]
    own = plan["expects"] == page["expects"] or None not in (plan["expects"], page["expects"]) and alike(
        plan["expects"], page["expects"])
    return (own and len(decoys) == len(told) and all(map(alike, decoys, told))
            and page["admitted"].endswith(plan.get("admitted", ""))
            and all(page[part] == plan[part] for part in plan.keys() & page.keys() - {"expects", "decoys", "admitted"}))


def _length(unit, record):
    """A length of stay in the words of cases.json: whose it is, and how many midnights where its sentence says so."""
    date, nights = _value(unit)
    kind = "nights" if unit.kind == "zero" else unit.kind
    number = midnights(record["admitted_at"], date, nights)
    return kind if kind == "vague" else f"{kind} {UNTOLD if number is None else number}"


def _counted(gold, record):
    """The entries under which stats.json counts a gold row."""
    rows = {name: next((part for part in gold["elements"] if type(part) is dict and part.get("element") == name), {})
            for name in ELEMENTS}
    flat = {part: gold[part] for part in ANSWER} | {name: rows[EXPECTATION].get(name) for name in (DISCHARGE, NIGHTS)}
    for name in ELEMENTS:
        flat |= {name: rows[name].get("finding"), f"{name}_citation": rows[name].get("citation")}
        yield "finding", name, str(flat[name])
    yield from (("cases", gold["case"]), ("support", str(gold["support"])), ("rule", str(gold["rule"])),
                ("hard", record["hard"]), ("values", (flat[DISCHARGE], flat[NIGHTS]) != (None, None)))
    yield from [("midnights", str(gold["midnights"]))] if gold["midnights"] is not None else ()
    yield from (("distinct", name, shown(flat[name], LONG)) for name in VARIETY)
    yield from (("nulls", name) for name in VARIETY if flat[name] is None)


def _iso(date):
    """A printed date as YYYY-MM-DD."""
    if date[:1].isdigit():
        return date
    month, day, year = date.replace(",", "").split()
    return f"{year}-{MONTHS.index(month) + 1:02}-{int(day):02}"


def _said(answer):
    return f"{answer['support']} by {answer['rule']}"
