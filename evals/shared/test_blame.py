"""Why a headline is wrong: the clause at which the walks part, on a small table and over the arms of every kit."""
import importlib
import unittest

from evals.shared import arms, scoring, table
from src.shared import blame, fields, follow, tally, walk, wording
from src.shared import kit as kits
from src.shared.files import to_json
from src.shared.kit import Answer
from src.shared.parts import Completion


def bench_of(name):
    return importlib.import_module(f"evals.{name}.bench").BENCH


class Blames:
    """What a kit's scorer blames for a reply: gold with some values changed."""

    name = None

    @classmethod
    def setUpClass(cls):
        cls.kit = kits.load(cls.name)
        cls.bench = bench_of(cls.name)
        cls.gold = list(cls.kit.gold())

    def row(self, **wanted):
        """The first row of the key with these values."""
        return next(row for row in self.gold if all(row.get(key) == value for key, value in wanted.items()))

    def reply(self, row, changed):
        """The reply of gold with what is changed in it."""
        return {key: row.get(key) for key in self.kit.definition.keys(self.kit.book)} | changed

    def blame(self, row, **changed):
        """({kind, rule, field} raw, the same rechecked) as tuples; None where the headline is right."""
        completion = Completion(text=to_json(self.reply(row, changed)), finish="stop")
        entry = scoring.Scoring(self.kit, self.bench).entry(row, follow.read(self.kit, row["id"], completion))
        return tuple(found and tuple(found.values()) for found in entry["blame"].values())


class TestWalks(unittest.TestCase):
    """A table of three rules, its decision `go` or `stop`, over two values that are read and one that is counted."""

    def setUp(self):
        names = ("a", "b", "days")
        known = fields.Fields(None, {"fields": [{"name": name, "type": "number", "nullable": True, "description": name}
                                                for name in names]}, {})
        clauses = {"A": ({"field": "a", "test": ">", "value": 1}, "stop"),
                   "B": ({"field": "b", "test": "is not stated"}, "ask"),
                   "D": ({"field": "days", "test": "<", "value": 2}, "wait")}
        rules = [{"id": name, "order": number, "when": when, "decision": decision, "why": ""}
                 for number, (name, (when, decision)) in enumerate(clauses.items(), 1)]
        self.table = walk.Table({"stops_at": "match", "rules": rules,
                                 "decisions": dict.fromkeys(("stop", "ask", "wait", "go")), "passed": {"decision": "go", "rule": "none"}, "missing": {"decision": None}}, known)
        self.headline = blame.Headline(self.table, {"d": None}, behind={"days": ("first", "last")}, computed=("days",))

    def walked(self, a=0, b=1, first=0, last=5):
        found = self.table.decide({"a": a, "b": b, "days": last - first}, {})
        return Answer({"a": a, "b": b, "first": first, "last": last, "d": found.decision}, {}, found.trace)

    def found(self, stated, gold=(), **own):
        gold, own = self.walked(**dict(gold)), self.walked(**own)
        answer = own._replace(values={**own.values, "d": stated})
        return tuple(blame.find(self.headline, gold, own, answer, {}).values())

    def test_a_value_that_leads_the_walk_elsewhere_is_misread(self):
        self.assertEqual(self.found("stop", a=2), (blame.MISREAD, "A", "a"))
        self.assertEqual(self.found("wait", last=1), (blame.MISREAD, "D", "last"))
        self.assertEqual(self.found("ask", b=None), (blame.MISREAD, "B", "b"))

    def test_a_value_that_leads_nowhere_else_is_not_to_blame(self):
        self.assertEqual(self.found("stop", a=1), (blame.MISAPPLIED, "A", None))

    def test_a_rule_that_was_overlooked_and_one_that_was_taken_too_early(self):
        self.assertEqual(self.found("go", gold={"a": 2}, a=2), (blame.MISAPPLIED, "A", None))
        self.assertEqual(self.found("stop"), (blame.MISAPPLIED, "A", None))
        self.assertEqual(self.found("ask"), (blame.MISAPPLIED, "B", None))

    def test_a_word_that_no_rule_gives_has_no_rule_to_name(self):
        self.assertEqual(self.found("perhaps"), (blame.MISAPPLIED, None, None))

    def test_a_clause_over_a_count_is_arithmetic_unless_it_only_asks_for_presence(self):
        self.assertEqual(self.found("wait"), (blame.ARITHMETIC, "D", "days"))
        self.assertEqual(self.found("go", gold={"last": 1}, last=1), (blame.ARITHMETIC, "D", "days"))

    def test_of_two_faults_the_reading_is_named(self):
        self.assertEqual(self.found("wait", a=2), (blame.MISREAD, "A", "a"))

    def test_no_reply_and_no_decision_are_no_answer(self):
        self.assertEqual(self.found(None), (blame.NO_ANSWER, None, "d"))
        gold = self.walked()
        self.assertEqual(blame.find(self.headline, gold, None, None, {})["kind"], blame.NO_ANSWER)

    def test_the_rechecked_answer_is_judged_by_its_own_walk(self):
        gold, own = self.walked(), self.walked(a=2)
        self.assertEqual(tuple(blame.find(self.headline, gold, own, own, {}).values()), (blame.MISREAD, "A", "a"))

    def test_a_blame_is_told_in_words(self):
        self.assertEqual(blame.in_words({"kind": blame.MISREAD, "rule": "A", "field": "a"}), "misread value of a, at A")
        self.assertIn("score the run again", blame.in_words(None))


class TestEveryArm(unittest.TestCase):
    def test_every_wrong_headline_has_one_blame_and_no_right_one_has_any(self):
        for kit in map(kits.load, kits.names()):
            if kit.definition.headline(kit.book) is None:
                continue
            bench = bench_of(kit.name)
            free = arms.free(kit, bench)
            gradings = {name: scoring.Scoring(kit, bench) for name in free}
            for row in kit.gold():
                known, text = scoring.labelled(kit, bench, row), kit.text(row["id"])
                for name, arm in free.items():
                    entry = gradings[name].entry(known, follow.read(kit, row["id"], arm.call(row["id"], text)))
                    for column in tally.COLUMNS:
                        hit = entry["marks"][column].get(bench.metrics[0].id)
                        self.assertEqual(entry["blame"][column] is None, hit, (kit.name, name, row["id"], column))
            closings = {name: grading.closing() for name, grading in gradings.items()}
            printed = table.free(kit, bench, closings, "the labels follow")
            for name, closing in closings.items():
                if name != table.STUB and any(closing["blame"]["raw"].values()):
                    self.assertIn(f"\n{name}: {wording.blame(closing['blame']['raw'])}", printed)
                for column in tally.COLUMNS:
                    rate = closing["metrics"][0][column]
                    told = sum(closing["blame"][column].values())
                    self.assertEqual(told, rate["den"] - rate["num"], (kit.name, name))
