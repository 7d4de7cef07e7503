"""The label gate of pend_resolve: the key follows, planted faults are named, and no single change goes unseen."""
import ast
import contextlib
import datetime
import functools
import io
import itertools
import json
import random
import re
import shutil
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from evals import check_labels
from evals.pend_resolve import account, gate, sweep
from evals.shared import labels
from src.pend_resolve import policy
from src.shared import kit as kits

KIT = kits.load("pend_resolve")
HOME = KIT.data
FILES = [name for name in gate.FILES if (HOME / name).exists()]
MUTANTS = 60
# The leaves of which a gate knows nothing: what people read and no rule does.
PROSE = {
    "policy.json": re.compile("(?!)"),      # all of it is walked, or sent to a model, or both
    "stats.json": re.compile("(?!)"),
    "cases.json": re.compile("/(?:sentence|family|left|pend_after|for|turn)(?:/|$)"),
    "kit.json": re.compile("^/(?:title|decides|documents?|primary_metric)"),
    **dict.fromkeys(("claims.json", "facts.jsonl", "gold.jsonl"), re.compile("(?!)")),
}


class Copy(unittest.TestCase):
    """Tests on a copy of the committed data."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.data = Path(place.name)
        for file in FILES:
            shutil.copy(HOME / file, self.data / file)
        shutil.copytree(HOME / "corpus", self.data / "corpus")

    def problems(self, prompts=None):
        return [str(problem) for problem in gate.check(self.data, prompts).problems]

    def rewrite(self, file, old, new):
        text = (self.data / file).read_text("utf-8")
        self.assertIn(old, text)
        (self.data / file).write_text(text.replace(old, new, 1), "utf-8")

    def restore(self, file):
        shutil.copy(HOME / file, self.data / file)

    def named(self, file, old, new, *words):
        """Plant one fault; each of the words has to stand in what the gate says. The file is put back."""
        self.rewrite(file, old, new)
        told = "\n".join(self.problems())
        self.restore(file)
        for word in words:
            self.assertIn(word, told)


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

    def test_days_counted_by_hand_are_the_days_of_the_calendar(self):
        first, chance = gate.day_number("2000-01-01"), random.Random(1)
        for day in [datetime.date(2000, 2, 28), datetime.date(2100, 3, 1), *(
                datetime.date(2000, 1, 1) + datetime.timedelta(chance.randrange(60000)) for _ in range(300))]:
            self.assertEqual(gate.day_number(day.isoformat()) - first, (day - datetime.date(2000, 1, 1)).days)
        for text in ("2026-02-29", "2026-13-01", "2026-00-10", "2026-1-1", "12/06/2026", "", None, "2026-06-31"):
            self.assertIsNone(gate.day_number(text))

    def test_gate_and_engine_agree_over_every_combination(self):
        tables, checked = gate.read_policy(labels.Report(HOME, FILES)), 0
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
            data = json.loads((HOME / "policy.json").read_text("utf-8"))
            change(data["orderings"])
            (self.data / "policy.json").write_text(json.dumps(data), "utf-8")
            self.assertIn("orderings", "\n".join(self.problems()))

    def test_words_that_reach_the_model_are_compared_one_by_one(self):
        for old, new in (("422.520(a)(1), a", "422.520(a)(7), a"), ("nothing is located\"", "all is located\""),
                         ("the whole claim is denied", "the claim is paid"), ("Five days or fewer", "Six days or fewer"),
                         ("Register rules stand before", "Cause rules stand before")):
            self.named("policy.json", old, new, "make the two agree")

    def test_all_of_stats_and_the_published_settings_are_held(self):
        self.named("stats.json", '"seed": 20260901', '"seed": 20260902', "seed")
        self.named("stats.json", '"bytes": ', '"bytes": 1', "bytes")
        self.named("kit.json", '"seed": 20260901', '"seed": 20260902', "seed")
        self.named("kit.json", '"coverage_min": 0.60', '"coverage_min": 0.50', "settings row 1")

    def test_a_release_in_the_key_is_named(self):
        self.named("gold.jsonl", '"release": "EXAMINER-APPLIES"', '"release": "AUTO-RELEASE"',
                   "release is \"AUTO-RELEASE\"")

    def test_a_rule_that_differs_between_the_renderings_is_named_by_its_cell(self):
        self.named("policy.md", "`30 days` |", "`31 days` |", "deadline", "30 days here and 31 days")
        self.named("policy.json", '"value": 5,', '"value": 6,', "clock row 2", "when")

    def test_a_rule_changed_in_both_renderings_no_longer_gives_the_key(self):
        text = (self.data / "policy.md").read_text("utf-8")
        (self.data / "policy.md").write_text(text.replace("| `60 days` |", "| `61 days` |"), "utf-8")
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
        page = next(path.name for path in sorted((HOME / "corpus").iterdir()) if filler in path.read_text("utf-8"))
        for planted, what in (("Member name is on the claim.", "a name of a member"),
                              ("Mrs. Ortega called.", "a name of a member"),
                              ("Born on the third of May.", "a birth date"), ("DOB 1958-03-04.", "a birth date"),
                              ("Member ID 44-1.", "an identifier"), ("SSN 123-45-6789.", "an identifier"),
                              ("MBI 1EG4-TE5-MK73.", "an identifier"),
                              ("Mail to 12 Alder Grove Road.", "an address"),
                              ("Write to a.b@example.org.", "an address"),
                              ("Call 555 010 0199.", "a telephone number"), ("Diagnosis is on line 2.", "a diagnosis"),
                              ("Code E11.9 stands there.", "a diagnosis"),
                              ("She complained of pain.", "clinical narrative")):
            self.rewrite(f"corpus/{page}", filler, planted)
            report = gate.check(self.data)
            self.restore(f"corpus/{page}")
            self.assertEqual(report.counts[labels.MINIMUM], 1, planted)
            self.assertTrue(any(f"looks like {what}" in str(problem) for problem in report.problems), planted)

    def test_a_further_fact_in_the_record_is_refused(self):
        self.named("corpus/PC-0001.txt", "Queue: ", "Group: A\nQueue: ", "and nothing else, is wanted")

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
        for file in FILES:
            for broken in ("{", "null", '{"id": 3}\n'):
                (self.data / file).write_text(broken, "utf-8")
                self.assertTrue(self.problems(), (file, broken))
            self.restore(file)

    def test_records_of_ones_own_need_no_pools_and_no_plan(self):
        for file in ("pools.json", "cases.json", "stats.json"):
            (self.data / file).unlink()
        kit = json.loads((self.data / "kit.json").read_text("utf-8"))
        (self.data / "kit.json").write_text(json.dumps({**kit, "planned": {}}), "utf-8")
        self.assertEqual(self.problems(), [])


class TestMutation(Copy):
    """Change one value anywhere, and the gate objects, or the change is proven to mean nothing."""

    def test_every_single_change_is_caught_or_proven_harmless(self):
        chance, outcomes, survivors = random.Random(20260901), Counter(), []
        makers = [self.in_page] * 3 + [self.in_policy_words] * 2
        makers += [functools.partial(self.in_json, file=file) for file in PROSE for _ in "12"]
        for turn in range(MUTANTS):
            file, text, what, harmless = makers[turn % len(makers)](chance)
            (self.data / file).write_text(text, "utf-8")
            caught = bool(gate.check(self.data).problems)
            self.restore(file)
            outcomes[file.split("/")[0], "caught" if caught else "harmless" if harmless else "unseen"] += 1
            if not caught and not harmless:
                survivors.append(f"{file}: {what}")
        self.assertEqual(survivors, [], outcomes)
        self.assertGreater(sum(n for (_, end), n in outcomes.items() if end == "caught"), 0.6 * MUTANTS)

    def in_json(self, chance, file):
        """One leaf of a JSON file changed; harmless where it is prose."""
        text = (HOME / file).read_text("utf-8")
        rows = [json.loads(line) for line in text.splitlines()] if file.endswith("l") else json.loads(text)
        path = chance.choice([path for path in leaves(rows) if not PROSE[file].search("/" + "/".join(map(str, path)))])
        parent = rows
        for step in path[:-1]:
            parent = parent[step]
        before = parent[path[-1]]
        parent[path[-1]] = changed(before, chance)
        text = "\n".join(map(json.dumps, rows)) if file.endswith("l") else json.dumps(rows)
        return file, text, f"{path}: {before!r} → {parent[path[-1]]!r}", False

    def in_page(self, chance):
        """One character of a record changed; harmless in the queue, an edit's number, a date that keeps its place."""
        path = chance.choice(sorted((HOME / "corpus").iterdir()))
        lines = path.read_text("utf-8").split("\n")
        place = chance.choice([i for i, line in enumerate(lines) if line])
        before, lines[place] = lines[place], spoiled(lines[place], chance)
        spot = next(i for i, (one, other) in enumerate(zip(before, lines[place])) if one != other)
        dated = re.match("[0-9-]{10}  ", before) and spot < 10
        number = re.match("[A-Z]+ [0-9/]+: ", before)
        harmless = (before.startswith("Queue: ") or number and spot < number.end() and before[spot].isdigit()
                    or dated and in_order(lines))
        return f"corpus/{path.name}", "\n".join(lines), f"{before!r} → {lines[place]!r}", harmless

    def in_policy_words(self, chance):
        """One character of a table of policy.md changed."""
        lines = (HOME / "policy.md").read_text("utf-8").split("\n")
        heads = {" | ".join(head) for head in gate.HEADS.values()}
        read, on = [], False
        for i, line in enumerate(lines):
            cells = " | ".join(cell.strip() for cell in line.strip("| ").split("|"))
            on = line.startswith("|") and (on or cells in heads)
            read += [i] if on and not set(line) <= set("|-") else []
        place = chance.choice(read)
        before, lines[place] = lines[place], spoiled(lines[place], chance)
        return "policy.md", "\n".join(lines), f"{before!r} → {lines[place]!r}", False


def in_order(lines):
    """Whether the trail of a changed page still runs in order from receipt to read, receipt and pend as stated."""
    facts = dict(line.split(": ", 1) for line in lines if re.match("[A-Z][a-z ]+ on: ", line))
    days = [line[:10] for line in lines if re.match("[0-9-]{10}  ", line)]
    return (days == sorted(days) and None not in map(gate.day_number, days) and days[0] == facts["Received on"]
            and facts["Pended on"] in days and days[-1] <= facts["Register read on"])


def leaves(value, path=()):
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    return [path] if children is None else [leaf for key, child in children for leaf in leaves(child, (*path, key))]


def changed(value, chance):
    """Another value of the same sort, or now and then none at all."""
    if isinstance(value, bool):
        return not value
    if value is None:
        return chance.choice([0, "none"])
    if isinstance(value, (int, float)):
        return chance.choice([value + 1, value - 1, None])
    return None if chance.random() < 0.15 else spoiled(value, chance) or "x"


def spoiled(text, chance):
    """The text with one letter, digit or sign changed."""
    spots = [place for place, sign in enumerate(text) if sign.isalnum() or sign in "<>=-"]
    if not spots:
        return text + "x"
    place = chance.choice(spots)
    pool = "0123456789" if text[place].isdigit() else "abcdefghijklmnopqrstuvwxyz" if text[place].isalpha() else "<>=!"
    return text[:place] + chance.choice([sign for sign in pool if sign != text[place].lower()]) + text[place + 1:]
