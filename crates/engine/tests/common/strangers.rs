//! Cores of several threads whose work differs.

use homenode_engine::spec::{Accounting, HostThreads, Machine, Partition, Policy, Profile, Smt};

use super::host::{group, host_machine, threads};
use super::{loops, plain_profile};

/// Reference work that keeps the pipelines busy gains a quarter by a second thread: of 1 ns each
/// then takes 1.6, so that it wants them for the root of 0.6 = 0.775 of its time alone.
pub fn smt(policy: Policy, cores: u16, gain: &[f64], parts: u8) -> Machine {
    let threads = gain.len();
    let mut machine = host_machine(policy, &format!("core:{cores} pu:{threads}"));
    machine.smt = Smt {
        gain: gain.to_vec(),
        reference: work(1.0),
        parts,
    };
    machine.accounting = Accounting::Elapsed;
    machine.hypervisor.siblings = threads as u8;
    machine
}

/// An instruction takes 1 ns, so much of it at the pipelines.
pub fn work(issue_share: f64) -> Profile {
    Profile {
        issue_share,
        ..plain_profile(1e6)
    }
}

/// An endless loop of such work on a hardware thread.
pub fn on(name: &str, pin: u16, issue_share: f64) -> Partition {
    let host = HostThreads {
        pins: vec![vec![pin]],
        ..HostThreads::default()
    };
    let mut one = group(name, threads(1, 256, host), loops(1));
    one.profile = work(issue_share);
    one
}

/// Two that want the pipelines for shares d and e of their time alone find each other there with
/// the chances e and d, and take 1 + d e.
pub fn by_hand(one: f64, other: f64) -> f64 {
    1.0 / (1.0 + 0.6 * one * other)
}
