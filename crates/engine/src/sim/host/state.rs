//! What a host keeps: its scheduler, KVM's part of its guests, memory that may be moved, wake-ups.

use std::collections::VecDeque;

use crate::guest::memory::Placed;
use crate::hypervisor::halt::idle_ways_ns;
use crate::hypervisor::policies::{guest_switch_ns, scheduler};
use crate::hypervisor::{HostScheduler, State};
use crate::ids::{ById, CoreId, PartitionId, Span, VpId};
use crate::kernel::{Key, When};
use crate::sim::interrupting::Handler;
use crate::spec::{Kvm, Partition, Policy, Processors, Spec};

/// A host's scheduler, and what KVM keeps beside it.
pub struct Host {
    /// The scheduler.
    pub(super) room: Box<dyn HostScheduler>,
    /// When its timer is set for; never = it is not.
    pub(super) timer: When,
    /// Who is being looked at where: its next event is planned when the look is over.
    pub(super) looked_at: Option<(CoreId, VpId)>,
    /// KVM's guests, by partition.
    pub(super) guests: ById<PartitionId, Option<Guest>>,
    /// KVM's part of each virtual processor.
    pub(super) vcpus: ById<VpId, Vcpu>,
    /// Memory that NUMA balancing may move, by partition.
    pub(super) memories: ById<PartitionId, Option<Memory>>,
    /// Where it draws each thread; none before the first scan.
    pub(super) drawn: ById<VpId, Option<Drawn>>,
    /// Whether there are several memory nodes.
    pub(super) has_several_nodes: bool,
    /// Wake-ups of one thread by another.
    pub(super) wakes: Wakes,
    /// Work of interrupts, by processor.
    pub(super) handlers: Handlers,
}

impl Host {
    /// A machine's host.
    ///
    /// # Panics
    /// If its policy is none of a host: the caller has looked.
    pub fn of(spec: &Spec, state: &State, replication: u64) -> Self {
        let room = scheduler(spec, state, replication);
        Self {
            room: room.expect("a policy of hosts"),
            timer: When::NEVER,
            looked_at: None,
            guests: guests(spec),
            memories: memories(spec, state),
            drawn: ById::of(None, state.vps.len()),
            has_several_nodes: has_several_nodes(spec, state),
            vcpus: ById::of(Vcpu::new(), state.vps.len()),
            wakes: Wakes::new(state.vps.len(), state.cores.len()),
            handlers: ById::of(VecDeque::new(), state.cores.len()),
        }
    }
}

impl Host {
    /// Who wakes siblings from now on.
    pub(super) fn signals_of(&mut self, by: Option<VpId>) {
        self.wakes.signals = by;
    }
}

/// Work of interrupts that each processor has before it, with the time of its two parts [ns].
pub type Handlers = ById<CoreId, VecDeque<(Handler, f64, f64)>>;

/// What KVM keeps of a virtual processor.
#[derive(Clone, Debug)]
pub struct Vcpu {
    /// For how long it polls at the next halt [ns].
    pub(super) poll_ns: u64,
    /// Until when it polls now; never = it does not.
    pub(super) polls_until: When,
    /// Since when it has been halted; never = it is not.
    pub(super) halted_at: When,
    /// When one that idles is out of its guest; never = it does not, or looks for work in there.
    pub(super) out_at: When,
    /// When the processor notices that it spins; never = it does not.
    pub(super) caught_at: When,
    /// When it has spun for a lock long enough to halt; never = it does not.
    pub(super) halts_at: When,
    /// For how long it goes on before that, once it has begun [ns].
    pub(super) spin_left_ns: Option<u64>,
    /// Whether what ends its polling is a thread that its kernel has yet to go on with.
    pub(super) switches: bool,
    /// Whether it has halted in the line of a lock.
    pub(super) halted_in_line: bool,
    /// Whether it was kicked out of that and has not run since.
    pub(super) kicked: bool,
    /// When it has had the lock for which it was first in line.
    pub(super) hands_on: Key,
    /// When it comes to a flush of translations.
    pub(super) flushes: Key,
    /// Siblings whose answers it waits for.
    pub(super) awaits: Vec<VpId>,
    /// Whether it has given its processor to a sibling and has not had one since.
    pub(super) has_yielded: bool,
    /// Whether it was passed over for that the last time.
    pub(super) passed_over: bool,
}

/// What KVM keeps of a guest.
#[derive(Clone, Debug)]
pub struct Guest {
    pub(super) kvm: Kvm,
    /// Its way out when it idles, and back in, tick and all [ns].
    pub(super) out_ns: u64,
    pub(super) back_ns: u64,
    /// What it takes to end an interrupt that a sibling has sent [ns].
    pub(super) end_ns: u64,
    /// What its own kernel takes from one of its threads to another on a virtual processor [ns].
    pub(super) switch_ns: u64,
    /// The one yielded to last, by index.
    pub(super) boosted: usize,
}

impl Vcpu {
    /// One that runs.
    pub fn new() -> Self {
        Self {
            poll_ns: 0,
            polls_until: When::NEVER,
            halted_at: When::NEVER,
            out_at: When::NEVER,
            caught_at: When::NEVER,
            halts_at: When::NEVER,
            spin_left_ns: None,
            switches: false,
            halted_in_line: false,
            kicked: false,
            hands_on: Key::NONE,
            flushes: Key::NONE,
            awaits: Vec::new(),
            has_yielded: false,
            passed_over: false,
        }
    }

    /// Whether a sibling that spins may yield to it.
    pub(super) fn may_be_boosted(&mut self) -> bool {
        if !self.has_yielded {
            return true;
        }
        self.passed_over = !self.passed_over;
        !self.passed_over
    }
}

/// KVM's guests among the partitions.
fn guests(spec: &Spec) -> ById<PartitionId, Option<Guest>> {
    let switch_ns = guest_switch_ns(&spec.machine.hypervisor);
    let guest = |processors: &Processors| match processors {
        Processors::Shared { host, .. } => host.kvm.clone().map(|kvm| {
            let by = host.virtualized.as_deref();
            let [out_ns, back_ns] = idle_ways_ns(&kvm, by);
            Guest {
                kvm,
                out_ns,
                back_ns,
                end_ns: by.map_or(0, |by| u64::from(!by.posted_interrupts) * by.exit_ns),
                switch_ns,
                boosted: 0,
            }
        }),
        Processors::Dedicated { .. } => None,
    };
    spec.partitions
        .iter()
        .map(|partition| guest(&partition.processors))
        .collect()
}

/// What is kept of a partition's memory.
#[derive(Clone, Debug)]
pub struct Memory {
    pub(super) placed: Placed,
    pub(super) period_ns: u64,
    /// When the last scan was, and what its threads had run by then [ns].
    pub(super) scanned_at: u64,
    pub(super) ran_ns: u64,
    pub(super) spaces: u32,
    pub(super) marked: Marked,
    /// Whether runners are to try again to get there.
    pub(super) retries: bool,
}

/// Pages that the last scan has left to fault, and how many lines had come from memory by then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marked {
    pub(super) pages: f64,
    pub(super) lines: f64,
}

/// Where NUMA balancing draws a thread.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    /// Processors beside its memory.
    pub(super) cores: Span<CoreId>,
    /// When it may try to go there again.
    pub(super) retry_at: u64,
    /// Whether it has run since the last scan.
    pub(super) has_run: bool,
}

/// Whether the kernel knows of several nodes: of those with processors in use, and of those that
/// somebody has memory on. A socket that is not there is none.
fn has_several_nodes(spec: &Spec, state: &State) -> bool {
    let used = |core| u16::from(state.tree.domain_of(state.tree.chip_of(core)));
    let mut nodes = state.active().into_iter().map(used);
    let first = nodes.next();
    let parts = spec.partitions.iter().flat_map(|one| &one.memory);
    let held = parts.flat_map(|part| part.domains.iter().copied());
    nodes.chain(held).any(|node| Some(node) != first)
}

/// Memory of the partitions that is balanced: all but what is bound to a node, or reserved as large
/// pages.
fn memories(spec: &Spec, state: &State) -> ById<PartitionId, Option<Memory>> {
    let hypervisor = &spec.machine.hypervisor;
    let numa = hypervisor.linux.numa_balancing;
    let moves = matches!(hypervisor.policy, Policy::Linux | Policy::Esxi);
    let on = moves && has_several_nodes(spec, state);
    let memory = |partition: &Partition| {
        let period_ns = numa.filter(|_| on)?.scan_period_min_ns;
        let Processors::Shared {
            r#virtual, host, ..
        } = &partition.processors
        else {
            return None;
        };
        partition.has_movable_memory().then(|| Memory {
            placed: Placed::of(&spec.machine, &state.tree, partition),
            period_ns,
            scanned_at: 0,
            ran_ns: 0,
            marked: Marked::default(),
            retries: false,
            spaces: if host.kvm.is_some() {
                1
            } else {
                u32::from(*r#virtual)
            },
        })
    };
    spec.partitions.iter().map(memory).collect()
}

/// A thread that is being woken by another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waking {
    pub(super) woken: VpId,
    pub(super) by: VpId,
    /// Where the waker runs.
    pub(super) from: CoreId,
}

/// What wake-ups need to know.
#[derive(Clone, Debug)]
pub struct Wakes {
    pub(super) now: Option<Waking>,
    /// Virtual processor of a guest that wakes siblings.
    pub(super) signals: Option<VpId>,
    /// Time that each thread still needs for interrupts it has to send [ns].
    pub(super) owed: ById<VpId, u64>,
    /// Until when each sends; never = it does not.
    pub(super) sends_until: ById<VpId, When>,
    /// Since when each core has idled; never = it does not.
    pub(super) idle_from: ById<CoreId, When>,
}

impl Wakes {
    /// Nobody wakes anybody.
    pub fn new(vps: usize, cores: usize) -> Self {
        Self {
            now: None,
            signals: None,
            owed: ById::of(0, vps),
            sends_until: ById::of(When::NEVER, vps),
            idle_from: ById::of(When::at(0), cores),
        }
    }
}
