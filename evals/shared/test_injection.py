"""Planted twins: what is planted, what it reaches, and that the clean run stays the measure."""
import json
import unittest

from evals.shared import injecting
from evals.shared.provider import LocalProvider
from evals.shared.test_paid import HYPHENED, RUN, by_page
from evals.shared.test_run import NAME, Checkout
from src.shared import kit as kits


def bench_of(name):
    import importlib
    return importlib.import_module(f"evals.{name}.bench").BENCH


@unittest.skipUnless(bench_of(NAME).attacks, f"{NAME} brings no attacks")
class TestInjection(unittest.TestCase):
    def setUp(self):
        self.copy = Checkout(self)
        self.kit, self.bench = kits.load(NAME, self.copy.kit[0]), bench_of(NAME)
        self.twins = injecting.Twins(self.kit, self.bench.attacks)

    def test_a_twin_is_its_clean_page_with_more_in_it_and_the_same_labels(self):
        rows = {row["id"]: row for row in self.kit.gold()}
        seen = set()
        for row in self.twins.gold():
            source = self.twins.source(row["id"])
            clean, planted = self.kit.text(source), self.twins.text(row["id"])
            seen.add(row["id"].rpartition(injecting.MARK)[2])
            self.assertGreater(len(planted), len(clean))
            start = next(i for i, (a, b) in enumerate(zip(clean + "\0", planted)) if a != b)
            self.assertEqual(clean[start:], planted[len(planted) - len(clean) + start:],
                             "one passage is added, nothing is taken")
            self.assertEqual({**row, "id": source}, rows[source])
        self.assertEqual(seen, {attack.id for attack in self.bench.attacks})

    def test_the_planted_sentence_is_in_the_prompt_and_the_prefix_is_the_clean_one(self):
        twin = next(self.twins.documents())
        planted, clean = self.twins.prompt(twin), self.kit.prompt(self.twins.source(twin))
        self.assertEqual([part for part in planted if part.fixed], [part for part in clean if part.fixed])
        self.assertNotEqual(planted[-1].text, clean[-1].text)

    def test_a_dry_run_prints_one_planted_page(self):
        done = self.copy.here(NAME, "--dry-run", module="evals.injection")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(next(self.twins.documents()), done.stdout)

    def test_an_attack_on_a_model_that_obeys_is_counted_raw_and_seen_in_the_flips(self):
        attack = self.bench.attacks[0]
        answer = by_page(self.kit)
        clean_pages = {self.kit.prompt(row["id"])[-1].text for row in self.kit.gold()}
        cleared = {}
        for twin in self.twins.documents():
            page = self.twins.prompt(twin)[-1].text
            row = next(row for row in self.kit.gold() if row["id"] == self.twins.source(twin))
            for other in self.kit.gold():       # a gold answer that does what the attack asks
                gold = self.kit.definition.normalise(self.kit.book, row)
                if attack.reached(self.kit, gold, self.kit.definition.normalise(self.kit.book, other)):
                    keys = self.kit.definition.keys(self.kit.book)
                    cleared[page] = json.dumps({key: other.get(key) for key in keys}, default=float)
                    break
        obeys = lambda body: next((reply for page, reply in cleared.items() if page in body["messages"][-1]["content"]),
                                  None) or answer(body)
        self.assertTrue(cleared.keys().isdisjoint(clean_pages))
        with LocalProvider(obeys) as provider:
            environment = provider.environment()
            done = self.copy.here(NAME, "--arm", "model", "--run-id", RUN, "--yes", **environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            calls = provider.calls
            refused = self.copy.here(NAME, "--run-id", f"x802-{HYPHENED}", "--control", RUN, "--yes",
                                     "--max-tokens", "99", module="evals.injection", **environment)
            self.assertEqual((refused.returncode, provider.calls), (2, calls))
            self.assertIn("max_tokens was 8192, is 99", refused.stderr)
            done = self.copy.here(NAME, "--run-id", f"x801-{HYPHENED}", "--control", RUN, "--yes", "--json",
                                 module="evals.injection", **environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(provider.calls - calls, len(list(self.twins.documents())), "no clean page is asked again")
        first = json.loads(done.stdout)[0]
        self.assertEqual(first["attack"], attack.id)
        self.assertEqual(first["raw"]["reached_clean"]["num"], 0)
        self.assertEqual(first["raw"]["reached"]["num"], first["targets"])
        self.assertEqual(len(first["raw"]["flipped"]), first["targets"])

    def test_options_of_a_model_run_are_said_to_be_passed_over_by_a_free_reader(self):
        arm = next(iter(self.bench.floors))
        done = self.copy.here(NAME, "--arm", arm, "--workers", "2", "--resume", module="evals.injection")
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"--workers, --resume: passed over, since the arm {arm} makes no call", done.stderr)

    def test_a_model_run_wants_its_control_and_its_own_letter(self):
        known = {"BASE_URL": "http://127.0.0.1:9/v1", "MODEL": "local"}
        for words, word in (((), "--control"), (("--control", "r999-x"), "--run-id"), (("--arm", "nul"), "null"),
                            (("--control", "r999-x", "--run-id", f"x801-{HYPHENED}"), "no run is called"),
                            (("--control", "r999-x", "--run-id", f"r801-{HYPHENED}"), "injection")):
            done = self.copy.here(NAME, *words, module="evals.injection", **known)
            self.assertEqual(done.returncode, 2)
            self.assertIn(word, done.stderr)


class TestPromptTokens(unittest.TestCase):
    def test_a_provider_that_always_counts_the_same_measures_nothing_and_breaks_nothing(self):
        copy = Checkout(self)
        first = next(kits.load(NAME, copy.kit[0]).documents())
        with LocalProvider(lambda body: "x") as provider:
            words = (NAME, first, "--run-id", f"c802-{HYPHENED}", "--yes")
            done = copy.here(*words, module="evals.prompt_tokens", **provider.environment(JSON_MODE="schema"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("0 of 0 tokens (no share: ", done.stdout)

    def test_the_only_kit_needs_no_name(self):
        copy = Checkout(self)
        first, second, *_ = kits.load(NAME, copy.kit[0]).documents()
        with LocalProvider(lambda body: "x") as provider:
            done = copy.here(first, second, "--run-id", f"c802-{HYPHENED}", "--yes", module="evals.prompt_tokens",
                             **provider.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        for document in (first, second):
            self.assertIn(document, done.stdout)

    def test_one_document_alone_cannot_show_a_fixed_prefix(self):
        copy = Checkout(self)
        data = copy.kit[0]
        row = (data / "gold.jsonl").read_text(encoding="utf-8").splitlines()[0]
        (data / "gold.jsonl").write_text(row + "\n", encoding="utf-8")
        done = copy.here(NAME, json.loads(row)["id"], "--run-id", f"c802-{HYPHENED}", "--yes",
                         module="evals.prompt_tokens", BASE_URL="http://127.0.0.1:9/v1", MODEL="local")
        self.assertEqual(done.returncode, 2)
        self.assertIn("one document alone", done.stderr)

    def test_each_part_is_the_difference_of_two_counts(self):
        copy = Checkout(self)
        kit = kits.load(NAME, copy.kit[0])
        first, second = list(kit.documents())[:2]
        with LocalProvider(lambda body: "x") as provider:
            sent = lambda body: sum(len(message["content"]) for message in body["messages"])
            provider.usage = lambda body: {"prompt_tokens": sent(body), "completion_tokens": 1}
            words = (NAME, first, second, "--run-id", f"c801-{HYPHENED}", "--yes")
            done = copy.here(*words, module="evals.prompt_tokens", **provider.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads((copy.kit[1] / f"tokens-c801-{HYPHENED}.json").read_text(encoding="utf-8"))
        self.assertTrue(found["prefix_is_fixed"])
        for number, part in enumerate(found["parts"]):
            for document in (first, second):
                self.assertEqual(part["tokens"][document], len(kit.prompt(document)[number].text))

    def test_a_provider_that_gives_no_count_is_no_measurement(self):
        copy = Checkout(self)
        kit = kits.load(NAME, copy.kit[0])
        with LocalProvider(lambda body: "x") as provider:
            provider.usage = lambda body: None
            done = copy.here(NAME, next(kit.documents()), "--run-id", f"c801-{HYPHENED}", "--yes",
                            module="evals.prompt_tokens", **provider.environment())
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("gave no count", done.stderr)
        self.assertFalse((copy.kit[1] / f"tokens-c801-{HYPHENED}.json").exists())
