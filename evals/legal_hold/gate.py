"""The label gate of legal_hold: every chain of runs replayed by rules, readers and a day counter that are its own.

    python -m evals.check_labels legal_hold

It imports nothing from `src`, so a fault shared by engine and generator cannot hide. Each page is read by a parser of
its own and held against its facts; the facts are replayed run by run through the tables of `policy.md` and through
those of `policy.json`, which must agree cell by cell; the key has to follow from both. It also holds the kit to being a
watchlist: no source file may spell the name of an action. Problems are reported at once, with file, row and remedy.
"""
import datetime
import re
from collections import Counter, namedtuple
from pathlib import Path

from evals.shared import labels, ledger
from evals.shared.page import cut
from evals.shared.strict import Rows, fold, nearest, read_json, shape, shown

NAME, ROOT = Path(__file__).parent.name, Path(__file__).resolve().parents[2]
FILES = ("kit.json", "fields.json", "policy.json", "policy.md", "pools.json", "cases.json", "stats.json", "facts.jsonl",
         "gold.jsonl")

# What this kit never does. A source file that spells one of these names has a path that acts; this file is exempt.
ACTIONS = ("send_notice", "issue_hold", "issue_notice", "release_hold", "lift_hold", "notify_custodian",
           "send_escalation", "send_reminder", "file_memo")
SOURCES, SUFFIXES = ("src", "evals", "tools", "ui"), (".py", ".js", ".html")

KIT = {"kit": str, "id": str, "size": int, "matters": int, "runs": int, "roster": int}
TABLE = {"title": str, "stops_at": str, "decisions": dict, "passed": dict, "missing": dict, "rules": list}
RULE = {"id": str, "order": int, "decision": str, "when": dict, "why": str}
CASE = {"case": str, "count": int, "family": str, "sentence": str, "expect": dict, "plan": dict}
FACT = {"id": str, "case": str, "matter": str, "run": int, "runs": int, "run_name": str, "title": str, "opened": str,
        "snapshot": str, "run_on": str, "previous": "text?", "next": "text?", "scope": dict, "scope_unsettled": "text?",
        "departments_on_file": object, "memos": "texts", "narrative": str, "candidates": list, "events": list,
        "release_memo": "text?", "synthetic": str, "remarks": "texts"}
PERSON = {"id": str, "kind": str, "name": str, "department": str, "title": str, "systems": list}
GOLD = {"id": str, "case": str, "matter_stage": str, "candidates": list, "escalate": "texts", "rationale": str,
        "notices": "texts", "on_hold": "texts"}
TABLES = ("match", "overdue", "stage")
# The tables of policy.md, and the rows as which policy.json is written out to be compared with them.
HEADS = {"match": ("order", "access rule", "when", "result"), "overdue": ("order", "silence rule", "when", "result"),
         "stage": ("order", "stage rule", "when", "stage"), "endings": ("table", "where no rule fits"),
         "days": ("threshold", "days"), "cadence": ("run", "name", "day")}
UNLISTED = NOT_CLASSIFIED, NONE_RECORDED, DISPUTED = (
    "not classified, see the narrative", "none recorded", "disputed, see the memos")
ENTRY = re.compile(r"(EMP-\S+)  (.+)\n  department:(.*)\n  title: (.+)\n  systems: (.+)")
ACCESS = re.compile(r"(.+) \((?:since ([0-9-]{10})|([0-9-]{10}) to ([0-9-]{10}))\)")
EVENT = re.compile(r"([0-9-]{10})  (hold notice sent|acknowledgement|reminder sent): (EMP-\S+)")
KIND = {"hold notice sent": "notice", "acknowledgement": "ack", "reminder sent": "reminder"}
RELEASE = re.compile(r"([0-9-]{10})  Hold Release Memo .+")
MATCHING = ("match", "begins_on_last_day", "begins_a_day_earlier", "ends_on_first_day", "ends_a_day_later")
SPECIAL = ("reorganised", "named", "named_from_last_day", "named_to_first_day")
FOLLOWS = "gold rows that follow from both renderings"
CHAINS = "chains replayed"

Key = namedtuple("Key", "kit sections rules cases pools prompts")
Hold = namedtuple("Hold", "notice answered escalated")


def check(data_dir, prompts=None, root=ROOT):
    """Judge a data folder. `prompts(document id, guarded)` gives the text of one call; None leaves that part out."""
    report = labels.Report(data_dir, FILES)
    kit = read_json(report, "kit.json")
    if not shape(report, "kit.json", "", kit, KIT):
        return report
    if kit["kit"] != NAME:
        report.add("kit.json", "kit", f"{shown(kit['kit'])}: this is the gate of {NAME}; write that name")
    policy, fields = read_json(report, "policy.json"), read_fields(report)
    tables, written = json_tables(report, policy), ledger.tables(report, "policy.md", HEADS)
    if tables and written:
        ledger.compare(report, HEADS, "policy.json", tables, "policy.md", written)
    rules = {file: found for file, found in (("policy.md", written), ("policy.json", tables))
             if found and vet_rules(report, file, found, fields)}
    pools = read_json(report, "pools.json")
    sections = policy.get("sections", {}) if type(policy) is dict else {}
    if not (shape(report, "policy.json", "sections", sections, {"sent": "texts", "withheld": "texts"})
            and shape(report, "pools.json", "", pools,
                      {"alias": list, "named": list, "roster_head": str, "events_head": str})):
        return report
    sections = namedtuple("Sections", "sent withheld")(sections["sent"], sections["withheld"])
    check_documents(report, Key(kit, sections, rules, read_cases(report), pools, prompts))
    check_actions(report, root)
    return report


def read_fields(report):
    """{field: its entry} of fields.json."""
    data = read_json(report, "fields.json")
    if not shape(report, "fields.json", "", data, {"units": dict, "fields": list}, {}):
        return {}
    return {field["name"]: {"allowed": [], **field} for field in data["fields"]
            if shape(report, "fields.json", "fields", field, {"name": str, "type": str})}


def json_tables(report, policy):
    """policy.json as tables of rows in the form of HEADS; None where it has no shape."""
    days, cadence = (policy.get(part) if type(policy) is dict else None for part in ("thresholds", "cadence"))
    if type(days) is not dict or type(cadence) is not list or not all(
            [shape(report, "policy.json", part, policy.get(part), TABLE) for part in TABLES]):
        report.add("policy.json", "", f"{', '.join(TABLES)}, thresholds and cadence are wanted; write them")
        return None
    found = {part: [_rule_row(report, part, rule, place) for place, rule in enumerate(policy[part]["rules"], 1)]
             for part in TABLES}
    for part in TABLES:
        words = policy[part]["decisions"]
        for row in [*found[part], (0, "passed", "", policy[part]["passed"].get("decision"))]:
            if row and row[3] not in words:
                report.add("policy.json", row[1], f"{shown(row[3])} is no decision of {part}; {nearest(row[3], words)}")
    found["endings"] = [(part, str(policy[part]["passed"].get("decision"))) for part in TABLES]
    found["days"] = [(name, str(entry.get("value"))) for name, entry in days.items()
                     if shape(report, "policy.json", name, entry,
                              {"value": int, "unit": str, "from": str, "source": str})]
    found["cadence"] = [(str(entry["run"]), entry["name"], str(entry["day"])) for entry in cadence if shape(
        report, "policy.json", "cadence", entry, {"run": int, "name": str, "day": int})]
    for name, entry in days.items():
        if entry.get("unit") != "days":
            report.add("policy.json", name,
                       f"unit {shown(entry.get('unit'))}: this kit counts calendar days; write days")
    return found


def vet_rules(report, file, tables, fields):
    """Whether every condition can be walked and every number read; what stands in the way is reported."""
    sound = [None not in rows for rows in tables.values()]
    sound += [ledger.vet(report, file, row[1], row[2], "", fields) for part in TABLES
              for row in filter(None, tables[part])]
    for part, column in (("days", 1), ("cadence", 0), ("cadence", 2)):
        for row in filter(None, tables[part]):
            sound.append(bool(re.fullmatch("[0-9]+", row[column])))
            if not sound[-1]:
                report.add(file, row[0], f"{shown(row[column])}: a whole number is wanted")
    for part in set(TABLES) - dict(filter(None, tables["endings"])).keys():
        report.add(file, part, "does not say what holds where no rule fits; write it")
        return False
    if "escalation_days" not in dict(filter(None, tables["days"])):
        report.add(file, "escalation_days", "is missing; L-6 compares with it")
        return False
    return all(sound)


def read_cases(report):
    """The planned cases by name."""
    data, cases = read_json(report, "cases.json"), {}
    for place, case in enumerate(data if type(data) is list else [], 1):
        name = case.get("case", place) if type(case) is dict else place
        if shape(report, "cases.json", name, case, CASE) and shape(report, "cases.json", name, case["expect"],
                                                                   {"stages": "texts", "escalated": list}):
            if name in cases:
                report.add("cases.json", name, "stands twice; keep one case of that name")
            cases[name] = case
    return cases


def check_documents(report, key):
    """Join corpus, facts and gold; hold each page against its facts and each matter's chain against the key."""
    documents = labels.corpus(report, key.kit["id"])
    facts, gold = Rows(report, "facts.jsonl"), Rows(report, "gold.jsonl")
    report.counts["documents"] = len(documents)
    chains, tally = {}, Counter()
    for name in labels.join(report, documents, facts, gold):
        fact, answer = facts.get(name), gold.get(name)
        if not (fact and shape(report, "facts.jsonl", name, fact, FACT, {}) and _sound_people(report, name, fact)):
            continue
        if name in documents:
            check_page(report, documents[name], name, fact, key)
        check_scope(report, name, fact, key)
        chains.setdefault(fact["matter"], []).append((fact, answer if answer and shape(
            report, "gold.jsonl", name, answer, GOLD, {}) else None))
    for matter, runs in chains.items():
        check_chain(report, matter, sorted(runs, key=lambda pair: pair[0]["run"]), key, tally)
    check_counts(report, key, chains, tally)


def check_page(report, file, name, fact, key):
    """Hold a page against its facts part by part, and its prompts against the withheld section."""
    sections = {title: [text for _, text in found] for title, found in cut(report, file, key.sections).items()}
    raw = (report.folder / file).read_text(encoding="utf-8", errors="replace")
    for part, (printed, stated) in _parts(sections, raw, fact, key.pools).items():
        if printed != stated:
            report.add("facts.jsonl", name, f"{part} is {shown(stated)}, the page says {shown(printed)}; copy the page")
    withheld, sent = ("\n".join(line for title in titles for line in sections.get(title, ()))
                      for titles in (key.sections.withheld, key.sections.sent))
    if len(sections.get(key.sections.withheld[0], ())) != len(fact["candidates"]):
        report.add(file, name,
                   f"personal details of {len(fact['candidates'])} people are wanted, so that the guard has "
                               f"something to keep back")
    labels.privacy(report, file, name, withheld, sent, key.prompts)


def check_scope(report, name, fact, key):
    """Whether the scope of the facts is the one that the page prints, tells in its narrative, or leaves open."""
    def refuse(message):
        report.add("facts.jsonl", name, message)

    scope, listed = fact["scope"], fact["departments_on_file"]
    if not shape(report, "facts.jsonl", name, scope, {"departments": "texts", "systems": "texts", "period": "texts"},
                 {"named": "texts"}):
        return
    told = [entry["departments"] for entry in key.pools["alias"] if fold(entry["phrase"]) in fold(fact["narrative"])]
    wanted = told[0] if listed == NOT_CLASSIFIED and told else [] if type(listed) is str else listed
    if scope["departments"] != wanted or (fact["scope_unsettled"] is None) != (listed not in (NONE_RECORDED, DISPUTED)):
        refuse(f"departments {shown(scope['departments'])}: the page leads to {shown(wanted)}; mend one of the two")
    family = key.cases.get(fact["case"], {}).get("family")
    singled = [entry for entry in key.pools["named"] if fold(entry["phrase"]) in fold(fact["narrative"])]
    fitting = [person["id"] for person in fact["candidates"] if singled and person["title"] == singled[0]["title"]
               and person["department"] == singled[0]["department"]]
    if scope.get("named", []) != fitting or len(singled) != (family == "NAMED"):
        refuse(f"named {shown(scope.get('named'))}: what the narrative says of somebody fits {shown(fitting)}; name "
               f"them")
    special = [person["id"] for person in fact["candidates"] if person["kind"] in SPECIAL]
    if len(special) != (family in ("REORG", "NAMED")):
        refuse(f"{len(special)} people are planned as special; one is wanted in a case of REORG or NAMED, and none "
               f"elsewhere")
    confirmed = [person for person in fact["candidates"] if "confirmed_department" in person]
    if len(confirmed) != (family == "REORG") or any(person["kind"] != "reorganised" for person in confirmed):
        refuse(f"{len(confirmed)} people have a department that only counsel knows; one is wanted in a case of REORG")


def check_chain(report, matter, runs, key, tally):
    """Replay one matter's runs through each rendering of the rules and hold what comes out against the key."""
    facts, answers = [fact for fact, _ in runs], [answer for _, answer in runs]
    report.counts[CHAINS] += 1
    if not check_calendar(report, matter, facts, key):
        return
    outcomes = {file: replay(tables, facts) for file, tables in key.rules.items()}
    for place, (fact, answer) in enumerate(runs):
        if answer is None:
            continue
        wrong = [part for file in outcomes for part in _differences(report, file, fact, answer, outcomes[file][place])]
        report.counts[FOLLOWS] += len(outcomes) == 2 and not wrong
        tally.update(_counted(fact, answer))
        _check_words(report, fact, answer, key)
    _check_kinds(report, facts, answers)
    if None not in answers:
        _check_plan(report, matter, facts, answers, key)


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
        in_order = fact["opened"] < fact["snapshot"] <= fact["run_on"]
        if not in_order or not all(map(_day, (fact["opened"], fact["run_on"]))):
            sound = False
            report.add("facts.jsonl", fact["id"],
                       "opened, snapshot and run_on do not follow one another as dates; mend them")
    return sound


def replay(tables, facts):
    """What each run of one matter comes to: [(stage, {id: custodian?}, escalate, notices, on hold)]."""
    held, released, waiting, outcomes = {}, False, False, []
    limit = int(dict(tables["days"])["escalation_days"])
    for fact in facts:
        log, today = fact["events"], _day(fact["snapshot"])
        settled = fact["scope_unsettled"] is None and bool(fact["scope"]["departments"])
        memo = waiting or fact["release_memo"] is not None
        if not released:
            held = {name: _hear(hold, name, log, fact["snapshot"]) for name, hold in held.items()}
        fresh = {person["id"]: _hear(Hold(None, None, False), person["id"], log, fact["snapshot"])
                 for person in fact["candidates"] if settled and not released and person["id"] not in held
                 and _matches(tables, fact, person)}
        everybody = {} if released else {**held, **fresh}
        late = [person["id"] for person in fact["candidates"] if person["id"] in everybody and _walk(
            tables, "overdue", _silence(everybody[person["id"]], person["id"] in fresh, today, limit)) == "overdue"]
        stage = _walk(tables, "stage", {
            "scope": "settled" if settled else "unsettled", "released_before": _yes(released),
            "release_memo": _yes(memo), "new_custodians": len(fresh), "newly_overdue": len(late)})
        live = stage not in ("INCOMPLETE", "CLOSED", "RELEASING")
        if live:
            held = {name: hold._replace(escalated=hold.escalated or name in late) for name, hold in everybody.items()}
        released, waiting = released or stage == "RELEASING", memo and stage == "INCOMPLETE" and not released
        outcomes.append((stage, {person["id"]: live and person["id"] in held for person in fact["candidates"]},
                         late if live else [], list(fresh) if live else [],
                         [] if released else [person["id"] for person in fact["candidates"] if person["id"] in held]))
    return outcomes


def check_actions(report, root):
    """Search every source file for the names of actions: this kit watches, and no path of it acts."""
    names, itself = [action.replace("_", "") for action in ACTIONS], Path(__file__).resolve()
    found = [path for top in SOURCES for path in sorted((Path(root) / top).rglob("*")) if path.suffix in SUFFIXES
             and path.resolve() != itself and _spells(path, names)]
    report.counts[f"source files that name one of {len(ACTIONS)} actions"] = len(found)
    for path in found:
        report.add("", str(path.relative_to(root)),
                   "spells the name of an action; this kit is a watchlist and never acts")


def check_counts(report, key, chains, tally):
    """Hold what was counted against kit.json, cases.json and stats.json."""
    for part, counted in (("size", report.counts["documents"]), ("matters", len(chains))):
        if key.kit[part] != counted:
            report.add("kit.json", part, f"{key.kit[part]}: {counted} are there; make them agree")
    for name, case in key.cases.items():
        counted = sum(runs[0][0]["case"] == name for runs in chains.values())
        if counted != case["count"]:
            report.add("cases.json", name,
                       f"count {case['count']}: facts.jsonl holds {counted} matters; make them agree")
    report.counts["planned cases"] = len(key.cases)
    stats = read_json(report, "stats.json")
    wanted = {"documents": report.counts["documents"], "matters": len(chains)}
    for group in ("cases", "matter_stage", "units", "kinds"):
        wanted[group] = {name: times for (kind, name), times in tally.items() if kind == group}
    for group in ("special_units", "readings_that_need_a_notice", "readings_newly_overdue", "people_newly_overdue"):
        wanted[group] = tally[group, group]
    for part, value in wanted.items():
        if type(stats) is dict and stats.get(part) != value:
            report.add("stats.json", part,
                       f"{shown(stats.get(part))}: {shown(value)} is counted; build the stats again")
    for group in ("units", "special_units", "readings_that_need_a_notice", "readings_newly_overdue"):
        value = wanted[group]
        report.counts.update({f"{group.replace('_', ' ')} {name}": number for name, number in value.items()}
                             if type(value) is dict else {group.replace("_", " "): value})


def _spells(path, names):
    """Whether a source file spells one of the names, whatever its case and with or without underscores."""
    text = path.read_text(encoding="utf-8", errors="replace").casefold().replace("_", "")
    return any(name in text for name in names)


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
    dates += [fact["snapshot"], fact["run_on"], *fact["scope"].get("period", ()), *filter(None, [fact["release_memo"]])]
    dates += [day for person in fact["candidates"] if type(person) is dict for access in person.get("systems", ())
              for day in (access.get("since"), access.get("until")) if day is not None]
    wrong = [day for day in dates if not _day(day)]
    for day in wrong:
        report.add("facts.jsonl", name, f"{shown(day)} is no calendar date; write it like 2025-11-05")
    return all(people + events) and not wrong


def _parts(sections, raw, fact, pools):
    """{what: (as the page prints it, as the facts state it)} of everything on a page but the personal details."""
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
    known = 1 + (len(logged) + len(released) or events[1:2] == ["No events are recorded in this window."])
    return {
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
        "head of the roster": (_before_entries(sections.get("Candidate Roster", ())),
                               pools["roster_head"].replace("{snapshot}", fact["snapshot"])),
        "head of the events": (next(iter(events), None), pools["events_head"]),
        "events": ([(on, KIND[what], name) for on, what, name in logged],
                   [(event["on"], event["type"], event["id"]) for event in fact["events"]]),
        "lines of events": (len(events), known), "release_memo": (next(iter(released), None), fact["release_memo"]),
        "position": ([position.get(label) for label in ("snapshot taken", "run on", "scheduled run")],
                     [fact["snapshot"], fact["run_on"], f"{fact['run']} of {fact['runs']} ({fact['run_name']})"]),
        "previous": (position.get("previous snapshot"), fact["previous"] or "none, this is the first run"),
        "next": (position.get("next scheduled run"), fact["next"] or "none, this is the last run"),
        "synthetic": (" ".join(sections.get("Synthetic Record", ())), fact["synthetic"]),
        "remarks": (list(sections.get("Administration Notes", ())), fact["remarks"]),
    }


def _labelled(lines):
    return dict(line.split(": ", 1) for line in lines if ": " in line)


def _before_entries(lines):
    """What stands on the roster before its first person, as one line."""
    return " ".join(lines[:next((place for place, line in enumerate(lines) if line.startswith("EMP-")), len(lines))])


def _access(text):
    found = ACCESS.fullmatch(text)
    return found and (found[1], found[2] or found[3], found[4])


def _matches(tables, fact, person):
    scope = fact["scope"]
    start, end = scope["period"]
    return any(_walk(tables, "match", {
        "department": person.get("confirmed_department") or person["department"] or None,
        "relevant_departments": ",".join(scope["departments"]),
        "named_by_role": _yes(person["id"] in scope.get("named", ())),
        "system": access["name"], "relevant_systems": ",".join(scope["systems"]), "since": access["since"],
        "last_day": access["until"] or end, "period_start": start, "period_end": end}) == "match"
        for access in person["systems"])


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
    """The result of the first rule that fits; a rule that lacks a value ends the walk without a result."""
    for _, _, when, result in tables[part]:
        holds = ledger.truth(when, values)
        if holds is None:
            return None
        if holds:
            return result
    return dict(tables["endings"])[part]


def _differences(report, file, fact, answer, outcome):
    """Yield each part of a gold row that does not follow from one rendering."""
    stage, statuses, late, notices, on_hold = outcome
    wanted = {"matter_stage": stage, "escalate": late, "notices": notices, "on_hold": on_hold, "candidates": [
        {"id": name, "hold_status": "CUSTODIAN" if held else "NOT_CUSTODIAN"} for name, held in statuses.items()]}
    for part, value in wanted.items():
        if answer[part] != value:
            yield part
            report.add("gold.jsonl", fact["id"],
                       f"{part} is {shown(answer[part])}; {file} as it stands gives {shown(value)}; "
                                                 f"derive the row again or mend the rule")


def _check_words(report, fact, answer, key):
    if answer["case"] != fact["case"] or (key.cases and fact["case"] not in key.cases):
        report.add("gold.jsonl", fact["id"], f"case {answer['case']}: facts.jsonl says {fact['case']}; "
                                             f"{nearest(answer['case'], key.cases)}")
    named = set(re.findall(r"EMP-\S+?(?=[,;. ]|$)", answer["rationale"]))
    if named != set(answer["notices"]) | set(answer["escalate"]):
        report.add("gold.jsonl", fact["id"],
                   f"the rationale names {', '.join(sorted(named)) or 'nobody'}; it has to name "
                                             f"who is new and who is overdue, and nobody else")


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


def _counted(fact, answer):
    """The entries under which stats.json counts a document."""
    yield "cases", answer["case"]
    yield "matter_stage", answer["matter_stage"]
    yield from (("units", entry.get("hold_status")) for entry in answer["candidates"])
    yield from (("special_units",) * 2 for person in fact["candidates"] if person["kind"] in SPECIAL)
    if fact["run"] == 1:
        yield from (("kinds", person["kind"]) for person in fact["candidates"])
    if answer["notices"]:
        yield ("readings_that_need_a_notice",) * 2
    if answer["escalate"]:
        yield ("readings_newly_overdue",) * 2
    yield from (("people_newly_overdue",) * 2 for _ in answer["escalate"])


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
