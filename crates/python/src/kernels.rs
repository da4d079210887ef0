//! Measured loops and load generators, for a process that does nothing else.

use homenode_kernels::KernelError as Fault;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    _engine,
    KernelError,
    PyValueError,
    "No such kernel, or parameters that it does not take."
);

/// Adds the functions of this file to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("KERNELS", homenode_kernels::NAMES)?;
    module.add("KernelError", module.py().get_type::<KernelError>())?;
    module.add_function(wrap_pyfunction!(kernel, module)?)
}

/// Runs a kernel by name with its parameters (JSON) and returns what it found (JSON); raises
/// `KernelError` for wrong ones and `OSError` where the host refuses.
#[pyfunction]
fn kernel(py: Python<'_>, name: &str, parameters_json: &str) -> PyResult<String> {
    let outcome = py.detach(|| homenode_kernels::run(name, parameters_json));
    outcome.map_err(|fault| match fault {
        Fault::Host { .. } => PyOSError::new_err(fault.to_string()),
        _ => KernelError::new_err(fault.to_string()),
    })
}
