"""What the source must look like, whatever it does."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "rnnsearch"
SOURCES = sorted(PACKAGE.rglob("*.py"))

# The order of reading: a module imports only modules above it.
ORDER = """
errors launch confined wholefiles boards devices lines stream ids subwords moses words text
arrowcache encoded corpus columns tables datafiles hubaccess hub packing batches metrics alignment
textplot alignment_error modelconfig config plain rules products attention modelchecks validation
resuming positions recurrent fused encoder decoder model reach dropouts loss adadelta optim stepping
bestwords hypotheses search scoring checkpoint loading distributed translation translator evaluation
interrupts progress runlog graphs run update saving figures plots training report cli
""".split()  # noqa: SIM905 - a list of literals would take a page

FORBIDDEN_ATTRIBUTES = {
    "splitlines": "a line ends at LF alone",
    "torch.load": "loading must not run code",
    "yaml.load": "loading must not run code",
    "numpy.load": "loading must not run code",
    "np.load": "loading must not run code",
}
FORBIDDEN_NAMES = {"eval", "exec", "NotImplementedError"}
FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}

MAX_FILE = 320
MAX_FUNCTION = 60


def module_of(path: Path) -> str:
    """Return the first part of a file's name under the package: `text`, or `cli` for all of it."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_modules(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of every module that a file imports, also inside functions."""
    package = ["rnnsearch", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            start = ".".join([*base, *([node.module] if node.module else [])])
            yield node.lineno, start
            # `from rnnsearch import text` imports a module, `from rnnsearch.text import EOS` none.
            if start == "rnnsearch":
                yield from ((node.lineno, f"{start}.{name.name}") for name in node.names)


def forbidden(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            for name in {node.attr, ast.unparse(node)} & set(FORBIDDEN_ATTRIBUTES):
                yield node.lineno, f"{name}: {FORBIDDEN_ATTRIBUTES[name]}"
        elif isinstance(node, ast.Name) and node.id in FORBIDDEN_NAMES:
            yield node.lineno, node.id
        elif isinstance(node, ast.Constant) and node.value == "_target_":
            yield node.lineno, "_target_: a config names parts by kind"


def test_every_module_has_its_place():
    modules = {module_of(path) for path in SOURCES} - {"__init__", "__main__"}
    assert modules <= set(ORDER), "give a new module its place in ORDER"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_modules_above_it(path):
    module = module_of(path)
    if module not in ORDER:
        return
    # The modules of a package may import one another.
    own = {module} if (PACKAGE / module).is_dir() else set()
    above = set(ORDER[: ORDER.index(module)]) | own
    for line, name in imported_modules(path):
        parts = name.split(".")
        if parts[0] == "rnnsearch" and len(parts) > 1 and parts[1] in ORDER:
            assert parts[1] in above, f"{path}:{line} imports {name}, which is not above {module}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_and_functions_stay_short(path):
    source = path.read_text(encoding="utf-8")
    length = source.count("\n")
    assert length <= MAX_FILE, f"{path} has {length} lines"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            assert lines <= MAX_FUNCTION, f"{path}:{node.lineno} {node.name} has {lines} lines"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_that_splits_lines_wrongly_or_runs_what_it_loads(path):
    assert list(forbidden(ast.parse(path.read_bytes()))) == []
    modules = {name.split(".")[0] for _, name in imported_modules(path)}
    assert modules.isdisjoint(FORBIDDEN_MODULES)


def test_no_config_names_code():
    configs = sorted((ROOT / "configs").rglob("*.yaml"))
    assert configs
    for path in configs:
        text = path.read_text(encoding="utf-8")
        assert "_target_" not in text, path
        assert "!!python" not in text, path


@pytest.mark.parametrize(
    "code", ["s.splitlines()", "torch.load(f)", "eval(s)", "d['_target_']", "x = yaml.load(f)"]
)
def test_the_check_sees_what_is_forbidden(code):
    assert list(forbidden(ast.parse(code)))


@pytest.mark.parametrize("code", ["model.eval()", "yaml.safe_load(f)", "s.split('\\n')"])
def test_the_check_passes_what_is_not(code):
    assert list(forbidden(ast.parse(code))) == []


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("rnnsearch.cli.main", {"torch", "hydra", "datasets", "numpy"}),
        ("rnnsearch.cli.app", {"torch", "datasets", "sacrebleu", "matplotlib"}),
        ("rnnsearch.cli.translate", {"datasets", "sacrebleu", "matplotlib"}),
    ],
)
def test_what_a_command_does_not_need_is_not_imported(module, absent):
    """`--help` answers at once, and `translate` does not wait for what it never uses."""
    code = f"import sys, {module}; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not absent & set(found.stdout.split())
