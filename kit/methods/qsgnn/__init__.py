"""QSGNN: messages that the question guides, on a graph of three levels."""
