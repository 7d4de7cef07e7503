"""The board as a person meets it: the real page in headless Chromium, by keyboard, in both themes, at 320 pixels."""
import unittest

from evals.shared import browser, showing
from evals.shared.provider import LocalProvider
from evals.shared.test_app import Served
from src.shared import kit as kits
from src.shared.files import to_json

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
    unlabelled: all("input, select").filter((e) => !e.labels.length).length,
    twice: all("[id]").length - new Set(all("[id]").map((e) => e.id)).size,
    dangling: all("[aria-describedby]").filter((e) => !named(e)).length,
    asked: performance.getEntriesByType("resource").map((e) => e.name) };"""


def setUpModule():
    """One browser for all tests of this file: starting it takes longer than most of them."""
    if not browser.missing():
        InBrowser.browser = unittest.enterModuleContext(browser.Browser())


@unittest.skipIf(browser.missing(), f"no browser: {browser.missing()}")
class InBrowser(unittest.TestCase):
    """One board over a staged kit for a class of tests; the console has to stay empty."""

    wanted, environ = None, {}

    @classmethod
    def setUpClass(cls):
        cls.stage = showing.Stage(cls.wanted or KIT)
        cls.addClassCleanup(cls.stage.close)
        cls.ids = cls.stage.floors()
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
        for view in ("", cls.name, f"{cls.name}?run={stub}&wrong=1", f"{cls.name}/rules", first, f"{first}/prompt",
                     f"{cls.name}/d/{cls.documents[2]}?run={stub}&run={null}", "nothing"):
            cls.found[view] = cls.looked_at(view)

    @classmethod
    def looked_at(cls, view):
        page = cls.browser
        page.size(1280, 900)
        page.go(f"{cls.served.url}#/{view}")
        page.wait("document.querySelector('h1')")
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
                self.assertEqual([found[key] for key in ("bare", "rows", "unlabelled", "twice", "dangling")], [0] * 5)

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
        for view in ("nothing", f"{self.name}/d/nothing", f"{self.name}?run=none"):
            self.assertEqual(self.open(view), "This cannot be shown")
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
        self.assertEqual(self.focused(), "H1")
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
        field = self.browser.script("return document.querySelector('mark').dataset.fields")
        self.browser.script("document.getElementById(arguments[0]).focus({ focusVisible: true })", f"field-{field}")
        lit = self.browser.script("return [...document.querySelectorAll('pre .linked')].map((e) => e.dataset.fields)")
        self.assertEqual(set(lit), {field})
        described = self.browser.script("return document.activeElement.getAttribute('aria-describedby')")
        self.assertEqual(described, f"line-{field}")
        outline = self.browser.script("return getComputedStyle(document.activeElement).outlineStyle")
        self.assertEqual(outline, "solid")


class TestList(InBrowser):
    def test_filters_compose_and_live_in_the_address(self):
        self.open(self.name)
        self.browser.script("document.getElementById('f-wrong').click()")
        self.browser.wait("location.hash.includes('wrong=1')")
        self.browser.script("document.getElementById('f-differs').click()")
        self.browser.wait("location.hash.includes('differs=1')")
        shown = self.browser.wait("document.querySelector('table.documents caption').textContent")
        address = self.browser.script("return location.hash")
        self.open(address.removeprefix("#/"))
        self.assertEqual(self.texts("table.documents caption"), [shown])
        checked = "return ['f-wrong', 'f-differs'].map((id) => document.getElementById(id).checked)"
        self.assertEqual(self.browser.script(checked), [True, True])

    def test_a_named_error_leads_to_its_rows(self):
        self.open(self.name)
        href, count, rows = self.browser.script("""const link = document.querySelector('.table a[href*="error="]');
          const beside = link.closest("li").querySelector("small"); link.click();
          return [link.getAttribute("href"), link.textContent.split("/")[0], beside && beside.textContent];""")
        told = rows.split()[1] if rows else count    # people of several documents: the page says of how many
        self.browser.wait(f"location.hash === {href!r}")
        self.browser.wait(f"document.querySelectorAll('table.documents a.step').length === {told}")

    def test_hits_and_misses_are_told_by_sign_and_word(self):
        self.open(f"{self.name}?run={self.ids['stub']}")
        marks = set(self.texts("table.documents .hit, table.documents .miss"))
        self.assertEqual(marks, {"✓ hit", "✗ miss"})


class TestDocument(InBrowser):
    def test_the_page_stands_there_character_for_character(self):
        kit = self.stage.kit()
        for name in self.documents[:5]:
            self.open(f"{self.name}/d/{name}")
            self.assertEqual("".join(self.texts(".page pre")), kit.text(name))

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
        before = self.texts("mark")
        self.assertTrue(before)
        head, line, tail = kept.partition("\n\n")
        path.write_text("🚜🌾👩‍🌾 " + kept)
        self.open(f"{self.name}/d/{name}")
        self.assertEqual("".join(self.texts(".page pre")), path.read_text())
        self.assertTrue(set(self.texts("mark")) <= set(before) | {f"🚜🌾👩‍🌾 {before[0]}"})

    def test_check_without_a_key_gives_the_sentence_and_spends_nothing(self):
        self.open(f"{self.name}/d/{self.documents[0]}")
        self.browser.script("document.getElementById('check').focus()")
        self.browser.keys("Enter")
        self.browser.wait("document.getElementById('status').textContent.includes('.env.example')")
        self.assertIn("API_KEY", self.text("#check-says"))
        self.assertEqual(self.focused(), "check")


@unittest.skipUnless(LABEL in kits.names(), f"{LABEL} is not in this checkout")
class TestLabelRestrict(InBrowser):
    wanted = LABEL

    def test_needs_hold_without_its_values_is_not_computed_and_says_why(self):
        self.open(f"{self.name}/d/{self.documents[0]}?run={self.ids['null']}")
        panel = self.text(".panel.state")
        self.assertIn("not computed", panel)
        self.assertIn("verdict is missing", panel)
        self.assertIn("not computed", self.texts("tr[data-fields=needs_hold] td")[1])

    def test_the_withheld_section_says_that_it_stays_here(self):
        self.open(f"{self.name}/d/{self.documents[0]}")
        self.assertEqual(self.texts(".withheld .stamp"), ["Withheld: stays on this machine"])
        self.assertTrue(self.texts(".withheld pre")[0].startswith("Product and Registration"))

    def test_the_ladder_shows_values_operator_and_distance(self):
        row = next(row for row in self.stage.kit().gold() if row["verdict"] == "wait_required"
                   and row["deciding_restriction"] == "pre_harvest_interval")
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
        self.assertIn("some-model-1", self.text("#check-says"))
        self.browser.script("document.getElementById('check').click()")
        self.browser.wait("document.getElementById('replay')")
        told, = self.texts(".replays li")
        self.assertTrue(told.startswith("An answer of this minute: asked just now, arm model, model some-model-1"))
        self.assertEqual(set(self.texts(".fields .hit, .fields .miss")), {"✓ hit"})
        self.browser.script("document.getElementById('replay').click()")
        self.browser.wait("document.querySelector('.replays li').textContent.startsWith('Replay')")


if __name__ == "__main__":
    unittest.main()
