"""The guardrail view over records made by hand: guards, bands, deviations, ripple, what fires, and its prose."""
import json
import re
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

from evals.shared import thresholds
from evals.shared.test_measuring import entry, record_of, written
from src.shared import comparing
from src.shared.files import BadData
from src.shared.guards import in_hand
from src.shared.parts import Part
from src.shared.view import board, drift, prose, ripple, runs, shelf, watch

DOCUMENTS = [f"D-{number}" for number in range(4)]
EMPTY = {"watched": [], "ripple": [], "fires": [], "add_first": [], "cadence": []}
# What may hold digits in prose beside placeholders: ids of rules, documents and runs, dates, and places in the law.
NO_FIGURE = re.compile(r"\b[A-Z]{1,5}-[0-9]+\w*|\b[rsacbtx][0-9]{3}\b|\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b"
                       r"|\b[0-9]+ CFR [0-9.]+(\(\w+\))*(( or | and |, )[0-9]+\.[0-9]+(\(\w+\))*)*"
                       r"|\b[Rr]ule [0-9]+(\(\w+\))*")


def typed(text):
    """The figures that are typed in a text of prose, where a placeholder should stand."""
    return re.findall(r"[0-9]+", NO_FIGURE.sub("", prose.PLACE.sub("", text)))


class Desk(unittest.TestCase):
    """A kit of four documents in a temporary folder, and records of it with the marks that a test wants."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.data, self.results = Path(folder.name), Path(folder.name) / "results"
        (self.results / "local").mkdir(parents=True)
        (self.data / "gold.jsonl").write_text("".join(f'{{"id": "{name}"}}\n' for name in DOCUMENTS), encoding="utf-8")
        self.kit = SimpleNamespace(
            name="x", hyphened="x", data=self.data, results=self.results, documents=lambda: iter(DOCUMENTS),
            text=lambda name: f"the page of {name}", prompt=lambda name: [Part("rules", "system", "Read.", True, None)],
            definition=SimpleNamespace(variants=None), about={"documents": "pages", "primary_metric": "right"})
        self.now = in_hand(self.kit)

    def run_(self, name, right=(), unsafe=(), arm="model", local=False, settings=(), date="2026-01-01", seconds=None,
             **guards):
        """Keep a record in which these documents are right, or make the error `unsafe`, and return it as a Run."""
        entries = [entry(document, right=document in right, unsafe=document in unsafe) | {"seconds": seconds}
                   for document in DOCUMENTS]
        whole = record_of(entries, name, **{**self.now, **guards})
        whole |= {"settings": {"model": "m", "workers": 1, **dict(settings)} if arm == "model" else None}
        whole["run"] |= {"arm": arm, "date": date}
        path = written(self.results / ("local" if local else "") / f"eval-{name}.json", whole)
        return runs.read(f"local/{name}" if local else name, path)

    def opened(self, *found):
        return shelf.Opened(self.kit, dict.fromkeys(DOCUMENTS), {}, sorted(found, key=runs.sort_key), [], {})

    def keep(self, **sections):
        (self.data / "board.json").write_text(json.dumps({**EMPTY, **sections}), encoding="utf-8")

    def view(self, *found):
        return watch.watch(self.opened(*found))


def table(view, title):
    """{first cell of a row: its other cells as text} of the table whose title begins like this."""
    found = next(panel for panel in view["panels"] if (panel["title"] or "").startswith(title))
    return {words(row[0]): [words(cell) for cell in row[1:]] for row in found["rows"]}


def note(view, title):
    return next(panel for panel in view["panels"] if panel["kind"] == "note" and panel["title"].startswith(title))


def words(cell):
    """A cell in one line: its head, text and reason."""
    if isinstance(cell, list):
        return " / ".join(map(words, cell))
    return " ".join(filter(None, (cell.get("head"), cell["text"], cell.get("why") and f"({cell['why']})")))


class TestFilling(Desk):
    def told(self, text, *found):
        figures = prose.figures(self.opened(*found))
        return prose.fill(text, figures), figures.unknown

    def test_figures_come_from_the_records_and_not_from_the_text(self):
        first, model = self.run_("b001-x", DOCUMENTS[:1], arm="floor"), self.run_(
            "r001-x", DOCUMENTS[:3], DOCUMENTS[3:], seconds={"total": 2.0})
        for text, wanted in (("{documents}", "4"), ("{runs.r} of {runs.s}", "1 of 0"), ("{enough}", "59"),
                             ("{run.b001.right.raw}", "1 of 4 (25 %, 95 % interval 5–70 %)"),
                             ("{model.right.rechecked.count}/{model.right.raw.of}", "3/4"),
                             ("{model.right.raw.missed}", "1"), ("{model.right.raw.rate}", "75 %"),
                             ("{model.unsafe.raw}", "1 of 4 (25 %)"), ("{model.unsafe.raw.documents}", "1"),
                             ("{run.b001.unsafe.raw}", "0 of 4 (none, which still allows 75 %)"),
                             ("{opportunities.unsafe}", "4"), ("{model.id} {model.date}", "r001-x 2026-01-01"),
                             ("{model.outcomes.answered}", "4"), ("{model.seconds.p95}", "2.0 s"),
                             ("{model.setting.model}", "m")):
            with self.subTest(text):
                self.assertEqual(self.told(text, first, model), (wanted, []))

    def test_what_stands_in_the_data_is_named_by_its_place(self):
        (self.data / "policy.json").write_text('{"limit": {"value": 14, "share": 0.60}, "rules": [{"id": "R-1", "why": '
                                               '"so"}, {"id": "R-2", "why": null}]}', encoding="utf-8")
        self.assertEqual(self.told("{data.policy.limit.value} {data.policy.limit.share} {data.policy.rules} "
                                   "{data.policy.rules.R-1.why}"), ("14 0.60 2 so", []))
        for place in ("data.policy.limt", "data.polcy.limit", "data.policy.rules.R-2.why", "data.policy.rules.R-3",
                      "data.../policy", "data.policy.limit.value.more"):
            with self.subTest(place):
                self.assertEqual(len(self.told(f"{{{place}}}")[1]), 1)

    def test_what_is_not_measured_says_so_and_is_no_zero(self):
        floor = self.run_("b001-x", arm="floor")
        for place in ("model.right.raw", "run.r009.unsafe.raw.count", "model.tokens.input", "model.seconds.p50",
                      "model.cost.usd", "model.outcomes.refused", "model.calls", "null.right"):
            with self.subTest(place):
                self.assertEqual(self.told(f"{{{place}}}", floor), (prose.NOT_MEASURED, []))
        self.assertEqual(self.told("{model.right.raw}"), (prose.NOT_MEASURED, []))

    def test_what_means_nothing_stays_and_names_the_near_one(self):
        floor = self.run_("b001-x", arm="floor")
        for place, said in (("modle.right.raw", "did you mean model"), ("model.rihgt.raw", "did you mean right"),
                            ("model.right", "raw or rechecked is missing"),
                            ("model.right.raw.cuont", "did you mean count"),
                            ("model.unsafe.raw.missed", "has no missed"), ("runs.q", "no kind of run"),
                            ("run.first.right.raw", "whole placeholder"), ("documents.all", "whole placeholder"),
                            ("model.seconds.p99", "p99"), ("model.__class__", "no thing told of a run"),
                            ("", "placeholder")):
            with self.subTest(place):
                text, unknown = self.told(f"{{{place}}}", floor)
                self.assertEqual(text, f"{{{place}}}")
                self.assertIn(said, unknown[0])


class TestBoardFile(Desk):
    def test_a_folder_without_one_has_none_and_a_whole_one_is_read(self):
        self.assertIsNone(board.read(self.data))
        self.keep(cadence=[{"when": "always", "do": "this", "why": "so"}])
        self.assertEqual(board.read(self.data)["cadence"][0]["do"], "this")
        self.assertEqual(board.read(self.data)["report"], [])

    def test_everything_wrong_is_said_at_once_with_its_place(self):
        self.keep(watchd=[], watched=[{"mark": 1, "why": "x"}, {"mark": "right"}], ripple=[
            {"from": "a", "to": "b", "why": " ", "measured": None},
            {"from": "a", "to": "b", "why": "x", "measured": "so"},
            {"from": "a{b", "to": "b", "why": "x", "measured": None, "wy": ""}], add_first={}, fires=[
            {"gate": "fail_under", "value": 2, "why": "x", "mark": "right"},
            {"gate": "fail_under", "value": 1, "why": "x"},
            {"gate": "max_regressions", "value": "best floor", "mark": "right", "why": "x"}],
            report=[{"id": "a", "title": "A", "paragraphs": ["x", 1]}], turns=[
            {"error": "unsafe", "on": ["walk", ""], "nothing": "x"},
            {"error": "unsafe", "on": ["a."], "said_by": "me", "nothing": "x"},
            {"error": "unsafe", "on": ["a."], "word": "yes", "nothing": "x"},
            {"error": "unsafe", "on": "walk", "nothing": "x"}, {"error": "unsafe", "on": [], "nothing": " "}])
        with self.assertRaises(BadData) as caught:
            board.read(self.data)
        said = [problem.removeprefix(f"{self.data / 'board.json'}: ") for problem in caught.exception.problems]
        for place in ("/watchd", "/watched/0", "/watched/1", "/ripple/0", "/ripple/1", "/ripple/2", "/fires/0",
                      "/fires/1", "/fires/2", "/: add_first", "/report/0", "/turns/0", "/turns/1", "/turns/2",
                      "/turns/3", "/turns/4"):
            with self.subTest(place):
                self.assertTrue([problem for problem in said if problem.startswith(place)], said)
        self.assertIn("did you mean watched", said[0])

    def test_the_marks_of_a_counted_edge_are_no_prose_and_the_ends_of_a_reasoned_one_are(self):
        edges = [{"from": "right", "to": "unsafe", "why": "a", "measured": "together"},
                 {"from": "b", "to": "c", "why": "d", "measured": None}]
        self.assertEqual([text for _, text in board.texts({"ripple": edges})], ["a", "b", "c", "d"])


class TestBands(Desk):
    def test_a_band_takes_two_runs_of_one_thing(self):
        first = self.run_("r001-x", DOCUMENTS[:2])
        self.assertIsNone(drift.band(drift.repeats([first], first), "right", "raw"))
        again = self.run_("r002-x", DOCUMENTS[:3], DOCUMENTS[3:], settings={"workers": 9})
        found = drift.repeats([first, again], first)
        self.assertEqual(drift.band(found, "right", "raw"), (0.5, 0.75, ["r001-x", "r002-x"]))
        self.assertEqual(drift.band(found, "unsafe", "raw")[:2], (0, 1))

    def test_another_prompt_setting_or_arm_is_no_repeat(self):
        first = self.run_("r001-x")
        others = [self.run_("r002-x", prefix="other"), self.run_("r003-x", settings={"max_tokens": 9}),
                  self.run_("b001-x", arm="floor")]
        self.assertEqual(drift.repeats([first, *others], first), [first])

    def test_the_watched_table_shows_the_band_or_why_there_is_none(self):
        self.keep(watched=[{"mark": "right", "why": "Of {documents}."}])
        first, again = self.run_("r001-x", DOCUMENTS[:2]), self.run_("r002-x", DOCUMENTS[:3])
        self.assertIn("not yet known", table(self.view(first), "Watched")["right (Of 4.)"][-1])
        model, *_, band = table(self.view(first, again), "Watched")["right (Of 4.)"]
        self.assertIn("raw 3/4", model)
        self.assertIn("raw 50 % to 75 % (over r001-x, r002-x)", band)


class TestDeviations(Desk):
    def setUp(self):
        super().setUp()
        self.two = [self.run_("r001-x", DOCUMENTS[:2]), self.run_("r002-x", DOCUMENTS[:3])]

    def test_a_figure_outside_the_band_stands_beside_what_differs(self):
        later = self.run_("r003-x", DOCUMENTS[:1], prefix="other", settings={"max_tokens": 9}, date="2026-01-02")
        found = drift.deviations([*self.two, later], ["right", "unsafe"])
        self.assertEqual([(one.run.id, one.mark, one.column, one.value) for one in found.deviations],
                         [("r003-x", "right", "raw", 0.25), ("r003-x", "right", "rechecked", 0.25)])
        self.assertEqual(found.deviations[0].differs, [f"prefix: {self.now['prefix']}, here other",
                                                       "max_tokens: None, here 9"])
        row = table(self.view(*self.two, later), "Deviations")["r003-x"]
        self.assertIn("50 % to 75 %", row[3])

    def test_a_new_row_of_a_named_error_is_one_and_names_its_document(self):
        later = self.run_("r003-x", DOCUMENTS[:2], DOCUMENTS[3:])
        found = drift.deviations([*self.two, later], ["right", "unsafe"]).deviations
        self.assertEqual([(one.mark, one.new) for one in found], [("unsafe", ["D-3"])] * 2)
        self.assertEqual(found[0].differs, [])
        self.assertIn("the same guards and settings", table(self.view(*self.two, later), "Deviations")["r003-x"][-1])

    def test_the_same_count_in_another_document_is_a_new_row_too(self):
        before = [self.run_("r001-x", unsafe=["D-0"]), self.run_("r002-x", unsafe=["D-0"])]
        found = drift.deviations([*before, self.run_("r003-x", unsafe=["D-1"])], ["unsafe"]).deviations
        self.assertEqual([one.new for one in found], [["D-1"], ["D-1"]])

    def test_across_another_key_nothing_is_differenced(self):
        later = self.run_("r003-x", [], gold="other")
        found = drift.deviations([*self.two, later], ["right"])
        self.assertEqual((found.deviations, list(found.refused)), ([], ["r003-x"]))
        self.assertIn("gold differs", " ".join(note(self.view(*self.two, later), "Deviations")["lines"]))

    def test_where_none_can_be_computed_it_says_why(self):
        said = note(self.view(*self.two), "Deviations")
        self.assertIn("Not computable", said["text"])
        self.assertEqual(said["lines"], ["model: r001-x, r002-x"])
        inside = self.run_("r003-x", DOCUMENTS[:2])
        self.assertIn("None", note(self.view(*self.two, inside), "Deviations")["text"])


class TestRipple(Desk):
    def test_marks_are_counted_together_over_the_documents_that_offer_both(self):
        entries = [entry("a", right=False, unsafe=True), entry("b", right=False, unsafe=False),
                   entry("c", right=True, unsafe=False), entry("d", right=True), entry("e", unsafe=True)]
        (fell, held), = ripple.together(entries, [(("raw", "right", False), ("raw", "unsafe", True))])
        self.assertEqual([(side["num"], side["den"]) for side in (fell, held)], [(1, 2), (0, 1)])

    def test_several_units_fall_where_one_does_and_no_opportunity_says_nothing(self):
        entries = [entry("a", units=[2, 3], made=[1, 3]), entry("b", units=[3, 3], made=[0, 3]),
                   entry("c", units=[0, 0])]
        (fell, held), = ripple.together(entries, [(("raw", "units", False), ("rechecked", "made", True))])
        self.assertEqual([(side["num"], side["den"]) for side in (fell, held)], [(1, 1), (0, 1)])

    def test_documents_of_one_cluster_are_no_independent_ones(self):
        pairs = [(("raw", "right", False), ("raw", "unsafe", True))]
        apart, together = ([entry(f"d{number}", cluster=cluster and f"c{number // 3}", right=False, unsafe=number < 6)
                            for number in range(12)] for cluster in (False, True))
        one, other = (ripple.together(entries, pairs)[0][0] for entries in (apart, together))
        self.assertEqual((one["num"], one["den"]), (other["num"], other["den"]))
        self.assertGreater(other["high"] - other["low"], one["high"] - one["low"])

    def test_an_edge_is_counted_in_the_newest_model_run_or_said_to_be_reasoned(self):
        self.keep(ripple=[{"from": "right", "to": "rechecked.unsafe", "why": "x", "measured": "together"},
                          {"from": "the {documents} pages", "to": "all", "why": "y", "measured": None}])
        model = self.run_("r001-x", DOCUMENTS[:2], DOCUMENTS[3:])
        found = table(self.view(model), "Ripple")
        self.assertEqual(found["right (raw, missed)"][0], "unsafe (rechecked, made)")
        self.assertIn("m 1/2", found["right (raw, missed)"][2])
        self.assertIn("m 0/2", found["right (raw, missed)"][3])
        self.assertEqual(found["the 4 pages"][1], "reasoned")


class TestView(Desk):
    def test_a_guard_that_moved_is_named_run_by_run(self):
        view = self.view(self.run_("r001-x"), self.run_("r002-x", rules="other"))
        self.assertEqual(table(view, "Guards")["rules"][0], self.now["rules"])
        found = table(view, "Kept runs")
        self.assertEqual(found["r001-x"][:5], ["✓ same"] * 5)
        place = list(watch.GUARDS).index("rules")
        self.assertTrue(found["r002-x"][place].startswith("✗ differs: other"))
        self.assertEqual(tuple(watch.GUARDS), comparing.GUARDS)

    def test_settings_are_held_against_the_newest_model_run(self):
        view = self.view(self.run_("r001-x", settings={"max_tokens": 9}), self.run_("r002-x"),
                         self.run_("b001-x", arm="f"))
        found = table(view, "Kept runs")
        self.assertEqual([found[name][-1] for name in ("r001-x", "r002-x")], ["✗ max_tokens", "✓ same"])
        self.assertIn("asked no model", found["b001-x"][-1])

    def test_a_floor_that_gives_other_figures_is_told(self):
        floor = self.run_("b001-x", DOCUMENTS[:2], arm="floor")
        again, moved = (self.run_(f"b00{number}-x", DOCUMENTS[:number], arm="floor", local=True) for number in (2, 3))
        self.assertIn("✓ the same again in local/b002-x", table(self.view(floor, again), "Guards")["floors"][0])
        self.assertIn("✗ other figures in local/b003-x", table(self.view(floor, moved), "Guards")["floors"][0])
        self.assertIn("not run again", table(self.view(floor), "Guards")["floors"][0])

    def test_history_stands_in_blocks_by_kind_in_order_of_date(self):
        view = self.view(self.run_("b001-x", arm="floor"), self.run_("r002-x", unsafe=["D-1"], date="2026-01-02"),
                         self.run_("r001-x", date="2026-01-03"))
        titles = [panel["title"] for panel in view["panels"] if (panel["title"] or "").startswith("History")]
        self.assertEqual(titles, ["History: model run", "History: free floor", "History: not yet run"])
        found = table(view, "History: model run")
        self.assertEqual(list(found), ["r002-x", "r001-x"])
        self.assertIn("unsafe 1/4", found["r002-x"][-1])
        self.assertEqual(found["r001-x"][-1], "not made (kinds): 1")
        self.assertIn("injection (x)", note(view, "History: not yet run")["text"])

    def test_a_threshold_stands_beside_what_the_newest_model_run_would_do(self):
        gate = {"gate": "fail_under", "mark": "rechecked.right", "value": "best floor", "why": "x"}
        self.keep(fires=[gate, {**gate, "mark": "right", "value": 1}])
        floor, model = self.run_("b001-x", DOCUMENTS[:2], arm="floor"), self.run_("r001-x", DOCUMENTS[:3])
        found = table(self.view(floor, model), "What fires")
        self.assertIn("would pass 3/4", found["--fail-under rechecked.right=0.5 (that of the best free floor)"][1])
        self.assertIn("would fail 3/4", found["--fail-under right=1"][1])
        self.assertIn("no verdict", table(self.view(floor), "What fires")["--fail-under right=1"][1])

    def test_regressions_are_those_that_the_gate_itself_would_name(self):
        self.keep(fires=[{"gate": "max_regressions", "value": 0, "why": "x"}])
        first, second = self.run_("r001-x", DOCUMENTS[:2]), self.run_("r002-x", DOCUMENTS[1:], ["D-3"])
        code, lines = thresholds.regressions(second.path, first.path, 0)
        said = table(self.view(first, second), "What fires")["--max-regressions 0"][1]
        self.assertEqual(code, 1)
        self.assertIn("would fail: 2 of 4", said)
        self.assertEqual(said.split(" / ")[1:], lines[0].rpartition(": ")[2].split())
        self.assertIn("no verdict", table(self.view(first), "What fires")["--max-regressions 0"][1])
        other = self.run_("r002-x", prefix="other")
        self.assertIn("prefix differs", table(self.view(first, other), "What fires")["--max-regressions 0"][1])

    def test_what_is_missing_is_told_first(self):
        self.keep(add_first=[{"what": "more pages", "why": "{documents} are few"}])
        found = table(self.view(self.run_("r001-x")), "What to add first")
        self.assertEqual(list(found), ["a repeat of the newest model run", "an injection run",
                                       "more opportunities for: unsafe 4", "more pages"])
        self.assertEqual(found["more pages"], ["4 are few"])
        self.assertIn("a scored model run", table(self.view(), "What to add first"))

    def test_a_folder_without_prose_shows_all_that_is_computed(self):
        view = self.view(self.run_("r001-x", DOCUMENTS[:3]))
        self.assertIn("board.json", note(view, "Watch")["text"])
        self.assertEqual(view["problems"], [])
        self.assertIn("right", table(view, "Watched"))
        self.assertIn("r001-x", table(view, "History: model run"))

    def test_without_a_kept_run_nothing_is_measured_and_it_says_so(self):
        self.keep(cadence=[{"when": "always", "do": "this", "why": "{model.right.raw}"}])
        for found in ((), (self.run_("b001-x", arm="floor", local=True),)):
            view = self.view(*found)
            self.assertIn("Not measured", note(view, "Runs")["text"])
            self.assertEqual(table(view, "Cadence")["always"], ["this", prose.NOT_MEASURED])

    def test_what_is_wrong_with_the_prose_is_a_problem_and_the_rest_is_shown(self):
        self.keep(watched=[{"mark": "rihgt", "why": "x"}], cadence=[{"when": "a", "do": "{modle.id}", "why": "x"}])
        view = self.view(self.run_("r001-x"))
        said = " ".join(view["problems"])
        self.assertIn("/watched/0: rihgt is no metric, named error or score (did you mean right?)", said)
        self.assertIn("did you mean model", said)
        (self.data / "board.json").write_text("{", encoding="utf-8")
        view = self.view(self.run_("r001-x"))
        self.assertIn("not JSON", view["problems"][0])
        self.assertEqual(note(view, "Watch")["tone"], "warn")
        self.assertIn("r001-x", table(view, "History: model run"))

    def test_a_page_that_cannot_be_read_is_a_problem_and_no_difference(self):
        run = self.run_("r001-x")
        self.kit.text = lambda name: (_ for _ in ()).throw(BadData("D-0.txt: no such file"))
        view = self.view(run)
        self.assertEqual(view["problems"], ["D-0.txt: no such file"])
        self.assertIn("cannot be read", table(view, "Kept runs")["r001-x"][0])


class TestKeptBoards(unittest.TestCase):
    """The prose of the kits of this checkout."""

    @classmethod
    def setUpClass(cls):
        shown = shelf.Shelf(local=False)
        cls.opened = [opened for opened in map(shown.open, shown.names()) if (opened.kit.data / board.FILE).exists()]

    def setUp(self):
        if not self.opened:
            self.skipTest("no kit of this checkout keeps a board.json")

    def test_every_one_is_valid_and_every_placeholder_means_something(self):
        for opened in self.opened:
            with self.subTest(opened.kit.name):
                self.assertEqual([problem for problem in watch.watch(opened)["problems"] if board.FILE in problem], [])
                kept = board.read(opened.kit.data)
                for section in EMPTY:
                    self.assertTrue(kept[section], section)

    def test_every_named_run_is_kept_where_any_is(self):
        for opened in self.opened:
            found, named = prose.figures(opened), set()
            for _, text in board.texts(board.read(opened.kit.data)):
                named |= {place.split(".")[1] for place in prose.PLACE.findall(text) if place.startswith("run.")}
            with self.subTest(opened.kit.name):
                self.assertEqual([short for short in named if found.kept and not found.run(short)], [])

    def test_no_figure_is_typed(self):
        for opened in self.opened:
            for place, text in board.texts(board.read(opened.kit.data)):
                with self.subTest(kit=opened.kit.name, place=place):
                    self.assertEqual(typed(text), [])

    def test_a_typed_figure_is_found_and_an_id_date_or_law_is_none(self):
        self.assertEqual(typed("{documents} pages, 52 of them, 3.5 %"), ["52", "3", "5"])
        self.assertEqual(typed("TM-3 of 42 CFR 412.3(d)(1), 422.520 and 447.45, from 2018-10-01, r001, L-7a"), [])
        self.assertEqual(typed("rule 37(e)"), [])

    def test_the_headline_and_the_most_expensive_error_are_watched(self):
        for opened in self.opened:
            watched = {entry["mark"] for entry in board.read(opened.kit.data)["watched"]}
            with self.subTest(opened.kit.name):
                self.assertIn(opened.kit.about["primary_metric"], watched)
                worst = {error["id"] for run in opened.runs for error in run.record["errors"][:1]}
                self.assertLessEqual(worst, watched)


if __name__ == "__main__":
    unittest.main()
