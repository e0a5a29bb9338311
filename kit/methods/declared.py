"""What classes declare in their files, read without opening a method's room: that loads torch."""

import ast
from typing import NamedTuple

from kit.fingerprint import module_tree


class Declared(NamedTuple):
    """A class as it is written down."""

    module: str
    node: ast.ClassDef


def setting_names(module: str, name: str) -> list[str]:
    """The settings of a method's class, in the order in which they are declared."""
    settings = find_class(module, f"{name}.Settings")
    return _fields(settings) if settings else []


def says_how_to_learn(module: str, name: str) -> bool:
    """Whether a method's class, or a base of it, has a ``fit`` of its own."""
    return _defines(find_class(module, name), "fit")


def find_class(module: str, path: str) -> Declared | None:
    """A class of the kit by its name in a module, such as ``KGP`` or ``KGP.Settings``."""
    name, *nested = path.split(".")
    declared = _at_top(module, name)
    for name in nested:
        declared = declared and _nested(declared, name)
    return declared


def _at_top(module: str, name: str) -> Declared | None:
    if not module.startswith("kit."):
        return None
    for node in module_tree(module).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return Declared(module, node)
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if name == (alias.asname or alias.name):
                    return _at_top(node.module, alias.name)
    return None


def _nested(declared: Declared, name: str) -> Declared | None:
    """What a class calls ``name``: a class in it, another one, or that of a base."""
    for node in declared.node.body:
        match node:
            case ast.ClassDef(name=nested_name) if nested_name == name:
                return Declared(declared.module, node)
            case ast.Assign(targets=[ast.Name(id=target)]) if target == name:
                return find_class(declared.module, ast.unparse(node.value))

    inherited = [_nested(base, name) for base in _bases(declared)]
    return next(filter(None, inherited), None)


def _bases(declared: Declared) -> list[Declared]:
    bases = [find_class(declared.module, ast.unparse(base)) for base in declared.node.bases]
    return [base for base in bases if base]


def _fields(declared: Declared) -> list[str]:
    names = []
    for base in _bases(declared):
        names += _fields(base)
    for node in declared.node.body:
        if isinstance(node, ast.AnnAssign):
            names.append(node.target.id)
    return list(dict.fromkeys(names))


def _defines(declared: Declared, name: str) -> bool:
    if declared.module == "kit.methods.base":
        return False
    functions = [node.name for node in declared.node.body if isinstance(node, ast.FunctionDef)]
    return name in functions or any(_defines(base, name) for base in _bases(declared))
