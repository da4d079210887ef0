//! Texts of tools: AIX's reports, lparcfg, what an HMC lists.

use homenode_captures::{decode, hmc, lparcfg, reports, CaptureError, Decoded, Lenient};
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::CaptureError as CaptureFault;

/// Adds the functions of this file to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ReportReader>()?;
    module.add_function(wrap_pyfunction!(recognise_text, module)?)?;
    module.add_function(wrap_pyfunction!(read_reports, module)?)?;
    module.add_function(wrap_pyfunction!(read_lparcfg, module)?)?;
    module.add_function(wrap_pyfunction!(read_hmc_rows, module)?)?;
    module.add_function(wrap_pyfunction!(read_hmc_metrics, module)?)?;
    Ok(())
}

/// Reads decoded text and hands over what was found as JSON:
/// `{"found": ..., "dropped": n, "remarks": [{"line", "text"}]}`.
fn lenient<T: Serialize>(
    bytes: &[u8],
    read: impl FnOnce(&str) -> Result<Lenient<T>, CaptureError>,
) -> PyResult<String> {
    let Decoded { text, remarks } = decode(bytes);
    let mut found = read(&text).map_err(refused)?;
    found.remarks.splice(0..0, remarks);
    json(&found)
}

fn refused(fault: CaptureError) -> PyErr {
    CaptureFault::new_err(fault.to_string())
}

fn json<T: Serialize>(found: &T) -> PyResult<String> {
    serde_json::to_string(found).map_err(|fault| CaptureFault::new_err(fault.to_string()))
}

/// Which of the texts read here one begins with: `lparstat`, `mpstat`, `vmstat`, `sar`, `lssrad`,
/// `lparcfg`, `hmc`, `pcm`; none if it is another.
#[pyfunction]
fn recognise_text(head: &[u8]) -> Option<&'static str> {
    let text = decode(head).text;
    if lparcfg::recognise(&text) {
        return Some("lparcfg");
    }
    if hmc::recognise_processed(&text) {
        return Some("pcm");
    }
    if hmc::recognise(&text) {
        return Some("hmc");
    }
    reports::recognise(&text)
}

/// Reads all reports of AIX's and Linux's lparstat, mpstat, vmstat, sar, lssrad and schedo in a
/// text (JSON); raises `CaptureError` if there is none.
#[pyfunction]
fn read_reports(py: Python<'_>, text: &[u8]) -> PyResult<String> {
    py.detach(|| lenient(text, reports::read))
}

/// Reads copies of /proc/ppc64/lparcfg (JSON); raises `CaptureError` if there is none.
#[pyfunction]
fn read_lparcfg(py: Python<'_>, text: &[u8]) -> PyResult<String> {
    py.detach(|| lenient(text, lparcfg::read))
}

/// Reads rows of an HMC's lssyscfg, lshwres, lslparutil and lsmemopt (JSON); raises `CaptureError`
/// if there is none.
#[pyfunction]
fn read_hmc_rows(py: Python<'_>, text: &[u8]) -> PyResult<String> {
    py.detach(|| lenient(text, hmc::rows))
}

/// Reads processed metrics of an HMC (JSON); raises `CaptureError` if there is no whole sample.
#[pyfunction]
fn read_hmc_metrics(py: Python<'_>, text: &[u8]) -> PyResult<String> {
    py.detach(|| lenient(text, hmc::processed))
}

/// Reads reports as `read_reports` does, in pieces, so that memory is bounded by what is kept.
#[pyclass]
#[derive(Default)]
struct ReportReader {
    feed: reports::Feed,
}

#[pymethods]
impl ReportReader {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes, cut anywhere.
    fn feed(&mut self, py: Python<'_>, bytes: &[u8]) {
        py.detach(|| self.feed.feed(bytes));
    }

    /// Hands over what was found (JSON, tables without lines, times and values) and, for each
    /// table, its lines, times and values, column by column, as little-endian floats; raises
    /// `CaptureError` if there is no report.
    fn finish(&mut self) -> PyResult<(String, Vec<Vec<Vec<u8>>>)> {
        let mut found = std::mem::take(&mut self.feed).finish().map_err(refused)?;
        let tables = found.found.tables.iter_mut();
        let columns = tables.map(|table| {
            let lines: Vec<f64> = std::mem::take(&mut table.lines)
                .into_iter()
                .map(f64::from)
                .collect();
            let values = std::mem::take(&mut table.values);
            let all = [lines, std::mem::take(&mut table.times)];
            all.iter()
                .chain(&values)
                .map(|column| bytes(column))
                .collect()
        });
        let columns = columns.collect();
        Ok((json(&found)?, columns))
    }
}

fn bytes(column: &[f64]) -> Vec<u8> {
    column
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}
