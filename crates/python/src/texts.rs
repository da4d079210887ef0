//! Texts of tools: AIX's reports, lparcfg, what an HMC lists.

use pyo3::prelude::*;

/// Adds the functions of this file to the module.
pub(crate) fn register(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
