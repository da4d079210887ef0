//! Solved layouts as JSON and as columns.

use super::errors::{parse, refused, SpecError};
use super::price::named;
use homenode_engine::cost::{BOOK_NAMES, LINE_NAMES};
use homenode_engine::spec::{Partition, Spec};
use homenode_engine::steady::{self, Compared, SolveFault, SolvedPartition};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{json, Value};

/// Solves a layout and returns the answer as a JSON object.
pub fn solve(spec: &Spec) -> Result<String, SolveFault> {
    let solved = steady::solve(spec)?;
    let names = spec.partitions.iter().map(|one| one.name.as_str());
    let mut partitions: Vec<Value> = names.zip(&solved.partitions).map(partition).collect();
    let told = spec.partitions.iter().zip(&solved.partitions);
    for (value, (one, of)) in partitions.iter_mut().zip(told) {
        if !of.workloads.is_empty() {
            let names = (0..of.workloads.len()).map(|place| one.load(place).0);
            value["workloads"] = names.zip(&of.workloads).map(partition).collect();
        }
    }
    Ok(json!({ "steps": solved.steps, "partitions": partitions }).to_string())
}

fn partition((name, of): (&str, &SolvedPartition)) -> Value {
    json!({
        "name": name,
        "cores": of.cores,
        "balances": of.balances,
        "throughput": of.throughput,
        "response_ns": of.response_ns,
        "percentiles_ns": of.percentiles_ns,
        "steady": of.steady,
        "busy_vps": of.busy_vps,
        "busy_threads": of.busy_threads,
        "inside": of.inside,
        "dispatches": of.dispatches,
        "by_distance": of.by_distance,
        "instructions": of.instructions,
        "waiting": of.waiting,
        "zvm": of.zvm.as_ref().map(|zvm| json!({
            "owners": zvm.owners,
            "unparked": zvm.unparked,
            "spun": zvm.spun,
        })),
        "books": named(&BOOK_NAMES, &of.books.0),
        "lines": named(&LINE_NAMES, &of.lines.0),
    })
}

/// Layouts of one machine, solved one after the other.
#[pyclass(module = "homenode._engine")]
pub struct Layouts(steady::Layouts);

#[pymethods]
impl Layouts {
    /// With each partition as the spec has it, which is its form 0.
    #[new]
    fn new(py: Python<'_>, spec_json: &str) -> PyResult<Self> {
        let layouts = steady::Layouts::new(&parse(spec_json)?);
        layouts.map(Self).map_err(|fault| raised(py, &fault))
    }

    /// Adds a form of a partition and returns its number.
    fn add(&mut self, py: Python<'_>, partition: usize, partition_json: &str) -> PyResult<usize> {
        let form: Partition = serde_json::from_str(partition_json)
            .map_err(|error| PyValueError::new_err(format!("partition: {error}")))?;
        let added = self.0.add(partition, &form);
        added.map_err(|fault| raised(py, &fault))
    }

    /// Solves others from this layout on, a row of numbers of forms.
    fn near(&mut self, py: Python<'_>, chosen: Vec<usize>) -> PyResult<()> {
        let layouts = &mut self.0;
        let told = py.detach(|| layouts.compare_near(&chosen));
        told.map_err(|fault| raised(py, &fault))
    }

    /// Solves layouts, each a row of numbers of forms; columns by name, layout after layout and
    /// partition after partition. The 95th percentile of responses is worked out if asked for.
    #[pyo3(signature = (choices, p95 = false))]
    fn solve<'py>(
        &mut self,
        py: Python<'py>,
        choices: Vec<Vec<usize>>,
        p95: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let layouts = &mut self.0;
        let mut told = Vec::new();
        let steps: Result<Vec<usize>, SolveFault> = py.detach(|| {
            let each = choices.iter();
            each.map(|chosen| layouts.compare(chosen, &mut told))
                .collect()
        });
        let steps = steps.map_err(|fault| raised(py, &fault))?;
        let columns = PyDict::new(py);
        let column = |value: fn(&Compared) -> f64| -> Vec<f64> { told.iter().map(value).collect() };
        columns.set_item("cores", column(|of| of.cores))?;
        columns.set_item("throughput", column(|of| of.throughput))?;
        columns.set_item("response_ns", column(|of| of.response_ns))?;
        columns.set_item(
            "p95_ns",
            if p95 {
                column(|of| of.p95_ns().unwrap_or(f64::NAN))
            } else {
                vec![f64::NAN; told.len()]
            },
        )?;
        columns.set_item("steady", column(|of| f64::from(u8::from(of.steady))))?;
        columns.set_item("near", column(|of| of.near))?;
        columns.set_item("far", column(|of| of.far))?;
        columns.set_item("busy_vps", column(|of| of.busy_vps))?;
        columns.set_item("steps", steps)?;
        Ok(columns)
    }
}

/// What the front turns into a message.
pub fn raised(py: Python<'_>, fault: &SolveFault) -> PyErr {
    match fault {
        SolveFault::Spec(fault) => refused(py, fault),
        other => SpecError::new_err(other.to_string()),
    }
}
