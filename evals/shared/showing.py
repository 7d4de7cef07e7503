"""A kit on a copy of its data with fresh records: what the tests of the board stand on.

Nothing here reads the committed runs, so a test sees the same board in every checkout.
"""
import contextlib
import functools
import importlib
import shutil
import tempfile
from pathlib import Path
from unittest import mock

from evals.shared import arms, record, scoring
from src.shared import follow, ledger
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
    """A temporary copy of a kit's data, `.data`, and an empty `.results` folder; gone after `close`.

    While it stands, calls are counted in there and not among the day's own.
    """

    def __init__(self, name):
        self.kit_name = name
        self._folder = tempfile.TemporaryDirectory(prefix="board-stage-")
        self.data, self.results = Path(self._folder.name) / "data", Path(self._folder.name) / "results"
        shutil.copytree(kits.load(name).data, self.data)
        self.results.mkdir()
        self._counted = mock.patch.object(ledger, "PLACE", self.results / "ledger")
        self._counted.start()

    def close(self):
        self._counted.stop()
        self._folder.cleanup()

    def kit(self):
        """The kit on the copied data, opened anew."""
        return kits.load(self.kit_name, self.data)

    def shelf(self):
        return shelf.Shelf(self.data, self.results)

    def opened(self):
        return self.shelf().open(self.kit_name)

    def record(self, run_id, arm, settings=None):
        """Write the record of a free arm under any run id and return its path; `settings` make it a model run."""
        kit = self.kit()
        bench = _bench(kit)
        call, grading = arms.free(kit, bench)[arm].call, scoring.Scoring(kit, bench)
        path = record.path_of(self.results, run_id)

        def entries():
            for row in kit.gold():
                yield grading.entry(row, follow.read(kit, row["id"], call(row["id"], kit.text(row["id"]))))
        record.write(path, entries(), lambda: {**grading.closing(), "settings": settings, "run": {
            "id": run_id, "kit": kit.name, "arm": "model" if settings else arm, "date": DATE}})
        return path

    def floors(self):
        """Write a record for each free floor, for null and for the stub; returns the run ids by arm.

        On data that are still as they were copied, the records are those of the stage before: arms are pure code.
        """
        if _stamps(self.data) != _stamps(kits.load(self.kit_name).data):
            return self._made()
        ids, records = _floors(self.kit_name)
        for name, content in records.items():
            path = self.results / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return dict(ids)

    def _made(self):
        kit = self.kit()
        ids = {name: f"{arm.letter}001-{kit.hyphened}-{name}" for name, arm in arms.free(kit, _bench(kit)).items()}
        for name, run_id in ids.items():
            self.record(run_id, name)
        return ids


@functools.lru_cache(maxsize=None)
def _floors(name):
    stage = Stage(name)
    with contextlib.closing(stage):
        ids = stage._made()
        return ids, {str(path.relative_to(stage.results)): path.read_bytes()
                     for path in sorted(stage.results.rglob("*")) if path.is_file()}


def _stamps(folder):
    """{file: (bytes, when it was written)} of a folder, which a copy by shutil has in common with what it is of."""
    found = ((path, path.stat()) for path in folder.rglob("*"))
    return {path.relative_to(folder): (of.st_size, of.st_mtime_ns) for path, of in found if path.is_file()}


def _bench(kit):
    return importlib.import_module(f"evals.{kit.name}.bench").BENCH
