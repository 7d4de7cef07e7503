"""Two free readers of a spray plan: one goes by the tone of the remark, one parses the labelled lines.

`note-tone` is the shortcut people take, tried in earnest. `line-reader` is the most that code alone can do on this
layout: where it is wrong, the layout changed.
"""
import functools
import re

from src.shared import sections, shapes
from src.shared.files import tell

TONE = "tone.json"


def note_tone(kit, document, text):
    """The reply of somebody who reads the remark and nothing else: verdict and restriction by its words."""
    book = kit.book
    remark = _values(text, book.fields).get("agronomist_note", "")
    tone = _tone(book.data / TONE, book.table)
    verdict = _first(tone["verdicts"], "verdict", remark) or tone["otherwise"]
    passed = book.table.document["passed"]
    named = _first(tone["restrictions"], "restriction", remark)
    restriction = passed["rule"] if verdict == passed["decision"] else named
    return {**dict.fromkeys(kit.definition.keys(book)), "agronomist_note": remark or None,
            book.verdict: verdict, book.restriction: restriction}


def line_reader(kit, document, text):
    """The reply of a parser: every labelled line read as fields.json says, then the walk of the check set."""
    book = kit.book
    raw = _values(text, book.fields)
    values, findings = book.fields.read(raw, book.fields.copied)
    walked = book.table.decide(values, findings)
    copied = {name: raw[name] if isinstance(value, (str, tuple)) else value for name, value in values.items()}
    return {**copied, book.verdict: walked.decision, book.restriction: walked.rule}


def _values(text, fields):
    return {name: text[start:end] for name, (start, end) in sections.locate(text, fields).items()}


@functools.lru_cache(maxsize=None)
def _tone(path, table):
    """tone.json with a pattern for each entry's words. BadData lists what is wrong in it, or no word of these rules."""
    words, problems = shapes.some(shapes.list_of(shapes.SAID)), []
    verdict, restriction = shapes.one_of(table.decisions), shapes.one_of(table.rule_ids)
    tone = shapes.read(path, {"verdicts": shapes.list_of(shapes.record({"verdict": verdict, "words": words})),
                              "restrictions": shapes.list_of(shapes.record({"restriction": restriction, "words": words})),
                              "otherwise": verdict}, problems)
    tell(problems)
    for entry in tone["verdicts"] + tone["restrictions"]:
        entry["pattern"] = re.compile(rf"\b(?:{'|'.join(map(re.escape, entry['words']))})", re.IGNORECASE)
    return tone


def _first(entries, key, remark):
    return next((entry[key] for entry in entries if entry["pattern"].search(remark)), None)
