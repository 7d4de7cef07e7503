"""Drive the board in headless Chromium and write its screenshots for the README: few, small, named alike every time.

    python -m tools.shoot_ui                   the start page and four views of every kit
    python -m tools.shoot_ui label_restrict    one kit

A kit's pictures are `results/KIT/shots/{front,document,compare,watch}-light.png`, those of the start page
`results/shots/start-…`; in a stand-alone kit all stand in `results/shots/`. Start page and document are there in dark
too. Committed runs alone are shown. The document is the first row of the first named error that a shown run made: the
one people should look at.
"""
import base64
import struct
import sys
import threading
import zlib

from evals.shared import browser
from src import app
from src.shared import console
from src.shared import kit as kits
from src.shared.files import BadData
from src.shared.view import shelf

WIDTH, HEIGHT, THEMES, BOTH = 1280, 720, ("light", "dark"), ("start", "document")
MAX_BYTES, COLOURS, NEAR = 60_000, (64, 32, 16, 8), 150
# A screenshot as one byte a pixel: the colours used most, none as near to another as NEAR (a squared distance), so that
# a rare red keeps its place among the greys, and for every other colour the nearest. The page does it, being quick.
INDEXED = """
  const [data, most, near] = arguments, picture = new Image();
  picture.src = "data:image/png;base64," + data;
  return picture.decode().then(() => {
    const canvas = document.createElement("canvas"), { width, height } = picture;
    Object.assign(canvas, { width, height });
    const pen = canvas.getContext("2d");
    pen.drawImage(picture, 0, 0);
    const bytes = pen.getImageData(0, 0, width, height).data, counts = new Map();
    const pixels = new Uint32Array(width * height);
    for (let i = 0; i < pixels.length; i++) {
      pixels[i] = (bytes[4 * i] << 16) | (bytes[4 * i + 1] << 8) | bytes[4 * i + 2];
      counts.set(pixels[i], (counts.get(pixels[i]) || 0) + 1);
    }
    const used = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || a - b);
    const parts = (c) => [c >> 16, (c >> 8) & 255, c & 255], palette = [], known = [];
    const apart = ([r, g, b]) => known.map((c) => (c[0] - r) ** 2 + (c[1] - g) ** 2 + (c[2] - b) ** 2);
    for (const c of used) if (palette.length < most && apart(parts(c)).every((far) => far > near)) {
      palette.push(c);
      known.push(parts(c));
    }
    const nearest = (c) => apart(c).reduce((best, far, i, all) => far < all[best] ? i : best, 0);
    const index = new Map(used.map((c) => [c, nearest(parts(c))]));
    let text = "";
    for (const c of pixels) text += String.fromCharCode(index.get(c));
    return [width, height, palette.flatMap(parts), btoa(text)];
  });"""


def main(argv=None):
    parser = console.parser("tools.shoot_ui", __doc__, "python -m tools.shoot_ui {kit}")
    parser.add_argument("kit", nargs="*", help="kits to show (default: all, and the start page)")
    args = parser.parse_args(argv)
    try:
        if browser.missing():
            raise BadData(browser.missing())
        for path in shoot([kits.load(name) for name in args.kit or kits.names()], has_start=not args.kit):
            print(path)
    except BadData as e:
        print(e, file=sys.stderr)
        return 2


def shoot(opened_kits, has_start=True):
    """Yield the paths of the screenshots as they are written."""
    shelf_ = shelf.Shelf(local=False)
    with app.Board(0, shelf_) as board, browser.Browser() as page:
        threading.Thread(target=board.serve_forever, daemon=True).start()
        for folder, name, address in views(shelf_, opened_kits, has_start):
            folder.mkdir(parents=True, exist_ok=True)
            for theme in THEMES if name in BOTH else THEMES[:1]:
                page.media(theme)
                page.size(WIDTH, HEIGHT)
                page.go(f"http://127.0.0.1:{board.server_port}/#/{address}")
                page.wait("document.querySelector('h1')")
                # Pictures are handed round; what is withheld stays on this machine.
                page.script("for (const text of document.querySelectorAll('.withheld pre')) text.style.opacity = 0")
                path = folder / f"{name}-{theme}.png"
                path.write_bytes(small(page))
                yield path
        board.shutdown()


def views(shelf_, opened_kits, has_start):
    """Yield (folder, name, address behind #/) of every view that is shown."""
    if has_start:
        yield (kits.ROOT / "results" / "shots"), "start", ""
    for kit in opened_kits:
        run, document = _worst(shelf_.open(kit.name))
        shots = kit.results / "shots"
        yield shots, "front", kit.name
        yield shots, "document", f"{kit.name}/d/{document}" + (f"?run={run}" if run else "")
        yield shots, "compare", f"{kit.name}/compare"
        yield shots, "watch", f"{kit.name}/watch"


def small(page):
    """What the page shows as a PNG of at most MAX_BYTES, with as many of its colours as that allows."""
    taken = base64.b64encode(page.shot()).decode()
    for colours in COLOURS:
        found = png(*page.script(INDEXED, taken, colours, NEAR))
        if len(found) <= MAX_BYTES:
            return found
    raise BadData(f"a screenshot takes {len(found):,} bytes in {colours} colours, more than {MAX_BYTES:,}; show less")


def png(width, height, palette, pixels):
    """A PNG of indexed colours: `palette` as numbers r, g, b, r, …, `pixels` a byte each, base64."""
    rows = base64.b64decode(pixels)
    lines = b"".join(b"\0" + rows[start:start + width] for start in range(0, width * height, width))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)), (b"PLTE", bytes(palette)),
        (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")))


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _worst(opened):
    """(run id, document) of the first named error among the runs that stand by themselves; the first document else."""
    for run in shelf.choose(opened, []):
        for error in run.record["errors"]:
            if error["raw"] and error["raw"]["rows"]:
                return run.id, error["raw"]["rows"][0]
    return None, next(iter(opened.documents))


if __name__ == "__main__":
    sys.exit(main())
