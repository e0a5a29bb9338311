"""Graph-based retrieval for multi-hop question answering: teach, explore, regenerate."""

import os

# Threads that wait for each other sleep. By default they spin, and beside another busy process a step of training takes
# several times as long. OpenMP reads this once, when torch or faiss is loaded, so it stands before any other import.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # of all runtimes
os.environ.setdefault("KMP_BLOCKTIME", "0")  # of LLVM's and Intel's, which wait 200 ms all the same

__version__ = "0.1.0"
