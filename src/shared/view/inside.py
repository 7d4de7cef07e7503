"""What a kit is made of, read from its own files: modules and their lines, imports, variables, commands."""
import ast
import dataclasses
import functools
from collections import Counter, namedtuple

from src.shared import config
from src.shared import kit as kits
from src.shared.files import BadData, read_text
from src.shared.view import figures, panels

CODE = ("src", "evals", "tools")
TESTS = ("test_", "contract")
# One module: its dotted name, its path below the checkout, its room (a folder, `evals/shared` as the longest), its
# lines, the first line of its docstring, the names that it imports
Module = namedtuple("Module", "name path room lines says imports")


def read(kit):
    """[Module] of a kit and of everything it stands on, sorted by path; nothing of other kits, no tests but its own."""
    others = {name for name in kits.names() if name != kit.name}
    found = []
    for top in CODE:
        for path in sorted((kits.ROOT / top).rglob("*.py")):
            below = path.relative_to(kits.ROOT)
            if below.parts[1] not in others and (kit.name in below.parts or not path.name.startswith(TESTS)):
                found.append(_module(path, below))
    return found


def modules(kit, found):
    """The kit's own modules, each with its lines and what it says it is."""
    own = [module for module in found if module.room.endswith(f"/{kit.name}")]
    total = sum(module.lines for module in own if not _is_test(module))
    return panels.table(["module", "lines", "what it says it is"],
                        [[{"text": module.path, "kind": "path"}, f"{module.lines:,}", module.says] for module in own],
                        f"The kit's own code: {total:,} lines without tests")


def stands_on(kit, found):
    """How much code the kit shares with every other, room by room."""
    rooms = {}
    for module in found:
        if not module.room.endswith(f"/{kit.name}"):
            rooms.setdefault(module.room, []).append(module.lines)
    return panels.table(["folder", "modules", "lines"],
                        [[room, str(len(lines)), f"{sum(lines):,}"] for room, lines in sorted(rooms.items())],
                        "What it stands on, the same for every kit")


def imports(found):
    """How often one room imports another, tests apart. `src` never imports `evals`; nothing shared imports a kit."""
    rooms, arrows = {module.name: module.room for module in found}, Counter()
    for module in found:
        reached = {rooms[name] for name in module.imports if name in rooms} - {module.room}
        arrows.update((module.room, room) for room in reached if not _is_test(module))
    return panels.table(["folder", "imports", "in so many modules"],
                        [[start, end, str(count)] for (start, end), count in sorted(arrows.items())],
                        "Which way imports run between folders")


def places(kit, names):
    """Paths of the checkout as a cell. {kit} stands for the kit's name, {data} and {results} for its folders.

    What a kit has not is not named: one without a schedule has no such module.
    """
    data, results = ("data", "results") if kit.alone else (f"data/{kit.name}", f"results/{kit.name}")
    paths = [name.format(kit=kit.name, data=data, results=results) for name in names]
    return [{"text": path, "kind": "path"} for path in paths if (kits.ROOT / path).exists()]


def variables():
    """Every variable of .env.example: default, and what the file says of it, its unit included."""
    rows, said = [], []
    known = {field.name.upper() for field in dataclasses.fields(config.Settings)}
    path = kits.ROOT / config.EXAMPLE
    for line in read_text(path).split("\n"):
        name, sign, default = line.partition("=")
        if line.startswith("#"):
            said.append(line.lstrip("# "))
        elif name in known and sign:
            rows.append([{"text": name, "kind": "path"}, default or {"text": figures.BLANK, "why": "not set"},
                         " ".join(said)])
        elif line:
            raise BadData(f"{path}: {name} is no variable of this project")
        else:
            said = []
    return panels.table(["variable", "default", "what it means"], rows, f"Variables, as {config.EXAMPLE} has them")


def commands(found):
    """Every command of the checkout with the first line of what it says of itself."""
    rows = [[{"text": f"python -m {module.name}", "kind": "path"}, module.says] for module in found
            if module.room in CODE and module.name not in CODE]
    return panels.table(["command", "does"], rows, "Commands; each has --help with an example")


def packages():
    """How many packages requirements.txt asks for, in words."""
    lines = [line.partition("#")[0].strip() for line in read_text(kits.ROOT / "requirements.txt").split("\n")]
    return str(len([line for line in lines if line])) if any(lines) else "none"


@functools.lru_cache(maxsize=None)      # what runs does not change while it does
def _module(path, below):
    source, parts = read_text(path), below.with_suffix("").parts
    tree = ast.parse(source)
    says = (ast.get_docstring(tree) or figures.BLANK).split("\n")[0]
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(name, below.as_posix(), below.parent.as_posix(), source.count("\n"), says, frozenset(_imported(tree)))


def _imported(tree):
    """Yield every name that a module imports, whether it is a module or something in one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_test(module):
    return module.path.rpartition("/")[2].startswith(TESTS)
