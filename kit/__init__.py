"""Graph-based retrieval for multi-hop question answering: teach, explore, regenerate."""

import os

# Threads that wait for each other sleep. By default they spin for long, and beside another busy process a step of
# training takes twice as long. OpenMP reads this once, when torch or faiss is loaded: it stands before other imports.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # of all runtimes
os.environ.setdefault(
    "GOMP_SPINCOUNT", "1000"
)  # turns, of GNU's: training on two threads gains a sixth
os.environ.setdefault("KMP_BLOCKTIME", "0")  # of LLVM's and Intel's, which wait 200 ms all the same

__version__ = "0.1.0"
