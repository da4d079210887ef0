//! A guest's scheduler as the simulation sees it, whatever the guest.

use super::aix::Folding;
use super::queues::Filling;
use super::unix::Places;
use crate::spec::Guest;

/// Tunables that every guest has, and folding where it has that.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// Clock tick [ns].
    pub tick_ns: u64,
    /// Kernel time of one clock tick [ns].
    pub tick_cost_ns: u64,
    /// Time slice of equal-priority threads [ns].
    pub timeslice_ns: u64,
    /// Interval at which running threads are balanced [ns]; none = never.
    pub rebalance_ns: Option<u64>,
    /// Wake-ups of kernel daemons [1/s].
    pub daemon_rate_per_s: f64,
    /// Processor time of one such wake-up [ns of a core at its single-thread speed].
    pub daemon_ns: u64,
    /// How long an idle thread beside a busy one keeps its decode slots [ns]; none = for ever.
    pub snooze_delay_ns: Option<u64>,
    /// Whether a loop that starts again goes back to the logical processor it ended on; under AIX
    /// the order of filling decides anew.
    pub restarts_in_place: bool,
    /// How virtual processors are folded; none = never.
    pub folding: Option<Folding>,
}

impl Scheduler {
    /// Reads a guest whose virtual processors have `smt` threads.
    pub fn of(guest: &Guest, smt: u8) -> Self {
        match guest {
            Guest::Aix(aix) => Self {
                tick_ns: aix.tick_ns,
                tick_cost_ns: aix.tick_cost_ns,
                timeslice_ns: aix.timeslice_ns,
                rebalance_ns: aix.rebalance_ns,
                daemon_rate_per_s: aix.daemon_rate_per_s,
                daemon_ns: aix.daemon_ns,
                snooze_delay_ns: aix.snooze_delay_ns,
                restarts_in_place: false,
                folding: Folding::of(aix, smt),
            },
            Guest::Hpux(unix) | Guest::Linux(unix) => Self {
                tick_ns: unix.tick_ns,
                tick_cost_ns: unix.tick_cost_ns,
                timeslice_ns: unix.timeslice_ns,
                rebalance_ns: unix.rebalance_ns,
                daemon_rate_per_s: unix.daemon_rate_per_s,
                daemon_ns: unix.daemon_ns,
                snooze_delay_ns: Some(0),
                restarts_in_place: true,
                folding: None,
            },
        }
    }
}

impl Filling {
    /// Order of a guest whose virtual processors have `smt` threads and are at `places` (chip,
    /// node).
    pub fn of(guest: &Guest, smt: u8, places: impl ExactSizeIterator<Item = (u16, u16)>) -> Self {
        match guest {
            Guest::Aix(aix) => Filling::Aix {
                threads_before_next: aix.throughput_mode.clamp(1, smt),
            },
            Guest::Hpux(_) | Guest::Linux(_) => Filling::Unix(Places::new(places)),
        }
    }
}
