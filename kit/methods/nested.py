"""Names of methods around methods, such as ``rerank(fuse(bm25, gnn-ret), mdr, 50)``."""

from typing import NamedTuple

from kit.corpus.types import Strings
from kit.errors import InputError


class Call(NamedTuple):
    """A name and what stands in brackets after it: nothing where there are none."""

    name: str
    arguments: Strings = ()


def read_call(text: str) -> Call:
    """A method's name with its arguments.

    Raises :class:`InputError` for brackets without a partner, and for an empty argument.
    """
    name, bracket, rest = text.strip().partition("(")
    if not bracket:
        return Call(name)
    if not rest.endswith(")"):
        raise _unpaired(text)

    arguments = [""]
    depth = 0
    for sign in rest[:-1]:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            raise _unpaired(text)
        if sign == "," and not depth:
            arguments.append("")
        else:
            arguments[-1] += sign
    if depth or not all(map(str.strip, arguments)):
        raise _unpaired(text)
    return Call(name.strip(), tuple(map(str.strip, arguments)))


def _unpaired(text: str) -> InputError:
    return InputError(f"expected a name such as fuse(bm25, gnn-ret), not {text!r}")
