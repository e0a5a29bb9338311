"""GNN-Ret and RGNN-Ret: passages pass their distance to the question on."""
