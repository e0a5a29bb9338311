"""The atlas: an invented encyclopedia with questions, made by the kit from a seed and a size."""

from kit.corpus.atlas.generate import SIZES, Atlas, AtlasSize, build, generate, write

__all__ = ["SIZES", "Atlas", "AtlasSize", "build", "generate", "write"]
