"""Baselines: keyword search, sentence vectors, PageRank, and encoders that learn (DPR, MDR)."""
