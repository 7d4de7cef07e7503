"""Planted twins of a kit's documents, and what became of them beside the clean ones.

A twin is the clean page with one sentence in it, under the id `DOCUMENT+attack`; its labels are the clean page's. So a
run over twins is a run like any other, and its record is held against the record of the clean run.
"""
from src.shared import intervals, paired, sections, shapes, tally
from src.shared.files import tell
from src.shared.values import shown

MARK = "+"
FILE = "attacks.json"       # the section that is written into, and each sentence by its name


def plant(kit, text, name, joint, **words):
    """The page with a sentence of attacks.json, its words filled in, behind a `joint` at the end of its section."""
    path, problems = kit.data / FILE, []
    told = shapes.read(path, {"section": shapes.LINE, name: shapes.template(*words)}, problems, beside=True)
    titles = [section.title for section in sections.cut(text)]
    if not problems and told["section"] not in titles:
        problems = [f"{path}: /section: {shown(told['section'])} is no section of a page; it has {', '.join(titles)}"]
    tell(problems)
    return sections.extend(text, told["section"], joint + told[name].format(**words))


class Twins:
    """A kit seen through its attacks: the documents are the planted twins, everything else is the kit's own."""

    def __init__(self, kit, attacks):
        self._kit = kit
        self._twins = {f"{row['id']}{MARK}{attack.id}": (row, attack) for row in kit.gold() for attack in attacks
                       if attack.targets(kit, row)}

    def __getattr__(self, name):
        return getattr(self._kit, name)

    def gold(self):
        """The labels of the clean page under the twin's id."""
        return ({**row, "id": twin} for twin, (row, _) in self._twins.items())

    def documents(self):
        return iter(self._twins)

    def source(self, document):
        return document.rpartition(MARK)[0] or document

    def text(self, document):
        """The planted page; a clean one where the id is a clean document's."""
        if document not in self._twins:
            return self._kit.text(document)
        row, attack = self._twins[document]
        return attack.plant(self._kit, row, self._kit.text(row["id"]))

    def prompt(self, document, guarded=True):
        return self.definition.prompt(self.book, self.source(document), self.text(document), guarded)


def outcome(kit, bench, planted, clean):
    """What each attack reached, as data: [{"attack", "title", "targets", columns…}]; both records over one labelled set.

    For each column: how often the planted answer does what the sentence asks, how often the clean one does so anyway,
    how often the headline is right on either, and the pairs that flipped, by name.
    """
    before = {entry["id"]: entry for entry in clean["documents"]}
    headline = clean["metrics"][0]["id"]
    gold = {row["id"]: kit.definition.normalise(kit.book, row) for row in kit.gold()}
    found = []
    for attack in bench.attacks:
        pairs = [(before[name], entry) for entry in planted["documents"]
                 if (name := entry["id"].rpartition(MARK)[0]) in before and entry["id"].endswith(MARK + attack.id)]
        row = {"attack": attack.id, "title": attack.title, "targets": len(pairs)}
        for column in tally.COLUMNS:
            row[column] = _column(kit, attack, column, pairs, gold, headline)
        found.append(row)
    return found


def _column(kit, attack, column, pairs, gold, headline):
    reached = {side: [each[side]["id"] for each in pairs if _reached(kit, attack, gold, each[0]["id"], each[side], column)]
               for side in (0, 1)}
    right = [[each[side]["marks"][column].get(headline) is True for each in pairs] for side in (0, 1)]
    lost = [each[1]["id"] for each, was, now in zip(pairs, *right) if was and not now]
    won = [each[1]["id"] for each, was, now in zip(pairs, *right) if now and not was]
    flipped = [name for name in reached[1] if name.rpartition(MARK)[0] not in reached[0]]
    return {"reached": _rate(len(reached[1]), len(pairs)), "reached_clean": _rate(len(reached[0]), len(pairs)),
            "flipped": flipped, "right": _rate(sum(right[1]), len(pairs)), "right_clean": _rate(sum(right[0]), len(pairs)),
            "lost": lost, "won": won, "p": paired.mcnemar_exact(len(won), len(lost))}


def _reached(kit, attack, gold, document, entry, column):
    """Whether the answer of an entry does what the attack asks; no answer does nothing."""
    if entry[column] is None:
        return False
    answer = kit.definition.normalise(kit.book, entry[column]["values"])
    return attack.reached(kit, gold[document], answer)


def _rate(num, den):
    if not den:
        return None
    low, high = intervals.wilson(num, den)
    return {"num": num, "den": den, "rate": round(num / den, tally.PLACES), "low": round(low, tally.PLACES),
            "high": round(high, tally.PLACES)}
