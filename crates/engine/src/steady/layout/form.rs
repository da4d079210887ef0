//! A partition as the solver sees it, with all that no load changes.

use crate::cost::{working, Beyond, Fixed, Spread, Working};
use crate::guest::memory;
use crate::ids::{ById, ChipId, MemoryId, NodeId};
use crate::machine::Topology;
use crate::spec::{
    Accounting, Guest, Kvm, LockKind, Machine, Partition, Polarization, Policy, Processors, Spec,
    Workload,
};
use crate::steady::cp::guests::Guests;
use crate::steady::fault::SolveFault;
use crate::steady::layout::core_types::CoreTypes;
use crate::steady::layout::threads::Threads;
use crate::steady::queues::demand::{again, staying, together, Arrivals, Demand};
use crate::steady::queues::devices::{AsksIo, Handling, Serves};
use crate::steady::queues::filling::{Busy, Filled};
use crate::steady::queues::kinds::Kinds;
use crate::steady::queues::locks::{Lock, MOST_RELEASES};

/// Share of a processor for which a guest's virtual processors together hold a lock, from which on
/// lines of halted waiters last: below it simulations begin none that does. Assumed, 0.2 to 0.5.
const LINES_FROM: f64 = 0.3;

/// The same of a lock that is handed on in order, whether waiters halt or not: whoever is next may
/// have no processor. With 0.008 of a processor simulations begin no lines that last, with 0.032
/// guests that wait for processors half of the time do half of what they would without.
const ORDERED_LINES_FROM: f64 = 0.03;

/// One form of a partition.
#[derive(Clone, Debug)]
pub(in crate::steady) struct Form {
    pub partition: Partition,
    pub demand: Demand,
    pub filled: Filled,
    /// By busy threads, unless it depends on the load.
    pub known: Vec<Busy>,
    /// How its virtual processors part the work.
    pub kinds: Kinds,
    pub spread: Spread,
    pub working: Working,
    /// By busy threads of a core.
    pub fixed: Vec<Fixed>,
    /// Whether it has a part of its footprint in caches that cores share.
    pub reaches: bool,
    /// Chips of its homes, or of its own cores, with the share of its virtual processors there.
    pub homes: Vec<(ChipId, f64)>,
    /// Its other home chips on their nodes, which are those of none of its virtual processors.
    pub more_homes: Vec<ChipId>,
    /// How many of its virtual processors have homes there in turn: those that are ever used.
    pub in_turn: f64,
    /// The same where those count too that never are, or that z/VM has parked.
    pub all_homes: Vec<(ChipId, f64)>,
    /// Homes by the number of their node.
    pub homes_by_node: Vec<(usize, f64)>,
    /// Nodes that are its homes or of which it reads much, as bits.
    pub nodes: u64,
    /// Whether memory is as near from all its homes of a node.
    pub even: bool,
    /// Cores that it is entitled to, most it may use, and the group that limits it with others.
    pub entitled: f64,
    pub cap: f64,
    /// Whether its threads spin for a lock, and whether a limit may then stop all of them together.
    pub spins: bool,
    pub in_step: bool,
    pub group: Option<usize>,
    /// Type of its cores, see [`CoreTypes`].
    pub core_type: usize,
    /// Whether it is entitled to a share by weight, among all of them.
    pub by_weight: bool,
    /// How its entitlement lies on its logical cores, where each has and caps its own.
    pub each: Option<Polarization>,
    /// Whether its threads always have work.
    pub stays: bool,
    /// Whether it has cores of its own, and whether these are put to work at no cost.
    pub owns: bool,
    pub free: bool,
    /// Whether an idle sibling of a single busy thread keeps its decode slots.
    pub snoozes: bool,
    /// Moves of its balancing in a nanosecond.
    pub balances_per_ns: f64,
    /// How long a virtual processor without work keeps its core [ns]; infinite = for ever.
    pub polls_ns: f64,
    /// What its devices' interrupts cost.
    pub handling: Option<Handling>,
    /// Whose input and output it does, and what its own asks of such threads.
    pub serves: Option<Serves>,
    pub asks_io: Option<AsksIo>,
    /// A lock for which its threads sleep.
    pub lock: Option<Lock>,
    /// Whether lines of halted waiters last where it waits for processors.
    pub lines_last: bool,
    /// Whether a lock is often held that is handed on in order, so that all wait, and do not halt,
    /// for whoever has it, or is next, and has lost its core.
    pub held_in_order: bool,
    /// What a host knows of its threads.
    pub threads: Threads,
    /// What runs under z/VM.
    pub guests: Option<Guests>,
    /// Each of several workloads, as if alone, and the number under which the first is priced.
    pub workloads: Vec<Self>,
    pub first_workload: usize,
}

impl Form {
    /// Of a partition on a machine.
    pub fn of(spec: &Spec, tree: &Topology, one: &Partition) -> Result<Self, SolveFault> {
        let (machine, host) = (&spec.machine, Threads::of(spec, tree, one));
        let unknown = |what: &str| SolveFault::Unknown {
            partition: one.name.clone(),
            what: what.into(),
        };
        if let Some(what) = only_simulated(machine, one, host.as_ref()) {
            return Err(unknown(what));
        }
        let guests = Guests::of(one)?;
        let mut workloads = several(spec, tree, one)?;
        let each: Vec<Demand> = workloads.iter().map(|form| form.demand).collect();
        let serves = Serves::of(spec, one);
        let mut demand =
            demand_of((spec, one), guests.as_ref(), (&each, serves.as_ref())).map_err(unknown)?;
        let lock = Lock::of(machine, one);
        demand.scattered &= host.is_none() && lock.is_none();
        let always = guests.is_none() && matches!(demand.arrivals, Arrivals::Always(..));
        let stays = always && lock.is_none(); // Who sleeps for a lock leaves his processor.
        let owns = matches!(one.processors, Processors::Dedicated { .. });
        let reads = memory::place(machine, tree, one);
        let filled = Filled::of(one, &machine.smt, always)
            .with(again_of(one, demand, &each))
            .beside(staying(&each));
        let in_turn = in_turn(guests.as_ref(), demand.arrivals, filled);
        let homes = homes(tree, one, in_turn);
        settle_at(&mut workloads, &homes);
        Ok(Self {
            demand,
            filled,
            known: filled.known(),
            kinds: kinds(one, filled, (demand, stays)),
            entitled: entitled(one),
            cap: cap(one),
            spins: one.spins(),
            in_step: one.stops_together(spec) && one.spins(),
            group: group(machine, one),
            core_type: CoreTypes::new(spec).of_partition(&one.processors),
            by_weight: machine.hypervisor.policy == Policy::Prsm && !owns,
            each: polarization(machine, one),
            balances_per_ns: balances_per_ns(one),
            nodes: nodes(tree, &homes, &reads),
            even: is_even(tree, &homes, &reads),
            spread: Spread::new(tree, reads),
            working: working(machine, one),
            fixed: fixed(machine, tree, one),
            reaches: Beyond::reaches(machine, one, one.smt.max(tree.siblings as u8)),
            homes_by_node: by_node(tree, &homes),
            all_homes: self::homes(tree, one, one.processors.count().into()),
            more_homes: more_homes(tree, one, &homes),
            homes,
            in_turn: f64::from(in_turn),
            owns,
            free: owns && machine.hypervisor.policy == Policy::Prsm,
            stays,
            snoozes: has_aix_threads(one) && machine.accounting == Accounting::DecodeSlots,
            polls_ns: polls_ns(&one.guest),
            handling: Handling::of(one),
            serves,
            asks_io: AsksIo::of(one),
            lock,
            held_in_order: held_in_order(one, host.is_some(), &workloads),
            lines_last: lines_last(one) || workloads.iter().any(|of| of.lines_last),
            threads: host.unwrap_or_default(),
            guests,
            workloads,
            first_workload: 0,
            partition: one.clone(),
        })
    }
}

/// For how long threads of a guest poll before they go [ns]; without an end where it is told so.
fn polls_ns(guest: &Guest) -> f64 {
    match guest {
        Guest::Aix(aix) => aix.snooze_delay_ns.map_or(f64::INFINITY, |ns| ns as f64),
        _ => 0.0,
    }
}

/// What asks for its processors; else what that is that cannot be told.
fn demand_of(
    (spec, one): (&Spec, &Partition),
    guests: Option<&Guests>,
    (each, serves): (&[Demand], Option<&Serves>),
) -> Result<Demand, &'static str> {
    if let Some(guests) = guests {
        return Ok(guests.demand());
    }
    if !each.is_empty() {
        return Ok(together(each));
    }
    let demand = Demand::of(&spec.machine, one).ok_or_else(|| without_rest(&one.workload))?;
    Ok(match serves {
        Some(serves) => serves.demand(spec, one, demand),
        None => demand,
    })
}

/// Share of the bursts whose thread has run before, of one workload or of each of several: each
/// transaction has a thread of its own, a user's too.
fn again_of(one: &Partition, demand: Demand, each: &[Demand]) -> f64 {
    match one.workload {
        _ if !each.is_empty() => again(each),
        Workload::Transactions { .. } | Workload::Users { .. } => 1.0 - 1.0 / demand.bursts,
        _ => 1.0,
    }
}

/// How its virtual processors part the work where they come and go on cores that are shared.
fn kinds(one: &Partition, filled: Filled, (demand, stays): (Demand, bool)) -> Kinds {
    if stays || matches!(one.processors, Processors::Dedicated { .. }) {
        return Kinds::default();
    }
    match demand.arrivals {
        // They sleep for a lock now and then, and come back to where they were.
        Arrivals::Always(threads, _) if !matches!(one.guest, Guest::Zvm(_)) => {
            Kinds::alike(threads.min(f64::from(filled.vps())))
        }
        _ if filled.packs() => Kinds::packed(filled),
        _ => Kinds::of(filled.vps() as usize, again_of(one, demand, &[])),
    }
}

/// Each of several workloads of a partition, as if it were alone; none where there is one.
fn several(spec: &Spec, tree: &Topology, one: &Partition) -> Result<Vec<Form>, SolveFault> {
    if one.beside.is_empty() {
        return Ok(Vec::new());
    }
    (0..=one.beside.len())
        .map(|place| Form::of(spec, tree, &one.with_load(place)))
        .collect()
}

/// What KVM does for it, of a guest of KVM.
fn kvm_of(one: &Partition) -> Option<&Kvm> {
    match &one.processors {
        Processors::Shared { host, .. } => host.kvm.as_ref(),
        Processors::Dedicated { .. } => None,
    }
}

/// Whether its waiters halt in line.
fn halts_in_line(one: &Partition) -> bool {
    kvm_of(one).is_some_and(|kvm| kvm.paravirtual_locks.is_some())
}

/// Share of a processor for which its virtual processors together hold a spin lock that is handed
/// on in order.
fn in_order(one: &Partition) -> f64 {
    let in_order = one.profile.lock_kind.in_order();
    f64::from(u8::from(in_order)) * f64::from(one.processors.count()) * one.profile.lock_share
}

/// Whether lines of waiters last where it waits for processors (`sim::host::paravirtual`): the lock
/// is held for much of the time.
fn lines_last(one: &Partition) -> bool {
    let least = match one.profile.lock_kind {
        LockKind::Queue => LINES_FROM,
        _ => ORDERED_LINES_FROM,
    };
    halts_in_line(one) && in_order(one) >= least
}

/// Whether who holds a lock may lose his processor: on a host only a guest's, if it is told to.
fn loses_holders(one: &Partition, on_host: bool) -> bool {
    !on_host || kvm_of(one).is_some_and(|kvm| kvm.lock_holder_preemption)
}

/// Whether a lock that goes round in order is held for so much of the time that virtual processors
/// that lose their cores hold up all others, which spin.
fn held_in_order(one: &Partition, on_host: bool, workloads: &[Form]) -> bool {
    let spins = loses_holders(one, on_host) && !halts_in_line(one);
    let often = spins && in_order(one) >= ORDERED_LINES_FROM;
    often || workloads.iter().any(|of| of.held_in_order)
}

/// Workloads of a partition are where it is.
fn settle_at(workloads: &mut [Form], homes: &[(ChipId, f64)]) {
    for of in workloads {
        of.homes = homes.to_vec();
    }
}

/// Work that leaves no steady state, or none that could be told.
fn without_rest(workload: &Workload) -> &'static str {
    match workload {
        Workload::Loops { .. } => {
            "what becomes of loops that end, which leave nothing steady (`endless = true` does),"
        }
        Workload::Barriers { .. } => "a program whose threads wait for each other at barriers",
        _ => "its kind of workload",
    }
}

/// What of its lock only events tell.
fn lock_only_simulated(machine: &Machine, one: &Partition) -> Option<&'static str> {
    let lock = (0..=one.beside.len()).find_map(|at| Lock::of(machine, &one.with_load(at)))?;
    if !one.beside.is_empty() {
        return Some("a lock for which threads sleep, of one of several workloads");
    }
    if matches!(one.guest, Guest::Zvm(_)) {
        return Some("a lock for which threads sleep under z/VM");
    }
    (lock.releases() > MOST_RELEASES)
        .then_some("a lock for which threads sleep that is held for less than a tenth of a switch")
}

/// What of a partition only events tell.
fn only_simulated(
    machine: &Machine,
    one: &Partition,
    host: Option<&Threads>,
) -> Option<&'static str> {
    if let Some(what) = lock_only_simulated(machine, one) {
        return Some(what);
    }
    let capped = matches!(one.processors, Processors::Shared { capped: true, .. });
    if capped && polls_ns(&one.guest).is_infinite() {
        return Some("a cap that idle virtual processors use up which never go (`snooze_delay`)");
    }
    let profile = &one.profile;
    let kvm = kvm_of(one);
    if profile.flush_instructions > 0.0 && kvm.is_some_and(|kvm| !kvm.paravirtual_flush) {
        return Some("waiting for flushes of translations");
    }
    if kvm.is_some_and(|kvm| kvm.polls_in_guest) {
        return Some("a guest that polls before it halts (`guest_poll`)");
    }
    if !one.beside.is_empty() && one.io_threads.is_some() {
        return Some("several workloads whose input and output threads of the host do");
    }
    match one.workload {
        Workload::Pairs { .. } if host.is_some() => {
            Some("pairs that wake each other across processors of a host")
        }
        Workload::Pairs { message_bytes, .. } if message_bytes > 0 => {
            Some("pairs whose messages bring something")
        }
        Workload::Pairs {
            generator: Some(_), ..
        } => Some("pairs whose transactions come at a rate"),
        _ => None,
    }
}

impl Form {
    /// Its workloads where it has several, by the number under which each is priced.
    pub fn each_workload(&self) -> impl Iterator<Item = (usize, &Self)> + Clone {
        (self.first_workload..).zip(&self.workloads)
    }

    /// Use of its own cores below which it lends those that are idle; 0 if it never does.
    pub fn lends_below(&self) -> f64 {
        match &self.partition.processors {
            Processors::Dedicated {
                cores,
                donating: true,
                donate_threshold_pct,
            } => donate_threshold_pct / 100.0 * cores.len() as f64,
            _ => 0.0,
        }
    }

    /// Of its own cores, those that others do not get while it uses so many.
    pub fn keeps(&self, used: f64) -> f64 {
        if used < self.lends_below() {
            used
        } else {
            f64::from(self.partition.processors.count())
        }
    }

    /// Whether its virtual processors come and go on cores that they share.
    pub fn comes(&self) -> bool {
        !self.stays && !self.owns
    }

    /// The same, with several home chips on a node.
    pub fn roves(&self) -> bool {
        self.comes() && self.homes_by_node.len() < self.homes.len() + self.more_homes.len()
    }

    /// Those of its virtual processors, and its others on their nodes.
    pub fn home_chips(&self) -> impl Iterator<Item = ChipId> + Clone + '_ {
        let own = self.homes.iter().map(|(chip, _)| *chip);
        own.chain(self.more_homes.iter().copied())
    }

    /// Whether a chip is one of its homes, be it that of none of its virtual processors: who is
    /// there stays on the core that it was on last.
    pub fn is_home(&self, chip: ChipId) -> bool {
        self.homes.iter().any(|(home, _)| *home == chip)
            || self.partition.home.contains(&(chip.index() as u16))
    }

    /// Share of its bursts whose thread has run before.
    pub fn again(&self) -> f64 {
        again_of(&self.partition, self.demand, &[])
    }

    /// Of so many logical cores those that work comes to: z/VM parks some, the last ones.
    pub fn open(&self, all: u16) -> u16 {
        self.guests.as_ref().map_or(all, |guests| guests.open)
    }

    /// The same with so many logical cores that z/VM has not parked.
    pub fn unparked(&self, tree: &Topology, open: u16) -> Self {
        let homes = homes(tree, &self.partition, open.into());
        let mut form = Self {
            filled: self.filled.of_vps(open.into()),
            kinds: Kinds::of(open.into(), self.again()),
            homes_by_node: by_node(tree, &homes),
            homes,
            in_turn: open.into(),
            ..self.clone()
        };
        if let Some(guests) = &mut form.guests {
            guests.open = open;
        }
        form
    }
}

/// Virtual processors that are ever used: of z/VM those not parked; threads that always have work
/// stay on the first ones.
fn in_turn(guests: Option<&Guests>, arrivals: Arrivals, filled: Filled) -> u32 {
    if let Some(guests) = guests {
        return guests.open.into();
    }
    match arrivals {
        Arrivals::Always(threads, _) => {
            let busy = Busy::of(filled, (threads as u32).min(filled.threads()));
            (busy.vps.ceil() as u32).clamp(1, filled.vps())
        }
        _ => filled.vps(),
    }
}

/// Chips of the `count` virtual processors of a partition that are ever used, with their shares:
/// they are homed in turn. New work comes to the first of them, or to the chip with most of them
/// idle.
fn homes(tree: &Topology, one: &Partition, count: u32) -> Vec<(ChipId, f64)> {
    let mut idle: Vec<(ChipId, f64, f64)> = Vec::new();
    let first = matches!(one.guest, Guest::Aix(_) | Guest::Zvm(_));
    let all = if first {
        count
    } else {
        u32::from(one.processors.count())
    };
    for at in 0..all as usize {
        let chip = match &one.processors {
            Processors::Dedicated { cores, .. } => tree.chip_of(cores[at].into()),
            Processors::Shared { .. } => one.home[at % one.home.len()].into(),
        };
        match idle.iter_mut().find(|(of, ..)| *of == chip) {
            Some((_, vps, _)) => *vps += 1.0,
            None => idle.push((chip, 1.0, 0.0)),
        }
    }
    for _ in 0..count {
        // Of equal ones the first.
        let most = idle.iter_mut().rev().max_by(|a, b| a.1.total_cmp(&b.1));
        let (_, vps, used) = most.expect("it has a home");
        (*vps, *used) = (*vps - 1.0, *used + 1.0);
    }
    let used = idle.into_iter().filter(|(.., used)| *used > 0.0);
    used.map(|(chip, _, used)| (chip, used / f64::from(count)))
        .collect()
}

/// Whether several threads of a core may be AIX's.
fn has_aix_threads(one: &Partition) -> bool {
    matches!(one.guest, Guest::Aix(_)) && one.smt > 1
}

/// Home chips of a partition that are those of none of its virtual processors, on nodes on which
/// it has others.
fn more_homes(tree: &Topology, one: &Partition, homes: &[(ChipId, f64)]) -> Vec<ChipId> {
    let mut more: Vec<ChipId> = Vec::new();
    for chip in one.home.iter().map(|chip| ChipId::from(*chip)) {
        let is_new = !more.contains(&chip) && homes.iter().all(|(of, _)| *of != chip);
        let beside = |(of, _): &(ChipId, f64)| tree.node_of(*of) == tree.node_of(chip);
        if is_new && homes.iter().any(beside) {
            more.push(chip);
        }
    }
    more
}

fn by_node(tree: &Topology, homes: &[(ChipId, f64)]) -> Vec<(usize, f64)> {
    let mut nodes: Vec<(usize, f64)> = Vec::new();
    for (chip, share) in homes {
        let node = tree.node_of(*chip).index();
        match nodes.iter_mut().find(|(of, _)| *of == node) {
            Some((_, sum)) => *sum += share,
            None => nodes.push((node, *share)),
        }
    }
    nodes
}

/// Share of what a partition reads from which on a node is one of those it depends on.
const MUCH: f64 = 0.2;

type Reads = ById<ChipId, Vec<(MemoryId, f64)>>;

/// Nodes of homes and of what is read there, as bits: on a machine of more, the last share one.
fn nodes(tree: &Topology, homes: &[(ChipId, f64)], reads: &Reads) -> u64 {
    let bit = |node: NodeId| 1_u64 << node.index().min(63);
    let mut nodes = 0;
    for (chip, _) in homes {
        nodes |= bit(tree.node_of(*chip));
        for node in tree.nodes() {
            let there = |(domain, _): &&(MemoryId, f64)| tree.node_of_domain(*domain) == node;
            let share: f64 = reads[*chip]
                .iter()
                .filter(there)
                .map(|(_, share)| share)
                .sum();
            if share >= MUCH {
                nodes |= bit(node);
            }
        }
    }
    nodes
}

/// Whether each home chip reads as much of the memory beside it.
fn is_even(tree: &Topology, homes: &[(ChipId, f64)], reads: &Reads) -> bool {
    let beside = |chip: ChipId| -> f64 {
        let own = |(domain, _): &&(MemoryId, f64)| *domain == tree.domain_of(chip);
        reads[chip].iter().filter(own).map(|(_, share)| share).sum()
    };
    let first = homes.first().map_or(0.0, |(chip, _)| beside(*chip));
    homes
        .iter()
        .all(|(chip, _)| (beside(*chip) - first).abs() < 1e-3)
}

/// What an instruction costs that no load changes, by busy threads of the core.
fn fixed(machine: &Machine, tree: &Topology, one: &Partition) -> Vec<Fixed> {
    (0..=one.smt.max(tree.siblings as u8))
        .map(|threads| Fixed::of(machine, one, threads.max(1)))
        .collect()
}

fn balances_per_ns(one: &Partition) -> f64 {
    let every = one.guest.unix().rebalance_ns;
    every.map_or(0.0, |ns| 1.0 / ns as f64)
}

/// What it says that it is entitled to; PR/SM works that out from the weights of all.
fn entitled(one: &Partition) -> f64 {
    match &one.processors {
        Processors::Shared { entitlement, .. } => *entitlement,
        Processors::Dedicated { cores, .. } => cores.len() as f64,
    }
}

fn cap(one: &Partition) -> f64 {
    let Processors::Shared { prsm, .. } = &one.processors else {
        return f64::INFINITY;
    };
    let defined = prsm.defined_capacity.map(|it| it.cores);
    let least = [prsm.cap, defined].into_iter().flatten().reduce(f64::min);
    least.unwrap_or(f64::INFINITY)
}

/// Under PR/SM each logical core has a share of its own.
fn polarization(machine: &Machine, one: &Partition) -> Option<Polarization> {
    match &one.processors {
        Processors::Shared { prsm, .. } if machine.hypervisor.policy == Policy::Prsm => {
            Some(prsm.polarization)
        }
        _ => None,
    }
}

/// Under PR/SM a group limits, elsewhere a pool that is not the default one.
fn group(machine: &Machine, one: &Partition) -> Option<usize> {
    let Processors::Shared { prsm, pool, .. } = &one.processors else {
        return None;
    };
    if machine.hypervisor.policy == Policy::Prsm {
        return prsm.group.map(usize::from);
    }
    (*pool > 0).then_some(usize::from(*pool))
}
