"""Keep what README.md shows true: the output of each command that it quotes, and the list of kits.

    python -m tools.readme            write the outputs into README.md
    python -m tools.readme --check    exit 1 and name each block that is not what its command prints

A block is a line `<!-- output of: COMMAND -->` and the fenced block behind it; COMMAND begins with `python -m`. The
list of kits stands between `<!-- kits -->` and `<!-- end of kits -->`.
"""
import difflib
import re
import shlex
import subprocess
import sys

from src.shared import console
from src.shared import kit as kits
from src.shared.files import BadData, read_text, write_text
from src.shared.kit import ROOT

_BLOCK = re.compile(r"(<!-- output of: (python -m [^\n]+?) -->\n```text\n)(.*?)(```\n)", re.DOTALL)
_KITS = re.compile(r"(<!-- kits -->\n).*?(<!-- end of kits -->)", re.DOTALL)


def main(argv=None):
    parser = console.parser("tools.readme", __doc__, "python -m tools.readme --check")
    parser.add_argument("--check", action="store_true", help="write nothing; say which blocks are out of date")
    args = parser.parse_args(argv)
    try:
        text = read_text(ROOT / "README.md")
        fresh = filled(text)
    except BadData as e:
        print(e, file=sys.stderr)
        return 2
    if not args.check:
        write_text(ROOT / "README.md", fresh)
        print(f"README.md: {len(_BLOCK.findall(text))} outputs written")
        return 0
    if text != fresh:
        print("".join(difflib.unified_diff(text.splitlines(True), fresh.splitlines(True), "README.md",
                                           "what it prints now")))
        print("README.md shows what its commands no longer print; run python -m tools.readme", file=sys.stderr)
        return 1
    print("README.md: every output is what its command prints")
    return 0


def filled(text, root=ROOT):
    """The text with every shown output taken anew from its command, run in `root`. BadData where a command fails."""
    text = _KITS.sub(lambda block: block[1] + listed() + block[2], text)
    return _BLOCK.sub(lambda block: block[1] + output(block[2], root) + block[4], text)


def listed():
    """The kits of this checkout as a table: name, what it decides, how many documents."""
    rows = [f"| `{kit.name}` | {kit.about['title']} | {sum(1 for _ in kit.documents())} {kit.about['documents']} |"
            for kit in map(kits.load, kits.names())]
    return "\n".join(["| kit | the question | documents |", "|---|---|---|", *rows]) + "\n"


def output(command, root=ROOT):
    """What a command prints to standard output, without blanks at line ends."""
    words = shlex.split(command)
    done = subprocess.run([sys.executable, *words[1:]], cwd=root, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        raise BadData(f"README.md: {command} exits with {done.returncode}: {done.stderr.strip()[:300]}")
    return "".join(line.rstrip() + "\n" for line in done.stdout.rstrip().splitlines())


if __name__ == "__main__":
    sys.exit(main())
