"""label_restrict keeps what every kit keeps, and what its own page promises."""
import unittest

from evals.shared import contract, scoring


class TestKit(contract.KitContract, unittest.TestCase):
    name = "label_restrict"

    @property
    def passed(self):
        """The two answers of a plan that every check lets through."""
        return dict(zip(("verdict", "deciding_restriction"), self.kit.book.table.document["passed"].values()))

    def stopped(self):
        """A gold row that must be stopped for a value on the page, with room to be cleared wrongly."""
        return next(row for row in self.gold if row["verdict"] == self.kit.book.table.rules[0]["decision"])

    def test_a_wrong_verdict_is_mended_by_the_recheck_and_counted_raw(self):
        row = self.stopped()
        grading = scoring.Scoring(self.kit, self.bench)
        entry = grading.entry(row, self.answered(row, **self.passed))
        self.assertEqual(set(entry["overrides"]) - {"needs_hold"}, {"verdict", "deciding_restriction"})
        self.assertTrue(entry["marks"]["raw"]["unsafe_clearance"])
        self.assertFalse(entry["marks"]["rechecked"]["unsafe_clearance"])
        self.assertTrue(entry["marks"]["rechecked"]["verdict"])
        self.assertTrue(entry["marks"]["raw"]["self_check_catches"])

    def test_a_misread_value_goes_through_the_recheck(self):
        rule = next(rule for rule in self.kit.book.table.rules if rule["test"] == ">=")
        row = next(row for row in self.gold
                   if (row["verdict"], row["deciding_restriction"]) == (rule["decision"], rule["id"]))
        entry = scoring.Scoring(self.kit, self.bench).entry(row, self.answered(row, **{rule["field"]: 100_000}))
        self.assertFalse(entry["marks"]["rechecked"]["restriction"])
        self.assertFalse(entry["marks"]["raw"][f"field.{rule['field']}"])

    def test_each_named_error_moves_its_own_counter_and_no_other(self):
        stopped, last = self.stopped(), self.kit.book.table.rules[-1]
        inside = next(row for row in self.gold if row["verdict"] == self.passed["verdict"])
        other = next(rule["id"] for rule in self.kit.book.table.rules if rule["id"] != stopped["deciding_restriction"])
        for error, row, changed in (
                ("unsafe_clearance", stopped, self.passed),
                ("over_stop", inside, {"verdict": last["decision"], "deciding_restriction": last["id"]}),
                ("right_verdict_wrong_restriction", stopped, {"deciding_restriction": other})):
            marks = scoring.Scoring(self.kit, self.bench).entry(row, self.answered(row, **changed))["marks"]["raw"]
            raised = {name for name in (error.id for error in self.bench.errors) if marks.get(name) is True}
            self.assertEqual(raised, {error})

    def test_a_wrong_restriction_that_the_values_support_is_a_false_alarm_of_nobody(self):
        row = self.stopped()
        marks = scoring.Scoring(self.kit, self.bench).entry(row, self.answered(row))["marks"]["raw"]
        self.assertIs(marks["self_check_false_alarm"], False)
        self.assertNotIn("self_check_catches", marks)

    def test_a_plan_without_a_crop_is_not_cleared_by_a_label_without_crops(self):
        row = next(row for row in self.gold if row["verdict"] == self.passed["verdict"])
        for permitted in ("none", row["permitted_crops"]):
            said = self.answered(row, **self.passed, crop_proposed="none", permitted_crops=permitted)
            self.assertNotEqual(said.rechecked.values["verdict"], self.passed["verdict"])

    def test_an_unknown_verdict_is_unanswered_and_in_no_other_cell(self):
        row = self.stopped()
        for verdict in ("probably fine", None, 3, self.passed["verdict"][:-1]):
            entry = scoring.Scoring(self.kit, self.bench).entry(row, self.answered(row, verdict=verdict))
            self.assertEqual(entry["cells"]["raw"]["verdict"], [row["verdict"], "unanswered"])
            self.assertFalse(entry["marks"]["raw"]["unsafe_clearance"])
            self.assertIsNone(entry["raw"]["values"]["needs_hold"])

    def test_a_null_is_matched_by_a_null_and_by_nothing_else(self):
        row = next(row for row in self.gold if row["days_since_last_application"] is None)
        for value, hit in ((None, True), (0, False), ("none", False), ("3 weeks", False)):
            marks = scoring.Scoring(self.kit, self.bench).entry(
                row, self.answered(row, days_since_last_application=value))["marks"]["raw"]
            self.assertIs(marks["field.days_since_last_application"], hit, value)

    def test_a_field_that_was_not_answered_is_no_null(self):
        row = next(row for row in self.gold if row["days_since_last_application"] is None)
        reply = {key: row[key] for key in self.kit.definition.keys(self.kit.book)}
        del reply["days_since_last_application"]
        answer = self.kit.definition.normalise(self.kit.book, reply)
        gold = self.kit.definition.normalise(self.kit.book, row)
        marks = self.bench.judge(self.kit, gold, answer).hits
        self.assertIs(marks["field.days_since_last_application"], False)
        self.assertIs(marks["verdict"], True)

    def test_numbers_match_by_value_and_names_as_printed(self):
        row = self.gold[0]
        rate = row["rate_proposed_l_per_ha"]
        for value, hit in ((f"{rate} L/ha", True), (f"{float(rate) + 1e-10}", True), (float(rate) + 0.1, False),
                           (str(rate), True)):
            marks = scoring.Scoring(self.kit, self.bench).entry(
                row, self.answered(row, rate_proposed_l_per_ha=value))["marks"]["raw"]
            self.assertIs(marks["field.rate_proposed_l_per_ha"], hit, value)
        for value, hit in ((row["crop_proposed"] + ".", True), (row["crop_proposed"] + "s", False)):
            answered = self.answered(row, crop_proposed=value)
            marks = scoring.Scoring(self.kit, self.bench).entry(row, answered)["marks"]["raw"]
            self.assertIs(marks["field.crop_proposed"], hit, value)

    def test_the_line_reader_reads_the_page_and_the_tone_reader_does_not(self):
        _, by_line = self.run_arm(self.arms["line-reader"])
        _, by_tone = self.run_arm(self.arms["note-tone"])
        verdict = lambda closing: closing["metrics"][0]["raw"]
        self.assertEqual(verdict(by_line)["num"], verdict(by_line)["den"])
        self.assertLess(verdict(by_tone)["num"], verdict(by_tone)["den"] / 2)
        unsafe = by_tone["errors"][0]["raw"]
        self.assertGreater(unsafe["count"], 0)
        self.assertEqual(unsafe["opportunities"], sum(row["verdict"] != self.passed["verdict"] for row in self.gold))
