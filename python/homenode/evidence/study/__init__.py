"""Published results held against the simulation: `run_study("name")`; what came out when that was
last written down: `recorded_outcome(load_study("name"))`.
"""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.evidence.study.definition import Study, load_study
    from homenode.evidence.study.deviation import Comparison
    from homenode.evidence.study.evaluate import run_study
    from homenode.evidence.study.fit import CalibrationResult, calibrate_study
    from homenode.evidence.study.listing import list_studies
    from homenode.evidence.study.outcome import recorded_outcome
    from homenode.evidence.study.result import Count, Standing, StudyResult

__all__ = [
    "CalibrationResult",
    "Comparison",
    "Count",
    "Standing",
    "Study",
    "StudyResult",
    "calibrate_study",
    "list_studies",
    "load_study",
    "recorded_outcome",
    "run_study",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "CalibrationResult": "fit",
            "Comparison": "deviation",
            "Count": "result",
            "Standing": "result",
            "Study": "definition",
            "StudyResult": "result",
            "calibrate_study": "fit",
            "list_studies": "listing",
            "load_study": "definition",
            "recorded_outcome": "outcome",
            "run_study": "evaluate",
        },
    )
