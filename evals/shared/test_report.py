"""The report: pages that open from disk, the same to the byte each time, in which nothing of a document is markup."""
import contextlib
import html.parser
import io
import json
import os
import re
import shutil
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from unittest import mock
from urllib.parse import unquote

from evals.shared import arms, browser, injecting, record, scoring, showing
from src.shared import cost, follow, rates
from src.shared import kit as kits
from src.shared.files import BadData
from src.shared.view import chapters, charts, costs, inside, measured, panels, shelf, site, static
from tools import report

HOSTILE = '<script>alert(1)</script> <img src=x onerror="alert(2)"> \'"&amp; \u202edesrever\u202c \u2066x'
TAGS = set("""html head meta title link body a header nav main ol ul li h1 h2 p section div span small strong b code pre
    mark table caption thead tbody tfoot tr th td dl dt dd details summary svg line circle rect path figure img
    figcaption wbr""".split())
VOID = {"meta", "link", "img", "wbr"}


class Page(html.parser.HTMLParser):
    """One page taken apart: `.tags` in order, `.ids`, `.links`, `.words` {tag: [text]}, `.wrong` [what is amiss]."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.links, self.wrong, self.open, self.words = [], Counter(), [], [], [], {}
        self.feed(text)
        self.close()
        self.wrong += [f"{name} is never closed" for name in self.open]

    def handle_starttag(self, name, attributes):
        given = dict(attributes)
        self.tags.append((name, given))
        self.ids.update([given["id"]] if "id" in given else [])
        self.links += [given[key] for key in ("href", "src") if key in given]
        if name not in TAGS:
            self.wrong.append(f"<{name}> is no tag of a report")
        self.wrong += [f"{key} in <{name}>" for key in given if key.startswith("on") or key == "style"]
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name):
        if not self.open or self.open.pop() != name:
            self.wrong.append(f"</{name}> closes nothing")

    def handle_data(self, data):
        for name in self.open[-1:]:
            self.words.setdefault(name, []).append(data)


def leaves(value, put):
    """A copy of panel data with every text replaced that is shown to people, and none of those that steer."""
    steers = ("kind", "tone", "result", "column", "run", "error", "cell", "blame", "document")
    if isinstance(value, dict):
        return {key: part if key in steers else leaves(part, put) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [leaves(part, put) for part in value]
    return put if isinstance(value, str) else value


class TestStatic(unittest.TestCase):
    def test_text_is_never_markup_and_cannot_turn_its_surroundings(self):
        found = static.text(HOSTILE)
        self.assertEqual(Page(found).wrong, [])
        self.assertEqual({name for name, _ in Page(found).tags}, {"span"})
        self.assertIn("&lt;script&gt;", found)
        self.assertIn("[U+202E]", found)
        self.assertNotRegex(found, "[\u202a-\u202e\u2066-\u2069]")

    def test_an_attribute_ends_where_it_should(self):
        found = Page(static.tag("a", "x", title=HOSTILE, href="#a"))
        self.assertEqual(found.wrong, [])
        self.assertEqual([name for name, _ in found.tags], ["a"])
        self.assertEqual(set(found.tags[0][1]), {"title", "href"})

    def test_half_a_character_and_a_null_are_shown_by_their_number(self):
        self.assertIn("[U+D800]", static.text("\ud800").encode().decode())
        self.assertIn("[U+0000]", static.text("\0"))
        self.assertEqual(static.text("👩\u200d🌾 é\n"), "👩\u200d🌾 é\n")

    def test_of_what_is_withheld_a_page_says_how_much_it_is_and_no_more(self):
        text = "Name\n----\nrye\n\nHome\n----\n1 Long Lane\n"
        found = static.Pen().panel(panels.document(text, {}, [(text.index("Home"), len(text), "stays here")]))
        self.assertIn("rye", found)
        self.assertIn("Withheld: stays here (21 characters).", found)
        self.assertNotIn("Long Lane", found)
        self.assertNotIn("Home", found)

    def test_an_unknown_kind_of_panel_says_all_that_it_holds(self):
        found = static.Pen().panel({"kind": "dial", "title": "New", "parts": [{"name": "<a>", "share": 0.5}, None]})
        for word in ("New", "parts", "&lt;a&gt;", "0.5"):
            self.assertIn(word, found)
        self.assertEqual(Page(found).wrong, [])

    def test_a_link_to_rows_has_the_same_name_whichever_way_its_words_stand(self):
        one, other = {"run": "b1", "error": "x"}, {"error": "x", "run": "b1"}
        self.assertEqual(static.anchor(one), static.anchor(other))
        self.assertNotEqual(static.anchor(one), static.anchor({**one, "column": "raw"}))

    def test_a_document_with_an_odd_name_is_linked_by_an_address_that_a_browser_reads_back(self):
        found = static.Pen("../").href({"document": "a b#1?%20"})
        self.assertEqual(unquote(found), "../documents/a b#1?%20.html")
        self.assertFalse(set("#? ") & set(found))


class TestReport(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stage = showing.Stage(showing.first_kit())
        cls.addClassCleanup(cls.stage.close)
        cls.document = next(cls.stage.kit().documents())
        page = cls.stage.data / "corpus" / f"{cls.document}.txt"
        page.write_text(page.read_text(encoding="utf-8").rstrip("\n") + f"\n{HOSTILE}\n", encoding="utf-8")
        cls.ids = cls.stage.floors()
        (cls.stage.results / "shots").mkdir()
        for name in ("document-light", "document-dark"):
            shutil.copyfile(next(kits.ROOT.glob("results/**/shots/document-light.png"), report.TOLD),
                            cls.stage.results / "shots" / f"{name}.png")
        cls.name, cls.shelf = cls.stage.kit_name, cls.stage.shelf()
        cls.files = report.build(cls.name, cls.shelf)
        cls.pages = {name: Page(data.decode()) for name, data in cls.files.items() if name.endswith(".html")}
        cls.opened = cls.shelf.open(cls.name)

    def text(self, name):
        return self.files[f"{name}.html"].decode()

    def test_every_chapter_and_every_document_has_a_page_and_all_of_it_fits(self):
        told = report.read_json(report.TOLD)
        self.assertEqual([chapter["id"] for chapter in told["chapters"]], list(site.DRAWN))
        for chapter in told["chapters"]:
            self.assertIn(f"{chapter['id']}.html", self.files)
        for document in self.opened.documents:
            self.assertIn(f"documents/{document}.html", self.files)
        self.assertLessEqual(sum(map(len, self.files.values())), report.LIMIT)

    def test_two_builds_are_the_same_to_the_byte_and_name_no_folder_of_this_machine(self):
        again = report.build(self.name, self.stage.shelf())
        self.assertEqual([name for name in self.files if again[name] != self.files[name]], [])
        self.assertEqual(list(again), list(self.files))
        for name, data in self.files.items():
            for folder in (self.stage.data, kits.ROOT):
                self.assertNotIn(str(folder).encode(), data, name)

    def test_every_link_leads_to_a_place_that_is_there(self):
        count = 0
        for name, page in self.pages.items():
            for link in page.links:
                if link == "data:,":
                    continue
                path, _, place = link.partition("#")
                target = Path("/", name).parent / unquote(path) if path else Path("/", name)
                target = str(Path(target).resolve())[1:]
                with self.subTest(page=name, link=link):
                    self.assertIn(target, self.files)
                    if place:
                        self.assertIn(unquote(place), self.pages[target].ids)
                count += 1
        self.assertGreater(count, len(self.pages))

    def test_nothing_comes_from_elsewhere_and_no_script_is_there(self):
        for name, page in self.pages.items():
            self.assertEqual([link for link in page.links if re.match(r"\w+:|//", link) and link != "data:,"], [], name)
            self.assertIn("default-src 'none'", next(given["content"] for tag, given in page.tags if tag == "meta"
                                                     and given.get("http-equiv") == "Content-Security-Policy"))

    def test_pages_are_well_formed_and_say_what_they_are(self):
        for name, page in self.pages.items():
            names = [tag for tag, _ in page.tags]
            with self.subTest(page=name):
                self.assertEqual(page.wrong, [])
                self.assertEqual([id_ for id_, times in page.ids.items() if times > 1], [])
                self.assertEqual((names.count("h1"), names.count("main"), names.count("header")), (1, 1, 1))
                self.assertEqual(next(given["lang"] for tag, given in page.tags if tag == "html"), "en")
                self.assertEqual(names.count("table"), names.count("caption"))
                self.assertTrue(all("scope" in given for tag, given in page.tags if tag == "th"))
                self.assertTrue(all(given.get("alt") for tag, given in page.tags if tag == "img"))
                self.assertIn(("a", {"class": "skip", "href": "#main"}), page.tags)

    def test_a_document_that_holds_markup_is_shown_as_it_stands(self):
        self.assertIn("&lt;script&gt;alert(1)&lt;/script&gt;", self.text(f"documents/{self.document}"))
        for name, page in self.pages.items():
            self.assertNotIn("script", [tag for tag, _ in page.tags], name)
            self.assertEqual([given for tag, given in page.tags if "onerror" in given], [], name)
            self.assertNotRegex(self.files[name].decode(), "[\u202a-\u202e\u2066-\u2069]")

    def test_panels_of_every_kind_hold_what_replies_say_as_text(self):
        shown = chapters.shown(self.opened)
        found = [*charts.intervals(shown), *charts.matrices(shown), charts.coverage("t", {"a": 1, "b": 0}),
                 panels.arithmetic([("a", 1, "+", 2, 3)], "t"), panels.state([("a", "b", "c")], "t"),
                 {"kind": "steps", "title": "t", "steps": ["a"]},
                 panels.note("a", "t", lines=["b"]), panels.table(["a"], [["b"]], "t"),
                 {"kind": "curve", "title": "t", "text": "u", "points": [
                     {"name": "n", "x": .5, "y": .5, "low": 0, "high": 1, "cell": {"text": "x"}}]},
                 *chapters.document(mock.Mock(opened=self.opened, shown=shown), self.document, 2)["panels"]]
        drawn_kinds = {name[1:] for name in vars(static.Pen) if name.startswith("_") and name[1:] in panels.__doc__
                       + charts.__doc__}
        self.assertGreaterEqual({panel["kind"] for panel in found}, drawn_kinds - {"section"})
        for panel in found:
            drawn = static.Pen(named=True).panel(leaves(panel, HOSTILE))
            self.assertEqual(Page(drawn).wrong, [], panel["kind"])
            self.assertIn("&lt;script&gt;", drawn)
            self.assertFalse({"script", "img"} & {tag for tag, _ in Page(drawn).tags}, panel["kind"])

    def test_a_counted_error_leads_to_exactly_the_rows_of_the_record(self):
        asked = {}
        page = static.Pen("", asked)
        page.panel(*measured.errors(mock.Mock(opened=self.opened, shown=chapters.shown(self.opened))))
        self.assertTrue(asked)
        for name, words, documents in chapters.asked(self.opened, asked):
            link = asked[name]
            run = next(run for run in self.opened.runs if run.id == link["run"])
            error = next(error for error in run.record["errors"] if error["id"] == link["error"])
            self.assertEqual(documents, error[link["column"]]["rows"])
            self.assertIn(error["title"], words)
            section = re.search(f'<section id="{name}".*?</section>|<section [^>]*id="{name}".*?</section>',
                                self.text("rows"), re.DOTALL)[0]
            self.assertEqual(re.findall(r'href="documents/([^"]+)\.html"', section), documents)

    def test_figures_stand_beside_the_null_baseline_and_what_no_model_did_is_not_measured(self):
        run = self.opened.runs[0]
        metric = run.record["metrics"][0]["raw"]
        self.assertIn(f"{metric['num']}/{metric['den']}", self.text("evals"))
        self.assertIn("null baseline", self.text("evals"))
        for name in ("index", "evals", "scenarios"):
            self.assertIn(measured.NO_MODEL, self.text(name))
        for name in ("telemetry", "cost"):
            self.assertIn("Not measured", self.text(name))

    def test_a_document_that_went_wrong_by_name_has_the_answer_beside_the_key(self):
        shown = chapters.shown(self.opened)
        wrong = next((run, name) for run in shown for name, row in run.rows.items() if any(row.errors.values()))
        right = [name for name in self.opened.documents
                 if not any(any(run.rows[name].errors.values()) for run in shown)]
        self.assertIn(f"Replay of {wrong[0].id}", self.text(f"documents/{wrong[1]}"))
        for name in right[:1]:
            self.assertNotIn("Replay of", self.text(f"documents/{name}"))

    def test_where_there_is_no_room_the_key_stands_alone_and_the_dearest_errors_keep_their_answers_longest(self):
        source = mock.Mock(opened=self.opened, shown=chapters.shown(self.opened), told=report.read_json(report.TOLD))
        pages = site.Site(source)
        few = pages.documents(0)
        self.assertEqual(list(few), [static.address(name) for name in self.opened.documents])
        self.assertFalse([name for name, text in few.items() if "Replay of" in text])
        self.assertIn("Wrong here as well: ", few[static.address(chapters.dearest(source)[0])])
        first, *_, last = chapters.dearest(source)
        room = site.size(few.values()) + site.size([pages.document(first, 1)]) - site.size([pages.document(first, 0)])
        some = pages.documents(room)
        self.assertIn("Replay of", some[static.address(first)])
        self.assertNotIn("Replay of", some[static.address(last)])
        self.assertLessEqual(site.size(some.values()), room)

    def test_each_planned_case_says_how_many_of_its_documents_are_right(self):
        run = chapters.shown(self.opened)[0]
        rows = chapters.scenarios(mock.Mock(opened=self.opened, shown=[run]))[-1]["rows"]
        self.assertEqual(sum(len(row[-2]) for row in rows), len(self.opened.documents))
        right = sum(int(row[-1][0]["text"].split("/")[0]) for row in rows)
        self.assertEqual(right, run.record["metrics"][0]["raw"]["num"])

    def test_the_corpus_counts_every_document_once(self):
        planned = chapters._planned(self.opened)
        names = [cell["text"] for row in planned["rows"] for cell in row[-1]]
        self.assertEqual(Counter(names), Counter(list(self.opened.documents)))

    def test_a_projection_is_dated_by_its_cards_and_shows_no_tariff_of_ones_own(self):
        path = self.stage.data / "tariff.json"
        path.write_text(json.dumps({"unit": rates.UNIT, "cards": [
            {"id": "between-us", "models": ["made-up-1"], "input": 1, "output": 2}]}), encoding="utf-8")
        self.addCleanup(path.unlink)
        with mock.patch.object(cost, "TARIFF", path):
            found = list(chapters.unit_cost(mock.Mock(opened=self.opened)))
            shown = json.dumps(costs.costs(self.opened, {}))
        self.assertIn("between-us", shown)
        self.assertNotIn("between-us", json.dumps(found))
        self.assertIn(max(card.as_of for card in rates.load(cost.RATES)), json.dumps(found))

    def test_the_picture_of_the_board_stands_on_its_page_with_its_size(self):
        found = next(given for tag, given in self.pages["app.html"].tags if tag == "img")
        self.assertIn("pictures/document-light.png", self.files)
        self.assertTrue(int(found["width"]) and int(found["height"]))

    def test_the_words_of_the_kit_stand_with_their_figures_filled_in(self):
        self.assertNotRegex(self.text("business"), r"\{[a-z]+(\.[a-z0-9_]+)*\}")
        told = report.read_json(self.stage.data / "board.json").get("report", [])
        for section in told:
            self.assertIn(static.text(section["title"]), self.text(section["id"]))

    def test_without_words_of_its_own_a_kit_says_so_and_broken_ones_are_named(self):
        path = self.stage.data / "board.json"
        before = path.read_bytes()
        self.addCleanup(path.write_bytes, before)
        told = report.read_json(report.TOLD)
        chapter = next(chapter for chapter in told["chapters"] if chapter["id"] == "business")
        board = {name: [] for name in ("watched", "ripple", "fires", "add_first", "cadence")}

        def drawn():
            return site.Site(mock.Mock(opened=self.opened, shown=[], told=told)).chapter(chapter)

        def business(value):
            path.write_text(value, encoding="utf-8")
            return drawn()
        self.assertIn(site.NOT_TOLD, business(json.dumps(board)))
        section = {"id": "busines", "title": "t", "paragraphs": ["{documents} <b>pages</b>"]}
        self.assertIn("busines is no chapter (did you mean business?)",
                      business(json.dumps({**board, "report": [section]})))
        self.assertIn("{nothing}", business(json.dumps({**board, "report": [
            {**section, "id": "business", "paragraphs": ["{nothing}"]}]})))
        self.assertIn(f"{len(self.opened.documents)} &lt;b&gt;pages&lt;/b&gt;", business(json.dumps(
            {**board, "report": [{**section, "id": "business"}]})))
        self.assertIn("not JSON", business("{"))
        path.unlink()
        self.assertIn(site.NOT_TOLD, drawn())

    def test_a_page_opens_from_disk_without_a_server_at_any_width_in_both_themes(self):
        if browser.missing():
            self.skipTest(browser.missing())
        with tempfile.TemporaryDirectory() as folder, browser.Browser() as page:
            report.write(Path(folder) / "out", self.files)
            for name in ("index", "evals", "guardrails", f"documents/{self.document}"):
                for width, theme in ((1280, "light"), (320, "dark")):
                    page.size(width, 800)
                    page.media(theme)
                    page.go(f"file://{folder}/out/{name}.html")
                    told = page.script("return [document.documentElement.scrollWidth, document.styleSheets.length, "
                                       "getComputedStyle(document.body).backgroundColor, document.scripts.length]")
                    ground = max(map(int, re.findall(r"\d+", told.pop(2))))
                    self.assertEqual((told, ground > 128), ([width, 1, 0], theme == "light"), name)
            page.go(f"file://{folder}/out/app.html")
            self.assertTrue(page.script("return [...document.images].every((image) => image.naturalWidth > 0)"))
            self.assertEqual(page.console(), [])


@unittest.skipUnless("SHAPES" in os.environ, "a whole report of the longest kit takes seconds; .ci/run asks for it")
@unittest.skipUnless("legal_hold" in kits.names(), "legal_hold is not in this checkout")
class TestRoom(unittest.TestCase):
    def test_the_longest_report_has_room_left_and_no_document_lost_an_answer_for_it(self):
        opened = shelf.Shelf(local=False).open("legal_hold")
        files = report.build("legal_hold", shelf.Shelf(local=False))
        self.assertLessEqual(sum(map(len, files.values())), report.LIMIT - 50_000)
        made = chapters.dearest(chapters.Source(opened, chapters.shown(opened), None, None, None, None))
        self.assertTrue(made)
        for name in made:
            self.assertIn(b"Replay of ", files[f"documents/{name}.html"])
        # The pages are handed round, and what is withheld stays where the documents are.
        everything, kit = b"\n".join(files.values()), opened.kit
        for name in kit.documents():
            found = kit.definition.panels(kit.book, name, kit.text(name), {})[0]
            withheld = [piece["text"] for block in found["blocks"] if block["withheld"] for piece in block["segments"]]
            self.assertIn("home address", "".join(withheld))
            for line in "".join(withheld).split("-\n", 1)[1].splitlines():
                self.assertNotIn(static.text(line.strip() or "home address").encode(), everything)


class TestMeasured(unittest.TestCase):
    """A kit with a model run, its injection run and a count of tokens; none of them was ever sent anywhere."""

    @classmethod
    def setUpClass(cls):
        cls.stage = showing.Stage(showing.first_kit())
        cls.addClassCleanup(cls.stage.close)
        kit = cls.stage.kit()
        cls.bench, cls.settings = showing._bench(kit), {"provider": "openai-compatible", "model": "made-up-1"}
        cls.floor = next(iter(cls.bench.floors))
        cls.run_id, cls.planted = f"r001-{kit.hyphened}", f"x001-{kit.hyphened}"
        cls.stage.record(cls.run_id, cls.floor, cls.settings)
        cls.plant(kit)
        (cls.stage.results / "tokens-c001.json").write_text(json.dumps({
            "run": {"date": "2026-09-01"}, "settings": cls.settings, "whole": {"D-1": 1234, "D-2": 1250},
            "parts": [{"part": "rules", "fixed": True, "tokens": {"D-1": 1200, "D-2": 1200}},
                      {"part": "page", "fixed": False, "tokens": {"D-1": 34, "D-2": 50}}]}), encoding="utf-8")
        cls.opened = cls.stage.opened()

    @classmethod
    def plant(cls, kit):
        twins = injecting.Twins(kit, cls.bench.attacks)
        grading, call = scoring.Scoring(twins, cls.bench), arms.free(twins, cls.bench)[cls.floor].call
        entries = [grading.entry(row, follow.read(twins, row["id"], call(row["id"], twins.text(row["id"]))))
                   for row in twins.gold()]
        record.write(record.path_of(cls.stage.results, cls.planted), entries, lambda: {
            **grading.closing(), "settings": cls.settings,
            "run": {"id": cls.planted, "kit": kit.name, "arm": "injection", "date": showing.DATE}})

    def source(self, attacked=None):
        return mock.Mock(opened=self.opened, shown=chapters.shown(self.opened), attacked=attacked or {},
                         told=report.read_json(report.TOLD))

    def test_a_kept_model_run_stands_first_and_no_page_says_that_there_is_none(self):
        self.assertEqual([run.id for run in chapters.shown(self.opened)], [self.run_id])
        self.assertEqual(measured.no_model(self.opened), [])
        self.assertEqual(measured.every_run(self.opened)["rows"][0][0]["text"], self.run_id)

    def test_an_injection_run_is_held_against_the_run_over_the_clean_pages(self):
        found = report._attacked(self.opened, self.bench)
        self.assertEqual(list(found), [*(f"{name} (free)" for name in self.bench.floors), self.planted])
        self.assertEqual(found[self.planted], found[f"{self.floor} (free)"])
        table, *rest = measured.attacks(self.source(found))
        self.assertEqual(len(table["rows"]), len(found) * len(self.bench.attacks))
        self.assertFalse([panel for panel in rest if "Not measured" in (panel["text"] or "")])

    def test_a_planted_twin_leads_to_the_page_that_it_was_planted_into(self):
        run = next(run for run in self.opened.runs if run.id == self.planted)
        panel = next(charts.matrices([run]))
        cell = next(cell for row in panel["rows"] for cell in row if cell) if panel["kind"] == "matrix" else \
            panel["bars"][0]["cells"][0]
        pages = site.Site(self.source())
        pages._asked[static.anchor(cell["link"])] = cell["link"]
        links = re.findall(r'<a href="documents/([^"]+)\.html">([^<]+)</a>', pages.rows())
        self.assertEqual(len(links), int(cell["text"]))
        self.assertEqual({page for page, _ in links}, {twin.rpartition("+")[0] for _, twin in links})

    def test_tokens_that_a_provider_counted_stand_part_by_part(self):
        table = list(measured.parts(self.opened))[-1]
        self.assertIn("made-up-1", table["title"])
        self.assertEqual([cell["text"] for cell in table["rows"][0]], ["rules", measured.ALIKE, "1,200", "1,200"])
        self.assertEqual(table["rows"][-1][-1]["text"], "1,250")


class TestInside(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kit = kits.load(kits.names()[0])
        cls.found = inside.read(cls.kit)

    def test_modules_are_counted_as_they_stand_and_those_of_other_kits_are_left_out(self):
        rows = inside.modules(self.kit, self.found)["rows"]
        path = f"src/{self.kit.name}/kit.py"
        told = next(row for row in rows if row[0]["text"] == path)
        source = (kits.ROOT / path).read_text(encoding="utf-8")
        self.assertEqual(told[1]["text"], str(source.count("\n")))
        self.assertIn(told[2]["text"], source)
        others = [name for name in kits.names() if name != self.kit.name]
        self.assertFalse([module.path for module in self.found if any(f"/{name}/" in module.path for name in others)])

    def test_imports_run_from_the_kit_to_what_is_shared_and_never_from_src_to_evals(self):
        arrows = {(row[0]["text"], row[1]["text"]) for row in inside.imports(self.found)["rows"]}
        self.assertIn((f"src/{self.kit.name}", "src/shared"), arrows)
        self.assertFalse([pair for pair in arrows if pair[0].startswith("src") and not pair[1].startswith("src")])
        self.assertFalse([pair for pair in arrows if pair[0] == "src/shared" and pair[1].endswith(self.kit.name)])

    def test_every_variable_of_the_example_stands_with_its_default(self):
        rows = {row[0]["text"]: row[1] for row in inside.variables()["rows"]}
        text = (kits.ROOT / ".env.example").read_text(encoding="utf-8")
        wanted = dict(re.findall(r"^([A-Z_]+)=(.*)$", text, re.MULTILINE))
        self.assertEqual({name: cell["text"] for name, cell in rows.items() if "why" not in cell},
                         {name: value for name, value in wanted.items() if value})
        self.assertEqual(rows.keys(), wanted.keys())

    def test_every_command_is_listed(self):
        rows = {row[0]["text"] for row in inside.commands(self.found)["rows"]}
        self.assertLessEqual({"python -m evals.run", "python -m src.app", "python -m tools.report"}, rows)

    def test_what_the_shared_words_point_at_is_there(self):
        told = report.read_json(report.TOLD)
        items = [item for frame in told["frameworks"] for item in frame["items"]]
        for row in told["stations"] + told["seams"] + told["threats"] + [item for item in items if item["where"]]:
            self.assertTrue(inside.places(self.kit, row["where"]), row)
        shared = {path for row in told["stations"] + told["threats"] + items for path in row["where"]
                  if "{" not in path}
        self.assertEqual([path for path in shared if not (kits.ROOT / path).exists()], [])


class TestCommand(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.kit = kits.names()[0]
        self.pages = {"index.html": f'<meta name="generator" content="{site.GENERATOR}">'.encode(),
                      "documents/a.html": b"a", report.LIST: b"1 index.html\n1 documents/a.html\n"}

    def main(self, *words, files=None):
        out, err = io.StringIO(), io.StringIO()
        build = mock.patch.object(report, "build", side_effect=files if isinstance(files, Exception) else None,
                                  return_value=files or self.pages)
        with build, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = report.main([self.kit, *words])
        return code, out.getvalue(), err.getvalue()

    def left(self):
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file())

    def test_it_says_what_it_wrote_and_replaces_its_own_report(self):
        code, out, _ = self.main("--out", str(self.folder / "new"))
        self.assertEqual(code, 0)
        self.assertIn("documents/a.html", out)
        del self.pages["documents/a.html"]
        self.assertEqual(self.main("--out", str(self.folder / "new"))[0], 0)
        self.assertEqual(self.left(), ["new/files.txt", "new/index.html"])

    def test_a_folder_of_somebody_else_is_left_alone(self):
        (self.folder / "mine.txt").write_text("mine")
        code, out, err = self.main("--out", str(self.folder))
        self.assertEqual((code, out), (2, ""))
        self.assertIn("is neither empty nor a report", err)
        self.assertEqual(self.main("--out", str(self.folder / "mine.txt"))[0], 2)
        self.assertEqual(self.left(), ["mine.txt"])

    def test_a_file_that_somebody_put_into_a_report_is_not_lost(self):
        self.main("--out", str(self.folder))
        (self.folder / "documents" / "notes.txt").write_text("mine")
        code, _, err = self.main("--out", str(self.folder))
        self.assertEqual(code, 2)
        self.assertIn("documents/notes.txt is not of this report and would be lost", err)
        self.assertEqual((self.folder / "documents" / "notes.txt").read_text(), "mine")

    def test_a_report_that_cannot_be_written_leaves_the_old_one(self):
        report.write(self.folder / "out", self.pages)
        before = self.left()
        rename = report.os.rename

        def fails(source, target):
            if Path(target).name == "out" and ".before" not in Path(source).name:
                raise OSError(28, "No space left on device", str(target))
            rename(source, target)
        with mock.patch.object(report.os, "rename", side_effect=fails), self.assertRaises(OSError):
            report.write(self.folder / "out", self.pages)
        self.assertEqual(self.left(), before)

    def test_a_report_that_is_too_big_is_named_and_not_written(self):
        with self.assertRaises(report.TooBig) as caught:
            report._refuse_oversize({"a.html": b"x" * report.LIMIT, "b.html": b"y"})
        self.assertIn("the largest are a.html 2,000,000", str(caught.exception))
        code, out, err = self.main("--out", str(self.folder / "new"), files=caught.exception)
        self.assertEqual((code, out, self.left()), (1, "", []))
        self.assertIn("more than 2,000,000", err)

    def test_a_corpus_that_is_too_big_is_refused_before_any_page_is_drawn(self):
        with mock.patch.object(report, "LIMIT", 100), self.assertRaises(report.TooBig) as caught:
            report.build(self.kit, shelf.Shelf(local=False))
        self.assertIn("pages of the corpus", str(caught.exception))

    def test_an_unknown_kit_and_a_missing_folder_name_are_usage(self):
        with contextlib.redirect_stderr(io.StringIO()) as err, self.assertRaises(SystemExit) as left:
            report.main([self.kit])
        self.assertEqual(left.exception.code, 2)
        self.assertIn("--out", err.getvalue())
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(report.main(["nothing", "--out", str(self.folder / "new")]), 2)
        self.assertIn("no kit is called nothing", err.getvalue())

    def test_a_data_folder_that_is_broken_is_named(self):
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(report.main([self.kit, "--data", str(self.folder), "--out", str(self.folder / "new")]), 2)
        self.assertIn("kit.json", err.getvalue())

    def test_a_key_without_documents_has_nothing_to_report(self):
        shutil.copytree(kits.load(self.kit).data, self.folder / "data", ignore=shutil.ignore_patterns("corpus"))
        for text, said in (("", "holds no document"), ("{", "gold.jsonl: line 1")):
            (self.folder / "data" / "gold.jsonl").write_text(text)
            with contextlib.redirect_stderr(io.StringIO()) as err:
                self.assertEqual(report.main(["--data", str(self.folder / "data"), "--out", str(self.folder / "new")]
                                             + [self.kit]), 2)
            self.assertIn(said, err.getvalue())
        self.assertFalse((self.folder / "new").exists())


if __name__ == "__main__":
    unittest.main()
