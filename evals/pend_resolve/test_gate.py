"""The label gate of pend_resolve: the key follows, planted faults are named, and no single change goes unseen."""
import ast
import contextlib
import datetime
import io
import itertools
import json
import re
import unittest
from pathlib import Path

from evals import check_labels
from evals.pend_resolve import account, gate, sweep
from evals.shared import dates, labels, planting
from src.pend_resolve import policy
from src.shared import kit as kits

KIT = kits.load("pend_resolve")
HOME = KIT.data

# What the sweep has to see, by what it looks like, and what a desk writes every day that is none of it.
SEEN = {
    "a name of a member": (
        "Member Maria Lopez called.", "The member, Maria Lopez, called.", "Patient: Okafor, Daniel", "Patient Okafor",
        "claimant Lopez, M.", "Insured Daniel Okafor,", "Subscriber (Ruiz)", "the member is Maria Ruiz",
        "Mr Ortega rang.", "Mrs Ortega", "MRS ORTEGA", "ms. ortega", "PATIENT: LOPEZ, MARIA", "PATIENT: MARIA LOPEZ",
        "member M. Ruiz", "insured O\u2019Brien", "subscriber \u0141ukasz", "patient de la Cruz", "Pt Ng",
        "the member's daughter Ana", "Member \u2013 Ortega", "enrollee name on file", "Name: Ruiz"),
    "a birth date": ("born 1958", "Born on 3 May.", "May 3, 1958", "3 May 1958", "03.05.1958", "5/3/58", "D.O.B."),
    "a birth date or an age": ("age 64", "aged 64.", "Age: 7", "64 years old", "64-year-old", "64 y/o", "64yo",
                               "Member, 64, called.", "in her sixties", "birthday"),
    "an identifier of a member": ("member # 44", "Member 00123456", "patient no. 4", "policy number 7",
                                  "subscriber ID"),
    "a diagnosis": ("dx I10", "principal dx: E119", "pdx K21", "code I10", "codes E119 and K21", "ICD-10", "ICD10",
                    "E11.9", "bronchitis", "had a stroke", "kidney failure", "a neuropathy"),
    "clinical narrative": ("took metformin daily", "lisinopril", "40 mg", "insulin", "history of falls",
                           "appendectomy", "twice a day"),
}
UNSEEN = ("Member Services answered.", "the member. The plan said", "member Medicare primary", "told the member Monday",
          "MEMBER NOT ELIGIBLE ON DOS", "Member: NOT ON FILE", "patient May 3", "claim aged 64 days", "page 64",
          "remark code N347", "code M86", "procedure code J3490", "code 97110", "group code CO", "in April", "diploma")


class Copy(planting.Copy, unittest.TestCase):
    home, gate = HOME, gate


class TestCommittedKey(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report = check_labels.gate(KIT)

    def test_every_label_follows_from_both_renderings(self):
        self.assertEqual([str(problem) for problem in self.report.problems], [])
        self.assertEqual(self.report.counts[gate.FOLLOWS], 60)

    def test_no_record_carries_more_than_the_minimum_and_the_count_is_published(self):
        self.assertEqual(self.report.counts[labels.MINIMUM], 0)
        self.assertIn("0 of 60", self.report.says)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            check_labels.main(["pend_resolve"])
        self.assertRegex(said.getvalue(), rf"\b0  {labels.MINIMUM}")

    def test_every_sentence_is_accounted_for(self):
        self.assertGreater(self.report.counts[gate.ACCOUNTED], 400)


class TestIndependence(unittest.TestCase):
    def test_the_gate_imports_nothing_from_src(self):
        for module in (gate, account, sweep):
            for node in ast.walk(ast.parse(Path(module.__file__).read_text("utf-8"))):
                names = [node.module] if isinstance(node, ast.ImportFrom) else [
                    alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                self.assertFalse([name for name in names if name.startswith("src")])

    def test_gate_and_engine_agree_over_every_combination(self):
        tables, checked = gate.read_policy(labels.Report(HOME, gate.FILES)), 0
        self.assertEqual(set(tables), {"policy.md", "policy.json"})
        words = ["contradicted", "awaited", "clean", "correction", "none", ["clean", "awaited"], ["none", "correction"]]
        base = {"pended_on": "2026-08-30", "register_read_on": "2026-09-01", "claim_id": "", "title": "", "id": "x"}
        for evidence in words:
            for cause in gate.CAUSES:
                for line, clean, contracted in itertools.product(("MA", "MEDICAID"), (True, False), (True, False)):
                    for days in (-1, 0, 25, 31, 60, 91):
                        received = (datetime.date(2026, 9, 1) - datetime.timedelta(days)).isoformat()
                        row = {**base, "register_evidence": evidence, "cause_class": cause, "line_of_business": line,
                               "clean": clean, "contracted": contracted, "received_on": received}
                        said = policy.decide(KIT.book, row)
                        for table in tables.values():
                            derived = gate.derive(table, gate._values(row), received)
                            self.assertEqual(derived, {name: said[name] for name in gate.DECIDED}, row)
                            checked += 1
        self.assertEqual(checked, 7 * 8 * 8 * 6 * 2)


class TestFaults(Copy):
    def test_a_category_that_is_opened_is_named(self):
        self.named("policy.json", '"auto_release_open": []', '"auto_release_open": ["CODE-EDIT"]', "opens a category")
        self.named("policy.json", '"configurable_in_kit": false', '"configurable_in_kit": true', "configurable_in_kit")
        self.named("policy.md", "is open for it | none |", "is open for it | CODE-EDIT |",
                   "every category is for the examiner")

    def test_what_the_gate_sentences_say_stands_in_both_renderings(self):
        self.named("policy.json", "no category is open for it", "use this for CODE-EDIT", "what it means")
        self.named("policy.json", "live monitoring of what was released", "nothing more", "conditions row 3")
        self.named("policy.json", '"configurable_in_kit"', '"open_categories": [], "configurable_in_kit"',
                   "unknown key", "open_categories")

    def test_asserted_orderings_that_are_gone_changed_or_doubled_are_named(self):
        for change in (lambda pairs: pairs.clear(), lambda pairs: pairs.pop(), lambda pairs: pairs.append(pairs[0]),
                       lambda pairs: pairs[0].update(then="PR-7"), lambda pairs: pairs[0].update(why="so it is")):
            self.change("policy.json", lambda data: change(data["orderings"]))
            self.assertIn("orderings", "\n".join(self.of_key()))
            self.restore("policy.json")

    def test_words_that_reach_the_model_are_compared_one_by_one(self):
        for old, new in (("422.520(a)(1), a", "422.520(a)(7), a"), ("nothing is located\"", "all is located\""),
                         ("the whole claim is denied", "the claim is paid"),
                         ("Five days or fewer", "Six days or fewer"),
                         ("Register rules stand before", "Cause rules stand before")):
            self.named("policy.json", old, new, "make the two agree")

    def test_all_of_stats_and_the_published_settings_are_held(self):
        self.named("stats.json", '"seed": 20260901', '"seed": 20260902', "seed")
        self.named("stats.json", '"bytes": ', '"bytes": 1', "bytes")
        self.named("kit.json", '"seed": 20260901', '"seed": 20260902', "seed")
        self.named("kit.json", '"coverage_min": 0.60', '"coverage_min": 0.50', "settings row 1")

    def test_fields_of_replies_and_claims_are_compared_one_by_one(self):
        for file, old, new, told in (
                ("fields.json", "what the first matching resolution rule proposes", "what is best", "fields row 3"),
                ("fields.json", '"decided": true', '"decided": false', "fields row 3"),
                ("facts.json", "the clock runs from it", "the clock runs on", "facts row 4"),
                ("facts.json", '"allowed": ["yes", "no"]', '"allowed": ["yes"]', "facts row 2"),
                ("facts.json", '["day", "days"]', '["day"]', "units row 1")):
            self.rewrite(file, old, new)
            self.assertIn(told, "\n".join(self.of_key()))
            self.restore(file)

    def test_a_plan_that_no_record_follows_is_named(self):
        report = labels.Report(self.data, gate.FILES)
        found = gate.check_documents(report, gate.read_key(report))
        for place, change in ((0, {"left": 8}), (0, {"left": [31, 40]}), (0, {"pend_after": [90, 99]}),
                              (0, {"turn": True}), (0, {"for": "line_by_line"}), (0, {"cause": "COB-UNRESOLVED"}),
                              (0, {"bait": "memo"}), (1, {"register": ["clean", "none"]})):
            self.change("cases.json", lambda cases: cases[0]["documents"][place].update(change))
            told = labels.Report(self.data, gate.FILES)
            gate.check_counts(told, gate.read_key(told), *found)
            self.restore("cases.json")
            self.assertIn("no record of its own follows it", "\n".join(map(str, told.problems)), change)

    def test_a_plan_or_a_number_that_is_none_is_named(self):
        for left in ([9, 3], [1], "5", 5.0, None):
            self.change("cases.json", lambda cases: cases[0]["documents"][0].update(left=left))
            self.assertIn("a number of days, or the least and the most", "\n".join(self.of_key()), left)
            self.restore("cases.json")
        self.change("kit.json", lambda kit: kit["planned"].pop("PR-4"))
        self.assertIn("PR-4: a planned number is wanted", "\n".join(self.problems()))

    def test_an_entry_of_the_pools_that_means_nothing_or_stands_twice_is_named(self):
        for change, told in ((lambda pools: pools["causes"][0].update(cause="OTHER"), 'cause "OTHER"'),
                             (lambda pools: pools["causes"][0].update(cause=None), "cause null"),
                             (lambda pools: pools["causes"][0].update(where="attic"), 'where "attic"'),
                             (lambda pools: pools["register"][0].update(evidence="lost"), 'evidence "lost"'),
                             (lambda pools: pools["queues"].append(pools["queues"][0]), "an entry stands twice"),
                             (lambda pools: pools["layout"].reverse(), "layout"),
                             (lambda pools: pools.pop("plans"), "plans")):
            self.change("pools.json", change)
            self.assertIn(told, "\n".join(self.of_key()))
            self.restore("pools.json")
        self.change("pools.json", lambda pools: (pools["queues"].clear(), pools["claim_ids"].pop()))
        told = "\n".join(self.problems())
        self.assertIn("is none of pools.json /queues", told)
        self.assertIn("is no claim id in a form of pools.json", told)

    def test_a_release_in_the_key_is_named(self):
        self.named("gold.jsonl", '"release": "EXAMINER-APPLIES"', '"release": "AUTO-RELEASE"',
                   "release is \"AUTO-RELEASE\"")

    def test_a_rule_that_differs_between_the_renderings_is_named_by_its_cell(self):
        self.named("policy.md", "`30 days` |", "`31 days` |", "deadline", "30 days here and 31 days")
        self.named("policy.json", '"value": 5,', '"value": 6,', "clock row 2", "when")

    def test_prose_that_contradicts_the_tables_is_named(self):
        for old, new, told in (("`DENY-LINE` by `PR-1` and", "`DENY-CLAIM` by `PR-1` and", "that rule gives DENY-LINE"),
                               ("give `RELEASE-AS-BILLED`", "give `ADJUST-AS-BILLED`", "stands in no table"),
                               ("* `CL-2`: that", "* `CL-7`: that", "CL-7 stands in no table"),
                               ("to the 60 days", "to the 30 days", "30 days: CL-2 reads"),
                               ("window of five days", "window of six days", "six days: CS-2 reads"),
                               ("answers `AUTO-RELEASE`", "answers AUTO-RELEASED", "did you mean AUTO-RELEASE?"),
                               ("what `policy.json` says", "what `rules.json` says", "rules.json stands in no table")):
            self.named("policy.md", old, new, told)

    def test_a_rule_changed_in_both_renderings_no_longer_gives_the_key(self):
        text = (self.data / "policy.md").read_text("utf-8")
        (self.data / "policy.md").write_text(text.replace("60 days", "61 days"), "utf-8")
        self.rewrite("policy.json", '"60 days": "', '"61 days": "')
        self.rewrite("policy.json", '"decision": "60 days"', '"decision": "61 days"')
        told = self.problems()
        self.assertTrue(told)
        self.assertTrue({line.split(":")[0] for line in told} <= {"gold.jsonl", "cases.json", "stats.json", "kit.json"})

    def test_counting_from_the_pend_date_is_refused(self):
        self.named("policy.md", '`line_of_business == "MEDICAID"` |', '`pended_on < received_on` |',
                   "no rule reads the pend date")

    def test_rules_out_of_their_meant_order_are_named(self):
        text = json.loads((self.data / "policy.json").read_text("utf-8"))
        rules = text["resolution"]["rules"]
        rules[0], rules[4] = rules[4], rules[0]
        (self.data / "policy.json").write_text(json.dumps(text), "utf-8")
        self.assertIn("PR-1: stands behind PR-5", "\n".join(self.problems()))

    def test_a_planted_violation_of_the_minimum_necessary_fails_the_gate(self):
        filler = "Picked up with the morning batch."
        name = next(path.stem for path in sorted((HOME / "corpus").iterdir()) if filler in path.read_text("utf-8"))
        for planted, what in (("Member name is on the claim.", "a name of a member"),
                              ("Mrs. Ortega called.", "a name of a member"),
                              ("Born on the third of May.", "a birth date"), ("DOB 1958-03-04.", "a birth date"),
                              ("Member ID 44-1.", "an identifier"), ("SSN 123-45-6789.", "an identifier"),
                              ("MBI 1EG4-TE5-MK73.", "an identifier"),
                              ("Mail to 12 Alder Grove Road.", "an address"),
                              ("Write to a.b@example.org.", "an address"),
                              ("Call 555 010 0199.", "a telephone number"), ("Diagnosis is on line 2.", "a diagnosis"),
                              ("Code E11.9 stands there.", "a diagnosis"),
                              ("She complained of pain.", "clinical narrative"),
                              ("Member Maria Lopez called.", "a name of a member")):
            file, report = f"corpus/{name}.txt", labels.Report(self.data, gate.FILES)
            self.rewrite(file, filler, planted)
            gate.check_page(report, file, name, account.read_page(report, file, name), None)
            self.restore(file)
            self.assertEqual(report.counts[labels.MINIMUM], 1, planted)
            self.assertTrue(any(f"looks like {what}" in str(problem) for problem in report.problems), planted)
        self.rewrite(file, filler, planted)
        self.assertEqual(gate.check(self.data).counts[labels.MINIMUM], 1, "the whole gate sweeps every record")

    def test_what_may_tell_of_a_member_is_seen_in_every_form(self):
        for what, texts in SEEN.items():
            for text in texts:
                self.assertIn(what, [found for found, _ in sweep.violations(f"Set aside. {text} Noted.")], text)

    def test_what_a_desk_writes_is_not_taken_for_one(self):
        for text in UNSEEN:
            self.assertEqual(sweep.violations(text), [], text)
        texts = re.findall('"([^"]*)"', (HOME / "pools.json").read_text("utf-8"))
        self.assertGreater(len(texts), 600)
        self.assertEqual([found for text in texts for found in sweep.violations(text)], [])

    def test_the_count_holds_for_records_of_ones_own(self):
        for file in ("pools.json", "cases.json", "stats.json"):
            (self.data / file).unlink()
        self.change("kit.json", lambda kit: kit.update(planned={}))
        text = (HOME / "corpus/PC-0001.txt").read_text("utf-8")
        head = "DESK NOTES\n----------\n"
        self.assertIn(head, text)
        self.write("corpus/PC-0001.txt", text.replace(head, f"{head}The member, Maria Lopez, called. "))
        report = gate.check(self.data)
        self.assertEqual(report.counts[labels.MINIMUM], 1)
        self.assertEqual([problem.file for problem in report.problems], ["corpus/PC-0001.txt"])

    def test_a_further_fact_in_the_record_is_refused(self):
        self.named("corpus/PC-0001.txt", "Queue: ", "Group: A\nQueue: ", "and nothing else, is wanted")

    def test_something_planted_that_is_of_no_sort_is_named(self):
        for planted, told in (({"extra": 1}, "unknown key"), ({"message": [1]}, "a text is wanted")):
            self.change("facts.jsonl", lambda rows: rows[0].update(planted=planted))
            self.assertTrue(any(told in problem and "PC-0001" in problem for problem in self.problems()), planted)
            self.restore("facts.jsonl")

    def test_a_sentence_that_nobody_knows_is_named(self):
        self.named("corpus/PC-0001.txt", "\n\nCORRESPONDENCE", " It is all about the modifier.\n\nCORRESPONDENCE",
                   "nobody knows what")

    def test_a_filler_that_speaks_of_a_cause_is_named(self):
        self.named("pools.json", "Picked up with the morning batch.", "Picked up with the duplicate batch.",
                   "speaks of a cause")

    def test_a_prompt_that_leaves_a_part_of_the_record_out_is_named(self):
        told = "\n".join(self.problems(lambda name, guarded: KIT.text(name)[:200]))
        self.assertIn("does not carry the record as it stands", told)

    def test_faults_come_all_at_once_with_file_and_row(self):
        self.rewrite("gold.jsonl", '"clock": "BREACHED"', '"clock": "WITHIN-CLOCK"')
        self.rewrite("facts.jsonl", '"clean": true', '"clean": false')
        self.rewrite("kit.json", '"size": 60', '"size": 61')
        files = {line.split(":")[0] for line in self.problems()}
        self.assertTrue({"gold.jsonl", "facts.jsonl", "kit.json", "claims.json"} <= files)

    def test_broken_files_are_problems_and_no_crash(self):
        rows = ("facts.jsonl", "gold.jsonl", "stats.json")
        for file in gate.FILES:
            for broken in ("{", "[1]"):
                self.write(file, broken)
                told = self.problems() if file in rows else self.of_key()
                self.assertTrue(any(file in problem for problem in told), (file, broken))
            self.restore(file)
        for file in gate.FILES:
            self.write(file, "[1]")
        self.assertLessEqual({*gate.FILES}, {problem.partition(":")[0] for problem in self.problems()})

    def test_a_value_of_another_kind_anywhere_is_a_problem_and_no_crash(self):
        parts = {**dict.fromkeys(("policy.json", "fields.json", "facts.json"), gate.read_policy),
                 "kit.json": gate.read_key, "pools.json": gate.read_pools, "cases.json": gate.read_cases,
                 "claims.json": gate.read_claims}
        for file, read in parts.items():
            self.survives(file, read)
        for change in (lambda policy: policy["resolution"].update(rules=None),
                       lambda policy: policy["resolution"]["decisions"].update(extra=1),
                       lambda policy: policy["causes"].update(extra=[1]),
                       lambda policy: policy["deadlines"].update(flags=5),
                       lambda policy: policy["release_gate"].update(answers=5)):
            self.change("policy.json", change)
            self.assertTrue(self.of_key())
            self.restore("policy.json")

    def test_records_of_ones_own_need_no_pools_and_no_plan(self):
        for file in ("pools.json", "cases.json", "stats.json"):
            (self.data / file).unlink()
        self.change("kit.json", lambda kit: kit.update(planned={}))
        self.assertEqual(self.problems(), [])


class TestMutation(planting.Mutated, unittest.TestCase):
    home, gate = HOME, gate
    parts = {**dict.fromkeys(("policy.json", "policy.md", "fields.json", "facts.json", "kit.json"), gate.read_policy),
             "pools.json": gate.read_pools, "cases.json": gate.read_cases, "claims.json": gate.read_claims}
    words = {"kit.json": ("title", "decides", "document", "documents", "primary_metric"),
             "cases.json": ("sentence", "family")}
    orderless = ("cases.json", "pools.json", "claims.json", "facts.jsonl", "gold.jsonl")

    def reason(self, mutant):
        if mutant.file in self.pages:
            return self.of_page(mutant)
        return {"cases.json": self.of_plan, "pools.json": self.of_pool, "facts.jsonl": self.of_facts}.get(
            mutant.file, lambda mutant: None)(mutant)

    def of_facts(self, mutant):
        planted = planting.parsed(mutant.file, self.texts[mutant.file])[mutant.where[0]]["planted"]
        return "nothing is planted there" if mutant.before == "planted" and planted == {} else None

    def of_plan(self, mutant):
        bound = {"left", "pend_after"} & set(mutant.where) and mutant.sort == "value" and len(mutant.where) == 5
        return "the records lie within these bounds as well" if bound else None

    def of_pool(self, mutant):
        entry = planting.parsed(mutant.file, self.texts[mutant.file])
        for key in mutant.where:
            if isinstance(entry, dict) and "text" in entry:
                break
            entry = entry[key]
        if not self.is_on_a_page(entry["text"] if isinstance(entry, dict) else entry, r"#|\{\}"):
            return "no record says it"
        if mutant.before == "for" and mutant.after is None:
            return "another sentence of its record is written for the same"
        is_about = mutant.where[0] == "register" and mutant.where[-1] == "cause" and mutant.after is None
        return "a register line about any cause is about this one too" if is_about else None

    def of_page(self, mutant):
        """The number of an edit, or the date of a line that keeps its place."""
        number = re.match("[A-Z]+ [0-9/]+: ", mutant.before)
        if mutant.sort == "sign" and number and mutant.after[number.end():] == mutant.before[number.end():]:
            return "the number of an edit"
        text = mutant.before.partition("  ")[2]
        if mutant.sort == "sign" and text and mutant.after.endswith(f"  {text}") and in_order(mutant.text.split("\n")):
            return "a date that keeps its place"
        return None


def in_order(lines):
    """Whether the trail of a changed page still runs in order from receipt to read, receipt and pend as stated."""
    facts = dict(line.split(": ", 1) for line in lines if re.match("[A-Z][a-z ]+ on: ", line))
    days = [line[:10] for line in lines if re.match("[0-9-]{10}  ", line)]
    return (days == sorted(days) and None not in map(dates.day_number, days) and days[0] == facts["Received on"]
            and facts["Pended on"] in days and days[-1] <= facts["Register read on"])


if __name__ == "__main__":
    unittest.main()
