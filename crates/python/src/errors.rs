//! Errors that Python meets.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};

create_exception!(
    _engine,
    SpecError,
    PyValueError,
    "The engine refuses the spec; the text says why."
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
