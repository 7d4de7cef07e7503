"""An extract as text, and back: written by the generator, read by the floors, the board and the schedule.

Reading takes what is printed at its word and resolves nothing: a scope that is told in the narrative has no departments
here, and what is printed nowhere is not there.
"""
import re
from collections import namedtuple

from src.shared import sections
from src.shared.files import BadData

MATTER, SCOPE, ROSTER, EVENTS, POSITION, PERSONAL, NOTES = (
    "Matter", "Case Scope", "Candidate Roster", "Notice and Acknowledgement Events", "Watch Position",
    "Candidate Personal Details", "Administration Notes")
SYNTHETIC = "Synthetic Record"
LAYOUT = (SYNTHETIC, MATTER, SCOPE, ROSTER, EVENTS, POSITION, PERSONAL, NOTES)
WIDTH = 100
UNLISTED = NOT_CLASSIFIED, NONE_RECORDED, DISPUTED = (
    "not classified, see the narrative", "none recorded", "disputed, see the memos")
_PERSON = re.compile(r"^(EMP-\S+)  (.+)$", re.MULTILINE)
_ACCESS = re.compile(r"(.+?) \((?:since (\S+)|(\S+) to (\S+))\)")
_EVENT = re.compile(r"^([0-9]{4}-[0-9]{2}-[0-9]{2})  ([^:\n]+):(?: (EMP-\S+))?", re.MULTILINE)
_POSITION = {"snapshot": "snapshot taken:", "run_on": "run on:", "run": "scheduled run:",
             "previous": "previous snapshot:",
             "next": "next scheduled run:"}


def write(facts, pools):
    """The text of one document: `facts` a row of facts.jsonl."""
    bodies = {SYNTHETIC: facts["synthetic"], MATTER: _matter(facts), SCOPE: _scope(facts),
              ROSTER: _roster(facts, pools),
              EVENTS: _events(facts, pools), POSITION: _position(facts), PERSONAL: "\n".join(facts["personal"]),
              NOTES: "\n".join(facts["remarks"])}
    return "\n\n".join(f"{title}\n{'-' * len(title)}\n{bodies[title]}" for title in pools["layout"]) + "\n"


def read(text, words):
    """What an extract prints, as inputs of matter.read: departments are absent where the page lists none.

    `words` {event type: [spellings]} as policy.json has them. Beside them `position` as `read_position` gives it.
    """
    bodies = {section.title: sections.body(text, section) for section in sections.cut(text)}
    scope, listed = bodies.get(SCOPE, ""), _value(bodies.get(SCOPE, ""), "relevant departments:")
    period = _value(bodies.get(MATTER, ""), "relevant period:").split(" to ")
    types = {spelling: type_ for type_, spellings in words.items() for spelling in spellings}
    events = [(on, types.get(says.split(" from ")[0].casefold()), name)
              for on, says, name in _EVENT.findall(bodies.get(EVENTS, ""))]
    position = read_position(text)
    return {"matter": _value(bodies.get(MATTER, ""), "matter reference:"), "run": position["run"],
            "snapshot": position["snapshot"], "run_on": position["run_on"],
            "scope": {"departments": [] if listed in UNLISTED else listed.split(", "),
                      "systems": _value(scope, "relevant systems:").split(", "), "period": period},
            "candidates": [_person(*found) for found in _people(bodies.get(ROSTER, ""))],
            "events": [{"on": on, "type": type_, "id": name} for on, type_, name in events if name and type_],
            "release_memo": next((on for on, type_, _ in events if type_ == "release"), None)}


def read_position(text):
    """{"matter", "run" int, "runs" int, "snapshot", "run_on", "previous", "next": ISO text or None} of an extract's
    watch position. BadData where a line is missing or its number cannot be read."""
    bodies = {section.title: sections.body(text, section) for section in sections.cut(text)}
    found = {name: _value(bodies.get(POSITION, ""), label) for name, label in _POSITION.items()}
    missing = [label for name, label in _POSITION.items() if not found[name]]
    numbers = re.match(r"([0-9]+) of ([0-9]+)", found["run"])
    if missing or not numbers:
        raise BadData(f"{POSITION}: no line {', '.join(missing) or 'scheduled run: 1 of 3'} that can be read")
    return {**{name: None if value.startswith("none") else value for name, value in found.items()},
            "matter": _value(bodies.get(MATTER, ""), "matter reference:"), "run": int(numbers[1]),
            "runs": int(numbers[2])}


Event = namedtuple("Event", "on says id span")      # id is None where an event is about nobody, such as a release


def events(text):
    """{"event-n": Event} of the lines of the event log, as they stand there."""
    return {f"event-{number}": Event(found[1], found[2], found[3], found.span())
            for section in sections.cut(text) if section.title == EVENTS for number, found in enumerate(
                _EVENT.finditer(text, section.body_start, section.body_end), 1)}


def spans(text):
    """{employee id: (start, end)} of each person's entry on the roster, of each event's line {event-n: …}, and of the
    departments in scope {scope: …}."""
    found = {}
    for section in sections.cut(text):
        if section.title == ROSTER:
            starts = [match for match in _PERSON.finditer(text, section.body_start, section.body_end)]
            ends = [match.start() for match in starts[1:]] + [section.body_end]
            found |= {match[1]: (match.start(), match.start() + len(text[match.start():end].rstrip()))
                      for match, end in zip(starts, ends)}
        elif section.title == SCOPE:
            line = sections.value_line(text, section, "relevant departments:")
            found |= {"scope": (line.start, line.end)} if line and line.text else {}
    return found | {name: event.span for name, event in events(text).items()}


def _matter(facts):
    start, end = facts["scope"]["period"]
    return (f"matter reference: {facts['matter']}\nmatter type: {facts['title']}\nopened: {facts['opened']}\n"
            f"relevant period: {start} to {end}\ndocket: open")


def _scope(facts):
    listed = facts["departments_on_file"]
    lines = [f"relevant departments: {listed if isinstance(listed, str) else ', '.join(listed)}",
             f"relevant systems: {', '.join(facts['scope']['systems'])}", *facts["memos"]]
    return "\n".join(lines) + "\n\nnarrative:\n" + _wrapped(facts["narrative"])


def _roster(facts, pools):
    head = pools["roster_head"].format(snapshot=facts["snapshot"])
    return _wrapped(head) + "\n\n" + "\n\n".join(map(_entry, facts["candidates"]))


def _entry(person):
    accesses = "; ".join(f"{access['name']} ({access['since']} to {access['until']})" if access["until"] else
                         f"{access['name']} (since {access['since']})" for access in person["systems"])
    return (f"{person['id']}  {person['name']}\n  department: {person['department']}".rstrip()
            + f"\n  title: {person['title']}\n  systems: {accesses}")


def _events(facts, pools):
    lines = [(event["on"], pools["event_lines"][event["type"]].format(**event)) for event in facts["events"]]
    if facts["release_memo"]:
        lines.append((facts["release_memo"], pools["event_lines"]["release"].format(on=facts["release_memo"])))
    logged = [line for _, line in sorted(lines, key=lambda line: line[0])] or [pools["no_events"]]
    return "\n".join([pools["events_head"], *logged])


def _position(facts):
    return (f"snapshot taken: {facts['snapshot']}\nrun on: {facts['run_on']}\n"
            f"scheduled run: {facts['run']} of {facts['runs']} ({facts['run_name']})\n"
            f"previous snapshot: {facts['previous'] or 'none, this is the first run'}\n"
            f"next scheduled run: {facts['next'] or 'none, this is the last run'}")


def _people(body):
    starts = list(_PERSON.finditer(body))
    ends = [match.start() for match in starts[1:]] + [len(body)]
    return [(match[1], match[2], body[match.end():end]) for match, end in zip(starts, ends)]


def _person(name, _, lines):
    accesses = _value(lines, "systems:", indent="  ").split("; ")
    return {"id": name, "department": _value(lines, "department:", indent="  "),
            "title": _value(lines, "title:", indent="  "),
            "systems": [{"name": found[1], "since": found[2] or found[3], "until": found[4]}
                        for found in map(_ACCESS.fullmatch, accesses) if found]}


def _value(body, label, indent=""):
    found = re.search(rf"^{indent}{re.escape(label)}[ \t]*(.*?)[ \t]*$", body, re.MULTILINE)
    return found[1] if found else ""


def _wrapped(text):
    import textwrap
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)
