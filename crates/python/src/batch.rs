//! A batch as Python sees it: a dictionary of tables, each a dictionary of columns, each column
//! packed 64-bit integers in little-endian order, so that Arrow can take it as it is.

use homenode_engine::sim::{Batch, Columns, Tables};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Calls the observer with a batch, with its `latest` rows if they are wanted; `true` if the run is
/// to go on.
pub fn observe(
    py: Python<'_>,
    observer: &Py<PyAny>,
    batch: &Batch<'_>,
    latest: bool,
) -> PyResult<bool> {
    py.check_signals()?;
    let seen = PyDict::new(py);
    seen.set_item("now_ns", batch.now_ns)?;
    seen.set_item("end_ns", batch.end_ns)?;
    seen.set_item("events", batch.events)?;
    seen.set_item("tables", tables(py, batch.tables)?)?;
    if latest {
        seen.set_item("latest", tables(py, batch.latest)?)?;
    }
    observer.bind(py).call1((seen,))?.is_truthy()
}

/// Those tables that have rows.
fn tables<'py>(py: Python<'py>, of: &Tables) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let all = [
        ("partition", &of.partition),
        ("cpu", &of.cpu),
        ("pool", &of.pool),
        ("workload", &of.load),
        ("virtual_machine", &of.virtual_machine),
        ("switch", &of.switch),
        ("volume", &of.volume),
        ("fabric", &of.fabric),
        ("interrupt", &of.interrupt),
        ("home", &of.home),
        ("dispatches", &of.dispatches),
    ];
    for (name, table) in all.iter().filter(|(_, table)| !table.is_empty()) {
        found.set_item(name, columns(py, table)?)?;
    }
    Ok(found)
}

fn columns<'py>(py: Python<'py>, table: &Columns) -> PyResult<Bound<'py, PyDict>> {
    let packed = PyDict::new(py);
    for (name, values) in table.names.iter().zip(&table.values) {
        let bytes = PyBytes::new_with(py, 8 * values.len(), |bytes| {
            for (place, value) in bytes.chunks_exact_mut(8).zip(values) {
                place.copy_from_slice(&value.to_le_bytes());
            }
            Ok(())
        })?;
        packed.set_item(name, bytes)?;
    }
    Ok(packed)
}
