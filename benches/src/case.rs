//! Something that is measured, and what one measurement of it saw.

use std::cell::LazyCell;
use std::time::Duration;

use crate::aims;
use crate::load::{Dispatches, Waits};

/// What one measurement of a case saw.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Events handled.
    pub events: u64,
    /// Wall time [s].
    pub wall_s: f64,
    /// Simulated time [s]; zero where it says nothing.
    pub simulated_s: f64,
    /// Wall time before the first event, where it was measured apart and left out above [s].
    pub setup_s: Option<f64>,
    /// What came out, where it is known what must.
    pub outcome: Outcome,
}

impl Sample {
    /// So many events in so long; nothing else is known.
    pub fn new(events: u64, wall: Duration) -> Self {
        Self {
            events,
            wall_s: wall.as_secs_f64(),
            simulated_s: 0.0,
            setup_s: None,
            outcome: Outcome::Unchecked,
        }
    }
}

/// The part of a sample that can be checked.
#[derive(Clone, Copy, Debug)]
pub enum Outcome {
    /// Nothing.
    Unchecked,
    /// Of W1.
    Waits(Waits),
    /// Of W2.
    Dispatches(Dispatches),
}

/// Measures once; the number tells the rounds apart.
pub type Run = Box<dyn FnMut(u64) -> Sample>;

/// Something that is measured.
pub struct Case {
    /// Name, unique.
    pub name: String,
    /// Heading under which it is printed.
    pub group: &'static str,
    /// Name of the case that it is compared with; its own for a bare loop.
    pub yardstick: &'static str,
    /// Ratio to the yardstick that is wanted, if any is.
    pub aim: Option<f64>,
    /// Rounds of which one measures it.
    pub every: usize,
    /// Measures it.
    pub run: Run,
}

impl Case {
    /// A case; what is aimed at for it stands in [`aims`].
    pub fn new(
        group: &'static str,
        name: impl Into<String>,
        yardstick: &'static str,
        run: impl FnMut(u64) -> Sample + 'static,
    ) -> Self {
        let name = name.into();
        Self {
            aim: aims::of(&name),
            name,
            group,
            yardstick,
            every: 1,
            run: Box::new(run),
        }
    }
}

/// What a case reads, made when it is first measured: most runs choose a few cases, and a
/// recording takes longer to format than to read. The first round does not count.
pub fn made<T: 'static>(
    make: impl FnOnce() -> T + 'static,
    mut run: impl FnMut(&T, u64) -> Sample + 'static,
) -> impl FnMut(u64) -> Sample + 'static {
    let made = LazyCell::new(make);
    move |round| run(&made, round)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn what_a_case_reads_is_made_once_and_only_when_it_is_measured() {
        let count = Rc::new(Cell::new(0));
        let counter = Rc::clone(&count);
        let make = move || counter.set(counter.get() + 1);
        let mut run = made(make, |(), round| Sample::new(round, Duration::from_secs(1)));
        assert_eq!(count.get(), 0);
        assert_eq!((run(3).events, run(4).events), (3, 4));
        assert_eq!(count.get(), 1);
    }
}
