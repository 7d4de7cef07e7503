"""The label gate of label_restrict: the key follows, every planted fault is named, and no single change goes unseen.

The mutation test changes one value at a time and prints how many of each kind were caught or are proven harmless.
"""
import ast
import contextlib
import copy
import io
import itertools
import json
import random
import re
import shutil
import tempfile
import tracemalloc
import unittest
from collections import Counter, namedtuple
from pathlib import Path
from unittest import mock

from evals import check_labels
from evals.label_restrict import gate
from evals.shared import labels, ledger, page
from src.shared import kit as kits

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "data" / gate.NAME if (ROOT / "data" / gate.NAME).is_dir() else ROOT / "data"
SHARED_CASES = ROOT.parent / "shared" / "cases" / "boundary.jsonl"
MUTANTS = 240

INSIDE = {"permitted_crops": "winter wheat, spring wheat, field lettuce", "max_rate_l_per_ha": "2.5 L/ha",
          "max_applications_per_season": "2", "min_retreatment_interval_days": "14 days",
          "pre_harvest_interval_days": "35 days", "re_entry_interval_hours": "48 hours", "buffer_to_water_m": "5 m",
          "tank_mix_prohibited_with": "Hollowmere 450 SC, Belquoran 120 WG", "crop_proposed": "winter wheat",
          "rate_proposed_l_per_ha": "1.0 L/ha", "applications_made_this_season": "1",
          "days_since_last_application": "20", "days_to_harvest": "60", "planned_re_entry_hours": "72 hours",
          "distance_to_water_m": "10 m", "tank_mix_partner": "none", "previous_season_applications": "9",
          "application_status": "planned", "agronomist_note": "Not happy.", "field_id": "F-1"}
# claim, what differs from INSIDE (None: not stated), the answer
BOUNDARY = [
    ("everything inside", {}, "within_label", "none"),
    ("a crop that ends a listed name is another crop", {"crop_proposed": "wheat"}, "outside_label", "permitted_crops"),
    ("case and blanks make no other crop", {"crop_proposed": " Winter  WHEAT"}, "within_label", "none"),
    ("a qualifier makes another crop", {"crop_proposed": "protected lettuce"}, "outside_label", "permitted_crops"),
    ("no list of crops, no answer", {"permitted_crops": None}, "insufficient_information", "permitted_crops"),
    ("a listed partner", {"tank_mix_partner": "belquoran 120 WG"}, "outside_label", "tank_mix_prohibited"),
    ("a partner one digit off a listed one", {"tank_mix_partner": "Hollowmere 45 SC"}, "within_label", "none"),
    ("no partner, prohibition unstated", {"tank_mix_prohibited_with": None}, "within_label", "none"),
    ("a partner, prohibition unstated", {"tank_mix_partner": "Hollowmere 45 SC", "tank_mix_prohibited_with": None},
     "insufficient_information", "tank_mix_prohibited"),
    ("partner unstated, nothing prohibited", {"tank_mix_partner": None, "tank_mix_prohibited_with": "none"},
     "within_label", "none"),
    ("the rate at its maximum", {"rate_proposed_l_per_ha": "2.50 L/ha"}, "within_label", "none"),
    ("the rate a hundredth over", {"rate_proposed_l_per_ha": "2.51 L/ha"}, "outside_label",
     "max_rate_per_application"),
    ("a decimal comma", {"rate_proposed_l_per_ha": "2,4 L/ha"}, "within_label", "none"),
    ("the season's maximum reached", {"applications_made_this_season": "2"}, "outside_label",
     "max_applications_per_season"),
    ("the season's count unstated is not zero", {"applications_made_this_season": None},
     "insufficient_information", "max_applications_per_season"),
    ("the buffer to the metre", {"distance_to_water_m": "5 m"}, "within_label", "none"),
    ("the buffer short by a tenth", {"distance_to_water_m": "4.9 m"}, "outside_label", "buffer_to_water"),
    ("the interval reached today", {"days_since_last_application": "14"}, "within_label", "none"),
    ("the interval a day short", {"days_since_last_application": "13"}, "wait_required", "min_retreatment_interval"),
    ("no application, interval unstated", {"applications_made_this_season": "0", "days_since_last_application": None,
                                           "min_retreatment_interval_days": None}, "within_label", "none"),
    ("harvest at the interval", {"days_to_harvest": "35"}, "within_label", "none"),
    ("harvest a day short", {"days_to_harvest": "34"}, "wait_required", "pre_harvest_interval"),
    ("harvest past", {"days_to_harvest": "-2", "pre_harvest_interval_days": "0 days"}, "wait_required",
     "pre_harvest_interval"),
    ("harvest today, no days wanted", {"days_to_harvest": "0", "pre_harvest_interval_days": "0 days"},
     "within_label", "none"),
    ("thirty hours are not forty-eight", {"planned_re_entry_hours": "30 hours"}, "wait_required", "re_entry_interval"),
    ("hard before timing", {"rate_proposed_l_per_ha": "3 L/ha", "days_to_harvest": "1"}, "outside_label",
     "max_rate_per_application"),
    ("unreadable before breached", {"buffer_to_water_m": None, "days_to_harvest": "1"}, "insufficient_information",
     "buffer_to_water"),
]


class Copy(unittest.TestCase):
    """Tests on a copy of the committed data."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.data = Path(place.name)
        copy_data(self.data)

    def problems(self, prompts=None):
        return [str(problem) for problem in gate.check(self.data, prompts).problems]

    def read(self, file):
        return json.loads((self.data / file).read_text("utf-8"))

    def write(self, file, value):
        (self.data / file).write_text(json.dumps(value, ensure_ascii=False), "utf-8")

    def rewrite(self, file, old, new, count=1):
        text = (self.data / file).read_text("utf-8")
        self.assertIn(old, text)
        (self.data / file).write_text(text.replace(old, new, count), "utf-8")


def copy_data(folder):
    for file in gate.FILES:
        shutil.copy(HOME / file, folder / file)
    shutil.copytree(HOME / "corpus", folder / "corpus")


class TestCommittedKey(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report = check_labels.gate(kits.load(gate.NAME))

    def test_every_label_follows_from_both_renderings(self):
        self.assertEqual([str(problem) for problem in self.report.problems], [])
        self.assertEqual(self.report.counts[gate.FOLLOWS], self.report.counts["documents"])
        self.assertGreater(self.report.counts["documents"], 0)

    def test_the_withheld_section_is_in_every_prompt_without_the_guard_and_in_none_with_it(self):
        self.assertEqual(self.report.counts[labels.WITH_GUARD], 0)
        self.assertEqual(self.report.counts[labels.WITHOUT_GUARD], self.report.counts["documents"])
        self.assertIn("all labels follow; the withheld section is in 0 of", self.report.says)

    def test_every_value_of_every_page_was_found(self):
        fields = [field for field in json.loads((HOME / "fields.json").read_text("utf-8"))["fields"] if "line" in field]
        self.assertEqual(self.report.counts["values found on their lines"],
                         len(fields) * self.report.counts["documents"])


class TestIndependence(unittest.TestCase):
    def test_the_gate_imports_nothing_from_src(self):
        for node in ast.walk(ast.parse(Path(gate.__file__).read_text("utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) else \
                [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                self.assertIn(name, {"collections", "pathlib", "evals.shared", "evals.shared.page",
                                     "evals.shared.strict"})

    def test_an_engine_with_an_off_by_one_writes_a_key_that_the_gate_refuses(self):
        # What every reader of one definition would do wrong alike: the rule and the key changed together.
        for old, new in (("<=", "<"), ("<", "<="), (">=", ">")):
            with self.subTest(old), tempfile.TemporaryDirectory() as place:
                data = Path(place)
                copy_data(data)
                broken = re.sub(rf'"test": "{re.escape(old)}"', f'"test": "{new}"', (data / "checks.json").read_text())
                (data / "checks.json").write_text(broken)
                fields = page.read_fields(report := labels.Report(data, ()), gate.read_checks(report)[1])
                table, rows = gate.read_checks(report)[0], []
                for line in (data / "gold.jsonl").read_text("utf-8").splitlines():
                    row = json.loads(line)
                    values = page.read_page(report, f"corpus/{row['id']}.txt", fields).values
                    row["verdict"], row["deciding_restriction"] = gate.walk(table, values)
                    rows.append(json.dumps(row))
                (data / "gold.jsonl").write_text("\n".join(rows))
                said = "\n".join(map(str, gate.check(data).problems))
                self.assertIn("gold.jsonl: LBL-", said)
                self.assertIn("policy.md as it stands gives", said)
                self.assertNotIn("checks.json as it stands gives", said)


class TestWalk(Copy):
    def tables(self):
        report = labels.Report(self.data, gate.FILES)
        checks, words = gate.read_checks(report)
        return page.read_fields(report, words), {"checks.json": checks,
                                                 "policy.md": ledger.tables(report, "policy.md", gate.HEADS)}

    def test_both_renderings_give_the_right_answer_at_every_boundary(self):
        fields, tables = self.tables()
        for claim, changes, verdict, rule in BOUNDARY:
            values = {name: None if raw is None else page.value_of(raw, fields.all[name], fields.units)
                      for name, raw in {**INSIDE, **changes}.items()}
            for file, table in tables.items():
                self.assertEqual(gate.walk(table, values), (verdict, rule), f"{claim} ({file})")

    def test_both_renderings_agree_with_the_shared_boundary_cases(self):
        if not SHARED_CASES.exists():
            self.skipTest(f"{SHARED_CASES.name} is not beside this checkout; BOUNDARY above carries its essence")
        fields, tables = self.tables()
        rows = [json.loads(line) for line in SHARED_CASES.read_text("utf-8").splitlines()]
        rows = [row for row in rows if row["kit"].replace("-", "_") == gate.NAME]
        self.assertGreater(len(rows), 20)
        for row in rows:
            values = {name: self.typed(row["inputs"].get(name), field, fields) for name, field in fields.copied.items()}
            for file, table in tables.items():
                right = row["right"]["verdict"], row["right"]["deciding_restriction"]
                self.assertEqual(gate.walk(table, values), right, f"{row['case']} ({file})")

    @staticmethod
    def typed(raw, field, fields):
        if raw is None or type(raw) is not str or field["type"] != "number":
            return raw
        return page.value_of(f"{raw} {next(iter(fields.units[field['unit']]))}" if raw[-1:].isdigit() else raw, field,
                             fields.units)

    def test_order_decides(self):
        fields, tables = self.tables()
        values = {name: page.value_of(raw, fields.all[name], fields.units) for name, raw in
                  {**INSIDE, "days_since_last_application": "1", "days_to_harvest": "1"}.items()}
        table = copy.deepcopy(tables["policy.md"])
        self.assertEqual(gate.walk(table, values)[1], "min_retreatment_interval")
        table["checks"][5], table["checks"][6] = table["checks"][6], table["checks"][5]
        self.assertEqual(gate.walk(table, values)[1], "pre_harvest_interval")


class TestFaults(Copy):
    """Every malformed piece answers with its file, its row and what would be right, and all of them at once."""

    def said(self, *parts):
        """Some problem says all the parts."""
        said = self.problems()
        self.assertTrue(any(all(part in line for part in parts) for line in said), f"{parts}\n" + "\n".join(said[:20]))
        return said

    def test_two_checks_swapped_name_the_rows_that_no_longer_follow(self):
        checks = self.read("checks.json")
        rules = checks["rules"]
        rules[5:7] = [{**rules[6], "order": 6}, {**rules[5], "order": 7}]
        self.write("checks.json", checks)
        self.said("checks.json: checks row 6: check is pre_harvest_interval here and min_retreatment_interval in row 6 "
                  "of policy.md; make the two agree")
        self.said("gold.jsonl: LBL-", "gold says wait_required by min_retreatment_interval; checks.json as it stands "
                  "gives wait_required by pre_harvest_interval")

    def test_each_malformed_check_is_named_with_its_remedy(self):
        faults = [
            (lambda c: c["rules"][0].update(field="crop_propsed"), ("permitted_crops", "did you mean crop_proposed?")),
            (lambda c: c["rules"][7].update(value="$pre_harvest_interval_days"),
             ("re_entry_interval", "in hours", "in days", "compare one unit with itself")),
            (lambda c: c["rules"][7].update(unit="days"), ("re_entry_interval", "the rule in days")),
            (lambda c: c["rules"][2].update(test="=<"), ("max_rate_per_application", "no condition", "<=")),
            (lambda c: c["rules"][1].update(id="permitted_crops"), ("permitted_crops", "stands 2 times")),
            (lambda c: c["rules"][4].update(order=6), ("buffer_to_water", "order 6 stands in place 5")),
            (lambda c: c["rules"].pop(3), ("order 5 stands in place 4",)),
            (lambda c: c["rules"][3].pop("decision"), ("max_applications_per_season", "decision missing; write it")),
            (lambda c: c["rules"][3].update({"class": "timing"}), ("decides wait_required", "change the class")),
            (lambda c: c["rules"][3].update({"class": "hrad"}), ("did you mean hard?",)),
            (lambda c: c["rules"][3].update(decision="outside"), ("did you mean outside_label?",)),
            (lambda c: c["rules"][3].update(tset="<"), ('unknown key "tset"', "did you mean test?")),
            (lambda c: c["rules"][3].update(value=[1]), ("value [1]",)),
            (lambda c: c["rules"][3].update(value="$agronomist_note"), ("agronomist_note reaches no rule",)),
            (lambda c: c["rules"][5].update(not_applicable={"any": []}), ("at least one clause",)),
            (lambda c: c["rules"][3].update(field="verdict"), ('field "verdict" is not known here',)),
            (lambda c: c.pop("passed"), ("passed missing; write it",)),
            (lambda c: c.update(stops_at="match"), ('"match"', '"breach"')),
            (lambda c: c["hold"]["when"]["all"][1].update(value="aplied"), ("needs_hold", "did you mean applied?")),
        ]
        for change, parts in faults:
            with self.subTest(parts):
                shutil.copy(HOME / "checks.json", self.data)
                checks = self.read("checks.json")
                change(checks)
                self.write("checks.json", checks)
                self.said("checks.json: ", *parts)

    def test_a_row_without_document_and_a_document_without_row_are_both_named(self):
        (self.data / "corpus" / "LBL-0003.txt").rename(self.data / "corpus" / "LBL-0903.txt")
        self.said("gold.jsonl: LBL-0003: no corpus/LBL-0003.txt; add the document or delete the row")
        self.said("facts.jsonl: LBL-0003: no corpus/LBL-0003.txt")
        self.said("corpus/LBL-0903.txt: LBL-0903: no row in gold.jsonl; add the row or take the document out")

    def test_bytes_that_no_editor_should_write_are_named_with_their_line(self):
        path = self.data / "corpus" / "LBL-0003.txt"
        good = path.read_bytes()
        for bad, part in ((b"\xef\xbb\xbf" + good, "byte order mark"), (good.replace(b" ", b"\xa0", 1), "is not UTF-8"),
                          (good.replace(b"\n", b"\r\n"), "line 1: ends in a carriage return")):
            path.write_bytes(bad)
            self.said("corpus/LBL-0003.txt: ", part)

    def test_each_missing_file_is_named_and_the_others_are_still_judged(self):
        for file in gate.FILES[:-3] + gate.FILES[-2:]:
            with self.subTest(file):
                (self.data / file).unlink()
                said = self.said(f"{file}: cannot be read")
                self.assertEqual([line for line in said if "Traceback" in line], [])
                shutil.copy(HOME / file, self.data)
        shutil.rmtree(self.data / "corpus")
        self.said("corpus: cannot be read")

    def test_a_copied_value_is_held_against_the_page_in_facts_and_gold(self):
        for file in ("facts.jsonl", "gold.jsonl"):
            self.rewrite(file, '"application_status": "planned"', '"application_status": "applied"')
            self.said(f"{file}: LBL-", 'application_status is "applied", the page says "planned"; copy the page')

    def test_a_contradiction_of_count_and_days_is_named(self):
        text = next(path for path in sorted((self.data / "corpus").iterdir())
                    if "season: 0\n" in path.read_text("utf-8").split("Season History")[0])
        self.rewrite(f"corpus/{text.name}", "already made this season: 0", "already made this season: 1")
        self.said(f"corpus/{text.name}: ", "days are stated exactly where the season has an application")

    def test_a_family_under_its_floor_and_a_case_off_its_count_are_named(self):
        kit = self.read("kit.json")
        family, floor = next(iter(kit["hard_family_floors"].items()))
        kit["hard_family_floors"][family] = floor + 1
        self.write("kit.json", kit)
        cases = self.read("cases.json")
        cases[0]["count"] += 1
        self.write("cases.json", cases)
        self.said(f"cases.json: {family}: {floor} documents of this hard family, {floor + 1} are wanted at least")
        self.said(f"cases.json: {cases[0]['case']}: count {cases[0]['count']}: gold.jsonl holds ")

    def test_a_field_that_never_varies_is_named(self):
        for path in (self.data / "corpus").iterdir():
            path.write_text(re.sub(r"(?<=Field\n-----\n).*", "F-1", path.read_text("utf-8")), "utf-8")
        for file in ("facts.jsonl", "gold.jsonl"):
            text = (self.data / file).read_text("utf-8")
            (self.data / file).write_text(re.sub(r'"field_id": "[^"]*"', '"field_id": "F-1"', text), "utf-8")
        self.assertEqual(self.problems(),
                         ['gold.jsonl: field_id: "F-1" in every row: its reading is never tested; vary it'])

    def test_all_faults_are_reported_at_once_in_file_order(self):
        self.rewrite("fields.json", '"unit": "hours"', '"unit": "horus"')
        self.rewrite("checks.json", '"test": "<="', '"test": "<"')
        self.rewrite("gold.jsonl", '"wait_required"', '"within_label"')
        self.rewrite("corpus/LBL-0001.txt", "planned re-entry:", "planned entry:")
        files = [problem.file for problem in gate.check(self.data).problems]
        self.assertEqual([file for file, _ in itertools.groupby(files)],
                         ["fields.json", "checks.json", "policy.md", "stats.json", "gold.jsonl", "corpus/LBL-0001.txt"])

    def test_a_prompt_that_leaks_is_named(self):
        said = self.problems(lambda name, guarded: (self.data / "corpus" / f"{name}.txt").read_text("utf-8"))
        self.assertEqual(len(said), len(list((self.data / "corpus").iterdir())))
        self.assertTrue(all("the prompt carries" in line and "repair the guard" in line for line in said))

    def test_no_shape_of_json_stops_the_gate(self):
        chance = random.Random(20260822)
        for file in ("kit.json", "fields.json", "checks.json", "cases.json", "facts.jsonl", "gold.jsonl", "stats.json"):
            for _ in range(16):
                data = parsed(file)
                path = chance.choice(nodes(data))
                put(data, path, chance.choice([None, True, 0, "x", [], {}, [1], {"a": 1}]))
                with self.subTest(file=file, path=path):
                    (self.data / file).write_text(written(file, data), "utf-8")
                    gate.check(self.data)
            shutil.copy(HOME / file, self.data)

    def test_memory_does_not_grow_with_the_documents(self):
        def peak():
            tracemalloc.start()
            gate.check(self.data)
            found = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return found

        few, size = peak(), len(list((self.data / "corpus").iterdir()))
        for file in ("facts.jsonl", "gold.jsonl"):
            rows = (self.data / file).read_text("utf-8")
            more = "".join(rows.replace('"id": "LBL-0', f'"id": "LBL-{copies}') for copies in range(1, 7))
            (self.data / file).write_text(rows + more, "utf-8")
        for path in list((self.data / "corpus").iterdir()):
            for copies in range(1, 7):
                shutil.copy(path, path.with_name(path.name.replace("LBL-0", f"LBL-{copies}")))
        self.assertLess((peak() - few) / (6 * size), 2_000, "bytes for one more document")


Mutant = namedtuple("Mutant", "file kind where text before after")  # text: the whole changed file
PROSE = {"why", "description", "title", "authority", "sentence"}


class TestMutation(Copy):
    """Change one value anywhere, and the gate objects, or the change is proven to mean nothing."""

    def test_every_single_change_is_caught_or_proven_harmless(self):
        chance, outcomes, survivors = random.Random(20260822), Counter(), []
        for turn in range(MUTANTS):
            mutant = MAKERS[turn % len(MAKERS)](chance)
            (self.data / mutant.file).write_text(mutant.text, "utf-8")
            caught = bool(gate.check(self.data).problems)
            shutil.copy(HOME / mutant.file, self.data / mutant.file)
            reason = "caught" if caught else harmless(mutant)
            outcomes[mutant.file.split("/")[0], mutant.kind, reason] += 1
            if reason is None:
                survivors.append(f"{mutant.file}: {mutant.kind} at {mutant.where}: {mutant.before} → {mutant.after}")
        self.assertEqual(survivors, [], f"changes that nobody sees, of\n{summary(outcomes)}")
        self.assertGreater(sum(n for (*_, reason), n in outcomes.items() if reason == "caught"), 0.7 * MUTANTS)

    def test_a_rule_changed_in_both_renderings_no_longer_gives_the_key(self):
        policy, checks = (HOME / "policy.md").read_text("utf-8"), json.loads((HOME / "checks.json").read_text("utf-8"))
        for rule in checks["rules"]:
            for test in {"in": ["not in"], "not in": ["in"]}.get(rule["test"], {"<", "<=", ">", ">="} - {rule["test"]}):
                with self.subTest(rule=rule["id"], test=test):
                    changed = copy.deepcopy(checks)
                    changed["rules"][rule["order"] - 1]["test"] = test
                    self.write("checks.json", changed)
                    old, new = (f"{rule['field']} {word} {rule['value'][1:]}" for word in (rule["test"], test))
                    (self.data / "policy.md").write_text(policy.replace(f"`{old}`", f"`{new}`"), "utf-8")
                    problems = gate.check(self.data).problems
                    self.assertEqual({problem.file for problem in problems} - {"cases.json"}, {"gold.jsonl"})


def parsed(file):
    """A committed JSON file, a JSON-lines one as the list of its rows."""
    text = (HOME / file).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()] if file.endswith("l") else json.loads(text)


def written(file, data):
    if file.endswith("l") and type(data) is list:
        return "\n".join(json.dumps(row, ensure_ascii=False) for row in data)
    return json.dumps(data, ensure_ascii=False)


def nodes(value, path=()):
    """The path of every value in a JSON value, the whole first."""
    children = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    return [path] + [deeper for key, child in children for deeper in nodes(child, (*path, key))]


def at(value, path):
    for key in path:
        value = value[key]
    return value


def put(data, path, value):
    if path:
        at(data, path[:-1])[path[-1]] = value


def change_value(file):
    """A maker of mutants that change one leaf of a JSON file."""
    def make(chance):
        data = parsed(file)
        leaves = [path for path in nodes(data) if type(at(data, path)) not in (dict, list)]
        path = chance.choice(leaves)
        before = at(data, path)
        strings = sorted({at(data, leaf) for leaf in leaves if leaf[-1] == path[-1] and type(at(data, leaf)) is str})
        after = changed(before, strings, chance)
        put(data, path, after)
        return Mutant(file, "value", path, written(file, data), before, after)
    return make


def change_shape(file):
    """A maker of mutants that drop a key, or drop, double or swap the members of a list."""
    def make(chance):
        data = parsed(file)
        path = chance.choice([path for path in nodes(data) if path])
        parent, key = at(data, path[:-1]), path[-1]
        before, kind = parent[key], "dropped"
        if type(parent) is dict:
            del parent[key]
        else:
            kind = chance.choice(["dropped", "doubled", "swapped"])
            other = (key + 1) % len(parent)
            kind = "doubled" if kind == "swapped" and parent[other] == parent[key] else kind
            if kind == "swapped":
                parent[key], parent[other] = parent[other], parent[key]
            else:
                parent[key:key + 1] = [] if kind == "dropped" else [before, copy.deepcopy(before)]
        return Mutant(file, kind, path, written(file, data), before, kind)
    return make


def changed(value, others, chance):
    """Another value of the same sort: a digit, a letter, a word of the same place, or nothing at all."""
    if type(value) is bool:
        return not value
    if value is None:
        return chance.choice([0, 7, "none"])
    if type(value) is not str:
        return chance.choice([value + 1, value - 1, value * 10, None] if value else [1, -1, None])
    others = [other for other in others if other != value]
    if others and chance.random() < 0.5:
        return chance.choice(others)
    return None if chance.random() < 0.15 else spoiled(value, chance) or "x"


def spoiled(text, chance):
    """The text with one digit, letter or sign changed."""
    spots = [place for place, sign in enumerate(text) if sign.isalnum() or sign in "<>="]
    if not spots:
        return ""
    place = chance.choice(spots)
    pool = "0123456789" if text[place].isdigit() else "abcdefghijklmnopqrstuvwxyz" if text[place].isalpha() else "<>="
    return text[:place] + chance.choice([sign for sign in pool if sign != text[place].lower()]) + text[place + 1:]


def change_line(folder_or_file):
    """A maker of mutants that spoil, drop, double or swap lines, or change a unit, in one text file."""
    def make(chance):
        path = HOME / folder_or_file
        path = chance.choice(sorted(path.iterdir())) if path.is_dir() else path
        lines = path.read_text("utf-8").split("\n")
        tables = [place for place, line in enumerate(lines) if line.startswith("|")]
        place = chance.choice([*range(len(lines) - 2), *tables * 4])
        before, kind = lines[place], chance.choice(["spoiled", "spoiled", "unit", "dropped", "doubled", "swapped"])
        if kind == "swapped" and before != lines[place + 1]:
            lines[place:place + 2] = [lines[place + 1], before]
            before += "\n" + lines[place]
        elif kind in ("dropped", "doubled"):
            lines[place:place + 1] = [before] * (2 if kind == "doubled" else 0)
        elif kind == "unit" and re.search(r"\b(days|hours|h|m|L/ha|count)\b(?!.*:)", before):
            lines[place] = re.sub(r"\b(days|hours|h|m|L/ha|count)\b(?!.*:)", lambda found: chance.choice(
                [unit for unit in ("days", "hours", "m", "L/ha") if unit[0] != found[0][0]]), before)
        else:
            kind, lines[place] = "spoiled", spoiled(before, chance) or "x"
        return Mutant(path.relative_to(HOME).as_posix(), kind, place, "\n".join(lines), before, lines[place])
    return make


OBJECTS = ("gold.jsonl", "facts.jsonl", "checks.json", "fields.json", "cases.json")
MAKERS = [change_line("corpus")] * 6 + [change_line("policy.md")] * 3 + [
    *map(change_value, OBJECTS), *map(change_value, OBJECTS), *map(change_shape, OBJECTS)]


def harmless(mutant):
    """Why a change that the gate did not see means nothing for a label; None where no rule proves it."""
    if mutant.file.endswith((".md", ".txt")):
        return harmless_line(mutant)
    path = [key for key in mutant.where if type(key) is str]
    if PROSE & set(path) or path[:1] == ["decisions"] and mutant.kind == "value":
        return "prose"
    if mutant.file.endswith("l") and mutant.kind == "swapped" and len(mutant.where) == 1:
        return "rows are joined by id, in any order"
    return {"fields.json": harmless_field, "cases.json": harmless_case}.get(mutant.file, lambda *_: None)(mutant, path)


def harmless_line(mutant):
    text = mutant.before.split("\n")
    if mutant.file == "policy.md":
        if mutant.kind == "swapped" and any(line and not set(line) - set("|-") for line in text):
            return "the dashes under a head, wherever they stand"
        return None if any(line.startswith("|") and set(line) - set("|- ") for line in text) else "prose"
    if not any(text) or mutant.kind != "spoiled" and "" in text:
        return "blank lines"
    same = mutant.kind == "swapped" and all(": " in line for line in text)
    return "lines of one section, in any order" if same else None


def harmless_field(mutant, path):
    """Spellings and phrases that stand on no page, orders that nothing reads, list or string where no check looks."""
    if path[0] == "units" or path[-1] == "not_stated":
        if mutant.kind in ("swapped", "doubled"):
            return "words of a list, in any order and number"
        pages = "\n".join(page.read_text("utf-8") for page in sorted((HOME / "corpus").iterdir())).lower()
        before = "[0-9]" if path[0] == "units" else parsed("fields.json")["fields"][mutant.where[1]]["line"]
        if type(mutant.before) is str and not re.search(rf"{before} ?{re.escape(mutant.before.lower())}$", pages, re.M):
            return "a spelling that no page uses"
    if mutant.kind == "swapped" and path in (["fields"], [], ["fields", "allowed"]):
        return "members in any order"
    if path[-1] == "type" and {mutant.before, mutant.after} == {"string", "list"}:
        name = parsed("fields.json")["fields"][mutant.where[1]]["name"]
        if not any(rule["value"] == f"${name}" for rule in parsed("checks.json")["rules"]):
            return "a list that no check looks into is copied as a string is"
    return None


def harmless_case(mutant, path):
    """A plan that claims less; the words by which the generator picks names; a choice that no page took."""
    if not path and mutant.kind == "swapped":
        return "members in any order"
    if path[:1] != ["plan"]:
        return None
    if len(path) > 1 and path[1] in ("crop", "partner", "listed", "note", "note_about"):
        return "words for the generator; the page is judged by itself"
    if mutant.kind == "dropped" and path[1:2] != ["unstated"]:
        return "a plan that claims less"
    if type(mutant.where[-1]) is int:
        return "one of several choices, and no page took it"
    return None


def summary(outcomes):
    """A table of what became of the mutants, one line a file and kind."""
    reasons = Counter()
    for (*_, reason), times in outcomes.items():
        reasons[reason or "SURVIVED"] += times
    files = sorted({(file, kind) for file, kind, _ in outcomes})
    lines = [f"  {file:<12} {kind:<9}" + ", ".join(f"{reason or 'SURVIVED'} {times}" for (one, two, reason), times
             in sorted(outcomes.items(), key=str) if (one, two) == (file, kind)) for file, kind in files]
    total = ", ".join(f"{reason} {times}" for reason, times in reasons.most_common())
    return "\n".join([f"\n{sum(outcomes.values())} mutants: {total}", *lines])


class TestCommand(Copy):
    def run_command(self, *words):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = check_labels.main([*words])
        return code, out.getvalue(), err.getvalue()

    def test_a_sound_kit_is_0_and_says_what_was_counted(self):
        code, out, err = self.run_command(gate.NAME.replace("_", "-"))
        self.assertEqual((code, err), (0, ""))
        self.assertIn(f"{gate.NAME}: all labels follow", out)

    def test_a_broken_folder_is_1_with_one_line_a_problem(self):
        self.rewrite("gold.jsonl", '"wait_required"', '"within_label"')
        code, out, _ = self.run_command(gate.NAME, "--data", str(self.data))
        self.assertEqual(code, 1)
        self.assertIn(f"{self.data / 'gold.jsonl'}: LBL-", out)

    def test_a_folder_that_does_not_open_is_judged_all_the_same(self):
        self.rewrite("checks.json", '"test": "<="', '"test": "=<"')
        code, out, err = self.run_command(gate.NAME, "--data", str(self.data))
        self.assertEqual((code, err), (1, ""))
        self.assertIn("checks.json: max_rate_per_application: ", out)

    def test_what_only_the_kit_objects_to_is_reported_too(self):
        with mock.patch.object(check_labels.kits, "load", side_effect=check_labels.BadData("prompt.md: no such part")):
            code, out, _ = self.run_command(gate.NAME, "--data", str(self.data))
        self.assertEqual(code, 1)
        self.assertIn("prompt.md: no such part", out)

    def test_usage_is_2_and_names_what_is_near(self):
        code, out, err = self.run_command("label_restrcit")
        self.assertEqual((code, out), (2, ""))
        self.assertIn(gate.NAME, err)
        self.assertEqual(self.run_command(gate.NAME, "--data", str(self.data / "nowhere"))[0], 2)

    def test_the_command_names_no_kit(self):
        source = Path(check_labels.__file__).read_text("utf-8")
        code = ast.unparse(ast.parse(source).body[1:])
        self.assertNotIn(gate.NAME, code)


if __name__ == "__main__":
    unittest.main()
