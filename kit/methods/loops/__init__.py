"""Loops of retrieval and thought (SelfAsk, SelfCritique, IRCoT, ITER-RETGEN), and who thinks."""
