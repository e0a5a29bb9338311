"""The atlas: an invented encyclopedia with questions, made from a seed and a size.

``kit data make atlas`` writes it.
"""

from kit.worlds.atlas.generate import Atlas, build, generate, main, write
from kit.worlds.atlas.phrasings import RELATIONS
from kit.worlds.atlas.wording import text_of
from kit.worlds.atlas.world import SYMMETRIC
