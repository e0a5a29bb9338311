"""The networks of ``data/networks``: what methods learn on invented worlds, once.

``kit data make networks`` trains them.
"""

from kit.worlds.networks.generate import main
from kit.worlds.networks.worlds import training_worlds
