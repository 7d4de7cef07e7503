"""A quote is found where its very characters stand, in whatever typography, and nowhere else."""
import doctest
import random
import time
import unicodedata
import unittest
from decimal import Decimal

from src.shared import citation
from src.shared.citation import credit, locate


class TestFound(unittest.TestCase):
    def check(self, document, quote, slices, how="folded", flags=()):
        with self.subTest(document=document, quote=quote):
            got = locate(document, quote)
            self.assertEqual([document[start:end] for start, end in got.spans], slices, got.reason)
            self.assertEqual((got.how, got.flags, got.count), (how, list(flags), len(slices)))

    def test_an_exact_place_counts_before_a_folded_one(self):
        self.check("The trial was stopped in May.", " was stopped in May\n", ["was stopped in May"], "exact")
        self.check("don't spray here, don’t spray there", "don't spray", ["don't spray"], "exact")
        self.check("No change in 2020. No change in 2021.", "No change", ["No change"] * 2, "exact")

    def test_marks_dashes_blanks_and_case_are_folded(self):
        self.check("the patient’s “pain score” was 3.", 'the patient\'s "pain score"', ["the patient’s “pain score”"])
        self.check("sagte „ja“ und «nein».", 'sagte "ja" und "nein"', ["sagte „ja“ und «nein»"])
        self.check("2019–2021, drip‑fed — at −5 °C.", "2019-2021, drip-fed -- at -5 °C",
                   ["2019–2021, drip‑fed — at −5 °C"])
        self.check("A: Name\t\tDose\u00a0\u2009 Unit", "Name Dose Unit", ["Name\t\tDose\u00a0\u2009 Unit"])
        self.check("that the trial\nwas\r\n   stopped", "the trial was stopped", ["the trial\nwas\r\n   stopped"])
        self.check("İİ Sonuç Var x", "i̇i̇ SONUÇ VAR", ["İİ Sonuç Var"])
        self.check("so it goes… on and on", "it goes... on", ["it goes… on"])

    def test_ligatures_and_accents_keep_their_places(self):
        self.check("saw the ﬁrst eﬄuent x", "the first effluent", ["the ﬁrst eﬄuent"])
        for form in ("NFC", "NFD"):
            for other in ("NFC", "NFD"):
                document = unicodedata.normalize(form, "Zürich: résumé de l'été, 한국 が")
                quote = "résumé de l'été, 한국"
                self.check(document, unicodedata.normalize(other, quote), [unicodedata.normalize(form, quote)],
                           "exact" if form == other else "folded")

    def test_what_cannot_be_seen_is_nothing(self):
        self.check("The pati\u200bent \ufeffdata\u2060 set is", "patient data set",
                   ["pati\u200bent \ufeffdata\u2060 set"])
        self.check("of environ\u00admental use", "environmental use", ["environ\u00admental use"])

    def test_a_hyphen_at_a_line_end_may_be_part_of_the_word_or_not(self):
        document = "Good for environ-\nmental and well-\nknown North\u00adSouth use."
        for quote in ("environmental and well-known North-South use", "environ-mental and well-known NorthSouth use",
                      "environ- mental and well- known North-South use",
                      "environ-\nmental and wellknown North\u00adSouth use"):
            self.check(document, quote, [document[9:-1]], "folded")
        self.assertEqual(locate("a well-known method", "wellknown method").reason, "absent")
        self.assertEqual(locate("pre- and post-harvest", "pre-and post-harvest").reason, "absent")
        self.assertEqual(locate("in 2019-\n2021 it was", "in 20192021 it was").reason, "absent")

    def test_list_marks_are_nothing_at_a_line_start(self):
        document = "Risks:\n• first item\n  – second item\nEnd"
        for quote in ("first item\n- second item", "first item second item", "• first item • second item •"):
            self.check(document, quote, [document[9:-4]])
        self.check(document, "– first item\n- second", ["first item\n  – second"])
        self.check("Risks:\n- first item", "- first item", ["- first item"], "exact")
        self.assertEqual(locate("it was at\n- 5 °C then", "it was at 5 °C then").reason, "absent")

    def test_what_a_model_adds_to_a_quote_is_taken_off_and_flagged(self):
        self.check("It was stopped in May, after rain.", '"was stopped in May"', ["was stopped in May"], "exact",
                   ["outer_marks_removed"])
        self.check("It was stopped in May, after rain.", "was stopped in May.", ["was stopped in May"], "exact",
                   ["final_mark_removed"])
        self.check("It was stopped in May, after rain.", "“was stopped in May.”", ["was stopped in May"], "exact",
                   ["outer_marks_removed", "final_mark_removed"])
        self.check(r"factor \frac{1}{2} \times \nu is", "\frac{1}{2} \times \nu", [r"\frac{1}{2} \times \nu"], "folded",
                   ["backslash_reading"])
        self.check(" One. Two. ", "One. Two.", ["One. Two."], "exact", ["whole_document"])

    def test_scripts_without_blanks_have_no_word_edges(self):
        self.check("最大用量为每公顷2.5升。", "用量为每公顷2.5升", ["用量为每公顷2.5升"], "exact")
        self.assertEqual(locate("每次25毫克口服", "5毫克口服").reason, "absent")


class TestNotFound(unittest.TestCase):
    def check(self, document, quote, reason="absent"):
        with self.subTest(document=document, quote=quote):
            self.assertEqual(locate(document, quote), ([], None, reason, []))

    def test_a_quote_does_not_begin_or_end_within_a_word_or_number(self):
        for document, quote in (("Give 25 mg daily", "5 mg daily"), ("in the Mayor's house", "in the May"),
                                ("it can’t be so", "it can"),
                                ("A dose of 2.55 more", "55 more"), ("A dose of 2.55 more", "dose of 2"),
                                ("A dose of 2.55 more", "dose of 2."), ("A sum of 1,500 euros", "A sum of 1"),
                                ("An area of 10² m", "area of 10"), ("take 1/2 tablet", "2 tablet"),
                                ("At -5 °C it ended", "5 °C it ended"), ("At −5 °C it ended", "5 °C it ended"),
                                ("(±5 mm wide)", "5 mm wide"),
                                ("the cafe\u0301s of Rome", "the cafe"), ("the cafe\u0301 of Rome", "the cafe"),
                                ("the ﬁrst one", "irst one"), ("pati\u200bent data", "ent data"),
                                ("environ\u00admental use", "mental use"), ("environ-\nmental use", "mental use")):
            self.check(document, quote)

    def test_edges_that_are_no_cuts_are_found(self):
        for document, quote in (("from 2019–2021 on", "2021 on"), ("a drip-fed field", "fed field"),
                                ("on May 5. Then", "May 5"), ("Dose: 5, then 6", "Dose: 5"),
                                ("(5 mg) daily", "5 mg"), ("the café", "the café"),
                                    ("à l’été de", "été de"), ("say 'yes' now", "say 'yes")):
            self.assertEqual(locate(document, quote).how, "exact", quote)

    def test_other_words_are_not_a_quotation(self):
        self.check("The trial was stopped in May by the board.", "In May the board stopped the trial")
        self.check("Yield rose by 4 %. The soil was wet. Costs fell.", "Yield rose by 4 %. Costs fell.")
        self.check("levels of β-carotene rose", "levels of beta-carotene rose")
        self.check("Only if pH ≥ 7 applies.", "Only if pH >= 7 applies")
        self.check("An area of 10² m and 1½ kg.", "An area of 102 m")
        self.check("An area of 10² m and 1½ kg.", "and 11/2 kg")

    def test_a_quote_with_a_gap_is_not_found(self):
        document = "The drug is not, in any way, recommended for infants."
        for gap in ("...", "…", "[...]", "(…)", ". . ."):
            self.check(document, f"The drug is {gap} recommended for infants", "elided")
        self.assertEqual(locate("He said: well... no.", "well... no").how, "exact")

    def test_a_quote_that_proves_nothing_is_not_found(self):
        self.check("Some text.", " \n\u00a0\u200b", "empty")
        self.check("Some text.", "", "empty")
        self.check("A plain text.", "a", "too_short")
        self.check("A plain text -- here.", "—", "too_short")


class TestSpans(unittest.TestCase):
    DOCUMENT = ("Order: “admit to inpatient” — signed at 23:50.\n  • The patient’s café au lait, environ-\nmental "
                "cause excluded;\r\n  • 2.5\u00a0mg twice daily, ﬁve nights… Zu\u0308rich, "
                "North\u00adSouth 10² m.\n") * 3
    WAYS = {
        "marks": lambda text: text.translate(str.maketrans("“”’—", "\"\"'-")),
        "composed": lambda text: unicodedata.normalize("NFC", text),
        "apart": lambda text: unicodedata.normalize("NFD", text),
        "blanks": lambda text: " ".join(text.split()),
        "capitals": lambda text: text.replace("a", "A"),
        "words": lambda text: text.replace("environ-\nmental", "environmental").replace("\u00ad", ""),
    }

    def test_a_span_is_exactly_what_was_quoted(self):
        random_, found = random.Random(11), 0
        document = self.DOCUMENT
        for _ in range(1200):
            start, end = sorted(random_.sample(range(len(document)), 2))
            plain = document[start:end].strip()
            exact = locate(document, plain)
            if exact.how != "exact" or exact.flags or plain[0] in "•\u00ad" or plain[-1] in "-•\u00ad":
                continue
            self.assertTrue(all(document[a:b] == plain for a, b in exact.spans))
            for name in random_.sample(sorted(self.WAYS), 2):
                got = locate(document, self.WAYS[name](plain))
                with self.subTest(way=name, quote=plain):
                    self.assertEqual(got.spans, exact.spans)
                    found += 1
        self.assertGreater(found, 250)

    def test_any_characters_at_all_do_no_harm(self):
        random_ = random.Random(5)
        alphabet = "ab5.,-\u00ad\u200b\u0301é\n \t•–“'…²½ﬁß漢\x0c±(" + chr(0x1F600)
        for _ in range(4000):
            document = "".join(random_.choices(alphabet, k=random_.randint(0, 30)))
            quote = "".join(random_.choices(alphabet, k=random_.randint(0, 6)))
            got = locate(document, quote)
            self.assertEqual(not got.spans, got.reason is not None)
            self.assertTrue(all(0 <= a < b <= len(document) for a, b in got.spans))
            self.assertTrue(all(b <= c for (_, b), (c, _) in zip(got.spans, got.spans[1:])))

    def test_long_documents_and_quotes_take_time_in_proportion(self):
        for unit in ("a", "a ", "a-", "5.", "e\u0301", "\n- ", "\u00ad", "word ", "漢", " \n", '"'):
            for quote in ("abc" + unit * 3000 + "x", unit * 3000 + "abc", "abc" + unit * 10000):
                document = unit * (30_000 // len(unit))
                start = time.process_time()
                locate(document, quote)
                with self.subTest(unit=unit):
                    self.assertLess(time.process_time() - start, 2)

    def test_a_text_that_repeats_itself_takes_no_longer_however_late_it_parts_from_the_quote(self):
        chance = random.Random(5)
        rarely = "".join(chance.choice(["a-a "] + ["a\xada "] * 500) for _ in range(10_000))
        for document, quote in (("a-a " * 10_000, "a-a " * 3_000 + "aa"), ("ab " * 30_000, "ab " * 10_000 + "a"),
                                ("ab " * 30_000, "AB " * 10_000 + "A"), (rarely, "aa " * 2_500)):
            start = time.process_time()
            self.assertEqual(locate(document, quote).reason, "absent")
            self.assertLess(time.process_time() - start, 2)

    def test_every_place_is_found_also_where_most_are_none(self):
        document = "ab " * 3_000 + "ab, " + "ab " * 1_000
        quote = "ab " * 999 + "ab"
        self.assertEqual([start for start, _ in locate(document, quote).spans], [0, 3_000, 6_000, 9_004])
        self.assertEqual([start for start, _ in locate(document, quote.upper()).spans], [0, 3_000, 6_000, 9_004])
        self.assertEqual(locate("xab " * 3_000 + "ab " * 1_000, quote + " a").reason, "absent")


class TestCredit(unittest.TestCase):
    def test_both_floors_are_met_at_their_edge(self):
        self.assertTrue(credit([(0, 60)], (0, 100)).credited)
        self.assertFalse(credit([(0, 59)], (0, 100)).credited)
        self.assertTrue(credit([(0, 100)], (0, 30)).credited)
        self.assertFalse(credit([(0, 101)], (0, 30)).credited)
        self.assertTrue(credit([(0, 60)], (0, 100), Decimal("0.60"), Decimal("0.30")).credited)

    def test_floors_are_arguments(self):
        self.assertTrue(credit([(0, 50)], (0, 100), coverage_min=.5).credited)
        self.assertFalse(credit([(0, 50)], (0, 25), precision_min=.6).credited)

    def test_the_best_occurrence_counts(self):
        got = credit([(0, 10), (20, 30), (24, 34), (50, 60)], (24, 34))
        self.assertEqual(got, (True, 1.0, 1.0, (24, 34)))

    def test_nothing_found_or_elsewhere_is_no_credit(self):
        self.assertEqual(credit([], (0, 10)), (False, 0.0, 0.0, None))
        self.assertEqual(credit([(10, 20)], (0, 10)), (False, 0.0, 0.0, (10, 20)))

    def test_an_empty_label_is_an_error_of_the_key(self):
        with self.assertRaises(ValueError):
            credit([(0, 1)], (5, 5))


class TestExamples(unittest.TestCase):
    def test_the_examples_in_the_docstrings_hold(self):
        self.assertEqual(doctest.testmod(citation).failed, 0)


if __name__ == "__main__":
    unittest.main()
