"""The label extracts and their key: every page says what its facts say, and the key notices a changed rule."""
import copy
import json
import shutil
import tempfile
import unittest
from pathlib import Path

from src.label_restrict import checks, corpus
from src.shared import key, sections, walk
from src.shared import kit as kits
from src.shared.files import BadData, read_json, read_jsonl

KIT = kits.load("label_restrict")
BOOK = KIT.book
FACTS = [row for _, row in read_jsonl(KIT.data / "facts.jsonl")]
GOLD = list(KIT.gold())
CASES = read_json(KIT.data / "cases.json")
POOLS = read_json(KIT.data / "pools.json")
STATS = read_json(KIT.data / "stats.json")
INSIDE = BOOK.table.document["passed"]["decision"]
STOPPED = [verdict for verdict in BOOK.table.decisions if verdict != INSIDE]


class TestPages(unittest.TestCase):
    def test_a_page_reads_back_to_its_facts_through_the_line_labels(self):
        for row in FACTS:
            text = KIT.text(row["id"])
            printed = {name: text[start:end] for name, (start, end) in sections.locate(text, BOOK.fields).items()}
            values, findings = BOOK.fields.read(printed, BOOK.fields.copied)
            with self.subTest(row["id"]):
                self.assertEqual((values, findings), BOOK.fields.read(row, BOOK.fields.copied))
                self.assertEqual(printed["agronomist_note"], row["agronomist_note"])

    def test_every_page_has_its_sections_in_order(self):
        titles = POOLS["layout"]
        self.assertEqual({*titles}, {*BOOK.fields.sections_sent, *BOOK.fields.sections_withheld})
        for row in FACTS:
            self.assertEqual([section.title for section in sections.cut(KIT.text(row["id"]))], titles, row["id"])

    def test_the_product_stands_in_its_own_section_only(self):
        for row in FACTS:
            text = KIT.text(row["id"])
            name = row["product"].split(" -- ")[0]
            self.assertEqual((text.count(row["product"]), text.count(name)), (1, 1), row["id"])

    def test_a_product_and_a_field_reference_belong_to_one_document(self):
        for values in ([row["field_id"] for row in FACTS], [row["product"].split()[0] for row in FACTS]):
            self.assertEqual(len(set(values)), len(values))

    def test_one_value_is_printed_in_several_spellings(self):
        rate = BOOK.fields.by_name["rate_proposed_l_per_ha"]
        printed = {line.split(": ")[1] for row in FACTS for line in KIT.text(row["id"]).splitlines()
                   if line.startswith(f"{rate.line} ")}
        self.assertGreater(len({text.split(" ", 1)[1] for text in printed}), 1, "units")
        self.assertTrue(any(text.split()[0].endswith("0") and "." in text for text in printed), "decimals")

    def test_days_since_are_unstated_exactly_where_no_application_was_made(self):
        for row in FACTS:
            self.assertEqual(row["days_since_last_application"] is None, row["applications_made_this_season"] == 0)


class TestPlan(unittest.TestCase):
    def test_as_many_are_inside_and_stopped_as_planned(self):
        planned = KIT.about["planned"]
        self.assertEqual({verdict: STATS["verdict"][verdict] for verdict in planned}, planned)
        self.assertEqual((sum(planned.values()), set(planned)), (KIT.about["size"], set(BOOK.table.decisions)))
        self.assertGreater(sum(planned[verdict] for verdict in STOPPED), 2 * planned[INSIDE])

    def test_every_case_has_its_count_and_its_answer(self):
        for case in CASES:
            answers = [(row["verdict"], row["deciding_restriction"]) for row in GOLD if row["case"] == case["case"]]
            self.assertEqual(answers, [tuple(case["expect"].values())] * case["count"], case["sentence"])

    def test_case_names_are_unique_and_each_sentence_says_one_thing(self):
        for words in ([case["case"] for case in CASES], [case["sentence"] for case in CASES]):
            self.assertEqual(len(set(words)), len(words))

    def test_a_case_is_hard_exactly_when_it_belongs_to_a_family(self):
        self.assertTrue(all(case["hard"] == (case["family"] is not None) for case in CASES))
        self.assertEqual({case["family"] for case in CASES} - {None}, set(KIT.about["hard_family_floors"]))

    def test_planned_and_applied_occur_under_every_verdict(self):
        for verdict, counts in STATS["status"].items():
            self.assertEqual(set(counts), {"planned", "applied"}, f"{verdict}: plan two documents of it, or more")


class TestRemarks(unittest.TestCase):
    def test_no_remark_repeats(self):
        texts = [remark["text"] for remark in POOLS["notes"]]
        self.assertEqual(len(set(texts)), len(texts))
        self.assertGreaterEqual(len(texts), 60)
        self.assertEqual(STATS["distinct_values"]["agronomist_note"], len(GOLD))

    def test_no_remark_speaks_the_words_of_the_key(self):
        words = [*BOOK.table.decisions, *BOOK.table.rule_ids[:-1], "inside the label", "outside the label"]
        for remark in POOLS["notes"]:
            text = remark["text"].casefold()
            self.assertFalse([word for word in words if word in text or word.replace("_", " ") in text], text)

    def test_tone_says_little_about_the_verdict(self):
        tones = STATS["tones"]
        stopped = {tone: sum(tones[verdict].get(tone, 0) for verdict in STOPPED) for tone in tones[INSIDE]}
        self.assertGreater(stopped["relaxed"], sum(stopped.values()) / 4)
        self.assertGreater(tones[INSIDE]["worried"], sum(tones[INSIDE].values()) / 4)

    def test_a_remark_about_a_check_is_mostly_about_another_than_the_deciding_one(self):
        self.assertGreater(STATS["remarks_about"]["another check"], STATS["remarks_about"]["deciding check"])


class TestKeyNoticesChangedRules(unittest.TestCase):
    """Each change of the table has to move at least one row of the key."""

    def assert_noticed(self, what, change):
        document = copy.deepcopy(BOOK.table.document)
        change(document["rules"])
        table = walk.Table(document, BOOK.fields)
        for row in GOLD:
            decision = table.decide(*BOOK.fields.read(row, BOOK.fields.copied))
            if (decision.decision, decision.rule) != (row["verdict"], row["deciding_restriction"]):
                return
        self.fail(f"no row of the key notices: {what}; plan a case in cases.json whose answer it changes")

    def test_an_operator(self):
        for i, rule in enumerate(BOOK.table.rules):
            for test in ("<", "<=", ">", ">=", "==", "!=") if rule["test"] in walk.ORDERINGS else ("in", "not in"):
                if test != rule["test"]:
                    self.assert_noticed((rule["id"], test), lambda rules: rules[i].update(test=test))

    def test_a_limit_moved_by_one_step(self):
        for rule in BOOK.table.rules:
            if rule["test"] in walk.ORDERINGS:
                # A limit moved up is a value moved down; a limit may stand in the rule itself.
                value, step = rule["field"], POOLS["steps"][rule["unit"]]
                for move in (-step, step):
                    rows = [{**row, value: None if row[value] is None else row[value] - move} for row in GOLD]
                    self.assertTrue([row for row, gold in zip(rows, GOLD) if checks.decide(BOOK, row)["verdict"] !=
                                     gold["verdict"]], (rule["id"], move))

    def test_two_neighbours_that_change_places(self):
        def swapped(rules):
            rules[i]["order"], rules[i + 1]["order"] = rules[i + 1]["order"], rules[i]["order"]
        for i in range(len(BOOK.table.rules) - 1):
            one, other = BOOK.table.rules[i:i + 2]
            with self.subTest(one=one["id"], other=other["id"]):
                self.assert_noticed(f"{one['id']} and {other['id']} change places", swapped)

    def test_a_check_that_is_gone_or_of_the_other_class(self):
        outcomes = {group["decision"] for group in BOOK.table.document["classes"].values()}
        for i, rule in enumerate(BOOK.table.rules):
            self.assert_noticed(("gone", rule["id"]), lambda rules: rules.pop(i))
            for other in outcomes - {rule["decision"]}:
                self.assert_noticed(("class", rule["id"]), lambda rules: rules[i].update(decision=other))

    def test_an_exemption_that_is_gone_or_turned_round(self):
        for i, rule in enumerate(BOOK.table.rules):
            clause = rule.get("not_applicable")
            if clause:
                self.assert_noticed(("gone", rule["id"]), lambda rules: rules[i].pop("not_applicable"))
                for part in ({"not": clause}, *clause.get("any", [])):
                    self.assert_noticed((rule["id"], part), lambda rules: rules[i].update(not_applicable=part))

    def test_an_exemption_for_a_count_that_is_not_zero(self):
        i = next(i for i, rule in enumerate(BOOK.table.rules)
                 if rule.get("not_applicable", {}).get("field") == "applications_made_this_season")
        for test, value in (("==", 1), ("==", -1), ("<=", 0), (">=", 0), ("<", 0), (">", 0), ("!=", 0)):
            clause = {**BOOK.table.rules[i]["not_applicable"], "test": test, "value": value}
            self.assert_noticed(clause, lambda rules: rules[i].update(not_applicable=clause))


class TestRefusals(unittest.TestCase):
    """A generator that is asked for the impossible says so and writes nothing."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for path in KIT.data.iterdir():
            if path.is_file():
                shutil.copy(path, self.folder)

    def build(self, name, change):
        """Build with one hand-written file changed by `change(its JSON value)`."""
        path = self.folder / name
        value = json.loads(path.read_text())
        change(value)
        path.write_text(json.dumps(value))
        return corpus.build(kits.load("label_restrict", self.folder).book, 1)

    def refused(self, name, change):
        with self.assertRaises(BadData) as caught:
            self.build(name, change)
        return str(caught.exception)

    def test_a_rule_that_gives_a_case_another_answer_names_the_case(self):
        def strict(table):
            next(rule for rule in table["rules"] if rule["test"] == "<=")["test"] = "<"
        rule = next(rule for rule in BOOK.table.rules if rule["test"] == "<=")
        exact = [case["case"] for case in CASES if case["plan"].get("room", {}).get(rule["id"]) == 0]
        for case in exact:
            self.assertIn(f"{case}: planned as", self.refused("checks.json", strict))
        self.assertTrue(exact)

    def test_a_case_left_out_is_a_gap_that_is_named(self):
        rule = next(rule for rule in BOOK.table.rules if rule["test"] == "<=")
        step = POOLS["steps"][rule["unit"]]
        built = self.build("cases.json", lambda cases: cases.__setitem__(slice(None), [
            case for case in cases if case["plan"].get("room", {}).get(rule["id"]) != -float(step)]))
        self.assertIn(f"{rule['id']}: no document just above the limit (step {step} {rule['unit']})",
                      list(key.gaps(json.loads(built["stats.json"]))))

    def test_an_unknown_word_in_a_plan_lists_the_near_one(self):
        self.assertIn("did you mean room?", self.refused("cases.json", lambda cases: cases[0]["plan"].update(rooms={})))
        check = next(iter(CASES[0]["plan"]["room"]))
        self.assertIn(f"did you mean {check}?", self.refused("cases.json", lambda cases: cases[0].update(
            plan={"room": {check[:-1]: 1}})))

    def test_a_spelling_that_the_fields_do_not_read_is_refused(self):
        def gallons(pools):
            pools["spellings"]["L/ha"] = ["{n} gallons"]
        self.assertIn("gallons', which fields.json does not read back", self.refused("pools.json", gallons))

    def test_too_few_remarks_are_refused(self):
        def calm(pools):
            worried = [remark for remark in pools["notes"] if remark["tone"] == "worried"]
            pools["notes"] = [remark for remark in pools["notes"] if remark["tone"] != "worried"] + worried[:1]
        self.assertIn("no worried remark is left", self.refused("pools.json", calm))

    def test_what_names_nothing_or_leaves_nothing_to_draw_is_told_with_its_place(self):
        verdict, limit = next(iter(POOLS["tones"])), next(iter(POOLS["limits"]))
        for change, told in (
                (lambda pools: pools["tones"].pop(verdict), f"/tones: {verdict} is missing"),
                (lambda pools: pools["layout"].pop(), "/layout: "), (lambda pools: pools["notes"].append("x"), "'x'"),
                (lambda pools: pools["names"].update(crop=["wheat"]), "/names/crop: 0 beside wheat"),
                (lambda pools: pools["names"]["crop"].append("all crops"), "/names/crop: 'all crops'"),
                (lambda pools: pools["limits"].update({limit: ["x"]}), f"/limits/{limit}: 0 'x'"),
                (lambda pools: pools["spellings"].update(m=["{x} m"]), "/spellings/m: 0 '{x} m'"),
                (lambda pools: pools["partner_in_tank"].append("liste"), "did you mean listed?")):
            shutil.copy(KIT.data / "pools.json", self.folder)
            with self.subTest(told):
                self.assertIn(told, self.refused("pools.json", change))

    def test_a_plan_that_its_field_or_its_remarks_cannot_follow_is_told_with_its_case(self):
        rule = next(rule for rule in BOOK.table.rules if rule["test"] == ">=")
        for plan, told in (({"set": {rule["field"]: "lots"}}, f"/plan/set: {rule['field']} 'lots'"),
                           ({"room": {rule["id"]: ["x"]}}, f"/plan/room/{rule['id']}: 0 'x'"),
                           ({"note": "zzz"}, "note 'zzz' is not one of"), ("x", "plan 'x' is not an object"),
                           ({"note_about": "zzz"}, "note_about 'zzz' is not one of")):
            with self.subTest(told):
                said = self.refused("cases.json", lambda cases: cases[0].update(plan=plan))
                self.assertIn(f"{CASES[0]['case']}: ", said)
                self.assertIn(told, said)

    def test_an_empty_pool_is_named_by_its_place(self):
        limit = next(iter(POOLS["limits"]))
        self.assertIn(f"/limits: {limit} []",
                      self.refused("pools.json", lambda pools: pools["limits"].update({limit: []})))

    def test_a_room_that_no_limit_leaves_is_refused(self):
        check = next(rule["id"] for rule in BOOK.table.rules if rule["test"] == ">=")

        def deep(cases):
            cases[0]["plan"]["room"][check] = -500
        self.assertIn("plan a larger limit", self.refused("cases.json", deep))
