"""Measured results as tables and sentences."""

from homenode.report.measured.beside import beside_sentences, beside_table
from homenode.report.measured.comparisons import comparison_tables
from homenode.report.measured.results import sentences, tables
from homenode.report.measured.verdicts import comparison_sentences

__all__ = [
    "beside_sentences",
    "beside_table",
    "comparison_sentences",
    "comparison_tables",
    "sentences",
    "tables",
]
