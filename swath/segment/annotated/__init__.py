"""Annotation files of data sets: DOTA text files, VRSBench annotations, COCO JSON."""
