"""Drive the board in headless Chromium and write its screenshots, `results/KIT/shots/*.png`, for the README.

    python -m tools.shoot_ui                   every kit
    python -m tools.shoot_ui label_restrict    one kit

The document shown is the first row of the first named error that a run of the kit made: the one people should look at.
"""
import argparse
import sys
import threading

from evals.shared import browser
from src import app
from src.shared import kit as kits
from src.shared.files import BadData
from src.shared.view import shelf

WIDE, NARROW, HEIGHT = 1280, 320, 860


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools.shoot_ui", description=__doc__.split("\n\n")[0],
                                     epilog="example: python -m tools.shoot_ui label_restrict")
    parser.add_argument("kit", nargs="*", help="kits to show (default: all)")
    args = parser.parse_args(argv)
    try:
        if browser.missing():
            raise BadData(browser.missing())
        for path in shoot([kits.load(name) for name in args.kit or kits.names()]):
            print(path)
    except BadData as e:
        print(e, file=sys.stderr)
        return 2


def shoot(opened_kits):
    """Yield the paths of the screenshots as they are written."""
    shelf_ = shelf.Shelf()
    with app.Board(0, shelf_) as board, browser.Browser() as page:
        threading.Thread(target=board.serve_forever, daemon=True).start()
        for kit in opened_kits:
            folder = kit.results / "shots"
            folder.mkdir(parents=True, exist_ok=True)
            for name, address, theme, width in views(shelf_.open(kit.name)):
                page.media(theme)
                page.size(width, HEIGHT)
                page.go(f"http://127.0.0.1:{board.server_port}/#/{address}")
                page.wait("document.querySelector('h1')")
                path = folder / f"{name}.png"
                path.write_bytes(page.shot())
                yield path
        board.shutdown()


def views(opened):
    """[(name, address behind #/, theme, width)] of one kit."""
    kit, run, document = opened.kit.name, *_worst(opened)
    query = f"?run={run}" if run else ""
    one = f"{kit}/d/{document}{query}"
    return [("start", "", "light", WIDE), ("list", kit, "light", WIDE), ("document", one, "light", WIDE),
            ("document-dark", one, "dark", WIDE), ("document-narrow", one, "light", NARROW),
            ("rules", f"{kit}/rules", "light", WIDE)]


def _worst(opened):
    """(run id, document) of the first named error among the runs that stand by themselves; the first document else."""
    for run in shelf.choose(opened, []):
        for error in run.record["errors"]:
            if error["raw"] and error["raw"]["rows"]:
                return run.id, error["raw"]["rows"][0]
    return None, next(iter(opened.documents))


if __name__ == "__main__":
    sys.exit(main())
