"""The rules a kit decides by: as data, as prose, and what the key shows of them."""
from src.shared.files import BadData, to_json
from src.shared.view import panels
from src.shared.walk import Table

LINKS_SHOWN = 12
NO_TABLE = "This kit's rules are no ordered table; its own panels show them beside each document."


def rules(opened):
    """{panels, problems}: the rules, the gold rows that each decides or has exactly on its limit, then all as data."""
    table = getattr(opened.kit.book, "table", None)
    if not isinstance(table, Table):
        return {"panels": [panels.note(NO_TABLE)], "problems": opened.problems}
    seen, undecided = _seen(opened)
    document = table.document
    rows = [[f"{number}. {rule['id']}", rule.get("class"), {"text": panels.says(rule), "why": rule["why"]},
             rule["decision"], *_counts(seen[rule["id"]])] for number, rule in enumerate(table.rules, 1)]
    return {"panels": [
        panels.note(document.get("authority"), document.get("title")),
        *(panels.note(sentence, "Not decided", "warn") for sentence in undecided),
        panels.table(["rule", "class", "condition", "decision", "gold rows it decides", "… not readable",
                      "passed", "skipped", "exactly at its limit"], rows,
                     "The check set: the first rule that stops the walk decides"),
        panels.table(["decision", "what it means"], list(document["decisions"].items()), "Decisions"),
        *([panels.note(document["hold"]["why"], document["hold"]["id"])] if "hold" in document else []),
        panels.table(["flag", "what it says"], [[flag["id"], flag["why"]] for flag in table.flags], "Flagged"),
        panels.note("The same as data, as the walk, the prompt and the key read it.", "As data",
                    lines=to_json(document, indent=2).split("\n"))], "problems": opened.problems}


def _seen(opened):
    """({rule: {what became of it: [document]}}, sentences on rows that decide nothing), the key walked anew."""
    kit, undecided = opened.kit, []
    seen = {rule["id"]: {"decides": [], "not readable": [], "pass": [], "skipped": [], "at": []}
            for rule in kit.book.table.rules}
    for row in kit.gold() if opened.documents else ():
        try:
            trace = kit.definition.decide(kit.book, row)["trace"]
        except BadData as e:
            undecided.append(f"{row['id']}: {e}")
            continue
        for entry in trace:
            if entry["rule"] not in seen:       # a step of another table that the kit walks before or behind this one
                continue
            result = "decides" if entry["result"] in ("breached", "matched") else entry["result"]
            seen[entry["rule"]][result].append(row["id"])
            if panels.is_at_limit(entry):
                seen[entry["rule"]]["at"].append(row["id"])
    return seen, undecided


def _counts(found):
    at = [{"text": name, "link": {"document": name}} for name in found["at"][:LINKS_SHOWN]]
    more = len(found["at"]) - len(at)
    return (_linked(found["decides"]), _linked(found["not readable"]), len(found["pass"]), len(found["skipped"]),
            at + [{"text": f"and {more} more"}] * bool(more) or {"text": "none"})


def _linked(names):
    return [{"text": str(len(names))}, *({"text": name, "link": {"document": name}} for name in names[:LINKS_SHOWN])]
