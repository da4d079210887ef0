//! Errors that Python meets.

use homenode_engine::sim::SpecFault;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    _engine,
    SpecError,
    PyValueError,
    "The engine refuses the spec; the text says why. `at` is a JSON pointer to what it refuses, \
     `what` the text without whose it is; text that is no spec has neither."
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

/// The engine's refusal, with the place in the spec for who tells it in other words.
pub(crate) fn refused(py: Python<'_>, fault: &SpecFault) -> PyErr {
    let error = SpecError::new_err(fault.to_string());
    let value = error.value(py);
    let told = value
        .setattr("at", &fault.at)
        .and_then(|()| value.setattr("what", fault.what.to_string()));
    told.err().unwrap_or(error)
}
