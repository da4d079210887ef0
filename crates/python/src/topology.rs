//! Topologies of hosts: hwloc, sysfs, lscpu, libvirt.

use pyo3::prelude::*;

/// Adds the functions of this file to the module.
pub(crate) fn register(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
