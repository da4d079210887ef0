//! What a process costs: to make one and have it end, and to have it become another program first.
//!
//! Most of a fork's cost is copying the page table, so that it grows with the process that forks;
//! its resident size stands beside the figure.

use std::ffi::CString;

use serde::Deserialize;
use serde_json::Value;

use crate::batches::{checked, timed};
use crate::calls::Timed;
use crate::fault::{parameters, Doing, Fault, Outcome};
use crate::system::{exec, fork};

fn forks(kernel: &str, seconds: f64, work: impl Fn() -> i32) -> Outcome {
    let timing = timed(checked(seconds)?, |count| {
        for _ in 0..count {
            fork(&work)
                .doing("forking")?
                .wait()
                .doing("waiting for a child")?;
        }
        Ok(())
    })?;
    let mut found = timing.report(kernel, 1);
    found["resident_bytes"] = resident().map_or(Value::Null, Value::from);
    Ok(found)
}

/// Resident size of this process [bytes]; none where the host does not tell.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// `fork`, end of the child, `wait`.
pub(crate) fn fork_exit(json: &str) -> Outcome {
    let Timed { seconds } = parameters(json)?;
    forks("fork-exit", seconds, || 0)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Executed {
    seconds: f64,
    /// The program that the child becomes, which must end with 0.
    #[serde(default = "smallest")]
    program: String,
}

fn smallest() -> String {
    "/bin/true".to_owned()
}

/// `fork`, `exec` of a small program in the child, its end, `wait`.
pub(crate) fn fork_exec(json: &str) -> Outcome {
    let Executed { seconds, program } = parameters(json)?;
    let path =
        CString::new(program).map_err(|_| Fault::Wrong("program holds a zero byte".to_owned()))?;
    forks("fork-exec", seconds, || exec(&path))
}
