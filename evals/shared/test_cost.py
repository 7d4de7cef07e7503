"""Money: cards and tariffs as they are read, what a call costs at its own time, what stays unknown, and the cap.

    python -m unittest evals.shared.test_cost
"""
import copy
import datetime
import doctest
import json
import tempfile
import threading
import time
import unittest
from decimal import Decimal
from pathlib import Path

from src.shared import cost, rates
from src.shared.adapters import faults
from src.shared.files import BadData, to_json
from src.shared.parts import Completion

OPENAI, ANTHROPIC = "openai-compatible", "anthropic"
MONDAY = "2026-11-23"
FLAT = {"id": "flat", "models": ["m-1", "m-1-20[0-9]*"], "as_of": "2026-11-01", "source": "https://example.com/prices",
        "input": 2, "cached_input": Decimal("0.5"), "cache_write": Decimal("2.5"), "output": 10}


def at_one_price(number):
    return {"input": number, "cached_input": number, "output": number}


OWN = {"id": "night", "models": ["m-1"], "holidays": ["2026-11-26"], "windows": [
    {"days": ["mon", "tue", "wed", "thu", "fri"], "hours": "09:00-17:00", "until": "2026-11-30", **at_one_price(4)},
    {"days": ["fri", "holiday"], "hours": "22:00-06:00", "until": "2026-11-30", **at_one_price(1)},
    {"from": "2026-11-20", "until": "2026-11-30", **at_one_price(2)},
    {"from": "2026-12-02", **at_one_price(3)}]}


def usage(tokens=1_000_000, cached=0, output=0, **more):
    return {"input": tokens, "cached": cached, "output": output, "reasoning": None, "written": 0} | more


def completion(*attempts, reported=None):
    """A call whose attempts are usages, or dicts that say how an attempt ended."""
    told = [{"status": 200, "kind": None, "detail": None, "usage": usage(), **(
        a if "kind" in a else {"usage": a})} for a in attempts]
    return Completion(usage=told[-1]["usage"] if told else None, attempts=told, reported_cost=reported)._asdict()


class Files(unittest.TestCase):
    def write(self, *cards, unit=rates.UNIT):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        path = folder / "cards.json"
        path.write_text(to_json({"unit": unit, "cards": list(cards)}), encoding="utf-8")
        return path

    def card(self, entry, own=False, **changes):
        return rates.load(self.write({**entry, **changes}), own)[0]

    def problems(self, *cards, own=False, **more):
        with self.assertRaises(BadData) as caught:
            rates.load(self.write(*cards, **more), own)
        return [problem.split(": ", 1)[1] for problem in caught.exception.problems]


class TestCards(Files):
    def test_the_public_cards_are_in_order_and_each_names_its_day_and_its_page(self):
        cards = rates.load(cost.RATES)
        self.assertGreater(len(cards), 5)
        for card in cards:
            with self.subTest(card.id):
                self.assertLess(card.as_of, datetime.datetime.now(datetime.timezone.utc).date().isoformat())
                self.assertRegex(card.source, "^https://")
                self.assertIs(rates.pick(card.models[0], cards), card)

    def test_the_public_cards_say_that_they_are_projections(self):
        self.assertIn("projections", " ".join(json.loads(cost.RATES.read_text(encoding="utf-8"))["about"]))

    def test_a_public_card_doubles_at_peak_but_not_on_a_holiday(self):
        card = rates.pick("deepseek-flash", rates.load(cost.RATES))
        at = {"a monday at peak": "2026-11-23T01:00:00Z", "after it": "2026-11-23T04:00:00Z",
              "a sunday": "2026-11-22T02:00:00Z", "a holiday, a thursday": "2026-10-01T02:00:00Z"}
        self.assertEqual({name: cost.price(usage(), card, moment) for name, moment in at.items()},
                         {"a monday at peak": Decimal("0.3"), "after it": Decimal("0.15"), "a sunday": Decimal("0.15"),
                          "a holiday, a thursday": Decimal("0.15")})

    def test_every_problem_is_reported_at_once_with_its_pointer(self):
        broken = {**FLAT, "as_of": "2026-13-01", "output": -1, "colour": "red"}
        del broken["source"]
        windows = copy.deepcopy(OWN)
        windows["windows"][0] |= {"hours": "9:00-17:00", "days": ["monday"], "until": "30.11.2026"}
        windows["windows"][3] |= {"until": "2026-12-01"}
        del windows["windows"][1]["output"]
        found = self.problems(broken, {**windows, "as_of": "2026-11-01", "source": "x", "id": "flat"}, unit="EUR")
        self.assertEqual([line.split(": ")[0] for line in found], [
            "/unit", "/cards/0/source", "/cards/0/as_of", "/cards/0/output", "/cards/0/colour",
            "/cards/1/windows/0/days", "/cards/1/windows/0/hours", "/cards/1/windows/0/until",
            "/cards/1/windows/1/output", "/cards/1/windows/3/until", "/cards/1/id", "/cards/1/models/0"])
        self.assertIn('/unit: \'EUR\' is not "USD per million tokens"', found)

    def test_what_is_no_price_is_refused(self):
        for value in (-1, "2", True, None, [1], 10 ** 6):
            with self.subTest(value):
                self.assertEqual(len(self.problems({**FLAT, "input": value})), 1)

    def test_what_is_no_stretch_of_time_is_refused(self):
        for value in ("10:00-10:00", "24:00-06:00", "10:60-11:00", "10-11", "10:00-24:01", "१०:००-११:००"):
            windows = [{"hours": value, "input": 1, "output": 1}]
            with self.subTest(value):
                self.assertEqual(len(self.problems({"id": "a", "models": ["m"], "windows": windows}, own=True)), 1)

    def test_files_of_another_shape_are_refused(self):
        path = self.write()
        for text in ("[]", "{}", "7", '{"unit": "USD per million tokens", "cards": {}}',
                     '{"unit": "USD per million tokens", "cards": [7]}'):
            path.write_text(text, encoding="utf-8")
            with self.subTest(text), self.assertRaises(BadData):
                rates.load(path)

    def test_prices_stand_in_the_card_or_in_its_windows_and_not_in_both(self):
        self.assertEqual(self.problems({**OWN, "input": 1}, own=True)[0].split(": ")[0], "/cards/0/input")

    def test_a_tariff_of_ones_own_needs_no_source(self):
        self.assertEqual(self.card(OWN, own=True).as_of, None)
        self.assertEqual([line.split(": ")[0] for line in self.problems(OWN)], ["/cards/0/as_of", "/cards/0/source"])


class TestPicking(Files):
    def pricer(self, model, wire=OPENAI, tariff=None):
        return cost.pricer(model, wire, self.write(FLAT), self.write(tariff) if tariff else Path("no such file"))

    def test_a_card_is_picked_by_the_very_name_or_by_its_pattern(self):
        self.assertEqual(self.pricer("m-1").label, "projection on card flat of 2026-11-01")
        self.assertEqual(self.pricer("m-1-20261101").card.id, "flat")

    def test_no_card_is_guessed_and_the_near_name_is_shown(self):
        for name in ("m-1-mini", "M-1", "x/m-1", "m-1-19990101"):
            with self.subTest(name):
                found = self.pricer(name)
                self.assertEqual((found.card, found.label), (None, None))
                self.assertIn("did you mean m-1", found.why)
                self.assertEqual(found.call(completion(usage())), {"usd": None, "why": found.why, "reported": None})

    def test_ones_own_tariff_comes_before_the_card(self):
        self.assertEqual(self.pricer("m-1", tariff=OWN).label, "own tariff")

    def test_a_tariff_for_another_model_leaves_the_card_in_place(self):
        self.assertEqual(self.pricer("m-1", tariff={**OWN, "models": ["m-2"]}).card.id, "flat")

    def test_a_broken_tariff_is_refused_and_not_passed_over(self):
        with self.assertRaises(BadData):
            self.pricer("m-1", tariff={**OWN, "models": []})


class TestPrice(Files):
    def price(self, counts, wire=OPENAI, without=None, **changes):
        entry = {name: value for name, value in {**FLAT, **changes}.items() if name != without}
        return cost.price(counts, self.card(entry), wire=wire)

    def test_cached_and_written_tokens_are_a_part_of_the_input(self):
        self.assertEqual(self.price(usage(1000, 400, 100, written=200)), Decimal("0.0025"))

    def test_on_the_messages_wire_they_come_on_top_of_the_input(self):
        self.assertEqual(self.price(usage(1000, 400, 100, written=200), ANTHROPIC), Decimal("0.0037"))
        self.assertEqual(self.price(usage(18, 8831, 426), ANTHROPIC), Decimal("0.0087115"))

    def test_more_cached_than_input_is_refused_where_it_is_a_part_of_it(self):
        self.assertEqual(self.price(usage(1000, 1000)), Decimal("0.0005"))
        self.assertIsNone(self.price(usage(1000, 1001)))
        self.assertIsNone(self.price(usage(1000, 600, written=401)))

    def test_a_count_that_is_not_reported_leaves_the_price_unknown(self):
        for name in ("input", "cached", "output", "written"):
            for count in (None, -1, True, 1.5, "7"):
                with self.subTest(name, count=count):
                    self.assertIsNone(self.price(usage() | {name: count}))
        self.assertIsNone(self.price({}))

    def test_writing_is_not_asked_about_where_nothing_asks_for_it_or_it_has_no_price(self):
        silent = usage(1000, 0, 100) | {"written": None}
        self.assertEqual(self.price(silent, ANTHROPIC), Decimal("0.003"))
        self.assertEqual(self.price(silent, without="cache_write"), Decimal("0.003"))
        self.assertIsNone(self.price(silent))

    def test_cached_tokens_without_a_price_are_unknown_and_not_input(self):
        self.assertIsNone(self.price(usage(1000, 1), without="cached_input"))
        self.assertIsNone(self.price(usage(1000, None), without="cached_input"))
        self.assertEqual(self.price(usage(1000, 0), without="cached_input"), Decimal("0.002"))

    def test_a_card_may_say_that_cached_tokens_cost_as_much_as_input(self):
        self.assertEqual(self.price(usage(1000, None), cached_input=2), Decimal("0.002"))
        self.assertIsNone(self.price(usage(1000, None), ANTHROPIC, cached_input=2))

    def test_reasoning_is_a_part_of_the_output_or_else_the_price_is_unknown(self):
        self.assertEqual(self.price(usage(0, 0, 100, reasoning=100)), Decimal("0.001"))
        self.assertIsNone(self.price(usage(0, 0, 100, reasoning=101)))

    def test_a_prompt_longer_than_the_card_is_for_is_unknown(self):
        self.assertEqual(self.price(usage(100), input_up_to=100), Decimal("0.0002"))
        self.assertIsNone(self.price(usage(101), input_up_to=100))
        self.assertIsNone(self.price(usage(100, 1), ANTHROPIC, input_up_to=100))

    def test_nothing_is_rounded_before_it_is_shown(self):
        one = self.price(usage(1), input=Decimal("0.0028"))
        self.assertEqual(one, Decimal("0.0000000028"))
        self.assertEqual(cost.in_words(one), "<$0.000001")
        self.assertEqual(cost.in_words(one * 100_000), "$0.000280")

    def test_a_figure_reads_the_same_from_a_record(self):
        for figure in (Decimal("0.1"), Decimal("0.0000000028"), Decimal("12.345678901"), Decimal(0), Decimal(3)):
            self.assertEqual(cost.exact(json.loads(to_json(figure))), figure)

    def test_the_examples_in_the_docstrings_hold(self):
        self.assertEqual(doctest.testmod(cost).failed, 0)


class TestWindows(Files):
    """Prices of 4 in office hours, 1 in some nights, else 2 from 20 to 30 November; nothing on 1 December; then 3."""

    def setUp(self):
        self.tariff = self.card(OWN, own=True)

    def at(self, moment):
        return cost.price(usage(), self.tariff, moment)

    def test_a_window_begins_with_its_first_minute_and_ends_before_its_last(self):
        self.assertEqual([self.at(f"{MONDAY}T{clock}Z") for clock in ("08:59:59", "09:00:00", "16:59:59", "17:00:00")],
                         [2, 4, 4, 2])

    def test_a_window_over_midnight_belongs_to_the_day_on_which_it_begins(self):
        moments = ("2026-11-27T05:59:00Z", "2026-11-27T21:59:59Z", "2026-11-27T22:00:00Z", "2026-11-27T23:59:59Z",
                   "2026-11-28T00:00:00Z", "2026-11-28T05:59:59Z", "2026-11-28T06:00:00Z", "2026-11-28T22:00:00Z")
        self.assertEqual([self.at(moment) for moment in moments], [1, 2, 1, 1, 1, 1, 2, 2])

    def test_a_holiday_is_no_day_of_the_week(self):
        self.assertEqual(self.at("2026-11-25T12:00:00Z"), 4)
        self.assertEqual(self.at("2026-11-26T12:00:00Z"), 2, "a thursday, and a holiday")
        self.assertEqual(self.at("2026-11-26T23:00:00Z"), 1)

    def test_the_first_window_that_fits_counts(self):
        swapped = self.card({**OWN, "windows": [OWN["windows"][2], *OWN["windows"]]}, own=True)
        self.assertEqual(cost.price(usage(), swapped, f"{MONDAY}T12:00:00Z"), 2)

    def test_the_first_and_the_last_day_of_validity_are_in_it(self):
        self.assertEqual([self.at(f"2026-11-{day}T20:00:00Z") for day in (19, 20, 30)], [None, 2, 2])
        self.assertEqual(self.at("2026-12-02T00:00:00Z"), 3)

    def test_the_dates_of_validity_are_those_of_the_call_also_after_midnight(self):
        windows = [{"hours": "22:00-06:00", "until": "2026-11-30", **at_one_price(1)}]
        night = self.card({**OWN, "windows": windows}, own=True)
        self.assertEqual([cost.price(usage(), night, moment) for moment in (
            "2026-11-30T05:00:00Z", "2026-11-30T23:00:00Z", "2026-12-01T05:00:00Z")], [1, 1, None])

    def test_a_gap_between_two_prices_is_unknown(self):
        self.assertIsNone(self.at("2026-12-01T12:00:00Z"))
        found = cost.Pricer("m-1", OPENAI, [self.tariff]).call(completion(usage()), "2026-12-01T12:00:00Z")
        self.assertEqual(found["why"], "card night has no price for 2026-12-01T12:00:00Z")

    def test_a_time_of_another_zone_counts_in_utc(self):
        self.assertEqual(self.at(f"{MONDAY}T10:30:00+02:00"), 2)
        self.assertEqual(self.at(f"{MONDAY}T11:30:00+02:00"), 4)

    def test_a_call_of_unknown_time_has_no_price_where_that_matters(self):
        self.assertIsNone(self.at(None))
        self.assertIsNone(cost.price(usage(), self.card({**OWN, "windows": OWN["windows"][3:]}, own=True)))
        self.assertEqual(cost.price(usage(), self.card(FLAT)), 2)

    def test_against_another_way_of_counting_every_minute_of_a_week(self):
        minute = datetime.datetime(2026, 11, 23, tzinfo=datetime.timezone.utc)
        for _ in range(7 * 24 * 60):
            hour, day = minute.hour, minute.day
            night = hour >= 22 and day in (26, 27) or hour < 6 and day in (27, 28)
            office = 9 <= hour < 17 and day in (23, 24, 25, 27)
            right = 4 if office else 1 if night else 2
            self.assertEqual(self.at(minute.isoformat()), right, minute)
            minute += datetime.timedelta(minutes=1)


class TestCalls(Files):
    def setUp(self):
        self.pricer = cost.Pricer("m-1", OPENAI, [self.card(FLAT)])

    def usd(self, *attempts):
        return self.pricer.call(completion(*attempts))["usd"]

    def test_each_attempt_that_was_billed_counts(self):
        empty = {"kind": "empty_answer", "usage": usage(output=100_000)}
        self.assertEqual(self.usd(empty, usage()), Decimal(5))

    def test_an_attempt_that_was_turned_away_costs_nothing(self):
        nothing = dict.fromkeys(usage())
        for how in ({"status": 429, "kind": "rate_limit"}, {"status": 529, "kind": "overloaded"},
                    {"status": 400, "kind": "param_unsupported"}, {"status": None, "kind": "config"},
                    {"status": None, "kind": "transport", "detail": "unknown_host"}):
            with self.subTest(how):
                self.assertEqual(self.usd({**how, "usage": nothing}, usage()), 2)

    def test_what_was_billed_for_a_cut_attempt_is_unknown_whatever_it_had_reported(self):
        for how in ({"status": 200, "kind": "reply_cut"}, {"status": None, "kind": "transport"},
                    {"status": 500, "kind": "server_error"}, {"status": 408, "kind": "server_error"}):
            with self.subTest(how):
                found = self.pricer.call(completion(how, usage()))
                self.assertIsNone(found["usd"])
                self.assertIn(how["kind"], found["why"])

    def test_a_cut_off_answer_is_priced_since_its_counts_are_final(self):
        self.assertEqual(self.usd({"kind": "output_limit", "usage": usage()}), 2)

    def test_the_words_for_how_an_attempt_ended_are_those_of_the_adapter(self):
        self.assertLessEqual(set(cost.COUNTED) - {None}, set(faults.KINDS))

    def test_where_no_call_was_there_is_no_cost(self):
        self.assertIsNone(self.pricer.call(Completion()._asdict()))

    def test_what_the_provider_reports_stands_beside_the_figure(self):
        found = [self.pricer.call(completion(usage(), reported=0.1)),
                 self.pricer.call(completion(usage(None), reported=0.2)), None]
        self.assertEqual((found[0]["usd"], found[1]["usd"]), (2, None))
        self.assertEqual(cost.total(found, "x"), {
            "usd": None, "usd_priced": Decimal(2), "priced": 1, "calls": 2, "label": "x", "reported": Decimal("0.3"),
            "reporting": 2})

    def test_a_total_is_a_figure_only_when_every_call_has_a_price(self):
        one = self.pricer.call(completion(usage(1)))
        self.assertEqual(cost.total([one] * 3)["usd"], Decimal("0.000006"))
        self.assertEqual(cost.total(json.loads(to_json([one] * 3)))["usd"], Decimal("0.000006"), "read from a record")
        self.assertIsNone(cost.total([one, {"usd": None, "why": "?", "reported": None}])["usd"])
        self.assertEqual(cost.total([]), {"usd": None, "usd_priced": 0, "priced": 0, "calls": 0, "label": None,
                                          "reported": None, "reporting": 0})

    def test_a_volume_is_the_average_times_the_documents_and_names_its_assumptions(self):
        found = cost.monthly(cost.total([self.pricer.call(completion(usage(n))) for n in (1000, 2000)], "x"), 10_000)
        self.assertEqual((found["usd_per_document"], found["usd_per_month"]), (Decimal("0.003"), 30))
        self.assertEqual((found["label"], found["documents"]), ("x", 10_000))
        self.assertIn("10,000 documents a month", found["assumptions"][0])
        self.assertIsNone(cost.monthly(cost.total([]), 10)["usd_per_month"])

    def test_at_most_takes_the_dearest_prices_of_the_day(self):
        self.assertEqual(self.pricer.at_most(1_000_000, 100_000), Decimal("3.5"), "all written to the cache")
        own = cost.Pricer("m-1", OPENAI, [self.card(OWN, own=True)])
        days = [datetime.date(2026, 11, 30), datetime.date(2026, 12, 1), datetime.date(2026, 12, 2)]
        self.assertEqual([own.at_most(1_000_000, 0, on=day) for day in days], [4, None, 3])

    def test_at_most_is_unknown_for_prompts_that_the_card_is_not_for(self):
        pricer = cost.Pricer("m-1", OPENAI, [self.card(FLAT, input_up_to=1000)])
        self.assertEqual(pricer.at_most(2000, 0, calls=2), Decimal("0.005"))
        self.assertIsNone(pricer.at_most(2001, 0, calls=2))
        self.assertIsNone(cost.Pricer("m-2", OPENAI, []).at_most(1, 1))


class TestBudget(Files):
    """One call may cost at most 2.50 dollars; most cost less."""

    def budget(self, limit, spent=Decimal(0), **changes):
        limit = None if limit is None else Decimal(limit)
        return cost.Budget(limit, cost.Pricer("m-1", OPENAI, [self.card(FLAT, **changes)]), 1_000_000, 0, spent)

    def test_a_cap_on_unknown_prices_is_refused_before_the_run(self):
        with self.assertRaisesRegex(BadData, "MAX_COST_USD=5.*not be kept on unknown prices.*model m-2.*tariff.json"):
            cost.Budget(Decimal(5), cost.Pricer("m-2", OPENAI, [self.card(FLAT)]), 1, 1)
        with self.assertRaisesRegex(BadData, "card flat has no price"):
            self.budget(5, input_up_to=1000)

    def test_without_a_cap_unknown_prices_are_no_obstacle(self):
        budget = cost.Budget(None, cost.Pricer("m-2", OPENAI, []), 1, 1)
        self.assertTrue(budget.may_call())
        budget.add(None)
        self.assertEqual((budget.spent, budget.unknown), (0, 1))

    def test_a_cap_that_not_one_call_fits_is_refused_before_the_run(self):
        with self.assertRaisesRegex(BadData, r"one call may cost \$2.50 by itself; raise MAX_COST_USD or lower"):
            self.budget("2.49")
        self.assertTrue(self.budget("2.50").may_call())

    def test_calls_are_made_while_the_most_they_can_cost_still_fits(self):
        budget, made = self.budget(10), 0
        while budget.may_call():
            budget.add(Decimal(2))
            made += 1
        self.assertEqual((made, budget.spent), (4, 8))
        self.assertEqual(budget.why(), "MAX_COST_USD=10: $8.00 is spent, and one more call may cost $2.50")

    def test_a_call_of_unknown_cost_counts_as_the_most_it_can_have_cost(self):
        budget = self.budget(5)
        for _ in range(2):
            self.assertTrue(budget.may_call())
            budget.add(None)
        self.assertFalse(budget.may_call())
        self.assertEqual((budget.spent, budget.unknown), (5, 2))

    def test_what_a_run_spent_before_it_was_resumed_counts(self):
        self.assertFalse(self.budget(5, spent=Decimal(3)).may_call())

    def test_a_caller_waits_while_a_call_in_flight_may_leave_room(self):
        budget, answers = self.budget(4), []
        self.assertTrue(budget.may_call())
        waiting = threading.Thread(target=lambda: answers.append(budget.may_call()))
        waiting.start()
        time.sleep(0.02)
        self.assertEqual(answers, [])
        budget.add(Decimal("0.1"))
        waiting.join(5)
        self.assertEqual(answers, [True])

    def test_closing_wakes_who_waits_and_lets_nobody_call(self):
        budget, answers = self.budget(4), []
        self.assertTrue(budget.may_call())
        waiting = threading.Thread(target=lambda: answers.append(budget.may_call()))
        waiting.start()
        budget.close()
        waiting.join(5)
        self.assertEqual(answers + [budget.may_call()], [False, False])

    def test_no_number_of_threads_spends_more_than_the_cap(self):
        budget, high, lock, flying = self.budget(100), [], threading.Lock(), [0]

        def call(number):
            while budget.may_call():
                with lock:
                    flying[0] += 1
                    high.append(budget.spent + flying[0] * budget.at_most)
                usd = Decimal("2.5") if number % 3 else Decimal("0.7")
                with lock:
                    flying[0] -= 1
                    budget.add(usd)
        threads = [threading.Thread(target=call, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        self.assertFalse(any(thread.is_alive() for thread in threads))
        self.assertLessEqual(max(high), 100)
        self.assertGreater(budget.spent, Decimal("97.5"))
        self.assertLessEqual(budget.spent, 100)


if __name__ == "__main__":
    unittest.main()
