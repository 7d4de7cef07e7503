"""The label gate of legal_hold: every chain of runs replayed by rules, readers and a day counter that are its own.

    python -m evals.check_labels legal_hold

It imports nothing from `src`, so a fault shared by engine and generator cannot hide. Each page is read by a parser of
its own and held against its facts; the facts are replayed run by run through the tables of `policy.md` and through
those of `policy.json`, which must agree cell by cell; the key has to follow from both. It also holds the kit to being a
watchlist: no source file may spell the name of an action, and the kit's own may reach nobody. Problems are reported at
once, with file, row and remedy.
"""
import datetime
import hashlib
import re
from collections import Counter, namedtuple
from pathlib import Path

from evals.shared import labels, ledger
from evals.shared.page import FIELD_CELLS, cut, field_rows
from evals.shared.strict import Rows, fold, nearest, read_json, same, shape, shown

NAME, ROOT = Path(__file__).parent.name, Path(__file__).resolve().parents[2]
FILES = ("kit.json", "fields.json", "policy.json", "policy.md", "attacks.json", "pools.json", "cases.json",
         "stats.json", "facts.jsonl", "gold.jsonl")

# What this kit never does. A source file that spells one of these names has a path that acts; this file is exempt.
ACTIONS = ("send_notice", "issue_hold", "issue_notice", "release_hold", "lift_hold", "notify_custodian",
           "send_escalation", "send_reminder", "file_memo")
SOURCES, SUFFIXES = ("src", "evals", "tools", "ui"), (".py", ".js", ".html")
# By what a program reaches somebody; the kit's own sources have none of it.
MEANS = ("smtplib", "subprocess", "socket", "os.system", "os.popen", "os.exec", "os.spawn", "urllib", "http.client",
         "ftplib", "imaplib", "poplib", "telnetlib", "webbrowser", "asyncio", "ctypes", "import_module", "__import__")

KIT = {**dict.fromkeys(("kit", "title", "decides", "document", "documents", "id", "primary_metric"), str),
       **dict.fromkeys(("seed", "size", "matters", "runs", "roster"), int)}
POOLS = {"alias": list, "named": list, "roster_head": str, "events_head": str, "event_lines": dict, "no_events": str,
         "unsettled": dict, "scripts": dict}
NO_POOLS = {**dict.fromkeys(POOLS), "alias": (), "named": (), "scripts": {}}
POLICY = {**dict.fromkeys(("title", "authority"), str), "cadence": list, **dict.fromkeys(
    ("articles", "thresholds", "statuses", "events", "sections", "match", "overdue", "stage", "flags", "rationales"),
    dict)}
TABLE = {"title": str, "stops_at": str, "decisions": dict, "passed": dict, "missing": dict, "rules": list}
RULE = {"id": str, "order": int, "decision": str, "when": dict, "why": str}
CASE = {"case": str, "count": int, "family": str, "sentence": str, "expect": dict, "plan": dict}
FACT = {"id": str, "case": str, "matter": str, "run": int, "runs": int, "run_name": str, "title": str, "opened": str,
        "snapshot": str, "run_on": str, "previous": "text?", "next": "text?", "scope": dict, "scope_unsettled": "text?",
        "departments_on_file": object, "memos": "texts", "narrative": str, "candidates": list, "events": list,
        "release_memo": "text?", "synthetic": str, "remarks": "texts", "personal": "texts"}
PERSON = {"id": str, "kind": str, "name": str, "department": str, "title": str, "systems": list}
GOLD = {"id": str, "case": str, "matter_stage": str, "candidates": list, "escalate": "texts", "rationale": str,
        "notices": "texts", "on_hold": "texts"}
DAYS = ("unit", "from", "source", "why")
# The tables, and what the rules of each may read.
READ = {"match": ("department", "relevant_departments", "named_by_role", "system", "relevant_systems", "since", "last_day",
                  "period_start", "period_end"),
        "overdue": ("new_this_run", "acknowledged", "escalated_before", "days_since_notice", "escalation_days"),
        "stage": ("scope", "released_before", "release_memo", "new_custodians", "newly_overdue")}
TABLES = tuple(READ)
# The tables of policy.md, and the rows as which policy.json is written out to be compared with them.
HEADS = {"match": ("order", "access rule", "when", "result"), "overdue": ("order", "silence rule", "when", "result"),
         "stage": ("order", "stage rule", "when", "stage"),
         "endings": ("table", "where no rule fits", "where a value is missing"),
         "days": ("threshold", "days", "from", "source", "why"), "cadence": ("run", "name", "day"),
         "articles": ("rule", "in words"), "parts": ("part", "in words"), "reasons": ("rule", "why"),
         "results": ("table", "result", "what it says"), "statuses": ("status", "what it says"),
         "rationales": ("stage", "sentence of the key"), "events": ("event", "spelled"),
         "sections": ("section", "leaves the machine"), "flags": ("flag", "what it says"),
         "fields": ("field", *FIELD_CELLS), "units": ("unit", "spelled")}
HELD, NOT_HELD = "CUSTODIAN", "NOT_CUSTODIAN"
METRIC, LONG = "stage", 10_000
UNLISTED = NOT_CLASSIFIED, NONE_RECORDED, DISPUTED = (
    "not classified, see the narrative", "none recorded", "disputed, see the memos")
ENTRY = re.compile(r"(EMP-\S+)  (.+)\n  department:(.*)\n  title: (.+)\n  systems: (.+)")
ACCESS = re.compile(r"(.+) \((?:since ([0-9-]{10})|([0-9-]{10}) to ([0-9-]{10}))\)")
EVENT = re.compile(r"([0-9-]{10})  (hold notice sent|acknowledgement|reminder sent): (EMP-\S+)")
KIND = {"hold notice sent": "notice", "acknowledgement": "ack", "reminder sent": "reminder"}
RELEASE = re.compile(r"([0-9-]{10})  Hold Release Memo .+")
MATCHING = ("match", "begins_on_last_day", "begins_a_day_earlier", "ends_on_first_day", "ends_a_day_later")
AT_AN_EDGE = (*MATCHING, "late_by_a_day", "early_by_a_day")
SPECIAL = ("reorganised", "named", "named_from_last_day", "named_to_first_day")
FOLLOWS = "gold rows that follow from both renderings"
CHAINS = "chains replayed"

Key = namedtuple("Key", "kit sections rules cases pools prompts")
Hold = namedtuple("Hold", "notice answered escalated")
# What one run comes to; see `replay`
Outcome = namedtuple("Outcome", "stage statuses late notices on_hold walks limits")


def check(data_dir, prompts=None, root=ROOT):
    """Judge a data folder. `prompts(document id, guarded)` gives the text of one call; None leaves that part out."""
    report = labels.Report(data_dir, FILES)
    key = read_key(report, prompts)
    if key:
        check_counts(report, key, *check_documents(report, key))
    check_actions(report, root)
    return report


def read_key(report, prompts=None):
    """Everything by which the documents are judged, as a Key; None where too little of it can be read."""
    kit, policy, fields = read_kit(report), read_json(report, "policy.json"), read_fields(report)
    tables, written = json_tables(report, policy), ledger.tables(report, "policy.md", HEADS)
    if tables and written:
        ledger.compare(report, HEADS, "policy.json", tables, "policy.md", written)
    rules = {file: found for file, found in (("policy.md", written), ("policy.json", tables))
             if found and vet_rules(report, file, found, fields)}
    pools, cases = read_pools(report), read_cases(report)
    sections = policy.get("sections", {}) if type(policy) is dict else {}
    sound = [kit, pools, shape(report, "policy.json", "sections", sections, dict.fromkeys(
        ("sent", "withheld", "never_sent_words"), "texts"), {})]
    if not all(sound):
        return None
    sections = namedtuple("Sections", sections)(**sections)
    check_attacks(report, sections)
    return Key(kit, sections, rules, cases, pools, prompts)


def read_kit(report):
    """kit.json, {} where it has no shape."""
    kit = read_json(report, "kit.json")
    if not shape(report, "kit.json", "", kit, KIT, {}):
        return {}
    for part, wanted in (("kit", NAME), ("primary_metric", METRIC)):
        if kit[part] != wanted:
            report.add("kit.json", part, f"{shown(kit[part])}: this is the gate of {NAME}; write {wanted}")
    return kit


def check_attacks(report, sections):
    """Whether attacks.json writes into a section that is sent, and each of its sentences asks for what it is named."""
    data = read_json(report, "attacks.json")
    if not shape(report, "attacks.json", "", data, {"section": str, "call_closed": str, "leave_off": str}, {}):
        return
    if data["section"] not in sections.sent:
        report.add("attacks.json", "section", nearest(data["section"], sections.sent))
    for name, words in (("call_closed", ("CLOSED",)), ("leave_off", ("{person}", NOT_HELD))):
        for word in words:
            if word not in re.findall(r"[{\w}]+", data[name]):
                report.add("attacks.json", name, f"does not say {word}, which is what it has to ask for")


def read_fields(report):
    """{field: its entry} of fields.json."""
    data = read_json(report, "fields.json")
    if not shape(report, "fields.json", "", data, {"units": dict, "fields": list}, {}):
        return {}
    entries = [{"allowed": [], "unit": None, **field} if type(field) is dict else field for field in data["fields"]]
    return {field["name"]: field for field in entries if shape(
        report, "fields.json", "fields", field, {"name": str, "type": str, "allowed": "texts", "unit": "text?"})}


def json_tables(report, policy):
    """policy.json and fields.json as tables of rows in the form of HEADS; None where they have no shape."""
    if not shape(report, "policy.json", "", policy, POLICY, {}) or not all(
            [shape(report, "policy.json", part, policy[part], TABLE, {}) for part in TABLES]):
        return None
    found = {part: [_rule_row(report, part, rule, place) for place, rule in enumerate(policy[part]["rules"], 1)]
             for part in TABLES}
    for part in TABLES:
        for row in filter(None, found[part]):
            if row[3] not in policy[part]["decisions"]:
                report.add("policy.json", row[1], f"{shown(row[3])} is no decision of {part}; "
                                                  f"{nearest(row[3], policy[part]['decisions'])}")
        for name, wanted in (("stops_at", "match"), ("passed", {"decision": policy[part]["passed"].get("decision"),
                                                                "rule": "none"})):
            if not same(policy[part][name], wanted):
                report.add("policy.json", part, f"{name} {shown(policy[part][name])}: {shown(wanted)} is wanted")
        if policy[part]["missing"].keys() != {"decision"}:
            report.add("policy.json", part, f"missing {shown(policy[part]['missing'])}: one decision is wanted")
    found["endings"] = [(part, *(str(policy[part][name].get("decision")) for name in ("passed", "missing")))
                        for part in TABLES]
    found["days"] = [_days_row(report, name, entry) for name, entry in policy["thresholds"].items()]
    found["cadence"] = [(str(entry["run"]), entry["name"], str(entry["day"])) for entry in policy["cadence"] if shape(
        report, "policy.json", "cadence", entry, {"run": int, "name": str, "day": int}, {})]
    found["parts"] = [("title", policy["title"]), ("authority", policy["authority"]),
                      *((part, policy[part]["title"]) for part in TABLES)]
    found["reasons"] = [(rule["id"], rule["why"]) for part in TABLES for rule, row in zip(
        policy[part]["rules"], found[part]) if row]
    found["results"] = [(part, *row) for part in TABLES for row in _said(report, part, policy[part]["decisions"])]
    found |= {part: _said(report, part, policy[part]) for part in ("articles", "statuses", "rationales", "flags")}
    found["events"] = [(name, ", ".join(spellings)) for name, spellings in policy["events"].items()
                       if shape(report, "policy.json", "events", policy["events"], {name: "texts"})]
    sections = policy["sections"]
    found["sections"] = [(prefix + name, leaves) for part, prefix, leaves in (
        ("sent", "", "yes"), ("withheld", "", "no"), ("never_sent_words", "the words ", "no"))
        for name in sections.get(part) or ()
        if shape(report, "policy.json", "sections", sections, {part: "texts"})]
    found["fields"], found["units"] = field_rows(report, "fields.json")
    return found


def vet_rules(report, file, tables, fields):
    """Whether every condition can be walked and every number read; what stands in the way is reported."""
    sound = [None not in rows for rows in tables.values()]
    for part, names in READ.items():
        known = {name: fields[name] for name in names if name in fields}
        sound += [ledger.vet(report, file, row[1], row[2], "", known) for row in filter(None, tables[part])]
    for part, column in (("days", 1), ("cadence", 0), ("cadence", 2)):
        for row in filter(None, tables[part]):
            sound.append(bool(re.fullmatch("[0-9]+", row[column])))
            if not sound[-1]:
                report.add(file, row[0], f"{shown(row[column])}: a whole number is wanted")
    for part in set(TABLES) - {row[0] for row in filter(None, tables["endings"])}:
        report.add(file, part, "does not say what holds where no rule fits; write it")
        return False
    if "escalation_days" not in {row[0] for row in filter(None, tables["days"])}:
        report.add(file, "escalation_days", "is missing; L-6 compares with it")
        return False
    return all(sound)


def read_pools(report):
    """What of pools.json the pages are held against; NO_POOLS where the folder has none, None where it has no shape."""
    if not (report.folder / "pools.json").exists():
        return NO_POOLS
    pools = read_json(report, "pools.json")
    sound = shape(report, "pools.json", "", pools, POOLS) and all(
        [shape(report, "pools.json", part, entry, {"departments": "texts", "phrase": str, **more})
         for part, more in (("alias", {}), ("named", {"department": str, "title": str})) for entry in pools[part]]
        + [shape(report, "pools.json", name, event, {"type": str}) for name, events in pools["scripts"].items()
           for event in (events if type(events) is list else [None])])
    return pools if sound else None


def read_cases(report):
    """The planned cases by name, {} where the folder has none."""
    data, cases = read_json(report, "cases.json") if (report.folder / "cases.json").exists() else [], {}
    if type(data) is not list:
        report.add("cases.json", "", f"{shown(data)}: a list of planned cases is wanted")
        return cases
    for place, case in enumerate(data, 1):
        name = case.get("case", place) if type(case) is dict else place
        if shape(report, "cases.json", name, case, CASE, {}) and shape(
                report, "cases.json", name, case["expect"], {"stages": "texts", "escalated": list}, {}) and shape(
                report, "cases.json", f"{name}, plan", {"widened": [], **case["plan"]}, {"widened": "texts"}):
            if name in cases:
                report.add("cases.json", name, "stands twice; keep one case of that name")
            cases[name] = case
    return cases


def check_documents(report, key):
    """Join corpus, facts and gold, judge each document, then each matter's chain: ({case: matters}, what to count)."""
    documents = labels.corpus(report, key.kit["id"])
    facts, gold = Rows(report, "facts.jsonl"), Rows(report, "gold.jsonl")
    report.counts["documents"] = len(documents)
    chains, tally = {}, Counter()
    for name in labels.join(report, documents, facts, gold):
        fact, answer = facts.get(name), gold.get(name)
        if check_document(report, key, name, fact, answer, name in documents):
            chains.setdefault(fact["matter"], []).append((fact, answer))
    for matter, runs in chains.items():
        tally.update(check_chain(report, matter, sorted(runs, key=lambda run: run[0]["run"]), key))
    return Counter(runs[0][0]["case"] for runs in chains.values()), tally


def check_document(report, key, name, fact, answer, has_page=True):
    """Judge one document and its rows by themselves; whether they are fit to stand in a chain."""
    if not (fact and shape(report, "facts.jsonl", name, fact, FACT, {}) and _sound_people(report, name, fact)):
        return False
    if has_page:
        check_page(report, f"corpus/{name}.txt", name, fact, key)
    check_scope(report, name, fact, key)
    return answer is None or shape(report, "gold.jsonl", name, answer, GOLD, {})


def check_page(report, file, name, fact, key):
    """Hold a page against its facts part by part, and its prompts against the withheld section."""
    sections = {title: [text for _, text in found] for title, found in cut(report, file, key.sections).items()}
    raw = (report.folder / file).read_text(encoding="utf-8", errors="replace")
    for part, (printed, stated) in _parts(sections, raw, fact, key.pools).items():
        if printed != stated:
            report.add("facts.jsonl", name, f"{part} is {shown(stated)}, the page says {shown(printed)}; copy the page")
    if len(fact["candidates"]) != key.kit["roster"]:
        report.add("facts.jsonl", name, f"{len(fact['candidates'])} people; kit.json says {key.kit['roster']} a roster")
    withheld, sent = ("\n".join(line for title in titles for line in sections.get(title, ()))
                      for titles in (key.sections.withheld, key.sections.sent))
    people, words = len(fact["candidates"]), key.sections.never_sent_words
    if len(fact["personal"]) != people or any(withheld.casefold().count(word) < people for word in words):
        report.add(file, name, f"personal details of {people} people, each with {', '.join(words)}, are wanted, so "
                               f"that the guard has something to keep back")
    labels.privacy(report, file, name, withheld, sent, key.prompts)


def check_scope(report, name, fact, key):
    """Whether the scope of the facts is the one that the page prints, tells in its narrative, or leaves open."""
    def refuse(message):
        report.add("facts.jsonl", name, message)

    scope, listed = fact["scope"], fact["departments_on_file"]
    if not shape(report, "facts.jsonl", name, scope, {"departments": "texts", "systems": "texts", "period": "texts"},
                 {"named": "texts"}):
        return
    open_ = {NONE_RECORDED: "blank", DISPUTED: "disputed"}.get(listed if type(listed) is str else None)
    unsettled = (key.pools["unsettled"] or {open_: fact["scope_unsettled"]}).get(open_) if open_ else None
    if fact["scope_unsettled"] != unsettled or open_ and not unsettled:
        refuse(f"scope_unsettled {shown(fact['scope_unsettled'])}: the page gives {shown(unsettled or 'a sentence')}")
    told = [entry["departments"] for entry in key.pools["alias"] if fold(entry["phrase"]) in fold(fact["narrative"])]
    if listed == NOT_CLASSIFIED and not key.pools["alias"]:
        told = [scope["departments"]]       # only a person can say whom a narrative of one's own describes
    wanted = told[0] if listed == NOT_CLASSIFIED and told else [] if type(listed) is str else listed
    if scope["departments"] != wanted:
        refuse(f"departments {shown(scope['departments'])}: the page leads to {shown(wanted)}; mend one of the two")
    family = key.cases.get(fact["case"], {}).get("family")
    singled = [entry for entry in key.pools["named"] if fold(entry["phrase"]) in fold(fact["narrative"])]
    fitting = [person["id"] for person in fact["candidates"] if singled and person["title"] == singled[0]["title"]
               and person["department"] == singled[0]["department"]]
    if key.pools["named"] and (scope.get("named", []) != fitting or len(singled) != (family == "NAMED")):
        refuse(f"named {shown(scope.get('named'))}: what the narrative says of somebody fits {shown(fitting)}; name "
               f"them")
    special = [person["id"] for person in fact["candidates"] if person["kind"] in SPECIAL]
    if key.cases and len(special) != (family in ("REORG", "NAMED")):
        refuse(f"{len(special)} people are planned as special; one is wanted in a case of REORG or NAMED, and none "
               f"elsewhere")
    confirmed = [person for person in fact["candidates"] if "confirmed_department" in person]
    if key.cases and [person["kind"] for person in confirmed] != ["reorganised"] * (family == "REORG"):
        refuse(f"{len(confirmed)} people have a department that only counsel knows; one is wanted in a case of REORG")


def check_chain(report, matter, runs, key):
    """Replay one matter's runs through each rendering of the rules and hold what comes out against the key.

    `runs` [(facts, gold or None)] in their order. Returns what stats.json has to count of them.
    """
    facts, answers = [fact for fact, _ in runs], [answer for _, answer in runs]
    report.counts[CHAINS] += 1
    if not check_calendar(report, matter, facts, key):
        return Counter()
    outcomes = {file: replay(tables, facts) for file, tables in key.rules.items()}
    tally = Counter()
    for place, (fact, answer) in enumerate(zip(facts, answers)):
        if answer is None:
            continue
        wrong = [part for file, tables in key.rules.items()
                 for part in _differences(report, file, tables, fact, answer, outcomes[file][place])]
        report.counts[FOLLOWS] += len(outcomes) == 2 and not wrong
        _check_case(report, fact, answer, key)
        for found in list(outcomes.values())[:1]:
            tally.update(_counted(fact, answer, found[place], key))
    _check_kinds(report, facts, answers)
    if None not in answers:
        _check_plan(report, matter, facts, answers, key)
        _check_notices(report, matter, facts, answers, key)
    return tally


def check_calendar(report, matter, facts, key):
    """Whether a matter has all its runs, on the days of the cadence, each naming the one before and the one after."""
    cadence = next((tables["cadence"] for tables in key.rules.values()), [])
    if [fact["run"] for fact in facts] != [int(run) for run, _, _ in cadence]:
        report.add("facts.jsonl", matter,
                   f"runs {[fact['run'] for fact in facts]}: {len(cadence)} runs are wanted, none "
                                          f"twice and none left out")
        return False
    sound = True
    for place, (fact, (run, name, day)) in enumerate(zip(facts, cadence)):
        following = cadence[place + 1:]
        wanted = {"id": f"{matter}-R{run}", "runs": len(cadence), "run_name": name, "case": facts[0]["case"],
                  "snapshot": _after(facts[0]["snapshot"], int(day)),
                  "previous": facts[place - 1]["snapshot"] if place else None,
                  "next": _after(facts[0]["snapshot"], int(following[0][2])) if following else None}
        for part, value in wanted.items():
            if fact[part] != value:
                sound = False
                report.add("facts.jsonl", fact["id"], f"{part} {shown(fact[part])}: {shown(value)} is wanted there")
        if facts[0]["opened"] != fact["opened"] or not fact["opened"] < fact["snapshot"] <= fact["run_on"]:
            sound = False
            report.add("facts.jsonl", fact["id"],
                       "opened, snapshot and run_on do not follow one another, or opened is another day than at run 1")
    return sound


def replay(tables, facts):
    """What each run of one matter comes to, as Outcomes: ids in the order of the roster, statuses {id: custodian?},
    walks {table: {id, or "" for the matter: the rule that decided}}, limits as `_edges` gives them, of the clock."""
    held, released, waiting, outcomes = {}, False, False, []
    limit = int(next(row[1] for row in tables["days"] if row[0] == "escalation_days"))
    for fact in facts:
        log, today = fact["events"], _day(fact["snapshot"])
        settled = fact["scope_unsettled"] is None and bool(fact["scope"]["departments"])
        memo = waiting or fact["release_memo"] is not None
        if not released:
            held = {name: _hear(hold, name, log, fact["snapshot"]) for name, hold in held.items()}
        asked = [person for person in fact["candidates"] if settled and not released and person["id"] not in held]
        walks = {"match": {person["id"]: _matched(tables, fact, person) for person in asked}}
        fresh = {name: _hear(Hold(None, None, False), name, log, fact["snapshot"])
                 for name, rule in walks["match"].items() if rule}
        everybody = {} if released else {**held, **fresh}
        silent = {person["id"]: _walk(tables, "overdue", _silence(
            everybody[person["id"]], person["id"] in fresh, today, limit))
            for person in fact["candidates"] if person["id"] in everybody}
        late = [name for name, (_, result) in silent.items() if result == "overdue"]
        rule, stage = _walk(tables, "stage", {
            "scope": "settled" if settled else "unsettled", "released_before": _yes(released),
            "release_memo": _yes(memo), "new_custodians": len(fresh), "newly_overdue": len(late)})
        walks |= {"overdue": {name: rule for name, (rule, _) in silent.items()}, "stage": {"": rule}}
        clock = [("L-6e", today - _day(everybody[name].notice) - limit) for name, (rule, _) in silent.items()
                 if rule in ("L-6e", None) and everybody[name].notice]
        live = stage not in ("INCOMPLETE", "CLOSED", "RELEASING")
        if live:
            held = {name: hold._replace(escalated=hold.escalated or name in late) for name, hold in everybody.items()}
        released, waiting = released or stage == "RELEASING", memo and stage == "INCOMPLETE" and not released
        outcomes.append(Outcome(
            stage, {person["id"]: live and person["id"] in held for person in fact["candidates"]},
            late if live else [], list(fresh) if live else [],
            [] if released else [person["id"] for person in fact["candidates"] if person["id"] in held], walks,
            clock))
    return outcomes


def check_actions(report, root):
    """Search every source file for the names of actions, the kit's own for means to act: it watches, no path acts."""
    names, found = [action.replace("_", "") for action in ACTIONS], []
    sources = [path for top in SOURCES for path in sorted((Path(root) / top).rglob("*")) if path.suffix in SUFFIXES]
    for path in sources:
        text = path.read_text(encoding="utf-8", errors="replace")
        plain = text.casefold().replace("_", "")
        if path.resolve() != Path(__file__).resolve() and any(name in plain for name in names):
            found.append((path, "spells the name of an action; this kit is a watchlist and never acts"))
        words = [word for word in MEANS if word in text] if path.is_relative_to(Path(root) / "src" / NAME) else []
        if words:
            found.append((path, f"holds {', '.join(words)}; this kit is a watchlist and reaches nobody"))
    report.counts[f"source files that name one of {len(ACTIONS)} actions or, in the kit, a means to act"] = len(found)
    for path, message in found:
        report.add("", str(path.relative_to(root)), message)


def check_counts(report, key, matters, tally):
    """Hold what was counted against kit.json, cases.json and stats.json if there is one. `matters` {case: number}."""
    number = sum(matters.values())
    runs = max([len(tables["cadence"]) for tables in key.rules.values()], default=key.kit["runs"])
    for part, counted in (("size", report.counts["documents"]), ("matters", number), ("runs", runs)):
        if key.kit[part] != counted:
            report.add("kit.json", part, f"{key.kit[part]}: {counted} are there; make them agree")
    for name, case in key.cases.items():
        if matters[name] != case["count"]:
            report.add("cases.json", name,
                       f"count {case['count']}: facts.jsonl holds {matters[name]} matters; make them agree")
    report.counts["planned cases"] = len(key.cases)
    wanted = {group: {name: times for (kind, name), times in tally.items() if kind == group}
              for group in ("cases", "matter_stage", "units", "kinds")}
    wanted |= {group: tally[group, ""] for group in ("special_units", "readings_that_need_a_notice",
                                                     "readings_newly_overdue", "people_newly_overdue")}
    for group in ("units", "special_units", "readings_that_need_a_notice", "readings_newly_overdue"):
        value = wanted[group]
        report.counts.update({f"{group.replace('_', ' ')} {name}": number for name, number in value.items()}
                             if type(value) is dict else {group.replace("_", " "): value})
    if (report.folder / "stats.json").exists() and key.rules:
        check_stats(report, key, wanted | {"matters": number}, matters, tally)


def check_stats(report, key, wanted, matters, tally):
    """Hold stats.json, which only a build writes, against what was counted, and the build's own sources against it."""
    stats = read_json(report, "stats.json")
    families = Counter()
    for name, number in matters.items():
        families[key.cases.get(name, {}).get("family")] += number
    tables = next(iter(key.rules.values()))
    wanted |= {
        "seed": key.kit["seed"], "documents": report.counts["documents"],
        "bytes": sum(path.stat().st_size for path in (report.folder / "corpus").glob("[!.]*.txt")),
        "families": dict(families), "drawn_from": {file: _fingerprint(report.folder / file)
                                                   for file in ("cases.json", "pools.json")},
        "rules": {row[1]: {"matched": tally["rules", row[1]]} for part in TABLES for row in tables[part]},
        "limits": {name: {"step": 1, "unit": "days", **{side: tally["limits", (name, away)] for side, away in (
            ("just_below", -1), ("exactly_at", 0), ("just_above", 1))}}
            for name in ("L-1 first day of access", "L-1 last day of access", "L-6e")},
        "distinct_values": {field: sum(1 for kind, value in tally if kind == "distinct" and value[0] == field)
                            for field in ("matter_stage", "candidates", "escalate", "rationale")}, "nulls": {}}
    if not shape(report, "stats.json", "", stats, dict.fromkeys(wanted, object), {}):
        return
    for part, value in wanted.items():
        if not same(stats[part], value):
            report.add("stats.json", part,
                       f"{shown(stats[part])}: {shown(value)} is counted; build the corpus and its stats again")


def _fingerprint(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else None


def _said(report, part, words):
    """An object of texts as rows."""
    shape(report, "policy.json", part, words, dict.fromkeys(words, str))
    return [row for row in words.items() if type(row[1]) is str]


def _days_row(report, name, entry):
    if not shape(report, "policy.json", name, entry, {"value": int, **dict.fromkeys(DAYS, str)}, {}):
        return None
    if entry["unit"] != "days":
        report.add("policy.json", name, f"unit {shown(entry['unit'])}: this kit counts calendar days; write days")
    return name, str(entry["value"]), *(entry[part] for part in DAYS[1:])


def _rule_row(report, part, rule, place):
    name = rule.get("id", place) if type(rule) is dict else place
    if not shape(report, "policy.json", name, rule, RULE, {}):
        return None
    if rule["order"] != place:
        report.add("policy.json", name, f"order {rule['order']} stands in place {place}; number rules as they stand")
    return str(rule["order"]), name, ledger.condition(report, "policy.json", name, rule["when"]), rule["decision"]


def _sound_people(report, name, fact):
    people = [shape(report, "facts.jsonl", name, person, PERSON, {"confirmed_department": str})
              and all([shape(report, "facts.jsonl", name, access, {"name": str, "since": str, "until": "text?"}, {})
                       for access in person["systems"]]) for person in fact["candidates"]]
    events = [shape(report, "facts.jsonl", name, event, {"on": str, "type": str, "id": str}, {})
              for event in fact["events"]]
    ids = [person.get("id") for person in fact["candidates"] if type(person) is dict]
    if len(set(ids)) != len(ids):
        report.add("facts.jsonl", name, "two people have one id; give each their own")
    dates = [day for event in fact["events"] if type(event) is dict for day in [event.get("on")]]
    dates += [fact["opened"], fact["snapshot"], fact["run_on"], *fact["scope"].get("period", ())]
    dates += filter(None, [fact["release_memo"]])
    dates += [day for person in fact["candidates"] if type(person) is dict for access in person.get("systems", ())
              for day in (access.get("since"), access.get("until")) if day is not None]
    wrong = [day for day in dates if not _day(day)]
    for day in wrong:
        report.add("facts.jsonl", name, f"{shown(day)} is no calendar date; write it like 2025-11-05")
    return all(people + events) and not wrong


def _parts(sections, raw, fact, pools):
    """{what: (as the page prints it, as the facts state it)} of everything on a page."""
    matter, scope = (_labelled(sections.get(title, ())) for title in ("Matter", "Case Scope"))
    position, listed = _labelled(sections.get("Watch Position", ())), scope.get("relevant departments", "")
    events = sections.get("Notice and Acknowledgement Events", ())
    lines = list(sections.get("Case Scope", ()))
    told = lines.index("narrative:") if "narrative:" in lines else len(lines)
    logged = [found.groups() for found in map(EVENT.fullmatch, events) if found]
    released = [found[1] for found in map(RELEASE.fullmatch, events) if found]
    roster = [(found[1], found[2], found[3].strip(), found[4], [_access(part) for part in found[5].split("; ")])
              for found in ENTRY.finditer(raw)]
    told_departments = listed if listed in UNLISTED else listed.split(", ")
    # Where no event is logged one line says so, in the words of the pools or of one's own.
    known = 1 + (len(logged) + len(released) or events[1:2] == [pools["no_events"] or "".join(events[1:2])])
    heads = {} if pools is NO_POOLS else {
        "head of the roster": (_before_entries(sections.get("Candidate Roster", ())),
                               pools["roster_head"].replace("{snapshot}", fact["snapshot"])),
        "head of the events": (next(iter(events), None), pools["events_head"]),
        "words of the release": ([line for line in events if RELEASE.fullmatch(line)],
                                 [str(pools["event_lines"].get("release")).replace("{on}", day) for day in released])}
    return heads | {
        "matter": (matter.get("matter reference"), fact["matter"]), "title": (matter.get("matter type"), fact["title"]),
        "opened": (matter.get("opened"), fact["opened"]),
        "docket": (matter.get("docket"), "open"),
        "period": (matter.get("relevant period", "").split(" to "), fact["scope"].get("period")),
        "departments_on_file": (told_departments, fact["departments_on_file"]),
        "systems": (scope.get("relevant systems", "").split(", "), fact["scope"].get("systems")),
        "memos": (lines[2:told], fact["memos"]),
        "narrative": (" ".join(lines[told + 1:]), fact["narrative"]),
        "candidates": (roster, [(person["id"], person["name"], person["department"], person["title"],
                                 [(a["name"], a["since"], a["until"]) for a in person["systems"]])
                                for person in fact["candidates"]]),
        "events": ([(on, KIND[what], name) for on, what, name in logged],
                   [(event["on"], event["type"], event["id"]) for event in fact["events"]]),
        "lines of events": (len(events), known), "release_memo": (next(iter(released), None), fact["release_memo"]),
        "position": ([position.get(label) for label in ("snapshot taken", "run on", "scheduled run")],
                     [fact["snapshot"], fact["run_on"], f"{fact['run']} of {fact['runs']} ({fact['run_name']})"]),
        "previous": (position.get("previous snapshot"), fact["previous"] or "none, this is the first run"),
        "next": (position.get("next scheduled run"), fact["next"] or "none, this is the last run"),
        "synthetic": (" ".join(sections.get("Synthetic Record", ())), fact["synthetic"]),
        "remarks": (list(sections.get("Administration Notes", ())), fact["remarks"]),
        "personal": (list(sections.get("Candidate Personal Details", ())), fact["personal"]),
    }


def _labelled(lines):
    return dict(line.split(": ", 1) for line in lines if ": " in line)


def _before_entries(lines):
    """What stands on the roster before its first person, as one line."""
    return " ".join(lines[:next((place for place, line in enumerate(lines) if line.startswith("EMP-")), len(lines))])


def _access(text):
    found = ACCESS.fullmatch(text)
    return found and (found[1], found[2] or found[3], found[4])


def _matched(tables, fact, person):
    """The rule by which the first fitting access makes a person a custodian, None where none does."""
    scope = fact["scope"]
    start, end = scope["period"]
    for access in person["systems"]:
        rule, result = _walk(tables, "match", {
            "department": person.get("confirmed_department") or person["department"] or None,
            "relevant_departments": ",".join(scope["departments"]),
            "named_by_role": _yes(person["id"] in scope.get("named", ())),
            "system": access["name"], "relevant_systems": ",".join(scope["systems"]), "since": access["since"],
            "last_day": access["until"] or end, "period_start": start, "period_end": end})
        if result == "match":
            return rule
    return None


def _hear(hold, name, log, today):
    """A hold with what a window's log says about its person: first notice, first answer between notice and snapshot."""
    notices = [event["on"] for event in log if event["id"] == name and event["type"] == "notice"
               and event["on"] <= today]
    notice = min(notices + ([hold.notice] if hold.notice else []), default=None)
    answers = [event["on"] for event in log if event["id"] == name and event["type"] == "ack"
               and notice and notice <= event["on"] <= today]
    return hold._replace(notice=notice, answered=hold.answered or min(answers, default=None))


def _silence(hold, is_new, today, limit):
    return {"new_this_run": _yes(is_new), "acknowledged": _yes(hold.answered), "escalated_before": _yes(hold.escalated),
            "days_since_notice": today - _day(hold.notice) if hold.notice else None, "escalation_days": limit}


def _walk(tables, part, values):
    """(rule, result) of the first rule that fits; where it lacks a value, or none fits, the result for that alone."""
    ending = next(row for row in tables["endings"] if row[0] == part)
    for _, rule, when, result in tables[part]:
        holds = ledger.truth(when, values)
        if holds is None:
            return None, ending[2]
        if holds:
            return rule, result
    return None, ending[1]


def _differences(report, file, tables, fact, answer, outcome):
    """Yield each part of a gold row that does not follow from one rendering."""
    wanted = {"matter_stage": outcome.stage, "escalate": outcome.late, "notices": outcome.notices,
              "on_hold": outcome.on_hold, "rationale": _rationale(tables, fact, outcome), "candidates": [
                  {"id": name, "hold_status": HELD if held else NOT_HELD} for name, held in outcome.statuses.items()]}
    for part, value in wanted.items():
        if not same(answer[part], value):
            yield part
            report.add("gold.jsonl", fact["id"], f"{part} is {shown(answer[part])}; {file} as it stands gives "
                                                 f"{shown(value)}; derive the row again or mend the rule")


def _rationale(tables, fact, outcome):
    """The sentences of the key for a run, their words filled in."""
    says = dict(filter(None, tables["rationales"]))
    text = " ".join(str(says.get(part)) for part in [outcome.stage] + ["overdue"] * bool(outcome.late))
    for word, told in (("unsettled", fact["scope_unsettled"] or ""), ("new", ", ".join(outcome.notices)),
                       ("late", ", ".join(outcome.late))):
        text = text.replace(f"{{{word}}}", told)
    return text


def _check_case(report, fact, answer, key):
    if answer["case"] != fact["case"] or (key.cases and fact["case"] not in key.cases):
        report.add("gold.jsonl", fact["id"], f"case {answer['case']}: facts.jsonl says {fact['case']}; "
                                             f"{nearest(answer['case'], key.cases)}")


def _check_kinds(report, facts, answers):
    """Whether each person is what the plan calls them, and whether who is planned to match is on hold after run 1."""
    fact, answer = facts[0], answers[0]
    start, end = fact["scope"]["period"]
    scope = [fold(name) for name in fact["scope"]["departments"]]
    held = {entry.get("id") for entry in answer["candidates"]
            if entry.get("hold_status") == "CUSTODIAN"} if answer else None
    for person in fact["candidates"] if fact["scope_unsettled"] is None else ():
        inside = fold(person["department"]) in scope
        accesses = [access for access in person["systems"] if access["name"] in fact["scope"]["systems"]]
        during = [a for a in accesses if a["since"] <= end and (a["until"] is None or a["until"] >= start)]
        edge = {"begins_on_last_day": lambda a: a["since"] == end,
                "begins_a_day_earlier": lambda a: a["since"] == _after(end, -1),
                "late_by_a_day": lambda a: a["since"] == _after(end, 1), "late": lambda a: a["since"] > _after(end, 1),
                "ends_on_first_day": lambda a: a["until"] == start,
                "ends_a_day_later": lambda a: a["until"] == _after(start, 1),
                "early_by_a_day": lambda a: a["until"] == _after(start, -1),
                "early": lambda a: (a["until"] or end) < _after(start, -1),
                "named_from_last_day": lambda a: a["since"] == end,
                "named_to_first_day": lambda a: a["until"] == start}.get(person["kind"], lambda a: True)
        wanted = {"match": (True, True), "wrong_system": (True, None), "neither": (False, None),
                  "same_title": (False, None),
                  **dict.fromkeys(("same_title_late", "same_title_early"), (False, False)),
                  **dict.fromkeys(("late", "late_and_gone", "late_by_a_day", "early", "early_by_a_day"), (True, False)),
                  **dict.fromkeys(MATCHING, (True, True))}.get(person["kind"], (False, True))
        found = inside, bool(during) if accesses else None
        if found != wanted or not all(map(edge, accesses)):
            report.add("facts.jsonl", fact["id"],
                       f"{person['id']} is called {person['kind']}, which the roster does not bear out")
        if held is not None and (person["kind"] in MATCHING + SPECIAL) != (person["id"] in held):
            report.add("gold.jsonl", fact["id"],
                       f"{person['id']} is planned as {person['kind']}; its status after run 1 "
                                                 f"says otherwise")
    for later in facts[1:]:
        if [(p["id"], p["kind"], p["name"]) for p in later["candidates"]] != [
                (p["id"], p["kind"], p["name"]) for p in fact["candidates"]]:
            report.add("facts.jsonl", later["id"], "the roster holds other people than at run 1; keep them")


def _check_plan(report, matter, facts, answers, key):
    case = key.cases.get(facts[0]["case"])
    found = {"stages": [answer["matter_stage"] for answer in answers],
             "escalated": [len(answer["escalate"]) for answer in answers]}
    if case and case["expect"] != found:
        report.add("cases.json", case["case"], f"expects {shown(case['expect'])}; {matter} comes to {shown(found)}")


def _check_notices(report, matter, facts, answers, key):
    """Whether notices go out on or after the day of the run that asks for them, save to whom a script says ahead."""
    asked = {name: fact["run_on"] for fact, answer in zip(facts, answers) for name in answer["notices"]}
    first = {}
    for fact in facts:
        for event in fact["events"]:
            if event["type"] == "notice":
                first.setdefault(event["id"], event["on"])
    early = [name for name, on in first.items() if on < asked.get(name, "")]
    plan = key.cases.get(facts[0]["case"], {}).get("plan", {})
    ahead = [script for script, events in key.pools["scripts"].items() if any(event.get("ahead") for event in events)]
    planned = [script for script in plan.get("widened", ()) if script in ahead]
    if key.pools["scripts"] and len(early) != len(planned):
        report.add("facts.jsonl", matter, f"notices to {', '.join(early) or 'nobody'} are dated before the run that "
                                          f"asks for them; {len(planned)} are planned so")


def _counted(fact, answer, outcome, key):
    """The entries under which stats.json counts a document."""
    yield "cases", answer["case"]
    yield "matter_stage", answer["matter_stage"]
    yield from (("units", entry.get("hold_status")) for entry in answer["candidates"])
    yield from (("special_units", "") for person in fact["candidates"] if person["kind"] in SPECIAL)
    yield from (("readings_that_need_a_notice", "") for _ in answer["notices"][:1])
    yield from (("readings_newly_overdue", "") for _ in answer["escalate"][:1])
    yield from (("people_newly_overdue", "") for _ in answer["escalate"])
    yield from (("rules", rule) for walks in outcome.walks.values() for rule in walks.values())
    yield from (("distinct", (field, shown(answer[field], LONG))) for field in (
        "matter_stage", "candidates", "escalate", "rationale"))
    yield from (("limits", limit) for limit in outcome.limits)
    if fact["run"] == 1:
        yield from (("kinds", person["kind"]) for person in fact["candidates"])
        yield from (("limits", limit) for limit in _edges(fact))


def _edges(fact):
    """(limit, days from it) of each access in scope of those who stand at an edge of the period."""
    start, end = map(_day, fact["scope"]["period"])
    for access in (access for person in fact["candidates"] if person["kind"] in AT_AN_EDGE
                   for access in person["systems"] if access["name"] in fact["scope"]["systems"]):
        yield "L-1 first day of access", _day(access["since"]) - end
        if access["until"]:
            yield "L-1 last day of access", _day(access["until"]) - start


def _day(text):
    """A calendar date as a number of days; None where it is none."""
    try:
        found = re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text)
        return datetime.date.fromisoformat(text).toordinal() if found else None
    except (TypeError, ValueError):
        return None


def _after(text, days):
    start = _day(text)
    return start and datetime.date.fromordinal(start + days).isoformat()


def _yes(is_so):
    return "yes" if is_so else "no"
