"""GNN-Ret and RGNN-Ret: passages pass their distance to the question on to their neighbours (gnn-ret.txt)."""
