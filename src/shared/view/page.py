"""One document: the page, its fields beside gold and the chosen runs, the walk, and what the recheck replaced.

A run is shown as a replay of its record. Rules are walked anew with the ones in hand; where these no longer give what
the key or the record says, a note says so.
"""
from collections import namedtuple

from src.shared.fields import near
from src.shared.files import BadData
from src.shared.values import Finding
from src.shared.view import listing, panels, runs, shelf

GOLD, RECHECKED = "gold", ", rechecked"

# One answer beside gold: what its run says of itself, raw and rechecked Answers or None, why there is none, and its
# marks {column: {mark: hit}}, None for an answer of just now, which nobody has scored
Side = namedtuple("Side", "about raw rechecked why marks")


def document(opened, name, asked, live=None):
    """The view of one document: {id, case, sentence, hard, runs, live, panels, place and neighbours in the list}.

    `live` (about, Followed) is an answer of just now, shown in place of the chosen runs.
    """
    kit, place, text = opened.kit, _place(opened, name), page_of(opened, name)
    gold = kit.definition.normalise(kit.book, shelf.gold_row(opened, name))._replace(document=name)
    sides = [_live(*live)] if live else [_replay(kit, run, name) for run in asked.runs]
    answers, notes = {GOLD: _walked(kit, gold)}, _drift(kit, gold, gold, "The key")
    for side in sides:
        answers[side.about["name"]] = side.raw
        answers[side.about["name"] + RECHECKED] = side.raw and _walked(kit, side.raw, side.rechecked)
        notes += _notes(kit, side)
    if not live:
        notes += [note for run in asked.runs for note in _named(run, name)]
    shown = kit.definition.panels(kit.book, name, text, answers) if kit.definition.panels else []
    for found in shown:
        if found["kind"] == "fields":
            _mark(found, gold, sides)
    pages = [found for found in shown if found["kind"] == "document"] or [panels.document(text, {})]
    others = [found for found in shown if found["kind"] != "document"]
    return {"id": name, "case": place.case, "sentence": listing.sentence(opened, place),
            "hard": listing.is_hard(opened, place), "runs": [side.about for side in sides], "live": bool(live),
            "panels": [*pages, *notes, *others, *(_replaced(side) for side in sides if side.raw)],
            **listing.neighbours(opened, asked, name)}


def prompt(opened, name):
    """The parts of the call for one document as they would be sent, the fixed prefix told apart from the rest."""
    page_of(opened, name)
    parts = opened.kit.prompt(name)
    sizes = [len(part.text) for part in parts]
    fixed = sum(size for size, part in zip(sizes, parts) if part.fixed)
    rows = [[part.name, part.role, f"{size:,}", "the same on every call" if part.fixed else "this document"]
            for size, part in zip(sizes, parts)]
    title = f"The prompt as sent: {fixed:,} of {sum(sizes):,} characters are the same on every call"
    return {"id": name, "panels": [
        panels.table(["part", "role", "characters", "content"], rows, title),
        *(panels.note(None, f"{part.name} ({part.role})", lines=part.text.split("\n")) for part in parts)]}


def page_of(opened, name):
    """The text of one document. NotFound for an id that the key has not, and for one whose page is not there."""
    _place(opened, name)
    try:
        return opened.kit.text(name)
    except BadData as e:
        raise shelf.NotFound(*e.problems) from None


def _place(opened, name):
    if name not in opened.documents:
        raise shelf.NotFound(f"no document is called {name[:80]}{near(name[:80], opened.documents)}")
    return opened.documents[name]


def _replay(kit, run, name):
    """A run's answer on one document, read back from its record."""
    entry = runs.entry(run, name)
    if entry is None:
        return Side(run.about | {"outcome": "not in this run", "repairs": []}, None, None,
                    "the run did not ask for this document", dict.fromkeys(runs.COLUMNS, {}))
    raw, rechecked = (_answer(kit, name, entry[column]) for column in runs.COLUMNS)
    about = run.about | {"outcome": entry["outcome"], "repairs": entry["repairs"]}
    return Side(about, raw, rechecked, entry["why"], entry["marks"])


def _live(about, followed):
    raw = followed.raw and followed.raw._replace(document=followed.document)
    about = about | {"outcome": followed.outcome, "repairs": followed.repairs}
    return Side(about, raw, followed.rechecked, followed.why, None)


def _answer(kit, name, stored):
    """An answer of a record → Answer: read as a reply is, and what the kit's reader does not know kept as it stands."""
    if stored is None:
        return None
    values, problems = stored["values"], stored.get("problems", {})
    reply = {field: value for field, value in values.items() if field not in problems}
    reply |= {field: problem["raw"] for field, problem in problems.items() if problem["raw"] is not None}
    read = kit.definition.normalise(kit.book, reply)
    kept = {field: value if read.values.get(field) is None else read.values[field] for field, value in values.items()}
    findings = {field: read.problems.get(field) or Finding(**problem) for field, problem in problems.items()}
    return read._replace(values=kept, problems=findings, document=name)


def _walked(kit, raw, shown=None):
    """An answer with the trace of the rules over its own copied values; the values shown stay those of `shown`."""
    return (shown or raw)._replace(trace=kit.definition.recheck(kit.book, raw.document, raw).trace)


def _drift(kit, raw, stated, whose):
    """[a note] where the rules in hand decide another thing than was decided when the key or the record was made."""
    now, then = _words(kit.definition.recheck(kit.book, raw.document, raw)), _words(stated)
    told = "; ".join(f"{field} {then.get(field)}, now {now[field]}" for field in now if now[field] != then.get(field))
    text = f"{whose} no longer follows from the rules in hand: {told}."
    return [panels.note(text, "Other rules", "warn")] if told else []


def _named(run, name):
    """[a note] naming the expensive errors that a run committed on this document, the most expensive first, and why."""
    row = run.rows.get(name)
    told = []
    for error in run.record["errors"] if row else ():
        where = [column for column in runs.COLUMNS if error["id"] in row.errors[column]]
        if where:
            told.append(f"{error['title']} ({' and '.join(where)}): {error['why']}")
    return [panels.note("; ".join(told) + ".", f"{run.about['name']} went wrong here by name", "warn")] if told else []


def _notes(kit, side):
    """What a reader has to know of an answer before its values: why there is none, or what it took to read it."""
    name, repairs = side.about["name"], side.about["repairs"]
    if side.raw is None:
        why = (side.why or "").strip().split("\n")[-1]      # of a fault in the kit's own code the last line of many
        return [panels.note(f"No answer ({side.about['outcome'].replace('_', ' ')}): {why}", name, "warn")]
    notes = _drift(kit, side.raw, side.rechecked, f"The recheck of {name}")
    return notes + [panels.note(f"To be read, the reply needed: {'; '.join(repairs)}.", name)] * bool(repairs)


def _mark(panel, gold, sides):
    """Write hit or miss into the cells: from the record where there is one, else by comparison with gold."""
    columns = [(column, side) for side in sides for column in runs.COLUMNS]
    for row in panel["rows"]:
        for cell, (column, side) in zip(row["cells"][1:], columns):
            if side.marks is not None:
                cell["hit"] = side.marks[column].get(row["mark"])
            else:
                answer = getattr(side, column)
                cell["hit"] = bool(answer) and answer.values.get(row["field"]) == gold.values.get(row["field"])
        for raw, rechecked in zip(row["cells"][1::2], row["cells"][2::2]):
            rechecked["same"] = (rechecked["text"], rechecked["kind"]) == (raw["text"], raw["kind"])


def _replaced(side):
    """What the recheck discarded and what it put there."""
    before, after, title = _words(side.raw), _words(side.rechecked), f"Recheck of {side.about['name']}"
    rows = [[field, panels.cell(side.raw, field), panels.cell(side.rechecked, field)] for field in after
            if after[field] != before.get(field)]
    if not rows:
        return panels.note("What the reply decided follows from the values it copied; nothing was replaced.", title)
    return panels.table(["field", "discarded", "put there"], rows, title)


def _words(answer):
    """{field: its value in words}: the form in which values of a record and values of just now are compared."""
    return {field: panels.words_of(value) for field, value in answer.values.items()}
