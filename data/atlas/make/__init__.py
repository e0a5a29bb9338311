"""The atlas: an invented encyclopedia with questions, made from a seed and a size (``kit data make atlas``)."""

from .generate import Atlas, build, generate, main, write
