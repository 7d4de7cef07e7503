"""Faults planted in a copy of a kit's data, for the tests of label gates: a value, a key, a row or a letter changed.

A gate is shown to be one by what it catches, so a test draws changes of every sort over every file and asks the gate of
each. Nothing here knows what a change means; which ones mean nothing is for the kit's test to prove.
"""
import json
import os
import random
import re
import shutil
import tempfile
from collections import Counter, namedtuple
from pathlib import Path

from evals.shared import labels, page, strict

# file in the data folder, its text with the change, where it is (a path of keys, or a line number), and the value,
# line or key before and after it
Mutant = namedtuple("Mutant", "file text sort where before after")
FLAGS = page.KEPT_APART
SHAPES = int(os.environ.get("SHAPES", 10))      # values of another kind that are tried in each file
ODD = (None, True, 7, 2.5, "x", [], [7], {}, {"x": 7})     # what a hand may leave where something else is wanted
TABLE_ROW = re.compile(r"\|(?!-).*\|")


class Copy:
    """A copy of the data in `home`, made once for a class of tests; what one test changes is put back behind it.

    Mixed into a TestCase that names its `home` and its `gate`.
    """

    home = gate = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.data, cls._clean = Path(place.name), {}
        (cls.data / "corpus").mkdir()
        for path in [*cls.home.iterdir(), *(cls.home / "corpus").iterdir()]:
            if path.is_file():
                cls.restore(path.relative_to(cls.home))

    def tearDown(self):
        now = {path.relative_to(self.data): path for path in [*self.data.iterdir(), *(self.data / "corpus").iterdir()]
               if path.is_file()}
        for name in now.keys() - self._clean.keys():
            now[name].unlink()
        for name, changed in self._clean.items():
            if name not in now or now[name].stat().st_mtime_ns != changed:
                self.restore(name)
        super().tearDown()

    @classmethod
    def restore(cls, file):
        """Put one file back as it is committed."""
        shutil.copy(cls.home / file, cls.data / file)
        cls._clean[Path(file)] = (cls.data / file).stat().st_mtime_ns

    def problems(self, prompts=None):
        """What the gate says of the copy, a sentence each."""
        return [str(problem) for problem in self.gate.check(self.data, prompts).problems]

    def of_key(self):
        """What the gate says of the files by which documents are judged, before it looks at any document."""
        report = labels.Report(self.data, self.gate.FILES)
        self.gate.read_key(report)
        return [str(problem) for problem in report.problems]

    def named(self, file, old, new, *words):
        """Plant one fault; each of the words has to stand in what the gate says. The file is put back."""
        self.rewrite(file, old, new)
        told = "\n".join(self.of_key() if file.startswith("policy") else self.problems())
        self.restore(file)
        for word in words:
            self.assertIn(word, told)

    def survives(self, file, read):
        """Put a value of another kind in places all over a JSON file: `read(report)` reports it and never raises."""
        value, chance, told = parsed(file, (self.data / file).read_text("utf-8")), random.Random(file), 0
        places = [path for path, _ in _nodes(value) if path]
        places = chance.sample(places, min(len(places), SHAPES))
        for path in places:
            holder = _at(value, path[:-1])
            kept, holder[path[-1]] = holder[path[-1]], chance.choice(ODD)
            self.write(file, written(file, value))
            holder[path[-1]], report = kept, labels.Report(self.data, self.gate.FILES)
            read(report)
            told += bool(report.problems)
        # Some may be null, and planned numbers are held against what is counted, which `read` does not do.
        self.assertGreater(told, 0.3 * len(places), file)
        self.restore(file)

    def write(self, file, text):
        (self.data / file).write_text(text, "utf-8")

    def rewrite(self, file, old, new):
        """Change a text in a file, where it stands first."""
        text = (self.data / file).read_text("utf-8")
        self.assertIn(old, text)
        self.write(file, text.replace(old, new, 1))

    def change(self, file, change):
        """Change a JSON file by `change(its value)`, a JSON-lines file as the list of its rows."""
        value = parsed(file, (self.data / file).read_text("utf-8"))
        change(value)
        self.write(file, written(file, value))


class Mutated(Copy):
    """Change one thing anywhere, and the gate objects, or the change is proven to mean nothing.

    A kit's test names the `parts` of its gate, what is `words` for people and `orderless`, and a `reason` of its own.
    """

    parts = {}          # {file: function(report) of the gate that judges it by itself}
    words = {}          # {file: keys whose values people alone read}
    orderless = ()      # files whose entries may stand in any order
    turns, seed = 75, 20260901

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        report = labels.Report(cls.data, cls.gate.FILES)
        cls.key = cls.gate.read_key(report)
        cls.found, cls.counts = cls.gate.check_documents(report, cls.key), report.counts
        cls.texts = {file: (cls.home / file).read_text("utf-8") for file in cls.gate.FILES}
        cls.pages = {f"corpus/{path.name}": path.read_text("utf-8") for path in sorted((cls.home / "corpus").iterdir())}

    def test_every_single_change_is_caught_or_proven_harmless(self):
        chance, ended, unseen = random.Random(self.seed), Counter(), []
        for turn in range(self.turns):
            mutant = self.mutant(chance, turn)
            how = "caught" if self.is_caught(mutant) else self.harmless(mutant) or "UNSEEN"
            ended[mutant.file.split("/")[0], how] += 1
            unseen += [mutant._replace(text="")] if how == "UNSEEN" else []
        self.assertEqual(unseen, [], sorted(ended.items()))
        self.assertGreater(sum(times for (_, how), times in ended.items() if how == "caught"), 0.8 * self.turns)

    def test_no_field_is_read_otherwise_without_the_gate(self):
        for file in ("fields.json", "facts.json"):
            listed = parsed(file, self.texts[file]) if file in self.texts else {}

            def told(changed):
                self.write(file, json.dumps(changed))
                return self.of_key()
            if "fields" in listed:
                every_change_is_told(self, {"units": {}, **listed}, told)
                self.restore(file)

    def mutant(self, chance, turn):
        """The next change: each file of the gate in turn, and a page three times as often."""
        files = [*self.texts, *[chance.choice(list(self.pages)) for _ in "123"]]
        file = files[turn % len(files)]
        if file in self.pages:
            return in_lines(chance, file, self.pages[file])
        return (in_tables if file.endswith(".md") else in_json)(chance, file, self.texts[file])

    def is_caught(self, mutant):
        """Whether the gate objects to a change, which is put back.

        Its own part for the changed file is asked first, and the whole gate where that part is content: what a part
        reports the whole reports as well, since the whole calls it with the same arguments.
        """
        self.write(mutant.file, mutant.text)
        report = labels.Report(self.data, self.gate.FILES)
        document = self.document(mutant)
        if document:
            rows = [strict.Rows(report, file).get(document) for file in ("facts.jsonl", "gold.jsonl")]
            self.gate.check_document(report, self.key, document, *rows)
        elif mutant.file == "stats.json":
            report.counts.update(self.counts)
            self.gate.check_counts(report, self.key, *self.found)
        elif mutant.file in self.parts:
            self.parts[mutant.file](report)
        found = bool(report.problems) or bool(self.problems())
        self.restore(mutant.file)
        return found

    def document(self, mutant):
        """The document that a change is to, None for one that is to many or to none."""
        if mutant.file in self.pages:
            return Path(mutant.file).stem
        if not mutant.file.endswith("l") or len(mutant.where) < 2:
            return None
        return parsed(mutant.file, self.texts[mutant.file])[mutant.where[0]]["id"]

    def harmless(self, mutant):
        """Why a change that the gate lets pass means nothing; None where nobody knows."""
        if mutant.file in self.pages:
            if sorted(mutant.text.split("\n")) == sorted(self.pages[mutant.file].split("\n")):
                return "the same lines in another order, dated lines in that of their dates"
        elif not mutant.file.endswith(".md"):
            if strict.same(parsed(mutant.file, self.texts[mutant.file]), parsed(mutant.file, mutant.text)):
                return "it says the same"
            if mutant.after == "moved" and mutant.file in self.orderless:
                return "the order of these entries says nothing"
            if mutant.sort == "value" and mutant.where[-1] in self.words.get(mutant.file, ()):
                return "words for people"
        return self.reason(mutant)

    def reason(self, mutant):
        """A kit's own reason why a change means nothing."""
        return None

    def is_on_a_page(self, text, slots, flags=0):
        """Whether some page holds a text of the pools, its `slots` (a pattern) filled with anything."""
        pattern = re.compile(".+?".join(map(re.escape, re.split(slots, text))), flags)
        return any(map(pattern.search, self.pages.values()))


def every_change_is_told(test, listed, told, several=30):
    """Assert that each flag that a field has, taken off it, and `several` other changes of a list of fields are told.

    `listed` {"fields": [entry], "units": {unit: [spelling]}}; `told(changed)` gives the problems of another such list.
    """
    changes = list(_field_changes(listed))
    off = [change for change in changes if change[-1] in FLAGS and change[1] is None]
    for change in off + random.Random(20260822).sample(changes, several):
        changed, (*path, last), other = json.loads(json.dumps(listed)), change[0], change[1]
        holder = _at(changed, path)
        if other is None:
            del holder[last]
        else:
            holder[last] = other
        with test.subTest(path=change[0], other=other):
            test.assertTrue(told(changed))


def _field_changes(listed):
    """(path, another value or None for none, the key) of every key of every field, and of every unit's spellings."""
    for place, field in enumerate(listed["fields"]):
        for key, value in field.items():
            yield ("fields", place, key), None, key
            for other in [value[1:], [*value, "zzz"]] if type(value) is list else [not value] if value in (
                    True, False) else [f"{value}x", ""]:
                yield ("fields", place, key), other, key
        for key in FLAGS:
            if key not in field:
                yield ("fields", place, key), True, key
        yield ("fields", place), None, None
    for unit, spellings in listed["units"].items():
        yield ("units", unit), spellings[1:], None
        yield ("units", unit), None, None


def parsed(file, text):
    """The value of a JSON file, a JSON-lines file as the list of its rows."""
    return [json.loads(line) for line in text.splitlines()] if file.endswith("l") else json.loads(text)


def written(file, value):
    """A value as the text of a JSON file."""
    if file.endswith("l") and type(value) is list:
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in value)
    return json.dumps(value, ensure_ascii=False)


def in_json(chance, file, text):
    """A Mutant of a JSON file: mostly one value changed, else a key or an entry taken away, added or moved."""
    value = parsed(file, text)
    nodes = list(_nodes(value))
    lists = [node for node in nodes if isinstance(node[1], list) and node[1]]
    sort = chance.choice(("value",) * 6 + ("key",) + ("entry",) * bool(lists))
    if sort == "value":
        path, before = chance.choice([node for node in nodes if not isinstance(node[1], (dict, list))])
        after = changed(chance, before)
        _at(value, path[:-1])[path[-1]] = after
    elif sort == "key":
        path, holder = chance.choice([node for node in nodes if isinstance(node[1], dict) and node[1]])
        name = chance.choice(list(holder))
        path, before, after = (*path, name), name, chance.choice((None, name + "x", spoiled(chance, name)))
        found = {after if key == name else key: entry for key, entry in holder.items() if after or key != name}
        holder.clear()
        holder.update(found)
    else:
        path, rows = chance.choice(lists)
        place, how = chance.randrange(len(rows)), chance.choice(("gone", "twice", "moved"))
        path, before, after = (*path, place), rows[place], how
        if how == "moved":
            rows.insert(chance.randrange(len(rows)), rows.pop(place))
        else:
            rows[place:place + 1] = [before, before] if how == "twice" else []
    return Mutant(file, written(file, value), sort, path, before, after)


def in_lines(chance, file, text, fits=lambda line: line):
    """A Mutant of a text: a sign of a line that `fits` changed, or its line taken away, doubled or moved by one."""
    lines = text.split("\n")
    place = chance.choice([place for place, line in enumerate(lines) if fits(line)])
    before, sort = lines[place], chance.choice(("sign",) * 6 + ("word", "gone", "twice", "moved"))
    sort = "sign" if sort == "word" and not re.search(r"\w", before) else sort
    if sort in ("sign", "word"):
        lines[place] = spoiled(chance, before) if sort == "sign" else re.sub(r"\w+", "", before, count=1)
    elif sort == "moved":
        other = (place + 1) % len(lines)
        lines[place], lines[other] = lines[other], lines[place]
    else:
        lines[place:place + 1] = [before, before] if sort == "twice" else []
    after = lines[place] if sort in ("sign", "word") else sort
    return Mutant(file, "\n".join(lines), sort, place, before, after)


def in_tables(chance, file, text):
    """A Mutant of a row of a table in Markdown."""
    return in_lines(chance, file, text, TABLE_ROW.fullmatch)


def changed(chance, value):
    """Another value than this one: near it, of another kind that looks alike, or none at all."""
    if isinstance(value, bool):
        options = [not value, int(value), str(value).lower(), None]
    elif isinstance(value, (int, float)):
        options = [value + 1, value - 1, str(value), bool(value), None] + [float(value)] * isinstance(value, int)
    elif value is None:
        options = [0, "", "none", False]
    else:
        options = [spoiled(chance, value) for _ in range(4)] + [value + " ", None]
    return chance.choice(options)


def spoiled(chance, text):
    """The text with one letter, digit or sign of it changed; x behind one that has none."""
    spots = [place for place, sign in enumerate(text) if sign.isalnum() or sign in "<>=-"]
    if not spots:
        return text + "x"
    place = chance.choice(spots)
    pool = "0123456789" if text[place].isdigit() else "abcdefghijklmnopqrstuvwxyz" if text[place].isalpha() else "<>=!"
    return text[:place] + chance.choice([sign for sign in pool if sign != text[place].lower()]) + text[place + 1:]


def _nodes(value, path=()):
    """(path, value) of everything in a JSON value, itself first."""
    yield path, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from _nodes(child, (*path, key))


def _at(value, path):
    for key in path:
        value = value[key]
    return value
