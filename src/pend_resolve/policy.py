"""PR-2026 as data: load it with its fields, read the facts of a claim, propose a resolution, decide a whole row.

The resolution comes from what the register holds and, where it holds nothing, from the cause class; the clock comes
from two dates and three facts; who applies it comes from nowhere but `release`. None of the three reads another.
"""
import functools
import re
from collections import namedtuple
from pathlib import Path

from src.pend_resolve import clock, release
from src.shared import fields as field_list
from src.shared import values as v
from src.shared import walk
from src.shared.files import BadData, read_json
from src.shared.kit import MARKER

CAUSE, REGISTER, NOTHING = "cause_class", "register_evidence", "none"
SHORT = "evidence"          # what claims.json calls the register
YES_NO = {True: "yes", False: "no"}
DAYS = re.compile(r"([1-9][0-9]*) days")
# What comes with claims in the field and is no fact of this policy: said, and never taken for one.
FOREIGN = {
    **dict.fromkeys(("carc", "rarc", "group", "codes"), "a code that a message or a remittance printed; it is no cause "
                    "class, which somebody has to read off the record, and says nothing of what the register holds"),
    "frequency_code": "a replacement; give the receipt date that the register counts from as received_on",
    **dict.fromkeys(("original_received", "replacement_received"), "one of two receipt dates; the register has to say "
                    "which the clock uses, give that one as received_on"),
}


# data folder, policy.json, Fields of a reply, Fields of a claim, the three Tables, {deadline rule: days}, settings of
# the scorer, the prompt's Template
class Book(namedtuple("Book", "data policy reply facts table deadlines states days settings template")):
    """Everything read once from a data folder, and the claims, which are read when the first is asked for."""

    @functools.cached_property
    def claims(self):
        """{document: its row of claims.json}, the facts that the recheck reads in place of the page."""
        path = self.data / "claims.json"
        rows = read_json(path)
        if not isinstance(rows, list) or not all(isinstance(row, dict) and "id" in row for row in rows):
            raise BadData(f"{path}: a list of claims is wanted, each with the id of its document")
        return {row["id"]: row for row in rows}

    @functools.cached_property
    def claims_of_release(self):
        """The planted lines that claim an open category, which no record can open; none in a folder without pools."""
        path = self.data / "pools.json"
        pool = read_json(path).get("baits", []) if path.exists() else []
        return [entry["text"] for entry in pool]


def load(data):
    """A data folder's Book without its prompt. BadData lists what is wrong in policy.json, facts.json, fields.json."""
    path = Path(data) / "policy.json"
    policy = read_json(path)
    tables = {part: walk.read_document(path, part) for part in ("resolution", "deadlines", "clock")}
    words = {name: tuple(policy.get(name) or ()) for name in ("causes", "evidence", "lines_of_business")}
    facts = field_list.load(Path(data) / "facts.json", words)
    reply = field_list.load(Path(data) / "fields.json", {
        "causes": words["causes"], "resolutions": tuple(tables["resolution"]["decisions"]),
        "states": tuple(tables["clock"]["decisions"]), "releases": release.ANSWERS})
    resolution, deadlines, states = (walk.load(f"{path}: /{part}", table, facts) for part, table in tables.items())
    release.check(policy, path)
    problems = [*_orderings(policy, resolution, path), *_clock_problems(deadlines, states, path)]
    if problems:
        raise BadData(*problems)
    days = {rule["id"]: int(DAYS.fullmatch(rule["decision"])[1]) for rule in deadlines.rules}
    settings = read_json(Path(data) / MARKER).get("settings", {})
    return Book(Path(data), policy, reply, facts, resolution, deadlines, states, days, settings, None)


def read(book, inputs):
    """The facts of one claim → (values, findings). Two register lines are two words; true and false are yes and no.

    The register goes by either of its two names. Where both are given and differ, neither is believed.
    """
    raw = dict(inputs)
    for name in ("clean", "contracted"):
        if isinstance(raw.get(name), bool):
            raw[name] = YES_NO[raw[name]]
    line = raw.get("line_of_business")
    for code, printed in book.policy["lines_of_business"].items():
        if isinstance(line, str) and v.fold_name(line) == v.fold_name(printed):
            raw["line_of_business"] = code
    raw[REGISTER] = _lines(raw.get(REGISTER, raw.get(SHORT)))
    raw.pop("remaining", None)
    values, findings = book.facts.read(raw)
    if REGISTER in inputs and SHORT in inputs and not _agree(book, inputs):
        values[REGISTER] = None
        findings[REGISTER] = v.Unreadable(inputs[REGISTER], f"stands beside {SHORT} {v.shown(inputs[SHORT])}; which of "
                                                            "the two the register holds has to be said")
    return values, findings


def of_claim(book, document):
    """(values, findings) of a document's claim. BadData where claims.json has no row for it."""
    if document not in book.claims:
        raise BadData(f"{book.data / 'claims.json'}: no claim {document}; add its row, with what the register holds")
    return read(book, book.claims[document])


def decide(book, inputs):
    """The rules alone over one row: resolution and rule, the clock with its sum, release, trace, flags, notes.

    What cannot be decided is None with a flag that says why, and takes nothing else with it. BadData where no fact of
    the policy is given at all.
    """
    _refuse_foreign(book, inputs)
    values, findings = read(book, inputs)
    walked, counted = book.table.decide(values, findings), clock.read(book, values)
    decided = {"resolution": walked.decision, "rule": None if walked.decision is None else walked.rule,
               "clock": counted.state, "clock_rule": counted.rule, "deadline_days": counted.deadline_days,
               "elapsed": counted.elapsed, "remaining": counted.remaining,
               "release": release.who_applies(values[CAUSE])}
    release.hold(decided)
    said = _said(book, values, findings, walked, counted) | _beside(book, inputs)
    sums = [f"{says}: {left} {sign} {right} gives {result}" for says, left, sign, right, result in
            clock.explain(book, values, counted)]
    return {**decided, "trace": walked.trace + counted.trace, "flags": list(said), "notes": [*said.values(), *sums]}


def _said(book, values, findings, walked, counted):
    """{flag: sentence}: contradictions on the row, then what could not be decided, then the values at fault."""
    raised = book.table.raised(values, findings) + book.deadlines.raised(values, findings)
    said = {flag["id"]: flag["why"] for flag in raised}
    if counted.trace[-1]["result"] != "matched":
        said["no_clock_rule"] = "No deadline rule takes this claim, so no state is given and none is assumed."
    if walked.decision is None:
        said["no_resolution"] = "No resolution rule can be reached without the value at fault; nothing is proposed."
    said |= {f"{name}_not_read": f"{name}: {finding}" for name, finding in findings.items()}
    absent = clock.missing(values, counted) + [name for name in (REGISTER, CAUSE) if walked.decision is None
                                               and values[name] is None]
    return said | {f"{name}_not_stated": f"{name}: is not stated" for name in absent if name not in findings}


def _beside(book, inputs):
    """{flag: sentence} of what was given beside the facts: another system's word, or the misspelt name of a fact."""
    said = {f"{key}_not_read": f"{key}: {why}" for key, why in FOREIGN.items() if key in inputs}
    misspelt = field_list.misspelt(inputs, _wanted(book), {*FOREIGN, SHORT})
    return said | ({"unknown_key": "; ".join(misspelt)} if misspelt else {})


def _lines(raw):
    """What the register lines say: a line on which nothing is located says nothing beside one with something."""
    words = raw.split(",") if isinstance(raw, str) else raw
    if not isinstance(words, list) or len(words) < 2 or not all(isinstance(word, str) for word in words):
        return raw
    return [word for word in words if v.fold_word(word) != NOTHING] or NOTHING


def _agree(book, inputs):
    """Whether the register says the same under both of its names, in whatever order and spelling."""
    try:
        one, other = (book.facts.by_name[REGISTER].read(_lines(inputs[name])) for name in (REGISTER, SHORT))
    except v.Finding:
        return inputs[REGISTER] == inputs[SHORT]
    return set(one or ()) == set(other or ())


def _refuse_foreign(book, inputs):
    wanted = _wanted(book)
    if {*wanted, SHORT}.isdisjoint(inputs):
        why = {}
        for key in filter(FOREIGN.get, inputs):
            why.setdefault(FOREIGN[key], []).append(key)
        hints = [f"{', '.join(keys)}: {sentence}" for sentence, keys in why.items()]
        hints += field_list.misspelt(inputs, wanted, FOREIGN)
        raise BadData("none of the facts that the policy reads is given; got "
                      f"{', '.join(map(str, inputs)) or 'nothing'}; wanted: {', '.join(wanted)}"
                      + (f". {'; '.join(hints)}" if hints else ""))


def _wanted(book):
    return [field.name for field in book.facts.all if field.name != "remaining"]


def _orderings(policy, table, path):
    """The orderings that the policy asserts of its own rules, each broken one as a sentence."""
    place = {rule["id"]: number for number, rule in enumerate(table.rules)}
    pairs = policy.get("orderings")
    if not isinstance(pairs, list) or not pairs or not all(isinstance(pair, dict) for pair in pairs):
        yield f"{path}: /orderings: {v.shown(pairs)}: a list of pairs is wanted, each with first, then and why"
        return
    seen = set()
    for i, pair in enumerate(pairs):
        first, then = (str(pair.get(part)) for part in ("first", "then"))
        if (first, then) in seen:
            yield f"{path}: /orderings/{i}: {first} before {then} stands twice; keep one"
        seen.add((first, then))
        if first not in place or then not in place:
            yield f"{path}: /orderings/{i}: {first} and {then} are not both rules; rules: {', '.join(place)}"
        elif place[first] > place[then]:
            yield f"{path}: /orderings/{i}: {first} has to stand before {then}: {pair.get('why')}"


def _clock_problems(deadlines, states, path):
    for rule in deadlines.rules:
        if not DAYS.fullmatch(rule["decision"]):
            yield f"{path}: /deadlines: {rule['id']}: {rule['decision']!r} is no deadline; write it like 30 days"
    for table in (deadlines, states):
        if clock.NEVER in table.reads:
            yield f"{path}: {table.document['title']}: a rule reads {clock.NEVER}; days run from {clock.FROM} alone"
    for rule in states.rules:
        if rule["when"].get("field") != "remaining" or rule["when"].get("test") not in ("<", "<="):
            yield f"{path}: /clock: {rule['id']}: a state is given by remaining < or <= a number of days"
