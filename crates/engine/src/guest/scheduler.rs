//! A guest's scheduler as the simulation sees it, whatever the guest.

use super::aix::Folding;
use super::queues::Filling;
use super::unix::Places;
use crate::ids::{ChipId, NodeId};
use crate::spec::{Guest, Unix};

/// Tunables that every guest has, and folding where it has that.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// Ticks, slices, balancing and daemons.
    pub unix: Unix,
    /// How long a virtual processor without work polls before it cedes [ns]; none = for ever.
    pub snooze_delay_ns: Option<u64>,
    /// Whether an idle thread beside a busy one cedes by itself and leaves it the core. AIX cedes
    /// virtual processors as a whole, and an idle thread polls at low priority while another works;
    /// Linux cedes each ("dormant", arch/powerpc/platforms/pseries/setup.c of 2.6).
    pub cedes_threads: bool,
    /// Whether a loop that starts again goes back to the logical processor it ended on; under AIX
    /// the order of filling decides anew.
    pub restarts_in_place: bool,
    /// How virtual processors are folded; none = never.
    pub folding: Option<Folding>,
}

impl Scheduler {
    /// Reads a guest's.
    pub fn of(guest: &Guest) -> Self {
        match guest {
            Guest::Aix(aix) => Self {
                unix: guest.unix(),
                snooze_delay_ns: aix.snooze_delay_ns,
                cedes_threads: false,
                restarts_in_place: false,
                folding: Folding::of(aix),
            },
            Guest::Hpux(_) | Guest::Linux(_) | Guest::Zvm(_) => Self {
                unix: guest.unix(),
                snooze_delay_ns: Some(0),
                cedes_threads: true,
                restarts_in_place: true,
                folding: None,
            },
        }
    }
}

/// Threads of a virtual processor that are loaded before another one is: under AIX
/// `vpm_throughput_mode`, in a guest that packs one in each of so many `parts` of a core.
pub fn filled(guest: &Guest, smt: u8, parts: u8) -> u8 {
    match guest {
        Guest::Aix(aix) => aix.throughput_mode.clamp(1, smt),
        Guest::Hpux(_) | Guest::Linux(_) | Guest::Zvm(_) => parts.min(smt),
    }
}

impl Filling {
    /// Order of a guest whose virtual processors have `smt` threads in so many `parts` and are at
    /// `places` (chip, node).
    pub fn of(
        guest: &Guest,
        smt: u8,
        parts: u8,
        places: impl ExactSizeIterator<Item = (ChipId, NodeId)>,
    ) -> Self {
        match guest {
            Guest::Aix(aix) => Filling::Aix {
                threads_before_next: filled(guest, smt, parts),
                folds: Folding::of(aix).is_some(),
            },
            Guest::Hpux(_) | Guest::Linux(_) | Guest::Zvm(_) => Filling::Unix {
                places: Box::new(Places::new(places)),
                packs: Some(filled(guest, smt, parts))
                    .filter(|parts| *parts > 1 && guest.unix().packing),
            },
        }
    }
}
