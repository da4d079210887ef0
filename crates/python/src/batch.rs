//! A batch as Python sees it: a dictionary of tables, each a dictionary of columns, each column
//! packed 64-bit integers in little-endian order, so that Arrow can take it as it is.

use homenode_engine::sim::{Batch, Columns};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Calls the observer with a batch; `true` if the run is to go on.
pub fn observe(py: Python<'_>, observer: &Py<PyAny>, batch: &Batch<'_>) -> PyResult<bool> {
    py.check_signals()?;
    let tables = PyDict::new(py);
    let all = [
        ("partition", &batch.tables.partition),
        ("cpu", &batch.tables.cpu),
        ("pool", &batch.tables.pool),
        ("workload", &batch.tables.load),
        ("virtual_machine", &batch.tables.virtual_machine),
        ("switch", &batch.tables.switch),
        ("volume", &batch.tables.volume),
        ("fabric", &batch.tables.fabric),
        ("dispatches", &batch.tables.dispatches),
    ];
    for (name, table) in all.iter().filter(|(_, table)| !table.is_empty()) {
        tables.set_item(name, columns(py, table)?)?;
    }
    let seen = PyDict::new(py);
    seen.set_item("now_ns", batch.now_ns)?;
    seen.set_item("end_ns", batch.end_ns)?;
    seen.set_item("events", batch.events)?;
    seen.set_item("tables", tables)?;
    observer.bind(py).call1((seen,))?.is_truthy()
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
