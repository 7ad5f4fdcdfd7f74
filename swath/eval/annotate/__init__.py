"""Annotated objects made into a data set: patches, attributes, sentences, questions, checks, files."""
