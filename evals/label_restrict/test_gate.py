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
from evals.shared import labels, ledger, page, planting
from src.shared import kit as kits
from src.shared.files import to_json

KIT = kits.load(gate.NAME)
HOME = KIT.data
SHARED_CASES = kits.ROOT.parent / "shared" / "cases" / "boundary.jsonl"
MUTANTS = 240
EVERY = 4       # faults are planted in a folder of every fourth document, judged as the whole one is in less time
SMALL = None    # that folder, made before the first test


def setUpModule():
    global SMALL
    place = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(place.cleanup)
    SMALL = Path(place.name)
    for file in gate.FILES:
        shutil.copy(HOME / file, SMALL)
    (SMALL / "corpus").mkdir()
    gold = [row for row in KIT.gold()][::EVERY]
    kept = {row["id"]: row["case"] for row in gold}
    for document in kept:
        shutil.copy(HOME / "corpus" / f"{document}.txt", SMALL / "corpus")
    for file in ("facts.jsonl", "gold.jsonl"):
        rows = [line for line in (HOME / file).read_text("utf-8").splitlines() if json.loads(line)["id"] in kept]
        (SMALL / file).write_text("\n".join(rows) + "\n", "utf-8")
    counts = Counter(kept.values())
    cases = [{**case, "count": counts[case["case"]]} for case in read(HOME, "cases.json") if case["case"] in counts]
    write(SMALL, "cases.json", cases)
    families = Counter()
    for case in cases:
        families[case["family"]] += case["count"]
    about = read(HOME, "kit.json")
    floors = {family: families[family] for family in about["hard_family_floors"]}
    write(SMALL, "kit.json", {**about, "size": len(gold), "hard_family_floors": floors,
                              "planned": Counter(row["verdict"] for row in gold)})
    nulls = Counter(field for row in gold for field, value in row.items() if value is None)
    write(SMALL, "stats.json", {"documents": len(gold), "cases": counts, "nulls": nulls,
                                "needs_hold": sum(row["needs_hold"] for row in gold),
                                **{part: Counter(row[part] for row in gold) for part in gate.ANSWER}})


def read(folder, file):
    return json.loads((folder / file).read_text("utf-8"))


def write(folder, file, value):
    (folder / file).write_text(json.dumps(value, ensure_ascii=False), "utf-8")


class Copy(unittest.TestCase):
    """Tests on a copy of the small folder, or where each check has to decide a row of the whole one."""

    def setUp(self, whole=False):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.data = Path(place.name) / "data"
        shutil.copytree(HOME if whole else SMALL, self.data)
        self.documents = sorted(path.stem for path in (self.data / "corpus").iterdir())

    def problems(self, prompts=None):
        return [str(problem) for problem in gate.check(self.data, prompts).problems]

    def read(self, file):
        return read(self.data, file)

    def write(self, file, value):
        write(self.data, file, value)

    def change_rules(self, change):
        """checks.json with `change(its JSON value)` made to it."""
        checks = read(SMALL, "checks.json")
        change(checks)
        self.write("checks.json", checks)

    def rewrite(self, file, old, new, count=1):
        text = (self.data / file).read_text("utf-8")
        self.assertIn(old, text)
        (self.data / file).write_text(text.replace(old, new, count), "utf-8")


class TestCommittedKey(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report = check_labels.gate(KIT)

    def test_every_label_follows_from_both_renderings(self):
        self.assertEqual([str(problem) for problem in self.report.problems], [])
        self.assertEqual(self.report.counts[gate.FOLLOWS], self.report.counts["documents"])
        self.assertGreater(self.report.counts["documents"], 0)

    def test_the_withheld_section_is_in_every_prompt_without_the_guard_and_in_none_with_it(self):
        self.assertEqual(self.report.counts[labels.WITH_GUARD], 0)
        self.assertEqual(self.report.counts[labels.WITHOUT_GUARD], self.report.counts["documents"])
        self.assertIn("all labels follow; the withheld section is in 0 of", self.report.says)

    def test_every_value_of_every_page_was_found(self):
        fields = [field for field in read(HOME, "fields.json")["fields"] if "line" in field]
        self.assertEqual(self.report.counts["values found on their lines"],
                         len(fields) * self.report.counts["documents"])


class TestIndependence(Copy):
    def test_the_gate_imports_nothing_from_src(self):
        for node in ast.walk(ast.parse(Path(gate.__file__).read_text("utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) else \
                [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                self.assertIn(name, {"collections", "decimal", "pathlib", "evals.shared", "evals.shared.page",
                                     "evals.shared.strict"})

    def test_an_engine_with_an_off_by_one_writes_a_key_that_the_gate_refuses(self):
        # What every reader of one definition would do wrong alike: the rule and the key changed together.
        checks = (HOME / "checks.json").read_text("utf-8")
        for old, new in {"<=": "<", "<": "<=", ">=": ">", ">": ">="}.items():
            if f'"test": "{old}"' not in checks:
                continue
            with self.subTest(old), tempfile.TemporaryDirectory() as place:
                data = Path(place) / "data"
                shutil.copytree(HOME, data)
                (data / "checks.json").write_text(checks.replace(f'"test": "{old}"', f'"test": "{new}"'), "utf-8")
                report = labels.Report(data, ())
                table, words = gate.read_checks(report)
                fields, rows = page.read_fields(report, words), []
                for row in KIT.gold():
                    values = page.read_page(report, f"corpus/{row['id']}.txt", fields).values
                    row["verdict"], row["deciding_restriction"] = gate.walk(table, values)
                    rows.append(to_json(row))
                (data / "gold.jsonl").write_text("\n".join(rows), "utf-8")
                said = "\n".join(map(str, gate.check(data).problems))
                self.assertIn("gold.jsonl: ", said)
                self.assertIn("policy.md as it stands gives", said)
                self.assertNotIn("checks.json as it stands gives", said)


class TestWalk(Copy):
    def tables(self):
        report = labels.Report(HOME, gate.FILES)
        checks, words = gate.read_checks(report)
        return page.read_fields(report, words), {"checks.json": checks,
                                                 "policy.md": ledger.tables(report, "policy.md", gate.HEADS)}

    def test_the_engine_gives_every_worked_example_as_the_gate_does(self):
        worked = read(HOME, "examples.json")
        self.assertGreater(len(worked["examples"]), 10)
        for example in worked["examples"]:
            found = KIT.definition.decide(KIT.book, {**worked["row"], **example["change"]})
            self.assertEqual({part: found[part] for part in gate.ANSWER}, example["expect"], example["sentence"])

    def test_a_worked_example_that_no_longer_holds_is_named_with_both_answers(self):
        worked = self.read("examples.json")
        first = worked["examples"][0]
        first["expect"] = {**first["expect"], "deciding_restriction": "nothing"}
        self.write("examples.json", worked)
        said = self.problems()
        self.assertEqual(len(said), 2)
        for file, line in zip(("policy.md", "checks.json"), said):
            self.assertIn(f"examples.json: {first['sentence']}: expects {first['expect']['verdict']} by nothing; "
                          f"{file} gives", line)

    def test_a_worked_example_that_cannot_be_read_is_named(self):
        for change, said in (({"no_such_field": "1"}, 'unknown key "no_such_field"'),
                             ({"crop_proposed": 1}, "a text or null")):
            worked = read(SMALL, "examples.json")
            worked["examples"][0]["change"] = change
            self.write("examples.json", worked)
            self.assertIn(said, "\n".join(self.problems()))

    def test_both_renderings_agree_with_the_shared_boundary_cases(self):
        if KIT.alone or not SHARED_CASES.exists():
            self.skipTest(f"{SHARED_CASES.name} is not beside this checkout; data/examples.json carries its essence")
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
        """Turn the table round: where two checks stop a plan, the other one is named first."""
        fields, tables = self.tables()
        for file, table in tables.items():
            turned = {**table, "checks": table["checks"][::-1]}
            passed = tuple(table["endings"][0][1:])
            named = [(gate.walk(table, values), gate.walk(turned, values)) for values in self.pages(fields)]
            self.assertTrue(any(one != other for one, other in named), file)
            self.assertTrue(all((one == passed) == (other == passed) for one, other in named), file)

    def pages(self, fields):
        report = labels.Report(SMALL, ())
        return [page.read_page(report, f"corpus/{path.name}", fields).values for path in (SMALL / "corpus").iterdir()]


class TestChangedRules(Copy):
    """Whatever is done to a rule, the gate names the rows that no longer follow."""

    def setUp(self):
        super().setUp(whole=True)
        self.ids = [rule["id"] for rule in read(HOME, "checks.json")["rules"]]

    def test_two_checks_swapped_name_the_rows_that_no_longer_follow(self):
        answers = set()
        for place in range(1, len(self.ids)):
            def swap(checks):
                one, other = checks["rules"][place - 1:place + 1]
                one["order"], other["order"] = place + 1, place
            self.change_rules(swap)
            one, other = self.ids[place - 1:place + 1]
            said = self.problems()
            self.assertIn(f"checks.json: checks row {place}: check is {other} here and {one} in row {place} of "
                          f"policy.md; make the two agree", said)
            answers.update(line for line in said if line.startswith("gold.jsonl: ")
                           and f"by {one}; checks.json as it stands gives" in line and f"by {other}; derive" in line)
        self.assertTrue(answers)

    def test_checks_that_only_change_places_are_told_to_go_by_their_order(self):
        self.change_rules(lambda checks: checks["rules"].reverse())
        last = len(self.ids)
        self.assertEqual(self.problems(), [
            f"checks.json: {name}: order {order} stands in place {last + 1 - order}; number checks as they stand"
            for order, name in reversed(list(enumerate(self.ids, 1)))])

    def test_a_rule_changed_in_both_renderings_no_longer_gives_the_key(self):
        policy, checks = (HOME / "policy.md").read_text("utf-8"), read(HOME, "checks.json")
        (self.data / "examples.json").unlink()
        for rule in checks["rules"]:
            for test in {"in": ["not in"], "not in": ["in"]}.get(rule["test"], {"<", "<=", ">", ">="} - {rule["test"]}):
                with self.subTest(rule=rule["id"], test=test):
                    changed = copy.deepcopy(checks)
                    changed["rules"][rule["order"] - 1]["test"] = test
                    self.write("checks.json", changed)
                    limit = str(rule["value"]).removeprefix("$")
                    old, new = (f"{rule['field']} {word} {limit}" for word in (rule["test"], test))
                    (self.data / "policy.md").write_text(policy.replace(f"`{old}`", f"`{new}`"), "utf-8")
                    problems = gate.check(self.data).problems
                    self.assertEqual({problem.file for problem in problems} - {"cases.json"}, {"gold.jsonl"})


class TestFaults(Copy):
    """Every malformed piece answers with its file, its row and what would be right, and all of them at once."""

    def said(self, *parts):
        """Some problem says all the parts."""
        said = self.problems()
        self.assertTrue(any(all(part in line for part in parts) for line in said), f"{parts}\n" + "\n".join(said[:20]))
        return said

    def test_each_malformed_check_is_named_with_its_remedy(self):
        rules = read(SMALL, "checks.json")["rules"]
        numbers = [place for place, rule in enumerate(rules) if rule.get("unit") and str(rule["value"]).startswith("$")]
        number = numbers[0]
        other = next(place for place in numbers if rules[place]["unit"] != rules[number]["unit"])
        name, kind, decision = (rules[number][key] for key in ("id", "class", "decision"))
        units = rules[number]["unit"], rules[other]["unit"]
        another = next(rule for rule in rules if rule["class"] != kind)

        def changed(**changes):
            return lambda checks: checks["rules"][number].update(changes)
        faults = [
            (changed(field=rules[number]["field"][:-1] + "x"), (name, f"did you mean {rules[number]['field']}?")),
            (changed(value=rules[other]["value"]), (name, *(f"in {unit}" for unit in units), "one unit with itself")),
            (changed(unit=units[1]), (name, f"the rule in {units[1]}")),
            (changed(test="=<"), (name, "no condition", "<=")),
            (changed(id=rules[number - 1]["id"]), (rules[number - 1]["id"], "stands 2 times")),
            (changed(order=99), (name, "order 99 stands in place")),
            (lambda checks: checks["rules"].pop(0), ("order 2 stands in place 1",)),
            (lambda checks: checks["rules"][number].pop("decision"), (name, "decision missing; write it")),
            (changed(**{"class": another["class"]}), (f"decides {another['decision']}", "change the class")),
            (changed(**{"class": kind[:-1] + "x" + kind[-1]}), (f"did you mean {kind}?",)),
            (changed(decision=decision[:-1]), (f"did you mean {decision}?",)),
            (changed(tset="<"), ('unknown key "tset"', "did you mean test?")),
            (changed(value=[1]), ("value [1]",)),
            (changed(value="$agronomist_note"), ("agronomist_note reaches no rule",)),
            (changed(not_applicable={"any": []}), ("at least one clause",)),
            (changed(field="verdict"), ('field "verdict" is not known here',)),
            (lambda checks: checks.pop("passed"), ("passed missing; write it",)),
            (lambda checks: checks.update(stops_at="match"), ('"match"', '"breach"')),
            (lambda checks: checks["hold"]["when"]["all"][1].update(value="aplied"),
             ("needs_hold", "did you mean applied?")),
        ]
        for change, parts in faults:
            with self.subTest(parts):
                self.change_rules(change)
                self.said("checks.json: ", *parts)

    def test_a_file_that_gives_nothing_is_named_and_no_row_is_held_against_it(self):
        for files in (["checks.json"], ["fields.json"], ["fields.json", "checks.json"]):
            for file in files:
                (self.data / file).write_text("{", "utf-8")
            said = self.said(f"gold.jsonl: its {len(self.documents)} rows and their documents cannot be judged until "
                             f"{' and '.join(files)} {'is' if len(files) == 1 else 'are'} mended")
            self.assertEqual(len(said), len(files) + 1, said)
            for file in files:
                shutil.copy(SMALL / file, self.data)

    def test_a_field_that_the_rows_lack_is_named_and_nothing_is_counted_over_them(self):
        fields = self.read("fields.json")
        fields["fields"].insert(1, {**fields["fields"][1], "name": "another", "line": "another:"})
        self.write("fields.json", fields)
        number = len(self.documents)
        said = self.said(f"gold.jsonl: {number} of {number} rows have not the keys of fields.json")
        self.assertEqual([line for line in said if "count" in line and "cases.json" in line], [])

    def test_planned_answers_that_are_not_there_are_named(self):
        about = self.read("kit.json")
        verdict, number = next(iter(about["planned"].items()))
        about["planned"][verdict] += 1
        self.write("kit.json", about)
        self.assertEqual(self.problems(), [f"kit.json: planned: {verdict} {number + 1}: gold.jsonl holds {number}; "
                                           f"make them agree"])

    def test_a_row_without_document_and_a_document_without_row_are_both_named(self):
        gone = self.documents[1]
        new = gone[:-3] + "9" + gone[-2:]
        (self.data / "corpus" / f"{gone}.txt").rename(self.data / "corpus" / f"{new}.txt")
        self.said(f"gold.jsonl: {gone}: no corpus/{gone}.txt; add the document or delete the row")
        self.said(f"facts.jsonl: {gone}: no corpus/{gone}.txt")
        self.said(f"corpus/{new}.txt: {new}: no row in gold.jsonl; add the row or take the document out")

    def test_bytes_that_no_editor_should_write_are_named_with_their_line(self):
        path = self.data / "corpus" / f"{self.documents[1]}.txt"
        good = path.read_bytes()
        for bad, part in ((b"\xef\xbb\xbf" + good, "byte order mark"), (good.replace(b" ", b"\xa0", 1), "is not UTF-8"),
                          (good.replace(b"\n", b"\r\n"), "line 1: ends in a carriage return")):
            path.write_bytes(bad)
            self.said(f"corpus/{path.name}: ", part)

    def test_each_missing_file_is_named_and_the_others_are_still_judged(self):
        for file in gate.FILES:
            with self.subTest(file):
                (self.data / file).unlink()
                if file in gate.OPTIONAL:
                    self.assertEqual(self.problems(), [])
                else:
                    self.said(f"{file}: cannot be read")
                shutil.copy(SMALL / file, self.data)
        shutil.rmtree(self.data / "corpus")
        self.said("corpus: cannot be read")

    def test_a_copied_value_is_held_against_the_page_in_facts_and_gold(self):
        for file in ("facts.jsonl", "gold.jsonl"):
            self.rewrite(file, '"application_status": "planned"', '"application_status": "applied"')
            self.said(f"{file}: LBL-", 'application_status is "applied", the page says "planned"; copy the page')

    def test_a_contradiction_of_count_and_days_is_named(self):
        text = next(path for path in (self.data / "corpus").iterdir()
                    if "already made this season: 0\n" in path.read_text("utf-8"))
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
        first = f"corpus/{self.documents[0]}.txt"
        self.rewrite(first, "planned re-entry:", "planned entry:")
        files = [problem.file for problem in gate.check(self.data).problems]
        self.assertEqual([file for file, _ in itertools.groupby(files)],
                         ["kit.json", "fields.json", "checks.json", "policy.md", "stats.json", "gold.jsonl", first])

    def test_a_prompt_that_leaks_is_named(self):
        said = self.problems(lambda name, guarded: (self.data / "corpus" / f"{name}.txt").read_text("utf-8"))
        self.assertEqual(len(said), len(list((self.data / "corpus").iterdir())))
        self.assertTrue(all("the prompt carries" in line and "repair the guard" in line for line in said))

    def test_no_shape_of_json_stops_the_gate(self):
        chance = random.Random(20260822)
        for file in (file for file in gate.FILES if ".json" in file):
            whole = parsed(file)
            for path in chance.sample(nodes(whole), 10):
                data = copy.deepcopy(whole)
                put(data, path, chance.choice([None, True, 0, "x", [], {}, [1], {"a": 1}]))
                with self.subTest(file=file, path=path):
                    (self.data / file).write_text(written(file, data), "utf-8")
                    self.assertIsInstance(self.problems(), list)
            shutil.copy(SMALL / file, self.data)

    def test_memory_does_not_grow_with_the_documents(self):
        def peak():
            tracemalloc.start()
            gate.check(self.data)
            found = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return found

        few, size, stem = peak(), len(self.documents), self.read("kit.json")["id"].rstrip("0")
        for file in ("facts.jsonl", "gold.jsonl"):
            rows = (self.data / file).read_text("utf-8")
            more = "".join(rows.replace(f'"id": "{stem}0', f'"id": "{stem}{copies}') for copies in range(1, 7))
            (self.data / file).write_text(rows + more, "utf-8")
        for path in list((self.data / "corpus").iterdir()):
            for copies in range(1, 7):
                shutil.copy(path, path.with_name(path.name.replace(f"{stem}0", f"{stem}{copies}")))
        self.assertLess((peak() - few) / (6 * size), 2_000, "bytes for one more document")


class TestFields(Copy):
    def test_no_field_is_read_otherwise_without_the_gate(self):
        policy = ledger.tables(labels.Report(SMALL, gate.FILES), "policy.md", gate.HEADS | gate.FIELD_HEADS)

        def told(changed):
            self.write("fields.json", changed)
            report = labels.Report(self.data, gate.FILES)
            gate.compare_fields(report, policy)
            return report.problems
        self.assertEqual(told(self.read("fields.json")), [])
        planting.every_change_is_told(self, self.read("fields.json"), told)


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
            shutil.copy(SMALL / mutant.file, self.data / mutant.file)
            reason = "caught" if caught else harmless(mutant)
            outcomes[mutant.file.split("/")[0], mutant.kind, reason] += 1
            if reason is None:
                survivors.append(f"{mutant.file}: {mutant.kind} at {mutant.where}: {mutant.before} → {mutant.after}")
        self.assertEqual(survivors, [], f"changes that nobody sees, of\n{summary(outcomes)}")
        self.assertGreater(sum(n for (*_, reason), n in outcomes.items() if reason == "caught"), 0.7 * MUTANTS)


def parsed(file):
    """A committed JSON file, a JSON-lines one as the list of its rows."""
    text = (SMALL / file).read_text("utf-8")
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
        path = SMALL / folder_or_file
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
        return Mutant(path.relative_to(SMALL).as_posix(), kind, place, "\n".join(lines), before, lines[place])
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
    if mutant.file == "checks.json" and mutant.kind == "swapped" and path == ["rules"]:
        return "rules in any place, as each says its order"
    return harmless_case(mutant, path) if mutant.file == "cases.json" else None


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
        self.assertIn(f"{self.data / 'gold.jsonl'}: ", out)

    def test_a_folder_that_does_not_open_is_judged_all_the_same(self):
        self.change_rules(lambda checks: checks["rules"][0].update(test="=<"))
        code, out, err = self.run_command(gate.NAME, "--data", str(self.data))
        self.assertEqual((code, err), (1, ""))
        self.assertIn(f"checks.json: {self.read('checks.json')['rules'][0]['id']}: ", out)

    def test_rows_with_one_problem_share_a_line_that_names_them_all(self):
        fields = self.read("fields.json")
        fields["fields"].insert(1, {**fields["fields"][1], "name": "another", "line": "another:"})
        self.write("fields.json", fields)
        _, out, _ = self.run_command(gate.NAME, "--data", str(self.data))
        first, *others = self.documents
        self.assertIn(f"{self.data / 'facts.jsonl'}: {first}: another missing; write it\n  … and the same of "
                      f"{len(others)} more: {' '.join(others)}\n", out)
        self.assertIn(f"corpus/{first}.txt: ", out)
        self.assertNotIn(f"corpus/{others[0]}.txt: ", out)

    def test_what_only_the_kit_objects_to_is_reported_too(self):
        with mock.patch.object(check_labels.kits, "load", side_effect=check_labels.BadData("prompt.md: no such part")):
            code, out, _ = self.run_command(gate.NAME, "--data", str(self.data))
        self.assertEqual(code, 1)
        self.assertIn("prompt.md: no such part", out)

    def test_faults_of_labels_data_files_and_board_are_told_in_one_answer(self):
        for file in ("prompt.md", "board.json"):
            shutil.copy(KIT.data / file, self.data)
        self.rewrite("gold.jsonl", '"wait_required"', '"within_label"')
        self.rewrite("prompt.md", "{{keys}}", "{{kyes}}")
        self.rewrite("board.json", '"watched"', '"wacthed"')
        code, out, err = self.run_command(gate.NAME, "--data", str(self.data))
        self.assertEqual((code, err), (1, ""))
        for file, words in (("gold.jsonl", ""), ("prompt.md", "{{kyes}} is no place"), ("board.json", "/wacthed")):
            self.assertIn(f"{self.data / file}: {words}", out)

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
