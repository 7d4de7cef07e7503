"""What public bug reports taught about everything around the call: family F of the shared list, case by case.

The list stands beside the repository (../shared/cases/wire.jsonl). Each of its cases is asked of the part it concerns,
here or in the test that WATCHED names; a case that is in neither is a failure. Where this project decides otherwise on
purpose, DECIDED_HERE says what and why.
"""
import ast
import importlib
import itertools
import json
import os
import subprocess
import sys
import time
import unittest
import unittest.mock
from decimal import Decimal
from pathlib import Path

from evals import check_labels
from evals.shared import paid, progress, record
from evals.shared.provider import LocalProvider
from evals.shared.test_paid import RUN, by_page
from evals.shared.test_run import NAME, Checkout
from src.shared import cost, follow, tally, wording
from src.shared import kit as kits
from src.shared.adapters import faults
from src.shared.config import Secret, Settings
from src.shared.parts import Part

CASES = kits.ROOT.parent / "shared" / "cases" / "wire.jsonl"
PROVIDER = {"openai": "openai-compatible", "anthropic": "anthropic"}

# Cases that another test holds: its module and name.
WATCHED = {
    **dict.fromkeys(("F01", "F03", "F04", "F06", "F08", "F09"),
                    "test_cache.TestCache.test_what_a_killed_process_left_is_mended"),
    "F21": "test_paid.TestPaidRun.test_two_processes_do_not_write_one_run",
    "F23": "test_paid.TestPaidRun.test_a_full_disk_ends_the_run_and_loses_nothing",
    "F26": "test_run.TestFreeRuns.test_an_environment_without_utf8_changes_nothing",
    "F31": "test_paid.TestPaidRun.test_a_resumed_run_asks_only_what_is_missing",
    "F36": "test_paid.TestPaidRun.test_errors_do_not_count_as_done_and_the_run_says_how_to_go_on",
    "F46": "test_harness_cases.Harness.test_code_that_ships_asserts_nothing_that_O_would_take_out",
}
DECIDED_HERE = {
    "F11": "an id that stands twice is a problem of the labels: the gate names it, and the exit code is the gate's, 1",
    "F28": "no file is named after an id: documents are named by the form that kit.json gives, runs by their run id",
    "F29": "the gate reports a file whose name is not of the kit's form, so no id is spelt in two ways",
    "F38": "a run with a fault of the kit's own is no verdict (exit 3); the document stays in the denominator",
    "F43": "shares are printed in whole per cent, and the counts stand beside them",
}


def third_party():
    """The cases of the family as {id: case}; {} where the list is not at hand."""
    if not CASES.exists():
        return {}
    rows = map(json.loads, CASES.read_text(encoding="utf-8").splitlines())
    return {row["id"]: row for row in rows if row["family"] == "F"}


class Harness(unittest.TestCase):
    """A case F00 is asked by `ask_F00`, and with inputs of this project's own where the list may be missing."""

    @unittest.skipUnless(CASES.exists(), "../shared/cases/wire.jsonl is not at hand; the own copies run instead")
    def test_every_case_of_the_list_is_asked(self):
        self.assertLessEqual(set(DECIDED_HERE), set(third_party()))
        for name, case in third_party().items():
            with self.subTest(name, why=case["why"]):
                if name in WATCHED:
                    module, group, test = WATCHED[name].split(".")
                    self.assertTrue(hasattr(getattr(importlib.import_module(f"evals.shared.{module}"), group), test))
                else:
                    getattr(self, f"ask_{name}")(case["input"], case["right"])

    def test_own_copies(self):
        question = {"api": "openai", "base_url": "http://h/v1", "max_tokens": 9, "model": "m", "system": "S",
                    "user": "U"}
        for name, given, right in (
                ("F13", {"a": question, "b": question | {"system": "T"}}, {"equal": False}),
                ("F16", {"a": question, "b": question, "ignored": {"retries": 7}}, {"equal": True}),
                ("F18", {"a": question | {"system": "ab", "user": "c"}, "b": question | {"system": "a", "user": "bc"}},
                 {"equal": False}),
                ("F28", {"ids": ["a/b", "../x", "/etc/x", "A-1", "", ".hidden", "x\0y"]}, {}),
                ("F33", {"env": {"TZ": "Asia/Tokyo"}, "epoch": 0}, {"stamp": "1970-01-01T00:00:00Z"}),
                ("F43", {"counts": [[999, 1000], [1, 1000], [7, 7], [0, 7]]}, {}),
                ("F34", {}, {}), ("F38", {}, {}),
                ("F44", {"orders": [[0, 1, 2], [2, 0, 1]], "values": [1e15, 0.1, -1e15]}, {}),
                ("F48", {"row": {"id": "x", "text": "half \ud83d", "error": "\udcff"}}, {})):
            with self.subTest(name):
                self.assertTrue(hasattr(self, f"ask_{name}"), name)
                getattr(self, f"ask_{name}")(given, right)

    def ask_F13(self, given, right):
        keys = [self.key(each) for each in (given["a"], given["b"], *given.get("also", ()))]
        self.assertEqual(keys[0] == keys[1], right["equal"])
        self.assertEqual(len(set(keys)), right.get("all_distinct", len(set(keys))))
        if "ignored" in given:
            other = self.key(given["a"], api_key=Secret("sk-other"), retries=7, total_seconds=9.0, eval_workers=3)
            self.assertEqual(keys[0], other)

    ask_F14 = ask_F16 = ask_F18 = ask_F13

    def key(self, question, **more):
        """What a cached reply is found by: the hash of the prompt and that of everything else that is sent."""
        settings = Settings(provider=PROVIDER[question["api"]], base_url=Secret(question["base_url"]),
                            model=question["model"], stream=question.get("stream", True),
                            temperature=question.get("temperature"), **{"api_key": Secret("sk-1234"), **more})
        parts = [Part("", "system", question["system"], True), Part("", "user", question["user"])]
        asking = paid.Asking(kits.load(NAME), settings, None, question["max_tokens"])
        return paid.prompt_hash(parts), asking.question

    def ask_F28(self, given, right):
        kit = kits.load(NAME)
        corpus = (kit.data / "corpus").resolve()
        for document in given["ids"]:
            if kits.is_file_name(document):
                self.assertEqual(Path(f"{kit._corpus}{document}.txt").resolve().parent, corpus, document)

    def ask_F19(self, given, right):
        line = lambda outcome: {"completion": {"error": outcome and {"outcome": outcome}}}
        settled = [paid._is_settled(line(outcome)) for outcome in
                   (None, follow.TRUNCATED, follow.NO_OUTPUT, follow.FAILED, follow.REFUSED, None, None)]
        self.assertEqual(settled, right["cacheable"])

    def ask_F29(self, given, right):
        kit = kits.load(NAME, Checkout(self).kit[0])
        (kit.data / "corpus" / given["on_disk"]).write_text("page", encoding="utf-8")
        told = "\n".join(map(str, check_labels.gate(kit).problems))
        self.assertIn(given["on_disk"], told)

    def ask_F33(self, given, right):
        self.addCleanup(time.tzset)
        with unittest.mock.patch.dict(os.environ, given["env"]):
            time.tzset()
            form = "%Y-%m-%dT%H:%M:%SZ"
            self.assertEqual(time.strftime(form, time.gmtime(given["epoch"])), right["stamp"])
            before = time.strftime(form, time.gmtime())
            self.assertIn(progress.now(), (before, time.strftime(form, time.gmtime())))

    def ask_F41(self, given, right):
        hits = [{"precision": [len({*row["gold"]} & {*row["predicted"]}), len(row["predicted"])],
                 "recall": [len({*row["gold"]} & {*row["predicted"]}), len(row["gold"])]} for row in given["rows"]]
        for measure, rates in ((name, right[name]) for name in ("precision", "recall")):
            pooled = tally.Tally(())
            for number, (each, rate) in enumerate(zip(hits, rates)):
                alone = tally.Tally(())
                for counted in (alone, pooled):
                    counted.add({"id": str(number), "cluster": None, "outcome": follow.ANSWERED, "cells": {"raw": {}},
                                 "marks": {"raw": {measure: each[measure]}}})
                found = alone.rate("raw", measure)
                self.assertEqual(found and f"{found['num']}/{found['den']}", rate)
            found = pooled.rate("raw", measure)
            self.assertEqual(f"{found['num']}/{found['den']}", right["pooled"][measure])

    def ask_F43(self, given, right):
        for hits, of in given["counts"]:
            said = wording.percent(hits / of)
            self.assertEqual((said == "100 %", said == "0 %"), (hits == of, hits == 0), said)

    def ask_F44(self, given, right):
        totals = []
        for order in given["orders"]:
            total = cost.Sum()
            for place in order:
                total.add({"usd": Decimal(str(given["values"][place])), "reported": None})
            totals.append(total.total()["usd"])
        self.assertEqual(len(set(totals)), 1)
        if "mean" in right:
            self.assertEqual(totals[0] / len(given["values"]), Decimal(str(right["mean"])))

    def ask_F48(self, given, right):
        text = record.line(given["row"])
        self.assertEqual(json.loads(text.encode("utf-8")), given["row"])
        message = faults.Failure(faults.SERVER_ERROR, "x", given["row"]["text"]).message(lambda text: text)
        message.encode("utf-8")

    def run_model(self, copy, provider, *words):
        """(finished run, its record) of a model run in a copy of this checkout."""
        done = copy.here(NAME, "--arm", "model", "--run-id", RUN, "--yes", *words, **provider.environment())
        path = copy.kit[1] / f"eval-{RUN}.json"
        return done, json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def ask_F11(self, given, right):
        copy = Checkout(self)
        gold = copy.kit[0] / "gold.jsonl"
        first, second, *rest = gold.read_text(encoding="utf-8").splitlines()
        document = json.loads(first)["id"]
        second = json.dumps({**json.loads(second), "id": document})
        gold.write_text("\n".join([first, second, *rest]) + "\n", encoding="utf-8")
        with LocalProvider(lambda body: "{}") as provider:
            done, _ = self.run_model(copy, provider)
        self.assertEqual((done.returncode, provider.calls), (1, right["calls_made"]))
        self.assertRegex(done.stderr, rf"gold\.jsonl.*{document}")

    def ask_F24(self, given, right):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([sys.executable, "-m", "evals.run", NAME, "--dry-run"], cwd=kits.ROOT, stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("No space left", done.stderr)
        copy = Checkout(self)
        path = copy.root / "eval-x.json"
        path.write_text("old", encoding="utf-8")
        with self.assertRaises(OSError), record.Writer(path) as out:
            out.add({"id": "x"})
            raise OSError("No space left on device")
        self.assertEqual([file.name for file in copy.root.glob("*eval-x*")], ["eval-x.json"])
        self.assertEqual(path.read_text(encoding="utf-8"), "old")

    def ask_F34(self, given, right):
        copy = Checkout(self)
        kit = kits.load(NAME, copy.kit[0])
        answer, pauses = by_page(kit), itertools.cycle((0.06, 0.04, 0.02))
        with LocalProvider(lambda body: (time.sleep(next(pauses)), answer(body))[1]) as provider:
            _, found = self.run_model(copy, provider, "--workers", "3")
        self.assertEqual([entry["id"] for entry in found["documents"]], list(kit.documents()))
        headline = found["metrics"][0]["raw"]
        self.assertEqual(headline["num"], headline["den"], "a reply went to another document")

    def ask_F38(self, given, right):
        copy = Checkout(self)
        kit = kits.load(NAME, copy.kit[0])
        broken = list(kit.documents())[2]
        module = importlib.import_module(f"src.{NAME}.kit")

        def recheck(book, document, answer):
            if document == broken and answer.document is None:
                raise TypeError("a fault of the kit")
            return kit.definition.recheck(book, document, answer)

        with LocalProvider(by_page(kit)) as provider, \
                unittest.mock.patch.object(module, "KIT", module.KIT._replace(recheck=recheck)):
            done, found = self.run_model(copy, provider)
        outcomes = found["totals"]["outcomes"]
        self.assertEqual(done.returncode, 3)
        self.assertEqual((outcomes[follow.HARNESS], outcomes[follow.ANSWERED], outcomes[follow.FAILED]),
                         (1, len(found["documents"]) - 1, 0))
        entry = found["documents"][2]
        self.assertIn("Traceback", entry["why"])
        self.assertIn("TypeError: a fault of the kit", entry["why"])

    ask_F49 = ask_F38

    def ask_F39(self, given, right):
        copy = Checkout(self)
        kit = kits.load(NAME, copy.kit[0])
        cut = [kit.prompt(document)[-1].text for document in list(kit.documents())[:2]]
        with LocalProvider(by_page(kit)) as provider:
            is_cut = lambda body: any(page in body["messages"][-1]["content"] for page in cut)
            provider.finish = lambda body: "length" if is_cut(body) else "stop"
            _, found = self.run_model(copy, provider)
        outcomes, headline = found["totals"]["outcomes"], found["metrics"][0]["raw"]
        self.assertEqual((outcomes[follow.TRUNCATED], outcomes[follow.ANSWERED]), (2, headline["den"] - 2))
        self.assertEqual(headline["num"], headline["den"] - 2)
        self.assertEqual({each["outcome"] for each in found["failures"]}, {follow.TRUNCATED})
        self.assertEqual(sum(each["documents"] for each in found["failures"]), 2)

    def test_code_that_ships_asserts_nothing_that_O_would_take_out(self):
        found = [path for top in ("src", "evals", "tools") for path in (kits.ROOT / top).rglob("*.py")
                 if not path.name.startswith("test_") and path.name != "contract.py"]
        self.assertTrue(found)
        texts = {path: path.read_text(encoding="utf-8") for path in found}
        for path in (path for path in found if "assert" in texts[path]):
            for node in ast.walk(ast.parse(texts[path])):
                self.assertNotIsInstance(node, ast.Assert, f"{path}: {getattr(node, 'lineno', '')}")


if __name__ == "__main__":
    unittest.main()
