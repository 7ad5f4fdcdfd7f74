"""Segment Anything: outlines of whatever stands out, for classes that another source knows."""
