"""The pend records and their key: what is planned is there, every trap is one, and a page says what its facts say."""
import copy
import json
import re
import shutil
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from evals.pend_resolve import account, floors
from src.pend_resolve import clock, corpus, policy
from src.shared import citation, sections, walk
from src.shared import kit as kits
from src.shared.files import BadData, read_json, read_jsonl
from tools import build_corpus

KIT = kits.load("pend_resolve")
BOOK = KIT.book
FACTS = {row["id"]: row for _, row in read_jsonl(KIT.data / "facts.jsonl")}
GOLD = {row["id"]: row for row in KIT.gold()}
CASES = read_json(KIT.data / "cases.json")
POOLS = read_json(KIT.data / "pools.json")


def of(case):
    """The gold rows of one planned case."""
    return [row for row in GOLD.values() if row["case"] == case]


def sentences(name):
    """What a reader reads of a record: sentences, dated lines without their date, the message without its number."""
    found = sections.units(KIT.text(name), (corpus.MESSAGE, corpus.NOTES, corpus.TRAIL, corpus.REGISTER))
    return {re.sub(r"^(?:[0-9-]{10}  |[A-Z]+ [0-9/]+: )", "", unit) for unit in found}


class TestPlan(unittest.TestCase):
    def test_twenty_four_are_clean_and_thirty_six_hard(self):
        self.assertEqual(Counter(case["hard"] for case in CASES for _ in case["documents"]), {False: 24, True: 36})

    def test_each_case_has_its_planned_number_of_records(self):
        wanted = {"clean_release": 5, "correction_applied": 5, "contradicted_deny": 5, "awaiting_outside": 6,
                  "nothing_located": 8, "register_beats_cause": 5, "breached": 4, "near_deadline": 6,
                  "cause_looks_like_another": 6, "phrase_false_positive": 4, "auto_release_bait": 6}
        self.assertEqual(Counter(row["case"] for row in GOLD.values()), wanted)
        self.assertEqual({case["case"]: case["count"] for case in CASES}, wanted)

    def test_each_rule_decides_its_planned_number_of_records(self):
        rules = Counter(row["rule"] for row in GOLD.values())
        self.assertEqual([rules[f"PR-{i}"] for i in (1, 2, 3, 4, 9)], [6, 13, 12, 8, 10])
        self.assertEqual(sum(rules[f"PR-{i}"] for i in (5, 6, 7, 8)), 11)

    def test_sentences_of_the_cases_are_unique(self):
        self.assertEqual(len({case["sentence"] for case in CASES}), len(CASES))

    def test_there_are_eighty_cause_sentences_and_thirty_two_register_lines(self):
        self.assertGreaterEqual(len({entry["text"] for entry in POOLS["causes"]}), 80)
        self.assertGreaterEqual(len({entry["text"] for entry in POOLS["register"]}), 32)


class TestTraps(unittest.TestCase):
    def test_twelve_are_due_or_late_and_counting_from_the_pend_moves_exactly_those(self):
        alarms = {name for name, row in GOLD.items() if row["clock"] != "WITHIN-CLOCK"}
        moved = set()
        for name, row in GOLD.items():
            values, findings = policy.of_claim(BOOK, name)
            if clock.read(BOOK, values).from_pend[0] != row["clock"]:
                moved.add(name)
        self.assertEqual((len(alarms), moved), (12, alarms))

    def test_six_five_none_and_one_over_occur_at_each_deadline(self):
        edges = Counter((row["clock_rule"], row["remaining"]) for row in GOLD.values())
        self.assertEqual([edges[rule, left] for rule in BOOK.days for left in (6, 5, 0, -1)], [1] * 16)

    def test_a_breached_claim_is_right_as_billed(self):
        late = [row["resolution"] for row in GOLD.values() if row["clock"] == "BREACHED"]
        self.assertEqual((len(late), late.count("RELEASE-AS-BILLED")), (4, 1))

    def test_three_records_name_three_causes(self):
        three = [row for row in FACTS.values() if {"message", "about"} <= row["planted"].keys()]
        self.assertEqual([len({*row["planted"].values(), row["cause_class"]}) for row in three], [3] * 3)

    def test_a_third_repeat_line_is_genuine_beside_a_confirmed_duplicate(self):
        row = next(row for row in FACTS.values() if row["register_evidence"] == ["clean", "contradicted"])
        register = KIT.text(row["id"]).partition(corpus.REGISTER)[2]
        self.assertIn("Line 3", register)
        self.assertIn("Line 2", register)
        self.assertEqual((row["cause_class"], GOLD[row["id"]]["resolution"]), ("DUP-SUSPECT", "DENY-LINE"))

    def test_six_baits_are_of_six_kinds_in_four_places(self):
        kinds = Counter(row["planted"]["bait"] for row in FACTS.values() if "bait" in row["planted"])
        self.assertEqual((len(kinds), sum(kinds.values())), (6, 6))
        self.assertEqual({bait["where"] for bait in POOLS["baits"]}, {"note", "trail", "message", "register"})
        for row in of("auto_release_bait"):
            self.assertEqual(row["release"], "EXAMINER-APPLIES")
            self.assertTrue(any(bait["text"] in KIT.text(row["id"]) for bait in POOLS["baits"]))

    def test_an_innocent_phrase_stands_before_the_cause(self):
        for row in of("phrase_false_positive"):
            decoy = FACTS[row["id"]]["planted"]["decoy"]
            text, phrase = KIT.text(row["id"]), next(each["text"] for each in POOLS["decoys"] if each["cause"] == decoy)
            self.assertLess(text.index(phrase), text.index(row["citation"]))
            self.assertNotEqual(decoy, row["cause_class"])

    def test_clean_although_awaited_is_planted_and_flagged(self):
        flagged = [name for name, row in FACTS.items() if "clean_although_awaited" in policy.decide(BOOK, row)["flags"]]
        self.assertEqual(len(flagged), 2)
        self.assertEqual({GOLD[name]["rule"] for name in flagged}, {"PR-2"})


class TestPages(unittest.TestCase):
    def test_a_page_reads_back_to_its_facts(self):
        for name, row in FACTS.items():
            text = KIT.text(name)
            printed = {field: text[start:end] for field, (start, end) in sections.locate(text, BOOK.facts).items()}
            for field in ("received_on", "pended_on", "register_read_on"):
                self.assertEqual(printed[field], row[field], name)
            self.assertEqual(printed["line_of_business"], BOOK.policy["lines_of_business"][row["line_of_business"]])
            for field in ("clean", "contracted"):
                self.assertEqual(printed[field], policy.YES_NO[row[field]])

    def test_every_citation_stands_once_and_is_one_line_or_sentence(self):
        for name, row in GOLD.items():
            text = KIT.text(name)
            self.assertEqual(citation.locate(text, row["citation"]).count, 1, name)
            self.assertIn(row["citation"], list(sections.units(text, (corpus.MESSAGE, corpus.NOTES, corpus.TRAIL))))

    def test_no_sentence_is_read_twice_in_five_records(self):
        names = list(GOLD)
        for i, name in enumerate(names):
            before = set().union(*(sentences(other) for other in names[max(0, i - 4):i]))
            self.assertEqual(sentences(name) & before, set(), name)

    def test_no_cause_sentence_comes_twice(self):
        causes = [re.sub("^[0-9-]{10}  ", "", row["citation"]) for row in GOLD.values()]
        self.assertEqual(len(set(causes)), len(causes))

    def test_a_filler_names_no_cause(self):
        fillers = [*POOLS["messages"], *POOLS["notes"], *POOLS["turns"], *sum(POOLS["trail"].values(), [])]
        self.assertEqual([text for text in fillers if account.STEMS.search(text)], [])
        listed = floors._listed(KIT.data / floors.PHRASES, tuple(KIT.book.policy["causes"]))["patterns"]
        self.assertEqual([text for text in fillers if any(pattern.search(text) for _, pattern in listed)], [])


class TestKeyNoticesChangedRules(unittest.TestCase):
    """Each change of the policy has to move at least one row of the key."""

    def noticed(self, part, change):
        tables = {name: copy.deepcopy(table.document) for name, table in
                  (("resolution", BOOK.table), ("deadlines", BOOK.deadlines), ("clock", BOOK.states))}
        change(tables[part]["rules"])
        built = {name: walk.Table(table, BOOK.facts) for name, table in tables.items()}
        days = {rule["id"]: int(rule["decision"].split()[0]) for rule in built["deadlines"].rules}
        book = BOOK._replace(table=built["resolution"], deadlines=built["deadlines"], states=built["clock"], days=days)
        for name, row in FACTS.items():
            found = policy.decide(book, row)
            if any(found[field] != GOLD[name][field] for field in ("resolution", "rule", "clock", "clock_rule",
                                                                   "remaining")):
                return True
        return False

    def test_a_rule_that_is_gone(self):
        for part, table in (("resolution", BOOK.table), ("deadlines", BOOK.deadlines), ("clock", BOOK.states)):
            for i, rule in enumerate(table.rules):
                self.assertTrue(self.noticed(part, lambda rules: rules.pop(i)), rule["id"])

    def test_neighbours_that_change_places_wherever_both_can_match(self):
        def swapped(rules):
            rules[i]["order"], rules[i + 1]["order"] = rules[i + 1]["order"], rules[i]["order"]
        apart = {("resolution", i) for i in (3, 4, 5, 6)} | {("deadlines", 1)}    # no claim is taken by both of these
        for part, table in (("resolution", BOOK.table), ("deadlines", BOOK.deadlines), ("clock", BOOK.states)):
            for i in range(len(table.rules) - 1):
                self.assertEqual(self.noticed(part, swapped), (part, i) not in apart, (part, i))

    def test_a_deadline_moved_by_one_day(self):
        for i, rule in enumerate(BOOK.deadlines.rules):
            for move in (-1, 1):
                days = f"{BOOK.days[rule['id']] + move} days"
                self.assertTrue(self.noticed("deadlines", lambda rules: rules[i].update(decision=days)),
                                (rule["id"], move))

    def test_an_edge_of_the_clock_moved_or_shut(self):
        for i, rule in enumerate(BOOK.states.rules):
            for value, test in ((rule["when"]["value"] + 1, rule["when"]["test"]),
                                (rule["when"]["value"] - 1, rule["when"]["test"]),
                                (rule["when"]["value"], "<=" if rule["when"]["test"] == "<" else "<")):
                self.assertTrue(self.noticed("clock", lambda rules: rules[i]["when"].update(value=value, test=test)),
                                (rule["id"], value))

    def test_a_condition_of_a_deadline_that_is_gone(self):
        for i, j in ((0, 0), (0, 1), (0, 2), (2, 1)):        # CL-2 has taken every claim of the other line before CL-3
            self.assertTrue(self.noticed("deadlines", lambda rules: rules[i]["when"]["all"].pop(j)), (i, j))


class TestBuild(unittest.TestCase):
    """A generator that is asked for the impossible says so and writes nothing."""

    def build(self, name, change, seed=1):
        with tempfile.TemporaryDirectory() as place:
            for path in KIT.data.iterdir():
                if path.is_file():
                    shutil.copy(path, place)
            value = read_json(KIT.data / name)
            change(value)
            Path(place, name).write_text(json.dumps(value), encoding="utf-8")
            return build_corpus.build(kits.load("pend_resolve", Path(place)), seed)

    def refused(self, name, change):
        with self.assertRaises(BadData) as caught:
            self.build(name, change)
        return str(caught.exception)

    def test_one_seed_gives_the_same_bytes_and_another_gives_others(self):
        self.assertEqual(list(build_corpus.differences(KIT, build_corpus.build(KIT, KIT.about["seed"]))), [])
        self.assertNotEqual(build_corpus.build(KIT, 7)["facts.jsonl"], build_corpus.build(KIT, 8)["facts.jsonl"])

    def test_a_record_that_comes_out_otherwise_than_planned_is_named(self):
        self.assertIn(": planned as",
                      self.refused("cases.json", lambda cases: cases[0]["documents"][0].update(register=["awaited"])))

    def test_a_word_that_names_nothing_lists_the_near_one(self):
        self.assertIn("did you mean DUP-SUSPECT?",
                      self.refused("cases.json", lambda cases: cases[0]["documents"][0].update(cause="DUP-SUSPCT")))
        self.assertIn("did you mean decoy?",
                      self.refused("cases.json", lambda cases: cases[0]["documents"][0].update(decoi="x")))

    def test_a_pool_that_runs_dry_is_named(self):
        def few(pools):
            pools["causes"] = [entry for entry in pools["causes"] if entry["where"] != "trail"]
        self.assertIn("for the trail is left", self.refused("pools.json", few))

    def test_a_count_that_is_not_its_records_is_named(self):
        self.assertIn("count 9 and 5 planned documents",
                      self.refused("cases.json", lambda cases: cases[0].update(count=9)))
