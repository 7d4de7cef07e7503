"""A raw reply becomes the one object it holds, or an error that says why not; nothing is guessed, nothing is slow."""
import doctest
import json
import random
import time
import unittest
from decimal import Decimal

from src.shared import files, mend, reply
from src.shared.reply import parse

ANSWER = {"verdict": "yes", "note": "the \"final\" {report}, done", "items": [1, {"deep": [True, None]}], "rate": 2}


def kind(text, required=("v",)):
    error = parse(text, required).error
    return error and error["kind"]


class TestFinding(unittest.TestCase):
    def check(self, text, value, notes=()):
        with self.subTest(text=text):
            got = parse(text, ["v"])
            self.assertEqual((got.value, got.notes), (value, sorted(notes)), got.error)

    def test_fences_and_prose_are_passed_over(self):
        for text in ('{"v":1}', 'Sure!\n```JSON {"v":1}```\nBye {ok}.', '````json\n{"v":1}\n````', 'so `the` {"v":1}',
                     '{curly braces} and {1, 2} and {}:\n{"v":1}', '<answer>{"v":1}</answer>', 'f({"v":1});',
                     '{{"v":1}}', '\ufeff\u200b {"v":1} \u200b', 'The sign "{" opens it: {"v":1}', '~~~\n{"v":1}'):
            self.check(text, {"v": 1})

    def test_the_last_of_several_objects_counts_and_says_so(self):
        self.check('{"v":1}\nHmm, no:\n{"v":2}', {"v": 2}, ["conflicting_objects"])
        self.check('{"v":1}, {"v":2},', {"v": 2}, ["conflicting_objects"])
        self.check('{"v":1}\n```json\n{ "v" : 1 }\n```', {"v": 1})
        self.check('{"v":1}\nMetadata: {"model":"m"}', {"v": 1})

    def test_true_and_one_are_two_answers(self):
        self.check('{"v":true}{"v":1}', {"v": 1}, ["conflicting_objects"])

    def test_a_broken_object_behind_the_answer_is_marked(self):
        self.check('{"v":1} and {"v":2', {"v": 1}, ["unread_object"])
        self.check('{"v":1} and {"v": yes|no}', {"v": 1}, ["unread_object"])

    def test_a_format_reminder_is_not_the_answer(self):
        words = {"v": ["yes", "no"]}
        self.assertEqual(parse('{"v":"No"} (as {"v":"yes|no"})', ["v"], words).value, {"v": "No"})
        self.assertEqual(parse('{"v":"yes|no"}: {"v":"no"}', ["v"], words).value, {"v": "no"})
        self.assertEqual(parse('{"v":"maybe"}', ["v"], words).value, {"v": "maybe"})
        self.assertEqual(parse('{"v":"yes"} better: {"v":null}', ["v"], words).value, {"v": None})

    def test_reasoning_is_no_answer(self):
        for text in ('<think>{"v":0}</think>{"v":1}', 'I take {"v":0}...\n</think>\n{"v":1}',
                     '[THINK]{"v":0}[/THINK]{"v":1}', '<THINK>x_{i, 2k}</THINK>{"v":1}',
                     '◁think▷{"v":0}◁/think▷{"v":1}', '<thinking>a</thinking> {"v":1}',
                     '<|channel|>analysis<|message|>{"v":0}<|end|><|start|>assistant<|channel|>final<|message|>{"v":1}',
                     'draft {"v": "no\n</think>{"v":1}', '<think>a<think>b</think>{"v":0}</think>{"v":1}'):
            self.check(text, {"v": 1})

    def test_a_reply_that_ends_in_reasoning_has_no_answer(self):
        for text in ('<think>maybe {"v":1} but', '{"v":1}\n<think>wait', '<|channel|>analysis<|message|>{"v":1}',
                     '<think>a</think><think>{"v":1}'):
            self.assertEqual(kind(text), "reasoning_unfinished", text)

    def test_tags_within_a_string_are_text(self):
        self.check('{"v":1,"n":"</think> and <think>"}', {"v": 1, "n": "</think> and <think>"})

    def test_one_wrapper_comes_off(self):
        self.check('{"data":{"v":1}}', {"v": 1}, ["unwrapped"])
        self.check('[{"v":1}]', {"v": 1}, ["unwrapped"])
        self.assertEqual(kind('{"a":{"b":{"v":1}}}'), "missing_keys")
        self.assertEqual(kind('{"a":{"v":1},"b":2}'), "missing_keys")

    def test_anything_but_one_object_is_refused(self):
        for text in ("null", "3.5", '"yes"', "[]", '[{"v":1},{"v":2}]', '[{"v":1},{"v":2},{"v":3}]', '[1, {"v":1}]',
                     '"{\\"v\\":1}"'):
            self.assertEqual(kind(text), "not_object", text)
        for text in ("", " \n", "I cannot say.", '"v":1}', "{v}", "{" * 50):
            self.assertEqual(kind(text), "no_object", text)
        self.assertEqual(kind("{}"), "missing_keys")


class TestMending(unittest.TestCase):
    def check(self, text, value, *repairs):
        with self.subTest(text=text):
            got = parse(text, ["v"])
            self.assertEqual((got.value, got.repairs), (value, [f"repaired: {r}" for r in repairs]), got.error)

    def test_a_whole_object_is_left_alone(self):
        self.check('{"v":"what\'s // new, } here","n":"None of this is True"}',
                   {"v": "what's // new, } here", "n": "None of this is True"})

    def test_slips_outside_strings_are_mended(self):
        self.check('{"v":[1,2,],}', {"v": [1, 2]}, "trailing comma")
        self.check('{"v":"a, } b, ]",}', {"v": "a, } b, ]"}, "trailing comma")
        self.check('{"v":[True, None]}', {"v": [True, None]}, "Python literal")
        self.check('{ // c\n"v": "https://x.org", /* p. 3 */ "n":1}', {"v": "https://x.org", "n": 1}, "comment")
        self.check('{"v"\u00a0:\u200b1}', {"v": 1}, "odd blank")
        self.check("{'v': 'say \"it\\'s\"'}", {"v": "say \"it's\""}, "single quotes")
        self.check('{“v”：“a "b"”}', {"v": 'a "b"'}, "curly quotes", "full-width mark")
        self.check('{"v":"two\nlines\there"}', {"v": "two\nlines\there"}, "raw control character")

    def test_nothing_is_added_left_out_or_chosen(self):
        for text in ('{"v":"the "final" report"}', "{'v':'it's here'}", '{"v":[1,,2]}', '{"v":[,]}', '{"v":1,,}',
                     '{"v":}', '{"v":1 "n":2}', '{"v":"a\\d"}', '{"v":01}', '{"v":+1}', '{"v":.5}', '{"v":undefined}',
                     '{"v":[1}', '{"v":"the final" report"}'):
            self.assertEqual(kind(text), "not_json", text)

    def test_numbers_that_are_none_are_refused(self):
        for number in ("NaN", "Infinity", "-Infinity", "1e999", "1e-99999999999999999999", "9" * 5000):
            self.assertEqual(kind('{"v":%s}' % number), "not_json", number)
            self.assertEqual(kind('{"v":%s' % number) in ("not_json", "unfinished"), True, number)

    def test_fractions_keep_their_digits(self):
        value = parse('{"v":2.50,"n":3,"e":1e3}', ["v"]).value
        self.assertEqual([repr(value[key]) for key in "vne"], ["Decimal('2.50')", "3", "Decimal('1E+3')"])

    def test_a_key_twice_must_agree_with_itself(self):
        self.assertEqual(parse('{"v":1,"v":1}', ["v"]).value, {"v": 1})
        for text in ('{"v":1,"v":2}', '{"v":1,"v":true}', '{"v":{"a":1,"a":2}}', '{"v":1,"v":2,}'):
            self.assertEqual(kind(text), "duplicate_key", text)

    def test_half_a_surrogate_pair_becomes_a_mark(self):
        for text in ('{"v":"x\\ud83d"}', '{"v":"x\ud83d"}'):
            self.assertEqual(parse(text, ["v"]).value, {"v": "x\ufffd"})
        self.assertEqual(parse('{"v":"\\ud83d\\ude00"}', ["v"]).value, {"v": "😀"})
        self.assertEqual(kind('{"v":1,"\\ud83d":1,"\\ud83e":2}'), "duplicate_key")

    def test_an_escape_that_may_be_a_lost_backslash_is_marked(self):
        got = parse(r'{"v":"\frac{1}{2} \times"}', ["v"])
        self.assertEqual((got.value["v"], got.notes), ("\frac{1}{2} \times", ["suspect_escape"]))
        self.assertEqual(parse(r'{"v":"\\frac"}', ["v"]).notes, [])


class TestLimits(unittest.TestCase):
    def test_no_prefix_of_an_object_is_an_answer(self):
        python = "{'verdict': 'it', 'n': [None, -1.5e+3], 'u': '\\u00e9'}"
        for text in (json.dumps(ANSWER), python, json.dumps([ANSWER])):
            for size in range(len(text)):
                error = parse(text[:size], ["verdict"]).error
                with self.subTest(text=text[:size]):
                    self.assertEqual(error and error["kind"], "unfinished" if text[:size].strip("[{") else "no_object")

    def test_depth_is_counted_and_not_tried(self):
        def nested(depth):
            return '{"v":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"
        self.assertIsNone(kind(nested(64)))
        self.assertEqual(kind(nested(65)), "too_deep")
        self.assertEqual(kind('{"v":' * 5000 + "1" + "}" * 5000), "too_deep")

    def test_a_reply_over_a_megabyte_is_refused(self):
        self.assertEqual(kind(" " * reply.MAX_CHARS + '{"v":1}'), "too_long")

    def test_hostile_replies_end_soon(self):
        units = ["{", "}", "{}", '"', "\\", '\\"', '{"', '{"\\', "```json\n", '```\n{"a":1}\n', "<think>", "<", "[{",
                 "{“", '{"a":', '{"a":"</think>', '{"v":1}', '{"v":1,}', "'", ",", "{//"]
        for unit in units:
            for before, after in (("", ""), ('{"v":[', "]}")):
                text = (before + unit * (60_000 // len(unit)) + after)
                with self.subTest(unit=unit, before=before):
                    self.assertLess(self.seconds(text), 1.5)

    def test_a_megabyte_of_braces_or_quotes_ends_within_seconds(self):
        for unit in ("{", '"', "\\", '{"', "````\n```json\n"):
            with self.subTest(unit=unit):
                self.assertLess(self.seconds(unit * (reply.MAX_CHARS // len(unit))), 2)

    def seconds(self, text):
        start = time.process_time()
        parse(text, ["v"])
        return time.process_time() - start

    def test_a_late_answer_is_reached(self):
        for unit in ("see {n} ", '{"n":1} ', '{"a": ', ""):
            text = unit * (400_000 // len(unit) if unit.endswith(("} ",)) else 0) + '\n{"v":"yes"}'
            self.assertEqual(parse(text, ["v"]).value, {"v": "yes"}, unit)


class TestFuzz(unittest.TestCase):
    PIECES = ['{', '}', '[', ']', '"', "'", ':', ',', '"v"', '"v":', '{"v":', '"n":', '1', '2.5', '-3', 'true',
              'None', 'NaN', ' ', '\n', 'abc', '"abc"', "'abc'", '“', '”', '：', '<think>', '</think>', '```', '//',
              '/*', '*/',
              '\u200b', '\u00a0', 'é', '{"v":"abc"}', "{'v':'n',}", '<', '>', '|', '{}']

    def test_anything_at_all_gives_a_value_from_the_text_or_an_error(self):
        random_ = random.Random(20260901)
        found = 0
        for _ in range(8000):
            text = "".join(random_.choices(self.PIECES, k=random_.randint(1, 24)))
            got = parse(text, ["v"], {"v": ["abc", "n"]})
            self.assertNotEqual(got.value is None, got.error is None, text)
            if got.value is not None:
                found += 1
                self.assertIn("v", got.value)
                for leaf in leaves(got.value):
                    self.assertIn(leaf, text)
        self.assertGreater(found, 200)

    def test_bytes_of_any_kind_do_no_harm(self):
        random_ = random.Random(7)
        for _ in range(2000):
            text = "".join(chr(random_.randrange(random_.choice((128, 0x3000, 0x110000)))) for _ in range(40))
            spoilt = list('x {"v": "a\\u00e9", "n": [1.5, {"k": null}]} y')
            for _ in range(3):
                spoilt[random_.randrange(len(spoilt))] = random_.choice(text)
            for trial in (text, '{"v":"' + text + '"}', "".join(spoilt)):
                got = parse(trial, ["v"])
                self.assertNotEqual(got.value is None, got.error is None, trial)
                if got.value is not None:
                    files.to_json(got.value).encode()

    def test_objects_amid_prose_come_back_as_they_were(self):
        random_ = random.Random(3)
        for _ in range(500):
            value = {"v": grown(random_, 4), "ü": grown(random_, 3)}
            prose = "".join(random_.choices("ab {}[],.`\n", k=30)).replace("[", "(").rstrip(", \n")
            for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=2), repr(value)):
                self.assertEqual(parse(prose + "\n" + text + "\n```", ["v"]).value, value, text)


def leaves(value):
    """The keys, strings and numbers of a value as they stand in a text without escapes."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, (str, int, Decimal)) and not isinstance(value, bool):
        yield str(value)


def grown(random_, depth):
    make = random_.choice([str, int, list, dict, bool] if depth else [str, int])
    if make is str:
        return "".join(random_.choices("xyz é{}[]:,/*'“”\"\\", k=random_.randint(0, 8)))
    if make is list:
        return [grown(random_, depth - 1) for _ in range(random_.randint(0, 3))]
    if make is dict:
        return {f"k{i}": grown(random_, depth - 1) for i in range(random_.randint(0, 3))}
    return random_.choice([True, False, None]) if make is bool else random_.randint(-99, 99)


class TestWords(unittest.TestCase):
    def test_case_blanks_hyphens_and_underscores_do_not_matter(self):
        for raw in ("wait_required", "Wait Required", " WAIT-REQUIRED\n", "wait  required"):
            self.assertEqual(reply.fold_word(raw, ["within_label", "wait_required"]), "wait_required")

    def test_anything_else_is_no_word(self):
        for raw in ("wait", "wait_required.", "not wait_required", "", None, True, ["wait_required"], 1):
            self.assertIsNone(reply.fold_word(raw, ["within_label", "wait_required"]))

    def test_two_words_that_fold_alike_are_not_chosen_between(self):
        self.assertIsNone(reply.fold_word("In Scope", ["in-scope", "in_scope"]))
        self.assertEqual(reply.fold_word("in-scope", ["in-scope", "in_scope"]), "in-scope")


class TestExamples(unittest.TestCase):
    def test_the_examples_in_the_docstrings_hold(self):
        for module in (reply, mend):
            self.assertEqual(doctest.testmod(module).failed, 0)


if __name__ == "__main__":
    unittest.main()
