"""A kit on a copy of its data with fresh records, and a board over it: what the tests of the board stand on.

Nothing here reads the committed runs or an `.env`, so a test sees the same board in every checkout.
"""
import contextlib
import importlib
import json
import shutil
import tempfile
import threading
import urllib.error
import urllib.request
from pathlib import Path

from evals.shared import arms, record, scoring
from src import app
from src.shared import config, follow
from src.shared import kit as kits
from src.shared.files import BadData
from src.shared.view import shelf

DATE = "2026-09-01T12:00:00Z"


def first_kit():
    """The name of the first whole kit of this checkout: with panels, a key and arms, as the tests of the board need."""
    for name in kits.names():
        with contextlib.suppress(ImportError, BadData):
            kit = kits.load(name)
            if kit.definition.panels and next(kit.gold()) and arms.free(kit, _bench(kit)):
                return name
    raise BadData("no kit of this checkout is whole enough to be shown")


class Stage:
    """A temporary copy of a kit's data, `.data`, and an empty `.results` folder; gone after `close`."""

    def __init__(self, name):
        self.kit_name = name
        self._folder = tempfile.TemporaryDirectory(prefix="board-stage-")
        self.data, self.results = Path(self._folder.name) / "data", Path(self._folder.name) / "results"
        shutil.copytree(kits.load(name).data, self.data)
        self.results.mkdir()

    def close(self):
        self._folder.cleanup()

    def kit(self):
        """The kit on the copied data, opened anew."""
        return kits.load(self.kit_name, self.data)

    def shelf(self):
        return shelf.Shelf(self.data, self.results)

    def opened(self):
        return self.shelf().open(self.kit_name)

    def record(self, run_id, arm, settings=None, change=None):
        """Write the record of a free arm under any run id; `change(entry)` may bend an entry. Returns its path."""
        kit = self.kit()
        bench = _bench(kit)
        call, grading = arms.free(kit, bench)[arm].call, scoring.Scoring(kit, bench)
        path = record.path_of(self.results, run_id)

        def entries():
            for row in kit.gold():
                entry = grading.entry(row, follow.read(kit, row["id"], call(row["id"], kit.text(row["id"]))))
                yield change(entry) or entry if change else entry
        record.write(path, entries(), lambda: {**grading.closing(), "settings": settings, "run": {
            "id": run_id, "kit": kit.name, "arm": "model" if settings else arm, "date": DATE}})
        return path

    def floors(self):
        """Write a record for each free floor, for null and for the stub; returns the run ids by arm."""
        kit = self.kit()
        ids = {name: f"{arm.letter}001-{kit.hyphened}-{name}" for name, arm in arms.free(kit, _bench(kit)).items()}
        for name, run_id in ids.items():
            self.record(run_id, name)
        return ids


class Served:
    """A board that serves while the `with` block runs: `.url`, `get` and `post`."""

    def __init__(self, shelf_, environ=None):
        self.board = app.Board(0, shelf_, lambda: config.load("no such file", environ or {}))
        self.port, self.url = self.board.server_port, f"http://127.0.0.1:{self.board.server_port}/"
        self._thread = threading.Thread(target=self.board.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.board.shutdown()
        self.board.server_close()
        self._thread.join()

    def get(self, path, **headers):
        """(status, headers, body bytes) of a GET."""
        return self.send("GET", path, None, headers)

    def json(self, path):
        """The JSON value at a path that answers well."""
        status, _, body = self.get(path)
        if status != 200:
            raise AssertionError(f"{path}: {status} {body[:300]}")
        return json.loads(body)

    def post(self, path, value, **headers):
        """(status, headers, body bytes) of a POST as the page sends it."""
        sent = {"Content-Type": "application/json", app.TOKEN: self.board.token, **headers}
        return self.send("POST", path, json.dumps(value).encode(), sent)

    def send(self, method, path, body, headers):
        request = urllib.request.Request(self.url + path.lstrip("/"), body, headers, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=30) as response:
                return response.status, response.headers, response.read()
        except urllib.error.HTTPError as e:
            with e:
                return e.code, e.headers, e.read()


def _bench(kit):
    return importlib.import_module(f"evals.{kit.name}.bench").BENCH
