"""The replies of one run, `cache-ID.jsonl`: one line a call, on disk before its document counts as done.

What a killed process leaves behind is mended on opening: a last line that was cut is cut off, a line that is no object
is passed over and its document asked again. Lines are read as bytes, so that nothing inside a reply ends a line.
"""
import contextlib
import json
import os
import sqlite3
import threading
from pathlib import Path

from src.shared import locks
from src.shared.files import BadData


TOGETHER = 256      # places of lines that are entered in the index at once

# What a line, the completion in it and the run's own first line hold; names beyond these are a later version's.
_NONE, _NUMBER = type(None), (int, float)
_LINE = {"prompt": str, "settings": (str, dict), "completion": dict, "stations": (dict, _NONE), "cost": (dict, _NONE)}
_COST = {"usd": (*_NUMBER, _NONE), "why": (str, _NONE), "reported": (*_NUMBER, _NONE)}
_COMPLETION = {"text": str, "finish": (str, _NONE), "usage": (dict, _NONE), "attempts": list, "seconds": (dict, _NONE),
               "notes": list, "reported_cost": (*_NUMBER, _NONE), "model": (str, _NONE)}
_ERROR = {"kind", "outcome", "message"}
_OPENING = {"run": dict, "settings": dict, "question": str, "price": (str, _NONE)}


class Cache:
    """An open cache file, held by one process at a time.

    `.torn` is how many bytes of a cut last line were dropped, `.damaged` the numbers of lines passed over.
    """

    def __init__(self, path):
        self.path, self.torn, self.damaged = Path(path), 0, []
        self._lock, self._places, self._broken = threading.Lock(), _Places(), None
        self._flushing, self._waiting, self._written, self._flushed = threading.Lock(), [], 0, 0
        self._file = self._reader = None
        self._held = locks.take(self.path)
        try:
            self._file = self.path.open("ab", buffering=0)      # nothing may linger in a buffer when the disk is full
            self._reader = self.path.open("rb")
            self._index()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def get(self, document, prompt=None, settings=None):
        """The line that answers a document for a prompt and settings (hashes), or None: a whole reply, else the newest.

        The run's own header line has the id "" and neither hash.
        """
        with self._lock:
            place = self._places.get(document, prompt, settings)
            if place is None:
                return None
            self._reader.seek(place)
            return json.loads(self._reader.readline())

    def lines(self):
        """Every line of a call as it was appended, those that later ones took the place of too."""
        with self.path.open("rb") as lines:
            for data in lines:
                line = _object(data)
                if line and line["id"] and "completion" in line:
                    yield line

    def holds(self, document):
        """Whether there is any line of a document."""
        with self._lock:
            return self._places.knows(document, 0)

    def knows(self, document):
        """Whether there is any whole reply to a document, whatever it was asked."""
        with self._lock:
            return self._places.knows(document, 1)

    def put(self, line):
        """Append one line {"id", …} and see it to the disk. BadData when the disk does not take it: the run must end.

        Lines that come while others are being written wait and go together, with one flush to the disk for all.
        """
        data = _ENCODER.encode(line).encode() + b"\n"
        with self._lock:
            self._waiting.append((line, data))
            self._written += 1
            mine = self._written
        with self._flushing:
            if self._broken:
                raise BadData(self._broken)
            if self._flushed < mine:
                self._flush()

    def _flush(self):
        with self._lock:
            lines, self._waiting, flushed = self._waiting, [], self._written
        self._append(b"".join(data for _, data in lines))
        with self._lock:
            for line, data in lines:
                self._places.put(line, self._end)
                self._end += len(data)
        self._flushed = flushed

    def _append(self, data):
        """Write to the end of the file and flush; where that fails, nothing stays behind the last whole line."""
        done = 0
        try:
            while done < len(data):
                done += self._file.write(memoryview(data)[done:])
            os.fsync(self._file.fileno())
        except OSError as e:
            with contextlib.suppress(OSError):
                self._file.truncate(self._end + data.rfind(b"\n", 0, done) + 1)
            self._broken = (f"{self.path}: the reply could not be written: {e.strerror}; the run stops, what was "
                            "answered before is kept")
            raise BadData(self._broken) from None

    def close(self):
        """Close the file and give the run free; a file that nothing was written to goes."""
        if self._file is not None and not self._written and self.path.exists() and not self.path.stat().st_size:
            self.path.unlink()
        for handle in (self._file, self._reader, self._places):
            if handle is not None:
                handle.close()
        if self._held:
            locks.give_back(self._held)
            self._held = None

    def _index(self):
        """Find each line's place, then mend the end; a file that holds no reply is refused and left as it is."""
        end, has_end = 0, True
        for number, data in enumerate(self._reader, 1):
            entry, has_end = _object(data), data.endswith(b"\n")
            if entry is None and not has_end:
                self.torn = len(data)
                break
            if entry is not None:
                self._places.put(entry, end)
            elif data.strip():
                self.damaged.append(number)
            end += len(data)
        if (self.damaged or self.torn and _is_wide(self.path)) and not len(self._places):
            wide = "is no UTF-8 but UTF-16 or UTF-32, and " if _is_wide(self.path) else ""
            raise BadData(f"{self.path}: {wide}not one of its lines is a reply; move the file away or give another "
                          "--run-id")
        if self.torn:
            self._file.truncate(end)
        elif not has_end:
            self._file.write(b"\n")
        self._end = self._file.seek(0, os.SEEK_END)


class _Places:
    """Where each answer's line begins: an index beside the memory, so that its size does not matter.

    An error never takes the place of a whole reply to the same question. New places are entered many at a time, since
    each entry alone costs as much as the line it is about.
    """

    def __init__(self):
        self._new = []
        self._index = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._index.execute("CREATE TABLE places (id TEXT, prompt TEXT, settings TEXT, place INTEGER, whole INTEGER, "
                            "PRIMARY KEY (id, prompt, settings)) WITHOUT ROWID")
        self._index.execute("BEGIN")        # never ended, since nothing of it is to be kept

    def put(self, line, place):
        whole = not (line.get("completion") or {}).get("error")
        self._new.append((*_question(line), place, whole))
        if len(self._new) == TOGETHER:
            self._enter()

    def _enter(self):
        self._index.executemany(
            "INSERT INTO places VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET place = excluded.place, "
            "whole = excluded.whole WHERE excluded.whole >= places.whole", self._new)
        self._new = []

    def get(self, document, prompt, settings):
        found = self._ask("SELECT place FROM places WHERE id = ? AND prompt = ? AND settings = ?",
                          document, prompt or "", settings or "")
        return found and found[0]

    def knows(self, document, whole):
        return bool(self._ask("SELECT 1 FROM places WHERE id = ? AND whole >= ? LIMIT 1", document, whole))

    def close(self):
        self._index.close()

    def __len__(self):
        return self._ask("SELECT COUNT(*) FROM places")[0]

    def _ask(self, question, *values):
        if self._new:
            self._enter()
        return self._index.execute(question, values).fetchone()


def _question(line):
    """What a line answers: (document, hash of the prompt, hash of the settings); the run's own first line: nothing."""
    return (line["id"], line.get("prompt") or "", line.get("settings") or "") if line["id"] else ("", "", "")


def _object(data):
    """A line as its object, or None where it is no line of a cache: what is read of it later is looked at here."""
    try:
        entry = json.loads(data.decode("utf-8-sig"))        # from bytes, json would guess at other encodings
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and _is_line(entry) else None


def _is_line(entry):
    if not isinstance(entry.get("id"), str) or not _fits(entry, _LINE):
        return False
    if not (entry["id"] or _holds(entry, _OPENING)) or entry.get("cost") and not _holds(entry["cost"], _COST):
        return False
    return "completion" not in entry or _is_completion(entry["completion"])


def _is_completion(call):
    if not _fits(call, _COMPLETION):
        return False
    error, usage = call.get("error", ""), call.get("usage") or {}
    return ((error is None or isinstance(error, dict) and _ERROR <= error.keys())
            and all(isinstance(count, (int, _NONE)) for count in usage.values())
            and all(isinstance(attempt, dict) for attempt in call.get("attempts", ())))


def _holds(part, shape):
    return shape.keys() <= part.keys() and _fits(part, shape)


def _fits(part, shape):
    return all(isinstance(part[name], types) for name, types in shape.items() if name in part)


def _is_wide(path):
    """Whether a file begins as UTF-16 or UTF-32 does: by its mark, or by the zero in its first character."""
    with path.open("rb") as start:
        begun = start.read(4)
    return begun[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in begun


def _number(value):
    return int(value) if value == value.to_integral_value() else float(value)


_ENCODER = json.JSONEncoder(sort_keys=True, default=_number)
