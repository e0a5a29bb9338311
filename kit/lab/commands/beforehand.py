"""What can be known before anything long is loaded or done."""

from collections.abc import Iterable, Mapping

from kit.settings import Value


def expect_methods(names: Iterable[str], settings: Mapping[str, Value]) -> None:
    """Raise :class:`InputError` for a method, a setting or a model of it that does not exist.

    Methods are not loaded for it.
    """
    from kit.methods import expect_settings

    expect_settings(names, settings)
    expect_models(settings)


def expect_models(settings: Mapping[str, Value]) -> None:
    """Raise :class:`InputError` for an encoder that is nowhere, and a server without an address."""
    from kit.text import Encoder, language_model

    for name, value in settings.items():
        if name == "encoder":
            Encoder(str(value)).expect_model()
        elif str(value).startswith("server:"):
            language_model(str(value)).expect_ready()
