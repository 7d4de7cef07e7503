"""Calls made today (UTC) over everything in this checkout that calls a model: MAX_CALLS_PER_DAY is kept here.

A day is a file under `results/ledger/`, one byte a call: its size is the count, and an append is whole under threads
and processes alike.
"""
import contextlib
import datetime
import os

from src.shared.files import BadData
from src.shared.kit import ROOT
from src.shared.locks import hold

PLACE = ROOT / "results" / "ledger"


class Limit(Exception):
    """MAX_CALLS_PER_DAY or MAX_COST_USD is used up: the run ends here and can be resumed."""


class Ledger:
    """The day's calls and their limit (None: counted, and not limited)."""

    def __init__(self, limit, place=None):
        self.limit, self.place = limit, place or PLACE

    def take(self):
        """Count one call before it is made; raises Limit, and counts nothing, when the day's calls are used up."""
        path = self.path()
        with hold(path) if self.limit is not None else contextlib.nullcontext():
            if self.limit is not None and self.used() >= self.limit:
                raise Limit(f"MAX_CALLS_PER_DAY={self.limit} is used up for {path.name} (UTC)")
            self.add(1)

    def add(self, calls):
        """Count calls that were made anyway, like a call's further attempts."""
        if not calls:
            return
        try:
            handle = self._open()
            try:
                os.write(handle, b"." * calls)
            finally:
                os.close(handle)
        except OSError as e:
            raise BadData(f"{self.path()}: the day's calls cannot be counted: {e.strerror}; nothing is sent") from None

    def _open(self):
        how = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        try:
            return os.open(self.path(), how, 0o644)
        except FileNotFoundError:
            self.place.mkdir(parents=True, exist_ok=True)
            return os.open(self.path(), how, 0o644)

    def used(self):
        """Calls counted today."""
        try:
            return self.path().stat().st_size
        except FileNotFoundError:
            return 0

    def path(self):
        """The file of today."""
        return self.place / datetime.datetime.now(datetime.timezone.utc).date().isoformat()
