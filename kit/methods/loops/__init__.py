"""Loops of retrieval and thought: SelfAsk, SelfCritique, IRCoT, ITER-RETGEN, and the agents that think in them."""
