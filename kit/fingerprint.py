"""A digest of the code that a result came from: results of other code are not found again."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path

from kit.paths import CARRIED, CHECKOUT, PACKAGE

#: Modules, and what they read.
_SUFFIXES = (".py", ".css", ".csv", ".js", ".md", ".mplstyle", ".toml")


def code_digest(*modules: str) -> str:
    """A digest of some of the kit's modules and of all modules of the kit that they import.

    A module that is imported only by name at run time does not count.
    """
    return digest_of(with_imports(modules))


def digest_of(modules: Iterable[str]) -> str:
    """A digest of just these modules of the kit.

    Comments and docstrings are left out. A table beside a module (``themes.toml`` of ``themes.py``)
    counts as part of it.
    """
    sink = blake2b(digest_size=8)
    for module in sorted(modules):
        sink.update(_content(module))
    return sink.hexdigest()


def package_digest() -> str:
    """A digest of all modules of the kit, and of the tables, scripts and styles among them."""
    sink = blake2b(digest_size=8)
    for path in sorted(filter(_is_own, PACKAGE.rglob("*"))):
        name = path.relative_to(PACKAGE).as_posix()
        text = path.read_text("utf-8")  # line ends don't count
        sink.update(f"{name}\n{text}\n".encode())
    return sink.hexdigest()


def _is_own(path: Path) -> bool:
    """Whether a file is the kit's own.

    What an editor leaves is not: the names of copies and of hidden folders can't be imported.
    """
    names = path.relative_to(PACKAGE).with_suffix("").parts
    is_importable = all(name.isidentifier() for name in names)
    return is_importable and path.suffix in _SUFFIXES and not path.is_relative_to(CARRIED)


def with_imports(modules: Iterable[str]) -> set[str]:
    """These modules of the kit, and those that they import, directly or through others."""
    reached = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in reached and _file(module) is not None:
            reached.add(module)
            waiting.extend(_imports(module))
    return reached


def _file(module: str) -> Path | None:
    """The file of a module below ``kit``; None for the door and for what isn't the kit's."""
    if not module.startswith("kit."):
        return None
    base = CHECKOUT.joinpath(*module.split("."))
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


def module_tree(module: str) -> ast.Module:
    """The code of a module of the kit."""
    return ast.parse(_file(module).read_text("utf-8"))


@cache
def _imports(module: str) -> tuple[str, ...]:
    """What a module imports, and the packages that this imports on the way."""
    names = []
    for name in imported_names(module_tree(module)):
        parts = name.split(".")
        names += [".".join(parts[:end]) for end in range(2, len(parts) + 1)]
    return tuple(names)


def imported_names(tree: ast.AST) -> Iterator[str]:
    """Full names of what code imports: ``a.b`` and ``a.b.c`` of ``from a.b import c``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def _content(module: str) -> bytes:
    """The code without comments and docstrings, and the table beside it."""
    tree = module_tree(module)
    for node in ast.walk(tree):
        match node:
            case ast.Expr(ast.Constant(str())):
                node.value.value = ""
    table = _file(module).with_suffix(".toml")
    table_text = table.read_text("utf-8") if table.is_file() else ""
    return (ast.unparse(tree) + table_text).encode()
