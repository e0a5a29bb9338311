"""The commands of ``kit``, by what they are for, and the options that they share."""
