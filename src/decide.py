"""The rules of a kit alone, without a model: JSON lines in, one decision with its trace a line out.

    python -m src.decide label_restrict plans.jsonl > decisions.jsonl

A line is the row itself, or an object whose `inputs` is the row. A line that cannot be decided gives
{"line": n, "error": "…"} in its place; the rest go on, and the exit code at the end is 1.
"""
import argparse
import os
import sys

from src.shared import kit as kits
from src.shared.files import BOM, BadData, parse_json, to_json


def main(argv=None):
    args = _arguments().parse_args(argv)
    try:
        kit = kits.load(args.kit, args.data)
        with open(args.file, "rb") if args.file else sys.stdin.buffer as lines:
            return 1 if decide_lines(kit, lines, sys.stdout) else 0
    except BadData as e:
        print(e, file=sys.stderr)
    except OSError as e:
        if isinstance(e, BrokenPipeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        print(f"{e.filename or args.file}: {e.strerror}", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    return 2


def decide_lines(kit, lines, out):
    """Decide each line of bytes and write one JSON line for it; returns how many could not be decided."""
    failed = 0
    for number, line in enumerate(lines, 1):
        if number == 1:
            line = line.removeprefix(BOM)
        if not line.strip():
            continue
        try:
            answer = kit.definition.decide(kit.book, _row(line))
        except BadData as e:
            failed += 1
            answer = {"line": number, "error": str(e)}
        out.write(to_json(answer) + "\n")
    out.flush()
    return failed


def _row(line):
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as e:
        raise BadData(f"byte {e.start + 1}: 0x{line[e.start]:02x} is not UTF-8") from None
    row = parse_json(text, "row")
    inputs = row.get("inputs", row) if isinstance(row, dict) else row
    if not isinstance(inputs, dict):
        raise BadData(f"a JSON object is wanted, got {to_json(inputs)[:60]}")
    return inputs


def _arguments():
    parser = argparse.ArgumentParser(prog="python -m src.decide", description=__doc__.split("\n\n")[0],
                                     epilog="example: python -m src.decide label_restrict plans.jsonl")
    parser.add_argument("kit", nargs="?", help="name of the kit; not needed where there is only one")
    parser.add_argument("file", nargs="?", help="file of JSON lines (default: standard input)")
    parser.add_argument("--data", metavar="DIR", help="data folder with your own rules (default: the kit's)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
