"""The label gate of admission_status: the key follows, planted faults are named, no single change goes unseen.

The mutation test changes one thing at a time in any file that the gate reads. A change that it lets pass has to be
proven harmless: it says the same, is read by people alone, or stands where nothing is evidenced.
"""
import re
import unittest
from pathlib import Path
from unittest import mock

from evals.admission_status import gate
from evals.shared import labels, personal, planting
from src.admission_status import benchmark, corpus
from src.shared import kit as kits

HOME = kits.load(gate.NAME).data


class Copy(planting.Copy, unittest.TestCase):
    home, gate = HOME, gate

    def said(self, *parts, problems=None):
        """One sentence of the gate, or of the given ones, holds all the parts."""
        problems = self.problems() if problems is None else problems
        self.assertTrue(any(all(part in problem for part in parts) for problem in problems), (parts, problems[:5]))

class TestCommittedKey(Copy):
    def test_every_label_follows_from_both_renderings(self):
        report = gate.check(self.data)
        self.assertEqual([str(problem) for problem in report.problems], [])
        self.assertEqual(report.counts["gold rows that follow from both renderings"], 60)
        self.assertGreaterEqual(report.counts["sentences of evidence"], 79)
        self.assertGreater(report.counts["fillers without a mark"], 200)

    def test_records_of_ones_own_need_no_pools(self):
        (self.data / "pools.json").unlink()
        (self.data / "stats.json").unlink()
        self.rewrite("corpus/ADM-0001.txt", "UTILIZATION REVIEW NOTES\n------------------------\n",
                     "UTILIZATION REVIEW NOTES\n------------------------\n2026-01-01  Something that no pool holds.\n")
        self.assertEqual(self.problems(), [])
        self.write("cases.json", "[]")
        self.assertEqual(self.problems(), [], "nor a plan")
        self.restore("pools.json")
        self.said("records.json", "no such case is planned")

    def test_an_engine_that_counts_hours_writes_a_key_that_the_gate_refuses(self):
        def hours(admitted, discharge, nights):
            return nights if discharge is None else round((corpus.datetime.datetime.combine(
                discharge, corpus.datetime.time(23)) - admitted).total_seconds() / 86400)
        with mock.patch.object(benchmark, "midnights", hours), mock.patch.object(corpus, "refuse_unplanned"):
            for name, text in corpus.build(kits.load(gate.NAME, self.data).book, 20260901).items():
                (self.data / name).write_text(text, "utf-8")
        self.said("gold.jsonl", "policy.md as it stands gives")


class TestFaults(Copy):
    def test_two_renderings_that_differ_are_named_by_cell(self):
        self.change("policy.json", lambda policy: policy["values"]["two_midnights"].update(value=3))
        self.said("policy.json", "values row 1", "amount is 3 here and 2")

    def test_words_fields_and_settings_are_compared_one_by_one(self):
        for file, old, new, told in (
                ("policy.json", "other illness is spoken of and none is named", "none is named", "means row 7"),
                ("policy.json", "the record carries the element", "it is there", "classes row 2"),
                ("policy.json", "Expected length of stay", "Length of stay", "titles row 2"),
                ("policy.json", "a person decides.", "so it is.", "decisions row 4"),
                ("policy.json", "exactly two are enough", "three are enough", "reasons row 5"),
                ("policy.json", "42 CFR 412.3(a) and 412.3(d)(1)\"", "42 CFR 412.3(b)\"", "reasons row 5"),
                ("policy.json", "It determines no status", "It determines a status", "parts row 1"),
                ("policy.json", "\"2013-10-01\"", "\"2013-10-02\"", "values row 1"),
                ("policy.md", "nobody says anything about how long", "somebody does", "means row 6"),
                ("policy.md", "| from |\n|---|---|---|---|---|\n", "| from |\n", "write a line of dashes"),
                ("fields.json", "\"further night\", ", "", "units row 1"),
                ("fields.json", "the expected discharge date", "the discharge date", "fields row 5"),
                ("fields.json", "\"decided\": true", "\"decided\": false", "fields row 11"),
                ("kit.json", "\"coverage_min\": 0.60", "\"coverage_min\": 0.50", "settings row 1")):
            self.rewrite(file, old, new)
            self.said(told, problems=self.of_key())
            self.restore(file)

    def test_prose_that_contradicts_the_tables_is_named(self):
        for old, new, told in (
                ("on the day after next is two midnights", "on the day after next is three midnights", "it is 2"),
                ("on the\nnext day is one", "on the\nnext day is two", "it is 1"),
                ("is a count of 0", "is a count of 1", "it is 0"),
                ("In at 01:00 and out", "After 01:00 and out", "an example each of 0, 1 and 2"),
                ("answered `BENCHMARK-NOT-MET`", "answered `BENCHMARK-UNMET`", "BENCHMARK-UNMET stands in no table"),
                ("# TM-2026, the", "# TM-2025, the", "TM-2025 stands in no table")):
            self.rewrite("policy.md", old, new)
            self.said("policy.md", told, problems=self.of_key())
            self.restore("policy.md")

    def test_all_of_stats_is_counted_anew(self):
        report = labels.Report(self.data, gate.FILES)
        key = gate.read_key(report)
        found = gate.check_documents(report, key)
        for group in ("seed", "bytes", "hard", "findings", "midnights", "rules", "limits", "distinct_values", "nulls"):
            self.change("stats.json", lambda stats: stats.update({group: [stats[group]]}))
            told = labels.Report(self.data, gate.FILES)
            told.counts.update(report.counts)
            gate.check_counts(told, key, *found)
            self.assertEqual([problem.row for problem in told.problems], [group])
            self.restore("stats.json")

    def test_a_fact_that_no_pool_holds_is_named(self):
        for fact, wrong in (("title", "Beamed in"), ("facility", "Elsewhere"), ("attending_role", "passer-by"),
                            ("service_line", "alchemy"), ("admitted_at", "2026-05-21 24:00")):
            self.change("records.json", lambda rows: rows[1].update({fact: wrong}))
            self.said("records.json", "ADM-0002", fact, problems=self.of_key())
            self.restore("records.json")

    def test_a_date_that_is_none_is_a_problem_and_no_crash(self):
        self.change("gold.jsonl", lambda rows: rows[0]["elements"][1].update(expected_discharge="2026-02-30"))
        self.change("records.json", lambda rows: rows[4].update(admitted_at="soon"))
        problems = self.problems()
        self.said("gold.jsonl", "ADM-0001", "gives no count", problems=problems)
        self.said("records.json", "ADM-0005", "YYYY-MM-DD HH:MM is wanted", problems=problems)

    def test_a_threshold_changed_in_both_no_longer_gives_the_key(self):
        self.change("policy.json", lambda policy: policy["values"]["two_midnights"].update(value=3))
        self.rewrite("policy.md", "| 2 | midnights |", "| 3 | midnights |")
        self.said("gold.jsonl", "policy.json as it stands gives", "BENCHMARK-NOT-MET")

    def test_rules_swapped_in_both_no_longer_give_the_key(self):
        def swap(policy):
            rules = policy["rulebook"]["rules"]
            rules[0], rules[2] = rules[2] | {"order": 1}, rules[0] | {"order": 3}
        self.change("policy.json", swap)
        text = (self.data / "policy.md").read_text("utf-8")
        first, third = (re.search(rf"\| {n} (\| `TM-{n}`.*)\n", text)[1] for n in (1, 3))
        text = text.replace(f"| 1 {first}", f"| 1 {third}").replace(f"| 3 {third}", f"| 3 {first}")
        (self.data / "policy.md").write_text(text, "utf-8")
        self.said("gold.jsonl", "EXPECTATION-GAP")

    def test_a_rule_that_reads_severity_is_refused(self):
        self.change("policy.json", lambda policy: policy["rulebook"]["rules"][3].update(
            when={"field": "severity", "test": "==", "value": "low"}))
        self.said("policy.json", "TM-4", "severity")

    def test_a_filler_that_evidences_something_is_named(self):
        for sentence, element in (("Nobody was admitted as inpatient today.", "admitting_order"),
                                  ("Two nights were lost to noise.", "stay_expectation"),
                                  ("Gout was mentioned.", "comorbidities"),
                                  ("Blood cultures were sent.", "services_delivered")):
            self.change("pools.json", lambda pools: pools["fillers"]["review"].append(sentence))
            self.said("pools.json", "carries a mark of " + element, problems=self.of_key())

    def test_evidence_without_a_mark_is_named(self):
        self.change("pools.json", lambda pools: pools["evidence"]["comorbidities"]["named"].append("Also {role}."))
        self.said("pools.json", "carries no mark of comorbidities", problems=self.of_key())

    def test_a_sentence_that_no_pool_holds_is_named(self):
        self.rewrite("corpus/ADM-0003.txt", "UTILIZATION REVIEW NOTES\n------------------------\n",
                     "UTILIZATION REVIEW NOTES\n------------------------\n2026-01-01  A line of nobody's.\n")
        self.said("corpus/ADM-0003.txt", "is no sentence of this section")

    def test_a_sentence_that_comes_again_within_five_records_is_named(self):
        line = (self.data / "corpus/ADM-0010.txt").read_text("utf-8").rstrip("\n").split("\n")[-1].split("  ", 1)[1]
        path = self.data / "corpus/ADM-0012.txt"
        path.write_text(path.read_text("utf-8") + f"2026-08-31  {line}\n", "utf-8")
        self.said("corpus/ADM-0012.txt", "within 5 documents")

    def test_an_order_behind_the_admission_is_named(self):
        name = next(row["id"] for row in kits.load(gate.NAME).gold() if row["case"] == "supported_clean")
        text = (self.data / f"corpus/{name}.txt").read_text("utf-8")
        line = re.search(r"ORDERS AND AUTHENTICATION\n-+\n([0-9-]+ [0-9:]+)  ", text)[1]
        self.change("records.json", lambda rows: next(row for row in rows if row["id"] == name).update(
            admitted_at=line[:11] + "00:00"))
        self.rewrite(f"corpus/{name}.txt", re.search(r"Admitted +([0-9-]+ [0-9:]+)", text)[1], line[:11] + "00:00")
        self.said(f"corpus/{name}.txt", "stands behind the admission")

    def test_a_person_in_a_record_is_named_whatever_else_is_wrong_with_it(self):
        report = labels.Report(self.data, gate.FILES)
        key, head = gate.read_key(report), "UTILIZATION REVIEW NOTES\n------------------------\n"
        text = (self.data / "corpus/ADM-0002.txt").read_text("utf-8")
        for planted in ("Seen by Dr. Miller.", "Seen by Dr Miller.", "Mrs Ortega was told.", "Patient: Okafor, Daniel",
                        "The patient, Maria Lopez, called.", "MRN 4711.", "DOB 1958-03-04.", "Call 555 010 0199."):
            for whole in (text.replace(head, f"{head}2026-01-01  {planted}\n"), f"{text}{planted}\n{head}"):
                told = labels.Report(self.data, gate.FILES)
                gate.read_page(told, "corpus/ADM-0002.txt", whole, key.records["ADM-0002"], key)
                self.assertEqual(told.counts[labels.MINIMUM], 1, planted)
                self.said("corpus/ADM-0002.txt", "may tell who somebody is", problems=list(map(str, told.problems)))

    def test_no_sentence_of_the_pools_is_taken_for_a_person(self):
        texts = re.findall('"([^"]*)"', (self.data / "pools.json").read_text("utf-8"))
        self.assertGreater(len(texts), 500)
        self.assertEqual([found for text in texts for found in personal.found(gate.NOBODY, text)], [])

    def test_a_plan_that_no_page_shows_is_named(self):
        report = labels.Report(self.data, gate.FILES)
        found = gate.check_documents(report, gate.read_key(report))
        for place, change in ((0, {"order": "blank"}), (0, {"expects": "date 4"}), (0, {"expects": "nights 3"}),
                              (0, {"decoys": ["earlier 1"]}), (4, {"decoys": ["family 5"]}), (0, {"tone": "severe"}),
                              (0, {"services": "unnamed"}), (0, {"service_days": 3}), (0, {"planned": True}),
                              (0, {"admitted": "03:03"}), (0, {"line": "alchemy"})):
            self.change("cases.json", lambda cases: cases[0]["documents"][place].update(change))
            report = labels.Report(self.data, gate.FILES)
            gate.check_counts(report, gate.read_key(report), *found)
            self.said("cases.json", "supported_clean", "on no page", problems=list(map(str, report.problems)))
            self.restore("cases.json")

    def test_a_prompt_that_cuts_the_record_or_tells_the_case_is_named(self):
        page = lambda name, guarded: (self.data / f"corpus/{name}.txt").read_text("utf-8")
        self.assertEqual(self.problems(page), [])
        self.assertIn("the prompt holds the record 0 times", self.problems(lambda *args: page(*args)[:-9])[0])
        self.assertIn("planned case", self.problems(lambda *args: page(*args) + "evidence_thin")[0])

    def test_documents_and_rows_without_each_other_are_both_named(self):
        (self.data / "corpus/ADM-0007.txt").unlink()
        self.change("records.json", lambda rows: rows.pop(3))
        self.change("gold.jsonl", lambda rows: rows.pop(5))
        problems = self.problems()
        for parts in (("gold.jsonl", "ADM-0007"), ("records.json", "ADM-0007"), ("records.json", "ADM-0004"),
                      ("corpus/ADM-0006.txt", "no row in gold.jsonl")):
            self.said(*parts, problems=problems)

    def test_each_missing_or_broken_file_is_named_and_the_others_are_still_judged(self):
        rows, optional = ("facts.jsonl", "gold.jsonl", "stats.json"), ("pools.json", "stats.json")
        for file in gate.FILES:
            for text in (None, "{"):
                (self.data / file).unlink() if text is None else self.write(file, text)
                if text or file not in optional:
                    self.said(file, problems=self.problems() if file in rows else self.of_key())
                self.restore(file)
        for file in gate.FILES:
            self.write(file, "[1]")
        problems = self.problems()
        self.assertEqual({problem.partition(":")[0] for problem in problems} & {*gate.FILES}, {*gate.FILES})


    def test_a_value_of_another_kind_anywhere_is_a_problem_and_no_crash(self):
        parts = {**dict.fromkeys(("policy.json", "fields.json", "kit.json"), gate.read_policy),
                 "pools.json": gate.read_pools, "cases.json": gate.read_cases,
                 "records.json": lambda report: gate.read_records(report, None)}
        for file, read in parts.items():
            self.survives(file, read)
        for change in (lambda policy: policy["rulebook"]["decisions"].update(extra=1),
                       lambda policy: policy["rulebook"].update(rules=None), lambda policy: policy.update(values=[1])):
            self.change("policy.json", change)
            self.assertTrue(self.of_key())
            self.restore("policy.json")
        self.change("pools.json", lambda pools: pools["evidence"]["admitting_order"].update(extra=5))
        self.said("pools.json", "unknown key", problems=self.of_key())

    def test_an_unknown_word_in_a_plan_is_named_and_the_plans_are_still_placed(self):
        self.change("cases.json", lambda cases: cases[0]["documents"][0].update(extra=1))
        problems = self.problems()
        self.said("cases.json", "unknown key", "extra", problems=problems)
        self.assertEqual(len(problems), 1)


class TestMutation(planting.Mutated, unittest.TestCase):
    home, gate = HOME, gate
    parts = {**dict.fromkeys(("policy.json", "policy.md", "fields.json", "kit.json"), gate.read_policy),
             "pools.json": gate.read_pools, "cases.json": gate.read_cases,
             "records.json": lambda report: gate.read_records(report, None)}
    words = {"kit.json": ("title", "decides", "document", "documents", "primary_metric"), "cases.json": ("sentence",)}
    orderless = ("cases.json", "pools.json", "records.json", "facts.jsonl", "gold.jsonl")

    def reason(self, mutant):
        if mutant.file in self.pages:
            return self.of_page(mutant)
        return {"cases.json": self.of_plan, "pools.json": self.of_pool}.get(mutant.file, lambda mutant: None)(mutant)

    def of_plan(self, mutant):
        if mutant.sort == "key" and mutant.after is None and mutant.before in ("admitted", "line"):
            return "the plan leaves open what its record has"
        is_length = re.fullmatch("earlier [0-9]+", str(mutant.before)) and str(mutant.after).startswith("earlier ")
        return "a length whose sentence prints no number" if is_length else None

    def of_pool(self, mutant):
        if mutant.sort == "key":
            return "the name of a group" if mutant.where[1] in ("severe", "calm") and mutant.after else None
        is_said = not isinstance(mutant.before, str) or self.is_on_a_page(mutant.before, r"\{\w+\}", re.IGNORECASE)
        return None if is_said else "no page says it"

    def of_page(self, mutant):
        """A line that evidences nothing and changes nothing but its date."""
        row = next(row for row in kits.load(gate.NAME).gold() if row["id"] == Path(mutant.file).stem)
        text = mutant.before.partition("  ")[2]
        if mutant.sort != "sign" or mutant.before in [part["citation"] for part in row["elements"]]:
            return None
        if text and mutant.after.endswith(f"  {text}"):
            return "the date of a line that evidences nothing"
        past = re.search("encounter|hospitali[sz]ation|last here|prior chart", mutant.before)
        return "a date of an earlier stay" if past else None


if __name__ == "__main__":
    unittest.main()
