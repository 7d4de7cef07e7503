"""Panels as HTML that needs no script: what `ui/app.js` draws in the browser, drawn beforehand for pages on disk.

    pen = Pen("../"); str(pen.panel(panels.note("a < b", "A note")))

Everything is text unless this module made it: whatever comes out of a document, a reply or a rulebook is escaped, and
characters that could reorder or hide what stands around them are shown by their number.
"""
import hashlib
import html
import math
import re
from urllib.parse import quote

from src.shared.files import to_json

SIGNS = {"pass": "✓", "skipped": "–", "does not apply": "–", "breached": "✗", "matched": "●", "could not be read": "?",
         "not reached": "·", "no answer": "?"}
# Controls, marks that turn the direction of writing, and halves of characters, which no file can hold.
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff"
                    "\ud800-\udfff]")
CODE = re.compile("`([^`]+)`")
VALUE = "value"
DOCUMENTS, ROWS, RUNS = "documents", "rows", "evals"        # where links of the board lead to, without .html


class Markup(str):
    """Text that is HTML already. Only `tag`, `text` and `page` make it."""


def text(value):
    """A value as HTML text.

    >>> text("<b> & \\u202e")
    '&lt;b&gt; &amp; <span class="unseen">[U+202E]</span>'
    """
    if isinstance(value, Markup):
        return value
    return Markup(UNSEEN.sub(_numbered, html.escape(str(value), quote=False)))


def tag(name, /, *children, **attributes):
    """An element. Children are text, Markup, lists of them, or None; `class_` and `aria_label` name attributes.

    >>> tag("a", "x > y", href='?q="', hidden=None)
    '<a href="?q=&quot;">x &gt; y</a>'
    """
    said = "".join(f' {key.rstrip("_").replace("_", "-")}' + ("" if value is True else f'="{_attribute(value)}"')
                   for key, value in attributes.items() if value is not None and value is not False)
    if name in ("meta", "link", "img", "wbr"):
        return Markup(f"<{name}{said}>")
    return Markup(f"<{name}{said}>{''.join(_flat(children))}</{name}>")


def soft(value):
    """Text that may break behind its underscores, as long names have to."""
    return Markup("_<wbr>".join(text(part) for part in str(value).split("_")))


def anchor(link):
    """The name of the place where the rows behind a link of the board stand: the same for the same link, always."""
    return f"r{hashlib.sha256(to_json(sorted(link.items())).encode()).hexdigest()[:12]}"


def run_name(run):
    """The name of the place where a run is told of."""
    return f"run-{run}"


def address(document):
    """The file of a document's page, below the folder of the report."""
    return f"{DOCUMENTS}/{document}.html"


def sentence(said):
    """A sentence with what it has between backticks as code."""
    return [tag("code", part) if place % 2 else soft(part) for place, part in enumerate(CODE.split(str(said)))]


class Pen:
    """Draws panels for a page that lies `up` below the report's folder. `.asked` {anchor: link}: what rows are linked.

    `named`: whether the lines of fields get names, so that the table of fields can lead to them; one document a page.
    """

    def __init__(self, up="", asked=None, named=False):
        self.up, self.asked, self.named = up, {} if asked is None else asked, named
        self._lines = frozenset()

    def panel(self, found):
        """One panel as a section; one of an unknown kind as a list of all that it holds."""
        drawn = getattr(self, f"_{found.get('kind')}", self._unknown)(found)
        return tag("details", tag("summary", found["title"]), drawn) if found.get("folded") else drawn

    def href(self, link):
        """Where a link of the board leads to in the report."""
        if "document" in link:
            return self.up + quote(address(link["document"]))
        if link.keys() == {"run"}:
            return f"{self.up}{RUNS}.html#{quote(run_name(link['run']))}"
        self.asked[anchor(link)] = link
        return f"{self.up}{ROWS}.html#{anchor(link)}"

    def table(self, caption, heads, rows, said=None, foot=()):
        """A table in a region that scrolls by itself. rows, foot [[th or td]]; rows may be Markup of whole bodies."""
        bodies = rows if isinstance(rows, Markup) else tag("tbody", *(tag("tr", *row) for row in rows))
        head = tag("tr", *(tag("td") if title == "" else tag("th", title, scope="col") for title in heads))
        return tag("div", tag("table", tag("caption", tag("span", caption, said and tag("small", said))),
                              tag("thead", head), bodies, foot and tag("tfoot", *(tag("tr", *row) for row in foot))),
                   class_="scroll", tabindex="0", role="region", aria_label=caption)

    def cell(self, found):
        """One cell, or a list of cells as lines of one."""
        if isinstance(found, list):
            return tag("ul", *(tag("li", self.cell(one)) for one in found), class_="run-on")
        if found.get("same"):
            return text("same")
        value = self._said(found["text"] if found["text"] != "" else "“”")
        link, kind = found.get("link"), found.get("kind", VALUE)
        is_plain = kind == VALUE and not link and not found.get("head") and not found.get("interval")
        return Markup("".join(_flat([
            found.get("head") and tag("span", found["head"], class_="head"), _verdict(found.get("hit")),
            value if is_plain else tag("span", tag("a", value, href=self.href(link)) if link else value,
                                       class_=_class("value", kind)),
            found.get("interval") and _interval(found["interval"], found.get("null")),
            found.get("why") and tag("small", self._said(found["why"]))])))

    def _said(self, said):
        """A sentence, what it has between backticks as code; on a document's own page everything as it stands."""
        return soft(said) if self.named else sentence(said)

    def _section(self, found, title, *content):
        said = found.get("text") and tag("p", self._said(found["text"]))
        return tag("section", title and tag("h2", title), said, *content,
                   class_=f"panel {found['kind']} {found.get('tone') or ''}".strip())

    def _document(self, found):
        named, turns, blamed = set(), found.get("turns", ()), found.get("blamed", ())

        def piece(segment):
            if not segment["fields"]:
                return segment["text"]
            if not segment["value"]:
                return tag("span", segment["text"], class_="around")
            first = next((name for name in segment["fields"] if name not in named), None)
            named.add(first)
            kinds = [kind for kind, names in (("turns", turns), ("blamed", blamed))
                     if not set(names).isdisjoint(segment["fields"])]
            return tag("mark", segment["text"], class_=" ".join(kinds) or None, title=", ".join(segment["fields"]),
                       id=f"line-{first}" if first and self.named else None)
        def withheld(block):
            """These pages are handed round, so of what stays on this machine they say how much it is and no more."""
            length = sum(len(segment["text"].strip()) for segment in block["segments"])
            return tag("p", f"Withheld: {block['withheld']} ({length:,} characters).", class_="stamp")

        blocks = [tag("div", withheld(block), class_="block withheld") if block["withheld"] else
                  tag("div", tag("pre", *map(piece, block["segments"])), class_="block") for block in found["blocks"]]
        legend = [[tag("mark", words, class_=kind), " "] for kind, words, names in (
            ("turns", "what it turns on", turns), ("blamed", "misread", blamed)) if names]
        return self._section(found, found["title"], legend and tag("p", legend, class_="legend"),
                             tag("div", blocks, class_="page", tabindex="0", role="region", aria_label=found["title"]))

    def _fields(self, found):
        def name(row):
            word = soft(row["field"])
            return tag("a", word, href=f"#{quote('line-' + row['field'])}") if row["field"] in self._lines else word
        rows = [[tag("th", name(row), row["unit"] not in (None, "count") and tag("small", row["unit"]), scope="row"),
                 *(tag("td", self.cell(one), class_="same" if one.get("same") else None) for one in row["cells"])]
                for row in found["rows"]]
        return self._section(found, None, self.table(found["title"], ["field", *map(soft, found["columns"])], rows))

    def lead_to(self, document_panel):
        """Let the fields of a page lead to their lines in this document panel, which stands on the same page."""
        self._lines = {name for block in document_panel["blocks"] for segment in block["segments"] if segment["value"]
                       for name in segment["fields"]} if self.named else frozenset()

    def _ladder(self, found):
        rows = [[tag("th", soft(f"{number}. {rung['rule']}"), tag("small", soft(rung["says"])), scope="row"),
                 *map(self._rung_step, rung["steps"])] for number, rung in enumerate(found["rungs"], 1)]
        foot = [[tag("th", head, scope="row"), *(tag("td", soft(end)) for end in ends)]
                for head, ends in (("the walk ends", found["ends"]), ("answered, raw", found.get("answered"))) if ends]
        return self._section(found, None, self.table(found["title"], ["rule", *map(soft, found["columns"])], rows,
                                                     foot=foot))

    def _rung_step(self, step):
        part = lambda operand: soft(operand["text"]) if operand["kind"] == VALUE else tag(
            "span", soft(operand["text"]), class_=_class("value", operand["kind"]))
        compares = step.get("compares") and tag("span", [
            tag("b", f" {each} ") if isinstance(each, str) else part(each) for each in step["compares"]],
            class_="compares")
        return tag("td", tag("span", f"{SIGNS.get(step['result'], '')} {step['result']}", class_="result"), compares,
                   step.get("detail") and tag("small", step["detail"]),
                   [tag("strong", said, class_="error") for said in step.get("blame", ())],
                   class_=step["result"].replace(" ", "-"))

    def _arithmetic(self, found):
        rows = [[tag("th", step["says"], scope="row"), *(tag("td", step[name], class_="number")
                                                         for name in ("left", "sign", "right", "result"))]
                for step in found["steps"]]
        return self._section(found, None, self.table(found["title"], ["step", "left", "", "right", "result"], rows))

    def _state(self, found):
        return self._section(found, found["title"], tag("dl", *(
            tag("div", tag("dt", item["name"]), tag("dd", item["value"], item["why"] and tag("small", item["why"])))
            for item in found["items"])))

    def _table(self, found):
        rows = [[tag("th", self.cell(row[0]), scope="row", id=found.get("names") and found["names"][place]),
                 *(tag("td", self.cell(one)) for one in row[1:])] for place, row in enumerate(found["rows"])]
        return self._section(found, None, self.table(found["title"], found["columns"], rows))

    def _matrix(self, found):
        def counted(one):
            return tag("td", one and [_share(one), tag("a", one["text"], href=self.href(one["link"]))], class_="number")
        rows = [[tag("th", soft(label), scope="row"), *map(counted, row)]
                for label, row in zip(found["labels"], found["rows"])]
        return self._section(found, None, self.table(
            found["title"], ["gold ↓ answered →", *map(soft, found["answers"])], rows))

    def _intervals(self, found):
        def line(group, place, one):
            head = tag("th", group["title"], scope="rowgroup", rowspan=len(group["lines"])) if place == 0 else None
            blanks = [tag("td") for _ in found["columns"][len(one["cells"]):]]
            return tag("tr", head, tag("th", soft(one["name"]), scope="row"),
                       *(tag("td", self.cell(cell)) for cell in one["cells"]), blanks)
        bodies = Markup("".join(tag("tbody", *(line(group, place, one) for place, one in enumerate(group["lines"])))
                                for group in found["groups"]))
        return self._section(found, None, self.table(found["title"], ["figure", "run", *found["columns"]], bodies))

    def _bars(self, found):
        rows = [[tag("th", soft(one["name"]), scope="row"),
                 *(tag("td", place == 0 and _bar(one["share"], one["tone"]), self.cell(each))
                   for place, each in enumerate(one["cells"]))] for one in found["bars"]]
        return tag("section", self.table(found["title"], found["columns"], rows, said=found.get("text")),
                   class_="panel bars")

    def _curve(self, found):
        drawing = _svg("curve", "-3 -3 106 106", tag("path", d="M0 0V100H100M0 100L100 0"), *(
            [tag("line", x1=_at(x), x2=_at(x), y1=_at(1 - low), y2=_at(1 - high)),
             tag("circle", cx=_at(x), cy=_at(1 - y), r=2)]
            for x, y, low, high in ((p["x"], p["y"], p["low"], p["high"]) for p in found["points"])))
        rows = [[tag("th", point["name"], scope="row"), tag("td", self.cell(point["cell"]))]
                for point in found["points"]]
        return tag("section", drawing, self.table(found["title"], ["stated", "right"], rows, said=found.get("text")),
                   class_="panel curve-of")

    def _note(self, found):
        lines = found.get("lines")
        return self._section(found, found.get("title"), lines and tag("pre", "\n".join(lines), tabindex="0"))

    def _steps(self, found):
        """Stations in their order, each after the other."""
        return self._section(found, found["title"], tag("ol", *(tag("li", step) for step in found["steps"])))

    def _unknown(self, found):
        """A kind that is not drawn here yet: nothing is left out, and nothing is pretty."""
        def words(value):
            if isinstance(value, dict):
                return tag("dl", *([tag("dt", name), tag("dd", words(part))] for name, part in value.items()))
            if isinstance(value, (list, tuple)):
                return tag("ul", *(tag("li", words(part)) for part in value))
            return text("–" if value is None else value)
        rest = {name: value for name, value in found.items() if name not in ("kind", "title")}
        return tag("section", found.get("title") and tag("h2", found["title"]), words(rest), class_="panel")


def _flat(children):
    for child in children:
        if isinstance(child, str):
            yield text(child)
        elif isinstance(child, (list, tuple)):
            yield from _flat(child)
        elif child is not None and child is not False:
            yield text(child)


def _attribute(value):
    return UNSEEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", html.escape(str(value), False).replace('"', "&quot;"))


def _class(name, kind):
    """The class of a value: of what is plainly one, its kind is not said again."""
    return name if kind in (None, VALUE) else f"{name} {kind}"


def _numbered(found):
    return f'<span class="unseen">[U+{ord(found[0]):04X}]</span>'


def _verdict(hit):
    if hit is not True and hit is not False:
        return None
    return tag("span", "✓ hit" if hit else "✗ miss", class_="hit" if hit else "miss")


def _svg(kind, box, *parts, **attributes):
    return tag("svg", *parts, class_=kind, viewBox=box, aria_hidden="true", **attributes)


def _at(share):
    return f"{100 * share:.4g}"


def _interval(found, floor):
    """A rate's interval as a line from 0 to 100 %; the words beside it say the same."""
    low, rate, high = (f"{2 + 100 * share:.4g}" for share in found)
    tick = floor is not None and tag("line", x1=f"{2 + 100 * floor:.4g}", x2=f"{2 + 100 * floor:.4g}", y1=0, y2=10,
                                     class_="null")
    return _svg("interval", "0 0 104 10", tag("line", x1=2, x2=102, y1=5, y2=5), tick,
                tag("line", x1=low, x2=high, y1=5, y2=5, class_="range"), tag("circle", cx=rate, cy=5, r=2.5))


def _bar(share, tone):
    return _svg(f"bar {tone}".strip(), "0 0 100 10", tag("rect", width=_at(share), height=10),
                preserveAspectRatio="none")


def _share(one):
    return _svg("share hit" if one["hit"] else "share miss", "-5 -5 10 10",
                tag("circle", r=f"{5 * math.sqrt(one['share']):.3g}"))
