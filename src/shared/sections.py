"""Cut a document into its underlined sections, and find a value on its labelled line.

A section is a title line underlined with as many dashes; it runs to the next one. A value is found by the label that
begins its line (`minimum buffer to surface water:`), never by its section alone: the same digit stands on many lines.
"""
import re
from collections import namedtuple

# start and end are character positions in the document, the body without the blank lines around it
Section = namedtuple("Section", "title start end body_start body_end")
Line = namedtuple("Line", "text start end")

_DATED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?: [0-9]{2}:[0-9]{2})?\s")
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z0-9])")
_TITLE = re.compile(r"^(\S[^\n]*)\n(-+)$", re.MULTILINE)


def cut(text):
    """The sections of a document in order, or [] where it has none."""
    found = [match for match in _TITLE.finditer(text) if len(match[1]) == len(match[2])]
    ends = [match.start() for match in found[1:]] + [len(text)]
    return [_section(text, match, end) for match, end in zip(found, ends)]


def body(text, section):
    """The text of a section below its title."""
    return text[section.body_start:section.body_end]


def value_line(text, section, label):
    """The value behind `label` on the line that begins with it, as a Line; the whole body where the label is "".

    None where no line begins so. Of several lines the first counts.
    """
    if label == "":
        return Line(body(text, section), section.body_start, section.body_end)
    found = re.compile(rf"^{re.escape(label)}[ \t]*(.*?)[ \t]*$", re.MULTILINE).search(
        text, section.body_start, section.body_end)
    return Line(found[1], found.start(1), found.end(1)) if found else None


def locate(text, fields):
    """{field name: (start, end)} of each copied field's value on the page, for those that stand there."""
    by_title = {section.title: section for section in cut(text)}
    spans = {}
    for field in fields.copied:
        section = by_title.get(field.section)
        line = section and value_line(text, section, field.line)
        if line and line.text:
            spans[field.name] = (line.start, line.end)
    return spans


def units(text, titles):
    """Yield the sentences and the dated lines of the named sections, from the top of the page."""
    for section in cut(text):
        for line in body(text, section).splitlines() if section.title in titles else ():
            yield from [line] if _DATED.match(line) else filter(None, _SENTENCE_END.split(line.strip()))


def extend(text, title, addition):
    """The document with `addition` at the end of a section's body. KeyError where no section has that title."""
    end = {section.title: section.body_end for section in cut(text)}[title]
    return text[:end] + addition + text[end:]


def without(text, titles):
    """The document with whole sections taken out; the text as it is where none of the titles stands in it."""
    for section in reversed(cut(text)):
        if section.title in titles:
            text = text[:section.start] + text[section.end:]
    return text


def _section(text, match, end):
    start = match.end() + 1 if match.end() < end else end
    inner = text[start:end]
    body_start = min(start + len(inner) - len(inner.lstrip("\n")), end)
    return Section(match[1], match.start(), end, body_start, max(body_start, start + len(inner.rstrip())))
