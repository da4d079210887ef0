//! What the Control Program of one partition keeps.

use std::collections::VecDeque;

use super::sharing::{Lock, Near, View};
use crate::cost::Spread;
use crate::devices::{FileReads, Pager, Started, Switch};
use crate::guest::zvm::ids::{ConnectionId, LpId, SwitchId, VcpuId, VectorId, VmId};
use crate::guest::zvm::park::History;
use crate::guest::zvm::segment::{Segment, OWNERS};
use crate::guest::zvm::share;
use crate::guest::zvm::vectors::Vectors;
use crate::hypervisor::State;
use crate::ids::{ById, PartitionId, Span, ThreadId, VpId};
use crate::kernel::Stream;
use crate::machine::Topology;
use crate::sim::world::stream;
use crate::spec::{Partition, Role, Spec, Workload, Zvm};

/// What a logical processor does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Nothing: an enabled wait.
    Idle,
    /// It looks for work.
    Looking,
    /// It follows signals for work that others have taken; new work comes first.
    Roused,
    /// It runs a virtual processor.
    Running(VcpuId),
}

/// Where a logical processor is, once and for all.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its logical core.
    pub vp: VpId,
    /// Number of that in the partition.
    pub core: u16,
    /// Thread of it.
    pub thread: u8,
    /// That thread among all of them.
    pub at: ThreadId,
    /// Chip of the core's home.
    pub chip: u16,
    /// Node of that.
    pub node: u16,
}

/// A logical processor of the partition.
#[derive(Clone, Debug)]
pub struct Lp {
    /// Where it is.
    pub place: Place,
    /// What it does.
    pub doing: Doing,
    /// Its present segment.
    pub segment: Segment,
    /// Shares of the owners in that segment's instructions.
    pub shares: [f64; OWNERS],
    /// Changes of each dispatch vector that it has seen.
    pub seen: ById<VectorId, u32>,
    /// Signals sent to idle processors before it became idle.
    pub signals_from: f64,
    /// Signals that it got and has not followed yet.
    pub signals: f64,
    /// Signals that it follows now.
    pub following: f64,
    /// Since when it has idled, and how long before that since it followed signals last [ns].
    pub idle_from: u64,
    /// That time.
    pub idle_ns: u64,
    /// Whether new work has come while it followed signals.
    pub interrupted: bool,
    /// Time of guests' own instructions [ns of core time].
    pub guest_ns: f64,
}

/// What a virtual processor waits for or does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In an enabled wait.
    Idle,
    /// In a dispatch vector.
    Ready,
    /// On a logical processor.
    Running,
    /// Waits for a page.
    PageWait,
    /// Has used up a hard limit.
    Limited,
}

/// A message that has arrived at a virtual processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A request, at a server.
    Request(ConnectionId),
    /// An answer, at a client.
    Answer(ConnectionId),
    /// The end of a think time, at a client.
    Timer(ConnectionId),
}

/// What a virtual processor has in hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Task {
    /// Nothing.
    None,
    /// A request or an answer on its way to another machine.
    Message {
        /// Which.
        message: Message,
        /// The guest's instructions until the next page read, or the end.
        guest: f64,
    },
    /// An endless loop.
    Loop,
}

/// Where a virtual processor was last, and when in terms of others' work.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    /// Logical processor.
    pub lp: LpId,
    /// Work done so far on its core, its chip and its node when it left [ns of core time].
    pub clocks: [f64; 3],
    /// Whether it has run at all.
    pub warm: bool,
}

/// A virtual processor of a virtual machine.
#[derive(Clone, Debug)]
pub struct Vcpu {
    /// Its virtual machine.
    pub vm: VmId,
    /// State.
    pub mode: Mode,
    /// What it has in hand.
    pub task: Task,
    /// Messages not taken yet.
    pub inbox: VecDeque<Message>,
    /// Pages of a file that it still waits for, and the guest's instructions for each.
    pub file: Option<(FileReads, f64)>,
    /// Page read that it has not paid for yet.
    pub started: Option<Started>,
    /// Instructions of signals that it has to send.
    pub owes: f64,
    /// Rest of a segment that was cut short.
    pub rest: Option<Segment>,
    /// Since when it has been ready [ns].
    pub ready_at: u64,
    /// Since when it has waited for a page [ns].
    pub page_wait_from: u64,
    /// Where it was last.
    pub left: Left,
    /// Dispatch vector by whose clock its deadline goes.
    pub vector: VectorId,
    /// Part of all processors that its share is worth.
    pub weight: f64,
    /// Deadline: time used by what it is worth [ns].
    pub deadline: f64,
    /// Processor time since its deadline was set [ns].
    pub used_ns: f64,
    /// Lines that it still has to fetch again, and what each costs beyond a line held [ns].
    pub cold: (f64, f64),
    /// Whether it must start on the master processor.
    pub needs_master: bool,
}

/// A virtual machine.
#[derive(Clone, Debug)]
pub struct Vm {
    /// Its virtual processors.
    pub cpus: Span<VcpuId>,
    /// Most processors' time it may have in a nanosecond; infinite without a limit.
    pub limit: f64,
    /// Whether that limit is hard.
    pub hard: bool,
    /// What the limit leaves now [ns].
    pub budget_ns: f64,
    /// When that was worked out [ns].
    pub budget_at: u64,
    /// Whether it is to be looked at again once there is time of the limit.
    pub lifting: bool,
    /// Time of its guests' own instructions [ns].
    pub guest_ns: f64,
    /// Time of CP on its account [ns].
    pub chargeable_ns: f64,
    /// Dispatches of its virtual processors.
    pub dispatches: u64,
    /// Time ready and not yet in the guest [ns].
    pub wait_ns: f64,
    /// Time waiting for pages [ns].
    pub page_wait_ns: u64,
    /// Reads of paging volumes for its pages.
    pub page_reads: u64,
    /// Transactions its clients finished.
    pub tx_done: u64,
    /// Their response times [ns].
    pub response_ns: u64,
}

/// A connection of a client's virtual processor with a server's.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    /// Who asks.
    pub client: VcpuId,
    /// Who answers.
    pub server: VcpuId,
    /// Index of the virtual switch between them.
    pub switch: SwitchId,
    /// When its present transaction began [ns].
    pub since: u64,
}

/// A switch and what a search of it costs on each chip in this window.
pub struct Port {
    /// As the spec has it.
    pub switch: Switch,
    /// What a sender takes for each frame.
    pub lock: Lock,
    /// Costs, by chip.
    pub views: Vec<View>,
    /// Frames sent from each logical processor, running average.
    pub by_lp: ById<LpId, f64>,
    /// Chip of each logical processor.
    pub chips: ById<LpId, u16>,
    /// Where those are that send on it.
    pub users: Spread,
    /// Time of a processor between two of its searches [ns].
    pub outside_ns: f64,
}

/// Counters of the partition that only z/VM has.
#[derive(Clone, Debug, Default)]
pub struct CpMeter {
    /// Core time by owner [ns].
    pub owners: [f64; OWNERS],
    /// Instructions executed while spinning.
    pub spin_instructions: f64,
    /// Integral of unparked logical cores [core ns], up to `unparked_to`.
    pub unparked_ns: u64,
    /// Up to when.
    pub unparked_to: u64,
    /// Time of busy threads [ns].
    pub thread_ns: f64,
    /// What it would have been with one thread a core [ns].
    pub mt1_ns: f64,
}

/// The Control Program of a partition.
pub struct Cp {
    /// What it is told.
    pub spec: Zvm,
    /// Virtual machines.
    pub vms: ById<VmId, Vm>,
    /// Virtual processors, machine by machine.
    pub vcpus: ById<VcpuId, Vcpu>,
    /// Logical processors.
    pub lps: ById<LpId, Lp>,
    /// Threads of a logical core.
    pub smt: u8,
    /// Dispatch vectors.
    pub vectors: Vectors,
    /// Latest deadline dispatched in each vector: who wakes up starts from there.
    pub clocks_of_vectors: ById<VectorId, f64>,
    /// Signals sent to every idle processor so far.
    pub signals: f64,
    /// Logical processor whose event is being handled.
    pub acting: Option<LpId>,
    /// All pairs of a client's and a server's virtual processors.
    pub connections: ById<ConnectionId, Connection>,
    /// Switches.
    pub ports: ById<SwitchId, Port>,
    /// Costs on each chip in this window; none = not worked out yet.
    pub near: Vec<Option<Near>>,
    /// Locks of dispatcher and paging.
    pub locks: [Lock; 2],
    /// Work done on each core of the partition so far, and on each chip and node [ns].
    pub core_clock: Vec<f64>,
    /// By chip.
    pub chip_clock: Vec<f64>,
    /// By node.
    pub node_clock: Vec<f64>,
    /// Unparked logical cores.
    pub unparked: u16,
    /// What was seen at the last decisions to park.
    pub history: History,
    /// Core time used, and power left to it beyond its entitlement, at the last of them [ns].
    pub observed: (u64, u64),
    /// Paging volumes.
    pub pager: Option<Pager>,
    /// When they are looked at next [ns].
    pub pager_at: u64,
    /// Which page reads end on the master processor.
    pub master: Stream,
    /// Which of the processors that were signalled is the first.
    pub race: Stream,
    /// Counters.
    pub meter: CpMeter,
}

impl Cp {
    /// The Control Program of a partition, if it has one.
    pub fn of(all: &Spec, state: &State, id: PartitionId, replication: u64) -> Option<Box<Self>> {
        let vps = state.vps_of[id];
        let partition = &all.partitions[id.index()];
        let stream = |what: &str| stream(all, partition, replication, what);
        let spec = partition.guest.zvm()?.clone();
        let (smt, cores) = (partition.smt, vps.len() as u16);
        let places = places(state, state.vps_of[id], smt);
        let chips: Vec<u16> = places.iter().map(|place| place.chip).collect();
        let vectors = Vectors::new(&state.tree, &chips, spec.vertical, spec.steal_barrier);
        let lps: ById<LpId, Lp> = places
            .into_iter()
            .map(|place| Lp::new(place, vectors.count()))
            .collect();
        let (vms, vcpus) = machines(&spec, lps.len());
        Some(Box::new(Self {
            ports: ports(&spec, &state.tree, &chips),
            near: vec![None; usize::from(state.tree.chips())],
            locks: [Lock::default(); 2],
            core_clock: vec![0.0; vps.len()],
            chip_clock: vec![0.0; usize::from(state.tree.chips())],
            node_clock: vec![0.0; usize::from(state.tree.nodes)],
            connections: connections(&spec, &vms, &partition.workload),
            unparked: cores,
            history: History::new(),
            observed: (0, 0),
            pager: pager(&spec, partition, &stream),
            pager_at: u64::MAX,
            master: stream("master"),
            race: stream("race"),
            meter: CpMeter::default(),
            clocks_of_vectors: ById::of(0.0, vectors.count()),
            acting: None,
            signals: 0.0,
            spec,
            vms,
            vcpus,
            lps,
            smt,
            vectors,
        }))
    }

    /// Virtual machine of a virtual processor.
    pub fn vm_of(&mut self, vcpu: VcpuId) -> &mut Vm {
        &mut self.vms[self.vcpus[vcpu].vm]
    }

    /// What the virtual machine of a virtual processor does.
    pub fn role_of(&self, vcpu: VcpuId) -> Role {
        self.spec.machines[self.vcpus[vcpu].vm.index()].role
    }
}

impl Lp {
    fn new(place: Place, vectors: usize) -> Self {
        Self {
            place,
            doing: Doing::Idle,
            segment: Segment::default(),
            shares: [0.0; OWNERS],
            seen: ById::of(0, vectors),
            signals_from: 0.0,
            signals: 0.0,
            following: 0.0,
            idle_from: 0,
            idle_ns: 0,
            interrupted: false,
            guest_ns: 0.0,
        }
    }
}

/// Logical processors of logical cores with so many threads each.
fn places(state: &State, vps: Span<VpId>, smt: u8) -> Vec<Place> {
    let of = |vp: VpId| {
        let v = &state.vps[vp];
        (0..smt).map(move |thread| Place {
            vp,
            core: v.index,
            thread,
            at: v.first_thread.plus(usize::from(thread)),
            chip: v.home_chip,
            node: v.home_node,
        })
    };
    vps.into_iter().flat_map(of).collect()
}

/// Virtual machines and their virtual processors, dealt out over the logical processors.
fn machines(spec: &Zvm, lps: usize) -> (ById<VmId, Vm>, ById<VcpuId, Vcpu>) {
    let shares: Vec<_> = spec.machines.iter().map(|machine| machine.share).collect();
    let worth = share::weights(&shares);
    let (mut vms, mut vcpus) = (ById::new(), ById::new());
    for (at, machine) in spec.machines.iter().enumerate() {
        let part = machine
            .maximum
            .map(|most| share::weight_beside(most, at, &shares));
        let cpus = Span::new(vcpus.len(), usize::from(machine.cpus));
        let limit = part.map_or(f64::INFINITY, |part| part * lps as f64);
        let vm = vms.push(Vm::new(cpus, limit, machine.limit_hard));
        for _ in cpus {
            let lp = LpId::new(vcpus.len() % lps);
            let weight = worth[at] / f64::from(machine.cpus);
            vcpus.push(Vcpu::new(vm, weight.max(1e-9), lp));
        }
    }
    (vms, vcpus)
}

impl Vm {
    fn new(cpus: Span<VcpuId>, limit: f64, hard: bool) -> Self {
        Self {
            cpus,
            limit,
            hard,
            budget_ns: 0.0,
            budget_at: 0,
            lifting: false,
            guest_ns: 0.0,
            chargeable_ns: 0.0,
            dispatches: 0,
            wait_ns: 0.0,
            page_wait_ns: 0,
            page_reads: 0,
            tx_done: 0,
            response_ns: 0,
        }
    }
}

impl Vcpu {
    fn new(vm: VmId, weight: f64, lp: LpId) -> Self {
        Self {
            vm,
            mode: Mode::Idle,
            task: Task::None,
            inbox: VecDeque::new(),
            file: None,
            started: None,
            owes: 0.0,
            rest: None,
            ready_at: 0,
            page_wait_from: 0,
            left: Left {
                lp,
                clocks: [0.0; 3],
                warm: false,
            },
            vector: VectorId::new(0),
            weight,
            deadline: 0.0,
            used_ns: 0.0,
            cold: (0.0, 0.0),
            needs_master: false,
        }
    }
}

fn pager(spec: &Zvm, partition: &Partition, stream: &dyn Fn(&str) -> Stream) -> Option<Pager> {
    let paging = spec.paging.as_ref()?;
    let guests = spec.machines.iter().map(|machine| machine.memory_bytes);
    let central = partition.memory.iter().map(|part| part.bytes).sum();
    Some(Pager::new(paging, guests.sum(), central, stream))
}

fn ports(spec: &Zvm, tree: &Topology, chips: &[u16]) -> ById<SwitchId, Port> {
    let count = usize::from(tree.chips());
    let coupled = |switch: usize| {
        let machines = spec.machines.iter();
        machines
            .filter(|machine| machine.switch.map(usize::from) == Some(switch))
            .count() as u32
    };
    let port = |(at, switch): (usize, &crate::spec::Switch)| Port {
        switch: Switch::new(switch, coupled(at)),
        lock: Lock::default(),
        views: vec![View::default(); count],
        by_lp: ById::of(0.0, chips.len()),
        chips: ById::from(chips.to_vec()),
        users: Spread::new(tree, vec![Vec::new(); count]),
        outside_ns: f64::INFINITY,
    };
    spec.switches.iter().enumerate().map(port).collect()
}

/// One connection for every client and server on the same switch, spread over the virtual
/// processors of both.
fn connections(
    spec: &Zvm,
    vms: &ById<VmId, Vm>,
    workload: &Workload,
) -> ById<ConnectionId, Connection> {
    if !matches!(workload, Workload::Web { .. }) {
        return ById::new();
    }
    let of = |role: Role| {
        let pairs = spec.machines.iter().zip(vms);
        pairs.filter(move |(machine, _)| machine.role == role)
    };
    let mut all = ById::new();
    for (client, from) in of(Role::Client) {
        let mut turn = 0;
        for (server, to) in of(Role::Server).filter(|(s, _)| s.switch == client.switch) {
            let (Some(switch), _) = (client.switch, server) else {
                continue;
            };
            let (clients, servers) = (from.cpus.len(), to.cpus.len());
            all.push(Connection {
                client: from.cpus.at(turn % clients),
                server: to.cpus.at(turn / clients % servers),
                switch: SwitchId::from(switch),
                since: 0,
            });
            turn += 1;
        }
    }
    all
}
