"""The pages of a report: chapters, a page a document, and the rows behind every linked figure, as whole HTML texts.

`chapters` says what is on them and `static` how a panel looks; here a page gets its head, its way back and its links.
"""
import types
from urllib.parse import quote

from src.shared.fields import near
from src.shared.files import BadData
from src.shared.view import board, chapters, panels, prose
from src.shared.view.static import ROWS, Markup, Pen, address, sentence, tag

STYLE = "style.css"
GENERATOR = "python -m tools.report"
ANSWERS = (2, 1)        # so many answers beside the key of a document that went wrong, or where there is no room fewer
# `file:` lets a page on disk have its own stylesheet and pictures; there is no word for its own folder alone.
POLICY = "default-src 'none'; style-src 'self' file:; img-src 'self' file: data:; base-uri 'none'; form-action 'none'"
DRAWN = {"business": chapters.business, "architecture": chapters.architecture, "app": chapters.app,
         "corpus": chapters.corpus, "rules": chapters.rulebook, "prompt": chapters.prompt, "evals": chapters.evals,
         "cost": chapters.unit_cost, "code": chapters.code, "scenarios": chapters.scenarios,
         "threats": chapters.threats, "guardrails": chapters.guardrails, "mapping": chapters.mapping,
         "telemetry": chapters.telemetry, "environment": chapters.environment}
NOT_TOLD = "board.json of this kit keeps no words for this chapter. What stands here is computed."


class Site:
    """The pages of one report. The page of rows comes last: it holds what the others have linked."""

    def __init__(self, source):
        self._source, self._about, self._asked = source, source.opened.kit.about, {}
        self._prose, self._problems = _prose(source.opened, source.told)

    def index(self):
        entries = [tag("li", tag("a", chapter["title"], href=f"{chapter['id']}.html"), tag("small", chapter["lead"]))
                   for chapter in self._source.told["chapters"]]
        contents = tag("section", tag("h2", "Chapters", id="chapters"), tag("ol", entries, class_="contents"),
                       aria_labelledby="chapters")
        return self._page(self._about["title"], self._about["decides"], [],
                          [*self._wrong(), *self._drawn(Pen("", self._asked), chapters.index(self._source)), contents])

    def chapter(self, chapter, pictures=types.MappingProxyType({})):
        """One chapter: what the kit says of it, its panels, and `pictures` {name: bytes of a PNG}."""
        told = [tag("section", tag("h2", section["title"]),
                    *(tag("p", sentence(said)) for said in section["paragraphs"]), class_="prose")
                for section in self._prose.get(chapter["id"], ())]
        if chapter.get("told") and not told:
            told = [*self._wrong(), *self._drawn(Pen(), [panels.note(NOT_TOLD, "In words")])]
        drawn = self._drawn(Pen("", self._asked), DRAWN[chapter["id"]](self._source))
        figures = [self._figure(name, data) for name, data in pictures.items()]
        return self._page(chapter["title"], chapter["lead"], [(chapter["title"], f"{chapter['id']}.html")],
                          [self._chapters(chapter["id"]), *told, *drawn, *figures])

    def documents(self, room):
        """{path: text} of a page a document, in the order of the key.

        Beside the key stand the answers of runs that went wrong on it by name; where so much does not fit into `room`
        bytes, fewer answers, and the dearest errors keep theirs the longest.
        """
        names, most = list(self._source.opened.documents), ANSWERS[0]
        found = {name: self.document(name, most) for name in names}
        if size(found.values()) > room:
            found = {name: self.document(name, 0) for name in names}
            left = room - size(found.values())
            for name in chapters.dearest(self._source):
                for answers in ANSWERS:
                    fuller = self.document(name, answers)
                    if (more := len(fuller.encode()) - len(found[name].encode())) <= left:
                        found[name], left = fuller, left - more
                        break
        return {address(name): text for name, text in found.items()}

    def document(self, name, answers):
        """The page of one document with the answers of at most so many runs that went wrong on it by name."""
        view, pen = chapters.document(self._source, name, answers), Pen("../", self._asked, named=True)
        sheet = next(found for found in view["panels"] if found["kind"] == "document")
        pen.lead_to(sheet)
        kind = {True: "Hard case. ", False: "Clean case. "}.get(view["hard"], "")
        replays = [tag("li", tag("strong", f"Replay of {run['id']}"), f": {run['kind']}, arm {run['arm']}, "
                       + (f"model {run['model']}" if run["model"] else "no model")
                       + (f". {run['says']}" if run["says"] else "")) for run in view["runs"]]
        once = view["once"] and tag("p", "Alike for every document, and told among the ", tag(
            "a", "rules", href="../rules.html"), f": {'; '.join(panel['title'] for panel in view['once'])}.",
            class_="quiet")
        left_out = view["left_out"] and tag("p", f"Wrong here as well: {'; '.join(view['left_out'])}.", class_="quiet")
        others = [found for found in view["panels"] if found is not sheet]
        return self._page(name, f"{kind}{view['sentence'] or view['case'] or ''}",
                          [("Corpus", "corpus.html"), (name, address(name))],
                          [self._neighbours(view), replays and tag("ul", replays, class_="replays"), left_out,
                           once, tag(
                              "div", tag("div", pen.panel(sheet), class_="left"),
                              tag("div", self._drawn(pen, others), class_="right"), class_="beside")], "../")

    def rows(self):
        """The documents behind every link to a list of them."""
        pen, parts = Pen("", self._asked), []
        for name, words, documents in chapters.asked(self._source.opened, dict(self._asked)):
            links = [tag("li", tag("a", document, href=pen.href({"document": document.partition("+")[0]})))
                     for document in documents]     # a planted twin has no page of its own; its clean page has
            parts.append(tag("section", tag("h2", f"{words} ({len(documents)})", id=f"{name}-words"),
                             tag("ul", links, class_="rows"), id=name, aria_labelledby=f"{name}-words", tabindex="-1"))
        return self._page("Rows behind the figures", "The documents that each linked figure counts.",
                          [("Rows", f"{ROWS}.html")], parts or [tag("p", "No figure of this report links to rows.")])

    def _wrong(self):
        return self._drawn(Pen(), [panels.note(sentence, "Not read", "warn") for sentence in self._problems])

    def _drawn(self, pen, found):
        return [pen.panel(panel) for panel in found]

    def _figure(self, name, data):
        stem, _, theme = name.removesuffix(".png").rpartition("-")
        words = self._source.told["pictures"].get(stem, stem)
        width, height = (int.from_bytes(data[at:at + 4], "big") for at in (16, 20))
        return tag("figure", tag("img", src=f"pictures/{name}", alt=f"{words} ({theme} theme)", width=width,
                                 height=height), tag("figcaption", f"{words}. As it looks in the {theme} theme."))

    def _chapters(self, here):
        links = [tag("li", tag("a", chapter["title"], href=f"{chapter['id']}.html",
                               aria_current="page" if chapter["id"] == here else None))
                 for chapter in self._source.told["chapters"]]
        return tag("nav", tag("ol", links), class_="tabs", aria_label="Chapters")

    def _neighbours(self, view):
        def step(name, words):
            address_ = name and Pen("../").href({"document": name})
            return tag("a", words, href=address_) if name else tag("span", words, class_="quiet")
        return tag("nav", step(view["previous"], "← previous"), step(view["next"], "next →"),
                   tag("span", f"{view['place']} of {view['matching']}", class_="quiet"), class_="pager",
                   aria_label="Neighbours")

    def _page(self, title, lead, where, content, up=""):
        """One whole page. where [(words, path below the folder)] of the steps that lead to it from the front page."""
        steps = [("Report", "index.html"), *where]
        trail = [tag("li", tag("a", words, href=up + quote(path),
                               aria_current="page" if place == len(steps) - 1 else None))
                 for place, (words, path) in enumerate(steps)]
        head = tag("head", tag("meta", charset="utf-8"),
                   tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
                   tag("meta", name="generator", content=GENERATOR),
                   tag("meta", name="referrer", content="no-referrer"),
                   tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
                   tag("meta", name="color-scheme", content="light dark"),
                   tag("title", f"{title} · {self._about['title']}" if where else title),
                   tag("link", rel="icon", href="data:,"), tag("link", rel="stylesheet", href=f"{up}{STYLE}"))
        body = tag("body", tag("a", "Skip to the content", href="#main", class_="skip"),
                   tag("header", tag("nav", tag("ol", trail), id="where", aria_label="Where you are"), class_="top"),
                   tag("main", tag("h1", title), lead and tag("p", lead, class_="lead"), content, id="main",
                       tabindex="-1"))
        return Markup(f"<!doctype html>\n{tag('html', head, body, lang='en')}\n")


def size(texts):
    """The bytes of some texts."""
    return sum(len(text.encode()) for text in texts)


def _prose(opened, told):
    """({chapter: [section]}, [sentence]): what board.json says, with its figures filled in; what is wrong with it."""
    known, path = [chapter["id"] for chapter in told["chapters"]], opened.kit.data / board.FILE
    figures, found, problems = prose.figures(opened), {}, []
    try:
        sections = board.filled(board.read(opened.kit.data) or {"report": []}, figures)["report"]
    except BadData as e:
        return {}, e.problems
    for place, section in enumerate(sections):
        if section["id"] in known:
            found.setdefault(section["id"], []).append(section)
        else:
            problems.append(f"{path}: /report/{place}/id: {section['id']} is no chapter{near(section['id'], known)}; "
                            f"there are {', '.join(known)}")
    return found, problems + [f"{path}: {sentence}" for sentence in figures.unknown]
