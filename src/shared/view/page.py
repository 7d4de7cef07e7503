"""One document: the page, its fields beside gold and the chosen runs, the walk, and what the recheck replaced.

A run is shown as a replay of its record. Rules are walked anew with the ones in hand; where these no longer give what
the key or the record says, a note says so.
"""
import re
from collections import namedtuple

from src.shared import blame
from src.shared.fields import near
from src.shared.files import BadData
from src.shared.values import Finding
from src.shared.view import figures, listing, panels, runs, shelf, turning, words

GOLD, RECHECKED, BY = "gold", ", rechecked", " by "
KEY = "The key (gold, the right answer)"

# One answer beside gold: what its run says of itself, raw and rechecked Answers or None, why there is none, its marks
# {column: {mark: hit}} and blame {column: {"kind", "rule", "field"} or None}, both None where nobody has scored it, its
# named errors [{"id", "title", "why"}] in order of expense, and which of them it made {column: [id]}
Side = namedtuple("Side", "about raw rechecked why marks blame named errors",
                  defaults=(None, (), dict.fromkeys(runs.COLUMNS, ())))


def document(opened, name, asked, live=None):
    """The view of one document: {id, case, sentence, hard, runs, live, turns_on, panels, place and neighbours}.

    `live` (about, Followed, what `evals.grade` gave or None, why it gave nothing) is an answer of just now, shown in
    place of the chosen runs. `turns_on` is the field whose
    line on the page decides, where a shown run is wrong and that line is marked; else None, and a note says why.
    """
    kit, place, text = opened.kit, _place(opened, name), page_of(opened, name)
    gold = kit.definition.normalise(kit.book, shelf.gold_row(opened, name))._replace(document=name)
    sides = [_live(*live)] if live else [_replay(opened, run, name) for run in asked.runs]
    answers, notes = {GOLD: _walked(kit, gold)}, _drift(kit, gold, gold, "The key")
    for side in sides:
        answers[side.about["name"]] = side.raw
        answers[side.about["name"] + RECHECKED] = side.raw and _walked(kit, side.raw, side.rechecked)
        notes += _notes(kit, side)
    notes += [note for side in sides for note in _named(opened, side, answers)]
    shown = kit.definition.panels(kit.book, name, text, answers) if kit.definition.panels else []
    for found in shown:
        if found["kind"] == "fields":
            _mark(found, gold, sides)
    pages = [found for found in shown if found["kind"] == "document"] or [panels.document(text, {})]
    others = [found for found in shown if found["kind"] != "document"]
    ladders = [found for found in others if found["kind"] == "ladder"]
    for found in ladders:
        _answered(found, gold, sides)
        _blame(found, sides)
    is_wrong = any(_is_wrong(side, asked.column) for side in sides) if live else any(
        listing.is_wrong(run, asked.column, name) for run in asked.runs)
    found = _turning(opened, asked, pages[0], gold, sides, (ladders, others))
    pages[0] |= {key: found[key] for key in ("turns", "blamed")}
    if is_wrong and found["nothing"]:
        notes.insert(0, panels.note(found["nothing"], "What it turns on", "warn"))
    return {"id": name, "case": place.case, "sentence": listing.sentence(opened, place),
            "hard": listing.is_hard(opened, place), "runs": [side.about for side in sides], "live": bool(live),
            "turns_on": pages[0]["turns"][0] if is_wrong and pages[0]["turns"] else None,
            "panels": [*pages, *map(_why_gold, ladders[:1]), *notes, *others,
                       *(_replaced(side) for side in sides if side.raw)],
            **listing.neighbours(opened, asked, name)}


def prompt(opened, name):
    """The parts of the call for one document as they would be sent, the fixed prefix told apart from the rest."""
    page_of(opened, name)
    parts = opened.kit.prompt(name)
    sizes = [len(part.text.encode("utf-8", "replace")) for part in parts]
    fixed, total = sum(size for size, part in zip(sizes, parts) if part.fixed), sum(sizes)
    bars = [{"name": part.name, "share": size / max(sizes), "tone": "fixed" if part.fixed else "",
             "cells": [{"text": f"{size:,}"}, {"text": f"{len(part.text):,}"}, {"text": part.role}, {
                 "text": "the same on every call" if part.fixed else "this document"}]}
            for size, part in zip(sizes, parts)]
    text = (f"{fixed:,} of {total:,} bytes ({figures.percent(fixed / total)}) are byte-identical on every call; "
            "they are shaded, and stand first, where a provider's cache can keep them.")
    return {"id": name, "panels": [
        {"kind": "bars", "title": "The prompt as sent", "text": text, "bars": bars,
         "columns": ["part", "bytes", "characters", "role", "content"]},
        *(panels.note(None, f"{part.name} ({part.role})", "fixed" if part.fixed else "plain", part.text.split("\n"))
          for part in parts)]}


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


def _replay(opened, run, name):
    """A run's answer on one document, read back from its record."""
    kit, about, entry = opened.kit, words.about(opened, run), runs.entry(run, name)
    if entry is None:
        return Side(about | {"outcome": "not in this run", "repairs": []}, None, None,
                    "the run did not ask for this document", dict.fromkeys(runs.COLUMNS, {}))
    raw, rechecked = (_answer(kit, name, entry[column]) for column in runs.COLUMNS)
    return Side(about | {"outcome": entry["outcome"], "repairs": entry["repairs"]}, raw, rechecked, entry["why"],
                entry["marks"], entry.get("blame"), run.record["errors"], run.rows[name].errors)


def _live(about, followed, graded=None, why=None):
    """An answer of just now, as a replay of it would stand there; where nobody graded it, beside gold alone."""
    raw = followed.raw and followed.raw._replace(document=followed.document)
    side = Side(about | {"outcome": followed.outcome, "repairs": followed.repairs, "ungraded": why}, raw,
                followed.rechecked, followed.why, None)
    if not graded:
        return side
    marks, named = graded["entry"]["marks"], graded["errors"]
    return side._replace(marks=marks, blame=graded["entry"]["blame"], named=named, errors={
        column: [error["id"] for error in named if runs.is_made(marks[column].get(error["id"]))]
        for column in runs.COLUMNS})


def _is_wrong(side, column):
    """Whether an answer of just now is wrong: there is none, or its headline or a named error is."""
    return side.raw is None or bool(side.errors[column] or (side.blame or {}).get(column))


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


def _named(opened, side, answers):
    """[a note] naming the expensive errors that a side made on this document, the most expensive first, and why."""
    told = []
    for error in side.named:
        where = [column for column in runs.COLUMNS if error["id"] in side.errors[column]]
        if where:
            cause = _cause(opened, turning.part_of(opened, error["id"]), side, answers, where[0])
            told.append(f"{error['title']} ({' and '.join(where)}): {error['why']}.{cause}")
    return [panels.note(" ".join(told), f"{side.about['name']} went wrong here by name", "warn")] if told else []


def _cause(opened, part, side, answers, column):
    """What the field that a named error is about says, what gold says, and how it came about, as the end of a sentence.

    The headline may have gone wrong elsewhere first; this tells of the one field alone.
    """
    answer, gold, kit = getattr(side, column), answers[GOLD], opened.kit
    if part is None or answer is None:
        return ""
    headline = kit.definition.headline(kit.book)
    own, marks = answers[side.about["name"] + RECHECKED], (side.marks or {}).get(column, {})
    found = headline and part in headline.parts and blame.find(
        headline._replace(parts={part: headline.parts[part]}), gold, own, answer, marks)
    said, wanted = (panels.cell(each, part)["text"] for each in (answer, gold))
    return f" {part} is {said}, and gold says {wanted}" + (f": {blame.in_words(found)}." if found else ".")


def _notes(kit, side):
    """What a reader has to know of an answer before its values: why there is none, or what it took to read it."""
    name, repairs = side.about["name"], side.about["repairs"]
    if side.raw is None:
        why = (side.why or "").strip().split("\n")[-1]      # of a fault in the kit's own code the last line of many
        return [panels.note(f"No answer ({side.about['outcome'].replace('_', ' ')}): {why}", name, "warn")]
    ungraded = side.about.get("ungraded")
    notes = [panels.note(f"No named error and no blame is told: {ungraded}", f"{name} is not graded", "warn")] * bool(
        ungraded)
    notes += _blamed(side) + _drift(kit, side.raw, side.rechecked, f"The recheck of {name}")
    return notes + [panels.note(f"To be read, the reply needed: {'; '.join(repairs)}.", name)] * bool(repairs)


def _mark(panel, gold, sides):
    """Write hit or miss into the cells: from the record where it marks the field, else by comparison with gold."""
    columns = [(column, side) for side in sides for column in runs.COLUMNS]
    for row in panel["rows"]:
        for cell, (column, side) in zip(row["cells"][1:], columns):
            if row["mark"] == panels.BY_VALUE or row["mark"] and side.marks is None:
                cell["hit"] = _is_right(getattr(side, column), gold, row["field"])
            else:
                cell["hit"] = (side.marks or {}).get(column, {}).get(row["mark"])
        for raw, rechecked in zip(row["cells"][1::2], row["cells"][2::2]):
            rechecked["same"] = (rechecked["text"], rechecked["kind"]) == (raw["text"], raw["kind"])


def _is_right(answer, gold, field):
    """Whether an answer says of a field what gold says; None where neither says anything of it."""
    if field not in gold.values and (answer is None or answer.values.get(field) is None):
        return None
    return answer is not None and answer.values.get(field) == gold.values.get(field)


def _answered(ladder, gold, sides):
    """Write below the ladder what the answers themselves decided, whose walks over their own values stand in it."""
    whose = {GOLD: gold, **{side.about["name"] + RECHECKED: side.raw for side in sides}}
    ladder["answered"] = [BY.join(panels.cell(whose.get(name), field)["text"] for field in ladder["decides"])
                          for name in ladder["columns"]] if ladder["decides"] else []


def _blame(ladder, sides):
    """Write into the rungs at which rule a run's wrong decision parted from gold's, and how.

    A walk over the run's own values that is gold's there has not parted: then it is what was answered beside it that
    did.
    """
    rungs = {rung["rule"]: rung["steps"] for rung in ladder["rungs"]}
    for side in sides:
        name = side.about["name"] + RECHECKED
        for columns, found in _blames(side):
            if found["rule"] in rungs and name in ladder["columns"]:
                gold, step = (rungs[found["rule"]][at] for at in (0, ladder["columns"].index(name)))
                is_alike = gold["result"] == step["result"]
                lead = f"◂ its values lead as gold's do; the {columns} answer strays here" if is_alike else (
                    f"◂ parts from gold here, {columns}")
                step.setdefault("blame", []).append(f"{lead}: {blame.in_words(found | {'rule': None})}")


def _blames(side):
    """[(columns in words, blame)] of a side: one where raw and rechecked went wrong alike."""
    found = [(column, told) for column, told in (side.blame or {}).items() if told]
    if len(found) == 2 and found[0][1] == found[1][1]:
        return [(f"{found[0][0]} and {found[1][0]}", found[0][1])]
    return found


def _blamed(side):
    """[a note] that says where a run's wrong decisions parted from gold's."""
    told = [f"{columns}: {blame.in_words(found)}" for columns, found in _blames(side)]
    return [panels.note("; ".join(told) + ".", f"Where {side.about['name']} parts from gold", "warn")] if told else []


def _turning(opened, asked, page, gold, sides, shown):
    """{turns, blamed, nothing}: the marked fields that the error looked at turns on, the likeliest first; those that a
    run misread; why no line decides, or None.

    That error is the one the filter asks for, where it was made here, else the dearest that was made.
    """
    made = [(side.errors[asked.column], side) for side in sides]
    order = [asked.error, *(error["id"] for side in sides for error in side.named)]
    error = next((error for error in order if any(error in errors for errors, _ in made)), None)
    wrong = [side for errors, side in made if error in errors] or sides
    turns, nothing = turning.of_page(opened, page, _shown(wrong, *shown), gold,
                                     [getattr(side, asked.column) for side in wrong], error)
    misread = [found["field"] for side in sides for _, found in _blames(side) if found["kind"] == blame.MISREAD]
    return {"turns": turns, "blamed": turning.marked(page, filter(None, misread)), "nothing": nothing}


def _shown(sides, ladders, others):
    """{what `turning` may ask for: [fields]}: of the rule that decided the key, of a blame, of what was missed."""
    rungs = {rung["rule"]: rung for ladder in ladders for rung in ladder["rungs"]}
    blames = [found for side in sides for _, found in _blames(side)]
    strayed = [field for found in blames if found["rule"] in rungs for field in _fields_of(rungs[found["rule"]])]
    names = {f"{side.about['name']}{ending}" for side in sides for ending in ("", RECHECKED)}
    own = [field for ladder in ladders for number, column in enumerate(ladder["columns"]) if column in names
           for rung in ladder["rungs"] if _has_decided(rung["steps"][number]) for field in _fields_of(rung, number)]
    return {turning.WALK: [field for rung in rungs.values() if _has_decided(rung["steps"][0])
                           for field in _fields_of(rung)],
            turning.OWN: own,
            turning.BLAME: [*filter(None, [found["field"] for found in blames]), *strayed],
            turning.MISSED: [row["field"] for found in others if found["kind"] == "fields" for row in found["rows"]
                             if any(cell.get("hit") is False for column, cell in zip(found["columns"], row["cells"])
                                    if column in names)]}


def _has_decided(step):
    return step["result"] in ("breached", "matched", "could not be read")


def _fields_of(rung, column=0):
    """The fields a rung of a walk, gold's first, compared, an unreadable one first; else those its condition names."""
    operands = [part for part in rung["steps"][column].get("compares", ()) if isinstance(part, dict)]
    if operands:
        return [part["field"] for part in sorted(operands, key=lambda part: part["kind"] == "value") if part["field"]]
    return re.findall(r"[\w.]+", rung["says"])


def _why_gold(ladder):
    """A note that says in words how the key was decided, and why that rule is there."""
    rung = next((rung for rung in ladder["rungs"] if _has_decided(rung["steps"][0])), None)
    if rung is None:
        return panels.note(f"{ladder['ends'][0]}.", KEY)
    step, said = rung["steps"][0], rung["says"]
    detail = f", {step['detail']}" if step.get("detail") else ""
    lacking = [part for part in step.get("compares", ()) if not isinstance(part, str) and part["kind"] != "value"]
    if lacking and step["result"] == "could not be read":
        detail = ", since " + " and ".join(f"{part['field']} is {panels.NOT_STATED}" if part["kind"] == "null" else
                                           f"{part['field']} is {part['text']}" for part in lacking)
    elif step.get("compares"):
        said = " ".join(part if isinstance(part, str) else f"{part['field']} ({part['text']})"
                        if part["kind"] == "value" and part["field"] else part["text"] for part in step["compares"])
    return panels.note(f"{said}: {step['result']}{detail}. {rung['why']}", f"{KEY}: {ladder['ends'][0]}")


def _replaced(side):
    """What the recheck discarded and what it put there."""
    before, after, title = _words(side.raw), _words(side.rechecked), f"Recheck of {side.about['name']}"
    rows = [[field, panels.cell(side.raw, field), panels.cell(side.rechecked, field)] for field in sorted(after)
            if after[field] != before.get(field)]
    if not rows:
        return panels.note("What the reply decided follows from the values it copied; nothing was replaced.", title)
    return panels.table(["field", "discarded", "put there"], rows, title)


def _words(answer):
    """{field: its value in words}: the form in which values of a record and values of just now are compared."""
    return {field: panels.words_of(value) for field, value in answer.values.items()}
