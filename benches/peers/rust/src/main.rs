//! `homenode-peers TOOL WORK EVENTS SEED`: one measurement, as a JSON object.
//!
//! The models and the random generator are the same for all; only the event kernel differs.

#[allow(dead_code)]
#[path = "../../../src/load.rs"]
mod load;
mod model;
mod on_nexosim;
mod on_simcore;
#[allow(dead_code)]
#[path = "../../../src/bare/random.rs"]
mod random;

use std::process::ExitCode;

use model::{Dispatcher, Model, Queue};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match measure(&words) {
        Some(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        None => {
            eprintln!("usage: homenode-peers simcore|nexosim w1|w2 EVENTS SEED");
            ExitCode::from(2)
        }
    }
}

fn measure(words: &[&str]) -> Option<serde_json::Value> {
    let &[tool, work, events, seed] = words else {
        return None;
    };
    let (events, seed) = (events.parse().ok()?, seed.parse().ok()?);
    match work {
        "w1" => run(tool, Queue::new(seed), events),
        "w2" => run(tool, Dispatcher::new(seed), events),
        _ => None,
    }
}

fn run<M: Model>(tool: &str, model: M, events: u64) -> Option<serde_json::Value> {
    let (model, wall_s) = match tool {
        "simcore" => on_simcore::run(model, events),
        "nexosim" => on_nexosim::run(model, events),
        _ => return None,
    };
    let mut report = model.report();
    report["wall_s"] = wall_s.into();
    Some(report)
}
