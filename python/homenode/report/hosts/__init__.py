"""Measured results as tables and sentences."""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.report.hosts.beside import beside_sentences, beside_table
    from homenode.report.hosts.comparisons import comparison_tables
    from homenode.report.hosts.pictures import comparison_picture, load_picture
    from homenode.report.hosts.plans import plan_sentences, plan_table
    from homenode.report.hosts.results import sentences, tables
    from homenode.report.hosts.runs import parts_table, runs_table
    from homenode.report.hosts.verdicts import comparison_sentences

__all__ = [
    "beside_sentences",
    "beside_table",
    "comparison_picture",
    "comparison_sentences",
    "comparison_tables",
    "load_picture",
    "parts_table",
    "plan_sentences",
    "plan_table",
    "runs_table",
    "sentences",
    "tables",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "beside_sentences": "beside",
            "beside_table": "beside",
            "comparison_picture": "pictures",
            "comparison_sentences": "verdicts",
            "comparison_tables": "comparisons",
            "load_picture": "pictures",
            "parts_table": "runs",
            "plan_sentences": "plans",
            "plan_table": "plans",
            "runs_table": "runs",
            "sentences": "results",
            "tables": "results",
        },
    )
