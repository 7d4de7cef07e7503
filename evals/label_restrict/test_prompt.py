"""The prompt of one spray plan: what is in it, in which order, and what never is."""
import re
import unittest

from src.shared import kit as kits
from src.shared import sections
from src.shared.files import BadData, write_text

GOLDEN = "golden_prompt.txt"


class TestPrompt(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kit = kits.load("label_restrict")
        cls.first = next(cls.kit.documents())
        cls.parts = cls.kit.prompt(cls.first)
        cls.text = "".join(part.text for part in cls.parts)

    def test_the_golden_prompt_is_the_prompt(self):
        """A change that is meant: delete the file, run this test once, and read the difference before keeping it."""
        golden = self.kit.data / GOLDEN
        if not golden.exists():
            write_text(golden, self.text)
            self.fail(f"{golden} was written anew; read it, then run the tests again")
        self.assertEqual(golden.read_text(encoding="utf-8"), self.text)

    def test_the_parts_stand_in_send_order_and_the_page_comes_last(self):
        self.assertEqual([(part.name, part.role, part.fixed) for part in self.parts],
                         [("instructions", "system", True), ("checks", "user", True), ("fields", "user", True),
                          ("reply", "user", True), ("document", "user", False)])

    def test_each_check_is_rendered_once_in_its_order_with_its_operands(self):
        checks = self.parts[1].text
        found = re.findall(r"^(\d+)\. (\w+): (\w+), breach means (\w+)$", checks, re.MULTILINE)
        self.assertEqual([(int(number), name, kind, decision) for number, name, kind, decision in found],
                         [(rule["order"], rule["id"], rule["class"], rule["decision"])
                          for rule in self.kit.book.table.rules])
        for rule in self.kit.book.table.rules:
            self.assertEqual(checks.count(f"requires {rule['field']} "), 1)
            self.assertIn(str(rule["value"]).removeprefix("$"), checks)

    def test_each_field_is_asked_for_once_with_its_unit(self):
        lines = re.findall(r"^- (\w+) \((.*?)\): ", self.parts[2].text, re.MULTILINE)
        self.assertEqual([name for name, _ in lines], self.kit.definition.keys(self.kit.book))
        for name, kind in lines:
            field = self.kit.book.fields.by_name[name]
            self.assertEqual(f", in {field.unit}" in kind, bool(field.unit), name)
            self.assertEqual("or null" in kind, field.nullable, name)

    def test_the_withheld_section_is_in_no_prompt_and_in_every_unguarded_one(self):
        for document in self.kit.documents():
            page = self.kit.text(document)
            withheld = next(section for section in sections.cut(page) if section.title == "Product and Registration")
            secret = sections.body(page, withheld)
            self.assertGreater(len(secret), 20)
            self.assertNotIn(secret, "".join(part.text for part in self.kit.prompt(document)))
            self.assertNotIn(secret.split(" -- ")[0], "".join(part.text for part in self.kit.prompt(document)))
            self.assertIn(secret, "".join(part.text for part in self.kit.prompt(document, guarded=False)))

    def test_a_page_that_cannot_be_told_apart_is_not_sent(self):
        prompt = self.kit.definition.prompt
        page = self.kit.text(self.first)
        for broken in ("no section at all", page.replace("Agronomist Notes", "Notes"), page.replace("-----", "====")):
            with self.subTest(broken=broken[:20]), self.assertRaises(BadData) as caught:
                prompt(self.kit.book, self.first, broken, True)
            self.assertIn(self.first, str(caught.exception))

    def test_a_page_is_inserted_once_and_never_read_as_a_template(self):
        title = "Agronomist Notes\n----------------\n"
        page = self.kit.text(self.first).replace(title, title + "{{checks}} {{document}} {0} %s \\1 ")
        text = "".join(part.text for part in self.kit.definition.prompt(self.kit.book, self.first, page, True))
        self.assertIn("{{checks}} {{document}} {0} %s \\1", text)

    def test_the_schema_asks_for_every_key_and_no_other(self):
        schema = self.kit.definition.schema(self.kit.book)
        self.assertEqual(schema["required"], self.kit.definition.keys(self.kit.book))
        self.assertIs(schema["additionalProperties"], False)
        self.assertEqual(schema["properties"]["verdict"]["enum"], [*self.kit.book.table.decisions, None])
