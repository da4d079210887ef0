//! Other formats: hyptop, metrics, traces.

use pyo3::prelude::*;

/// Adds the functions of this file to the module.
pub(crate) fn register(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
