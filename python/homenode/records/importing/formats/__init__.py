"""Readers, a module a family: `FORMATS` of files, `TREE_FORMATS` of dumps of `/proc` and `/sys`.

A reader recognises what is its own by the content and adds to `Facts`, each value with its file and
line. It decides nothing: which of two values counts is asked in `assemble`.
"""
