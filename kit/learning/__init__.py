"""How things learn: one training loop, one way to learn, keep and find again, and encoders that learn in part."""
