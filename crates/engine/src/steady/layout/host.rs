//! Processors of a host, and who may use which: a host puts threads on hardware threads, within the
//! sets of control groups and pins.

use std::collections::BTreeMap;

use crate::hypervisor::numa::is_rarely_scanned;
use crate::hypervisor::policies::{guest_switch_ns, queue_of, turns, Turns};
use crate::ids::ChipId;
use crate::machine::Topology;
use crate::spec::{Cgroup, NumaBalancing, Policy, Spec};
use crate::steady::layout::drawn::{deal, Party, HARDLY_EVER};
use crate::steady::layout::form::Form;
use crate::steady::layout::threads::Set;
use crate::steady::queues::demand::Arrivals;

/// Processors that the same threads may use.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::steady) struct Lot {
    pub cpus: f64,
    /// Their numbers.
    pub members: Vec<u16>,
    /// What interrupts take of them [processors].
    pub taken: f64,
    /// Number of their run queue, under Xen; elsewhere all have one.
    pub queue: usize,
    /// Number of the lots that the same threads may use: who finds one of these full, goes to
    /// another.
    pub pool: usize,
    /// By chip.
    pub on: Vec<(usize, f64)>,
    /// Share of the siblings of its processors that are in each lot.
    pub beside: Vec<f64>,
}

/// Threads of a partition that may use the same lots.
#[derive(Clone, Debug)]
pub(in crate::steady) struct Unit {
    pub partition: usize,
    /// Share of the partition's threads.
    pub share: f64,
    /// Lots that they may use, with the share of their time there.
    pub lots: Vec<(usize, f64)>,
    /// Those of the lots that they prefer; none = all alike.
    pub likes: Vec<usize>,
    /// Share of their time by chip.
    pub seats: Vec<(usize, f64)>,
}

/// What a partition's threads have to do.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::steady) struct Doers {
    /// Mean number of those with work, its variance, and how many there are.
    pub busy: f64,
    pub variance: f64,
    pub most: f64,
    /// How many poll on the mean.
    pub polling: f64,
    /// For how long one has its processor at a time [ns]; infinite = for ever.
    pub stay_ns: f64,
    /// Most that it may use for its quotas and caps [processors].
    pub within: f64,
    /// Weight of all that have work, beside all others.
    pub weight: f64,
}

/// A host's scheduler as the solver sees it: its constants, and who is where.
#[derive(Clone, Debug)]
pub(in crate::steady) struct Host {
    pub policy: Policy,
    pub cgroups: Vec<Cgroup>,
    pub siblings: usize,
    /// What a switch takes [ns].
    pub switch_ns: f64,
    /// What it takes within a guest [ns].
    pub guest_switch_ns: f64,
    /// How long one of those that wait for a processor runs [ns].
    pub turn_ns: f64,
    /// How turns come round, where that is known.
    pub turns: Option<Turns>,
    /// What a quota hands to a processor at a time [ns].
    pub slice_ns: f64,
    /// Under Xen, how often a capped domain gets its budget anew [ns].
    pub cap_period_ns: f64,
    /// Under Xen, how long who runs alone does so before its processor is looked at anew [ns].
    pub look_ns: f64,
    pub numa: Option<NumaBalancing>,
    /// Number of the run queue of each processor.
    pub queue_of: Vec<usize>,
    pub lots: Vec<Lot>,
    pub units: Vec<Unit>,
    /// Share of each chip's processors that see to interrupts; none = nothing.
    pub handling: Vec<f64>,
    /// By lot, the share of the time in which one that polls is left to: others may want its
    /// processor.
    pub rooms: Vec<f64>,
    /// By processor, its chip.
    pub chips: Vec<usize>,
    /// Whether all that ever run have a processor each and never leave it, and whose each is then;
    /// none = not known yet, or nobody's for good.
    pub stays: bool,
    pub kept: Vec<Option<usize>>,
    /// Steps since partitions took another form.
    pub steps: usize,
}

/// What is left of a chip.
#[derive(Clone, Copy, Debug, Default)]
struct Room {
    cpus: f64,
    variance: f64,
}

impl Room {
    /// Of several chips together.
    fn all(rooms: &[Self]) -> Self {
        rooms.iter().fold(Self::default(), |all, of| Self {
            cpus: all.cpus + of.cpus,
            variance: all.variance + of.variance,
        })
    }

    /// Processors that are hardly ever all in use.
    fn sure(&self) -> f64 {
        self.cpus - HARDLY_EVER * self.variance.sqrt()
    }
}

/// Steps after which threads are dealt out anew, as what they want is known better: after one, and
/// after twice as many each time up to so many.
const LAST_DEAL: usize = 32;

/// Sets of processors that occur, each once, in order.
struct Masks<'a>(Vec<&'a Vec<u16>>);

impl<'a> Masks<'a> {
    fn of(forms: &[&'a Form], of: fn(&Set) -> Option<&Vec<u16>>) -> Self {
        let sets = forms.iter().flat_map(|form| &form.threads.sets);
        let mut masks: Vec<&Vec<u16>> = sets.filter_map(|(set, _)| of(set)).collect();
        masks.sort();
        masks.dedup();
        Self(masks)
    }

    /// Which of them hold a processor.
    fn with(&self, cpu: u16) -> Vec<bool> {
        self.0.iter().map(|mask| mask.contains(&cpu)).collect()
    }

    fn number(&self, set: Option<&Vec<u16>>) -> Option<usize> {
        set.and_then(|set| self.0.binary_search(&set).ok())
    }
}

impl Host {
    /// A machine's; none where no host schedules.
    pub fn of(spec: &Spec, tree: &Topology) -> Option<Self> {
        let hypervisor = &spec.machine.hypervisor;
        let siblings = usize::from(hypervisor.siblings.max(1));
        let linux = &hypervisor.linux;
        let is_linux = hypervisor.policy == Policy::Linux;
        let cpus = usize::from(spec.machine.active_cores) * siblings;
        let chips = 0..tree.active_cores;
        hypervisor.policy.is_host().then(|| Self {
            turns: is_linux.then(|| turns(linux, cpus)).flatten(),
            policy: hypervisor.policy,
            cgroups: spec.cgroups.clone(),
            siblings,
            switch_ns: if is_linux {
                linux.switch_ns as f64
            } else {
                hypervisor.credit2.switch_ns as f64
            },
            guest_switch_ns: guest_switch_ns(hypervisor) as f64,
            slice_ns: linux.bandwidth_slice_ns as f64,
            cap_period_ns: hypervisor.credit2.cap_period_ns as f64,
            turn_ns: if is_linux {
                crate::hypervisor::policies::turn_ns(linux, cpus)
            } else {
                hypervisor
                    .credit2
                    .rate_limit_ns
                    .max(hypervisor.credit2.min_timer_ns) as f64
            },
            look_ns: hypervisor.credit2.max_timer_ns as f64,
            numa: linux.numa_balancing.filter(|_| is_linux),
            queue_of: if is_linux {
                vec![0; usize::from(tree.active_cores)]
            } else {
                queue_of(&spec.machine, tree)
            },
            lots: Vec::new(),
            units: Vec::new(),
            handling: Vec::new(),
            rooms: Vec::new(),
            chips: chips.map(|cpu| tree.chip_of(cpu.into()).index()).collect(),
            stays: false,
            kept: Vec::new(),
            steps: 0,
        })
    }

    /// One of a single run queue that consists of these lots, for tests.
    #[cfg(test)]
    pub fn of_lots(lots: Vec<Lot>, units: Vec<Unit>, look_ns: f64) -> Self {
        Self {
            policy: Policy::Credit2,
            cgroups: Vec::new(),
            siblings: 1,
            switch_ns: 0.0,
            guest_switch_ns: 0.0,
            turn_ns: 1.0,
            turns: None,
            slice_ns: 1.0,
            cap_period_ns: 1.0,
            look_ns,
            numa: None,
            queue_of: vec![0],
            rooms: vec![1.0; lots.len()],
            lots,
            units,
            handling: Vec::new(),
            chips: Vec::new(),
            stays: false,
            kept: Vec::new(),
            steps: 0,
        }
    }

    /// Who may use which processors.
    pub fn divide(&mut self, tree: &Topology, forms: &[&Form]) {
        self.steps = 0;
        self.kept.clear();
        let masks = |of: fn(&Set) -> Option<&Vec<u16>>| Masks::of(forms, of);
        let (may, likes) = (
            masks(|set| set.may.as_ref()),
            masks(|set| set.likes.as_ref()),
        );
        let mut lots: BTreeMap<(Vec<bool>, usize, Vec<bool>), Vec<u16>> = BTreeMap::new();
        for cpu in 0..tree.active_cores {
            let queue = self.queue_of[usize::from(cpu)];
            let key = (may.with(cpu), queue, likes.with(cpu));
            lots.entry(key).or_default().push(cpu);
        }
        let mut pools: Vec<_> = lots.keys().map(|(who, queue, _)| (who, queue)).collect();
        pools.dedup();
        let members: Vec<&Vec<u16>> = lots.values().collect();
        let pool = |(who, queue, _): &(Vec<bool>, usize, Vec<bool>)| {
            let of = pools.binary_search(&(who, queue));
            of.unwrap_or_default()
        };
        let each = lots.iter().map(|(key, cpus)| (pool(key), cpus));
        self.lots = each
            .map(|(pool, cpus)| self.lot(tree, (cpus, pool), &members))
            .collect();
        self.rooms = vec![1.0; self.lots.len()];
        self.units.clear();
        for (partition, form) in forms.iter().enumerate() {
            for (set, share) in &form.threads.sets {
                let mask = may.number(set.may.as_ref());
                let usable = lots
                    .keys()
                    .enumerate()
                    .filter(|(_, (who, ..))| mask.is_none_or(|mask| who[mask]));
                let usable: Vec<usize> = usable.map(|(at, _)| at).collect();
                let all: f64 = usable.iter().map(|at| self.lots[*at].cpus).sum();
                let part = |at: &usize| (*at, self.lots[*at].cpus / all);
                let soft = likes.number(set.likes.as_ref());
                let keys: Vec<_> = lots.keys().collect();
                let liked = |at: &&usize| soft.is_some_and(|soft| keys[**at].2[soft]);
                self.units.push(Unit {
                    partition,
                    share: *share,
                    lots: usable.iter().map(part).collect(),
                    likes: usable.iter().filter(liked).copied().collect(),
                    seats: Vec::new(),
                });
            }
        }
    }

    /// Share of the time in which a partition's threads are left to that poll.
    pub fn room_of(&self, partition: usize) -> f64 {
        let own = self.units.iter().filter(|unit| unit.partition == partition);
        own.map(|unit| {
            let there = unit.lots.iter().map(|(lot, part)| part * self.rooms[*lot]);
            unit.share * there.sum::<f64>()
        })
        .sum()
    }

    fn lot(&self, tree: &Topology, (cpus, pool): (&[u16], usize), all: &[&Vec<u16>]) -> Lot {
        let mut on: BTreeMap<usize, f64> = BTreeMap::new();
        for cpu in cpus {
            *on.entry(tree.chip_of((*cpu).into()).index()).or_default() += 1.0;
        }
        let siblings = self.siblings as u16;
        let mut beside = vec![0.0; all.len()];
        if siblings > 1 {
            let each = 1.0 / (cpus.len() * (self.siblings - 1)) as f64;
            for cpu in cpus {
                let first = cpu / siblings * siblings;
                for other in (first..first + siblings).filter(|other| other != cpu) {
                    let of = all.iter().position(|lot| lot.binary_search(&other).is_ok());
                    if let Some(of) = of {
                        beside[of] += each;
                    }
                }
            }
        }
        Lot {
            cpus: cpus.len() as f64,
            members: cpus.to_vec(),
            taken: 0.0,
            queue: self.queue_of[usize::from(cpus[0])],
            pool,
            on: on.into_iter().collect(),
            beside,
        }
    }

    /// Evens out threads that may use several lots, and deals all out to chips, while this is due;
    /// whether that changed where any of them is.
    pub fn deal(&mut self, tree: &Topology, forms: &[&Form], doers: &[Doers]) -> bool {
        self.steps += 1;
        let busy: Vec<f64> = doers.iter().map(|of| of.busy).collect();
        let busy = &busy[..];
        if self.policy == Policy::Credit2 {
            return self.deal_queues(forms, (busy, doers));
        }
        if !self.steps.is_power_of_two() || self.steps > LAST_DEAL {
            return false;
        }
        self.even_out(doers);
        let mut rooms = vec![Room::default(); tree.chips().len()];
        for lot in &self.lots {
            lot.on
                .iter()
                .for_each(|(chip, cpus)| rooms[*chip].cpus += cpus);
        }
        let mut units = std::mem::take(&mut self.units);
        let before: Vec<Vec<(usize, f64)>> = units.iter().map(|unit| unit.seats.clone()).collect();
        let parties = self.parties(tree, forms, &units, doers);
        let on = |domain| {
            let chips = tree.chips_beside(domain);
            Room::all(&rooms[chips.numbers()]).cpus
        };
        let cpus: Vec<f64> = tree.domains().into_iter().map(on).collect();
        let dealt = deal(tree, &parties, &cpus);
        units.iter_mut().for_each(|unit| unit.seats.clear());
        for (party, on) in parties.iter().zip(&dealt) {
            self.seat(tree, (party, on), &mut units[party.unit], &mut rooms);
        }
        for unit in &mut units {
            let all: f64 = unit.seats.iter().map(|(_, count)| count).sum();
            unit.seats.iter_mut().for_each(|(_, count)| *count /= all);
        }
        let mut pairs = units.iter().zip(&before);
        let changed = pairs.any(|(unit, before)| unit.seats != *before);
        self.units = units;
        self.keep_on_chips(forms);
        changed
    }

    /// The same under Xen, from which the chips follow.
    fn deal_queues(&mut self, forms: &[&Form], (busy, doers): (&[f64], &[Doers])) -> bool {
        let due = self.steps.is_power_of_two() && self.steps <= LAST_DEAL;
        let seated = self.units.iter().all(|unit| !unit.seats.is_empty());
        if !due || !self.deal_to_queues(forms, busy) && seated {
            return false;
        }
        self.even_out(doers);
        let mut units = std::mem::take(&mut self.units);
        for unit in &mut units {
            unit.seats = self.kept_by_chip(unit.partition);
            if !unit.seats.is_empty() {
                continue;
            }
            let mut seats: BTreeMap<usize, f64> = BTreeMap::new();
            for (lot, part) in &unit.lots {
                let lot = &self.lots[*lot];
                for (chip, cpus) in &lot.on {
                    *seats.entry(*chip).or_default() += part * cpus / lot.cpus;
                }
            }
            unit.seats = seats.into_iter().collect();
        }
        self.units = units;
        true
    }

    /// Share of a unit's time in a lot on a chip where it is for such a share of it: there its lots
    /// have parts of that as they have processors on the chip.
    pub fn both(&self, unit: &Unit, lot: usize, (chip, share): (usize, f64)) -> f64 {
        let there = |(lot, part): &(usize, f64)| {
            let lot = &self.lots[*lot];
            let on = lot.on.iter().find(|(at, _)| *at == chip);
            on.map_or(0.0, |(_, cpus)| part * cpus / lot.cpus)
        };
        let own = unit.lots.iter().find(|(at, _)| *at == lot);
        let own = own.map_or(0.0, there);
        if self.policy == Policy::Credit2 {
            return own;
        }
        let all: f64 = unit.lots.iter().map(there).sum();
        share * own / all.max(1e-12)
    }

    /// Threads with work by lot.
    pub fn used(&self, busy: &[f64]) -> Vec<f64> {
        let mut used = vec![0.0; self.lots.len()];
        for unit in &self.units {
            for (lot, share) in &unit.lots {
                used[*lot] += share * unit.share * busy[unit.partition];
            }
        }
        used
    }

    /// Threads that are drawn to the same memory, those that stay first.
    fn parties(
        &self,
        tree: &Topology,
        forms: &[&Form],
        units: &[Unit],
        doers: &[Doers],
    ) -> Vec<Party> {
        let staying = |unit: &Unit| match forms[unit.partition].demand.arrivals {
            Arrivals::Always(threads, _) => Some(threads),
            _ => None,
        };
        let mut found: Vec<Party> = Vec::new();
        for stays in [true, false] {
            let some = units.iter().enumerate();
            for (at, unit) in some.filter(|(_, unit)| staying(unit).is_some() == stays) {
                let (form, doers) = (forms[unit.partition], &doers[unit.partition]);
                let vps = f64::from(form.filled.vps());
                let vps = staying(unit).map_or(vps, |threads| vps.min(threads).max(1.0));
                let count = (unit.share * vps).round().max(1.0) as usize;
                let each = ((doers.busy + doers.polling) / vps).min(1.0);
                // A group's weight is told whole, a thread's only while it runs.
                let part = form.threads.group.map_or(1.0, |_| each);
                let one = Party {
                    unit: at,
                    wants: None,
                    is_rare: is_rarely_scanned(form.partition.profile.private_data),
                    count: 1,
                    stays,
                    each,
                    load: part * doers.weight / vps,
                    may: self.memories_of(tree, unit),
                };
                let first = found.len();
                for place in 0..count {
                    let wants = preferred(tree, form, (place as f64 + 0.5) / count as f64);
                    match found[first..].last_mut() {
                        Some(last) if last.wants == wants => last.count += 1,
                        _ => found.push(Party {
                            wants,
                            ..one.clone()
                        }),
                    }
                }
            }
        }
        found
    }

    /// Whether threads may run beside each memory.
    fn memories_of(&self, tree: &Topology, unit: &Unit) -> Vec<bool> {
        let mut may = vec![false; tree.domains().len()];
        for chip in self.chips_of(unit) {
            may[tree.domain_of(ChipId::new(chip)).index()] = true;
        }
        may
    }

    /// Chips that threads may use.
    fn chips_of(&self, unit: &Unit) -> Vec<usize> {
        let lots = unit.lots.iter();
        let chips = lots.flat_map(|(lot, _)| self.lots[*lot].on.iter().map(|(chip, _)| *chip));
        let mut chips: Vec<usize> = chips.collect();
        chips.sort_unstable();
        chips.dedup();
        chips
    }

    /// Puts so many threads of a party as are beside each memory where most processors are without
    /// work there.
    fn seat(
        &self,
        tree: &Topology,
        (party, on): (&Party, &[usize]),
        unit: &mut Unit,
        rooms: &mut [Room],
    ) {
        let mut seats: BTreeMap<usize, f64> = unit.seats.iter().copied().collect();
        let usable = self.chips_of(unit);
        for (domain, count) in on.iter().enumerate() {
            let beside = |chip: &usize| tree.domain_of(ChipId::new(*chip)).index() == domain;
            for _ in 0..*count {
                let node = |chip: usize| {
                    let chips = tree.chips_of(tree.node_of(ChipId::new(chip)));
                    Room::all(&rooms[chips.numbers()]).sure()
                };
                let most = |a: &usize, b: &usize| {
                    let by_node = node(*a).total_cmp(&node(*b));
                    by_node
                        .then(rooms[*a].sure().total_cmp(&rooms[*b].sure()))
                        .then(b.cmp(a))
                };
                let there = usable.iter().copied().filter(beside);
                if let Some(chip) = there.max_by(most) {
                    rooms[chip].cpus -= party.each;
                    rooms[chip].variance += (party.each * (1.0 - party.each)).max(0.0);
                    *seats.entry(chip).or_default() += 1.0;
                }
            }
        }
        unit.seats = seats.into_iter().collect();
    }
}

/// Memory domain that a thread at this place of its partition's is drawn to: that with most of the
/// memory if all fit there, else dealt out by the memory. None where several have as much.
fn preferred(tree: &Topology, form: &Form, place: f64) -> Option<usize> {
    let shares = form.threads.drawn.as_ref()?;
    let most = (0..shares.len())
        .rev()
        .max_by(|a, b| shares[*a].total_cmp(&shares[*b]))?;
    let chips = tree.chips_beside(crate::ids::MemoryId::new(most)).len();
    let alike = |share: &&f64| (**share - shares[most]).abs() < 1e-9;
    if shares.iter().filter(alike).count() > 1 {
        return None; // As much of it is elsewhere.
    }
    if form.filled.vps() as usize <= chips * usize::from(tree.cores_per_chip) {
        return Some(most);
    }
    let mut sum = 0.0;
    let found = shares.iter().position(|share| {
        sum += share;
        sum >= place
    });
    found.or(Some(most))
}
