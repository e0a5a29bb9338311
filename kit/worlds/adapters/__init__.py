"""The adapters of ``data/adapters``: what makes the small language model fit for a role.

``kit data make adapters`` trains them.
"""

from kit.worlds.adapters.generate import main
from kit.worlds.adapters.reader import reader_pairs
