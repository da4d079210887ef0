//! What lines wait in front of memory because of each other.

use super::hierarchy::{Hierarchy, Place};
use super::line::{self, Cost};
use super::pattern::Step;
use super::question::Walk;
use crate::cost::memory_delay_ns;

/// Halvings of the range in which the load lies: more than a number has digits.
const HALVINGS: usize = 60;

/// Cost of a line in all passes, with the load that comes of it: the faster it goes, the longer
/// lines wait, so that one load answers to itself.
pub fn cost(question: &Walk) -> Cost {
    let machine = &question.machine;
    let steps = question.pattern.steps(machine, question.bytes);
    let work = work_of_memory(machine, &steps);
    if work == 0.0 {
        return passes(machine, &steps);
    }
    let share = f64::from(question.cores) * work * in_memory_cycles(machine);
    let mut waiting = machine.clone();
    let mut at = |load: f64| {
        waiting.memory_latency_ns = machine.memory_latency_ns + delay_ns(machine, load);
        passes(&waiting, &steps)
    };
    let (mut least, mut most) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let load = 0.5 * (least + most);
        if share > load * at(load).total() {
            least = load;
        } else {
            most = load;
        }
    }
    let mut cost = at(most);
    // More than memory carries is not to be had, however short its latency.
    cost.link += (share - cost.total()).max(0.0);
    cost
}

fn passes(machine: &Hierarchy, steps: &[Step]) -> Cost {
    let mut cost = Cost::default();
    for step in steps {
        cost.add(&line::cost(machine, step));
    }
    cost
}

/// Lines from memory that a line of the buffer takes, those written back among them, in the time of
/// reading one; 0 = none, or nothing is known of how memory serves them.
fn work_of_memory(machine: &Hierarchy, steps: &[Step]) -> f64 {
    let Some(how) = &machine.memory_load else {
        return 0.0;
    };
    let memory = Place(machine.caches.len());
    let of_step = |step: &Step| {
        let read = step.lines.iter().filter(|place| **place == memory).count() as f64;
        let written = step.dirties && step.lines.last() == Some(&memory);
        read + if written { how.write_cost } else { 0.0 }
    };
    steps.iter().map(of_step).sum()
}

/// Cycles for which memory is busy with a line.
fn in_memory_cycles(machine: &Hierarchy) -> f64 {
    f64::from(machine.line_bytes) * machine.clock_hz / machine.memory_bytes_per_s
}

fn delay_ns(machine: &Hierarchy, load: f64) -> f64 {
    let delay = |how| memory_delay_ns(machine.memory_bytes_per_s, machine.line_bytes, how, load);
    machine.memory_load.as_ref().map_or(0.0, delay)
}
