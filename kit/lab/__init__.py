"""What is done with the library: the command line, runs of notebooks, sweeps, claims."""
