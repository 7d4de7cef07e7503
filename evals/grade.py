"""Grade one reply to one document, read from standard input, against the key: no call is made, and nothing is kept.

    python -m evals.grade label_restrict LBL-0002 < reply.txt

Prints JSON: the entry that a record would have, `entry`, and the kit's named errors in order of expense, `errors`. The
board asks it for an answer of just now. Exit codes: 0 graded, 2 usage, configuration or an unknown document.
"""
import importlib
import sys
from pathlib import Path

from evals.shared import scoring
from src.shared import console, follow
from src.shared import kit as kits
from src.shared.fields import near
from src.shared.files import BadData, to_json
from src.shared.parts import Completion


def main(argv=None):
    parser = console.parser("evals.grade", __doc__, "python -m evals.grade {kit} DOCUMENT < reply.txt")
    parser.add_argument("kit", nargs="?", help="name of the kit; not needed where there is only one")
    parser.add_argument("document", help="id of the document that the reply is about")
    parser.add_argument("--data", type=Path, metavar="DIR", help="data folder of the kit (default: its own in data/)")
    args = parser.parse_args(argv)
    return console.run(lambda: run(args))


def run(args):
    kit, text = kits.load(args.kit, args.data), sys.stdin.buffer.read().decode("utf-8", "replace")
    print(to_json(grade(kit, args.document, text)))
    return 0


def grade(kit, document, text):
    """{"entry", "errors": [{"id", "title", "why"}]} of a reply's text. BadData for a document that the key has not."""
    bench = importlib.import_module(f"evals.{kit.name}.bench").BENCH
    row = next((row for row in kit.gold() if row["id"] == document), None)
    if row is None:
        raise BadData(f"no document is called {document[:80]}{near(document[:80], kit.documents())}")
    found = follow.read(kit, document, Completion(text=text, finish="stop"))
    return {"entry": scoring.Scoring(kit, bench).entry(row, found),
            "errors": [{"id": error.id, "title": error.head, "why": error.why} for error in bench.errors]}


if __name__ == "__main__":
    sys.exit(main())
