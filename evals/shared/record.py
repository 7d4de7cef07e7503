"""The record of a run, `eval-ID.json`: written one document at a time, read back and added up again.

Every key is sorted and every document stands on a line of its own, so that a record of any size is written and read
in little memory and two runs of the same thing are the same bytes.
"""
import contextlib
import hashlib
import json
import re
from pathlib import Path

from evals.shared import tally
from src.shared.files import BadData, read_text, replacing, to_json

PREFIX = re.compile(r"([a-z])([0-9]{3})-([a-z0-9-]+)")
LETTERS = {"r": "scored model run", "s": "stateless control", "a": "ablation", "c": "calibration", "b": "free floor",
           "t": "stub", "x": "injection"}
OPEN, CLOSE = '{"documents":[', "],"


def path_of(folder, run_id):
    """Where the record of a run lies."""
    return folder / f"eval-{run_id}.json"


def cache_of(path):
    """Where the replies of a run lie, by the path of its record."""
    return path.with_name(f"cache-{path.name.removeprefix('eval-').removesuffix('.json')}.jsonl")


def find(kit, name):
    """The record that a run id of a kit, kept or local, or a path names. BadData where there is none."""
    places = [Path(name), path_of(kit.results, name), path_of(kit.results / "local", name)]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise BadData(f"{name}: no such run; looked for {places[1]} and in local/")
    return found


def header(path):
    """What a run says of itself: "run" of the first line of its replies, else of its record; None where neither says it.

    The record's figures are not looked at: a run is scored again just because they are wrong.
    """
    for place, first in ((cache_of(path), True), (path, False)):
        if place.exists():
            with place.open(encoding="utf-8", errors="replace") as text, contextlib.suppress(ValueError):
                found = json.loads(text.readline() if first else text.read())
                if isinstance(found, dict) and isinstance(found.get("run"), dict):
                    return found["run"]
    return None


def check_id(run_id, kit, letter):
    """Refuse a run id that is not letter, three digits, dash, kit (then anything), or whose letter says another thing."""
    found = PREFIX.match(run_id)
    if not found or not (run_id[5:] == kit.hyphened or run_id[5:].startswith(kit.hyphened + "-")):
        raise BadData(f"--run-id {run_id}: write it like {letter}001-{kit.hyphened}: a letter, three digits, the kit")
    if not re.fullmatch(r"[a-z0-9-]+", run_id):
        raise BadData(f"--run-id {run_id}: only small letters, digits and dashes")
    if found[1] not in LETTERS:
        known = ", ".join(f"{key} {meaning}" for key, meaning in LETTERS.items())
        raise BadData(f"--run-id {run_id}: no kind of run begins with {found[1]}; kinds: {known}")
    if found[1] != letter:
        raise BadData(f"--run-id {run_id}: {found[1]} means {LETTERS[found[1]]}, these settings make a "
                      f"{LETTERS[letter]}; write {letter}{run_id[1:]}")


class Writer:
    """A record being written: `add` each document's entry as it comes, then `close` with the other top-level keys.

    A context: the file takes its place when the block ends well, and vanishes when it does not.
    """

    def __init__(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self._place, self._out, self._added = replacing(path), None, 0

    def __enter__(self):
        self._out = self._place.__enter__()
        self._out.write(OPEN)
        return self

    def __exit__(self, *error):
        return self._place.__exit__(*error)

    def add(self, entry):
        self._out.write((",\n" if self._added else "\n") + line(entry))
        self._added += 1

    def close(self, closing):
        """Write what stands behind the documents: {top-level key: value}."""
        self._out.write("\n" + CLOSE)
        self._out.write(",".join(f"\n{line(key)}:{line(value)}" for key, value in sorted(closing.items())) + "\n}\n")


def write(path, entries, closing):
    """Write a record: each entry as it comes, then `closing()` → {other top-level keys} once all have come."""
    with Writer(path) as out:
        for entry in entries:
            out.add(entry)
        out.close(closing())


def read(path):
    """A record as one object. BadData for what is no record, and for one whose figures are not those of its documents."""
    try:
        found = json.loads(read_text(path))
        wrong = tally.misreported(found)
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise BadData(*(e.problems if isinstance(e, BadData) else [f"{path}: is no run record"])) from None
    if wrong:
        raise BadData(f"{path}: its {len(found['documents'])} documents do not add up to what it says of "
                      f"{', '.join(wrong[:5])}; re-score the run, or restore the file")
    return found


def sha(*pieces):
    """A short name for bytes or texts: the first 16 hex digits of their SHA-256."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece if isinstance(piece, bytes) else piece.encode())
        digest.update(b"\0")
    return digest.hexdigest()[:16]


def line(value):
    """A value as a record holds it: one line of JSON, keys sorted, Decimals as numbers."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_plain)


def _plain(value):
    return list(value) if isinstance(value, tuple) else json.loads(to_json(value))
