//! Listings of partitions: text to JSON and back.

use homenode_captures::{parstatus, vparstatus, CaptureError as Fault, Reading};
use pyo3::prelude::*;

use crate::errors::{CaptureError, SpecError};

fn read<T: serde::Serialize>(found: Result<Reading<T>, Fault>) -> PyResult<String> {
    let reading = found.map_err(|fault| CaptureError::new_err(fault.to_string()))?;
    serde_json::to_string(&reading).map_err(|fault| CaptureError::new_err(fault.to_string()))
}

fn listing<'a, T: serde::Deserialize<'a>>(json: &'a str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|fault| SpecError::new_err(format!("listing: {fault}")))
}

/// Reads text that HP-UX's `vparstatus` printed and returns what it says (JSON), with the lines of
/// the facts and remarks on what was left out; raises `CaptureError`.
#[pyfunction]
pub(crate) fn parse_vparstatus(text: &str) -> PyResult<String> {
    read(vparstatus::parse(text))
}

/// Reads text that HP-UX's `parstatus` printed, as `parse_vparstatus` does.
#[pyfunction]
pub(crate) fn parse_parstatus(text: &str) -> PyResult<String> {
    read(parstatus::parse(text))
}

/// Writes a listing (JSON) as `vparstatus` would; raises `SpecError` if it is none.
#[pyfunction]
pub(crate) fn format_vparstatus(listing_json: &str) -> PyResult<String> {
    listing(listing_json).map(|found| vparstatus::format(&found))
}

/// Writes a listing (JSON) as `parstatus` would; raises `SpecError` if it is none.
#[pyfunction]
pub(crate) fn format_parstatus(listing_json: &str) -> PyResult<String> {
    listing(listing_json).map(|found| parstatus::format(&found))
}
