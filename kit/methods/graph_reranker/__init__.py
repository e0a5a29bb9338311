"""A graph network whose nodes know the question, and the logistic model that it starts from."""
