//! Recordings of monitors, nmon and njmon: chunks of the file in, columns out.

use std::collections::HashSet;

use homenode_captures::nmon::{Batch, Words};
use homenode_captures::{njmon, nmon, CaptureError as Fault, Lenient};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use serde::Serialize;

use crate::errors::CaptureError;

/// Numbers that are held before they are handed over: few enough to stay in a processor's cache.
const HELD: usize = 1 << 18;

fn failed(fault: impl std::fmt::Display) -> PyErr {
    CaptureError::new_err(fault.to_string())
}

/// What both formats' readers can do.
trait Reads: Send {
    fn feed(&mut self, chunk: &[u8]);
    fn waiting(&self) -> usize;
    fn take(&mut self) -> Vec<Batch>;
    fn finish(self: Box<Self>) -> Result<(Vec<Batch>, String), Fault>;
}

fn told<T: Serialize>(
    found: Result<(Vec<Batch>, Lenient<T>), Fault>,
) -> Result<(Vec<Batch>, String), Fault> {
    let (batches, summary) = found?;
    // Texts, numbers and lists of them always have a JSON form.
    Ok((batches, serde_json::to_string(&summary).unwrap_or_default()))
}

impl Reads for nmon::Reader {
    fn feed(&mut self, chunk: &[u8]) {
        Self::feed(self, chunk);
    }

    fn waiting(&self) -> usize {
        Self::waiting(self)
    }

    fn take(&mut self) -> Vec<Batch> {
        Self::take(self)
    }

    fn finish(self: Box<Self>) -> Result<(Vec<Batch>, String), Fault> {
        told(Self::finish(*self))
    }
}

impl Reads for njmon::Reader {
    fn feed(&mut self, chunk: &[u8]) {
        Self::feed(self, chunk);
    }

    fn waiting(&self) -> usize {
        Self::waiting(self)
    }

    fn take(&mut self) -> Vec<Batch> {
        Self::take(self)
    }

    fn finish(self: Box<Self>) -> Result<(Vec<Batch>, String), Fault> {
        told(Self::finish(*self))
    }
}

/// Reads a recording of `nmon` or `njmon` in chunks, in memory that does not grow with it.
///
/// `wanted` names the tables to hand over, all if it is not given. Rows of the others are held
/// against their headings; of nmon, their numbers are read only where an identity needs them.
#[pyclass(module = "homenode._engine")]
struct RecordingReader {
    reader: Option<Box<dyn Reads + Sync>>,
    wanted: Option<HashSet<String>>,
}

#[pymethods]
impl RecordingReader {
    #[new]
    #[pyo3(signature = (format, wanted=None))]
    fn new(format: &str, wanted: Option<HashSet<String>>) -> PyResult<Self> {
        let reader: Box<dyn Reads + Sync> = match format {
            "nmon" => Box::new(match &wanted {
                Some(names) => nmon::Reader::of(names.clone()),
                None => nmon::Reader::new(),
            }),
            "njmon" => Box::new(njmon::Reader::new()),
            other => return Err(failed(format!("{other} is neither nmon nor njmon"))),
        };
        Ok(Self {
            reader: Some(reader),
            wanted,
        })
    }

    /// Reads the next bytes of the file; returns the samples that are handed over now, if any.
    fn feed<'py>(&mut self, py: Python<'py>, chunk: &[u8]) -> PyResult<Bound<'py, PyList>> {
        let reader = self.reader.as_mut().ok_or_else(ended)?;
        let batches = py.detach(|| {
            reader.feed(chunk);
            if reader.waiting() < HELD {
                return Vec::new();
            }
            reader.take()
        });
        self.handed_over(py, batches)
    }

    /// Ends the file; returns the last samples and all else it says (JSON). Raises `CaptureError`
    /// if nothing of it was sound.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<(Bound<'py, PyList>, String)> {
        let reader = self.reader.take().ok_or_else(ended)?;
        let (batches, summary) = py.detach(|| reader.finish()).map_err(failed)?;
        Ok((self.handed_over(py, batches)?, summary))
    }
}

fn ended() -> PyErr {
    failed("the recording has ended")
}

impl RecordingReader {
    fn handed_over<'py>(
        &self,
        py: Python<'py>,
        batches: Vec<Batch>,
    ) -> PyResult<Bound<'py, PyList>> {
        let wanted = |batch: &Batch| match &self.wanted {
            Some(names) => names.contains(&batch.table),
            None => true,
        };
        let list = PyList::empty(py);
        for batch in batches.into_iter().filter(wanted) {
            list.append(batch_of(py, &batch)?)?;
        }
        Ok(list)
    }
}

/// A batch as a dictionary; columns are packed 64-bit numbers in little-endian order, words are
/// packed UTF-8 with the places where each ends, so that Arrow can take them as they are.
fn batch_of<'py>(py: Python<'py>, batch: &Batch) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("recording", batch.recording)?;
    found.set_item("table", &batch.table)?;
    found.set_item("heading", batch.heading)?;
    found.set_item("rows", batch.rows())?;
    found.set_item("snapshots", integers(py, &batch.snapshots))?;
    found.set_item("lines", integers(py, &batch.lines))?;
    let processors = batch.processors.as_ref().map(|it| integers(py, it));
    found.set_item("processors", processors)?;
    let columns = batch.columns.iter().enumerate();
    let columns: Vec<_> = columns
        .map(|(index, name)| Ok((name, numbers(py, batch, index)?)))
        .collect::<PyResult<_>>()?;
    found.set_item("columns", columns)?;
    let words: Vec<_> = batch
        .words
        .iter()
        .map(|(name, words)| {
            (
                name,
                PyBytes::new(py, words.text().as_bytes()),
                ends(py, words),
            )
        })
        .collect();
    found.set_item("words", words)?;
    Ok(found)
}

fn integers<'py>(py: Python<'py>, values: &[i64]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
    PyBytes::new(py, &bytes)
}

fn numbers<'py>(py: Python<'py>, batch: &Batch, index: usize) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, batch.rows() * 8, |bytes| {
        let places = bytes.chunks_exact_mut(8);
        for (place, value) in places.zip(batch.column(index)) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        Ok(())
    })
}

/// A zero and the end of each word.
fn ends<'py>(py: Python<'py>, words: &Words) -> Bound<'py, PyBytes> {
    let ends = std::iter::once(0).chain(words.ends().iter().copied());
    let bytes: Vec<u8> = ends.flat_map(|it| (it as i64).to_le_bytes()).collect();
    PyBytes::new(py, &bytes)
}

/// Adds the functions of this file to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RecordingReader>()
}
