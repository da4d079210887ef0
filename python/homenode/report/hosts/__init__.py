"""Measured results as tables and sentences."""

from homenode.report.hosts.beside import beside_sentences, beside_table
from homenode.report.hosts.comparisons import comparison_tables
from homenode.report.hosts.plans import plan_sentences, plan_table
from homenode.report.hosts.results import sentences, tables
from homenode.report.hosts.runs import parts_table, runs_table
from homenode.report.hosts.verdicts import comparison_sentences

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
