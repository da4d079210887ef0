//! What a load asks of the scheduler for itself: a nice value and a slice of its own.

use serde::Deserialize;

use crate::fault::{Doing, Fault};
use crate::system::{set_scheduling, slice};

/// Slices that the kernel takes; it would round others into them (sched(7), Linux 6.12) [ns].
const SLICES: std::ops::RangeInclusive<u64> = 100_000..=100_000_000;
const NICE: std::ops::RangeInclusive<i32> = -20..=19;

/// Of the process that runs it; nothing asked leaves all as it was started.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Scheduling {
    /// Nice value, -20 to 19; below 0 needs a privilege.
    nice: i32,
    /// Slice asked for, in place of the base slice [ns]; 0 asks for none. Linux 6.12 and later.
    slice_ns: u64,
}

impl Scheduling {
    /// Asks for it, and looks whether the kernel took the slice: an older one says nothing.
    pub(crate) fn ask(self) -> Result<(), Fault> {
        if self.nice == 0 && self.slice_ns == 0 {
            return Ok(());
        }
        if !NICE.contains(&self.nice) {
            let why = format!("nice is {}; it must be from -20 to 19", self.nice);
            return Err(Fault::Wrong(why));
        }
        if self.slice_ns != 0 && !SLICES.contains(&self.slice_ns) {
            let why = format!(
                "slice_ns is {}; the kernel takes 100000 to 100000000",
                self.slice_ns
            );
            return Err(Fault::Wrong(why));
        }
        set_scheduling(self.nice, self.slice_ns)
            .doing("asking the scheduler for nice and slice")?;
        if self.slice_ns == 0 || slice().doing("reading the slice")? == self.slice_ns {
            return Ok(());
        }
        let older = std::io::Error::other("it gives threads no slice of their own before 6.12");
        Err(Fault::Host("asking the kernel for a slice", older))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(asked: Scheduling) -> String {
        match asked.ask() {
            Err(Fault::Wrong(why)) => why,
            other => panic!("it was taken: {other:?}"),
        }
    }

    #[test]
    fn what_the_kernel_would_round_is_refused() {
        let plain = Scheduling::default();
        assert!(said(Scheduling { nice: 20, ..plain }).contains("-20 to 19"));
        let short = Scheduling {
            slice_ns: 99_999,
            ..plain
        };
        assert!(said(short).contains("100000 to 100000000"));
    }

    #[test]
    fn nothing_asked_changes_nothing() {
        let before = slice().ok();
        assert!(Scheduling::default().ask().is_ok());
        assert_eq!(slice().ok(), before);
    }
}
