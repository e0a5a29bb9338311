"""The atlas: an invented encyclopedia with questions, made from a seed and a size (``kit data make atlas``)."""

from .chains import text_of
from .generate import Atlas, build, generate, main, write
from .phrasings import RELATIONS
from .world import SYMMETRIC
