"""Graph-based retrieval for multi-hop question answering: teach, explore, regenerate."""

__version__ = "0.1.0"
