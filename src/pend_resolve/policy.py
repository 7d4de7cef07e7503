"""PR-2026 as data: load it with its fields, read the facts of a claim, propose a resolution, decide a whole row.

The resolution comes from what the register holds and, where it holds nothing, from the cause class; the clock comes
from two dates and three facts; who applies it comes from nowhere but `release`. None of the three reads another.
"""
import functools
import re
from collections import namedtuple
from pathlib import Path

from src.pend_resolve import clock, prompt, release
from src.shared import fields as field_list
from src.shared import shapes
from src.shared import values as v
from src.shared import walk
from src.shared.files import BadData, Problems, tell

LEFT = "remaining"
CAUSE, REGISTER, NOTHING = "cause_class", "register_evidence", "none"
SHORT = "evidence"          # what claims.json calls the register
BESIDE = (SHORT, LEFT, "id", "claim_id", "title")      # what a claim's row may hold and no rule reads from it
YES_NO = {True: "yes", False: "no"}
TABLES = ("resolution", "deadlines", "clock")
# What policy.json holds, and what of it may be left out.
POLICY = {**dict.fromkeys(("policy_id", "title", "authority"), shapes.TEXT), "as_of": shapes.DATE,
          **dict.fromkeys(("causes", "evidence", "lines_of_business"), shapes.some(shapes.TEXTS_BY_NAME)),
          "orderings": shapes.some(shapes.list_of(shapes.record(dict.fromkeys(("first", "then", "why"), shapes.TEXT)))),
          **dict.fromkeys(TABLES, shapes.OBJECT), "release_gate": release.GATE}
SOME = ("policy_id", "title", "authority")
# The fields that the code asks for by their names, with their types: those of a claim and those of a reply.
FACTS = {**dict.fromkeys(("line_of_business", "clean", "contracted", CAUSE), "enum"), REGISTER: "list", LEFT: "number",
         **dict.fromkeys((clock.FROM, clock.NEVER, clock.TO), "date")}
ANSWERS = {**dict.fromkeys((CAUSE, "resolution", "clock", "release"), "enum"), "citation": "text",
           field_list.CONFIDENCE: "number", "why": None}
BAITS = shapes.list_of(shapes.Kind(lambda value: shapes.OBJECT.holds(value) and shapes.SAID.holds(value.get("text")),
                                   "an object with a text"))
DAYS = re.compile(r"([1-9][0-9]*) days")
FREQUENCY, AGAIN = "frequency_code", ("6", "7", "8")     # of a claim that corrects, replaces or voids an earlier one
# What comes with claims in the field and is no fact of this policy: said, and never taken for one.
FOREIGN = {
    **dict.fromkeys(("carc", "rarc", "group", "codes"), "a code that a message or a remittance printed; it is no cause "
                    "class, which somebody has to read off the record, and says nothing of what the register holds"),
    FREQUENCY: "the claim corrects, replaces or voids an earlier one; give the receipt date that the register counts "
               "from as received_on",
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
        return shapes.read_rows(self.data / "claims.json", {})

    @functools.cached_property
    def claims_of_release(self):
        """The planted lines that claim an open category, which no record can open; none in a folder without pools."""
        path, problems = self.data / "pools.json", []
        pools = shapes.read(path, {"baits": BAITS}, problems, ("baits",), beside=True) if path.exists() else {}
        tell(problems)
        return [entry["text"] for entry in pools.get("baits", ())]


def load(data):
    """A data folder's Book. BadData lists what is wrong in policy.json, facts.json, fields.json and prompt.md."""
    data, wrong = Path(data), Problems()
    path = data / "policy.json"
    policy = shapes.read(path, POLICY, wrong.found, SOME)
    outlines = {part: walk.outline(f"{path}: /{part}", policy[part], wrong.found, ("authority",)) for part in TABLES}
    facts = field_list.load(data / "facts.json", policy, wrong.found, FACTS)
    reply = field_list.load(data / "fields.json", {
        "causes": policy["causes"], "resolutions": outlines["resolution"]["decisions"],
        "states": outlines["clock"]["decisions"], "releases": release.ANSWERS}, wrong.found, ANSWERS)
    tables = [walk.load(f"{path}: /{part}", outline, facts, wrong.found, (LEFT,) if part == "clock" else None)
              for part, outline in outlines.items()]
    if None not in (policy["orderings"], *tables):
        wrong.found += [*_orderings(policy["orderings"], tables[0], path), *_clock_problems(*tables[1:], path)]
    book = Book(data, policy, reply, facts, *tables, None, {}, None)
    book = book._replace(template=wrong.of(prompt.load, book))
    wrong.refuse()
    release.check(policy, path)
    return book._replace(days={rule["id"]: int(DAYS.fullmatch(rule["decision"])[1]) for rule in book.deadlines.rules})


def read(book, inputs):
    """The facts of one claim → (values, findings). Two register lines are two words; true and false are yes and no.

    The register goes by either of its two names. Where both hold something and differ, neither is believed.
    """
    raw = dict(inputs)
    for name in ("clean", "contracted"):
        if isinstance(raw.get(name), bool):
            raw[name] = YES_NO[raw[name]]
    if _is_blank(raw.get(REGISTER)):
        raw[REGISTER] = raw.get(SHORT)
    line = raw.get("line_of_business")
    for code, printed in book.policy["lines_of_business"].items():
        if isinstance(line, str) and v.fold_name(line) == v.fold_name(printed):
            raw["line_of_business"] = code
    raw[REGISTER] = _lines(raw[REGISTER])
    raw.pop("remaining", None)
    values, findings = book.facts.read(raw)
    if not (_is_blank(inputs.get(REGISTER)) or _is_blank(inputs.get(SHORT)) or _agree(book, inputs)):
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
    said = _said(book, values, findings, walked, counted)
    said |= _beside(book, inputs, any(flag.endswith("_not_stated") for flag in said))
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


def _beside(book, inputs, is_short):
    """{flag: sentence} of what was given beside the facts: another system's word, or the misspelt name of a fact.

    In a row that is_short of a fact that was needed, whatever was not read may have been meant for it.
    """
    foreign = _foreign(inputs)
    said = {f"{known}_not_read": f"{key}: {FOREIGN[known]}" for key, known in foreign.items()}
    unread = (field_list.unread if is_short else field_list.misspelt)(inputs, _wanted(book), {*foreign, *BESIDE})
    return said | ({"unknown_key": "; ".join(unread)} if unread else {})


def _foreign(inputs):
    """{key as given: the name in FOREIGN} of what another system says, where it says anything at all."""
    known = {v.fold_word(name): name for name in FOREIGN}
    found = {key: known.get(v.fold_word(key)) for key, value in inputs.items() if not _is_blank(value)}
    return {key: name for key, name in found.items()
            if name and (name != FREQUENCY or str(inputs[key]).strip().lstrip("0") in AGAIN)}


def _is_blank(raw):
    """Whether a cell is empty, which is not stated."""
    return raw is None or isinstance(raw, str) and not raw.strip()


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
        foreign, why = _foreign(inputs), {}
        for key, known in foreign.items():
            why.setdefault(FOREIGN[known], []).append(key)
        hints = [f"{', '.join(keys)}: {sentence}" for sentence, keys in why.items()]
        hints += field_list.unread(inputs, wanted, {*foreign, *BESIDE})
        raise BadData("none of the facts that the policy reads is given; got "
                      f"{', '.join(map(str, inputs)) or 'nothing'}; wanted: {', '.join(wanted)}"
                      + (f". {'; '.join(hints)}" if hints else ""))


def _wanted(book):
    return [field.name for field in book.facts.all if field.name != "remaining"]


def _orderings(pairs, table, path):
    """The orderings that the policy asserts of its own rules, each broken one as a sentence."""
    place, seen = {v.cut(rule["id"]): number for number, rule in enumerate(table.rules)}, set()
    for i, pair in enumerate(pairs):
        first, then = (v.cut(pair[part]) for part in ("first", "then"))
        if (first, then) in seen:
            yield f"{path}: /orderings/{i}: {first} before {then} stands twice; keep one"
        seen.add((first, then))
        if first not in place or then not in place:
            yield f"{path}: /orderings/{i}: {first} and {then} are not both rules; rules: {', '.join(place)}"
        elif place[first] > place[then]:
            yield f"{path}: /orderings/{i}: {first} has to stand before {then}: {pair['why']}"


def _clock_problems(deadlines, states, path):
    for rule in deadlines.rules:
        if not DAYS.fullmatch(rule["decision"]):
            yield f"{path}: /deadlines: {rule['id']}: {rule['decision']!r} is no deadline; write it like 30 days"
    for part in ("passed", "missing"):
        if deadlines.document[part]["decision"] is not None:
            yield (f"{path}: /deadlines/{part}: decision {deadlines.document[part]['decision']}: no rule gives these days; "
                   f"write null")
    for table in (deadlines, states):
        if clock.NEVER in table.reads:
            yield f"{path}: {table.document['title']}: a rule reads {clock.NEVER}; days run from {clock.FROM} alone"
    for rule in states.rules:
        if (rule["when"].get("field") != LEFT or rule["when"].get("test") not in ("<", "<=")
                or isinstance(rule["when"]["value"], str)):
            yield f"{path}: /clock: {rule['id']}: a state is given by remaining < or <= a number of days"
