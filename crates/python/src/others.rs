//! Other formats: hyptop, metrics, tables of samples.

use homenode_captures::traces::{Layout, Metrics, MetricsBatch, Samples, SamplesBatch};
use homenode_captures::{fcx, hyptop, monwrite, Remark};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::CaptureError;

/// Reads what hyptop printed in batch mode and returns it as JSON; raises `CaptureError`.
#[pyfunction]
fn read_hyptop(text: &str) -> PyResult<String> {
    let found = hyptop::read(text).map_err(|fault| CaptureError::new_err(fault.to_string()))?;
    serde_json::to_string(&found).map_err(|fault| CaptureError::new_err(fault.to_string()))
}

/// Reads reports of z/VM's Performance Toolkit and returns them as JSON; raises `CaptureError`.
#[pyfunction]
fn read_fcx(text: &str) -> PyResult<String> {
    let found = fcx::read(text).map_err(|fault| CaptureError::new_err(fault.to_string()))?;
    serde_json::to_string(&found).map_err(|fault| CaptureError::new_err(fault.to_string()))
}

/// Reads a file of z/VM's MONWRITE and returns what its records tell as JSON; raises
/// `CaptureError`.
#[pyfunction]
fn read_monwrite(data: &[u8]) -> PyResult<String> {
    let found = monwrite::read(data).map_err(|fault| CaptureError::new_err(fault.to_string()))?;
    serde_json::to_string(&found).map_err(|fault| CaptureError::new_err(fault.to_string()))
}

/// A reader of delimited text with a row a sample.
#[pyclass]
struct SampleReader {
    inner: Samples,
}

#[pymethods]
impl SampleReader {
    #[new]
    #[pyo3(signature = (*, delimiter, columns, heading, numbers, needed, time, name, comma))]
    #[allow(clippy::too_many_arguments)] // each is named by the caller
    fn new(
        delimiter: u8,
        columns: usize,
        heading: usize,
        numbers: Vec<usize>,
        needed: usize,
        time: Option<usize>,
        name: Option<usize>,
        comma: bool,
    ) -> Self {
        let inner = Samples::new(Layout {
            delimiter,
            columns,
            heading,
            time,
            name,
            numbers,
            needed,
            comma,
        });
        Self { inner }
    }

    /// The rows that end in the next piece: columns of little-endian numbers.
    fn feed<'py>(&mut self, py: Python<'py>, piece: &[u8]) -> PyResult<Bound<'py, PyDict>> {
        let batch = py.detach(|| self.inner.feed(piece));
        samples(py, &batch)
    }

    /// The row of a last line without end, all names, how many rows tell their time zone, and what
    /// was dropped in all.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rest = self.inner.finish();
        let told = samples(py, &rest.found)?;
        told.set_item("names", self.inner.names())?;
        told.set_item("zoned", self.inner.zoned())?;
        damage(&told, rest.dropped, &rest.remarks)?;
        Ok(told)
    }
}

fn samples<'py>(py: Python<'py>, batch: &SamplesBatch) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item(
        "time_us",
        bytes(py, &batch.time_us, |value| value.to_le_bytes()),
    )?;
    told.set_item("name", bytes(py, &batch.name, |value| value.to_le_bytes()))?;
    told.set_item("line", bytes(py, &batch.line, |value| value.to_le_bytes()))?;
    let numbers = batch.numbers.iter();
    let numbers: Vec<_> = numbers
        .map(|column| bytes(py, column, |value| value.to_le_bytes()))
        .collect();
    told.set_item("numbers", numbers)?;
    Ok(told)
}

/// A reader of what Prometheus scrapes.
#[pyclass]
struct MetricReader {
    inner: Metrics,
}

#[pymethods]
impl MetricReader {
    #[new]
    fn new(wanted: Vec<String>) -> Self {
        let inner = Metrics::new(wanted);
        Self { inner }
    }

    /// The samples that end in the next piece: columns of little-endian numbers.
    fn feed<'py>(&mut self, py: Python<'py>, piece: &[u8]) -> PyResult<Bound<'py, PyDict>> {
        let batch = py.detach(|| self.inner.feed(piece));
        metrics(py, &batch)
    }

    /// The sample of a last line without end, all names and labels, and what was dropped in all.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rest = self.inner.finish();
        let told = metrics(py, &rest.found)?;
        told.set_item("names", self.inner.names())?;
        told.set_item("label_sets", self.inner.labels())?;
        told.set_item("passed", self.inner.passed())?;
        damage(&told, rest.dropped, &rest.remarks)?;
        Ok(told)
    }
}

fn metrics<'py>(py: Python<'py>, batch: &MetricsBatch) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item(
        "time_us",
        bytes(py, &batch.time_us, |value| value.to_le_bytes()),
    )?;
    told.set_item(
        "metric",
        bytes(py, &batch.metric, |value| value.to_le_bytes()),
    )?;
    told.set_item(
        "labels",
        bytes(py, &batch.labels, |value| value.to_le_bytes()),
    )?;
    told.set_item(
        "value",
        bytes(py, &batch.value, |value| value.to_le_bytes()),
    )?;
    told.set_item("line", bytes(py, &batch.line, |value| value.to_le_bytes()))?;
    Ok(told)
}

fn bytes<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    column: &[T],
    each: impl Fn(T) -> [u8; N],
) -> Bound<'py, PyBytes> {
    let held: Vec<u8> = column.iter().flat_map(|value| each(*value)).collect();
    PyBytes::new(py, &held)
}

fn damage(told: &Bound<'_, PyDict>, dropped: u64, remarks: &[Remark]) -> PyResult<()> {
    told.set_item("dropped", dropped)?;
    let remarks: Vec<_> = remarks
        .iter()
        .map(|one| (one.line, one.text.as_str()))
        .collect();
    told.set_item("remarks", remarks)
}

/// Adds the functions of this file to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(read_hyptop, module)?)?;
    module.add_function(wrap_pyfunction!(read_fcx, module)?)?;
    module.add_function(wrap_pyfunction!(read_monwrite, module)?)?;
    module.add_class::<SampleReader>()?;
    module.add_class::<MetricReader>()
}
