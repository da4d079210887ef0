"""Published results held against the simulation: `run_study("name")`."""

from homenode.evidence.study.compare import Comparison, StudyResult
from homenode.evidence.study.definition import Study, list_studies, load_study
from homenode.evidence.study.evaluate import run_study
from homenode.evidence.study.fit import CalibrationResult, calibrate

__all__ = [
    "CalibrationResult",
    "Comparison",
    "Study",
    "StudyResult",
    "calibrate",
    "list_studies",
    "load_study",
    "run_study",
]
