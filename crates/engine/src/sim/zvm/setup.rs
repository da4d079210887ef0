//! The Control Program of a partition at time 0.

use super::budget::Budget;
use super::daemons::Daemons;
use super::inbox::{Connection, Inbox};
use super::locks::Locks;
use super::message::outgoing;
use super::message::pieces;
use super::pool::{InPool, Pool};
use super::port::Port;
use super::served::{answers, Served};
use super::state::{Cp, CpMeter, Doing, Left, Lp, Mode, Place, Task, Vcpu, Vm, Web};
use crate::cost::Beyond;
use crate::devices::memory::PAGE_BYTES;
use crate::devices::{Pager, Switch};
use crate::guest::zvm::ids::{ConnectionId, LpId, PoolId, SwitchId, VcpuId, VectorId, VmId};
use crate::guest::zvm::locks::Readied;
use crate::guest::zvm::park::History;
use crate::guest::zvm::segment::{Extra, Segment, OWNERS};
use crate::guest::zvm::share;
use crate::guest::zvm::sharing::Near;
use crate::guest::zvm::vectors::Vectors;
use crate::hypervisor::State;
use crate::ids::{ById, ChipId, PartitionId, Span, VpId};
use crate::kernel::{Stream, When};
use crate::machine::Topology;
use crate::sim::load::stream;
use crate::spec::{Distribution, Partition, Role, Spec, Workload, Zvm};

impl Cp {
    /// The Control Program of a partition, if it has one.
    pub fn of(all: &Spec, state: &State, id: PartitionId, replication: u64) -> Option<Box<Self>> {
        let vps = state.vps_of[id];
        let partition = &all.partitions[id.index()];
        let stream = |what: &str| stream(all, partition, replication, what);
        let spec = partition.guest.zvm()?.clone();
        let (smt, cores) = (partition.smt, vps.len() as u16);
        let places = places(state, state.vps_of[id], smt);
        let chips = places.iter().map(|place| place.chip).collect();
        let vectors = Vectors::new(
            &state.tree,
            (&chips, smt),
            spec.vertical,
            spec.steal_barrier,
        );
        let lps: ById<LpId, Lp> = places.into_iter().map(Lp::new).collect();
        let (vms, mut vcpus) = machines(&spec, lps.len(), all.warmup_ns);
        let reaches = Beyond::reaches(&all.machine, partition, smt);
        for v in &mut vcpus {
            v.vector = vectors.of(v.left.lp);
            v.unfetched = reaches.then(Box::default);
        }
        Some(Box::new(Self {
            ports: ports(&spec, &state.tree, &chips, &partition.workload),
            seen: vec![0; vectors.count() * lps.len()],
            pools: Pool::all(&spec, |pool| members(&vms, pool), vps.len()),
            hard_limits: vms.iter().any(|vm: &Vm| vm.hard),
            web: Web::of(partition, &spec),
            near: near(&state.tree, &chips),
            beside: ById::of(Extra::default(), state.tree.chips().len()),
            locks: Locks::new(vectors.count()),
            core_clock: vec![0.0; vps.len()],
            chip_clock: ById::of(0.0, state.tree.chips().len()),
            node_clock: ById::of(0.0, state.tree.nodes().len()),
            connections: connections(&spec, &vms, &partition.workload),
            unparked: cores,
            history: History::new(),
            observed: ById::of(0, all.partitions.len()),
            observed_at: 0,
            pager: pager(&spec, partition, &stream),
            pager_at: When::NEVER,
            done: Vec::new(),
            master: stream("master"),
            daemons: Daemons::of(&spec, all, partition, stream("daemons")),
            meter: CpMeter::default(),
            clock: 0.0,
            floor: 0.0,
            shuffling: false,
            acting: None,
            spec,
            vms,
            vcpus,
            lps,
            smt,
            vectors,
        }))
    }
}

impl Lp {
    fn new(place: Place) -> Self {
        Self {
            place,
            doing: Doing::Idle,
            segment: Segment::default(),
            shares: [0.0; OWNERS],
            guest_ns: 0.0,
            makes_way_for: None,
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

/// Costs on each chip, to be kept for those of logical processors.
fn near(tree: &Topology, chips: &ById<LpId, ChipId>) -> ById<ChipId, Near> {
    let of = |chip| Near {
        kept: chips.iter().any(|other| *other == chip),
        ..Near::default()
    };
    tree.chips().into_iter().map(of).collect()
}

/// Virtual machines and their virtual processors, dealt out over the logical processors.
fn machines(spec: &Zvm, lps: usize, warmup_ns: u64) -> (ById<VmId, Vm>, ById<VcpuId, Vcpu>) {
    let shares: Vec<_> = spec.machines.iter().map(|machine| machine.share).collect();
    let worth = share::weights(&shares);
    let (mut vms, mut vcpus) = (ById::new(), ById::new());
    for (at, machine) in spec.machines.iter().enumerate() {
        let part = machine
            .maximum
            .map(|most| share::weight_beside(most, at, &shares));
        let cpus = Span::new(vcpus.len(), usize::from(machine.cpus));
        let limit = part.map_or(f64::INFINITY, |part| part * lps as f64);
        let vm = vms.push(Vm {
            served: Served::of(spec, at, warmup_ns),
            pool: machine.cpu_pool.map(PoolId::from),
            ..Vm::new(cpus, limit, machine.limit_hard)
        });
        for _ in cpus {
            let lp = LpId::new(vcpus.len() % lps);
            let weight = worth[at] / f64::from(machine.cpus);
            vcpus.push(Vcpu::new(vm, weight.max(1e-9), lp));
        }
    }
    (vms, vcpus)
}

/// Virtual processors of all machines in a CPU pool.
fn members(vms: &ById<VmId, Vm>, pool: PoolId) -> Vec<VcpuId> {
    let all = vms.iter().filter(|vm| vm.pool == Some(pool));
    all.flat_map(|vm| vm.cpus).collect()
}

impl Vm {
    fn new(cpus: Span<VcpuId>, limit: f64, hard: bool) -> Self {
        Self {
            left: Left::nowhere(LpId::new(0)),
            cpus,
            limit: Budget::new(limit),
            hard,
            pool: None,
            lifting: false,
            guest_ns: 0.0,
            chargeable_ns: 0.0,
            thread_ns: 0.0,
            dispatches: 0,
            wait_ns: 0.0,
            page_wait_ns: 0,
            page_reads: 0,
            tx_done: 0,
            response_ns: 0,
            served: None,
        }
    }
}

impl Vcpu {
    fn new(vm: VmId, weight: f64, lp: LpId) -> Self {
        Self {
            vm,
            mode: Mode::Idle,
            task: Task::None,
            inbox: Inbox::default(),
            sending: None,
            started: None,
            owes: 0.0,
            readied: Readied::default(),
            woken: false,
            cut: false,
            rest: None,
            since: 0,
            page_wait_from: 0,
            left: Left::nowhere(lp),
            vector: VectorId::new(0),
            weight,
            deadline: 0.0,
            used_ns: 0.0,
            pledged_ns: 0.0,
            in_pool: InPool::default(),
            cold: (0.0, 0.0),
            unfetched: None,
            needs_master: false,
            daemons: 0,
        }
    }
}

fn pager(spec: &Zvm, partition: &Partition, stream: &dyn Fn(&str) -> Stream) -> Option<Pager> {
    let paging = spec.paging.as_ref()?;
    let guests = spec.machines.iter().map(|machine| machine.memory_bytes);
    let central = partition.memory.iter().map(|part| part.bytes).sum();
    Some(Pager::new(paging, guests.sum(), central, stream))
}

fn ports(
    spec: &Zvm,
    tree: &Topology,
    chips: &ById<LpId, ChipId>,
    workload: &Workload,
) -> ById<SwitchId, Port> {
    let coupled = |switch: usize| {
        let machines = spec.machines.iter();
        machines
            .filter(|machine| machine.switch.map(usize::from) == Some(switch))
            .count() as u32
    };
    let port = |(at, switch): (usize, &crate::spec::Switch)| {
        let switch = Switch::new(switch, coupled(at));
        let sent = outgoing(&switch, workload, answers(spec, at));
        Port::new(switch, (tree, chips), sent, (&spec.paths, &spec.locks))
    };
    spec.switches.iter().enumerate().map(port).collect()
}

impl Web {
    fn of(partition: &Partition, spec: &Zvm) -> Self {
        let frames = spec.switches.iter().map(|switch| switch.frame_bytes);
        let Workload::Web {
            client_share,
            file_bytes,
            think_ns,
            work,
            ..
        } = partition.workload
        else {
            return Self::default();
        };
        let mean = partition.profile.instructions_per_unit;
        Self {
            instructions: [mean * (1.0 - client_share), mean * client_share, 0.0],
            varies: work == Distribution::Exponential,
            think_ns,
            pages: file_bytes.div_ceil(PAGE_BYTES).max(1) as u32,
            pieces: pieces(file_bytes, u64::from(frames.max().unwrap_or(1))),
        }
    }
}

/// One connection for every client and server on the same switch. Each machine gives its own to its
/// virtual processors in turn.
fn connections(
    spec: &Zvm,
    vms: &ById<VmId, Vm>,
    workload: &Workload,
) -> ById<ConnectionId, Connection> {
    let mut all = ById::new();
    if !matches!(workload, Workload::Web { .. }) {
        return all;
    }
    let mut given = ById::of(0, vms.len());
    let mut next = |vm: VmId| {
        let (cpus, turn) = (vms[vm].cpus, given[vm]);
        given[vm] += 1;
        cpus.at(turn % cpus.len())
    };
    let of = |role: Role| {
        let pairs = spec.machines.iter().zip(vms.ids());
        pairs.filter(move |(machine, _)| machine.role == role)
    };
    for (client, from) in of(Role::Client) {
        let Some(switch) = client.switch else {
            continue;
        };
        for (_, to) in of(Role::Server).filter(|(server, _)| server.switch == client.switch) {
            let id = ConnectionId::new(all.len());
            all.push(Connection::new(
                id,
                next(from),
                next(to),
                SwitchId::from(switch),
            ));
        }
    }
    all
}
