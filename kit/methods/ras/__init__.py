"""RAS: sub-questions, a graph that grows with each, and an answerer that reads it."""
