"""The record of a run, `eval-ID.json`: written one document at a time, read back and added up again.

Every key is sorted and every document stands on a line of its own, so that a record of any size is written and read
in little memory and two runs of the same thing are the same bytes.
"""
import contextlib
import json
import re
from pathlib import Path

from src.shared import records, tally
from src.shared.files import BadData, as_number, replacing
from src.shared.guards import sha      # by this name its callers know it

PREFIX = re.compile(r"([a-z])([0-9]{3})-([a-z0-9-]+)")
LETTERS = {"r": "scored model run", "s": "stateless control", "a": "ablation", "c": "calibration", "b": "free floor",
           "t": "stub", "x": "injection"}
BEHIND = ("parse", "recheck", "score")     # the stations behind a reply, whose times are measured as the record is made
OPEN, CLOSE = '{"documents":[', "],"       # the form that `src.shared.records` reads


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
    def first_line(cache):
        with cache.open(encoding="utf-8", errors="replace") as text:
            return json.loads(text.readline())
    for place, look in ((cache_of(path), first_line), (path, lambda record: records.Record(record).said)):
        if place.exists():
            with contextlib.suppress(ValueError):
                found = look(place)
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

    A context: the file takes its place when the block ends well, and vanishes when it does not. Not `is_kept`: it can
    be made again at no cost, so nobody waits until it is on the disk.
    """

    def __init__(self, path, is_kept=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        self._place, self._out, self._added = replacing(path, is_kept), None, 0

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
    """A record as one object. BadData for what is no record, and where the figures are not those of the documents."""
    found = records.Record(path)
    return {"documents": list(found.entries()), **found.said}


class Times:
    """How long a record says that what follows the reply took, asked document by document in the record's order.

    These times are measured when a reply is first scored, and stay with it: a record made again of the same replies is
    the same bytes. A record that is not there, or not whole, says nothing, and they are measured anew.
    """

    def __init__(self, path):
        self._entries, self._next = self._read(path), None

    def of(self, document, call):
        """{"parse", "recheck", "score"} as far as the record has them for this very call, else {}.

        call  {station: seconds} up to the reply, which tell one call from another
        """
        self._next = self._next or next(self._entries, None)
        if self._next is None or self._next["id"] != document:
            return {}
        entry, self._next = self._next, None
        behind = {name: entry["seconds"].pop(name) for name in BEHIND if name in entry["seconds"]}
        return behind if entry["seconds"] == rounded(call) else {}

    @staticmethod
    def _read(path):
        with contextlib.suppress(BadData, KeyError, TypeError):
            for _, _, entry in records.Record(path).lines() if path.exists() else ():
                yield {"id": entry["id"], "seconds": dict(entry["seconds"] or {})}


def rounded(seconds):
    """{station: seconds} as a record holds them."""
    return {name: value and round(value, tally.PLACES) for name, value in seconds.items()}


def line(value):
    """A value as a record holds it: one line of JSON, keys sorted, Decimals as numbers, half a character as its escape."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=as_number)
    return text.encode("utf-8", "backslashreplace").decode()
