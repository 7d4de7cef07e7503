"""The admission records and their key: planned counts, traps that are traps, sentences that do not repeat."""
import json
import re
import shutil
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from src.admission_status import corpus, elements
from src.shared import citation, sections
from src.shared import kit as kits
from src.shared.files import BadData, read_json

KIT = kits.load("admission_status")
BOOK = KIT.book
GOLD = list(KIT.gold())
FLAT = [elements.flatten(row) | {name: row[name] for name in ("id", "case", "rule", "midnights")} for row in GOLD]
CASES = {case["case"]: case for case in read_json(KIT.data / "cases.json")}
POOLS = read_json(KIT.data / "pools.json")
STATS = read_json(KIT.data / "stats.json")
COUNTS = {"supported_clean": 5, "supported_nights_form": 3, "late_admit_two_midnights": 3, "evidence_thin": 4,
          "severe_one_midnight": 6, "long_hours_one_midnight": 3, "expectation_absent": 4, "expectation_vague": 4,
          "expectation_decoy": 5, "order_missing_long_stay": 5, "order_observation_only": 4,
          "order_verbal_unauthenticated": 4, "order_in_note_only": 3, "order_status_blank": 2, "mixed_gaps": 2,
          "nothing_documented": 3}


def of(case):
    return [row for row in FLAT if row["case"] == case]


def section(document, title):
    text = KIT.text(document)
    return sections.body(text, next(each for each in sections.cut(text) if each.title == title))


class TestCounts(unittest.TestCase):
    def test_sixty_records_fifteen_clean_and_forty_five_hard(self):
        self.assertEqual(Counter(row["case"] for row in GOLD), COUNTS)
        self.assertEqual(Counter(CASES[row["case"]]["hard"] for row in GOLD), {False: 15, True: 45})

    def test_the_verdicts_have_their_planned_totals(self):
        self.assertEqual(Counter(row["support"] for row in GOLD), {
            "INPATIENT-SUPPORTED": 15, "BENCHMARK-NOT-MET": 9, "EXPECTATION-GAP": 13, "ORDER-GAP": 23})
        self.assertTrue(all(CASES[row["case"]]["hard"] != (row["support"] == "INPATIENT-SUPPORTED") for row in GOLD))

    def test_forty_two_state_a_value_and_eighteen_none(self):
        stated = Counter(sum(row.get(name) is not None for name in elements.VALUES) for row in FLAT)
        self.assertEqual(stated, {1: 42, 0: 18})

    def test_every_word_of_every_element_occurs(self):
        for name, element in BOOK.elements.items():
            self.assertEqual({row[name] for row in FLAT}, set(element.words.values()))

    def test_both_sides_of_the_benchmark_and_zero_occur_with_an_order(self):
        counts = {row["midnights"] for row in FLAT if row[elements.ORDER] == "order-present"}
        self.assertLessEqual({0, 1, 2, 3, None}, counts)


class TestTraps(unittest.TestCase):
    def test_twins_at_midnight_share_a_discharge_date_and_not_a_verdict(self):
        late, early = (next(row for row in of(case) if BOOK.records[row["id"]]["admitted_at"].endswith(time))
                       for case, time in (("late_admit_two_midnights", "23:59"), ("long_hours_one_midnight", "00:00")))
        self.assertEqual(late["expected_discharge"], early["expected_discharge"])
        self.assertEqual((late["midnights"], early["midnights"]), (2, 1))

    def test_observation_first_and_inpatient_later_is_an_order(self):
        found = [row for row in FLAT if row[elements.ORDER] == "order-present"
                 and "bservation" in section(row["id"], corpus.ORDERS).partition(row["admitting_order_citation"])[0]]
        self.assertGreaterEqual(len(found), 5)

    def test_one_record_has_dates_of_practitioner_planner_earlier_stay_and_family(self):
        kinds = [set(decoy.split()[0] for decoy in plan.get("decoys", ())) for case in CASES.values()
                 for plan in case["documents"] if plan["expects"] and plan["expects"].split()[0] in corpus.COUNTED]
        self.assertIn({"planner", "earlier", "family"}, kinds)

    def test_no_night_is_a_stated_number(self):
        row = next(row for row in FLAT if row["expected_nights"] == 0)
        self.assertEqual((row["rule"], row["midnights"]), ("TM-4", 0))

    def test_a_missing_order_stands_on_long_and_severe_stays(self):
        for row in of("order_missing_long_stay"):
            self.assertGreaterEqual(row["midnights"], 4)
            self.assertTrue(section(row["id"], corpus.ORDERS), "there are orders, and none of them admits")
            told = section(row["id"], corpus.PROSE)
            severe = [sentence for group in POOLS["fillers"]["severe"].values() for sentence in group]
            self.assertTrue(any(sentence in told for sentence in severe))

    def test_an_order_stands_at_or_before_the_admission_but_for_the_signature_of_a_spoken_one(self):
        for row in FLAT:
            line = row["admitting_order_citation"] or ""
            if re.match("[0-9]", line) and line[:16] > BOOK.records[row["id"]]["admitted_at"]:
                self.assertTrue(any("{time}" in sentence and sentence.split("{")[0] in line
                                    for sentence in POOLS["evidence"]["admitting_order"]["signed"]), line)

    def test_each_labelled_line_stands_in_its_record_once(self):
        for row in FLAT:
            for name in elements.ELEMENTS:
                quote = row[elements.citation(name)]
                if quote:
                    self.assertEqual(citation.locate(KIT.text(row["id"]), quote).count, 1, (row["id"], name))


class TestSentences(unittest.TestCase):
    def test_there_are_enough_sentences_of_evidence_and_none_stands_twice(self):
        sentences = [sentence for kinds in POOLS["evidence"].values() for pool in kinds.values() for sentence in pool]
        self.assertEqual(len(sentences), len(set(sentences)))
        self.assertGreaterEqual(len(sentences), 79)

    def test_no_template_comes_again_within_five_records(self):
        templates = [re.compile("".join(".+?" if place % 2 else re.escape(part) for place, part in
                                        enumerate(re.split(r"\{(\w+)\}", sentence))))
                     for kinds in POOLS["evidence"].values() for kind in ("present", "date", "nights", "named", "vague")
                     for sentence in kinds.get(kind, ())]
        shown = []
        for row in FLAT:
            quotes = [re.sub("^[0-9][0-9: -]*  ", "", row[elements.citation(name)] or "") for name in elements.ELEMENTS]
            shown.append({template.pattern for template in templates for quote in quotes if template.fullmatch(quote)})
        for first, later in ((first, later) for first in range(len(shown)) for later in range(first + 1, first + 5)):
            if later < len(shown):
                self.assertFalse(shown[first] & shown[later], (FLAT[first]["id"], FLAT[later]["id"]))

    def test_no_sentence_speaks_the_words_of_the_key(self):
        words = [*elements.SUPPORTS, *CASES, *BOOK.table.rule_ids[:-1], *BOOK.elements[elements.ORDER].words.values()]
        for row in GOLD:
            self.assertFalse([word for word in words if word in KIT.text(row["id"])], row["id"])


class TestRefusals(unittest.TestCase):
    def refused(self, file, change):
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        for path in KIT.data.iterdir():
            if path.is_file():
                shutil.copy(path, folder)
        value = json.loads((folder / file).read_text())
        change(value)
        (folder / file).write_text(json.dumps(value))
        with self.assertRaises(BadData) as caught:
            corpus.build(kits.load("admission_status", folder).book, 1)
        return str(caught.exception)

    def test_a_rule_that_gives_a_case_another_verdict_names_the_case(self):
        def three(policy):
            policy["values"]["two_midnights"]["value"] = 3
        self.assertIn("supported_clean: planned as", self.refused("policy.json", three))

    def test_an_unknown_word_in_a_plan_is_named(self):
        for change, told in (({"order": "obsrvation"}, "did you mean observation"), ({"tone": "grim"}, "tone 'grim'"),
                             ({"expects": "dates 3"}, "'dates 3' is no expectation"),
                             ({"expects": "nights 13"}, "'nights 13' is no expectation"),
                             ({"order": "blank", "expects": None, "admitted": "24:00"}, "admitted '24:00' is not"),
                             ({"admitted": "12:00", "ordr": "blank"}, "unknown key")):
            self.assertIn(told, self.refused("cases.json", lambda cases: cases[0]["documents"][0].update(change)))

    def test_an_empty_pool_is_named_by_its_place(self):
        self.assertIn("/evidence/stay_expectation: date []",
                      self.refused("pools.json", lambda pools: pools["evidence"]["stay_expectation"].update(date=[])))

    def test_a_verdict_or_word_that_the_kit_does_not_know_stops_the_loading(self):
        def renamed(policy):
            policy["elements"]["comorbidities"]["words"]["ABSENT"] = "documented"
        self.assertIn("stands for two classes", self.refused("policy.json", renamed))

        def verdict(policy):
            policy["rulebook"]["decisions"]["ADMIT"] = "-"
        self.assertIn("this kit's verdicts are", self.refused("policy.json", verdict))
