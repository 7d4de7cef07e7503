"""Kits side by side say what they would one after the other, and a refusal in one reaches the caller."""
import contextlib
import io
import os
import sys
import time
import unittest
from unittest import mock

from src.shared import abreast
from src.shared.files import BadData


def speak(name):
    """The slowest comes first, so that what is heard in order was not said in it."""
    time.sleep(0.05 if name == "first" else 0)
    print(f"{name} says")
    print(f"{name} warns", file=sys.stderr)
    return name, os.getpid()


def refuse(name):
    raise BadData(f"{name}: refused")


def heard(processors, names=("first", "second", "third")):
    with mock.patch.object(abreast, "_processors", lambda: processors), \
            contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()) as warned:
        found = list(abreast.each(speak, names))
    return found, said.getvalue(), warned.getvalue()


class TestAbreast(unittest.TestCase):
    def test_what_is_heard_is_the_same_on_one_processor_and_on_two(self):
        (alone, *said_alone), (together, *said_together) = heard(1), heard(2)
        self.assertEqual([name for name, _ in alone], ["first", "second", "third"])
        self.assertEqual([name for name, _ in together], [name for name, _ in alone])
        self.assertEqual(said_together, said_alone)
        self.assertEqual(said_alone, ["first says\nsecond says\nthird says\n",
                                      "first warns\nsecond warns\nthird warns\n"])

    def test_only_several_names_on_several_processors_start_a_process(self):
        mine = {os.getpid()}
        self.assertEqual({process for _, process in heard(1)[0]}, mine)
        self.assertEqual({process for _, process in heard(2, ["only"])[0]}, mine)
        self.assertFalse({process for _, process in heard(2)[0]} & mine)

    def test_a_refusal_reaches_the_caller_as_it_was_said(self):
        with mock.patch.object(abreast, "_processors", lambda: 2), self.assertRaisesRegex(BadData, "^first: refused$"):
            list(abreast.each(refuse, ["first", "second"]))

    def test_a_caller_who_stops_listening_hears_no_more(self):
        with mock.patch.object(abreast, "_processors", lambda: 2), \
                contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()):
            for name, _ in abreast.each(speak, ["first", "second", "third"]):
                break
        self.assertEqual((name, said.getvalue()), ("first", "first says\n"))
