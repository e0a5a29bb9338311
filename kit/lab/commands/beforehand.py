"""What can be known before anything long is loaded or done."""

import sys
from collections.abc import Iterable, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from kit.errors import InputError
from kit.settings import Value


def with_own(names: Iterable[str]) -> list[str]:
    """The names of methods; one of your own, ``FILE.py:CLASS``, is registered under its name."""
    registered = []
    for name in names:
        file, colon, class_name = name.rpartition(":")
        if colon and file.endswith(".py"):
            name = _register(Path(file), class_name)
        registered.append(name)
    return registered


def _register(file: Path, class_name: str) -> str:
    from kit.methods import register

    if not file.is_file():
        raise InputError("no such file", file=file)
    name = f"own_{file.stem}"  # so that no library is hidden by a file of its name
    spec = spec_from_file_location(name, file)
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever a file of somebody's may raise
        raise InputError(
            f"expected a file that Python can run ({type(error).__name__}: {error})", file=file
        ) from error
    if not hasattr(module, class_name):
        raise InputError(f"expected a class {class_name} of retrievers", file=file)
    return register(getattr(module, class_name)).name


def expect_methods(names: Iterable[str], settings: Mapping[str, Value]) -> None:
    """Raise :class:`InputError` for a method, a setting or a model of it that does not exist.

    Methods are not loaded for it.
    """
    from kit.methods import expect_settings

    expect_settings(names, settings)
    expect_models(settings)


def expect_models(settings: Mapping[str, Value]) -> None:
    """Raise :class:`InputError` for what a setting names that isn't there.

    It may be an encoder, a graph builder, a file of triples, a language model, or the address of a
    server.
    """
    from kit.graphs import builders
    from kit.text import Encoder, language_model

    for name, value in settings.items():
        text = str(value)
        file = text.removeprefix("openie:")
        if name == "encoder":
            Encoder(text).expect_model()
        elif name == "graph":
            builders(text)
        elif text.startswith(("hf:", "server:")):
            language_model(text).expect_ready()
        elif file != text and not Path(file).exists():
            raise InputError("no such file", file=file)
