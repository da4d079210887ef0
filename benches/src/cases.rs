//! What is measured, in the order in which it is printed.

use std::time::Instant;

use homenode_engine::spec::{Policy, Spec};

use crate::load::{Dispatches, Waits};
use crate::rounds::{Case, Outcome, Sample};
use crate::{bare, costs, devices, engine, hosts, kernel, scenarios, zvm};

const W1: &str = "W1: a queue of 64 servers, load 0.8";
const W2: &str = "W2: 64 cores, 4 partitions of 30 virtual processors";
const FRAMES: &str = "Whole frames";

/// Events of one measurement of W1 or W2: some tenths of a second.
const EVENTS: u64 = 5_000_000;

/// Name of W1's yardstick.
const BARE_W1: &str = "bare loop, W1";
/// Name of W2's yardstick, and that of the frames.
const BARE_W2: &str = "bare loop, W2";
/// The frames of the study on one core, with which two cores are compared.
const STUDY: &str = "p795 study, both frames in turn";

/// All cases.
pub fn all() -> Vec<Case> {
    let mut cases = vec![
        case(W1, BARE_W1, BARE_W1, |seed| waits(seed, bare::w1::run)),
        case(W1, "kernel, W1", BARE_W1, |seed| {
            waits(seed, kernel::w1::run)
        }),
        case(W2, BARE_W2, BARE_W2, |seed| dispatches(seed, bare::w2::run)),
        case(W2, "kernel, W2", BARE_W2, |seed| {
            dispatches(seed, kernel::w2::run)
        }),
        model(W2, "whole model, W2's load", vec![scenarios::w2_load()]),
        model(FRAMES, STUDY, scenarios::study_frames()),
        model(
            FRAMES,
            "256 cores, 200 partitions, 1,200 VPs",
            vec![scenarios::full_frame()],
        ),
        model(
            FRAMES,
            "z/VM: 76 processors, 180 web guests",
            vec![zvm::tiles()],
        ),
        model(
            FRAMES,
            "Linux host: 64 processors, 40 KVM guests of 4",
            vec![hosts::host(Policy::Linux)],
        ),
        model(
            FRAMES,
            "Xen host: the same under credit2",
            vec![hosts::host(Policy::Credit2)],
        ),
        two_cores(),
    ];
    cases.extend(costs::all(BARE_W2));
    cases.extend(devices::all(BARE_W2));
    cases
}

fn case(
    group: &'static str,
    name: &'static str,
    yardstick: &'static str,
    run: impl FnMut(u64) -> Sample + 'static,
) -> Case {
    Case {
        name,
        group,
        yardstick,
        run: Box::new(run),
    }
}

/// The engine with everything switched on, on all the specs one after the other.
fn model(group: &'static str, name: &'static str, specs: Vec<Spec>) -> Case {
    let run = move |round| engine::run_all(&specs, round);
    case(group, name, BARE_W2, run)
}

/// The study twice at the same time, compared with once.
fn two_cores() -> Case {
    let specs = scenarios::study_frames();
    let run = move |round| engine::run_on_threads(&specs, round, 2);
    case(
        FRAMES,
        "p795 study, two cores (in proportion to one core)",
        STUDY,
        run,
    )
}

fn waits(seed: u64, run: fn(u64, u64) -> Waits) -> Sample {
    let start = Instant::now();
    let seen = run(EVENTS, seed);
    Sample {
        events: EVENTS,
        wall_s: start.elapsed().as_secs_f64(),
        simulated_s: 0.0,
        outcome: Outcome::Waits(seen),
    }
}

fn dispatches(seed: u64, run: fn(u64, u64) -> Dispatches) -> Sample {
    let start = Instant::now();
    let seen = run(EVENTS, seed);
    Sample {
        events: EVENTS,
        wall_s: start.elapsed().as_secs_f64(),
        simulated_s: seen.elapsed_ns as f64 / 1e9,
        outcome: Outcome::Dispatches(seen),
    }
}
