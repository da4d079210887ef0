//! What a line costs, in cycles, by cause.

use serde::Serialize;

use super::hierarchy::{Hierarchy, Level, Place, Streams};
use super::pattern::Step;

/// Longest storage-to-storage move of one instruction [bytes].
const MOVE_BYTES: f64 = 256.0;

/// What the time of a line is made of [cycles]. What runs beside each other counts with what it
/// adds to those before it: `core`, then `store`, `link`, `fetch`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Instructions.
    pub core: f64,
    /// Stores on their way outwards.
    pub store: f64,
    /// Bytes on their way inwards.
    pub link: f64,
    /// Latency.
    pub fetch: f64,
}

/// A cause with its time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// What the time goes to.
    pub cause: &'static str,
    /// Time of a line [ns].
    pub ns: f64,
}

impl Cost {
    /// Adds another pass over the line.
    pub fn add(&mut self, other: &Self) {
        self.core += other.core;
        self.store += other.store;
        self.link += other.link;
        self.fetch += other.fetch;
    }

    /// Time of a line, whatever it goes to [cycles].
    pub fn total(&self) -> f64 {
        self.core + self.store + self.link + self.fetch
    }

    /// By cause, in nanoseconds of `cycle_ns` a cycle.
    pub fn parts(&self, cycle_ns: f64) -> Vec<Part> {
        [
            ("core", self.core),
            ("store", self.store),
            ("link", self.link),
            ("fetch", self.fetch),
        ]
        .into_iter()
        .map(|(cause, cycles)| Part {
            cause,
            ns: cycles * cycle_ns,
        })
        .collect()
    }
}

/// Cost of a line in one pass.
///
/// The way between the core and the level that keeps what is stored serves one thing at a time:
/// stores going out and lines coming in. With `m` lines on their way while the core works on
/// another, `m` lines share a latency, but their bytes follow each other. A core that works on
/// nothing meanwhile waits for all of it.
pub fn cost(machine: &Hierarchy, step: &Step) -> Cost {
    let core = core_cycles(&machine.streams, step);
    let stores = store_cycles(machine, step);
    let store = core.max(stores);
    let lines = Lines::of(machine, step);
    let (link, fetch) = if machine.streams.lines > 0.0 {
        let link = store.max(stores + lines.bytes_over_the_way + lines.cast_out);
        let way = stores + lines.over_the_way + lines.cast_out;
        (link, link.max(way).max(lines.all))
    } else {
        let link = store + lines.bytes_over_the_way + lines.cast_out;
        (link, store + lines.all + lines.cast_out)
    };
    Cost {
        core,
        store: store - core,
        link: link - store,
        fetch: fetch - link,
    }
}

/// Cycles for which lines are waited for, one after the other.
struct Lines {
    /// All of them, latency and bytes.
    all: f64,
    /// Those from the level that keeps what is stored, and from beyond it.
    over_the_way: f64,
    /// Of these the bytes.
    bytes_over_the_way: f64,
    /// The stored-to line that such a level gives back for one from beyond it.
    cast_out: f64,
}

impl Lines {
    fn of(machine: &Hierarchy, step: &Step) -> Self {
        let keeps = keeping_level(machine);
        let together = machine.streams.lines.max(1.0);
        let (mut all, mut over_the_way, mut bytes_over_the_way) = (0.0, 0.0, 0.0);
        for place in &step.lines {
            let bytes = place.link_cycles(machine);
            let line = (place.fetch_cycles(machine) + bytes) / together;
            // However many are on their way, their bytes follow each other.
            let line = line.max(bytes);
            all += line;
            if *place >= keeps {
                over_the_way += line;
                bytes_over_the_way += bytes;
            }
        }
        let stored_to = step.lines.last().filter(|_| step.dirties);
        let cast_out = stored_to.map_or(0.0, |place| place.link_cycles_beyond(keeps, machine));
        Self {
            all,
            over_the_way,
            bytes_over_the_way,
            cast_out,
        }
    }
}

/// The level that keeps what is stored.
fn keeping_level(machine: &Hierarchy) -> Place {
    let named = |level: &Level| level.name == machine.streams.store_in;
    Place(machine.caches.iter().position(named).unwrap_or(0))
}

/// The narrowest of decoding, first level and the chain of additions; moves go by themselves. The
/// first level serves loads or takes a store, not both in a cycle.
pub fn core_cycles(streams: &Streams, step: &Step) -> f64 {
    if step.moved_bytes > 0.0 {
        return step.moved_bytes / MOVE_BYTES * streams.move_start_cycles
            + step.moved_bytes / streams.move_bytes;
    }
    (step.instructions / streams.instructions)
        .max(step.loads / streams.loads + step.stores / streams.stores)
        .max(step.sums * streams.sum_cycles)
}

/// Stores on their way to the level that keeps them. Gathered neighbours go together: the interval
/// for the place, then their bytes step by step. What is not gathered goes store by store.
pub fn store_cycles(machine: &Hierarchy, step: &Step) -> f64 {
    let streams = &machine.streams;
    if !step.dirties || keeping_level(machine) == Place(0) {
        return 0.0;
    }
    match streams.gather_bytes {
        Some(entry) => {
            let steps = entry / streams.store_width_bytes;
            f64::from(machine.line_bytes) / entry * (streams.store_interval_cycles + steps)
        }
        None => {
            let stores = step.stores + step.moved_bytes / streams.store_width_bytes;
            stores * streams.store_interval_cycles
        }
    }
}
