"""Code that a stranger reads at the pace of prose, by counts that can be compared."""

import ast
import io
import json
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

MOST_NODES_PER_LINE = 4.7  # expression nodes per line of code
MOST_COLUMNS = 100
MOST_BRANCHES = 12  # per function; a comprehension counts, and each of its conditions
MOST_LINES = 60  # per function
MOST_LINES_OF_A_FILE = 500
MOST_TUPLES = 3  # assignments of unrelated things in one statement, per thousand lines of code
MOST_SUBSTANCE = 149_000

#: Words that say nothing about what they name.
WEAK = set(
    "told asked found of it its each own known new here both ours place places number going near "
    "rows_ thing stuff".split()
)
BRANCHES = (
    ast.If,
    ast.For,
    ast.While,
    ast.ExceptHandler,
    ast.With,
    ast.IfExp,
    ast.comprehension,
    ast.Assert,
    ast.match_case,
)
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Source:
    """A file of Python, or the code cells of a notebook one after another."""

    def __init__(self, path: Path) -> None:
        self.name = str(path.relative_to(ROOT))
        self.text = _cells(path) if path.suffix == ".ipynb" else path.read_text("utf-8")
        self.tree = ast.parse(self.text)

    def lines_of_code(self) -> set[int]:
        lines: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type not in NO_CODE:
                lines.update(range(token.start[0], token.end[0] + 1))
        return lines - self._docstrings()

    def _docstrings(self) -> set[int]:
        lines: set[int] = set()
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        for node in ast.walk(self.tree):
            if isinstance(node, documented) and ast.get_docstring(node, clean=False):
                lines.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
        return lines

    def substance(self) -> int:
        return sum(isinstance(node, ast.expr) for node in ast.walk(self.tree))

    def functions(self) -> Iterator[Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def bindings(self) -> Iterator[tuple[str, int]]:
        """Names of variables and arguments, with their lines."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id, node.lineno
            elif isinstance(node, ast.arg):
                yield node.arg, node.lineno

    def tuples(self) -> Iterator[int]:
        """Lines that assign several things in one statement."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
                if isinstance(node.value, ast.Tuple):
                    yield node.lineno

    def dicts_to_pass_on(self) -> Iterator[int]:
        """Lines that pass ``**name`` where ``name`` is a dict that was written down for that."""
        names = {
            target.id
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                for keyword in node.keywords:
                    is_name = keyword.arg is None and isinstance(keyword.value, ast.Name)
                    if is_name and keyword.value.id in names:
                        yield node.lineno


def _cells(path: Path) -> str:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    lines = "\n\n".join(sources).splitlines()
    return "\n".join("" if line.startswith(("%", "!")) else line for line in lines)


def branches(function: Function) -> int:
    count = 1
    for node in ast.walk(function):
        if isinstance(node, BRANCHES):
            count += 1
        if isinstance(node, ast.comprehension):
            count += len(node.ifs)
        if isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
    return count


def sources(folder: str, pattern: str = "*.py") -> list[Source]:
    return [Source(path) for path in sorted((ROOT / folder).rglob(pattern))]


@pytest.fixture(scope="module")
def kit() -> list[Source]:
    return sources("kit")


def notebooks() -> list[Source]:
    lessons = sources("notebooks", "*.ipynb")
    return [source for source in lessons if "executed" not in Path(source.name).parts]


def test_a_line_has_one_thought(kit: list[Source]) -> None:
    lines = sum(len(source.lines_of_code()) for source in kit)
    nodes = sum(source.substance() for source in kit)
    assert nodes / lines <= MOST_NODES_PER_LINE


def test_kit_and_notebooks_do_not_grow(kit: list[Source]) -> None:
    """Together, since what moves from notebooks into the kit adds nothing."""
    counted = [source for source in kit if not source.name.startswith("kit/worlds/")]
    counted += [source for source in notebooks() if "/solutions/" not in source.name]
    assert sum(source.substance() for source in counted) <= MOST_SUBSTANCE


def test_no_line_is_long(kit: list[Source]) -> None:
    long = []
    for source in [*kit, *notebooks()]:
        lines = source.text.splitlines()
        for line in source.lines_of_code():
            if line <= len(lines) and len(lines[line - 1]) > MOST_COLUMNS:
                long.append(f"{source.name}:{line}")
    assert not long


def test_functions_are_short_and_straight(kit: list[Source]) -> None:
    offenders = []
    for source in kit:
        for function in source.functions():
            length = function.end_lineno - function.lineno + 1
            count = branches(function)
            if length > MOST_LINES or count > MOST_BRANCHES:
                name = f"{source.name}:{function.lineno} {function.name}"
                offenders.append(f"{name}: {count} branches in {length} lines")
    assert not offenders


def test_files_hold_one_idea(kit: list[Source]) -> None:
    lengths = {source.name: source.text.count("\n") for source in kit}
    assert [name for name, length in lengths.items() if length > MOST_LINES_OF_A_FILE] == []


def test_names_say_what_a_thing_is(kit: list[Source]) -> None:
    offenders = []
    for source in [*kit, *sources("tests"), *notebooks()]:
        for name, line in source.bindings():
            if name in WEAK:
                offenders.append(f"{source.name}:{line} {name}")
    assert not offenders


def test_a_statement_assigns_one_thing(kit: list[Source]) -> None:
    offenders = [f"{source.name}:{line}" for source in kit for line in source.tuples()]
    lines = sum(len(source.lines_of_code()) for source in kit)
    assert len(offenders) <= MOST_TUPLES * lines / 1000, offenders


def test_arguments_are_passed_by_name(kit: list[Source]) -> None:
    offenders = [f"{source.name}:{line}" for source in kit for line in source.dicts_to_pass_on()]
    assert not offenders
