"""The extracts and their key: every page reads back, every planned trap is one, and the key notices a changed rule."""
import copy
import datetime
import json
import unittest
from collections import Counter

from src.legal_hold import legalhold, matter, page, state
from src.legal_hold.corpus import SPECIAL
from src.shared import kit as kits
from src.shared import walk
from src.shared.files import BadData, read_json, read_jsonl

KIT = kits.load("legal_hold")
BOOK = KIT.book
FACTS = [row for _, row in read_jsonl(KIT.data / "facts.jsonl")]
GOLD = {row["id"]: row for row in KIT.gold()}
CASES = {case["case"]: case for case in read_json(KIT.data / "cases.json")}
STATS = read_json(KIT.data / "stats.json")
WORDS = BOOK.rules.policy["events"]


def chains():
    """{matter: its facts rows in order}."""
    found = {}
    for row in FACTS:
        found.setdefault(row["matter"], []).append(row)
    return found


def of_case(name):
    """The chains of a case, each with its gold rows."""
    return [(rows, [GOLD[row["id"]] for row in rows]) for rows in chains().values() if rows[0]["case"] == name]


def days(row, on):
    return (datetime.date.fromisoformat(row["snapshot"]) - datetime.date.fromisoformat(on)).days


class TestPages(unittest.TestCase):
    def test_a_page_reads_back_to_its_facts(self):
        for row in FACTS:
            found = page.read(KIT.text(row["id"]), WORDS)
            people = [{part: person[part] for part in ("id", "department", "title", "systems")}
                      for person in row["candidates"]]
            with self.subTest(row["id"]):
                self.assertEqual(found["candidates"], people)
                self.assertEqual(found["events"], row["events"])
                for part in ("matter", "run", "snapshot", "run_on", "release_memo"):
                    self.assertEqual(found[part], row[part])
                self.assertEqual(found["scope"]["systems"], row["scope"]["systems"])
                self.assertEqual(found["scope"]["period"], row["scope"]["period"])

    def test_ten_people_stand_on_every_roster_and_nobody_on_two_matters(self):
        self.assertEqual({len(row["candidates"]) for row in FACTS}, {10})
        homes = {}
        for row in FACTS:
            for person in row["candidates"]:
                self.assertEqual(homes.setdefault(person["id"], row["matter"]), row["matter"])
        self.assertEqual(len(homes), 240)

    def test_no_page_speaks_the_words_of_the_key(self):
        for row in FACTS:
            text = KIT.text(row["id"])
            for word in (*BOOK.rules.stage.decisions, "CUSTODIAN", "REORG", "ALIAS", "NAMED"):
                self.assertNotIn(word, text)

    def test_a_custodians_place_on_the_roster_says_nothing(self):
        places = Counter(place for row in FACTS if row["run"] == 1
                         for place, person in enumerate(GOLD[row["id"]]["candidates"])
                         if person["hold_status"] == "CUSTODIAN")
        self.assertEqual(len(places), 10)
        self.assertLess(max(places.values()), sum(places.values()) / 4)


class TestPlan(unittest.TestCase):
    def test_the_counts_are_those_that_were_aimed_at(self):
        self.assertEqual((STATS["matters"], STATS["documents"]), (24, 72))
        self.assertEqual(STATS["units"], {"CUSTODIAN": 204, "NOT_CUSTODIAN": 516})
        self.assertEqual((STATS["readings_that_need_a_notice"], STATS["readings_newly_overdue"]), (22, 4))
        self.assertEqual(STATS["special_units"], 18)
        self.assertEqual([STATS["families"][name] for name in ("REORG", "NAMED", "ALIAS", "INCOMPLETE")], [3, 3, 5, 2])

    def test_every_case_has_its_count_and_its_stages(self):
        for name, case in CASES.items():
            found = of_case(name)
            self.assertEqual(len(found), case["count"], name)
            for _, gold in found:
                self.assertEqual([row["matter_stage"] for row in gold], case["expect"]["stages"], case["sentence"])
                self.assertEqual([len(row["escalate"]) for row in gold], case["expect"]["escalated"], case["sentence"])

    def test_scoping_carries_an_escalation_somewhere(self):
        self.assertTrue(any(row["matter_stage"] == "SCOPING" and row["escalate"] for row in GOLD.values()))

    def test_an_unsettled_run_keeps_the_carried_list_beside_it(self):
        [(rows, gold)] = of_case("scope_disputed_then_settled")
        self.assertEqual({person["hold_status"] for person in gold[1]["candidates"]}, {"NOT_CUSTODIAN"})
        self.assertEqual(gold[1]["on_hold"], gold[0]["notices"])
        self.assertEqual(gold[2]["on_hold"], gold[0]["on_hold"])

    def test_a_release_leaves_somebody_overdue_unchased(self):
        [(rows, gold)] = of_case("released_at_run_2")
        before = BOOK.chains.carried(rows[1]["id"])
        told = {event["id"]: event["on"] for event in rows[1]["events"] if event["type"] == "notice"}
        answered = {event["id"] for event in rows[1]["events"] if event["type"] == "ack"}
        self.assertTrue([name for name, on in told.items() if name in before.custodians and name not in answered
                         and days(rows[1], on) >= 14])
        self.assertEqual(gold[1]["escalate"], [])
        self.assertIsNotNone(rows[2]["release_memo"])

    def test_the_days_of_the_clock_cases_are_exact(self):
        for name, number in (("overdue_at_fourteen_days", 14), ("pending_at_thirteen_days", 13),
                             ("acknowledged_after_escalation", 15)):
            [(rows, gold)] = of_case(name)
            notices = [days(rows[1], event["on"]) for event in rows[1]["events"] if event["type"] == "notice"]
            self.assertIn(number, notices, name)

    def test_an_acknowledgement_on_the_snapshot_day_stands_in_its_window(self):
        [(rows, gold)] = of_case("acknowledged_on_the_snapshot_day")
        self.assertIn(rows[1]["snapshot"], [event["on"] for event in rows[1]["events"] if event["type"] == "ack"])

    def test_an_acknowledgement_before_the_notice_and_one_after_the_snapshot_are_both_planted(self):
        [(rows, gold)] = of_case("acknowledged_after_escalation")
        late = gold[1]["escalate"][0]
        days_of = {event["type"]: event["on"] for event in rows[1]["events"] if event["id"] == late
                   and event["on"] <= rows[1]["snapshot"]}
        self.assertLess(days_of["ack"], days_of["notice"])
        self.assertTrue([event for event in rows[1]["events"] if event["id"] == late
                         and event["on"] > rows[1]["snapshot"]])

    def test_somebody_who_leaves_the_department_or_loses_the_access_stays_on_hold(self):
        moved = [(rows, [GOLD[row["id"]] for row in rows]) for rows in chains().values()
                 if rows[0]["candidates"] != rows[1]["candidates"]]
        self.assertGreaterEqual(len(moved), 4)
        for rows, gold in moved:
            alone = legalhold.step(matter.read(WORDS, rows[1]), state.NOTHING, BOOK.rules)[0].hold_status
            stayed = [person["id"] for person in gold[1]["candidates"] if person["hold_status"] == "CUSTODIAN"
                      and alone[person["id"]] == "NOT_CUSTODIAN"]
            self.assertTrue(stayed, rows[1]["id"])

    def test_what_counsel_alone_knows_stands_nowhere_on_the_page(self):
        for rows, gold in of_case("reorganised_department"):
            [special] = [person for person in rows[0]["candidates"] if person["kind"] == "reorganised"]
            found = page.read(KIT.text(rows[0]["id"]), WORDS)
            [printed] = [person for person in found["candidates"] if person["id"] == special["id"]]
            self.assertEqual(printed["department"], special["department"])
            self.assertNotIn(special["department"], rows[0]["scope"]["departments"])
            self.assertIn(special["id"], gold[0]["notices"])

    def test_a_namesake_of_the_named_persons_title_stands_beside_them(self):
        for rows, gold in of_case("named_by_role"):
            titles = Counter(person["title"] for person in rows[0]["candidates"])
            [special] = [person for person in rows[0]["candidates"] if person["kind"] in SPECIAL]
            self.assertGreaterEqual(titles[special["title"]], 2)

    def test_a_narrative_repeats_in_no_two_matters(self):
        texts = [rows[0]["narrative"] for rows in chains().values()]
        self.assertEqual(len(set(texts)), len(texts))


class TestKeyNoticesChangedRules(unittest.TestCase):
    """Each change of a table has to move at least one row of the key."""

    def assert_noticed(self, what, part, change):
        document = copy.deepcopy(getattr(BOOK.rules, part).document)
        change(document["rules"])
        rules = BOOK.rules._replace(**{part: walk.Table(document, BOOK.fields)})
        self.assertTrue(self.moved(rules), f"no row of the key notices: {what}")

    def moved(self, rules):
        for rows in chains().values():
            carried = state.NOTHING
            for row in rows:
                outcome, carried = legalhold.step(BOOK.chains.run(row["id"]), carried, rules)
                gold = GOLD[row["id"]]
                found = {"matter_stage": outcome.stage, "escalate": outcome.escalate, "notices": outcome.notices}
                if found != {part: gold[part] for part in found}:
                    return True
        return False

    def test_the_limit_moved_by_a_day(self):
        for limit in (13, 15):
            self.assertTrue(self.moved(BOOK.rules._replace(days={**BOOK.rules.days, "escalation_days": limit})))

    def test_an_operator_or_a_clause_of_who_matches(self):
        for number, rule in enumerate(BOOK.rules.match.rules):
            for place, clause in enumerate(rule["when"]["all"]):
                self.assert_noticed((rule["id"], "without", clause), "match",
                                    lambda rules: rules[number]["when"]["all"].pop(place))
                other = {"<=": "<", ">=": ">"}.get(clause["test"])
                if other:
                    self.assert_noticed((rule["id"], other), "match",
                                        lambda rules: rules[number]["when"]["all"][place].update(test=other))

    def test_a_rule_that_is_gone(self):
        for part in ("match", "overdue", "stage"):
            for number, rule in enumerate(getattr(BOOK.rules, part).rules):
                if rule["id"] != "L-6d":    # without a notice L-6e finds no days, so L-6d only says so in words
                    self.assert_noticed((rule["id"], "gone"), part, lambda rules: rules.pop(number))

    def test_two_neighbours_of_the_stages_that_change_places(self):
        def swapped(rules):
            rules[number]["order"], rules[number + 1]["order"] = rules[number + 1]["order"], rules[number]["order"]
        for number in range(len(BOOK.rules.stage.rules) - 1):
            self.assert_noticed(("swap", number), "stage", swapped)

    def test_a_harder_operator_of_the_clock(self):
        self.assert_noticed("more than the limit", "overdue", lambda rules: rules[4]["when"].update(test=">"))


class TestRefusals(unittest.TestCase):
    def test_a_rule_that_gives_a_case_other_stages_names_the_case(self):
        rules = BOOK.rules._replace(days={**BOOK.rules.days, "escalation_days": 13})
        with self.assertRaises(BadData) as caught:
            KIT.definition.build(BOOK._replace(rules=rules), KIT.about["seed"])
        self.assertIn(": planned as {", str(caught.exception))

    def test_gold_says_nothing_that_the_facts_do_not_give(self):
        for row in FACTS:
            found = KIT.definition.decide(BOOK, json.loads(json.dumps(row)))
            self.assertEqual(found["on_hold"], GOLD[row["id"]]["on_hold"])


if __name__ == "__main__":
    unittest.main()
