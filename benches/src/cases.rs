//! What is measured, in the order in which it is printed.

use std::time::Instant;

use homenode_engine::spec::{Policy, Spec};

use crate::aims::{self, BARE_W2};
use crate::case::{made, Case, Outcome, Sample};
use crate::load::{Dispatches, Waits};
use crate::{
    bare, calls, costs, devices, engine, frames, growth, hosts, kernel, nmon, policies, scenarios,
    zvm,
};

const W1: &str = "W1: a queue of 64 servers, load 0.8";
const W2: &str = "W2: 64 cores, 4 partitions of 30 virtual processors";
const FRAMES: &str = "Whole frames";

/// Events of one measurement of W1 or W2: some tenths of a second.
const EVENTS: u64 = 5_000_000;

/// Name of W1's yardstick.
const BARE_W1: &str = "bare loop, W1";

/// All cases.
pub fn all() -> Vec<Case> {
    let groups = [
        w1(),
        w2(),
        whole_frames(),
        costs::all(BARE_W2),
        devices::all(BARE_W2),
        calls::all(),
        nmon::all(),
        growth::all(),
    ];
    groups.into_iter().flatten().collect()
}

fn w1() -> Vec<Case> {
    let case =
        |name, run: fn(u64, u64) -> Waits| Case::new(W1, name, BARE_W1, move |at| waits(at, run));
    vec![
        case(BARE_W1, bare::w1::run),
        case("kernel, W1", kernel::w1::run),
    ]
}

fn w2() -> Vec<Case> {
    let case = |name, run: fn(u64, u64) -> Dispatches| {
        Case::new(W2, name, BARE_W2, move |at| dispatches(at, run))
    };
    let load = |name, spec: fn() -> Spec| model(W2, name, move || vec![spec()]);
    vec![
        case(BARE_W2, bare::w2::run),
        case("kernel, W2", kernel::w2::run),
        load(aims::W2_LOAD, scenarios::w2_load),
        load("W2's load under PR/SM", policies::prsm),
        load(
            "W2's load, 64 cores of their own for 64 VPs",
            policies::dedicated,
        ),
        load("W2's load as guests of z/VM", policies::zvm),
        load("W2's load under Linux", policies::linux),
        load("W2's load under credit2", policies::credit2),
    ]
}

fn whole_frames() -> Vec<Case> {
    let frame = |name, spec: fn() -> Spec| model(FRAMES, name, move || vec![spec()]);
    vec![
        model(FRAMES, aims::STUDY, scenarios::study_frames),
        frame(aims::FRAME, frames::full_frame),
        frame("frame of 100 VPs on 20 cores", || frames::of_vps(100)),
        frame("frame of 1,000 VPs on 200 cores", || frames::of_vps(1_000)),
        frame("frame of 10,000 VPs on 2,000 cores", || {
            frames::of_vps(10_000)
        }),
        frame(aims::ZVM, zvm::tiles),
        frame(aims::LINUX, || hosts::host(Policy::Linux)),
        frame(aims::XEN, || hosts::host(Policy::Credit2)),
        two_cores(),
    ]
}

/// The engine with everything switched on, on all the specs one after the other.
fn model(
    group: &'static str,
    name: &'static str,
    specs: impl FnOnce() -> Vec<Spec> + 'static,
) -> Case {
    let run = made(specs, |specs, round| engine::run_all(specs, round));
    Case::new(group, name, BARE_W2, run)
}

/// The study twice at the same time, compared with once.
fn two_cores() -> Case {
    let run = made(scenarios::study_frames, |specs, round| {
        engine::run_on_threads(specs, round, 2)
    });
    Case::new(FRAMES, aims::TWO_CORES, aims::STUDY, run)
}

fn waits(seed: u64, run: fn(u64, u64) -> Waits) -> Sample {
    let start = Instant::now();
    let seen = run(EVENTS, seed);
    Sample {
        outcome: Outcome::Waits(seen),
        ..Sample::new(EVENTS, start.elapsed())
    }
}

fn dispatches(seed: u64, run: fn(u64, u64) -> Dispatches) -> Sample {
    let start = Instant::now();
    let seen = run(EVENTS, seed);
    Sample {
        simulated_s: seen.elapsed_ns as f64 / 1e9,
        outcome: Outcome::Dispatches(seen),
        ..Sample::new(EVENTS, start.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_what_they_are_compared_with_is_there() {
        let cases = all();
        let mut names: Vec<&str> = cases.iter().map(|case| &*case.name).collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(twice, None);
        for case in &cases {
            assert!(names.contains(&case.yardstick), "{}", case.name);
        }
    }
}
