"""The programs that make the project's data, loaded once: their modules are imported from ``kit_data_NAME``."""

from kit.corpus.generating import generator

for name in ("atlas", "planner", "reports"):
    generator(name)
