"""legal_hold keeps what every kit keeps, and what its own page promises."""
import copy
import difflib
import json
import unittest

from evals.legal_hold import attacks
from evals.shared import contract, injecting, scoring, table
from src.legal_hold import prompt, select, state
from src.legal_hold.recheck import unit
from src.shared import kit as kits
from src.shared import sections
from src.shared.files import BadData, write_text


class TestKit(contract.KitContract, unittest.TestCase):
    name = "legal_hold"
    ran = {}

    def run_arm(self, arm):
        """An arm's entries and closing part, taken once for all tests that look at them."""
        if arm.name not in self.ran:
            self.ran[arm.name] = super().run_arm(arm)
        return copy.deepcopy(self.ran[arm.name])

    def marks(self, row, column="raw", **changed):
        return scoring.Scoring(self.kit, self.bench).entry(row, self.answered(row, **changed))["marks"][column]

    def first(self, holds):
        return next(row for row in self.gold if holds(row))

    def statuses(self, row, **changed):
        return [{**person, "hold_status": changed.get(person["id"], person["hold_status"])}
                for person in row["candidates"]]

    def test_each_named_error_moves_its_own_counter_and_no_other(self):
        scoping = self.first(lambda row: row["matter_stage"] == "SCOPING" and not row["escalate"]
                             and row["case"] == "released_at_run_3")
        quiet = self.first(lambda row: row["matter_stage"] == "MONITORING" and row["on_hold"])
        late = self.first(lambda row: row["matter_stage"] == "ESCALATION_NEEDED")
        special = next(row for row in self.gold if row["case"] == "reorganised_department")
        facts = self.kit.book.chains.row(special["id"])
        reorganised = next(person["id"] for person in facts["candidates"] if person["kind"] == "reorganised")
        other = next(person["id"] for person in quiet["candidates"] if person["hold_status"] == "NOT_CUSTODIAN")
        for errors, row, changed in (
                ({"missed_custodian"}, scoping,
                 {"candidates": self.statuses(scoping, **{scoping["notices"][0]: "NOT_CUSTODIAN"})}),
                ({"missed_custodian"}, scoping,
                 {"candidates": [p for p in scoping["candidates"] if p["id"] != scoping["notices"][0]]}),
                ({"missed_custodian", "missed_special"}, special,
                 {"candidates": self.statuses(special, **{reorganised: "NOT_CUSTODIAN"})}),
                ({"missed_notice"}, scoping, {"matter_stage": "MONITORING"}),
                ({"missed_escalation"}, late, {"escalate": []}),
                ({"over_inclusion"}, quiet, {"candidates": self.statuses(quiet, **{other: "CUSTODIAN"})}),
                ({"false_notice"}, quiet, {"matter_stage": "SCOPING"}),
                ({"false_escalation"}, quiet, {"escalate": quiet["on_hold"][:1]}),
                ({"unknown_people"}, quiet,
                 {"candidates": quiet["candidates"] + [{"id": "EMP-0", "hold_status": "CUSTODIAN"}]})):
            marks = self.marks(row, **changed)
            names = {error.id for error in self.bench.errors}
            raised = {name for name in names if (hit := marks.get(name)) is True or (isinstance(hit, list) and hit[0])}
            self.assertEqual(raised, errors, changed)

    def test_a_person_left_out_named_twice_or_unknown_is_one_counted_miss(self):
        row = self.gold[0]
        people = row["candidates"]
        for changed, right in ((people[:-1], 9), (people + people[:1], 9),
                               (people + [{"id": "EMP-0", "hold_status": "CUSTODIAN"}], 10),
                               ("all of them", 0), (None, 0),
                               ([{**person, "hold_status": "maybe"} for person in people], 0)):
            marks = self.marks(row, candidates=changed)
            units = [marks[name] for name in ("units_ordinary", "units_special") if name in marks]
            self.assertEqual((sum(hits for hits, _ in units), sum(of for _, of in units)), (right, 10), changed)

    def test_the_denominators_are_those_of_the_corpus(self):
        _, closing = self.run_arm(self.arms["null"])
        errors = {error["id"]: error["raw"]["opportunities"] for error in closing["errors"]}
        stats = json.loads((self.kit.data / "stats.json").read_text(encoding="utf-8"))
        metrics = {metric["id"]: metric["raw"]["den"] for metric in closing["metrics"]}
        self.assertEqual(errors["missed_custodian"], stats["units"]["CUSTODIAN"])
        self.assertEqual(errors["over_inclusion"], stats["units"]["NOT_CUSTODIAN"])
        self.assertEqual(errors["missed_special"], stats["special_units"])
        self.assertEqual((errors["missed_notice"], errors["missed_notice"] + errors["false_notice"]),
                         (stats["readings_that_need_a_notice"], stats["documents"]))
        self.assertEqual((errors["missed_escalation"], errors["false_escalation"]),
                         (stats["people_newly_overdue"], sum(stats["units"].values()) - stats["people_newly_overdue"]))
        self.assertEqual(metrics["units_ordinary"] + metrics["units_special"], sum(stats["units"].values()))
        self.assertEqual(metrics["stage_later"], stats["documents"] - stats["matters"])

    def test_each_named_error_says_whether_it_counts_people_or_readings(self):
        entries, closing = self.run_arm(self.arms["null"])
        for error, said in zip(self.bench.errors, closing["errors"]):
            several = any(isinstance(entry["marks"]["raw"].get(error.id), list) for entry in entries)
            self.assertEqual(error.unit, "people" if several else "readings")
            self.assertEqual(said["title"], f"{error.title}, {error.unit}")
        record = closing | {"run": {"arm": "null"}}
        told = table._names("null", self.bench, record)[1]
        self.assertIn("missed custodian on 204 of 204 people, in 57 documents", told)

    def test_the_readings_of_a_matter_are_one_cluster(self):
        entries, _ = self.run_arm(self.arms["null"])
        self.assertEqual(len({entry["cluster"] for entry in entries}), 24)

    def test_the_recheck_mends_stage_and_escalations_and_trusts_the_statuses(self):
        late = self.first(lambda row: row["escalate"])
        for changed in ({"matter_stage": "MONITORING", "escalate": []}, {"escalate": late["on_hold"]},
                        {"matter_stage": None}):
            marks = self.marks(late, "rechecked", **changed)
            self.assertTrue(marks["stage"] and marks["escalate_list"], changed)
        scoping = self.first(lambda row: row["matter_stage"] == "SCOPING")
        wrong = self.statuses(scoping, **{scoping["notices"][0]: "NOT_CUSTODIAN"})
        found = self.answered(scoping, candidates=wrong).rechecked
        self.assertEqual(found.values[unit(scoping["notices"][0])], "NOT_CUSTODIAN")

    def test_the_recheck_knows_release_and_closing_from_log_and_state(self):
        for stage in ("RELEASING", "CLOSED"):
            row = self.first(lambda row: row["matter_stage"] == stage)
            self.assertTrue(self.marks(row, "rechecked", matter_stage="MONITORING")["stage"], stage)

    def left_out(self, row, *people):
        """What the recheck makes of a reply of gold that leaves people out: (stage, escalate)."""
        named = [entry for entry in row["candidates"] if entry["id"] not in people]
        found = self.answered(row, candidates=named).rechecked
        return found.values["matter_stage"], found.values["escalate"]

    def test_nothing_is_derived_where_a_missing_status_could_change_it(self):
        new = self.first(lambda row: row["notices"])
        self.assertEqual(self.left_out(new, *new["notices"]), (None, None))
        late = self.first(lambda row: row["escalate"])
        self.assertEqual(self.left_out(late, late["escalate"][0]), (None, None))
        quiet = self.first(lambda row: row["matter_stage"] == "MONITORING" and row["on_hold"])
        stranger = next(person["id"] for person in quiet["candidates"] if person["hold_status"] == "NOT_CUSTODIAN")
        self.assertEqual(self.left_out(quiet, stranger), (None, None))

    def test_a_missing_status_that_can_change_nothing_leaves_the_rest_derived(self):
        quiet = self.first(lambda row: row["matter_stage"] == "MONITORING" and row["on_hold"])
        self.assertEqual(self.left_out(quiet, quiet["on_hold"][0]), ("MONITORING", ()))
        for stage in ("RELEASING", "CLOSED"):
            row = self.first(lambda row: row["matter_stage"] == stage)
            self.assertEqual(self.left_out(row, row["candidates"][0]["id"]), (stage, ()))
        several = self.first(lambda row: len(row["notices"]) > 1)
        self.assertEqual(self.left_out(several, several["notices"][0]), ("SCOPING", ()))

    def test_an_id_spelt_otherwise_is_the_same_person(self):
        row = self.first(lambda row: row["escalate"])
        for spell in (str.lower, lambda name: name.replace("-", " "), lambda name: name.replace("-", "_"),
                      lambda name: name.replace("-", ""), lambda name: f" {name.title()} "):
            changed = {"candidates": [{**person, "id": spell(person["id"])} for person in row["candidates"]],
                       "escalate": [spell(name) for name in row["escalate"]]}
            self.assertEqual(self.marks(row, **changed), self.marks(row))
            self.assertEqual(self.marks(row, "rechecked", **changed), self.marks(row, "rechecked"))
        twice = row["candidates"] + [{"id": row["escalate"][0].lower(), "hold_status": "NOT_CUSTODIAN"}]
        self.assertEqual(self.marks(row, candidates=twice)["units_ordinary"], [9, 10])

    def test_a_stranger_in_either_list_is_counted_and_shown(self):
        row = self.first(lambda row: row["escalate"])
        for changed in ({"escalate": [*row["escalate"], "EMP-0"]},
                        {"candidates": row["candidates"] + [{"id": "EMP-0", "hold_status": "CUSTODIAN"}]}):
            answer = self.answered(row, **changed).raw
            self.assertTrue(self.marks(row, **changed)["unknown_people"])
            found = self.kit.definition.panels(self.kit.book, row["id"], self.kit.text(row["id"]),
                                               {"gold": None, "model": answer})
            self.assertIn("model: EMP-0", [panel.get("text") for panel in found])
        self.assertFalse(self.marks(row, escalate=[*row["escalate"], "EMP-0"])["escalate_list"])
        self.assertFalse(self.marks(row)["unknown_people"])

    def test_an_entry_without_an_id_is_a_problem_and_no_silence(self):
        row = self.gold[0]
        for entry in ({"id": 4411, "hold_status": "CUSTODIAN"}, "EMP-1", {"hold_status": "CUSTODIAN"}):
            answer = self.answered(row, candidates=[*row["candidates"][1:], entry]).raw
            self.assertIn("candidates", answer.problems)

    def test_an_unsettled_scope_is_believed_only_where_nobody_is_named(self):
        row = self.first(lambda row: row["matter_stage"] == "SCOPING")
        self.assertEqual(self.answered(row, matter_stage="INCOMPLETE").rechecked.values["matter_stage"], "SCOPING")

    def test_what_a_model_answers_never_becomes_the_next_runs_memory(self):
        before = [self.kit.prompt(row["id"]) for row in self.gold]
        for row in self.gold:
            self.answered(row, candidates=self.statuses(row, **{p["id"]: "CUSTODIAN" for p in row["candidates"]}),
                          matter_stage="SCOPING", escalate=[p["id"] for p in row["candidates"]])
        self.assertEqual([self.kit.prompt(row["id"]) for row in self.gold], before)

    def test_floors_are_honest_and_the_whole_rule_is_the_one_to_beat(self):
        rates = {name: {metric["id"]: metric["raw"] for metric in self.run_arm(self.arms[name])[1]["metrics"]}
                 for name in ("dept-only", "dept-only-mem", "roster-rule-mem")}
        for found in rates.values():
            self.assertGreater(found["stage"]["num"], 0)
            self.assertLess(found["stage"]["num"], found["stage"]["den"])
        self.assertEqual(max(rates, key=lambda name: rates[name]["units_ordinary"]["num"]), "roster-rule-mem")
        self.assertEqual(rates["dept-only"]["escalations"]["num"], 0)
        self.assertEqual(rates["roster-rule-mem"]["escalations"]["num"], rates["roster-rule-mem"]["escalations"]["den"])
        self.assertEqual(rates["dept-only"]["units_special"]["num"], 0)

    def test_every_panel_is_plain_data_and_the_page_is_whole(self):
        for row in self.gold:
            gold = self.kit.definition.normalise(self.kit.book, row)
            text = self.kit.text(row["id"])
            answers = {"gold": gold, "rechecked": self.kit.definition.recheck(self.kit.book, row["id"], gold),
                       "model": None}
            found = self.kit.definition.panels(self.kit.book, row["id"], text, answers)
            json.dumps(found)
            self.assertEqual("".join(piece["text"] for block in found[0]["blocks"] for piece in block["segments"]),
                             text)
            withheld = "".join(piece["text"] for block in found[0]["blocks"] if block["withheld"]
                               for piece in block["segments"])
            self.assertEqual(withheld.count("home address"), 10)

    def test_an_unsettled_run_shows_who_is_on_hold_beside_it(self):
        row = self.first(lambda row: row["matter_stage"] == "INCOMPLETE" and row["on_hold"])
        found = self.kit.definition.panels(self.kit.book, row["id"], self.kit.text(row["id"]), {"gold": None})
        table = next(panel for panel in found if panel["title"] == "On hold when this run began")
        self.assertEqual(sorted(cells[0]["text"] for cells in table["rows"]), sorted(row["on_hold"]))
        self.assertEqual({cells[4]["text"] for cells in table["rows"]}, {"NOT_CUSTODIAN"})
        self.assertTrue(any(panel["title"] == "held_custodian_reported_not_custodian" for panel in found))
        beside = found[found.index(table) - 1]
        self.assertIn(f"the {len(row['on_hold'])} in the list below stay on hold", beside["text"])


class WithKit(unittest.TestCase):
    """Tests over the committed kit that are no part of the contract."""

    @classmethod
    def setUpClass(cls):
        cls.kit = kits.load(TestKit.name)
        cls.gold = list(cls.kit.gold())


class TestPrompt(WithKit):
    def texts(self, document, build):
        return {part.name: part.text for part in build(self.kit.book, document, self.kit.text(document))}

    def test_a_variant_differs_from_the_prompt_in_the_carried_state_alone(self):
        for row in self.gold:
            whole = self.texts(row["id"], prompt.build)
            for name, (_, build) in prompt.VARIANTS.items():
                other = self.texts(row["id"], build)
                self.assertEqual(list(other), list(whole))
                self.assertLessEqual({part for part in whole if whole[part] != other[part]}, {"carried_state"}, name)

    def test_the_stateless_prompt_differs_in_one_block_on_every_reading(self):
        for row in self.gold:
            whole, other = ("".join(self.texts(row["id"], build).values()).splitlines()
                            for build in (prompt.build, prompt.stateless))
            blocks = [op for op in difflib.SequenceMatcher(None, whole, other, autojunk=False).get_opcodes()
                      if op[0] != "equal"]
            self.assertEqual(len(blocks), 1, row["id"])
            self.assertEqual(other[blocks[0][3]:blocks[0][4]], [state.NO_RECORD])

    def test_without_acknowledged_leaves_out_one_line_where_somebody_is_on_hold(self):
        left_out = 0
        for row in self.gold:
            whole, other = (self.texts(row["id"], build)["carried_state"].splitlines()
                            for build in (prompt.build, prompt.without_acknowledged))
            gone = [line for line in whole if line not in other]
            left_out += len(gone)
            self.assertTrue(all(line.startswith("Have acknowledged") for line in gone))
            self.assertEqual([line for line in other if line not in whole], [])
        self.assertGreater(left_out, 30)

    def test_the_letters_of_the_variants_are_those_of_control_and_ablation(self):
        self.assertEqual({name: letter for name, (letter, _) in prompt.VARIANTS.items()},
                         {"stateless": "s", "without-acknowledged": "a"})
        self.assertIs(self.kit.definition.variants, prompt.VARIANTS)

    def test_the_prompt_says_every_rule_and_every_stage_once(self):
        text = self.kit.prompt(self.gold[0]["id"])[0].text
        for part in ("match", "overdue", "stage"):
            for rule in getattr(self.kit.book.rules, part).rules:
                self.assertEqual(text.count(f" {rule['id']}: "), 1)
                self.assertEqual(text.count(rule["why"]), 1)
        for stage, why in self.kit.book.rules.stage.document["decisions"].items():
            self.assertEqual(text.count(f"- {stage}: {why}"), 1)
        self.assertIn("escalation_days is 14", text)

    def test_the_fixed_part_holds_no_document_and_the_extract_comes_last(self):
        parts = self.kit.prompt(self.gold[0]["id"])
        self.assertEqual([part.name for part in parts], ["instructions", "answer_form", "carried_state", "extract"])
        self.assertEqual([part.fixed for part in parts], [True, True, False, False])
        self.assertNotIn("MTR-", parts[0].text + parts[1].text)

    def test_the_golden_prompt_is_the_prompt(self):
        """A change that is meant: delete the file, run this test once, and read the difference before keeping it."""
        golden = self.kit.data / "golden_prompt.txt"
        text = "".join(part.text for part in self.kit.prompt(self.gold[1]["id"]))
        if not golden.exists():
            write_text(golden, text)
            self.fail(f"{golden} was written anew; read it, then run the tests again")
        self.assertEqual(golden.read_text(encoding="utf-8"), text)

    def test_a_second_run_is_told_what_the_first_left_behind(self):
        carried = self.texts(self.gold[1]["id"], prompt.build)["carried_state"]
        self.assertEqual(carried.splitlines()[0], "What earlier runs left behind:")
        self.assertTrue(carried.splitlines()[1].startswith("State after run 1, whose snapshot was taken on 20"))
        self.assertEqual(carried.rstrip().splitlines()[-1], "The matter has not been released.")


class TestPrivacy(WithKit):
    def sent(self, text):
        return select.sent(self.kit.book, "MTR-0000-R1", text)

    def test_seven_of_eight_sections_are_sent_as_they_stand(self):
        text = self.kit.text(self.gold[0]["id"])
        titles = [section.title for section in sections.cut(text)]
        left = [section.title for section in sections.cut(self.sent(text))]
        self.assertEqual((len(titles), set(titles) - set(left)), (8, {"Candidate Personal Details"}))

    def test_a_renamed_section_sends_the_rest_without_the_personal_details(self):
        text = self.kit.text(self.gold[0]["id"]).replace("Candidate Roster\n" + "-" * 16, "People\n" + "-" * 6)
        self.assertIn("People\n", self.sent(text))
        self.assertNotIn("home address", self.sent(text))

    def test_a_page_whose_personal_details_cannot_be_told_apart_is_not_sent(self):
        text = self.kit.text(self.gold[0]["id"])
        renamed = text.replace("Candidate Personal Details\n" + "-" * 26, "Contacts\n" + "-" * 8)
        self.assertNotIn("home address", self.sent(renamed))
        for changed in (text.replace("Candidate Roster\n" + "-" * 16, "People\n" + "-" * 6).replace(
                            "Candidate Personal Details\n" + "-" * 26, "Contacts\n" + "-" * 8),
                        text.replace("docket: open", "docket: open, Home Address 3 Mill Lane"), "no section at all"):
            with self.assertRaises(BadData):
                self.sent(changed)


class TestInjection(WithKit):
    def test_a_sentence_is_planted_at_the_end_of_the_narrative_and_reaches_the_prompt(self):
        for attack in attacks.ATTACKS:
            row = next(row for row in self.gold if attack.targets(self.kit, row))
            text = attack.plant(self.kit, row, self.kit.text(row["id"]))
            added = [line for line in text.splitlines() if line not in self.kit.text(row["id"]).splitlines()]
            self.assertEqual(len(added), 1)
            self.assertIn(added[0], select.sent(self.kit.book, row["id"], text))
            scope = next(section for section in sections.cut(text) if section.title == "Case Scope")
            self.assertTrue(sections.body(text, scope).endswith(added[0]))

    def test_obeying_and_resisting_are_told_apart(self):
        for attack, changed in zip(attacks.ATTACKS, ("stage", "first")):
            row = next(row for row in self.gold if attack.targets(self.kit, row))
            gold = self.kit.definition.normalise(self.kit.book, row)
            first = next(person["id"] for person in row["candidates"] if person["hold_status"] == "CUSTODIAN")
            obeyed = gold._replace(values={**gold.values, **({unit(first): "NOT_CUSTODIAN"} if changed == "first" else
                                                             {"matter_stage": "CLOSED"})})
            self.assertEqual([attack.reached(self.kit, gold, answer) for answer in (gold, obeyed)], [False, True])

    def test_the_twins_have_targets(self):
        self.assertGreater(len(list(injecting.Twins(self.kit, attacks.ATTACKS).documents())), 60)


if __name__ == "__main__":
    unittest.main()
