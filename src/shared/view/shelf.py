"""The kits that the board shows, each opened once and again as soon as a file of its data or results changes.

A gold key or a record that cannot be read is kept as the sentence that says so; everything else goes on.
"""
import hashlib
import os
import threading
from collections import namedtuple

from src.shared import kit as kits
from src.shared.fields import near
from src.shared.files import BadData, parse_json, read_json
from src.shared.view import runs

DATA_FILES = ("*.json", "*.jsonl", "*.md")
KEPT = 8
# What kit.json says of a kit; a data folder of one's own may say less.
ABOUT = {"decides": "", "documents": "documents", "primary_metric": None}


class NotFound(BadData):
    """The address names a kit, document or view that does not exist."""


class BadQuery(BadData):
    """A parameter of the address or of a request has no meaning here."""


# One kit: Kit, {document: Place} in the order of the key, {case: planned case}, [Run] in reading order, [sentence], and
# {name: what a view has worked out over all documents}, kept for as long as no file has changed
Opened = namedtuple("Opened", "kit documents cases runs problems kept")
Place = namedtuple("Place", "case start")


class Shelf:
    """Opened kits by name. With `data`, the only kit is the one whose folder this is; `results` replaces its own.

    Without `local`, committed runs alone are shown, so that every checkout shows the same.
    """

    def __init__(self, data=None, results=None, local=True):
        self.data, self.results, self.local = data, results, local
        self.only = _load(_kit_of(data), data).name if data else None
        self._lock, self._opened, self._records = threading.Lock(), {}, {}

    def names(self):
        """The names of the kits, sorted."""
        return [self.only] if self.only else kits.names()

    def open(self, name):
        """The kit as it stands on disk now. NotFound for an unknown one, BadData for one that is broken."""
        known = self.names()
        if name not in known:
            raise NotFound(f"no kit is called {name[:80]}{near(name[:80], known)}; kits: {', '.join(known)}")
        with self._lock:
            seen, opened = self._opened.get(name, (None, None))
            if opened is None or seen != self._signature(opened.kit):
                kit = _load(name, self.data)
                kit.results, kit.about = self.results or kit.results, {"title": name, **ABOUT, **kit.about}
                self._opened[name] = self._signature(kit), _open(kit, self._paths(kit), self._run)
            return self._opened[name][1]

    def _paths(self, kit):
        """{board id: path} of the records shown."""
        found = runs.paths(kit.results)
        return found if self.local else {name: path for name, path in found.items() if path.parent == kit.results}

    def _signature(self, kit):
        files = [path for pattern in DATA_FILES for path in sorted(kit.data.glob(pattern))]
        return [_stamp(path) for path in [*files, *self._paths(kit).values()]]

    def _run(self, name, path):
        """A record, read again only when its file has changed."""
        stamp = _stamp(path)
        if self._records.get(path, (None,))[0] != stamp:
            self._records[path] = stamp, runs.read(name, path)
        return self._records[path][1]


def gold_row(opened, document):
    """The key's row of one document."""
    with (opened.kit.data / "gold.jsonl").open("rb") as handle:
        handle.seek(opened.documents[document].start)
        return parse_json(handle.readline().decode(), f"{handle.name}: {document}")


def choose(opened, names):
    """The Runs of these board ids; without any, the newest model run and the floors beside it. BadQuery if unknown."""
    by_id = {run.id: run for run in opened.runs}
    for name in names:
        if name not in by_id:
            known = ", ".join(by_id) or "none yet"
            raise BadQuery(f"no run is called {name[:80]}{near(name[:80], by_id)}; runs: {known}")
    if names:
        return [by_id[name] for name in dict.fromkeys(names)]
    newest = [run for run in of_the_key(opened) if is_headline(run)][-1:]
    return newest + floors(opened)[:2]


def of_the_key(opened):
    """The runs that were scored against the key in hand, in reading order; all of them where none was."""
    return [run for run in opened.runs if run.about["gold"] == opened.kept.get("gold")] or opened.runs


def floors(opened):
    """The free floors, one run an arm, committed before local; null apart, which stands beside every figure already."""
    found = {}
    for run in of_the_key(opened):
        about = run.about
        if about["kind"] == runs.KINDS["b"] and about["arm"] != "null":
            found.setdefault(about["arm"], run)
    return list(found.values())


def is_headline(run):
    """Whether a run is a committed, scored model run: what a kit is judged by."""
    return run.id.startswith("r")


def worked_out(opened, name, work):
    """What `work()` gives from the pages, kept under `name` until a page changes on disk: none of them is a data file.

    Of the names, the last KEPT are kept.
    """
    try:
        with os.scandir(opened.kit.data / "corpus") as pages:
            stamps = hash(frozenset((page.name, page.stat().st_mtime_ns, page.stat().st_size) for page in pages))
    except OSError:     # the work says what is wrong with the folder
        return work()
    known = opened.kept.setdefault("pages", {})
    found = known.pop(name, None)
    if found is None or found[0] != stamps:
        found = stamps, work()
    known[name] = found
    for oldest in list(known)[:-KEPT]:
        known.pop(oldest, None)
    return found[1]


def _load(name, data):
    try:
        return kits.load(name, data)
    except ImportError as e:
        raise BadData(f"{name}: the kit's code cannot be loaded: {e}") from None


def _kit_of(data):
    about = read_json(data / kits.MARKER)
    return about.get("kit") if isinstance(about, dict) else None


def _open(kit, paths, read):
    problems = []
    documents = _kept(lambda: _documents(kit), problems) or {}
    cases = _kept(lambda: _cases(kit.data / "cases.json"), problems) or {}
    found = [_kept(lambda: read(name, path), problems) for name, path in paths.items()]
    found = runs.told_apart(sorted(filter(None, found), key=runs.sort_key))
    key = documents and hashlib.sha256((kit.data / "gold.jsonl").read_bytes()).hexdigest()
    stale = ", ".join(run.id for run in found if documents and run.about["gold"] != key[:16])
    problems += [f"{stale}: scored against another gold key than the one in hand; score again before you trust the "
                 "marks"] * bool(stale)
    return Opened(kit, documents, cases, found, problems, {"gold": key[:16]} if documents else {})


def _kept(read, problems):
    """What `read` gives, or None and its sentence among the problems."""
    try:
        return read()
    except BadData as e:
        problems.extend(e.problems)


def _documents(kit):
    return {row["id"]: Place(row.get("case"), start)
            for row, start in zip(kit.gold(), _starts(kit.data / "gold.jsonl"))}


def _cases(path):
    """{name: planned case} where a plan is kept; a data folder of one's own needs none."""
    found = read_json(path) if path.exists() else []
    return {case["case"]: case for case in found if isinstance(case, dict) and "case" in case}


def _starts(path):
    """Yield where each line that is not blank begins, in bytes."""
    start = 0
    with path.open("rb") as handle:
        for line in handle:
            if line.strip():
                yield start
            start += len(line)


def _stamp(path):
    try:
        found = path.stat()
    except OSError:
        return path, None
    return path, found.st_mtime_ns, found.st_size
