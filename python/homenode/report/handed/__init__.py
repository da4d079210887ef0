"""A report to hand over: one HTML file that opens without a network and prints well.

`sections` says what stands in it, `trust` how far that can be relied on, `page` writes the file;
each knows only those before it.
"""
