//! Who is where: virtual processors and cores, as every system sees them.

use crate::cost::{ClassId, Rate};
use crate::ids::{ById, ChipId, CoreId, NodeId, PartitionId, Span, ThreadId, VpId};
use crate::kernel::{Key, When};
use crate::machine::{Distance, Topology};
use crate::spec::{Processors, Spec};

/// State of a virtual processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All its threads have ceded.
    Inactive,
    /// Has work, waits for a core.
    Ready,
    /// On a core.
    Running,
    /// Has work, but no capacity until the next window.
    Exhausted,
}

/// A virtual processor; on a host, a thread of its scheduler. What an event needs comes first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Vp {
    /// Owning partition.
    pub partition: PartitionId,
    /// Index within the partition.
    pub index: u16,
    /// First of its threads among all of them.
    pub first_thread: ThreadId,
    /// First of its counters by busy threads among those of all.
    pub first_mask: u32,
    /// How many threads it has.
    pub smt: u8,
    /// Busy threads; the guest's run queues hold the same, but not side by side with what an event
    /// needs.
    pub mask: u8,
    /// Thread that was busy last.
    pub last_thread: u8,
    /// Threads that have begun since it was put on its core: what they find cold there is theirs.
    pub warm: u8,
    /// Whether it waits for a lock whose holder is away.
    pub spins: bool,
    /// Whether it computes on a core, as those are counted that meet at a lock.
    pub computes: bool,
    /// Threads that spin for a lock for which they would sleep next.
    pub waits: u8,
    /// State.
    pub mode: Mode,
    /// Core it is on.
    pub core: Option<CoreId>,
    /// Core it was last on.
    pub last_core: Option<CoreId>,
    /// Chip near which it is dispatched if there is room.
    pub home_chip: ChipId,
    /// Node of that chip.
    pub home_node: NodeId,
    /// Since when it has been ready [ns].
    pub ready_at: u64,
    /// Until when that it had nothing left is booked [ns].
    pub booked_at: u64,
    /// Since when it has been on its core [ns].
    pub dispatched_at: u64,
    /// When it ceded [ns].
    pub ceded_at: u64,
    /// Hypervisor time that the next dispatch must pay besides the dispatch itself [ns].
    pub debt_ns: u64,
    /// When it comes to the lock whose holder is away, or has spun for it long enough.
    pub reaches: Key,
    /// The last core's clock when it left it.
    pub left_clock: u64,
    /// Start of the present dispatch record.
    pub record_from: u64,
    /// Whether it began on excess capacity.
    pub record_excess: bool,
    /// Whether it refills nothing when it comes to a core next, since what it runs from then on
    /// has been elsewhere and is charged for that.
    pub emptied: bool,
}

/// What virtual processors are dispatched on, and what its runner does there.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Core {
    /// Who runs on it.
    pub running: Option<VpId>,
    /// Index of its chip over the whole machine.
    pub chip: ChipId,
    /// Index of the node of that chip.
    pub node: NodeId,
    /// Up to when the runner's progress is booked [ns].
    pub settled_at: u64,
    /// Until when nothing useful happens after a dispatch: the hypervisor's part, then the spin
    /// [ns]; never while nobody knows how long it spins.
    pub stall_until: When,
    /// From when on that is a spin [ns]; never if no part of it is one.
    pub spin_from: When,
    /// When the present grant ends [ns].
    pub grant_end: When,
    /// Core time used since the start [ns].
    pub clock: u64,
    /// Until when it does the work of interrupts [ns]; what is past says nothing.
    pub handles_until: u64,
    /// Next event.
    pub key: Key,
    /// Cost class while threads are busy.
    pub class: ClassId,
    /// The first of its runner's classes here, by busy threads.
    pub first_class: ClassId,
    /// How far it is from its runner's home.
    pub distance: Distance,
    /// Whether the core has left SMT for its only busy thread.
    pub single: bool,
    /// Whether threads of several loads share its runner.
    pub mixed: bool,
    /// What kind of work its runner does.
    pub kind: u16,
    /// Partition whose lines its caches hold.
    pub warm_for: Option<PartitionId>,
    /// How fast a thread is in that class.
    pub rate: Rate,
    /// Extra time of an instruction while the runner's caches are refilled [ns].
    pub cold_ns: f64,
    /// Instructions of each thread until that is over, from where it begins.
    pub cold_instructions: f64,
    /// Whether its runner has lines to fetch that lie in other chips' caches.
    pub fetches: bool,
}

/// Who is where on the whole machine.
pub struct State {
    /// Where cores, chips and nodes are in the machine.
    pub tree: Topology,
    /// Virtual processors, partition by partition.
    pub vps: ById<VpId, Vp>,
    /// Which of them are a partition's.
    pub vps_of: ById<PartitionId, Span<VpId>>,
    /// What they are dispatched on, inactive ones included.
    pub cores: ById<CoreId, Core>,
}

impl Core {
    /// Time that its runner has had, without what the hypervisor took, and that is not booked yet
    /// [ns].
    pub fn unbooked_ns(&self, now: u64) -> u64 {
        let stall_end = self.stall_until.before(now).unwrap_or(now);
        // At a window's start it is settled up to the end of what the hypervisor takes then.
        now.saturating_sub(stall_end.max(self.settled_at))
    }
}

impl State {
    /// All virtual processors inactive, all cores idle.
    pub fn new(spec: &Spec) -> Self {
        let tree = Topology::new(&spec.machine);
        let (mut vps, mut vps_of) = (ById::new(), ById::new());
        let (mut threads, mut masks) = (0, 0);
        for partition in &spec.partitions {
            let of = PartitionId::new(vps_of.len());
            let (first, count) = (vps.len(), partition.processors.count());
            for index in 0..count {
                let chip = partition.home[usize::from(index) % partition.home.len()].into();
                let mut vp = Vp::new(of, index, chip, tree.node_of(chip));
                (vp.first_thread, vp.smt) = (ThreadId::new(threads), partition.smt);
                threads += usize::from(partition.smt);
                vp.first_mask = masks;
                masks += masks_of(partition.smt);
                if let Processors::Dedicated { cores, .. } = &partition.processors {
                    vp.home_chip = tree.chip_of(cores[usize::from(index)].into());
                    vp.home_node = tree.node_of(vp.home_chip);
                }
                vps.push(vp);
            }
            vps_of.push(Span::new(first, usize::from(count)));
        }
        Self {
            cores: cores(&tree),
            tree,
            vps,
            vps_of,
        }
    }

    /// Cores that may run something.
    #[inline]
    pub fn active(&self) -> Span<CoreId> {
        Span::new(0, usize::from(self.tree.active_cores))
    }

    /// The runner of a core, with what is known of it.
    #[inline]
    pub fn runner(&self, core: CoreId) -> Option<&Vp> {
        self.cores[core].running.map(|vp| &self.vps[vp])
    }

    /// Distance of a core from a virtual processor's home chip.
    #[inline]
    pub fn distance_from_home(&self, vp: VpId, core: CoreId) -> Distance {
        self.tree
            .distance(self.vps[vp].home_chip, self.cores[core].chip)
    }
}

impl Vp {
    fn new(partition: PartitionId, index: u16, home_chip: ChipId, home_node: NodeId) -> Self {
        Self {
            partition,
            index,
            first_thread: ThreadId::new(0),
            first_mask: 0,
            smt: 1,
            mask: 0,
            last_thread: 0,
            warm: 0,
            spins: false,
            computes: false,
            waits: 0,
            mode: Mode::Inactive,
            core: None,
            last_core: None,
            home_chip,
            home_node,
            ready_at: 0,
            booked_at: 0,
            dispatched_at: 0,
            ceded_at: 0,
            debt_ns: 0,
            reaches: Key::NONE,
            left_clock: 0,
            record_from: 0,
            record_excess: false,
            emptied: false,
        }
    }
}

/// Counters of a virtual processor by busy threads, each with and without a sibling's decode slots.
pub fn masks_of(smt: u8) -> u32 {
    2 << smt
}

fn cores(tree: &Topology) -> ById<CoreId, Core> {
    let core = |core| Core {
        running: None,
        chip: tree.chip_of(core),
        node: tree.node_of(tree.chip_of(core)),
        settled_at: 0,
        stall_until: When::at(0),
        spin_from: When::NEVER,
        grant_end: When::at(0),
        clock: 0,
        handles_until: 0,
        key: Key::NONE,
        class: 0,
        first_class: 0,
        distance: Distance::Local,
        single: false,
        mixed: false,
        kind: 0,
        warm_for: None,
        rate: Rate {
            ns: 1.0,
            per_ns: 1.0,
        },
        cold_ns: 0.0,
        cold_instructions: 0.0,
        fetches: false,
    };
    tree.cores().into_iter().map(core).collect()
}
