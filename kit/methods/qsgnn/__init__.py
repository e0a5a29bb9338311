"""QSGNN: messages that listen to the question, on a graph of entities, sentences and passages (qsgnn.txt)."""
