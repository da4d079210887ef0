"""Measured results as tables and sentences."""

from homenode.report.measured.beside import beside_sentences, beside_table
from homenode.report.measured.comparisons import comparison_tables
from homenode.report.measured.plans import plan_sentences, plan_table
from homenode.report.measured.results import sentences, tables
from homenode.report.measured.runs import parts_table, runs_table
from homenode.report.measured.verdicts import comparison_sentences

__all__ = [
    "beside_sentences",
    "beside_table",
    "comparison_sentences",
    "comparison_tables",
    "parts_table",
    "plan_sentences",
    "plan_table",
    "runs_table",
    "sentences",
    "tables",
]
