"""What every kit's label gate reports and counts: problems, the joins of corpus and key, floors, the privacy guard.

A gate derives the labels again without the code it judges, so nothing here or in `strict`, `page` and `ledger` imports
anything but the standard library. Nothing raises on bad data: it becomes a `Problem`, and the gate goes on to the end.
"""
import re
from collections import Counter, namedtuple
from pathlib import Path

from evals.shared.strict import fold, read_json, shape, shown

WITH_GUARD = "prompts carrying the withheld section, with the guard"
WITHOUT_GUARD = "prompts carrying the withheld section, without the guard"
MINIMUM = "documents that carry more than the minimum necessary"
APART = 5       # documents in a row in which a reader meets no sentence twice
DIGIT = re.compile("[0-9]")
LEFT_BY_SYSTEMS = ("Thumbs.db", "desktop.ini")       # beside whatever begins with a dot


class Problem(namedtuple("Problem", "file row message")):
    """One thing to mend: file within the data folder, row (line, document or rule; "" for the whole file), message."""

    def __str__(self):
        return ": ".join(part for part in self if part)


class Report:
    """What a gate found in `folder`: `problems` in the order of `files`, documents last; `counts` {label: number}."""

    def __init__(self, folder, files):
        self.folder, self.counts, self._files, self._found = Path(folder), Counter(), files, {}

    def add(self, file, row, message):
        """Note one problem; the same one is kept once."""
        self._found[Problem(file, str(row), message)] = None

    @property
    def problems(self):
        """Every Problem, file by file, in the order in which a file's rows were judged."""
        rank = {file: place for place, file in enumerate(self._files)}
        return sorted(self._found, key=lambda problem: (rank.get(problem.file, len(rank)), problem.file))

    @property
    def says(self):
        """The report in one line."""
        number, documents = len(self._found), self.counts["documents"]
        if number:
            return f"{number} problem{'s' if number > 1 else ''}; the labels do not follow"
        if MINIMUM in self.counts:
            return (f"all labels follow; more than the minimum necessary stands in {self.counts[MINIMUM]} of "
                    f"{documents} documents")
        if WITHOUT_GUARD not in self.counts:
            return "all labels follow; no prompt was looked at"
        return (f"all labels follow; the withheld section is in {self.counts[WITH_GUARD]} of {documents} prompts, in "
                f"{self.counts[WITHOUT_GUARD]} without the guard")


def read_kit(report, name, keys):
    """kit.json with exactly these `keys`; where it has no shape, each is empty. Another kit's marker is reported."""
    kit = read_json(report, "kit.json")
    if not shape(report, "kit.json", "", kit, keys, {}):
        return {key: kind() if kind in (dict, list) else None for key, kind in keys.items()}
    if kit["kit"] != name:
        report.add("kit.json", "kit", f"{shown(kit['kit'])}: this is the gate of {name}; write that name")
    if not re.fullmatch("[A-Z]+-0+", kit.get("id", "X-0")):
        report.add("kit.json", "id", f"{shown(kit['id'])}: the form of a document's id is wanted, like DOC-0000")
    return kit


def corpus(report, form):
    """The corpus as {document id: file}, ascending; file names that are not of the `form` LBL-0000 are reported."""
    wanted = re.compile(re.sub("0", "[0-9]", re.escape(form)) + r"\.txt") if form else re.compile(r".*\.txt")
    try:
        names = sorted(path.name for path in (report.folder / "corpus").iterdir()
                       if not path.name.startswith(".") and path.name not in LEFT_BY_SYSTEMS)
    except OSError as error:
        report.add("corpus", "", f"cannot be read ({error.strerror}); put the documents there")
        return {}
    for name in names:
        if not wanted.fullmatch(name):
            report.add(f"corpus/{name}", "", f"is no document; call it {form}.txt with digits for the zeros")
    if not names:
        report.add("corpus", "", "holds no document; put the documents there")
    return {name[:-len(".txt")]: f"corpus/{name}" for name in names if wanted.fullmatch(name)}


def join(report, documents, *tables):
    """Every id of the corpus and of the tables, ascending; an id that one side lacks is reported on the other."""
    for name in sorted(documents.keys() | {name for table in tables for name in table.places}):
        for table in tables:
            if name not in table.places and name in documents:
                report.add(documents[name], name, f"no row in {table.file}; add the row or take the document out")
            if name in table.places and name not in documents:
                report.add(table.file, name, f"no corpus/{name}.txt; add the document or delete the row")
        yield name


def repeats(report, file, texts, recent):
    """Report each of a document's sentences that one of the documents just before it has too.

    `recent` is what this returned for the document before, [] for the first.
    """
    texts = set(texts)
    for other, seen in recent:
        for text in sorted(texts & seen):
            report.add(file, "", f"{shown(text)} stands in {other} too, within {APART} documents; draw another")
    return [(file, texts), *recent][:APART - 1]


def unplaced(plans, documents, fits):
    """The planned documents that none of the drawn ones can be, where each drawn one is at most one of the planned.

    `fits(plan, document)` says whether a drawn document can be a planned one; a plan may leave much open.
    """
    taken = {}

    def is_placed(plan, asked):
        for place, document in enumerate(documents):
            if place not in asked and fits(plans[plan], document):
                asked.add(place)
                if place not in taken or is_placed(taken[place], asked):
                    taken[place] = plan
                    return True
        return False

    return [plans[plan] for plan in range(len(plans)) if not is_placed(plan, set())]


def unjudged(report, rows, *files):
    """Say how many `rows` wait for files that give nothing to judge them by, in place of a problem for each."""
    number = len(rows.places)
    report.add(rows.file, "", f"its {number} row{'s' if number != 1 else ''} and their documents cannot be judged "
                              f"until {' and '.join(files)} {'is' if len(files) == 1 else 'are'} mended")


def at_least(report, file, what, counted, floors):
    """Keep the count of each name of `floors`, and report each that lies under its floor."""
    for name, floor in floors.items():
        report.counts[f"{what} {name}, at least {floor}"] = counted[name]
        if counted[name] < floor:
            report.add(file, name, f"{counted[name]} documents of this {what}, {floor} are wanted at least; plan more")


def privacy(report, file, name, withheld, sent, prompts):
    """The guard in both directions: what is withheld stands in no section that is sent, in no prompt with the guard,
    and in every prompt without it, since otherwise the first two would prove nothing."""
    hidden, page = secrets(withheld), fold(sent)
    for secret in hidden:
        if secret in page:
            report.add(file, name, f"{shown(secret)} of a withheld section stands in one that is sent; take it out")
    if prompts is None:
        return
    try:
        guarded, whole = fold(prompts(name, True)), fold(prompts(name, False))
    except ValueError as error:
        report.add(file, name, f"no prompt can be made: {error}")
        return
    # The page stands last in a prompt, so what is in it is found soonest from the end.
    leaks = [secret for secret in hidden if secret in guarded]
    complete = all(whole.rfind(secret) >= 0 for secret in hidden)
    report.counts[WITH_GUARD] += bool(leaks)
    report.counts[WITHOUT_GUARD] += complete
    if leaks:
        report.add(file, name, f"the prompt carries {shown(leaks[0])} of a withheld section; repair the guard")
    if not complete:
        report.add(file, name, "the prompt without the guard lacks the withheld section; send the whole page there, "
                               "else the guard proves nothing")


def secrets(text):
    """What a withheld text could leak, folded: its lines, parts of several words, and every code that holds a digit."""
    lines = text.split("\n")
    parts = [part for line in lines for part in re.split(r"\s+-+\s+|[:;,]\s+", line) if " " in part.strip()]
    codes = [word for word in text.split() if len(word) > 5 and DIGIT.search(word)]
    return sorted({fold(part) for part in lines + parts + codes if len(part) > 3})
