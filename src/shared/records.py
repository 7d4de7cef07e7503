"""Run records as they lie on disk: a line a document, behind them what is said of all. Read a line at a time.

A record that is torn, or says of its documents what they do not add up to, is refused with a sentence that names the
remedy; one of any size is read in little memory.
"""
import contextlib
import json

from src.shared import tally
from src.shared.files import BadData

OPENING, DOCUMENTS_END = b'{"documents":[\n', b"],\n"


class Record:
    """A record file: `.path`, `.said` {top-level key: value} of everything but its documents. BadData for none."""

    def __init__(self, path):
        self.path = path
        with whole(path), path.open("rb") as handle:
            if handle.readline() != OPENING:
                raise ValueError("does not begin like one")
            if not any(line == DOCUMENTS_END for line in handle):
                raise ValueError("ends inside its documents")
            self.said = json.loads(b"{" + handle.read())

    def lines(self):
        """Yield (where its line begins in bytes, how long it is, entry) of each document, as they stand in the file."""
        with whole(self.path), self.path.open("rb") as handle:
            start = len(handle.readline())
            for line in iter(handle.readline, DOCUMENTS_END):
                body = line.rstrip().removesuffix(b",")
                yield start, len(body), json.loads(body)
                start += len(line)

    def entries(self):
        """Yield each document's entry; once all are out, BadData where they do not add up to what is said of them."""
        with whole(self.path):
            audit = tally.Audit(self.said)
            for _, _, entry in self.lines():
                audit.add(entry)
                yield entry
            self.judge(audit)

    def judge(self, audit):
        """BadData where an Audit of all the documents finds that they do not add up."""
        with whole(self.path):
            wrong = audit.wrong()
        if wrong:
            raise BadData(f"{self.path}: its {audit.tally.documents} documents do not add up to what it says of "
                          f"{', '.join(wrong[:5])}; re-score the run, or restore the file")


@contextlib.contextmanager
def whole(path):
    """Whatever goes wrong in a file that is no whole record, as one sentence."""
    try:
        yield
    except BadData:
        raise
    except OSError as e:
        raise BadData(f"{path}: cannot be read: {e.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
        why = f"{e} is missing" if isinstance(e, KeyError) else getattr(e, "msg", e)
        raise BadData(f"{path}: is no whole run record ({why}); re-score the run, or delete the file") from None
