"""The rules a kit decides by: every ordered table of its book as data, as prose, and what the key shows of each rule.

A kit has to do nothing for it: the tables are found in its book, and what they decide in the traces of `decide`.
"""
import math
import threading
import time

from src.shared.files import BadData, read_jsonl, to_json
from src.shared.view import charts, figures, panels
from src.shared.walk import Table

LINKS_SHOWN = 12
WHOLE = math.inf        # seconds to count in
SO_FAR = "Counted so far: the first {counted:,} of {of:,} gold rows. The count goes on while this view is open."
NO_TABLE = "This kit's rules are no ordered table; its own panels show them beside each document."
UNCOUNTED = "The walks of the key do not say which of these rules decided, so no rows are counted."
DECIDES, NOT_READABLE, PASS, SKIPPED, AT = "decides", "not readable", "pass", "skipped", "at"
STOPPED = {"breached": DECIDES, "matched": DECIDES, "error": NOT_READABLE}


def rules(opened, seconds=WHOLE):
    """{panels, problems, counted, of}: the rules, the gold rows that each decides or has exactly on its limit, then all
    as data.

    Where walking the key takes longer than `seconds`, the figures are those of its first `counted` of `of` rows, and
    the next view goes on from there. An opened kit is counted once.
    """
    tables = list(_tables(opened.kit.book))
    shown = {"problems": opened.problems, "counted": 0, "of": 0}
    if not tables:
        return {**shown, "panels": [panels.note(NO_TABLE)]}
    count = opened.kept.setdefault("rules", Count(opened, tables))
    with count.lock:
        try:
            count.go_on(seconds)
        except BadData:
            opened.kept.pop("rules", None)      # half a count is none
            raise
        notes = [panels.note(sentence, "Not decided", "warn") for sentence in count.undecided]
        if count.counted < count.of:
            notes.insert(0, panels.note(SO_FAR.format(counted=count.counted, of=count.of), "Still counting", "warn"))
        return {**shown, "counted": count.counted, "of": count.of,
                "panels": [*notes, *(panel for table in tables for panel in _shown(table, count.seen))]}


class Count:
    """The key walked anew, as far as it got: `.counted` of `.of` rows; whoever asks it holds its `.lock`.

    seen {rule: {what became of it: {document: times}}}, undecided [sentences on rows that decide nothing].
    """

    def __init__(self, opened, tables):
        self.lock, self.counted, self.of, self.undecided = threading.Lock(), 0, len(opened.documents), []
        self.seen = {rule["id"]: {result: {} for result in (DECIDES, NOT_READABLE, PASS, SKIPPED, AT)}
                     for table in tables for rule in table.rules}
        self._kit, self._rows = opened.kit, _facts(opened)

    def go_on(self, seconds):
        """Walk on until the key is through or the time is up."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            row = next(self._rows, None)
            if row is None:
                self.of = self.counted      # a document without a row of facts has nothing to walk
                return
            self.counted += 1
            self._add(row)

    def _add(self, row):
        try:
            trace = self._kit.definition.decide(self._kit.book, row)["trace"]
        except BadData as e:
            self.undecided.append(f"{row['id']}: {e}")
            return
        for rule, result in _steps(trace):
            if rule in self.seen:       # and not what stands for no rule of a table at all
                times = self.seen[rule][result]
                times[row["id"]] = times.get(row["id"], 0) + 1


def _tables(book):
    """Yield the tables that a book holds, itself or in a part of it that has names, in the order they stand there."""
    if isinstance(book, Table):
        yield book
    elif isinstance(book, tuple) and hasattr(book, "_fields"):
        for part in book:
            yield from _tables(part)


def _shown(table, seen):
    """The panels of one table."""
    document = table.document
    name = document.get("title") or "The rules"
    if "authority" in document:
        yield panels.note(document["authority"], name)
    has_counts = any(any(seen[rule["id"]].values()) for rule in table.rules)
    if not has_counts:
        yield panels.note(UNCOUNTED)
    else:
        decided = {rule["id"]: len({*seen[rule["id"]][DECIDES], *seen[rule["id"]][NOT_READABLE]})
                   for rule in table.rules}
        yield charts.coverage(f"Coverage: {name}", decided)
    yield _rule_table(table, seen if has_counts else None, name)
    yield panels.table(["decision", "what it means"], list(document["decisions"].items()), f"Decisions: {name}")
    if "hold" in document:
        yield panels.note(document["hold"]["why"], document["hold"]["id"])
    if table.flags:
        yield panels.table(["flag", "what it says"], [[flag["id"], flag["why"]] for flag in table.flags],
                           f"Flagged: {name}")
    yield panels.note("The same as data, as the walk, the prompt and the key read it.", f"As data: {name}",
                      lines=to_json(document, indent=2).split("\n"))


def _rule_table(table, seen, name):
    """A row a rule; a column that no rule has anything for is left out."""
    has_class = any(rule.get("class") for rule in table.rules)
    heads = ["rule", *["class"] * has_class, "condition", "decision"]
    if seen:
        heads += ["gold rows it decides", "… not readable", "passed", "skipped", "exactly at its limit"]
    rows = [[f"{number}. {rule['id']}", *[rule.get("class") or figures.BLANK] * has_class,
             {"text": panels.says(rule), "why": rule["why"]}, rule["decision"],
             *(_counts(seen[rule["id"]]) if seen else ())] for number, rule in enumerate(table.rules, 1)]
    return panels.table(heads, rows, f"The first rule that stops the walk decides: {name}")


def _facts(opened):
    """Yield what the rules read of each document of the key; the key's own row where no facts are kept."""
    path = opened.kit.data / "facts.jsonl"
    if not opened.documents:
        return
    rows = (row for _, row in read_jsonl(path)) if path.exists() else opened.kit.gold()
    yield from (row for row in rows if row.get("id") in opened.documents)


def _steps(trace):
    """Yield (rule, what became of it) of a trace: a walk, or {name: walk, or {whom it is about: rule that decided}}."""
    if isinstance(trace, dict):
        for part in trace.values():
            yield from ((rule, DECIDES) for rule in part.values()) if isinstance(part, dict) else _steps(part)
        return
    for entry in trace:
        yield entry["rule"], STOPPED.get(entry["result"], entry["result"])
        if panels.is_at_limit(entry):
            yield entry["rule"], AT


def _counts(found):
    at = [{"text": name, "link": {"document": name}} for name in list(found[AT])[:LINKS_SHOWN]]
    more = len(found[AT]) - len(at)
    return (_linked(found[DECIDES]), _linked(found[NOT_READABLE]), len(found[PASS]), len(found[SKIPPED]),
            at + [{"text": f"and {more} more"}] * bool(more) or {"text": "none"})


def _linked(times):
    """How many rows, the first of them as links; where a rule decides several times in a row, how often in all."""
    total = sum(times.values())
    count = {"text": str(len(times))} | ({"why": f"{total} decisions in them"} if total > len(times) else {})
    return [count, *({"text": name, "link": {"document": name}} for name in list(times)[:LINKS_SHOWN])]
