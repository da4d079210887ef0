//! Python bindings: one frozen spec in, columns of integers and a summary out. Nothing else happens
//! here.

mod batch;
mod errors;
mod kernels;
mod listings;
mod others;
mod placement;
mod price;
mod recordings;
mod solve;
mod summary;
mod texts;
mod topology;
mod walk;

use errors::{parse, refused, CaptureError, Runaway, SpecError, Stopped};
use homenode_engine::machine::Topology;
use homenode_engine::{cost, hypervisor::policies, sim, spec::Policy};
use pyo3::prelude::*;

fn raise(py: Python<'_>, fault: sim::RunError) -> PyErr {
    let text = fault.to_string();
    match fault {
        sim::RunError::Spec(fault) => refused(py, &fault),
        sim::RunError::Stopped { .. } => Stopped::new_err(text),
        sim::RunError::Runaway { .. } => Runaway::new_err(text),
    }
}

/// Checks a frozen spec (JSON) without running it; raises `SpecError`.
#[pyfunction]
fn check(py: Python<'_>, spec_json: &str) -> PyResult<()> {
    sim::check(&parse(spec_json)?).map_err(|fault| refused(py, &fault))
}

/// Runs one replication of a frozen spec (JSON) and returns its summary (JSON).
///
/// The interpreter is released while events are handled. After a recorded interval, if it is not
/// very short, and a few times a second otherwise, `observe(batch)` is called; when it returns a
/// false value, `Stopped` is raised. With `latest` a batch also has the rows of the intervals that
/// ended since, as they are so far, and if dispatches are recorded those that ended or go on.
#[pyfunction]
#[pyo3(signature = (spec_json, replication, observe, latest=false))]
fn simulate(
    py: Python<'_>,
    spec_json: &str,
    replication: u64,
    observe: Py<PyAny>,
    latest: bool,
) -> PyResult<String> {
    let spec = parse(spec_json)?;
    let mut failure: Option<PyErr> = None;
    let outcome = py.detach(|| {
        sim::run(&spec, replication, |batch| {
            Python::attach(|py| match batch::observe(py, &observe, &batch, latest) {
                Ok(go_on) => go_on,
                Err(fault) => {
                    failure = Some(fault);
                    false
                }
            })
        })
    });
    match (failure, outcome) {
        (Some(fault), _) => Err(fault),
        (None, Ok(result)) => Ok(summary::to_json(&result)),
        (None, Err(fault)) => Err(raise(py, fault)),
    }
}

/// Splits a partition's entitlement [cores] over its logical cores in vertical polarization: how
/// many are vertical-high, -medium and -low, and what each -medium is entitled to [cores].
#[pyfunction]
fn polarize(entitlement: f64, cores: u16) -> PyResult<(u16, u16, u16, f64)> {
    if !entitlement.is_finite() || entitlement <= 0.0 || cores == 0 {
        let given = format!("an entitlement of {entitlement} over {cores} logical cores");
        return Err(SpecError::new_err(format!("{given}: both must be above 0")));
    }
    let split = homenode_engine::hypervisor::polarize(entitlement, cores);
    Ok((split.high, split.medium, split.low, split.medium_share))
}

/// Prices a layout without simulating it: what an instruction of each partition costs (JSON) while
/// `busy_json`, a list of busy cores by chip for each partition, are busy; raises `SpecError`.
#[pyfunction]
#[pyo3(name = "price")]
fn price_layout(spec_json: &str, busy_json: &str) -> PyResult<String> {
    let spec = parse(spec_json)?;
    let busy: Vec<Vec<f64>> = serde_json::from_str(busy_json)
        .map_err(|fault| SpecError::new_err(format!("busy cores: {fault}")))?;
    price::price(&spec, &busy).map_err(|fault| SpecError::new_err(fault.to_string()))
}

/// Solves a layout without simulating it: what each partition does in the steady state (JSON).
/// Raises `SpecError`, also for what only a simulation can tell.
#[pyfunction]
#[pyo3(name = "solve")]
fn solve_layout(py: Python<'_>, spec_json: &str) -> PyResult<String> {
    let spec = parse(spec_json)?;
    py.detach(|| solve::solve(&spec))
        .map_err(|fault| solve::raised(py, &fault))
}

fn captured(
    found: Result<homenode_captures::Capture, homenode_captures::CaptureError>,
) -> PyResult<String> {
    found
        .map(|capture| capture.to_json())
        .map_err(|fault| CaptureError::new_err(fault.to_string()))
}

/// Reads text that AIX's `lparstat` printed and returns its tables (JSON); raises `CaptureError`.
#[pyfunction]
fn parse_lparstat(text: &str) -> PyResult<String> {
    captured(homenode_captures::lparstat::parse(text))
}

/// Reads text that AIX's `mpstat` printed and returns its tables (JSON); raises `CaptureError`.
#[pyfunction]
fn parse_mpstat(text: &str) -> PyResult<String> {
    captured(homenode_captures::mpstat::parse(text))
}

/// The run queue of each processor of a Xen host, by number; empty for machines that have none or
/// one for each processor. Raises `SpecError`.
#[pyfunction]
fn run_queues(spec_json: &str) -> PyResult<Vec<usize>> {
    let machine = parse(spec_json)?.machine;
    Ok(match machine.hypervisor.policy {
        Policy::Credit2 => policies::queue_of(&machine, &Topology::new(&machine)),
        _ => Vec::new(),
    })
}

/// The schedulers of hosts that a machine can name, with their settings (JSON).
fn host_policies() -> PyResult<String> {
    let all = serde_json::to_string(&policies::hosts());
    all.map_err(|fault| SpecError::new_err(fault.to_string()))
}

/// The engine and the capture parsers.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("ENGINE_VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add("PARTITION_COLUMNS", sim::columns::partition())?;
    module.add("CPU_COLUMNS", sim::columns::CPU)?;
    module.add("POOL_COLUMNS", sim::columns::POOL)?;
    module.add("WORKLOAD_COLUMNS", sim::columns::LOAD)?;
    module.add("VIRTUAL_MACHINE_COLUMNS", sim::columns::VIRTUAL_MACHINE)?;
    module.add("SWITCH_COLUMNS", sim::columns::SWITCH)?;
    module.add("VOLUME_COLUMNS", sim::columns::VOLUME)?;
    module.add("FABRIC_COLUMNS", sim::columns::FABRIC)?;
    module.add("INTERRUPT_COLUMNS", sim::columns::INTERRUPT)?;
    module.add("HOME_COLUMNS", sim::columns::HOME)?;
    module.add("FABRIC_PORTS", homenode_engine::cost::PORT_NAMES)?;
    module.add("DISPATCH_COLUMNS", sim::columns::DISPATCH)?;
    module.add("GAUGES", sim::columns::GAUGES)?;
    module.add("BOOKS", cost::BOOK_NAMES)?;
    module.add("LINES", cost::LINE_NAMES)?;
    module.add("HOST_POLICIES", host_policies()?)?;
    module.add("SpecError", py.get_type::<SpecError>())?;
    module.add("Stopped", py.get_type::<Stopped>())?;
    module.add("Runaway", py.get_type::<Runaway>())?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add("CaptureError", py.get_type::<CaptureError>())?;
    module.add_function(wrap_pyfunction!(simulate, module)?)?;
    module.add_function(wrap_pyfunction!(polarize, module)?)?;
    module.add_function(wrap_pyfunction!(run_queues, module)?)?;
    module.add_function(wrap_pyfunction!(price_layout, module)?)?;
    module.add_function(wrap_pyfunction!(solve_layout, module)?)?;
    module.add_class::<solve::Layouts>()?;
    module.add_function(wrap_pyfunction!(placement::place, module)?)?;
    module.add_function(wrap_pyfunction!(walk::walk, module)?)?;
    module.add_function(wrap_pyfunction!(parse_lparstat, module)?)?;
    module.add_function(wrap_pyfunction!(parse_mpstat, module)?)?;
    module.add_function(wrap_pyfunction!(listings::parse_vparstatus, module)?)?;
    module.add_function(wrap_pyfunction!(listings::parse_parstatus, module)?)?;
    module.add_function(wrap_pyfunction!(listings::format_vparstatus, module)?)?;
    module.add_function(wrap_pyfunction!(listings::format_parstatus, module)?)?;
    recordings::register(module)?;
    texts::register(module)?;
    topology::register(module)?;
    others::register(module)?;
    kernels::register(module)?;
    Ok(())
}
