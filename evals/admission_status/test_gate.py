"""The label gate of admission_status: the key follows, planted faults are named, no single change goes unseen.

The mutation test changes one value of policy, gold, facts, records or corpus at a time. A change that the gate lets
pass has to be proven harmless: it is prose, or a date or number on a line that evidences nothing.
"""
import json
import random
import re
import shutil
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from unittest import mock

from evals.admission_status import gate
from src.admission_status import benchmark, corpus
from src.shared import kit as kits

HOME = kits.load(gate.NAME).data
MUTANTS = 60
# Leaves of policy.json that are read by people alone.
PROSE = {"why", "title", "authority", "means", "classes", "decisions", "source", "policy"}


class Copy(unittest.TestCase):
    """Tests on a copy of the committed data."""

    def setUp(self):
        self.data = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.data)
        for file in gate.FILES:
            shutil.copy(HOME / file, self.data)
        shutil.copytree(HOME / "corpus", self.data / "corpus")

    def problems(self, prompts=None):
        return [str(problem) for problem in gate.check(self.data, prompts).problems]

    def said(self, *parts):
        problems = self.problems()
        self.assertTrue(any(all(part in problem for part in parts) for problem in problems), (parts, problems[:5]))

    def change(self, file, change):
        """Change a JSON file by `change(its value)`, a JSON-lines file as the list of its rows."""
        text = (self.data / file).read_text("utf-8")
        value = [json.loads(line) for line in text.splitlines()] if file.endswith("l") else json.loads(text)
        change(value)
        text = "\n".join(map(json.dumps, value)) if file.endswith("l") else json.dumps(value)
        (self.data / file).write_text(text, "utf-8")

    def rewrite(self, file, old, new):
        text = (self.data / file).read_text("utf-8")
        self.assertIn(old, text)
        (self.data / file).write_text(text.replace(old, new, 1), "utf-8")


class TestCommittedKey(Copy):
    def test_every_label_follows_from_both_renderings(self):
        report = gate.check(self.data)
        self.assertEqual([str(problem) for problem in report.problems], [])
        self.assertEqual(report.counts["gold rows that follow from both renderings"], 60)
        self.assertGreaterEqual(report.counts["sentences of evidence"], 79)
        self.assertGreater(report.counts["fillers without a mark"], 200)

    def test_records_of_ones_own_need_no_pools(self):
        (self.data / "pools.json").unlink()
        self.rewrite("corpus/ADM-0001.txt", "UTILIZATION REVIEW NOTES\n------------------------\n",
                     "UTILIZATION REVIEW NOTES\n------------------------\n2026-01-01  Something that no pool holds.\n")
        self.assertEqual(self.problems(), [])

    def test_an_engine_that_counts_hours_writes_a_key_that_the_gate_refuses(self):
        def hours(admitted, discharge, nights):
            return nights if discharge is None else round((corpus.datetime.datetime.combine(
                discharge, corpus.datetime.time(23)) - admitted).total_seconds() / 86400)
        (self.data / "prompt.md").write_text((HOME / "prompt.md").read_text("utf-8"), "utf-8")
        (self.data / "fields.json").write_text((HOME / "fields.json").read_text("utf-8"), "utf-8")
        with mock.patch.object(benchmark, "midnights", hours), mock.patch.object(corpus, "_refuse_unplanned"):
            for name, text in corpus.build(kits.load(gate.NAME, self.data).book, 20260901).items():
                (self.data / name).write_text(text, "utf-8")
        self.said("gold.jsonl", "policy.md as it stands gives")


class TestFaults(Copy):
    def test_two_renderings_that_differ_are_named_by_cell(self):
        self.change("policy.json", lambda policy: policy["values"]["two_midnights"].update(value=3))
        self.said("policy.json", "values row 1", "amount is 3 here and 2")

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
            self.said("pools.json", "carries a mark of " + element)

    def test_evidence_without_a_mark_is_named(self):
        self.change("pools.json", lambda pools: pools["evidence"]["comorbidities"]["named"].append("Also {role}."))
        self.said("pools.json", "carries no mark of comorbidities")

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

    def test_a_person_in_a_record_is_named(self):
        self.rewrite("corpus/ADM-0002.txt", "UTILIZATION REVIEW NOTES\n------------------------\n",
                     "UTILIZATION REVIEW NOTES\n------------------------\n2026-01-01  Seen by Dr. Miller.\n")
        self.said("corpus/ADM-0002.txt", "may name a person")

    def test_a_plan_that_no_page_shows_is_named(self):
        for change in ({"order": "blank"}, {"expects": "date 4"}, {"decoys": ["earlier 1"]}, {"tone": "severe"},
                       {"services": "unnamed"}, {"service_days": 3}, {"planned": True}):
            self.change("cases.json", lambda cases: cases[0]["documents"][0].update(change))
            self.said("cases.json", "supported_clean", "on no page")
            shutil.copy(HOME / "cases.json", self.data)

    def test_a_prompt_that_cuts_the_record_or_tells_the_case_is_named(self):
        page = lambda name, guarded: (self.data / f"corpus/{name}.txt").read_text("utf-8")
        self.assertEqual(self.problems(page), [])
        self.assertIn("the prompt holds the record 0 times", self.problems(lambda *args: page(*args)[:-9])[0])
        self.assertIn("planned case", self.problems(lambda *args: page(*args) + "evidence_thin")[0])

    def test_documents_and_rows_without_each_other_are_both_named(self):
        (self.data / "corpus/ADM-0007.txt").unlink()
        self.change("records.json", lambda rows: rows.pop(3))
        self.change("gold.jsonl", lambda rows: rows.pop(5))
        for parts in (("gold.jsonl", "ADM-0007"), ("records.json", "ADM-0007"), ("records.json", "ADM-0004"),
                      ("corpus/ADM-0006.txt", "no row in gold.jsonl")):
            self.said(*parts)

    def test_each_missing_or_broken_file_is_named_and_the_others_are_still_judged(self):
        for file in gate.FILES:
            if file == "pools.json":
                continue
            for text in (None, "{", "[]", "null", "[1]"):
                path = self.data / file
                path.unlink() if text is None else path.write_text(text, "utf-8")
                if file != "stats.json" or text == "{":
                    self.assertTrue(any(file in problem for problem in self.problems()), (file, text))
                shutil.copy(HOME / file, self.data)


class TestMutation(Copy):
    """Change one value anywhere, and the gate objects, or the change is proven to mean nothing."""

    def test_every_single_change_is_caught_or_proven_harmless(self):
        chance, outcomes, survivors = random.Random(20260901), Counter(), []
        makers = (*map(self.leaf, ("policy.json", "gold.jsonl", "facts.jsonl", "records.json")), self.cell, self.word,
                  self.word, self.digit)
        for turn in range(MUTANTS):
            file, text, where, harmless = makers[turn % len(makers)](chance)
            (self.data / file).write_text(text, "utf-8")
            caught = bool(gate.check(self.data).problems)
            shutil.copy(HOME / file, self.data / file)
            outcomes[file.split("/")[0], "caught" if caught else harmless or "UNSEEN"] += 1
            if not caught and not harmless:
                survivors.append((file, where))
        self.assertEqual(survivors, [], f"changes that nobody sees, of {sorted(outcomes.items())}")
        self.assertGreater(sum(number for (_, what), number in outcomes.items() if what == "caught"), 0.7 * MUTANTS)

    def leaf(self, file):
        """A maker of mutants of one leaf of a JSON file."""
        def make(chance):
            text = (HOME / file).read_text("utf-8")
            data = [json.loads(line) for line in text.splitlines()] if file.endswith("l") else json.loads(text)
            path = chance.choice([path for path in leaves(data) if not (file == "policy.json" and PROSE & set(path))]
                                 if chance.random() < .8 or file != "policy.json" else list(leaves(data)))
            place = data
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = changed(place[path[-1]], chance)
            text = "\n".join(map(json.dumps, data)) if file.endswith("l") else json.dumps(data)
            return file, text, path, "prose" if file == "policy.json" and PROSE & set(path) else None
        return make

    def cell(self, chance):
        """A word of a table of policy.md."""
        text = (HOME / "policy.md").read_text("utf-8")
        spots = [found for line in re.finditer(r"^\|(?!---).*\|$", text, re.MULTILINE)
                 for found in re.finditer(r"[\w.-]+", line[0]) for found in [(line.start() + found.start(), found[0])]]
        at, word = chance.choice(spots)
        return "policy.md", text[:at] + word + "x" + text[at + len(word):], (at, word), None

    def word(self, chance):
        """A word of a page, doubled or taken out."""
        file, text = self.page(chance)
        found = chance.choice(list(re.finditer(r"[A-Za-z]{2,}", text)))
        new = chance.choice(["", found[0] + found[0]])
        return file, text[:found.start()] + new + text[found.end():], found[0], None

    def digit(self, chance):
        """A digit of a page; harmless in the date of a line that evidences nothing, and in the number of a decoy."""
        file, text = self.page(chance)
        found = chance.choice(list(re.finditer("[0-9]", text)))
        line = text[text.rfind("\n", 0, found.start()) + 1:text.find("\n", found.start())]
        gold = next(row for row in kits.load(gate.NAME).gold() if row["id"] == Path(file).stem)
        labelled = [part["citation"] for part in gold["elements"] if part["citation"]]
        evidences = any(quote in line for quote in labelled) or "Encounter" in line or "  " not in line[:20]
        decoy = re.search(r"night|discharge|home by|reckon|count on|\bdate\b|Rehab|bed", line)
        new = text[:found.start()] + str((int(found[0]) + chance.randint(1, 9)) % 10) + text[found.end():]
        return file, new, line, "a date or number of no evidence" if not evidences or decoy else None

    def page(self, chance):
        path = chance.choice(sorted((HOME / "corpus").iterdir()))
        return f"corpus/{path.name}", path.read_text("utf-8")


def leaves(value, path=()):
    """The path of every value that holds no other."""
    children = value.items() if type(value) is dict else enumerate(value) if type(value) is list else None
    if children is None:
        yield path
    for key, child in children or ():
        yield from leaves(child, (*path, key))


def changed(value, chance):
    """Another value of the same kind, or null."""
    if value is None:
        return chance.choice([0, "x", "2026-06-12"])
    if type(value) is bool:
        return not value
    if type(value) is int:
        return chance.choice([value + 1, value - 1, None, str(value), bool(value) if value not in (0, 1) else 7])
    return chance.choice([new for new in (value + "x", value[1:], None, value.swapcase(), 1) if new != value])
