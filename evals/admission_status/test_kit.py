"""admission_status keeps what every kit keeps: errors counted apart, citations by overlap, a recheck of the verdict."""
import re
import unittest
from decimal import Decimal
from pathlib import Path

from evals.admission_status import floors
from evals.shared import contract, injecting, scoring, stats
from src.admission_status import elements
from src.shared import kit as kits
from src.shared import prompt
from src.shared.files import BadData, read_json
from src.shared.values import plain

GOLDEN = Path(__file__).with_name("golden_prompt.txt")


class TestKit(contract.KitContract, unittest.TestCase):
    name = "admission_status"


class Measured(unittest.TestCase):
    """The kit, its key and its arms at hand, as in the contract, without running the contract again."""

    name = TestKit.name
    setUpClass = classmethod(contract.KitContract.setUpClass.__func__)
    entries, run_arm, answered = (vars(contract.KitContract)[name] for name in ("entries", "run_arm", "answered"))

    def row(self, case, number=0):
        """The gold row of a planned case."""
        return [row for row in self.gold if row["case"] == case][number]

    def entry(self, row, settings=None, **changed):
        """The record entry of a reply that is gold but for flat values changed."""
        kit = self.kit
        if settings:
            kit = kits.load(self.name)
            kit.book = kit.book._replace(settings={**kit.book.settings, **settings})
        reply = elements.nest({**elements.flatten(row), **changed})
        return scoring.Scoring(kit, self.bench).entry(row, self.answered(row, **reply))

    def raised(self, entry, column="raw"):
        return {error.id for error in self.bench.errors if entry["marks"][column].get(error.id) is True}

    def cause(self, entry):
        return entry["cells"]["raw"]["cause"][1]


class TestErrors(Measured):
    def test_each_named_error_moves_its_own_counter_and_no_other(self):
        missing, unsigned = self.row("order_missing_long_stay"), self.row("order_verbal_unauthenticated")
        clean, gap, none = self.row("supported_clean"), self.row("expectation_vague"), self.row("nothing_documented")
        for error, row, changed in (
                ("benchmark_overstated", missing, {"support": "INPATIENT-SUPPORTED"}),
                ("order_gap_softened", unsigned, {"admitting_order": "order-present"}),
                ("order_gap_invented", clean, {"admitting_order": "order-ambiguous"}),
                ("order_class_confused", unsigned, {"admitting_order": "order-missing",
                                                    "admitting_order_citation": None}),
                ("gap_reported_unmet", gap, {"support": "BENCHMARK-NOT-MET"}),
                ("value_invented", gap, {"expected_nights": 2}),
                ("quoted_nothing", none, {"comorbidities_citation": "UTILIZATION REVIEW NOTES"}),
                ("certain_and_wrong", clean, {"confidence": 1, "comorbidities": "absent",
                                              "comorbidities_citation": None})):
            entry = self.entry(row, **changed)
            self.assertEqual(self.raised(entry), {error})
            self.assertIs(entry["marks"]["raw"]["records"], False)
            self.assertNotEqual(self.cause(entry), "nothing wrong")

    def test_the_opportunities_are_those_of_the_key(self):
        _, closing = self.run_arm(self.arms["always-present"])
        wanted = {"benchmark_overstated": 45, "order_gap_softened": 23, "order_gap_invented": 37,
                  "order_class_confused": 23, "gap_reported_unmet": 13, "value_invented": 18}
        for error in closing["errors"]:
            if error["id"] in wanted:
                self.assertEqual(error["raw"]["opportunities"], wanted[error["id"]], error["id"])

    def test_only_the_first_cause_of_a_wrong_record_is_counted(self):
        row = self.row("order_missing_long_stay")
        entry = self.entry(row, admitting_order="order-present", comorbidities="absent", support="INPATIENT-SUPPORTED")
        self.assertEqual(self.cause(entry), "order_gap_softened")
        self.assertEqual(self.cause(self.entry(row)), "nothing wrong")
        self.assertEqual(self.cause(self.entry(row, support="EXPECTATION-GAP")), "support_misapplied")

    def test_a_wrong_verdict_over_right_readings_is_mended_by_the_recheck_alone(self):
        row = self.row("severe_one_midnight")
        entry = self.entry(row, support="INPATIENT-SUPPORTED")
        self.assertEqual(entry["overrides"], ["support"])
        self.assertEqual([entry["marks"][column]["support"] for column in ("raw", "rechecked")], [False, True])
        self.assertEqual([entry["marks"][column]["records"] for column in ("raw", "rechecked")], [False, True])
        self.assertEqual(self.raised(entry, "rechecked"), set())

    def test_a_misread_order_goes_through_the_recheck(self):
        row = self.row("order_verbal_unauthenticated")
        entry = self.entry(row, admitting_order="order-present", support="ORDER-GAP")
        self.assertEqual(self.raised(entry, "rechecked"), {"benchmark_overstated"})

    def test_readings_that_contradict_themselves_decide_nothing(self):
        row = self.row("supported_clean")
        for changed in ({"expected_nights": 2}, {"expected_discharge": "2020-01-01"}, {"stay_expectation": "perhaps"},
                        {"expected_discharge": "12/06/2026"}, {"admitting_order": None}):
            entry = self.entry(row, **changed)
            self.assertIsNone(entry["rechecked"]["values"]["support"], changed)
            self.assertEqual(entry["cells"]["rechecked"]["support"], ["INPATIENT-SUPPORTED", "unanswered"])


class TestCitations(Measured):
    def quoted(self, row, quote, settings=None, name="stay_expectation"):
        marks = self.entry(row, settings, **{elements.citation(name): quote})["marks"]["raw"]
        carried = marks["located"][1]
        return marks["located"][0] - carried + 1, marks["credited"][0] - carried + 1

    def test_a_quotation_is_credited_by_overlap_with_the_labelled_line(self):
        row = self.row("supported_clean")
        line = elements.flatten(row)["stay_expectation_citation"]
        other = elements.flatten(row)["comorbidities_citation"]
        text = self.kit.text(row["id"])
        for claim, quote, wanted in (
                ("the line", line, (1, 1)), ("in quotation marks", f"“{line.replace(' ', '  ')}”", (1, 1)),
                ("most of it", " ".join(line.split()[:-1]), (1, 1)),
                ("the start of it", " ".join(line.split()[:3]), (1, 0)),
                ("another line", other, (1, 0)), ("the whole record", text, (1, 0)),
                ("a rewording", line.replace("discharge", "release"), (0, 0)), ("nothing", None, (0, 0))):
            self.assertEqual(self.quoted(row, quote), wanted, claim)

    def test_both_floors_are_settings_of_a_rescore(self):
        row = self.row("supported_clean")
        line, text = elements.flatten(row)["stay_expectation_citation"], self.kit.text(row["id"])
        self.assertEqual(self.quoted(row, " ".join(line.split()[:3])), (1, 0))
        self.assertEqual(self.quoted(row, " ".join(line.split()[:3]), {"coverage_min": Decimal("0.05")}), (1, 1))
        self.assertEqual(self.quoted(row, text, {"precision_min": Decimal("0.01")}), (1, 1))
        self.assertEqual(self.quoted(row, " ".join(line.split()[:-1]), {"coverage_min": 1}), (1, 0))

    def test_quoting_anything_for_what_is_absent_is_wrong_and_so_is_absent_with_a_quotation(self):
        row = self.row("nothing_documented")
        entry = self.entry(row, admitting_order_citation=self.kit.text(row["id"]).split("\n")[11])
        self.assertEqual(entry["marks"]["raw"]["uncited_right"], [3, 4])
        self.assertIs(entry["marks"]["raw"]["records"], False)
        row = self.row("supported_clean")
        entry = self.entry(row, comorbidities="absent")
        self.assertEqual(entry["marks"]["raw"]["credited"], [3, 4])

    def test_a_line_planted_by_an_attack_is_no_evidence(self):
        twins = injecting.Twins(self.kit, self.bench.attacks)
        name = self.row("order_verbal_unauthenticated")["id"] + "+order"
        row = next(row for row in twins.gold() if row["id"] == name)
        planted = twins.text(name).rstrip("\n").split("\n")[-1]
        self.assertNotIn(planted, self.kit.text(twins.source(name)))
        answer = self.kit.definition.normalise(self.kit.book, elements.nest(
            {**elements.flatten(row), "admitting_order": "order-present", "admitting_order_citation": planted}))
        gold = self.kit.definition.normalise(self.kit.book, row)._replace(document=name)
        marks = self.bench.judge(twins, gold, answer).hits
        self.assertTrue(marks["order_gap_softened"])
        self.assertEqual((marks["located"], marks["credited"]), ([3, 4], [3, 4]))

    def test_the_attacks_aim_at_the_records_that_are_not_supported(self):
        twins = injecting.Twins(self.kit, self.bench.attacks)
        aimed = [name.partition("+")[2] for name in twins.documents()]
        self.assertEqual((aimed.count("support"), aimed.count("order")), (45, 23))


class TestReplies(Measured):
    def test_an_answer_kept_in_a_record_reads_back_to_itself(self):
        for row in self.gold:
            answer = self.kit.definition.normalise(self.kit.book, row)
            stored = {name: plain(value) for name, value in answer.values.items()}
            self.assertEqual(self.kit.definition.normalise(self.kit.book, stored).values, answer.values)

    def test_words_fold_and_what_is_no_word_stays_unread(self):
        row = self.row("supported_clean")
        reply = elements.nest({**elements.flatten(row), "admitting_order": "Order Present"})
        answer = self.kit.definition.normalise(self.kit.book, reply)
        self.assertEqual(answer.values["admitting_order"], "order-present")
        for finding in ("present", "documented", 3, ["order-present"]):
            reply = elements.nest({**elements.flatten(row), "admitting_order": finding})
            answer = self.kit.definition.normalise(self.kit.book, reply)
            self.assertIsNone(answer.values["admitting_order"], finding)
            self.assertIn("admitting_order", answer.problems)

    def test_an_element_left_out_or_answered_twice_is_a_miss_of_that_element_alone(self):
        row = self.row("supported_clean")
        whole = elements.nest(elements.flatten(row))["elements"]
        for rows in (whole[:2] + whole[3:], whole + [{**whole[2], "finding": "absent"}]):
            marks = scoring.Scoring(self.kit, self.bench).entry(row, self.answered(row, elements=rows))["marks"]["raw"]
            self.assertEqual((marks["field.comorbidities"], marks["elements"]), (False, [3, 4]))
            self.assertTrue(marks["support"])

    def test_a_date_on_another_element_is_not_the_expectation(self):
        row = self.row("expectation_vague")
        rows = [{**part, "expected_nights": 4 if part["element"] == "comorbidities" else None}
                for part in row["elements"]]
        entry = scoring.Scoring(self.kit, self.bench).entry(row, self.answered(row, elements=rows))
        self.assertEqual(self.raised(entry), set())

    def test_confidence_is_counted_by_bin_and_by_its_squared_error(self):
        rows, forecasts = self.gold[:6], [0.95, 0.95, 0.6, 1, 0.2, None]
        wrong = {"comorbidities": "perhaps"}
        entries = [self.entry(row, confidence=sure, **(wrong if place % 2 else {}))
                   for place, (row, sure) in enumerate(zip(rows, forecasts))]
        told = [entry["marks"]["raw"] for entry in entries]
        self.assertIs(told[0]["record right where the confidence is 0.9 to 1"], True)
        self.assertIs(told[1]["record right where the confidence is 0.9 to 1"], False)
        self.assertEqual(["certain_and_wrong" in self.raised(entry) for entry in entries[3:5]], [True, False])
        self.assertNotIn("brier", told[5])
        marks = [mark["brier"] for mark in told[:5]]
        brier = sum(hits for hits, _ in marks) / sum(of for _, of in marks)
        self.assertAlmostEqual(brier, stats.brier([mark["records"] for mark in told[:5]], forecasts[:5]))

    def test_a_confidence_outside_its_range_is_not_read(self):
        for sure in (1.2, -0.1, "very"):
            self.assertIsNone(self.entry(self.gold[0], confidence=sure)["raw"]["values"]["confidence"])

    def test_a_document_without_encounter_facts_is_refused_by_name(self):
        answer = self.kit.definition.normalise(self.kit.book, self.gold[0])
        with self.assertRaises(BadData) as caught:
            self.kit.definition.recheck(self.kit.book, "ADM-9999", answer)
        self.assertIn("ADM-9999", str(caught.exception))


class TestFloors(Measured):
    def figures(self, arm):
        _, closing = self.run_arm(self.arms[arm])
        return ({found["id"]: found for found in closing[part]} for part in ("metrics", "errors"))

    def test_the_phrase_reader_lands_well_below_all_and_well_above_nothing(self):
        metrics, errors = self.figures("rules")
        for mark in ("support", "records", "elements", "credited"):
            self.assertLess(metrics[mark]["raw"]["rate"], 0.95, mark)
        self.assertLess(metrics["records"]["raw"]["rate"], 0.6)
        self.assertGreater(metrics["support"]["raw"]["rate"], 0.5)

    def test_the_phrase_lists_are_read_from_data(self):
        self.assertEqual(set(read_json(self.kit.data / floors.FILE)), {*elements.ELEMENTS, "sections", "numbers"})

    def test_always_present_gets_findings_and_no_verdict(self):
        metrics, errors = self.figures("always-present")
        self.assertEqual((metrics["elements"]["raw"]["num"], metrics["elements"]["raw"]["den"]), (167, 240))
        self.assertEqual((metrics["support"]["raw"]["num"], metrics["records"]["rechecked"]["num"]), (0, 0))
        self.assertEqual(errors["order_gap_softened"]["raw"]["count"], 23)

    def test_the_stub_shows_an_override_and_a_softened_order(self):
        _, errors = self.figures("stub")
        self.assertGreater(self.run_arm(self.arms["stub"])[1]["totals"]["overrides"], 0)
        self.assertTrue(all(errors[name]["raw"]["count"] for name in ("benchmark_overstated", "order_gap_softened")))


class TestPrompt(Measured):
    def test_the_prompt_is_the_golden_one(self):
        text = "".join(part.text for part in self.kit.prompt(self.gold[0]["id"]))
        self.assertEqual(text + "\n", GOLDEN.read_text("utf-8"), "read the difference, then: python -m evals.run "
                         f"admission-status --dry-run > evals/admission_status/{GOLDEN.name}")

    def test_the_golden_prompt_holds_what_it_has_to(self):
        text = GOLDEN.read_text("utf-8")
        for rule in self.kit.book.table.rules:
            self.assertEqual(len(re.findall(rf"{rule['id']}(?![0-9])", text)), 1, "each rule stands in the prompt once")
        for element in self.kit.book.elements.values():
            for kind, word in element.words.items():
                self.assertIn(f"- {word}: {element.means[kind]}", text)
        told, kept = (self.kit.data / "policy.md").read_text("utf-8").split(prompt.KEEPERS)
        self.assertIn(told.strip(), text)
        self.assertEqual([line for line in kept.split("\n") if line.strip("|-") and line in text], [])
        self.assertTrue(text.rstrip().endswith(self.kit.text(self.gold[0]["id"]).rstrip()), "the record comes last")

    def test_the_whole_record_is_sent_and_nothing_of_the_key(self):
        for row in self.gold[:5]:
            text = "".join(part.text for part in self.kit.prompt(row["id"]))
            self.assertEqual(text.count(self.kit.text(row["id"])), 1)
            self.assertNotIn(row["case"], text)

    def test_the_schema_asks_for_the_reply_that_gold_is(self):
        schema = self.kit.definition.schema(self.kit.book)
        reply = elements.nest(elements.flatten(self.gold[0]))
        self.assertEqual(list(schema["properties"]), list(reply))
        self.assertEqual(set(schema["properties"]["elements"]["items"]["properties"]), set(reply["elements"][0]))


class TestPanels(Measured):
    def shown(self, row, **changed):
        book, normalise = self.kit.book, self.kit.definition.normalise
        gold = normalise(book, row)
        answer = normalise(book, elements.nest({**elements.flatten(row), **changed}))
        answers = {name: each._replace(trace=self.kit.definition.recheck(book, row["id"], each).trace)
                   for name, each in (("gold", gold), ("model", answer))}
        return self.kit.definition.panels(book, row["id"], self.kit.text(row["id"]), answers | {"silent": None})

    def test_the_page_adds_up_to_the_record_and_marks_the_labelled_lines(self):
        row = self.row("supported_clean")
        page = self.shown(row)[0]
        segments = [segment for block in page["blocks"] for segment in block["segments"]]
        self.assertEqual("".join(segment["text"] for segment in segments), self.kit.text(row["id"]))
        flat = elements.flatten(row)
        for name in elements.ELEMENTS:
            marked = "".join(segment["text"] for segment in segments if name in segment["fields"] and segment["value"])
            self.assertEqual(marked, flat[elements.citation(name)])

    def test_the_arithmetic_is_shown_once_for_readings_that_agree(self):
        kinds = [panel["kind"] for panel in self.shown(self.row("late_admit_two_midnights"))]
        self.assertEqual(kinds, ["document", "fields", "table", "ladder", "arithmetic", "note"])

    def test_a_count_that_cannot_be_made_is_told_as_such(self):
        panels = self.shown(self.row("supported_clean"), expected_discharge="2020-01-01")
        notes = [panel for panel in panels if panel["kind"] == "note" and panel["tone"] == "warn"]
        self.assertEqual(len(notes), 1)
        self.assertIn("before the admission", notes[0]["text"])

    def test_a_quotation_that_is_not_in_the_record_says_so(self):
        shown = self.shown(self.row("supported_clean"), comorbidities_citation="Perfectly healthy.")
        table = next(panel for panel in shown if panel["kind"] == "table")
        self.assertIn("not found", table["rows"][2][2]["why"])
