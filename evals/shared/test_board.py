"""The board as a person meets it: the real page in headless Chromium, by keyboard, in both themes, at 320 pixels."""
import unittest
from unittest import mock
from urllib.parse import parse_qs

from evals.shared import browser, showing
from evals.shared.provider import LocalProvider
from evals.shared.test_app import Served
from src import app
from src.shared import kit as kits
from src.shared.files import to_json
from src.shared.view import listing, page

LABEL = "label_restrict"
KIT = LABEL if LABEL in kits.names() else showing.first_kit()
THEMES = ("light", "dark")
# The lowest contrast of any text in view against what lies behind it, with the text: WCAG's formula, in the page.
CONTRAST = """
  const number = (text) => text.match(/[\\d.]+/g).map(Number);
  const linear = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = (c) => { const [r, g, b] = c.map(linear); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = number(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] > 0) return c; } return [255, 255, 255]; };
  let worst = [99, ""];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) { const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !e.checkVisibility() || e.closest("dialog, noscript, select")) continue;
    const a = light(number(getComputedStyle(e).color)), b = light(behind(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, walk.currentNode.data.trim().slice(0, 60)]; }
  return worst;"""


# What the page is made of, counted.
STRUCTURE = """
  const all = (selector) => [...document.querySelectorAll(selector)];
  const named = (e) => document.getElementById(e.getAttribute("aria-describedby"));
  return { h1: all("h1").length, main: all("main").length,
    tables: all("table").length, captions: all("table > caption").length,
    bare: all("th").filter((e) => !e.scope).length,
    rows: all("tbody > tr").filter((e) => !e.querySelector("th[scope=row]")).length,
    unlabelled: all("input, select").filter((e) => !e.labels.length && !e.ariaLabel).length,
    pictures: all("svg").filter((e) => e.getAttribute("aria-hidden") !== "true").length,
    styled: all("main [style]").length,
    twice: all("[id]").length - new Set(all("[id]").map((e) => e.id)).size,
    dangling: all("[aria-describedby]").filter((e) => !named(e)).length,
    asked: performance.getEntriesByType("resource").map((e) => e.name) };"""


def setUpModule():
    """One browser and one staged kit for all tests of this file: making them takes longer than most of the tests."""
    if not browser.missing():
        InBrowser.browser = unittest.enterModuleContext(browser.Browser())
        InBrowser.stage = showing.Stage(KIT)
        unittest.addModuleCleanup(InBrowser.stage.close)
        InBrowser.ids = InBrowser.stage.floors()


@unittest.skipIf(browser.missing(), f"no browser: {browser.missing()}")
class InBrowser(unittest.TestCase):
    """One board over the staged kit for a class of tests; the console has to stay empty."""

    environ = {}

    @classmethod
    def setUpClass(cls):
        cls.served = cls.enterClassContext(Served(cls.stage.shelf(), cls.environ))
        cls.name = cls.stage.kit_name
        cls.documents = list(cls.stage.kit().documents())

    def setUp(self):
        self.browser.media("light")
        self.browser.size(1280, 900)
        self.browser.console()

    def tearDown(self):
        self.assertEqual(self.browser.console(), [])

    def open(self, address=""):
        """Load an address behind `#/` and wait for its heading."""
        self.browser.go(f"{self.served.url}#/{address}")
        return self.browser.wait("document.querySelector('h1')?.textContent")

    @classmethod
    def turn_to(cls, address):
        """Go to another address from the page that is open, as its links do, and wait for the new heading."""
        cls.browser.script("document.querySelector('h1').id = 'left'; location.hash = arguments[0]", f"#/{address}")
        return cls.browser.wait("document.querySelector('h1:not(#left)')?.textContent")

    def here(self, *parts):
        self.browser.wait(f"location.hash.split('?')[0] === {'/'.join(['#', *parts])!r}")

    def focused(self):
        return self.browser.script("return document.activeElement.id || document.activeElement.tagName")

    def text(self, selector="main"):
        return self.browser.script("return document.querySelector(arguments[0])?.innerText", selector)

    def texts(self, selector):
        found = "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)"
        return self.browser.script(found, selector)


class TestViews(InBrowser):
    """Every view is loaded once, looked at in both themes and at 320 pixels, and then judged."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        stub, null, first = cls.ids["stub"], cls.ids["null"], f"{cls.name}/d/{cls.documents[0]}"
        cls.found = {}
        cls.browser.go(f"{cls.served.url}#/none")
        cls.browser.wait("document.querySelector('h1')")
        for view in ("", cls.name, f"{cls.name}?run={stub}&wrong=1", f"{cls.name}/compare?first={stub}&second={null}",
                     f"{cls.name}/watch", f"{cls.name}/rules", f"{cls.name}/cost", first, f"{first}/prompt",
                     f"{cls.name}/d/{cls.documents[2]}?run={stub}&run={null}", "nothing"):
            cls.found[view] = cls.looked_at(view)

    @classmethod
    def looked_at(cls, view):
        page = cls.browser
        page.size(1280, 900)
        cls.turn_to(view)
        found = page.script(STRUCTURE)
        for theme in THEMES:
            page.media(theme)
            found[theme] = page.script(CONTRAST)
        page.size(320, 700)
        return found | {"width": page.script("return document.documentElement.scrollWidth")}

    def test_every_view_is_readable_in_both_themes(self):
        for view, found in self.found.items():
            for theme in THEMES:
                with self.subTest(theme=theme, view=view):
                    ratio, text = found[theme]
                    self.assertGreaterEqual(ratio, 4.5, text)

    def test_no_view_scrolls_sideways_at_320_pixels(self):
        self.assertEqual({view for view, found in self.found.items() if found["width"] > 320}, set())

    def test_every_view_has_one_h1_landmarks_captions_and_header_cells(self):
        for view, found in self.found.items():
            with self.subTest(view=view):
                self.assertEqual((found["h1"], found["main"], found["tables"]), (1, 1, found["captions"]))
                for key in ("bare", "rows", "unlabelled", "pictures", "styled", "twice", "dangling"):
                    self.assertEqual(found[key], 0, key)

    def test_no_view_asks_anything_of_another_host(self):
        asked = {name for found in self.found.values() for name in found["asked"]}
        self.assertTrue(asked)
        self.assertEqual([name for name in asked if not name.startswith((self.served.url, "data:"))], [])

    def test_in_print_there_is_no_control_and_nothing_is_cut_off(self):
        self.open(f"{self.name}/d/{self.documents[0]}")
        self.browser.media("light", "print")
        self.assertFalse(self.browser.script("return document.getElementById('check').checkVisibility()"))
        cut = "const page = document.querySelector('.page'); return page.scrollHeight > page.clientHeight + 2"
        self.assertFalse(self.browser.script(cut))

    def test_an_address_that_names_nothing_is_a_sentence_with_a_way_back(self):
        self.open()
        first = f"{self.name}/d/{self.documents[0]}"
        for view in ("nothing", f"{self.name}/d/nothing", f"{self.name}?run=none", f"{self.name}/nothing",
                     f"{self.name}/d", f"{first}/nothing", f"{first}/prompt/x", f"{self.name}/watch/x",
                     f"{self.name}/watch?x=1", "?x=1"):
            self.assertEqual(self.turn_to(view), "This cannot be shown", view)
            self.assertTrue(self.texts("main a[href='#/']"))
        self.assertEqual({line.split(" - ")[1][:23] for line in self.browser.console()}, {"Failed to load resource"})


class TestKeyboard(InBrowser):
    def test_from_the_start_page_to_a_document_and_back(self):
        self.open()
        self.browser.keys("j")
        self.assertEqual(self.focused(), f"kit-{self.name}")
        self.browser.keys("Enter")
        self.browser.wait("document.querySelector('table.documents')")
        self.assertEqual(self.focused(), "H1")
        self.browser.keys("j", "j")
        self.assertEqual(self.focused(), f"doc-{self.documents[1]}")
        self.browser.keys("k")
        self.browser.keys("Enter")
        self.browser.wait("document.querySelector('.page')")
        self.here(self.name, "d", self.documents[0])
        self.browser.keys("j")
        self.here(self.name, "d", self.documents[1])
        self.browser.wait(f"document.querySelector('h1').textContent === {self.documents[1]!r}")
        self.browser.keys("k")
        self.browser.wait(f"document.querySelector('h1').textContent === {self.documents[0]!r}")
        self.browser.keys("Escape")
        self.browser.wait("document.querySelector('table.documents')")
        self.assertEqual(self.focused(), f"doc-{self.documents[0]}")
        self.browser.keys("Escape")
        self.browser.wait("document.querySelector('table.kits')")

    def test_j_turns_the_page_at_the_end_of_a_list_and_esc_comes_back_to_the_page_of_the_row(self):
        rows, listing.PAGE_ROWS = listing.PAGE_ROWS, 10
        self.addCleanup(setattr, listing, "PAGE_ROWS", rows)
        last, first = self.documents[9], self.documents[10]
        self.open(f"{self.name}?page=1")
        self.browser.script("document.getElementById(arguments[0]).focus()", f"doc-{last}")
        self.browser.keys("j")
        self.browser.wait(f"document.activeElement.id === 'doc-{first}'")
        self.browser.keys("k")
        self.browser.wait(f"document.activeElement.id === 'doc-{last}'")
        self.browser.keys("Enter")
        self.browser.wait("document.querySelector('.page')")
        self.browser.keys("j")
        self.browser.wait(f"document.querySelector('h1').textContent === {first!r}")
        self.browser.keys("Escape")
        self.browser.wait("document.querySelector('table.documents')")
        self.assertEqual(self.focused(), f"doc-{first}")
        self.assertIn("page=2", self.browser.script("return location.hash"))

    def test_the_words_of_a_page_are_explained_by_keyboard_on_every_kind_of_view(self):
        for view in ("", self.name, f"{self.name}/compare", f"{self.name}/watch", f"{self.name}/d/{self.documents[0]}"):
            self.open(view)
            self.assertFalse(self.browser.script("return document.querySelector('.terms dl').checkVisibility()"))
            self.browser.script("document.getElementById('terms').focus()")
            self.browser.keys("Enter")
            self.browser.wait("document.querySelector('.terms dl').checkVisibility()")
            self.assertIn("rechecked", self.texts(".terms dt"))

    def test_four_keys_lead_from_the_most_expensive_error_to_the_line_it_turns_on(self):
        self.open()
        self.browser.size(1280, 500)        # a window in which that line has to be brought into view
        self.browser.keys("1")
        self.assertEqual(self.focused(), f"worst-{self.name}")
        error = self.text(f"#worst-{self.name}")
        self.browser.keys("Enter")
        self.browser.wait("location.hash.includes('error=') && document.querySelector('table.documents')")
        self.assertEqual(set(self.texts("table.documents td .error:first-of-type")) & {error}, {error})
        opened, query = self.stage.opened(), self.browser.script("return location.hash.split('?')[1]")
        asked = listing.filters(opened, parse_qs(query))
        # Where an error is that something was seen on a page that states nothing, no line of the page decides.
        turning = [bool(page.document(opened, name, asked)["turns_on"]) for name in listing.matching(opened, asked)]
        steps = turning.index(True) + 1
        self.assertTrue(steps == 1 or self.name != LABEL, turning)
        for _ in range(steps):
            self.browser.keys("j")
        document = self.focused().removeprefix("doc-")
        self.browser.keys("Enter")
        self.browser.wait("document.activeElement.matches('mark.turns')")
        self.here(self.name, "d", document)
        top, bottom = self.browser.script("const box = document.activeElement.getBoundingClientRect();"
                                          "return [box.top, box.bottom]")
        self.assertGreaterEqual(top, 0)
        self.assertLessEqual(bottom, 500)
        self.assertIn("linked", self.browser.script("return document.activeElement.className"))
        field = self.focused().removeprefix("line-")
        said = self.texts(".note:not(.warn) p")[0]
        self.assertTrue(field in said or self.name != LABEL, said)

    def test_a_document_that_every_run_got_right_begins_at_its_heading(self):
        run = next(run for run in self.stage.opened().runs if run.id not in (self.ids["stub"], self.ids["null"]))
        right = next((name for name in self.documents if not listing.is_wrong(run, "raw", name)), None)
        if right is None:
            self.skipTest("the floor is right nowhere")
        self.open(f"{self.name}?run={run.id}&q={right}")
        self.browser.keys("j")
        self.browser.keys("Enter")
        self.browser.wait("document.querySelector('.page')")
        self.assertEqual(self.focused(), "H1")

    def test_escape_goes_up_one_level_from_every_view(self):
        self.open()
        for view in ("rules", "cost", "compare", "watch"):
            self.turn_to(f"{self.name}/{view}")
            self.browser.keys("Escape")
            self.browser.wait("document.querySelector('table.documents')")
        self.turn_to(f"{self.name}/d/{self.documents[0]}/prompt")
        self.browser.keys("Escape")
        self.here(self.name, "d", self.documents[0])

    def test_n_and_p_step_through_what_the_run_got_wrong(self):
        opened = self.stage.opened()
        run = next(run for run in opened.runs if run.id == self.ids["stub"])
        wrong = [name for name in self.documents if run.rows[name].outcome != "answered" or run.rows[name].wrong["raw"]
                 or run.rows[name].errors["raw"]]
        self.open(f"{self.name}/d/{self.documents[0]}?run={run.id}")
        for key, name in (("n", wrong[0]), ("n", wrong[1]), ("n", wrong[2]), ("p", wrong[1])):
            self.browser.keys(key)
            self.browser.wait(f"document.querySelector('h1').textContent === {name!r}")

    def test_slash_searches_and_the_address_keeps_the_search(self):
        self.open(self.name)
        self.browser.keys("/")
        self.assertEqual(self.focused(), "f-q")
        self.browser.keys(*self.documents[4])
        self.browser.wait("document.querySelectorAll('a.step').length === 1")
        self.assertEqual(self.focused(), "f-q")
        self.assertEqual(self.browser.script("return document.activeElement.value"), self.documents[4])
        self.assertIn(f"q={self.documents[4]}", self.browser.script("return location.hash"))
        self.assertIn("1 of", self.text("#status") or self.texts("#status")[0])
        self.browser.keys("Escape")
        self.browser.keys("j")
        self.assertEqual(self.focused(), f"doc-{self.documents[4]}")

    def test_question_mark_opens_the_keys_and_escape_closes_them(self):
        self.open()
        self.browser.keys("?")
        self.assertTrue(self.browser.script("return document.getElementById('help').open"))
        self.browser.keys("j")
        self.browser.keys("Escape")
        self.assertFalse(self.browser.script("return document.getElementById('help').open"))
        self.assertTrue(self.texts("table.kits"))

    def test_the_first_tab_stop_skips_to_the_content(self):
        self.open()
        self.browser.keys("Tab")
        self.assertEqual(self.focused(), "skip")
        self.browser.keys("Enter")
        self.assertEqual(self.focused(), "main")

    def test_a_focused_field_lights_its_line_and_is_described_by_it(self):
        self.open(f"{self.name}/d/{self.documents[0]}")
        field = self.browser.script("""return [...document.querySelectorAll("pre mark")].map((e) => e.dataset.fields)
          .find((name) => document.getElementById(`field-${name}`))""")
        self.browser.script("document.getElementById(arguments[0]).focus({ focusVisible: true })", f"field-{field}")
        lit = self.browser.script("return [...document.querySelectorAll('pre .linked')].map((e) => e.dataset.fields)")
        self.assertEqual(set(lit), {field})
        described = self.browser.script("return document.activeElement.getAttribute('aria-describedby')")
        self.assertEqual(described, f"line-{field}")
        outline = self.browser.script("return getComputedStyle(document.activeElement).outlineStyle")
        self.assertEqual(outline, "solid")


class TestList(InBrowser):
    def narrow(self, name):
        """Tick a filter and give the caption of the list that comes: the address changes at once, the list later."""
        self.browser.script("document.querySelector('table.documents caption').id = 'left'; "
                            "document.getElementById(arguments[0]).click()", f"f-{name}")
        self.browser.wait(f"location.hash.includes('{name}=1')")
        return self.browser.wait("document.querySelector('table.documents caption:not(#left)')?.textContent")

    def test_filters_compose_and_live_in_the_address(self):
        self.open(self.name)
        self.narrow("wrong")
        shown = self.narrow("differs")
        address = self.browser.script("return location.hash")
        self.open(address.removeprefix("#/"))
        self.assertEqual(self.texts("table.documents caption"), [shown])
        checked = "return ['f-wrong', 'f-differs'].map((id) => document.getElementById(id).checked)"
        self.assertEqual(self.browser.script(checked), [True, True])

    def test_the_last_run_that_is_shown_cannot_be_taken_away(self):
        self.open(f"{self.name}?run={self.ids['null']}")
        self.browser.script("document.querySelector('[data-run]:checked').click()")
        self.assertEqual(self.browser.script("return document.querySelector('[data-run]:checked').dataset.run"),
                         self.ids["null"])
        self.assertIn(self.ids["null"], self.browser.script("return location.hash"))
        self.assertIn("One run", self.text("#status"))

    def test_a_named_error_leads_to_its_rows(self):
        self.open(self.name)
        href, count, rows = self.browser.script("""const link = document.querySelector('.table a[href*="error="]');
          const beside = link.closest("li").querySelector("small"); link.click();
          return [link.getAttribute("href"), link.textContent.split("/")[0], beside && beside.textContent];""")
        told = rows.split()[1] if rows else count    # people of several documents: the page says of how many
        self.browser.wait(f"location.hash === {href!r}")
        self.browser.wait(f"document.querySelectorAll('table.documents a.step').length === {told}")

    def test_a_cell_of_a_matrix_leads_to_its_rows(self):
        self.open(f"{self.name}?run={self.ids['stub']}")
        link = "document.querySelector('.matrix .miss + a')"
        number = self.browser.script(f"return {link}.textContent")
        said = self.browser.script(f"return {link}.ariaLabel")
        self.assertRegex(said, rf"^{number}: gold .+, answered .+$")
        self.browser.script(f"{link}.click()")
        self.browser.wait("location.hash.includes('cell=') && document.getElementById('f-cell')")
        self.assertEqual(len(self.texts("table.documents a.step")), int(number))
        self.assertEqual(set(self.texts("table.documents .miss")), {"✗ miss"})
        self.assertEqual(self.texts(".matrix"), [])     # the figures of all documents are not those of the filter

    def test_runs_that_disagree_are_found_and_the_filter_is_exported(self):
        self.open(f"{self.name}?run={self.ids['stub']}&run={self.ids['null']}")
        self.narrow("disagrees")
        shown = self.texts("table.documents a.step")
        self.assertTrue(shown)
        csv, told = self.browser.script("return [...document.querySelectorAll('a[download]')].map((e) => e.href)")
        rows = self.served.json(told.removeprefix(self.served.url))
        self.assertEqual(list(dict.fromkeys(row["id"] for row in rows)), shown)
        self.assertEqual(self.served.get(csv.removeprefix(self.served.url))[0], 200)
        self.browser.script("document.querySelector(`[data-run='${arguments[0]}']`).click()", self.ids["stub"])
        self.browser.wait("location.hash.match(/run=/g).length === 1 && !document.getElementById('f-disagrees')")
        self.assertNotIn("disagrees", self.browser.script("return location.hash"))
        self.assertEqual(self.texts("table.documents a.step"), self.documents)

    def test_a_filter_without_meaning_leaves_a_way_back_to_the_kit(self):
        self.open(f"{self.name}?run={self.ids['stub']}&disagrees=1")
        self.assertEqual(self.text("h1"), "This cannot be shown")
        self.browser.script("document.querySelector('main a').click()")
        self.browser.wait("document.querySelector('table.documents')")
        self.browser.console()      # the address that was refused

    def test_hits_and_misses_are_told_by_sign_and_word(self):
        self.open(f"{self.name}?run={self.ids['stub']}")
        marks = set(self.texts("table.documents .hit, table.documents .miss"))
        self.assertEqual(marks, {"✓ hit", "✗ miss"})


class TestDocument(InBrowser):
    def test_the_page_stands_there_character_for_character(self):
        kit = self.stage.kit()
        self.open()
        for name in self.documents[:5]:
            self.turn_to(f"{self.name}/d/{name}")
            self.assertEqual("".join(self.texts(".page pre")), kit.text(name))

    def test_no_mark_of_the_page_is_a_stop_on_the_way_to_the_answers(self):
        self.open(f"{self.name}/d/{self.documents[0]}?run={self.ids['null']}")
        self.assertEqual(self.texts(".page [tabindex='0']"), [])
        self.assertTrue(self.texts(".page mark.turns[tabindex='-1']"))

    def test_a_replay_names_itself_with_run_arm_model_and_date(self):
        self.open(f"{self.name}/d/{self.documents[0]}?run={self.ids['null']}")
        told, = self.texts(".replays li")
        self.assertTrue(told.startswith(f"Replay of {self.ids['null']}"))
        for word in ("free floor", "arm null", "no model", "2026-09-01"):
            self.assertIn(word, told)

    def test_nothing_of_a_document_is_read_as_html(self):
        name, evil = self.documents[-1], "<img src=x onerror=\"document.title='pwned'\"><script>alert(1)</script>"
        path = self.stage.data / "corpus" / f"{name}.txt"
        kept = path.read_text()
        self.addCleanup(path.write_text, kept)
        path.write_text(kept + evil + "\n")
        self.open(f"{self.name}/d/{name}")
        self.assertIn(evil, "".join(self.texts(".page pre")))
        self.assertEqual(self.browser.script("return document.querySelectorAll('main img, main script').length"), 0)

    def test_an_emoji_before_a_value_does_not_shift_its_mark(self):
        name = self.documents[-2]
        path = self.stage.data / "corpus" / f"{name}.txt"
        kept = path.read_text()
        self.addCleanup(path.write_text, kept)
        self.open(f"{self.name}/d/{name}")
        before = self.texts("pre mark")
        self.assertTrue(before)
        head, line, tail = kept.partition("\n\n")
        path.write_text("🚜🌾👩‍🌾 " + kept)
        self.open(f"{self.name}/d/{name}")
        self.assertEqual("".join(self.texts(".page pre")), path.read_text())
        self.assertTrue(set(self.texts("pre mark")) <= set(before) | {f"🚜🌾👩‍🌾 {before[0]}"})

    def test_without_a_key_asking_is_off_and_the_reason_stands_beside_it(self):
        self.open(f"{self.name}/d/{self.documents[0]}")
        self.browser.script("document.getElementById('check').focus()")
        self.browser.keys("Enter")
        off = ("const check = document.getElementById('check');"
               "return [check.ariaDisabled, check.getAttribute('aria-describedby')]")
        self.assertEqual(self.browser.script(off), ["true", "check-says"])
        for word in ("API_KEY", ".env.example"):
            self.assertIn(word, self.text("#check-says"))
        asked = self.browser.script("return performance.getEntriesByType('resource').map((e) => e.name)")
        self.assertEqual([name for name in asked if name.endswith("/check")], [])


class TestViewsOfAKit(InBrowser):
    def test_named_errors_stand_before_intervals_and_matrices_and_each_interval_beside_null(self):
        self.open(self.name)
        drawn = "return [...document.querySelectorAll('.panels > .panel')].map((e) => e.classList[1])"
        kinds = self.browser.script(drawn)
        self.assertEqual(kinds[:2], ["table", "intervals"])
        self.assertIn("matrix", kinds)
        groups = self.texts(".intervals tbody > tr:last-child > th[scope=row]")
        self.assertEqual(set(groups), {"null baseline"})
        self.assertTrue(self.browser.script("return document.querySelectorAll('.intervals svg .null').length"))
        self.assertIn("Not measured", self.text(".panels > .note"))

    def test_a_volume_is_set_by_slider_or_number_and_lives_in_the_address(self):
        self.open(f"{self.name}/cost")
        self.assertIn("Not measured", self.text(".note.warn"))
        self.assertIn("Projection", self.text(".table caption"))
        slide = "document.getElementById('slide-documents')"
        before = int(self.browser.script("return document.getElementById('set-documents').value"))
        self.browser.script(f"{slide}.focus()")
        self.browser.keys("Right")
        self.browser.wait("location.hash.includes('documents=')")
        after = int(self.browser.wait("document.getElementById('set-documents').value"))
        self.assertGreater(after, before)
        self.browser.wait(f"document.querySelector('.table thead').textContent.includes('{after:,} documents a month')")
        self.assertEqual(self.focused(), "slide-documents")
        self.assertIn(f"{after:,}", self.browser.script(f"return {slide}.getAttribute('aria-valuetext')"))
        price = self.texts(".table tbody td:last-child")
        self.browser.script("const set = document.getElementById('set-documents'); set.value = 7;"
                            "set.dispatchEvent(new Event('change'))")
        self.browser.wait("location.hash.includes('documents=7')")
        self.browser.wait("document.querySelector('.table thead').textContent.includes('7 documents a month')")
        self.assertNotEqual(self.texts(".table tbody td:last-child"), price)

    def test_the_prompt_shades_what_is_the_same_on_every_call(self):
        self.open(f"{self.name}/d/{self.documents[0]}/prompt")
        parts = self.stage.kit().prompt(self.documents[0])
        self.assertEqual(self.texts(".note.fixed pre"), [part.text for part in parts if part.fixed])
        self.assertEqual(self.texts(".note.plain pre"), [part.text for part in parts if not part.fixed])
        self.assertIn("byte-identical", self.text(".bars caption"))

    def test_rules_show_how_many_gold_rows_each_decides(self):
        self.open(f"{self.name}/rules")
        self.assertTrue(self.texts(".bars svg rect"))
        self.assertIn("gold row", self.text(".bars caption"))

    def test_a_key_that_takes_long_is_counted_to_its_end_while_the_view_is_open(self):
        with mock.patch.object(app, "COUNT_FIRST", 0):
            self.served.board.shelf = self.stage.shelf()       # one that has counted nothing yet
            self.open(f"{self.name}/rules")
            self.browser.wait("!document.querySelector('.note.warn') && document.querySelector('.bars')")
        self.assertIn("gold rows", self.text("main"))

    def test_what_stands_between_backticks_in_prose_is_code(self):
        self.open(f"{self.name}/watch")
        self.assertTrue([text for text in self.texts("main code") if text.startswith("python -m ")])
        self.assertNotIn("`", self.text())

    def test_two_runs_are_chosen_by_their_ids(self):
        self.open(f"{self.name}/compare")
        arm = next(arm for arm in self.ids if arm not in ("null", "stub"))
        for name, run in (("second", self.ids["stub"]), ("first", self.ids[arm]), ("second", self.ids["null"])):
            self.browser.wait(f"[...document.getElementById('f-{name}').options].some((e) => e.value === '{run}')")
            self.browser.script("const choice = document.getElementById(arguments[0]); choice.value = arguments[1];"
                                "choice.dispatchEvent(new Event('change'))", f"f-{name}", run)
            self.browser.wait(f"location.hash.includes('{name}={run}')")
        self.browser.wait("[...document.querySelectorAll('.panel thead')].some((e) => e.textContent === "
                          f"'guard{arm}null')")
        guards = self.texts(".panel caption")[0]
        self.assertIn("equal before anything is differenced", guards)
        offered = self.browser.script("return [...document.getElementById('f-second').options].map((e) => e.value)")
        self.assertNotIn(self.ids[arm], offered)
        link, run = self.browser.script("""const link = document.querySelector(".panel a[href*='/d/']");
          link.click(); return [link.textContent, link.hash.split("?")[1]]""")
        self.assertEqual(run, f"run={self.ids[arm]}&run={self.ids['null']}")
        self.browser.wait(f"document.querySelector('h1').textContent === {link!r} && document.querySelector('.page')")

    def test_the_guardrails_are_a_view_of_their_own(self):
        self.open(f"{self.name}/watch")
        self.assertEqual(self.texts(".tabs [aria-current]"), ["Watch"])
        self.assertTrue(self.texts("main .panel"))


@unittest.skipUnless(LABEL in kits.names(), f"{LABEL} is not in this checkout")
class TestLabelRestrict(InBrowser):
    def test_needs_hold_without_its_values_is_not_computed_and_says_why(self):
        self.open(f"{self.name}/d/{self.documents[0]}?run={self.ids['null']}")
        panel = self.text(".panel.state")
        self.assertIn("not computed", panel)
        self.assertIn("verdict is missing", panel)
        self.assertIn("not computed", self.texts("tr[data-fields=needs_hold] td")[1])

    def test_a_blame_is_told_in_list_note_ladder_and_on_the_line(self):
        run = self.ids["note-tone"]
        self.open(f"{self.name}?run={run}&blame=misread+value&error=unsafe_clearance")
        name, told = self.texts("table.documents a.step")[0], self.texts("table.documents td:last-child small")[0]
        found = self.served.json(f"/api/kits/{self.name}/documents.json?run={run}&q={name}")[0]
        self.assertEqual(told, f"misread value of {found['blame_field']} at {found['blame_rule']}")
        self.open(f"{self.name}/d/{name}?run={run}")
        self.assertIn(found["blame_rule"], self.texts(".note.warn p")[0])
        rung = self.browser.script("""return document.querySelector(".ladder .error").closest("tr")
          .querySelector("th").innerText""")
        self.assertIn(found["blame_rule"], rung)
        marked = "return [...document.querySelectorAll('pre mark.blamed')].map((e) => e.dataset.fields)"
        fields = self.browser.script(marked)
        self.assertEqual(fields, [found["blame_field"]])

    def test_the_withheld_section_says_that_it_stays_here(self):
        self.open(f"{self.name}/d/{self.documents[0]}")
        self.assertEqual(self.texts(".withheld .stamp"), ["Withheld: stays on this machine"])
        self.assertTrue(self.texts(".withheld pre")[0].startswith("Product and Registration"))

    def test_the_ladder_shows_values_operator_and_distance(self):
        kit = self.stage.kit()
        rule = next(rule for rule in kit.book.table.rules if rule["field"] == "days_to_harvest")
        row = next(row for row in kit.gold()
                   if (row["verdict"], row["deciding_restriction"]) == (rule["decision"], rule["id"]))
        self.open(f"{self.name}/d/{row['id']}")
        step = self.texts(".ladder td.breached")[0]
        self.assertIn(f"{row['days_to_harvest']} days ≥ {row['pre_harvest_interval_days']} days", step)
        self.assertIn("short by", step)


class TestAsking(InBrowser):
    @classmethod
    def setUpClass(cls):
        cls.replies = []
        cls.provider = cls.enterClassContext(LocalProvider(lambda body: cls.replies.pop()))
        cls.environ = cls.provider.environment(MODEL="some-model-1")
        super().setUpClass()

    def test_an_answer_is_drawn_beside_gold_and_the_replay_comes_back(self):
        kit = self.stage.kit()
        row = next(kit.gold())
        self.replies.append(to_json({key: row[key] for key in kit.definition.keys(kit.book)}))
        self.open(f"{self.name}/d/{row['id']}")
        for word in ("some-model-1", "input tokens", "unknown price"):
            self.assertIn(word, self.text("#check-says"))
        self.browser.script("""const status = document.getElementById("status"); window.heard = [];
          new MutationObserver(() => heard.push(status.textContent)).observe(status, { childList: true });""")
        self.browser.script("document.getElementById('check').click()")
        self.browser.wait("document.getElementById('replay')")
        heard = self.browser.script("return window.heard")
        self.assertTrue([text for text in heard if "characters of the answer have come" in text], heard)
        told, = self.texts(".replays li")
        self.assertTrue(told.startswith("An answer of this minute: asked just now, arm model, model some-model-1"))
        self.assertEqual(set(self.texts(".fields .hit, .fields .miss")), {"✓ hit"})
        self.assertIn("100 input tokens, 20 output tokens", self.text("#check-says"))
        self.browser.script("document.getElementById('replay').click()")
        self.browser.wait("document.querySelector('.replays li').textContent.startsWith('Replay')")

    def test_a_reply_that_is_none_is_a_readable_sentence_without_key_or_address(self):
        self.replies.append(f"no idea; {self.environ['API_KEY']} {self.provider.url}")
        self.open(f"{self.name}/d/{self.documents[1]}?q={self.documents[1]}")
        self.browser.script("document.getElementById('check').click()")
        self.browser.wait("document.getElementById('replay')")
        page = self.text()
        self.assertIn("No answer (unparsed)", page)
        self.assertTrue(self.text("#check-says").startswith("No answer (unparsed)"))
        self.assertIn("1 of 1 in this list", page)      # the filter of the address goes on
        for secret in (self.environ["API_KEY"], self.provider.url):
            self.assertNotIn(secret, page)


class TestAskingNobody(InBrowser):
    environ = {"BASE_URL": "http://127.0.0.1:9/v1", "API_KEY": "sk-nobody-0123456789", "MODEL": "some-model-1",
               "RETRIES": "0"}

    def test_a_server_that_is_not_there_is_a_sentence_with_a_remedy(self):
        self.open(f"{self.name}/d/{self.documents[0]}")
        self.browser.script("document.getElementById('check').click()")
        self.browser.wait("document.getElementById('replay')")
        self.assertIn("check that the server at BASE_URL is up", self.text(".right"))
        self.assertNotIn("127.0.0.1:9", self.text())


if __name__ == "__main__":
    unittest.main()
