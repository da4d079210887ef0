"""Files, folders and archives opened within bounds, and handed on piece by piece with their names.

Nothing here knows what a format is. What is unpacked is bounded by size, ratio, members and depth.
"""
