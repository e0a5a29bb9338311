"""What is repeated: a notebook's lesson, and the sequence of notebooks, sweeps and benchmarks of the command line."""

from kit.runs.lesson import Lesson, sample, start
