"""What is repeated: a notebook's lesson, the sequence of notebooks, and sweeps of settings."""

from kit.lab.lesson import Lesson, sample, start
