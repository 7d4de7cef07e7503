"""The rules of the house, read from the code itself: which way imports run, and whether the tests are tests."""
import ast
import re
import sys
import unittest
from collections import Counter

from src.shared import kit as kits

ROOT = kits.ROOT
CODE = ("src", "evals", "tools")
EMPTY_REQUIREMENTS = re.compile(r"\s*(#.*)?")


SILENT = ("subTest", "addCleanup")      # calls on a test case that cannot fail it
READ = (ast.Import, ast.ImportFrom, ast.Assert, ast.Compare, ast.ClassDef)      # the nodes that a test here asks for


def modules():
    """{dotted name: (path, syntax tree, its nodes by type)} of every Python file of the project."""
    found = {}
    for top in CODE:
        for path in sorted((ROOT / top).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            tree, nodes = ast.parse(path.read_text(encoding="utf-8")), {kind: [] for kind in READ}
            for node in ast.walk(tree):
                if type(node) in nodes:
                    nodes[type(node)].append(node)
            found[name] = path, tree, nodes
    return found


MODULES = {}        # filled for the tests of this file alone: the trees of a whole project slow down every other test


def setUpModule():
    MODULES.update(modules())


def tearDownModule():
    MODULES.clear()


def imported(name):
    """The project's own modules that a module imports, anywhere in it."""
    path, _, nodes = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in nodes[ast.Import]:
        yield from (alias.name for alias in node.names if alias.name.split(".")[0] in CODE)
    for node in nodes[ast.ImportFrom]:
        base = node.module or ""
        if node.level:
            up = package.split(".")[:len(package.split(".")) - node.level + 1]
            base = ".".join([*up, base] if base else up)
        if base.split(".")[0] in CODE:
            for alias in node.names:
                yield f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base


def is_test(name):
    """Whether a module is test code: a test file, or the tests that kits inherit."""
    return name.rpartition(".")[2].startswith(("test_", "contract"))


def faults(case):
    """What is wrong with the tests of a class: one that hides another, one that nothing can fail."""
    methods = [item for item in case.body if isinstance(item, ast.FunctionDef)]
    for name, times in Counter(item.name for item in methods).items():
        if times > 1:
            yield f"{case.name}.{name} is defined {times} times, and the last hides the others"
    for item in methods:
        if item.name.startswith("test") and not any(map(_judges, ast.walk(item))):
            yield f"{case.name}.{item.name} asserts nothing"


def _judges(node):
    """Whether a node of a test can fail it: an assertion or another call on the case, a raise."""
    return isinstance(node, ast.Raise) or isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and \
        isinstance(node.func.value, ast.Name) and node.func.value.id == "self" and node.func.attr not in SILENT


def room(name):
    """(top level, kit or "shared" or "" for a file directly below the top level)."""
    parts = name.split(".")
    return parts[0], parts[1] if len(parts) > 1 and parts[1] in (*kits.names(), "shared") else ""


class TestImports(unittest.TestCase):
    def test_imports_run_one_way(self):
        for name in MODULES:
            top, slice_ = room(name)
            if is_test(name):
                continue
            for other in imported(name):
                other_top, other_slice = room(other)
                with self.subTest(importer=name, imported=other):
                    if top == "src":
                        self.assertEqual(other_top, "src", "src imports src alone")
                    if slice_:
                        self.assertIn(other_slice, (slice_, "shared"), "a kit imports itself and shared")
                    if slice_ == "shared":
                        self.assertEqual(other_slice, "shared", "shared imports shared")
                    if not slice_:
                        self.assertNotIn(other_slice, kits.names(), "a command names no kit")

    def test_a_gate_reaches_nothing_of_src(self):
        for kit in kits.names():
            reached, todo = set(), [f"evals.{kit}.gate"]
            while todo:
                name = todo.pop()
                if name in MODULES and name not in reached:
                    reached.add(name)
                    todo += imported(name)
            self.assertGreater(len(reached), 1)
            self.assertEqual([name for name in reached if name.startswith("src")], [])

    def test_only_adapters_reach_for_the_network(self):
        network = {"urllib.request", "http.client", "socket", "ssl", "ftplib", "smtplib"}
        for name, (_, _, nodes) in MODULES.items():
            if name.startswith(("src.shared.adapters", "evals", "tools")):
                continue
            used = {alias.name for node in nodes[ast.Import] for alias in node.names}
            used |= {node.module for node in nodes[ast.ImportFrom]}
            with self.subTest(module=name):
                self.assertEqual(used & network, set())

    def test_nothing_outside_a_kit_asks_which_kit_it_serves(self):
        known = {word for kit in kits.names() for word in (kit, kit.replace("_", "-"))}
        for name, (_, _, nodes) in MODULES.items():
            if room(name)[1] in kits.names() or is_test(name):
                continue
            words = {part.value for node in nodes[ast.Compare] for part in ast.walk(node)
                     if isinstance(part, ast.Constant) and isinstance(part.value, str)}
            with self.subTest(module=name):
                self.assertEqual(words & known, set())

    def test_nothing_shipped_asserts(self):
        for name, (_, _, nodes) in MODULES.items():
            if not is_test(name):
                with self.subTest(module=name):
                    self.assertFalse([node.lineno for node in nodes[ast.Assert]],
                                     "python -O takes an assert away; raise instead")

    def test_only_the_standard_library_is_imported(self):
        for name, (_, _, nodes) in MODULES.items():
            heads = {alias.name.split(".")[0] for node in nodes[ast.Import] for alias in node.names}
            heads |= {(node.module or "").split(".")[0] for node in nodes[ast.ImportFrom] if not node.level}
            with self.subTest(module=name):
                self.assertEqual(heads - set(sys.stdlib_module_names) - set(CODE), set())


class TestTests(unittest.TestCase):
    def test_every_folder_of_code_is_a_package(self):
        for top in CODE:
            for path in (ROOT / top).rglob("*.py"):
                with self.subTest(folder=path.parent):
                    self.assertTrue((path.parent / "__init__.py").exists(), "discovery skips a folder without one")

    def test_a_package_init_holds_a_docstring_or_nothing(self):
        for name, (path, tree, _) in MODULES.items():
            if path.name == "__init__.py" and name != "src.shared.adapters":
                with self.subTest(package=name):
                    self.assertLessEqual(len(tree.body), 1)

    def test_every_module_says_what_it_is(self):
        for name, (_, tree, _) in MODULES.items():
            with self.subTest(module=name):
                self.assertTrue(ast.get_docstring(tree))

    def test_no_test_stands_twice_and_none_asserts_nothing(self):
        cases = [case for name, (_, _, nodes) in MODULES.items() if is_test(name) for case in nodes[ast.ClassDef]]
        self.assertEqual([fault for case in cases for fault in faults(case)], [])
        self.assertGreater(sum(item.name.startswith("test") for case in cases for item in case.body
                               if isinstance(item, ast.FunctionDef)), 100)

    def test_a_test_that_stands_twice_or_asserts_nothing_is_found(self):
        source = """class T:
    def test_a(self): self.assertTrue(1)
    def test_a(self): self.fail()
    def test_b(self):
        with self.subTest(1): print("all is well")
    def test_c(self): raise ValueError
"""
        self.assertEqual(list(faults(ast.parse(source).body[0])),
                         ["T.test_a is defined 2 times, and the last hides the others", "T.test_b asserts nothing"])

    def test_every_test_file_is_found_by_discovery(self):
        suite = unittest.defaultTestLoader.discover(str(ROOT / "evals"), top_level_dir=str(ROOT))
        ran = set()

        def walk(part):
            for item in part:
                if isinstance(item, unittest.TestSuite):
                    walk(item)
                else:       # a module that skips itself is a case of the loader's, named like the module
                    module = type(item).__module__
                    ran.add(item.id().partition("ModuleSkipped.")[2] if module == "unittest.loader" else module)
        walk(suite)
        files = {name for name in MODULES if name.rpartition(".")[2].startswith("test_")}
        self.assertEqual({name for name in files if name not in ran}, set())
        self.assertEqual([name for name in files if not name.startswith("evals.")], [], "tests stand under evals/")


class TestTopLevel(unittest.TestCase):
    def test_nothing_has_to_be_installed(self):
        for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines():
            self.assertTrue(EMPTY_REQUIREMENTS.fullmatch(line), line)
