"""Methods of other papers, on the same passages and triples as the five: one file each."""
