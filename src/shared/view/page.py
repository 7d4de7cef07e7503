"""One document: the page, its fields beside gold and the chosen runs, the walk, and what the recheck replaced.

A run is shown as a replay of its record. The walk is walked again with the rules in hand; where they no longer give
what the key or the record says, a note says so.
"""
from src.shared import follow
from src.shared.view import listing, panels, runs, shelf
from src.shared.values import plain

GOLD, RECHECKED = "gold", ", rechecked"
NO_REPLY = "no answer: {outcome}. {why}"


def document(opened, name, asked, live=None):
    """The view of one document. `live` (about, Followed) is shown in place of the chosen runs: an answer of just now."""
    kit = opened.kit
    _known(opened, name)
    text, place = kit.text(name), opened.documents[name]
    gold = kit.definition.normalise(kit.book, shelf.gold_row(opened, name))
    sides = [_live(*live)] if live else [_replay(kit, run, name) for run in asked.runs]
    answers, notes = {GOLD: _walked(kit, name, gold)}, _drift(kit, name, gold, gold, "The key")
    for side in sides:
        raw, rechecked = side["raw"], side["rechecked"]
        answers[side["name"]] = raw
        answers[side["name"] + RECHECKED] = rechecked and _walked(kit, name, raw, rechecked)
        notes += _side_notes(kit, name, side)
    shown = kit.definition.panels(kit.book, name, text, answers) if kit.definition.panels else []
    for panel in shown:
        if panel["kind"] == "fields":
            _mark(panel, gold, sides, answers)
    pages = [panel for panel in shown if panel["kind"] == "document"] or [panels.document(text, {})]
    others = [panel for panel in shown if panel["kind"] != "document"]
    return {"id": name, "case": place.case, "sentence": opened.cases.get(place.case, {}).get("sentence"),
            "hard": listing.is_hard(opened, place), "runs": [side["about"] for side in sides], "live": bool(live),
            "panels": [*pages, *notes, *others, *filter(None, map(_replaced, sides))],
            **listing.neighbours(opened, asked, name)}


def prompt(opened, name):
    """The parts of the call for one document as they would be sent, the fixed prefix told apart from the rest."""
    _known(opened, name)
    parts = opened.kit.prompt(name)
    whole, fixed = sum(len(part.text) for part in parts), sum(len(part.text) for part in parts if part.fixed)
    rows = [[part.name, part.role, {"text": f"{len(part.text):,}"},
             "the same on every call" if part.fixed else "this document"] for part in parts]
    return {"id": name, "panels": [
        panels.table(["part", "role", "characters", "content"], rows,
                     f"The prompt as sent: {fixed:,} of {whole:,} characters are the same on every call"),
        *(panels.note(None, f"{part.name} ({part.role})", lines=part.text.split("\n")) for part in parts)]}


def _known(opened, name):
    if name not in opened.documents:
        from src.shared.fields import near      # here, since only a wrong address needs it
        raise shelf.NotFound(f"no document is called {name}{near(name, opened.documents)}")


def _replay(kit, run, name):
    """A run's answer on one document, read back from its record."""
    entry, about = runs.entry(run, name), run.about
    if entry is None:
        return {"about": about | {"outcome": "not in this run"}, "name": about["name"], "raw": None, "rechecked": None,
                "why": "the run did not ask for this document", "marks": dict.fromkeys(runs.COLUMNS, {})}
    return {"about": about | {"outcome": entry["outcome"], "repairs": entry["repairs"]}, "name": about["name"],
            "raw": _answer(kit, entry["raw"]), "rechecked": _answer(kit, entry["rechecked"]), "why": entry["why"],
            "marks": entry["marks"]}


def _live(about, followed):
    return {"about": about | {"outcome": followed.outcome, "repairs": followed.repairs}, "name": about["name"],
            "raw": followed.raw, "rechecked": followed.rechecked, "why": followed.why, "marks": None}


def _answer(kit, stored):
    """An answer of a record → typed Answer: values that could not be read are given to the reader again as they came."""
    if stored is None:
        return None
    problems = stored.get("problems", {})
    reply = {name: value for name, value in stored["values"].items() if name not in problems}
    reply |= {name: problem["raw"] for name, problem in problems.items() if problem["raw"] is not None}
    return kit.definition.normalise(kit.book, reply)


def _walked(kit, name, raw, shown=None):
    """An answer with the trace of the rules over its own copied values; the values shown stay those of `shown`."""
    trace = kit.definition.recheck(kit.book, name, raw).trace
    return (shown or raw)._replace(trace=trace)


def _drift(kit, name, raw, stated, whose):
    """A note where the rules in hand decide another thing than was decided when the key or the record was made."""
    now = kit.definition.recheck(kit.book, name, raw).values
    apart = [field for field in now if now[field] != stated.values.get(field)]
    told = "; ".join(f"{field} {panels.words_of(stated.values.get(field))}, now {panels.words_of(now[field])}"
                     for field in apart)
    return [panels.note(f"{whose} no longer follows from the rules in hand: {told}.", "Other rules", "warn")] if apart else []


def _side_notes(kit, name, side):
    if side["raw"] is None:
        outcome = side["about"]["outcome"].replace("_", " ")
        return [panels.note(NO_REPLY.format(outcome=outcome, why=side["why"] or ""), side["name"], "warn")]
    notes = _drift(kit, name, side["raw"], side["rechecked"], f"The recheck of {side['name']}")
    if side["about"]["repairs"]:
        notes.append(panels.note(f"To be read, the reply needed: {'; '.join(side['about']['repairs'])}.", side["name"]))
    return notes


def _mark(panel, gold, sides, answers):
    """Write hit or miss into the cells: from the record where there is one, by comparison for an answer of just now."""
    marks = [None] + [side["marks"] and side["marks"][column] for side in sides for column in runs.COLUMNS]
    for row in panel["rows"]:
        for cell, found, answer in list(zip(row["cells"], marks, answers.values()))[1:]:
            if found is not None:
                cell["hit"] = found.get(row["mark"])
            else:
                cell["hit"] = bool(answer) and answer.values.get(row["field"]) == gold.values.get(row["field"])
        for raw, rechecked in zip(row["cells"][1::2], row["cells"][2::2]):
            rechecked["same"] = (rechecked["text"], rechecked["kind"]) == (raw["text"], raw["kind"])


def _replaced(side):
    """What the recheck discarded and what it put there, as a table; None where it changed nothing."""
    raw, rechecked = side["raw"], side["rechecked"]
    if raw is None:
        return None
    rows = [[field, panels.cell(raw, field), panels.cell(rechecked, field)] for field in rechecked.values
            if rechecked.values[field] != raw.values.get(field)]
    if not rows:
        return panels.note("The recheck found the stated decision to follow from the stated values and changed nothing.",
                           f"Recheck of {side['name']}")
    return panels.table(["field", "discarded", "put there"], rows, f"Recheck of {side['name']}")
