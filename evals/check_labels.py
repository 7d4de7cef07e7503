"""Check that every label follows: the gate of each kit derives its answer key again before anything is measured.

    python -m evals.check_labels                           every kit
    python -m evals.check_labels label-restrict --data ../mine

Every problem is printed as `file: row: what is wrong; what would be right`, all of them at once, causes before what
follows from them; rows with the same problem share a line. Exit codes: 0 all labels follow, 1 some do not, 2 usage or
configuration. No key, no network.
"""
import functools
import importlib
import sys
from pathlib import Path

from evals.shared.strict import nearest, read_json, shown
from src.shared import abreast, console
from src.shared import kit as kits
from src.shared.files import BadData, Problems


def main(argv=None):
    args = _arguments().parse_args(argv)
    return console.run(lambda: run(args))


def run(args):
    """Judge the kits, print what was found, and give the exit code."""
    names = args.kit or kits.names()
    if args.data is not None and len(names) != 1:
        raise BadData(f"--data is the folder of one kit; name it: {', '.join(kits.names())}")
    said, refused = zip(*abreast.each(functools.partial(_say, args.data), names))
    print("\n\n".join(said))
    return 1 if any(refused) else 0


def gate(kit):
    """The Report on an opened kit, its prompts included: `.problems`, `.counts`, and `.says` in one line."""
    return _check(kit.name, kit.data, lambda document, guarded: "\n".join(
        part.text for part in kit.prompt(document, guarded)))


def render(name, report):
    """A kit's report as text: what was counted, or each problem on a line of its own."""
    lines = _problems(report) or [f"{count:>7}  {label}" for label, count in report.counts.items()]
    return "\n".join([f"{name}: {report.says}", *lines])


def _say(data, name):
    """(the report of a kit by name as text, whether it has problems)."""
    report = _judge(name, data)
    return render(name.replace("-", "_"), report), bool(report.problems)


def _problems(report):
    """The lines of the problems in file order. Where one problem has many rows or pages, the first is said in full."""
    folder, alike = _near(report.folder), {}
    for problem in report.problems:
        place, _, page = problem.file.partition("/")
        alike.setdefault((place, problem.message), []).append((problem, page.removesuffix(".txt") or problem.row))
    lines = []
    for (first, _), *others in alike.values():
        lines.append(str(first._replace(file=str(folder / first.file))))
        if others:
            names = dict.fromkeys(name for _, name in others)
            lines.append(f"  … and the same of {len(others)} more: {' '.join(names)}")
    return lines


def _judge(name, data):
    """The Report of a kit by name. Where its data do not open, it says why beside what the gate finds, which reads them
    by itself. Where anything is to be mended, it names what is wrong with the board too, which is no label by itself."""
    wanted, refused = name.replace("-", "_"), Problems()
    kit = refused.of(kits.load, name, data)
    folder = Path(data) if data is not None else kits.home(wanted)
    if not kit and (wanted not in kits.names() or not folder.is_dir()):
        refused.refuse()
    report = gate(kit) if kit else _check(wanted, folder)
    if refused.found or report.problems:
        from src.shared.view import board       # which takes its time, and is nothing that a sound folder needs
        refused.of(board.read, folder)
    for problem in refused.found:
        file, _, message = problem.removeprefix(f"{folder}/").partition(": ")
        report.add(file, "", message)
    return report


def _check(name, folder, prompts=None):
    """What a kit's gate says of a folder, and whether the headline that kit.json names is a figure of the kit."""
    report = _gate(name).check(folder, prompts)
    metrics = [metric.id for metric in importlib.import_module(f"evals.{name}.bench").BENCH.metrics]
    kit = read_json(report, "kit.json")
    mark = kit.get("primary_metric") if isinstance(kit, dict) else None
    if isinstance(mark, str) and mark not in metrics:
        report.add("kit.json", "primary_metric", f"{shown(mark)} is no figure of this kit; {nearest(mark, metrics)}")
    return report


def _gate(name):
    try:
        return importlib.import_module(f"evals.{name}.gate")
    except ModuleNotFoundError as error:
        if error.name and not f"evals.{name}.gate".startswith(error.name):
            raise
        raise BadData(f"evals/{name}/gate.py: no such file; a kit brings a gate, check(data_dir, prompts)") from None


def _near(folder):
    """A folder as a person standing here would write it."""
    folder = Path(folder).absolute()
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder


def _arguments():
    parser = console.parser("evals.check_labels", __doc__, "python -m evals.check_labels {kit}")
    parser.add_argument("kit", nargs="*", help="kits to check, by name (default: all)")
    parser.add_argument("--data", metavar="DIR", help="a folder with the kit's files (default: the kit's own in data/)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
