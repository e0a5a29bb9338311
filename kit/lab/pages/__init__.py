"""Executed notebooks as pages to read in a browser, and as slides."""
