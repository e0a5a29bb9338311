"""BGR: graphs of evidence, searched forward and backward, and merged."""
