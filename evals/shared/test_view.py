"""What the board shows: view data over a kit's data with records, without any, and with broken ones."""
import csv
import datetime
import importlib
import io
import json
import shutil
import unittest
from collections import namedtuple

from evals.shared import arms, showing
from src.shared import cost, rates
from src.shared import kit as kits
from src.shared.files import BadData
from src.shared.view import board, charts, costs, figures, listing, page, panels, rules, runs, shelf, start, words

LABEL = "label_restrict"
KIT = LABEL if LABEL in kits.names() else showing.first_kit()


def panel(view, kind, title=""):
    """The first panel of a kind whose title holds a word."""
    return next(found for found in view["panels"] if found["kind"] == kind and title in (found.get("title") or ""))


def written(document_panel):
    """The text of a document panel, put together again."""
    return "".join(segment["text"] for block in document_panel["blocks"] for segment in block["segments"])


class TestSegments(unittest.TestCase):
    def test_an_emoji_before_a_value_does_not_shift_its_highlight(self):
        text = "note: 🚜🌾 e\u0301\nrate: 2.5 L/ha 🚜\n"
        start_ = text.index("2.5 L/ha")
        found = panels.document(text, {"rate": (start_, start_ + 8)})
        values = [s["text"] for block in found["blocks"] for s in block["segments"] if s["value"]]
        self.assertEqual(values, ["2.5 L/ha"])
        self.assertEqual(written(found), text)

    def test_a_value_marks_its_whole_line_and_no_other(self):
        text = "a: 1\nrate: 2\nb: 3"
        found = panels.document(text, {"rate": (11, 12)})
        self.assertEqual("".join(s["text"] for b in found["blocks"] for s in b["segments"] if s["fields"] == ["rate"]),
                         "rate: 2")

    def test_overlapping_spans_keep_both_fields(self):
        found = panels.document("abcdef", {"one": (0, 4), "two": (2, 6)})
        self.assertEqual([(s["text"], s["fields"]) for s in found["blocks"][0]["segments"]],
                         [("ab", ["one"]), ("cd", ["one", "two"]), ("ef", ["two"])])

    def test_an_empty_page_and_a_page_without_fields_are_drawn(self):
        self.assertEqual(written(panels.document("", {})), "")
        self.assertEqual(written(panels.document("a\n\nb", {})), "a\n\nb")


class TestFigures(unittest.TestCase):
    def test_not_measured_is_blank_and_not_zero(self):
        self.assertEqual(figures.rate(None)["text"], figures.BLANK)
        self.assertEqual(figures.count(None)["text"], figures.BLANK)

    def test_no_event_says_how_many_it_still_allows(self):
        self.assertEqual(figures.count({"count": 0, "opportunities": 38})["text"], "0/38 (≤ 8 %)")
        self.assertEqual(figures.count({"count": 0, "opportunities": 716, "clusters": 24})["text"], "0/716 (≤ 13 %)")

    def test_an_error_made_several_times_in_a_document_says_in_how_many(self):
        found = {"count": 3, "opportunities": 9, "rows": ["A", "B"]}
        self.assertEqual(figures.count(found, "readings"), {"text": "3/9 · 33 %", "why": "in 2 readings"})
        self.assertNotIn("why", figures.count({**found, "count": 2}))

    def test_a_hundred_per_cent_is_said_of_all_alone(self):
        self.assertEqual((figures.percent(1), figures.percent(0.9999), figures.percent(0.0001), figures.percent(0)),
                         ("100 %", ">99 %", "<1 %", "0 %"))


class Staged(unittest.TestCase):
    """The data of one kit with the records of its free arms: the `wanted` kit, or the first one."""

    wanted = None

    @classmethod
    def setUpClass(cls):
        cls.stage = showing.Stage(cls.wanted or KIT)
        cls.addClassCleanup(cls.stage.close)
        cls.ids = cls.stage.floors()
        cls.shelf = cls.stage.shelf()
        cls.name = cls.stage.kit_name

    def setUp(self):
        self.opened = self.shelf.open(self.name)

    def asked(self, **query):
        return listing.filters(self.opened, {name: [value] for name, value in query.items()})


class TestStart(Staged):
    def test_a_kit_stands_with_its_floors_and_null_and_says_that_no_model_run_is_there(self):
        row, = start.kits(self.shelf)["kits"]
        self.assertEqual((row["name"], row["documents"]), (self.name, len(self.opened.documents)))
        self.assertEqual((row["committed"], row["local"], row["has_model_run"]), (len(self.ids), 0, False))
        names = [line["name"] for line in row["figures"]]
        self.assertEqual(names, [name for name in sorted(self.ids) if self.ids[name][0] == "b" and name != "null"]
                         + ["null baseline"])
        self.assertIn("/", row["figures"][0]["raw"]["text"])

    def test_every_named_error_links_to_its_rows(self):
        table = panel(start.kit(self.opened, self.ids.values()), "table", "Named errors")
        links = [cell["link"] for row in table["rows"] for cells in row[1:] for cell in cells if cell["link"]]
        self.assertTrue(links)
        for link in links:
            rows = listing.matching(self.opened, self.asked(**link))
            record = next(run for run in self.opened.runs if run.id == link["run"]).record
            error = next(found for found in record["errors"] if found["id"] == link["error"])
            self.assertEqual(rows, error[link["column"]]["rows"])


class TestTurning(Staged):
    """Where the link of a named error leads: to what that error is about, or to a sentence why nothing is marked."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.entries = (board.read(cls.stage.data) or {}).get("turns", [])
        if not cls.entries:
            raise unittest.SkipTest("this kit's board does not say what its named errors turn on")

    def test_every_named_error_says_what_on_the_page_it_is_about(self):
        told = {entry["error"] for entry in self.entries}
        self.assertEqual(told, {error for run in self.opened.runs for error in run.errors})

    def test_a_link_leads_to_a_mark_of_its_error_or_says_why_there_is_none(self):
        for run in self.opened.runs:
            for error in run.record["errors"]:
                for name in (error["raw"] or {"rows": []})["rows"]:
                    with self.subTest(run.id, error=error["id"], document=name):
                        self._leads(run, error["id"], name)

    def _leads(self, run, error, name):
        view = page.document(self.opened, name, self.asked(run=run.id, error=error))
        why = [found["text"] for found in view["panels"] if found.get("title") == "What it turns on"]
        entries = [entry for entry in self.entries if entry["error"] == error]
        if view["turns_on"] is None:
            self.assertEqual(why, [entries[-1]["nothing"]])
            return
        self.assertEqual(why, [])
        groups, known = panel(view, "document")["groups"], [name for entry in entries for name in entry["on"]]
        plain = [mark for name in known for mark in groups.get(name, [name])]
        self.assertTrue({"walk", "blame", "own", "missed"} & set(known) or view["turns_on"] in plain
                        or any(name[-1] == "." and (view["turns_on"].startswith(name) or any(
                            view["turns_on"] in marks for group, marks in groups.items() if group.startswith(name)))
                               for name in known), view["turns_on"])


@unittest.skipUnless("legal_hold" in kits.names(), "legal_hold is not in this checkout")
class TestTurningOfPeople(Staged):
    wanted = "legal_hold"

    def test_an_error_about_people_leads_to_one_of_those_people(self):
        for arm, error, gold, told in (("dept-only", "missed_custodian", "CUSTODIAN", "NOT_CUSTODIAN"),
                                       ("dept-only", "over_inclusion", "NOT_CUSTODIAN", "CUSTODIAN")):
            run, rows = next(run for run in self.opened.runs if run.id == self.ids[arm]), 0
            for name in run.rows:
                if error in run.rows[name].errors["raw"]:
                    view = page.document(self.opened, name, self.asked(run=run.id, error=error))
                    row = next(row for row in panel(view, "fields")["rows"] if row["field"] == view["turns_on"])
                    self.assertEqual([cell["text"] for cell in row["cells"][:2]], [gold, told], name)
                    rows += 1
            self.assertTrue(rows, error)

    def test_a_missed_escalation_leads_to_the_first_notice_of_whoever_is_overdue(self):
        run, lines = next(run for run in self.opened.runs if run.id == self.ids["null"]), []
        for name in run.rows:
            if "missed_escalation" in run.rows[name].errors["raw"]:
                asked = self.asked(run=run.id, error="missed_escalation")
                view = page.document(self.opened, name, asked)
                gold = self.opened.kit.definition.normalise(self.opened.kit.book, shelf.gold_row(self.opened, name))
                segment = next(segment for block in panel(view, "document")["blocks"] for segment in block["segments"]
                               if view["turns_on"] in segment["fields"])
                self.assertTrue(any(who in segment["text"] for who in gold.values["escalate"]), segment["text"])
                lines.append(segment["text"])
        self.assertIn("2025-03-11  hold notice sent: EMP-6813", lines)


@unittest.skipUnless("pend_resolve" in kits.names(), "pend_resolve is not in this checkout")
class TestTurningOfClocks(Staged):
    wanted = "pend_resolve"

    def test_an_error_of_the_clock_leads_to_the_day_of_receipt_and_one_of_the_register_to_its_lines(self):
        for arm, error, label in (("within-clock", "missed_escalation", "Received on: "),
                                  ("within-clock", "counted_from_pend_date", "Received on: "),
                                  ("stub", "released_when_it_should_not", "ADJUDICATION REGISTER")):
            run, rows = next(run for run in self.opened.runs if run.id == self.ids[arm]), 0
            for name in run.rows:
                if error in run.rows[name].errors["raw"]:
                    view = page.document(self.opened, name, self.asked(run=run.id, error=error))
                    text = written(panel(view, "document"))
                    before = text[:text.index(self._marked(view))]
                    self.assertIn(label, before[before.rindex(label):])
                    self.assertLessEqual(before[before.rindex(label):].count("\n"), 2, name)
                    rows += 1
            self.assertTrue(rows, error)

    def test_the_line_that_baits_a_release_is_marked(self):
        found = [name for name in self.opened.documents for block in panel(page.document(
            self.opened, name, self.asked()), "document")["blocks"] for segment in block["segments"]
            if segment["value"] and "release" in segment["fields"]]
        self.assertEqual(len(set(found)), 6)

    def test_an_error_of_the_clock_says_what_the_clock_was_and_how_it_came_about(self):
        run = next(run for run in self.opened.runs if run.id == self.ids["within-clock"])
        for name in (name for name, row in run.rows.items() if "missed_escalation" in row.errors["raw"]):
            view = page.document(self.opened, name, self.asked(run=run.id, error="missed_escalation"))
            gold = shelf.gold_row(self.opened, name)["clock"]
            self.assertIn(f"clock is WITHIN-CLOCK, and gold says {gold}: wrong arithmetic of clock.",
                          panel(view, "note", "within-clock went wrong here by name")["text"])
            self.assertEqual(run.rows[name].blame["raw"], {"kind": "wrong arithmetic", "rule": None, "field": "clock"})

    def _marked(self, view):
        return "".join(segment["text"] for block in panel(view, "document")["blocks"] for segment in block["segments"]
                       if segment["value"] and view["turns_on"] in segment["fields"])


class TestRules(Staged):
    def test_every_ordered_table_of_the_book_is_shown_and_each_gold_row_ends_once_in_one_of_them(self):
        view = rules.rules(self.opened)
        tables = [found for found in view["panels"] if found["kind"] == "table" and "first rule" in found["title"]]
        self.assertGreater(len(tables), 0)
        self.assertEqual(len(tables), len({table["title"] for table in tables}))
        counted = [table for table in tables if "gold rows it decides" in table["columns"]]
        self.assertTrue(counted)
        for table in counted:
            at = table["columns"].index("gold rows it decides")
            self.assertGreater(sum(int(row[at][0]["text"]) for row in table["rows"]), 0, table["title"])

    def test_a_key_that_takes_long_is_counted_bit_by_bit_and_says_how_far(self):
        opened = self.stage.opened()
        begun = rules.rules(opened, 0)
        self.assertEqual((begun["counted"], begun["of"]), (0, len(opened.documents)))
        self.assertIn(f"the first 0 of {len(opened.documents)}", panel(begun, "note", "Still counting")["text"])
        self.assertEqual(rules.rules(opened), rules.rules(self.stage.opened()))
        whole = rules.rules(opened, 0)
        self.assertEqual(whole["counted"], whole["of"])
        self.assertNotIn("Still counting", [found.get("title") for found in whole["panels"]])

    def test_tables_in_parts_of_a_book_are_found_in_their_order(self):
        found = [table for table in rules._tables(self.opened.kit.book)]
        nested = namedtuple("Nested", "a b c")(1, namedtuple("Part", "x y")("x", found[0]), found)
        self.assertEqual(list(rules._tables(nested)), found[:1])

    def test_a_trace_of_several_parts_counts_everybody_it_decided_about(self):
        trace = {"who": {"A": "R-1", "B": "R-1"}, "stage": [{"rule": "S-1", "result": "pass"},
                                                            {"rule": "S-2", "result": "matched"}]}
        self.assertEqual(list(rules._steps(trace)), [("R-1", "decides"), ("R-1", "decides"), ("S-1", "pass"),
                                                     ("S-2", "decides")])


class TestPictures(Staged):
    def test_every_cell_of_a_matrix_is_the_records_count_and_links_to_that_many_rows(self):
        run = next(run for run in self.opened.runs if run.id == self.ids["stub"])
        drawn = list(charts.matrices([run]))
        for found in (found for found in drawn if found["kind"] == "matrix"):
            cells = [cell for row in found["rows"] for cell in row if cell]
            self.assertTrue(cells)
            for cell in cells:
                rows = listing.matching(self.opened, self.asked(**cell["link"]))
                self.assertEqual((len(rows), cell["share"] > 0), (int(cell["text"]), True))
        self.assertLessEqual(sum(int(cell["text"]) for row in drawn[0]["rows"] for cell in row if cell), len(run.rows))

    def test_each_metric_stands_beside_the_null_baseline_and_not_measured_is_a_blank_with_its_reason(self):
        found = [group for panel_ in charts.intervals(self.opened.runs) for group in panel_["groups"]]
        titles = {metric["title"] for run in self.opened.runs for metric in run.record["metrics"]}
        self.assertEqual({group["title"] for group in found}, titles)
        for group in found:
            self.assertEqual(group["lines"][-1]["name"], "null baseline")
            for cell in (cell for line in group["lines"] for cell in line["cells"]):
                self.assertTrue("interval" in cell or cell["text"] == figures.BLANK and cell["why"], cell)

    def test_what_no_run_measured_is_said_and_not_drawn(self):
        for drawn in (charts.latency(self.opened.runs), charts.reliability(
                [run for run in self.opened.runs if run.record["settings"] is None and not run.record["scores"]])):
            self.assertEqual([(found["kind"], found["text"][:12]) for found in drawn], [("note", "Not measured")])

    def test_a_latency_counts_every_call_and_names_its_middle_and_tail(self):
        run = self.opened.runs[0]
        seconds = [number / 10 for number in range(1, 1 + len(run.rows))]
        timed = run._replace(rows={name: row._replace(seconds=each)
                                   for (name, row), each in zip(run.rows.items(), seconds)})
        found, = charts.latency([timed])
        self.assertEqual(sum(int(bar["cells"][0]["text"]) for bar in found["bars"]), len(seconds))
        self.assertIn(f"Over {len(seconds)} calls", found["text"])
        self.assertIn(f"longest {seconds[-1]:.2f} s", found["text"])

    def test_a_reliability_has_a_point_for_each_range_that_was_stated(self):
        rate = {"num": 3, "den": 4, "rate": .75, "low": .3, "high": .95}
        metrics = [{"id": f"right where the confidence is {words}", "raw": rate}
                   for words in ("below 0.5", "0.9 to 1", "exactly 1")]
        score = {"title": "Brier score", "raw": {"value": .125, "documents": 12}}
        run = self.opened.runs[0]
        metrics.append({"id": "other", "raw": rate})
        run = run._replace(record={**run.record, "scores": [score], "metrics": metrics})
        found, = charts.reliability([run])
        self.assertEqual([(point["x"], point["y"]) for point in found["points"]], [(.25, .75), (.95, .75), (1, .75)])
        self.assertIn("0.125 over 12 documents", found["text"])

    def test_a_rule_that_decides_nothing_is_named(self):
        found = charts.coverage("x", {"A": 4, "B": 0})
        self.assertEqual(found["text"], "1 of 2 rules decide at least one gold row; none: B.")
        self.assertEqual([bar["share"] for bar in found["bars"]], [1, 0])


class TestCosts(Staged):
    DAY = datetime.date(2026, 12, 1)

    def view(self, **query):
        return costs.costs(self.opened, {name: [value] for name, value in query.items()}, self.DAY)

    def priced(self, view):
        return {row[0]["text"]: row[2]["text"] for row in panel(view, "table", "Projection")["rows"]}

    def test_a_projection_is_tokens_times_card_times_volume(self):
        wanted = {"documents": "1000", "input": "2000", "cached": "50", "output": "100"}
        card = next(card for card in rates.load(cost.RATES) if len(card.windows) == 1)
        prices = card.windows[0].prices
        usd = 1000 * (1000 * prices["input"] + 1000 * prices["cached_input"] + 100 * prices["output"]) / 10 ** 6
        self.assertEqual(self.priced(self.view(**wanted))[card.id], cost.in_words(usd))
        self.assertIn("Projection", panel(self.view(), "table")["title"])
        self.assertIn("cost nothing", panel(self.view(), "note", "Free")["text"])

    def test_without_a_model_run_tokens_are_an_estimate_that_says_so(self):
        note, values = panel(self.view(), "note"), {one["name"]: one["value"] for one in self.view()["controls"]}
        self.assertIn("Not measured", note["text"])
        prompts = [sum(len(part.text) for part in self.opened.kit.prompt(name)) for name in self.opened.documents]
        self.assertEqual(values["input"], round(sum(prompts) / len(prompts) / costs.CHARACTERS_PER_TOKEN))

    def test_measured_tokens_are_the_mean_of_the_calls_and_counted_as_the_wire_counts(self):
        run = self.opened.runs[0]
        for provider, sum_in, told in (("openai-compatible", 1000, (100, 40)), ("anthropic", 600, (100, 40))):
            tokens = {kind: {"sum": number, "calls": 10} for kind, number in
                      (("input", sum_in), ("cached", 400), ("output", 50))}
            record = {**run.record, "totals": {**run.record["totals"], "calls": 10, "tokens": tokens},
                      "settings": {"provider": provider}}
            model = run._replace(id="r001-x", record=record)
            view = costs.costs(self.opened._replace(runs=[model]), {}, self.DAY)
            values = {one["name"]: one["value"] for one in view["controls"]}
            self.assertEqual((values["input"], values["cached"], values["output"]), (*told, 5))
            self.assertIn("mean of 10 calls of r001-x", panel(view, "note")["text"])
        tokens["output"]["calls"] = 9
        view = costs.costs(self.opened._replace(runs=[model]), {}, self.DAY)
        self.assertIn("Not measured", panel(view, "note")["text"])

    def test_a_card_without_a_price_for_the_day_is_a_blank_with_its_reason(self):
        table = panel(costs.costs(self.opened, {}, datetime.date(2030, 1, 1)), "table")
        blanks = [row for row in table["rows"] if row[1]["text"] == figures.BLANK]
        self.assertTrue(blanks)
        self.assertTrue(all("no price for 2030-01-01" in row[1]["why"] for row in blanks))


class TestRecords(unittest.TestCase):
    def setUp(self):
        self.stage = showing.Stage(KIT)
        self.addCleanup(self.stage.close)

    def test_without_any_run_the_board_is_whole(self):
        opened = self.stage.opened()
        front = start.kit(opened)
        self.assertEqual((front["runs"], front["problems"]), ([], []))
        self.assertIn("No run", panel(front, "note")["text"])
        asked = listing.filters(opened, {})
        view = page.document(opened, next(iter(opened.documents)), asked)
        self.assertEqual(panel(view, "fields")["columns"], ["gold"])
        self.assertEqual(listing.documents(opened, asked)["matching"], len(opened.documents))

    def test_a_committed_model_run_is_the_headline_and_is_shown_as_a_replay(self):
        run_id = f"r001-{self.stage.kit().hyphened}"
        self.stage.record(run_id, "stub", {"model": "some-model-1"})
        self.stage.floors()
        shelf_ = self.stage.shelf()
        row, = start.kits(shelf_)["kits"]
        self.assertTrue(row["has_model_run"])
        self.assertEqual(row["figures"][0]["name"], "some-model-1")
        opened = shelf_.open(self.stage.kit_name)
        view = page.document(opened, next(iter(opened.documents)), listing.filters(opened, {}))
        told = view["runs"][0]
        self.assertEqual((told["id"], told["arm"], told["model"], told["date"], view["live"]),
                         (run_id, "model", "some-model-1", showing.DATE, False))

    def test_a_broken_record_is_named_in_a_sentence_and_the_rest_goes_on(self):
        ids = self.stage.floors()
        path = self.stage.results / f"eval-{ids['stub']}.json"
        whole = path.read_text()
        entry = whole.index("\n", 20)
        broken = {"torn": whole[:len(whole) // 2], "empty": "", "no record": "[1, 2]\n", "not text": "\x00\x01\x02",
                  "a document twice": whole[:entry] + whole[whole.index("\n"):],
                  "no metrics": whole.replace('"metrics":', '"metricks":')}
        for what, text in broken.items():
            with self.subTest(what):
                path.write_text(text)
                opened = self.stage.opened()
                self.assertEqual(len(opened.runs), len(ids) - 1)
                self.assertIn(path.name, " ".join(opened.problems))
                self.assertEqual(len(start.kit(opened)["runs"]), len(ids) - 1)

    def test_a_doctored_figure_is_refused(self):
        path = self.stage.results / f"eval-{self.stage.floors()['stub']}.json"
        whole = json.loads(path.read_text())
        right = path.read_text()
        metric, error = whole["metrics"][0]["raw"], whole["errors"][0]["raw"]
        changes = [(f'"num":{metric["num"]},', f'"num":{metric["num"] + 1},'),
                   (f'"rate":{metric["rate"]}', '"rate":0.99'),
                   (json.dumps(error["rows"], separators=(",", ":")), '["NONE"]')]
        for old, new in changes:
            head, _, tail = right.rpartition("\n],")
            path.write_text(head + "\n]," + tail.replace(old, new))
            with self.subTest(new), self.assertRaises(BadData) as caught:
                runs.read("x", path)
            self.assertIn("re-score", str(caught.exception))

    def test_a_run_of_another_key_is_told(self):
        self.stage.floors()
        gold = self.stage.data / "gold.jsonl"
        gold.write_text(gold.read_text() + "\n")
        opened = self.stage.opened()
        self.assertIn("another gold key", " ".join(opened.problems))
        arm = shelf.floors(opened)[0].about["arm"]
        (self.stage.results / runs.LOCAL).mkdir()
        own = self.stage.record("b002-now", arm)
        own.rename(self.stage.results / runs.LOCAL / own.name)
        opened = self.stage.opened()        # what was scored over the data in hand is shown, local or not
        self.assertEqual([run.id for run in shelf.choose(opened, [])], [f"{runs.LOCAL}/b002-now"])
        row, = start.kits(self.stage.shelf())["kits"]
        self.assertEqual([line["name"] for line in row["figures"]][1:], ["null baseline"])

    def test_a_changed_file_is_seen_without_a_restart(self):
        shelf_ = self.stage.shelf()
        self.assertEqual(shelf_.open(self.stage.kit_name).runs, [])
        self.stage.floors()
        found = shelf_.open(self.stage.kit_name)
        self.assertTrue(found.runs)
        self.assertIs(shelf_.open(self.stage.kit_name), found)

    def test_a_kit_without_key_or_with_a_broken_file_says_so(self):
        shelf_ = self.stage.shelf()
        (self.stage.data / "gold.jsonl").unlink()
        self.assertIn("gold.jsonl", shelf_.open(self.stage.kit_name).problems[0])
        self.assertTrue(rules.rules(shelf_.open(self.stage.kit_name))["panels"])
        (self.stage.data / "fields.json").write_text("{")
        row, = start.kits(shelf_)["kits"]
        self.assertIn("fields.json", row["problems"][0])


class TestList(Staged):
    def matching(self, **query):
        return set(listing.matching(self.opened, self.asked(**query)))

    def test_filters_compose(self):
        run = self.ids["stub"]
        wrong, differs = self.matching(run=run, wrong="1"), self.matching(run=run, differs="1")
        self.assertTrue(wrong and differs)
        self.assertEqual(self.matching(run=run, wrong="1", differs="1"), wrong & differs)
        self.assertEqual(self.matching(run=run, wrong="0"), set(self.opened.documents) - wrong)

    def test_a_cell_of_a_matrix_finds_the_documents_it_counts_raw_and_rechecked(self):
        run = next(run for run in self.opened.runs if run.id == self.ids["stub"])
        for matrix in run.record["matrices"]:
            for column in runs.COLUMNS:
                for want, row in zip(matrix["labels"], matrix[column]):
                    for got, number in zip(matrix["labels"], row):
                        cell = listing.cell_name(matrix["id"], want, got)
                        self.assertEqual(len(self.matching(run=run.id, cell=cell, column=column)), number, cell)

    def test_two_runs_disagree_where_their_headline_answers_or_hits_differ(self):
        asked = listing.filters(self.opened, {"run": [self.ids["stub"], self.ids["null"]], "disagrees": ["1"]})
        mark, found = self.opened.kit.about["primary_metric"], set(listing.matching(self.opened, asked))
        stub, null = ({name: runs.entry(run, name) for name in self.opened.documents} for run in asked.runs)
        self.assertTrue(found)
        for name in self.opened.documents:
            said = [(entry["outcome"], entry["marks"]["raw"].get(mark), entry["cells"]["raw"].get(mark))
                    for entry in (stub[name], null[name])]
            self.assertEqual(name in found, said[0] != said[1], said)
        with self.assertRaises(shelf.BadQuery) as caught:
            self.matching(run=self.ids["stub"], disagrees="1")
        self.assertIn("two runs", str(caught.exception))

    def test_a_blame_finds_the_documents_that_the_record_blames_so(self):
        run = next(run for run in self.opened.runs if run.id == self.ids["stub"])
        for column in runs.COLUMNS:
            for kind, number in run.record["blame"][column].items():
                if kind in run.blames:
                    self.assertEqual(len(self.matching(run=run.id, blame=kind, column=column)), number, kind)

    def test_an_export_is_inert_in_a_spreadsheet_and_quotes_what_has_to_be(self):
        name, place = next(iter(self.opened.documents.items()))
        run = self.opened.runs[0]
        row = run.rows[name]
        for text in ("=1+1", "+1", "-1", "@x", "\t=1", 'a "b", c\nd'):
            mark = self.opened.kit.about["primary_metric"]
            changed = run._replace(rows={name: row._replace(outcome="answered", cells={"raw": {mark: [text, text]}})})
            asked = listing.filters(self.opened, {})._replace(runs=[changed], q=name)
            told, = csv.DictReader(io.StringIO(listing.export(self.opened, asked, "csv"), newline=""))
            self.assertEqual(told["answer"], text if text[0] == "a" else f"'{text}")
            self.assertEqual(json.loads(listing.export(self.opened, asked, "json"))[0]["answer"], text)
        empty = listing.filters(self.opened, {"q": ["no such words anywhere"]})
        self.assertEqual((listing.export(self.opened, empty, "csv")[:8], listing.export(self.opened, empty, "json")),
                         ("id,case,", "[]\n"))

    def test_a_case_finds_its_documents_and_free_text_finds_the_page(self):
        name, place = next(iter(self.opened.documents.items()))
        self.assertIn(name, self.matching(case=place.case))
        self.assertEqual(self.matching(q=name.lower()), {name})
        rarest = max(self.opened.kit.text(name).split(), key=len)
        self.assertIn(name, self.matching(q=rarest.upper()))
        self.assertEqual(self.matching(q="no such words anywhere"), set())

    def test_what_was_found_on_the_pages_is_found_anew_once_a_page_has_changed(self):
        name = next(iter(self.opened.documents))
        path = self.stage.data / "corpus" / f"{name}.txt"
        kept = path.read_text()
        self.addCleanup(path.write_text, kept)
        self.assertEqual(self.matching(q="zyzzyva"), set())
        path.write_text(kept + "zyzzyva\n")
        self.assertEqual(self.matching(q="zyzzyva"), {name})

    def test_an_unanswered_document_is_wrong_on_everything(self):
        view = listing.documents(self.opened, self.asked(run=self.ids["stub"]))
        unparsed = [row for row in view["rows"] if row["runs"][0]["text"] == "unparsed"]
        self.assertTrue(unparsed)
        self.assertTrue({row["id"] for row in unparsed} <= self.matching(run=self.ids["stub"], wrong="1"))

    def test_what_has_no_meaning_is_refused_with_the_near_word(self):
        for name, value, word in (("wron", "1", "wrong"), ("run", "b001", "runs:"), ("page", "0", "from 1"),
                                  ("page", "²", "from 1"), ("column", "raws", "raw"), ("wrong", "yes", "1 for yes"),
                                  ("case", "", "names nothing")):
            with self.subTest(name, value=value), self.assertRaises(shelf.BadQuery) as caught:
                listing.filters(self.opened, {name: [value]})
            self.assertIn(word, str(caught.exception))

    def test_a_page_holds_no_more_rows_than_it_may(self):
        rows, listing.PAGE_ROWS = listing.PAGE_ROWS, 10
        self.addCleanup(setattr, listing, "PAGE_ROWS", rows)
        self.assertEqual(rows, 200)
        first, last = (listing.documents(self.opened, self.asked(page=page)) for page in ("1", "999"))
        self.assertEqual((len(first["rows"]), first["pages"]), (10, -(-len(self.opened.documents) // 10)))
        self.assertEqual(last["page"], last["pages"])

    def test_neighbours_run_along_the_filtered_list(self):
        asked = self.asked(run=self.ids["stub"], wrong="1")
        found = listing.matching(self.opened, asked)
        walked, at = [found[0]], found[0]
        while at := listing.neighbours(self.opened, asked, at)["next_wrong"]:
            walked.append(at)
        self.assertEqual(walked, found)
        self.assertIsNone(listing.neighbours(self.opened, asked, found[0])["previous"])


    def test_a_document_knows_the_page_of_the_list_that_it_stands_on(self):
        rows, listing.PAGE_ROWS = listing.PAGE_ROWS, 10
        self.addCleanup(setattr, listing, "PAGE_ROWS", rows)
        for page_ in ("1", "2"):
            for row in listing.documents(self.opened, self.asked(page=page_))["rows"]:
                self.assertEqual(listing.neighbours(self.opened, self.asked(), row["id"])["page"], int(page_))

    def test_an_empty_export_has_the_heads_of_a_full_one(self):
        full = listing.export(self.opened, self.asked(), "csv")
        empty = listing.export(self.opened, self.asked(q="no page holds this word"), "csv")
        self.assertEqual(empty.split("\r\n"), [full.split("\r\n")[0], ""])
        told = json.loads(listing.export(self.opened, self.asked(), "json"))
        self.assertEqual(list(told[0]), empty.strip().split(","))


class TestWords(Staged):
    """What a stranger needs: each arm in a sentence, and values beside every rule that was asked."""

    def test_every_arm_of_every_kit_is_told_in_a_sentence(self):
        for kit in map(kits.load, kits.names()):
            opened = shelf.Shelf(local=False).open(kit.name)
            for arm in (*arms.free(kit, importlib.import_module(f"evals.{kit.name}.bench").BENCH),
                        *(kit.definition.variants or ()), "model"):
                self.assertTrue((words.of_arm(opened, arm) or "").endswith("."), (kit.name, arm))

    def test_start_list_and_document_say_what_an_arm_does_and_the_glossary_what_a_word_means(self):
        arm = next(name for name in self.ids if name not in ("null", "stub"))
        said = words.of_arm(self.opened, arm)
        row, = start.kits(self.shelf)["kits"]
        self.assertIn(said, [line["says"] for line in row["figures"]])
        front = start.kit(self.opened)
        self.assertIn(said, [run["says"] for run in front["runs"]])
        self.assertLessEqual({"raw", "rechecked", "floor", "null baseline", "stub"},
                             {entry["term"] for entry in front["terms"]})
        view = page.document(self.opened, next(iter(self.opened.documents)), self.asked(run=self.ids[arm]))
        self.assertEqual(view["runs"][0]["says"], said)

    def test_every_rung_that_was_asked_shows_the_values_it_compared(self):
        for kit in map(kits.load, kits.names()):
            opened = shelf.Shelf(local=False).open(kit.name)
            for name in list(opened.documents)[:8]:
                for found in page.document(opened, name, listing.filters(opened, {}))["panels"]:
                    steps = [step for rung in found.get("rungs", ()) for step in rung["steps"]]
                    for step in steps:
                        asked = step["result"] not in ("not reached", "skipped", "no answer")
                        shown = bool(step.get("compares") or step.get("detail"))
                        self.assertEqual(shown, asked, (kit.name, name, step))
                    if found["kind"] == "ladder" and kit.book and "matched" in {step["result"] for step in steps}:
                        self.assertNotIn("pass", {step["result"] for step in steps})

    def test_a_walk_that_is_golds_is_never_said_to_part_from_it(self):
        told = []
        for run in self.opened.runs:
            for name in self.opened.documents:
                ladder = panel(page.document(self.opened, name, self.asked(run=run.id)), "ladder")
                for gold, *others in (rung["steps"] for rung in ladder["rungs"]):
                    for step, text in ((step, text) for step in others for text in step.get("blame", ())):
                        self.assertEqual("parts from gold" in text, gold["result"] != step["result"], (name, text))
                        told.append(text)
                self.assertEqual(len(ladder["answered"]), len(ladder["columns"]))
        self.assertTrue(told)

    def test_what_is_told_once_is_the_same_on_every_document(self):
        for kit in map(kits.load, kits.names()):
            opened = shelf.Shelf(local=False).open(kit.name)
            found = {json.dumps([each for each in page.document(opened, name, listing.filters(opened, {}))["panels"]
                                 if each.get("once")]) for name in list(opened.documents)[::7]}
            self.assertEqual(len(found), 1, kit.name)


class TestDocument(Staged):
    def view(self, name, **query):
        return page.document(self.opened, name, self.asked(**query))

    def test_every_page_is_shown_character_for_character(self):
        for name in self.opened.documents:
            self.assertEqual(written(panel(self.view(name), "document")), self.opened.kit.text(name), name)

    def test_marks_are_those_of_the_record(self):
        run = next(run for run in self.opened.runs if run.id == self.ids["stub"])
        for name in list(self.opened.documents)[:14]:
            entry = runs.entry(run, name)
            table = panel(self.view(name, run=run.id), "fields")
            for row in (row for row in table["rows"] if row["mark"] != panels.BY_VALUE):
                told = [entry["marks"][column].get(row["mark"]) for column in runs.COLUMNS]
                self.assertEqual([cell.get("hit") for cell in row["cells"][1:]], told, (name, row["field"]))

    def test_a_document_without_an_answer_says_why(self):
        outcomes = {}
        for name in self.opened.documents:
            view = self.view(name, run=self.ids["stub"])
            outcomes[view["runs"][0]["outcome"]] = view
        self.assertIn("refused", outcomes)
        for outcome, view in outcomes.items():
            if outcome != "answered":
                self.assertIn("No answer", panel(view, "note", "stub")["text"])
                self.assertEqual(panel(view, "fields")["rows"][0]["cells"][1]["text"], "no answer")

    def test_an_unknown_document_is_not_found_and_the_near_one_is_named(self):
        name = next(iter(self.opened.documents))
        with self.assertRaises(shelf.NotFound) as caught:
            self.view(name[:-1])
        self.assertIn("did you mean", str(caught.exception))

    def test_the_prompt_is_shown_as_it_is_sent(self):
        name = next(iter(self.opened.documents))
        view, parts = page.prompt(self.opened, name), self.opened.kit.prompt(name)
        bars = panel(view, "bars")
        self.assertEqual([bar["name"] for bar in bars["bars"]], [part.name for part in parts])
        self.assertEqual([bar["cells"][0]["text"] for bar in bars["bars"]],
                         [f"{len(part.text.encode()):,}" for part in parts])
        other = self.opened.kit.prompt(list(self.opened.documents)[1])
        same = sum(len(a.text.encode()) for a, b in zip(parts, other) if a == b)
        total = sum(len(part.text.encode()) for part in parts)
        self.assertTrue(bars["text"].startswith(f"{same:,} of {total:,} bytes"))
        self.assertEqual([found["tone"] for found in view["panels"][1:]],
                         ["fixed" if a == b else "plain" for a, b in zip(parts, other)])
        shown = ["\n".join(found["lines"]) for found in view["panels"] if found["kind"] == "note"]
        self.assertEqual(shown, [part.text for part in parts])


class TestMarks(Staged):
    def test_what_the_record_does_not_mark_is_held_against_gold_where_the_kit_asks_for_it(self):
        gold = self.opened.kit.definition.normalise(self.opened.kit.book, next(self.opened.kit.gold()))
        name, value = next((name, value) for name, value in gold.values.items() if value is not None)
        rows = [{"field": field, "mark": panels.BY_VALUE, "cells": [{"text": "", "kind": ""} for _ in range(3)]}
                for field in (name, "said by nobody")]
        rows.append({"field": name, "mark": None, "cells": [{"text": "", "kind": ""}] * 3})
        right, wrong = gold, gold._replace(values={**gold.values, name: None})
        page._mark({"rows": rows}, gold, [page.Side({}, right, wrong, None, {"raw": {}, "rechecked": {}})])
        self.assertEqual([cell.get("hit") for cell in rows[0]["cells"]], [None, True, False])
        self.assertEqual([cell.get("hit") for row in rows[1:] for cell in row["cells"]], [None] * 6)


@unittest.skipUnless("legal_hold" in kits.names(), "legal_hold is not in this checkout")
class TestLegalHold(Staged):
    wanted = "legal_hold"

    def test_every_hold_status_is_marked_against_gold_and_adds_up_to_the_units_of_the_record(self):
        run = next(run for run in self.opened.runs if run.id == self.ids["stub"])
        for name in list(self.opened.documents)[:12]:
            table = panel(page.document(self.opened, name, self.asked(run=run.id)), "fields")
            units = [row for row in table["rows"] if row["field"].startswith("hold_status.")
                     and row["cells"][0]["kind"] == "value"]
            marks = runs.entry(run, name)["marks"]["raw"]
            told = [marks[mark] for mark in ("units_ordinary", "units_special") if mark in marks]
            hits = sum(row["cells"][1]["hit"] is True for row in units)
            self.assertEqual((hits, len(units)), (sum(hit for hit, _ in told), sum(of for _, of in told)), name)
            self.assertIsNone(table["rows"][-1]["cells"][1]["hit"])      # the rationale is free text


@unittest.skipUnless(LABEL in kits.names(), f"{LABEL} is not in this checkout")
class TestLabelRestrict(Staged):
    wanted = LABEL

    def first(self, **wanted):
        """The first gold row with these values."""
        return next(row for row in self.opened.kit.gold() if all(row[key] == value for key, value in wanted.items()))

    def view(self, name, arm):
        return page.document(self.opened, name, self.asked(run=self.ids[arm]))

    def test_the_withheld_section_is_shown_as_withheld_and_nothing_else_is(self):
        for name in self.opened.documents:
            blocks = panel(self.view(name, "null"), "document")["blocks"]
            held = ["".join(s["text"] for s in block["segments"]) for block in blocks if block["withheld"]]
            self.assertEqual(len(held), 1)
            self.assertTrue(held[0].startswith("Product and Registration\n---"))
            self.assertEqual(len(held[0].strip().split("\n")), 3)
            self.assertNotIn(held[0].split("\n")[2], "".join(part.text for part in self.opened.kit.prompt(name)))

    def test_every_stated_field_is_marked_on_its_line(self):
        fields = self.opened.kit.book.fields
        for row in self.opened.kit.gold():
            found = panel(self.view(row["id"], "null"), "document")
            values = [segment for block in found["blocks"] for segment in block["segments"] if segment["value"]]
            marked = {name: segment["text"] for segment in values for name in segment["fields"]}
            for field in fields.copied:
                if row[field.name] is not None:
                    read = field.read(marked[field.name])
                    self.assertEqual(read, field.read(row[field.name]), (row["id"], field.name))

    def test_the_ladder_of_gold_ends_where_gold_says(self):
        for row in self.opened.kit.gold():
            ladder = panel(self.view(row["id"], "null"), "ladder")
            self.assertTrue(ladder["ends"][0].startswith(row["verdict"]), (row["id"], ladder["ends"]))
            passed = self.opened.kit.book.table.document["passed"]["decision"]
            ends = row["deciding_restriction"] if row["verdict"] != passed else "no rule"
            self.assertIn(ends, ladder["ends"][0])
            results = [rung["steps"][0]["result"] for rung in ladder["rungs"]]
            stops = [i for i, result in enumerate(results) if result in ("breached", "could not be read")]
            stop = stops[0] if stops else len(results)
            self.assertEqual(set(results[stop + 1:]) - {"not reached"}, set())
            self.assertNotIn("not reached", results[:stop])

    def test_a_wrong_document_turns_on_the_fields_of_the_rule_that_decided_it(self):
        for row in self.opened.kit.gold():
            view = self.view(row["id"], "null")
            rungs, turns = panel(view, "ladder")["rungs"], panel(view, "document")["turns"]
            rung = next((rung for rung in rungs if rung["rule"] == row["deciding_restriction"]), None)
            if rung:
                self.assertTrue(set(turns) and all(name in rung["says"] for name in turns), row["id"])
                compares = rung["steps"][0].get("compares")
                if compares:        # and not where it hangs on whether the rule applies
                    self.assertEqual(set(turns), {part["field"] for part in compares[::2]}, row["id"])
                self.assertIn(rung["why"], panel(view, "note", "The key")["text"])
            self.assertEqual(view["turns_on"], turns[0])
            self.assertIsNone(self.view(row["id"], "line-reader")["turns_on"])

    def test_a_breach_says_both_values_the_operator_and_by_how_much(self):
        rule = next(rule for rule in self.opened.kit.book.table.rules if rule["field"] == "days_to_harvest")
        row = self.first(verdict=rule["decision"], deciding_restriction=rule["id"])
        rungs = panel(self.view(row["id"], "null"), "ladder")["rungs"]
        step = next(rung["steps"][0] for rung in rungs if rung["rule"] == rule["id"])
        left, test, right = step["compares"]
        self.assertEqual((step["result"], test), ("breached", "≥"))
        for operand, field in ((left, "days_to_harvest"), (right, "pre_harvest_interval_days")):
            self.assertEqual((operand["field"], operand["text"]), (field, f"{row[field]} days"))
        self.assertEqual(step["detail"], f"short by {row['pre_harvest_interval_days'] - row['days_to_harvest']} days")

    def test_skipped_and_could_not_be_read_are_told_apart(self):
        results = set()
        for name in self.opened.documents:
            results |= {rung["steps"][0]["result"] for rung in panel(self.view(name, "null"), "ladder")["rungs"]}
        self.assertEqual(results, {"pass", "skipped", "breached", "could not be read", "not reached"})

    def test_needs_hold_is_not_computed_when_a_value_is_missing_and_the_reason_is_given(self):
        view = self.view(next(iter(self.opened.documents)), "null")
        items = {item["name"]: item for item in panel(view, "state")["items"]}
        self.assertIn(items["gold"]["value"], ("hold", "no hold"))
        self.assertEqual(items["null"]["value"], "not computed")
        self.assertEqual(items["null"]["why"], "application_status is missing; verdict is missing")
        cell = next(row for row in panel(view, "fields")["rows"] if row["field"] == "needs_hold")["cells"][1]
        self.assertEqual((cell["text"], cell["hit"]), ("not computed", False))

    def test_the_recheck_shows_what_it_discarded_and_what_it_put_there(self):
        run = next(run for run in self.opened.runs if run.id == self.ids["stub"])
        name = next(name for name, row in run.rows.items() if row.differs)
        table = panel(self.view(name, "stub"), "table", "Recheck of stub")
        entry = runs.entry(run, name)
        self.assertEqual({row[0]["text"] for row in table["rows"]}, set(entry["overrides"]))
        verdict = next(row for row in table["rows"] if row[0]["text"] == "verdict")
        self.assertEqual((verdict[1]["text"], verdict[2]["text"]),
                         (entry["raw"]["values"]["verdict"], entry["rechecked"]["values"]["verdict"]))

    def test_null_none_zero_and_unread_are_four_things(self):
        kit, spec = self.opened.kit, [(name, None, None, None) for name in (
            "max_rate_l_per_ha", "tank_mix_partner", "applications_made_this_season", "days_to_harvest", "field_id")]
        answer = kit.definition.normalise(kit.book, {"max_rate_l_per_ha": None, "tank_mix_partner": "none",
                                                     "applications_made_this_season": 0, "days_to_harvest": "soon"})
        cells = [row["cells"][0] for row in panels.fields(spec, {"x": answer})["rows"]]
        self.assertEqual([(cell["text"], cell["kind"]) for cell in cells],
                         [("not stated", "null"), ("none", "value"), ("0", "value"), ("soon", "unread"),
                          ("not answered", "none")])

    def test_the_rules_say_which_rows_they_decide_and_which_sit_on_a_limit(self):
        table = panel(rules.rules(self.opened), "table", "first rule")
        gold = list(self.opened.kit.gold())
        for row in table["rows"]:
            rule = row[0]["text"].split()[1]
            decided = [g["id"] for g in gold if g["deciding_restriction"] == rule
                       and g["verdict"] != self.opened.kit.book.table.document["missing"]["decision"]]
            self.assertEqual([cell["text"] for cell in row[4]], [str(len(decided)), *decided])
        at = {row[0]["text"].split()[1]: row[8] for row in table["rows"]}
        exact = [g["id"] for g in gold if g["rate_proposed_l_per_ha"] == g["max_rate_l_per_ha"] is not None]
        found = self.opened.kit.book.table.rules
        rate = next(rule["id"] for rule in found if rule["field"] == "rate_proposed_l_per_ha")
        self.assertTrue(set(exact) >= {cell["text"] for cell in at[rate]} != set())


@unittest.skipUnless(LABEL in kits.names(), f"{LABEL} is not in this checkout")
class TestOtherRules(unittest.TestCase):
    def test_a_swapped_pair_of_checks_changes_ladder_and_check_set_and_the_drift_is_told(self):
        stage = showing.Stage(LABEL)
        self.addCleanup(stage.close)
        run = stage.floors()["line-reader"]
        shelf_ = stage.shelf()
        before = shelf_.open(LABEL)
        name, place, one, other = self.swapped(stage, before.kit)
        after = shelf_.open(LABEL)

        def seen(opened):
            view = page.document(opened, name, listing.filters(opened, {"run": [run]}))
            ladder = panel(view, "ladder")
            order = [row[0]["text"].split()[1] for row in panel(rules.rules(opened), "table", "first rule")["rows"]]
            return view, ladder["ends"], [rung["rule"] for rung in ladder["rungs"]], order
        view, ends, rungs, order = seen(before)
        self.assertNotIn("Other rules", [found.get("title") for found in view["panels"]])
        self.assertEqual(ends, [f"{one['decision']} by {one['id']}"] * 2)
        view, ends, rungs, order = seen(after)
        self.assertEqual(ends, [f"{other['decision']} by {other['id']}"] * 2)
        self.assertEqual(rungs[place:place + 2], [other["id"], one["id"]])
        self.assertEqual(order, rungs)
        notes = [found["text"] for found in view["panels"] if found.get("title") == "Other rules"]
        self.assertEqual(len(notes), 2)
        self.assertIn(f"deciding_restriction {one['id']}, now {other['id']}", notes[0])

    @staticmethod
    def swapped(stage, kit):
        """Let the first two neighbours change places that one row breaches both: (row, place, rules)."""
        path = stage.data / "checks.json"
        whole = path.read_text()
        for place in range(len(kit.book.table.rules) - 1):
            document = json.loads(whole)
            one, other = sorted(document["rules"], key=lambda rule: rule["order"])[place:place + 2]
            one["order"], other["order"] = other["order"], one["order"]
            path.write_text(json.dumps(document))
            changed = stage.kit()
            for row in kit.gold():
                now = changed.definition.decide(changed.book, row)
                if (row["deciding_restriction"], now["deciding_restriction"]) == (one["id"], other["id"]):
                    return row["id"], place, one, other
        raise AssertionError("no row breaches two checks that follow each other; plan a case in cases.json that does")

    def test_a_contradiction_on_the_page_is_flagged_beside_the_result(self):
        stage = showing.Stage(LABEL)
        self.addCleanup(stage.close)
        gold = [json.loads(line) for line in (stage.data / "gold.jsonl").read_text().splitlines()]
        gold[0] |= {"days_to_harvest": -3}
        (stage.data / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
        opened = stage.opened()
        view = page.document(opened, gold[0]["id"], listing.filters(opened, {}))
        self.assertIn("Seen in: gold.", panel(view, "note", "negative_days_to_harvest")["text"])


class TestTenThousand(unittest.TestCase):
    def test_a_large_kit_is_listed_from_an_index_and_not_from_its_pages(self):
        stage = showing.Stage(KIT)
        self.addCleanup(stage.close)
        rows = (stage.data / "gold.jsonl").read_text().splitlines()
        shutil.rmtree(stage.data / "corpus")
        with (stage.data / "gold.jsonl").open("w") as handle:
            for number in range(3000):
                row = json.loads(rows[number % len(rows)])
                handle.write(json.dumps(row | {"id": f"BIG-{number:05}"}) + "\n")
        opened = stage.opened()
        view = listing.documents(opened, listing.filters(opened, {"page": ["15"]}))
        self.assertEqual((view["total"], view["pages"], view["rows"][-1]["id"]), (3000, 15, "BIG-02999"))


if __name__ == "__main__":
    unittest.main()
