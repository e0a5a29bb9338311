"""What is repeated: a notebook's lesson, and the sequence of notebooks and the sweeps of the command line."""

from kit.runs.lesson import Lesson, sample, start
