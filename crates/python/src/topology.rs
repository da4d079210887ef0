//! Topologies of hosts: hwloc, sysfs, lscpu, libvirt.

use std::collections::BTreeMap;

use homenode_captures::topology::{console, Topology};
use homenode_captures::{
    hwloc, libvirt, lscpu, sysfs, sysinfo, xml, CaptureError as Fault, Lenient,
};
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::{CaptureError, SpecError};

fn read<T: Serialize>(found: Result<Lenient<T>, Fault>) -> PyResult<String> {
    let lenient = found.map_err(|fault| CaptureError::new_err(fault.to_string()))?;
    serde_json::to_string(&lenient).map_err(|fault| CaptureError::new_err(fault.to_string()))
}

fn topology(json: &str) -> PyResult<Topology> {
    serde_json::from_str(json).map_err(|fault| SpecError::new_err(format!("topology: {fault}")))
}

/// Reads hwloc's XML, versions 1 to 3, and returns the host with its tree (JSON), how many lines
/// were dropped and remarks; raises `CaptureError` if nothing of it is sound.
#[pyfunction]
fn read_hwloc(py: Python<'_>, text: &str) -> PyResult<String> {
    py.detach(|| read(hwloc::read(text)))
}

/// Reads the files of a dump of `/sys` and `/proc`, by their paths, as `read_hwloc` does; the text
/// of a remark begins with the path.
#[pyfunction]
fn read_sysfs(py: Python<'_>, files: BTreeMap<String, Vec<u8>>) -> PyResult<String> {
    py.detach(|| read(sysfs::read(&files)))
}

/// Reads what `lscpu` printed, in any of its forms, as `read_hwloc` does.
#[pyfunction]
fn read_lscpu(py: Python<'_>, text: &str) -> PyResult<String> {
    py.detach(|| read(lscpu::read(text)))
}

/// Reads what `virsh capabilities` printed, as `read_hwloc` does.
#[pyfunction]
fn read_capabilities(py: Python<'_>, text: &str) -> PyResult<String> {
    py.detach(|| read(libvirt::read_capabilities(text)))
}

/// Reads libvirt's XML of domains and returns them (JSON), as `read_hwloc` does.
#[pyfunction]
fn read_domains(py: Python<'_>, text: &str) -> PyResult<String> {
    py.detach(|| read(libvirt::read_domains(text)))
}

/// Reads `/proc/sysinfo` of Linux on IBM Z and returns its parts (JSON), as `read_hwloc` does.
#[pyfunction]
fn read_sysinfo(py: Python<'_>, text: &str) -> PyResult<String> {
    py.detach(|| read(sysinfo::read(text)))
}

/// Reads any XML as trees (JSON): `name`, `attributes` as pairs, `children`, `text`, `line`; raises
/// `CaptureError` if there is no element.
#[pyfunction]
fn read_xml(py: Python<'_>, text: &str) -> PyResult<String> {
    py.detach(|| read(xml::read(text)))
}

/// Writes a tree (JSON) as `lstopo -v` prints it on a console.
#[pyfunction]
fn topology_console(topology_json: &str) -> PyResult<String> {
    topology(topology_json).map(|found| console(&found))
}

/// Writes a tree (JSON) as hwloc's XML, version 2.
#[pyfunction]
fn topology_xml(topology_json: &str) -> PyResult<String> {
    topology(topology_json).map(|found| hwloc::write(&found))
}

/// Adds the functions of this file to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(read_hwloc, module)?)?;
    module.add_function(wrap_pyfunction!(read_sysfs, module)?)?;
    module.add_function(wrap_pyfunction!(read_xml, module)?)?;
    module.add_function(wrap_pyfunction!(read_lscpu, module)?)?;
    module.add_function(wrap_pyfunction!(read_capabilities, module)?)?;
    module.add_function(wrap_pyfunction!(read_domains, module)?)?;
    module.add_function(wrap_pyfunction!(read_sysinfo, module)?)?;
    module.add_function(wrap_pyfunction!(topology_console, module)?)?;
    module.add_function(wrap_pyfunction!(topology_xml, module)?)?;
    Ok(())
}
