"""How things learn: one training loop, one way to learn and find again, partly frozen encoders."""
