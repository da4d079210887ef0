//! Errors that Python meets.

use homenode_engine::sim::{SpecFault, Wrong};
use homenode_engine::spec::Spec;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    _engine,
    SpecError,
    PyValueError,
    "The engine refuses the spec; the text says why. `at` is a JSON pointer to what it refuses, \
     `what` the text without whose it is; of a number out of its range, `field` is its name and \
     `range` what it must be, both empty otherwise. Text that is no spec has none of them."
);

create_exception!(
    _engine,
    Stopped,
    PyException,
    "The observer asked the engine to stop."
);

create_exception!(
    _engine,
    Runaway,
    PyRuntimeError,
    "More work piled up than memory should hold."
);

create_exception!(
    _engine,
    CaptureError,
    PyValueError,
    "A tool's output that is not what it should be; names the line."
);

/// A frozen spec of its text.
pub(crate) fn parse(spec_json: &str) -> PyResult<Spec> {
    serde_json::from_str(spec_json).map_err(|fault| SpecError::new_err(format!("spec: {fault}")))
}

/// The engine's refusal, with the place in the spec for who tells it in other words.
pub(crate) fn refused(py: Python<'_>, fault: &SpecFault) -> PyErr {
    let error = SpecError::new_err(fault.to_string());
    let value = error.value(py);
    let (field, range) = match &*fault.what {
        Wrong::Range { field, range, .. } => (field.as_str(), range.as_str()),
        _ => ("", ""),
    };
    let told = [
        ("at", fault.at.clone()),
        ("what", fault.what.to_string()),
        ("field", field.into()),
        ("range", range.into()),
    ];
    let mut told = told.iter().map(|(name, text)| value.setattr(*name, text));
    told.find_map(Result::err).unwrap_or(error)
}
