//! Small measured loops, each run in a fresh process of its own: what a system call, a signal, a
//! process, a context switch and a mapping cost, what memory and files that lie in it give by size,
//! and loads that keep processors busy in a known way. They stand where published studies used
//! lmbench, whose terms and faults keep it from unattended use.
//!
//! `run` takes a kernel's name and its parameters as JSON and returns what it found as JSON.

mod batches;
mod calls;
mod chase;
mod clock;
mod fault;
mod files;
mod loops;
mod memory;
mod net;
mod processes;
mod region;
mod rings;
mod scheduling;
mod signals;
mod system;
mod threads;

use fault::{Fault, Outcome};

pub use loops::xorshift;

/// Why a kernel did not run.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// No kernel has this name.
    #[error("there is no kernel {asked}; there are {}", NAMES.join(", "))]
    Unknown {
        /// The name given.
        asked: String,
    },
    /// The parameters are not what the kernel takes.
    #[error("{kernel}: {why}")]
    Parameters {
        /// The kernel's name.
        kernel: &'static str,
        /// What is wrong with them.
        why: String,
    },
    /// The host refused something while it ran.
    #[error("{kernel}: {doing}: {source}")]
    Host {
        /// The kernel's name.
        kernel: &'static str,
        /// What it was about to do.
        doing: &'static str,
        /// What the host said.
        source: std::io::Error,
    },
}

type Kernel = fn(&str) -> Outcome;

const KERNELS: &[(&str, Kernel)] = &[
    ("getpid", calls::getpid),
    ("read", calls::read),
    ("write", calls::write),
    ("stat", calls::stat),
    ("open-close", calls::open_close),
    ("select", calls::select),
    ("signal-install", signals::install),
    ("signal-catch", signals::catch),
    ("fork-exit", processes::fork_exit),
    ("fork-exec", processes::fork_exec),
    ("pipe", rings::pipe),
    ("unix", rings::unix),
    ("context", rings::context),
    ("memory", memory::memory),
    ("file", files::reread),
    ("mapping", files::mapping),
    ("chase", chase::chase),
    ("loop", loops::one),
    ("loops", loops::many),
    ("onoff", loops::on_off),
    ("answer", net::answer),
    ("ask", net::ask),
];

/// The kernels' names.
pub const NAMES: [&str; KERNELS.len()] = {
    let mut names = [""; KERNELS.len()];
    let mut at = 0;
    while at < KERNELS.len() {
        names[at] = KERNELS[at].0;
        at += 1;
    }
    names
};

/// Runs the kernel of that name with its parameters (JSON) and returns what it found (JSON).
///
/// Call it in a process that does nothing else: switches, run delay and processor time are the
/// whole process's.
///
/// # Errors
/// An unknown name, parameters that the kernel does not take, a host that refuses.
pub fn run(name: &str, json: &str) -> Result<String, KernelError> {
    let Some((kernel, work)) = KERNELS.iter().find(|(known, _)| *known == name) else {
        return Err(KernelError::Unknown {
            asked: name.to_owned(),
        });
    };
    match work(json) {
        Ok(found) => Ok(found.to_string()),
        Err(Fault::Wrong(why)) => Err(KernelError::Parameters { kernel, why }),
        Err(Fault::Host(doing, source)) => Err(KernelError::Host {
            kernel,
            doing,
            source,
        }),
    }
}
