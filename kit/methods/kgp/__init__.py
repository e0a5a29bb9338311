"""KGP: agents that walk a graph of passages."""
