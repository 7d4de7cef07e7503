"""The settings: what `.env` and the environment may say, and that the key is never shown."""
import base64
import dataclasses
import decimal
import os
import stat
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

from src.shared import config
from src.shared.files import BadData

ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-test-KEY-1234567890"
BASE = "https://models.example.test:8443/v1"


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / ".env"

    def load(self, text="", environ=None):
        self.path.write_bytes(text.encode() if isinstance(text, str) else text)
        return config.load(self.path, environ or {})

    def problems(self, text="", environ=None):
        with self.assertRaises(BadData) as caught:
            self.load(text, environ)
        return caught.exception.problems


class Reading(Files):
    def test_without_a_file_and_environment_the_defaults_hold(self):
        self.assertEqual(config.load(self.path, {}), config.Settings())

    def test_the_example_names_every_variable_and_holds_the_defaults(self):
        example = ROOT / ".env.example"
        names = [line.split("=")[0] for line in example.read_text(encoding="utf-8").splitlines()
                 if line and not line.startswith("#")]
        self.assertEqual(sorted(names), sorted(f.name.upper() for f in dataclasses.fields(config.Settings)))
        self.assertEqual(config.load(example, {}), config.Settings())

    def test_quotes_comments_export_crlf_and_a_byte_order_mark_are_read(self):
        text = ("\ufeff# first\r\nexport MODEL = 'a # b'  # which one\r\n\r\nTHINKING=high # effort\r\n"
                'API_KEY="k\\"ey-1"\r\nMAX_TOKENS=  7  \r\nJSON_MODE=\r\n')
        settings = self.load(text)
        self.assertEqual((settings.model, settings.thinking, settings.max_tokens), ("a # b", "high", 7))
        self.assertEqual(settings.key, 'k"ey-1')
        self.assertEqual(settings.json_mode, "off")

    def test_a_hash_inside_a_bare_value_is_no_comment(self):
        self.assertEqual(self.load("MODEL=a#b").model, "a#b")

    def test_the_real_environment_wins_also_when_it_unsets(self):
        self.assertEqual(self.load("MODEL=file\nTHINKING=low", {"MODEL": "real", "THINKING": ""}),
                         config.Settings(model="real"))

    def test_what_is_not_set_stays_unset(self):
        settings = self.load("MODEL=m")
        self.assertEqual([settings.thinking, settings.temperature, settings.max_calls_per_day, settings.max_cost_usd],
                         [None] * 4)

    def test_a_temperature_of_zero_is_set(self):
        self.assertEqual(self.load("TEMPERATURE=0").temperature, 0.0)

    def test_money_is_read_as_its_own_digits(self):
        self.assertEqual(self.load("MAX_COST_USD=0.10").max_cost_usd, decimal.Decimal("0.10"))

    def test_thinking_is_a_word_a_number_or_an_object(self):
        self.assertEqual(self.load("THINKING=2048").thinking, 2048)
        self.assertEqual(self.load("""THINKING='{"a": {"b": false}}'""").thinking, {"a": {"b": False}})
        self.assertEqual(len(self.problems("THINKING={oops")), 1)


class Refusing(Files):
    def test_all_bad_values_are_reported_at_once_with_name_value_and_remedy(self):
        found = self.problems("MAX_TOKENS=many\nSTREAM=maybe", {"RETRIES": "-1", "TEMPERATURE": "nan", "PORT": "70000"})
        self.assertEqual(len(found), 5)
        for name, value, right in (("MAX_TOKENS", "'many'", "whole number"), ("STREAM", "'maybe'", "on or off"),
                                   ("RETRIES", "'-1'", "from 0 to 20"), ("TEMPERATURE", "'nan'", "from 0 to 2"),
                                   ("PORT", "'70000'", "to 65535")):
            line = next(line for line in found if name in line)
            self.assertIn(value, line)
            self.assertIn(right, line)
        self.assertIn("line 1", found[0])

    def test_a_line_that_is_not_understood_is_named_by_number_and_never_quoted(self):
        for text in (f"MODEL=m\n{KEY}", f'MODEL=m\nAPI_KEY="{KEY}', f"MODEL=m\nAPI_KEY='{KEY}' {KEY}"):
            found = self.problems(text)
            self.assertIn("line 2", found[0])
            self.assertNotIn("KEY-123", str(found))

    def test_a_bad_key_or_address_is_named_without_its_value(self):
        for address in ("models.example", "ftp://models.example.test", "https://user:pw@models.example.test/v1",
                        "https://models.example.test/v1?k=v", "https://models.example.test:0/v1", "http://h:1x/v1",
                        "https://models.example.test/v1/chat/completions", "http://"):
            found = self.problems("", {"BASE_URL": address, "API_KEY": "sk test KEY"})
            self.assertEqual(len(found), 2, address)
            self.assertIn("BASE_URL", str(found))
            self.assertNotIn("models.example.test", str(found))
            self.assertNotIn("sk test", str(found))

    def test_every_unknown_name_of_the_file_is_refused_with_its_near_one(self):
        found = self.problems("MAX_TOKEN=5\nMAX_COST=1\nMAX_CALLS=9\nBASEURL=x\nexport KEY=x\nXYZ=x\n")
        meant = {"MAX_TOKEN": "MAX_TOKENS", "MAX_COST": "MAX_COST_USD", "MAX_CALLS": "MAX_CALLS_PER_DAY",
                 "BASEURL": "BASE_URL", "KEY": "API_KEY"}
        for (name, near), problem in zip(meant.items(), found):
            self.assertIn(f"{name} is not a variable of this project; did you mean {near}?", problem)
        self.assertIn(f"line 6: XYZ is not a variable of this project; take the line out, see {config.EXAMPLE}",
                      found[5])

    def test_a_key_that_ends_like_a_variable_is_not_quoted(self):
        (problem,) = self.problems("AbCdEf0123456789==")
        self.assertNotIn("AbCdEf", problem)

    def test_an_unknown_name_of_the_real_environment_is_somebody_elses(self):
        self.assertEqual(self.load(environ={"OTHER_TOOL_HOME": "x", "MAX_COST": "1"}), config.Settings())

    def test_a_file_in_another_encoding_is_refused_in_plain_words(self):
        self.assertIn("UTF-8", self.problems("MODEL=m".encode("utf-16"))[0])

    def test_a_call_without_its_variables_names_them_all_and_the_example(self):
        with self.assertRaises(BadData) as caught:
            self.load().require_provider()
        for name in ("BASE_URL", "MODEL", "API_KEY", ".env.example"):
            self.assertIn(name, str(caught.exception))

    def test_a_server_on_this_machine_needs_no_key_and_another_can_say_so(self):
        for host in ("127.0.0.1:8000", "localhost", "[::1]:8000"):
            self.load(f"BASE_URL=http://{host}/v1\nMODEL=m").require_provider()
        with self.assertRaises(BadData):
            self.load("BASE_URL=http://10.0.0.1/v1\nMODEL=m").require_provider()
        settings = self.load("BASE_URL=http://10.0.0.1/v1\nMODEL=m\nAPI_KEY=none")
        settings.require_provider()
        self.assertIsNone(settings.key)


class Secrecy(Files):
    def setUp(self):
        super().setUp()
        self.settings = self.load(f"BASE_URL={BASE}\nAPI_KEY={KEY}\nMODEL=m")

    def test_no_printing_of_the_settings_shows_key_or_address(self):
        shown = [repr(self.settings), str(self.settings), f"{self.settings.api_key} {self.settings.base_url}",
                 repr(dataclasses.asdict(self.settings)), repr(vars(self.settings)), repr(self.settings.public())]
        for text in shown:
            self.assertNotIn(KEY, text)
            self.assertNotIn("models.example.test:8443/v1", text)

    def test_the_record_names_the_host_alone(self):
        public = self.settings.public()
        self.assertEqual(public["host"], "models.example.test:8443")
        self.assertFalse({"api_key", "base_url"} & set(public))

    def test_every_disguise_of_key_and_address_is_taken_out(self):
        cases = [KEY, KEY.upper(), "".join(f"%{ord(c):02X}" for c in KEY), KEY.replace("-", "%2d"),
                 "".join(f"\\u{ord(c):04x}" for c in KEY), KEY.replace("K", "\\u004B"), KEY.replace("-", "&#45;"),
                 KEY.replace("-", "%252D"),
                 KEY[:15] + "...", BASE, BASE.replace("/", "\\/"), BASE.replace("/", "\\\\/"), BASE.replace(":", "%3A"),
                 BASE.upper(), "models.example.test:8443"]
        for text in cases:
            clean = self.settings.redact(f'he said "{text}" to me')
            self.assertIn("he said", clean)
            self.assertIn("to me", clean)
            self.assertIn(config.REDACTED, clean, text)
            for part in ("KEY", "1234", "4b4559", "example", "8443"):
                self.assertNotIn(part.casefold(), clean.casefold().replace("\\u00", "").replace("%", ""), text)

    def test_an_encoded_key_is_taken_out_wherever_in_the_encoding_it_stands(self):
        for before in ("", ":", "u:", "me:", "user:"):
            for encode in (base64.b64encode, base64.urlsafe_b64encode):
                told = encode((before + KEY + ":x").encode()).decode()
                clean = self.settings.redact(f"got {told} here")
                left = clean.removeprefix("got ").removesuffix(" here").replace(config.REDACTED, "")
                self.assertIn(config.REDACTED, clean)
                # What is left is of the name before the key, and of no more than its first letter.
                self.assertLessEqual(len(left), -(-(len(before) + 1) * 4 // 3))
        self.assertEqual(self.settings.redact(f"got {KEY.encode().hex()} here"), f"got {config.REDACTED} here")

    def test_a_key_in_pieces_is_taken_out_of_messages(self):
        for text in ("<b>".join(KEY), " ".join(KEY), "\n".join([KEY[:7], KEY[7:]]), "\u200b".join(KEY), "\x00".join(KEY),
                     f"<i>{KEY[:5]}</i><p class='x'>{KEY[5:]}</p>"):
            clean = self.settings.redact_message(f"he said: {text}, to me")
            self.assertTrue(clean.startswith("he said: ") and clean.endswith(", to me"), clean)
            self.assertIn(config.REDACTED, clean, text)
            self.assertNotIn(KEY[-4:].casefold(), clean.casefold())
            self.assertIn("to me", self.settings.redact_message(f"{text} {text} to me"))
        for length in range(4, len(KEY)):
            self.assertNotIn(KEY[:4], self.settings.redact_message(f"he said: {KEY[:length]}"))
        self.assertEqual(self.settings.redact_message("<p>sk and so on</p>"), "<p>sk and so on</p>")

    def test_a_key_that_is_a_word_goes_out_of_messages_and_stays_in_answers(self):
        settings = self.load(f"BASE_URL={BASE}\nAPI_KEY=EMPTY\nMODEL=m")
        self.assertEqual(settings.redact_answer(f"the tank is empty, see {BASE}"), f"the tank is empty, see {config.REDACTED}")
        self.assertNotIn("EMPTY", settings.redact_message("key EMPTY is wrong, E<b>MPTY too"))
        self.assertEqual(self.settings.redact_answer(f"so {KEY}"), f"so {config.REDACTED}")

    def test_hostile_text_is_searched_in_linear_time(self):
        for text in ("\\" * 300_000, "sk-test-" * 40_000, "%25" * 100_000, "&#0" + "0" * 300_000):
            begun = time.monotonic()
            self.settings.redact(text)
            self.assertLess(time.monotonic() - begun, 5)


class Writing(Files):
    def test_the_file_is_private_from_its_first_byte(self):
        modes, real = [], os.fdopen

        def spy(handle, *more, **named):
            modes.append((stat.S_IMODE(os.fstat(handle).st_mode), os.fstat(handle).st_size))
            return real(handle, *more, **named)

        with unittest.mock.patch.object(os, "fdopen", spy):
            config.write_env({"API_KEY": KEY}, self.path)
        self.assertEqual(modes, [(0o600, 0)])
        self.assertEqual(stat.S_IMODE(self.path.stat().st_mode), 0o600)

    def test_other_lines_stay_and_any_value_reads_back(self):
        self.path.write_text("# mine\nMODEL=old\nexport STREAM=off\n", encoding="utf-8")
        config.write_env({"MODEL": 'a "b" \\ #c', "API_KEY": KEY}, self.path)
        self.assertTrue(self.path.read_text(encoding="utf-8").startswith("# mine\nexport STREAM=off\n"))
        settings = config.load(self.path, {})
        self.assertEqual((settings.model, settings.key, settings.stream), ('a "b" \\ #c', KEY, False))
        self.assertEqual(os.listdir(self.path.parent), [".env"])

    def test_an_unknown_variable_or_a_line_break_is_refused_and_nothing_written(self):
        for values in ({"MODLE": "m"}, {"MODEL": "m\nAPI_KEY=x"}):
            with self.assertRaises(BadData):
                config.write_env(values, self.path)
        self.assertFalse(self.path.exists())


if __name__ == "__main__":
    unittest.main()
