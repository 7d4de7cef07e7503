"""A pend record read a second way, and every sentence of it accounted for: what it is, and what it establishes.

The label gate's reader. A record is cut by its underlined titles; each line of the message, each sentence of the notes,
each dated line and each register line has to be an entry of `pools.json`, and exactly one establishes the cause.
Imports only the standard library and the shared readers of the gates.
"""
import re
from collections import namedtuple

from evals.shared.strict import fold, nearest, read_json, read_text, shape, shown

FACTS, MESSAGE, NOTES, TRAIL, REGISTER = SECTIONS = (
    "CLAIM FACTS", "PEND MESSAGE", "DESK NOTES", "CORRESPONDENCE AND SYSTEM TRAIL", "ADJUDICATION REGISTER")
RECORD = re.compile(r"PEND RECORD (.+?): (.+)\n\n" + r"\n\n".join(
    rf"{title}\n-{{{len(title)}}}\n(.+?)" for title in SECTIONS) + r"\n", re.DOTALL)
LABELS = {"Claim id": "claim_id", "Line of business": "line_of_business", "Provider contract": "contracted",
          "Clean claim": "clean", "Received on": "received_on", "Pended on": "pended_on",
          "Register read on": "register_read_on", "Queue": None}
PRINTED = {"line_of_business": {"Medicare Advantage": "MA", "Medicaid": "MEDICAID"},
           **dict.fromkeys(("contracted", "clean"), {"yes": True, "no": False})}
# Words that a sentence which establishes nothing must not have, by the causes that they would speak of.
STEMS = re.compile(r"\b(?:eligib|enroll|coverage|roster|authoriz|precert|approv|carrier|insurer|benefits|payer|npi\b|"
                   r"taxonomy|duplicate|twice|histor|already paid|rates?\b|pric|schedule|fee\b|modifier|bundl|units?\b|"
                   r"code pair|itemiz|report\b|attach|records\b|paper\b|requested|located)", re.IGNORECASE)
ENTRIES = {"causes": {"cause": str, "where": str, "text": str}, "decoys": {"cause": str, "text": str},
           "register": {"evidence": str, "cause": "text?", "text": str},
           "baits": {"kind": str, "where": str, "text": str}}
FILLERS = {"messages": "texts", "notes": "texts", "turns": "texts"}
TRAIL_FILLERS = {"received": "texts", "pended": "texts", "other": "texts"}
NAMES = {"layout": "texts", "claim_ids": "texts", "titles": "texts", "queues": "texts", "plans": "texts",
         "message_forms": "texts"}
SIGNS = {r"\#": "[0-9]", "@": "[A-Z]", r"\{\}": "(.+)"}      # of the patterns among these
WHERE = {"message": MESSAGE, "note": NOTES, "trail": TRAIL, "register": REGISTER}
LEAST = {"causes": 80, "register": 32}

# text as it stands; facts {field: value} of the labelled lines; sections {title: [line]}
Page = namedtuple("Page", "text title facts sections")
# known {text: (pool, entry)}, names {pool: its texts}, forms of a message line and of a claim id as patterns
Pools = namedtuple("Pools", "known names forms claim_ids")


def read_pools(report, words):
    """pools.json as Pools, None where the folder has none; a filler that speaks of a cause is reported.

    `words` {"cause" and "evidence": what an entry may name}.
    """
    if not (report.folder / "pools.json").exists():
        return None
    data, keys = read_json(report, "pools.json"), {**dict.fromkeys(ENTRIES, list), **FILLERS, **NAMES, "trail": dict}
    if not (shape(report, "pools.json", "", data, keys, {})
            and shape(report, "pools.json", "trail", data["trail"], TRAIL_FILLERS, {})):
        return None
    if tuple(data["layout"]) != SECTIONS:
        report.add("pools.json", "layout", f"{shown(data['layout'])}: {', '.join(SECTIONS)} are wanted, in that order")
    words = {**words, "where": WHERE, "cause": (*words["cause"], None)}
    known, fillers = {}, {**{pool: data[pool] for pool in FILLERS}, **data["trail"]}
    for pool, keys in ENTRIES.items():
        sound = [entry for entry in data[pool] if shape(report, "pools.json", pool, entry, keys, {"for": str})]
        for entry in sound:
            _know(report, known, pool, entry["text"], entry)
            for part in words.keys() & entry.keys():
                if entry[part] not in words[part] or entry[part] is None and pool != "register":
                    report.add("pools.json", pool, f"{part} {shown(entry[part])}: {nearest(entry[part], words[part])}")
    for pool in [*FILLERS, *TRAIL_FILLERS]:
        for text in fillers[pool]:
            _know(report, known, pool, text, {})
            if STEMS.search(text):
                report.add("pools.json", pool, f"{shown(text)}: {shown(STEMS.search(text)[0])} speaks of a cause, "
                                               f"which a filler may not")
    for pool in NAMES:
        if len(set(data[pool])) < len(data[pool]):
            report.add("pools.json", pool, "an entry stands twice; keep one of them")
    for pool, least in LEAST.items():
        report.counts[f"entries of pools.json /{pool}, at least {least}"] = len(data[pool])
        if len(data[pool]) < least:
            report.add("pools.json", pool, f"{len(data[pool])} entries, {least} are wanted at least; write more")
    return Pools(known, {pool: set(data[pool]) for pool in NAMES}, *(
        [_pattern(form) for form in data[pool]] for pool in ("message_forms", "claim_ids")))


def read_page(report, file, name):
    """A record as Page, its facts typed; what cannot be read is reported. None where it is no record at all."""
    text, told = read_text(report, file) or "", {}
    found = RECORD.fullmatch(text)
    if not found or found[1] != name:
        report.add(file, "", f"a line PEND RECORD {name}: and the sections {', '.join(SECTIONS)}, each underlined, are "
                             f"wanted")
        return None
    sections = {title: [line for line in body.split("\n") if line] for title, body in zip(SECTIONS, found.groups()[2:])}
    for line in sections[FACTS]:
        label, _, value = line.partition(": ")
        field = LABELS.get(label)
        if label not in LABELS or label in told:
            report.add(file, label, f"one each of {', '.join(LABELS)}, and nothing else, is wanted")
        if value not in PRINTED.get(field, (value,)):
            report.add(file, label, f"{shown(value)}: {nearest(value, PRINTED[field])}")
        told[label] = PRINTED[field].get(value) if field in PRINTED else value
    for label in LABELS.keys() - told.keys():
        report.add(file, "", f"no line {label}: in {FACTS}; write it")
    facts = {LABELS[label]: value for label, value in told.items() if LABELS.get(label)}
    return Page(text, found[2], facts, sections)


def place(page, citation):
    """Where a citation stands, as cases.json calls it, and how often: (message, note, trail or None, times)."""
    found = {where: sum(fold(line).count(fold(citation)) for line in page.sections[title])
             for where, title in WHERE.items() if where != "register"}
    return next((where for where, times in found.items() if times), None), sum(found.values())


def account(report, file, page, pools, fact):
    """Every sentence of a record by what it is, {text: (pool, entry)}; one that is nothing is reported."""
    said, lines = {}, page.sections
    forms = [found[1] for form in pools.forms if (found := form.fullmatch(lines[MESSAGE][0]))]
    _is(report, file, pools, said, (forms or lines[MESSAGE])[0], ("messages", "causes"), "message")
    for line in lines[MESSAGE][1:]:
        _is(report, file, pools, said, line, ("baits",), "message")
    for sentence in [part for line in lines[NOTES] for part in re.split(r"(?<=[.?!]) ", line)]:
        _is(report, file, pools, said, sentence, ("notes", "turns", "decoys", "causes", "baits"), "note")
    for line in lines[TRAIL]:
        _is(report, file, pools, said, line.partition("  ")[2], (*TRAIL_FILLERS, "causes", "baits"), "trail")
    for line in lines[REGISTER]:
        _is(report, file, pools, said, line, ("register", "baits"), "register")
    _check_names(report, file, page, pools)
    _check_planted(report, file, said, fact)
    return said


def register_lines(fact):
    """The register of a facts row, one word a line."""
    found = fact["register_evidence"]
    return found if type(found) is list else [found]


def tags(said):
    """What the sentences of a record that establish a cause or hold a register were written for, {tag}."""
    return {entry["for"] for pool, entry in said.values() if pool in ("causes", "register") and "for" in entry}


def _pattern(form):
    form = re.escape(form)
    for sign, pattern in SIGNS.items():
        form = form.replace(sign, pattern)
    return re.compile(form)


def _check_names(report, file, page, pools):
    """The title, the claim id and the queue of a record are of the pools."""
    line = next((line for line in page.sections[FACTS] if line.startswith("Queue: ")), "")
    queue, _, plan = line.partition(": ")[2].partition(" at ")
    for pool, text in (("titles", page.title), ("queues", queue), ("plans", plan)):
        if text not in pools.names[pool]:
            report.add(file, "", f"{shown(text)} is none of pools.json /{pool}; {nearest(text, pools.names[pool])}")
    claim = page.facts.get("claim_id") or ""
    if not any(form.fullmatch(claim) for form in pools.claim_ids):
        report.add(file, "", f"{shown(claim)} is no claim id in a form of pools.json /claim_ids")


def _know(report, known, pool, text, entry):
    if text in known:
        report.add("pools.json", pool, f"{shown(text)} stands in {known[text][0]} as well; keep one")
    known[text] = pool, entry


def _is(report, file, pools, said, text, allowed, where):
    pool, entry = pools.known.get(text, (None, {}))
    if pool not in allowed or entry.get("where", where) != where:
        report.add(file, "", f"{shown(text)} is none of {', '.join(allowed)} for the {where} in pools.json; nobody "
                             f"knows what it establishes")
    elif text in said:
        report.add(file, "", f"{shown(text)} stands twice; keep one")
    else:
        said[text] = pool, entry


def _check_planted(report, file, said, fact):
    """Exactly one sentence establishes the cause; what else speaks of one is what facts.jsonl says was planted."""
    planted = fact.get("planted", {})
    causes = [entry for pool, entry in said.values() if pool == "causes"]
    own = [entry for entry in causes if fold(entry["text"]) in fold(fact["citation"])]
    if [entry["cause"] for entry in own] != [fact["cause_class"]]:
        report.add(file, "", f"the citation establishes {shown([entry['cause'] for entry in own])}, the facts say "
                             f"{fact['cause_class']}; cite the sentence of the cause")
    register = [entry for pool, entry in said.values() if pool == "register"]
    found = {"message": {entry["cause"] for entry in causes if entry not in own},
             "about": {entry["cause"] for entry in register if entry["cause"] not in (None, fact["cause_class"])},
             "decoy": {entry["cause"] for pool, entry in said.values() if pool == "decoys"},
             "bait": {entry["kind"] for pool, entry in said.values() if pool == "baits"}}
    for what, kinds in found.items():
        if kinds != ({planted[what]} if what in planted else set()):
            report.add(file, "", f"{what} {shown(sorted(kinds))}: facts.jsonl plants {shown(planted.get(what))}; make "
                                 f"them agree")
    lines = [entry["evidence"] for entry in register]
    if lines != register_lines(fact):
        report.add(file, "", f"the register holds {shown(lines)}, facts.jsonl says {shown(register_lines(fact))}; make "
                             f"them agree")
