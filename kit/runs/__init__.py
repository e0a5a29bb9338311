"""What is repeated: a notebook's lesson, the scales, and the sequence that ``kit run`` executes (kit.runs.runner)."""

from kit.runs.lesson import Lesson, start
from kit.runs.scales import SCALES, Scale, find_scale

__all__ = ["SCALES", "Lesson", "Scale", "find_scale", "start"]
