//! The cost of an instruction against a plain twin: the sum of the page "What an instruction
//! costs", written down term by term, without regard to speed.

use crate::common::pipeline::core_cycles;
use crate::common::random::walked::{virtualize, walks};
use crate::common::{dice, missing_profile, sound};
use homenode_engine::cost::{
    lock::wait_ns, Book, Class, Contention, Occupancy, Place, Spread, Toll,
};
use homenode_engine::guest::memory::place;
use homenode_engine::ids::{ById, ChipId, MemoryId, PortId};
use homenode_engine::machine::{far_factor, Distance, Topology};
use homenode_engine::spec::{
    ByDistance, CacheScope, Coherence, Machine, MemoryBeside, Partition, Processors, Virtualized,
    Walks, Workload,
};
use proptest::prelude::*;

/// Everything the sum depends on.
struct Plain<'a> {
    machine: &'a Machine,
    tree: &'a Topology,
    partition: &'a Partition,
    occupancy: &'a Occupancy,
    tolls: &'a ById<PortId, Toll>,
    /// Cores that the partition keeps busy, by chip.
    cores: &'a ById<ChipId, f64>,
    /// Its busy threads on the chip, and their instructions in a nanosecond.
    work: (f64, f64),
    /// Shares of its lines from memory, by domain.
    reads: &'a [(MemoryId, f64)],
    chip: ChipId,
    threads: u8,
}

impl Plain<'_> {
    /// Misses of so many bytes.
    fn misses(&self, bytes: f64) -> f64 {
        let profile = &self.partition.profile;
        let law = |held: f64| {
            profile.miss_m0 * (1.0 + held / profile.miss_c0_bytes).powf(-profile.miss_exponent)
        };
        if profile.working_set_bytes == 0.0 {
            return law(bytes);
        }
        // By halving an interval: after so many instructions that much is in.
        let (mut low, mut high) = (0.0, 1e18);
        for _ in 0..400 {
            let middle = 0.5 * (low + high);
            if self.brought(middle) < bytes {
                low = middle;
            } else {
                high = middle;
            }
        }
        law(self.brought_by_law(low)) + profile.working_set_touches * self.untouched(low)
    }

    /// Share of the working set that was not touched in so many instructions.
    fn untouched(&self, instructions: f64) -> f64 {
        let profile = &self.partition.profile;
        let lines = instructions * f64::from(self.machine.line_bytes);
        (-profile.working_set_touches * lines / profile.working_set_bytes).exp()
    }

    /// What a line waits at ports: as part of its latency, and whatever hides that.
    fn tolls(&self, ports: &[PortId]) -> (f64, f64) {
        let tolls = ports.iter().map(|port| self.tolls[*port]);
        tolls.fold((0.0, 0.0), |sum, toll| {
            (sum.0 + toll.delay_ns, sum.1 + toll.wait_ns)
        })
    }

    /// Ports of a line from another chip's cache.
    fn ports_from(&self, distance: Distance) -> Vec<PortId> {
        let fabric = &self.occupancy.fabric;
        let into_chip = fabric.into_chip(self.chip);
        match distance {
            Distance::Local => vec![],
            Distance::Near => vec![into_chip],
            Distance::Far => vec![into_chip, fabric.into_node(self.tree.node_of(self.chip))],
        }
    }

    /// Ports of a line from memory.
    fn ports_of(&self, domain: MemoryId) -> Vec<PortId> {
        let (fabric, tree) = (&self.occupancy.fabric, self.tree);
        let (node, home) = (tree.node_of(self.chip), tree.node_of_domain(domain));
        let beside_node = self.machine.memory_beside == MemoryBeside::Node;
        let mut ports = vec![fabric.memory(domain)];
        if beside_node || tree.domain_of(self.chip) != domain {
            ports.push(fabric.into_chip(self.chip));
        }
        if !beside_node && tree.domain_of(self.chip) != domain {
            ports.push(fabric.out_of_chip(ChipId::new(domain.index())));
        }
        if node != home {
            ports.extend([fabric.into_node(node), fabric.out_of_node(home)]);
        }
        ports
    }

    /// Chance that another core wrote a line last, and the mean latency to get it and wait for it.
    fn sharers(&self) -> (f64, (f64, f64)) {
        let (chance, from_there) = self.writers();
        match self.machine.coherence {
            Coherence::Owner | Coherence::Directory => (chance, from_there),
            Coherence::Home => (chance, self.mean_memory_ns()),
        }
    }

    /// Chance that another core wrote a line last, and the mean latency and wait from that core.
    fn writers(&self) -> (f64, (f64, f64)) {
        let ns = self.machine.cache_to_cache_ns;
        let (mut others, mut weighted, mut waited, mut total) = (0.0, 0.0, 0.0, 0.0);
        for (other, cores) in self.cores.entries() {
            let (from, to) = (self.tree.node_of(self.chip), self.tree.node_of(other));
            let distance = self.tree.distance(self.chip, other);
            let (delay, wait) = self.tolls(&self.ports_from(distance));
            let (cores_there, latency) = match distance {
                Distance::Local => ((cores - 1.0).max(0.0), ns.local),
                Distance::Near => (*cores, self.by_way_of_home(ns.near)),
                Distance::Far => {
                    let direct = ns.far * far_factor(self.machine, from, to);
                    (*cores, self.by_way_of_home(direct))
                }
            };
            total += cores;
            others += cores_there;
            weighted += cores_there * (latency + delay);
            waited += cores_there * wait;
        }
        if others > 0.0 {
            let chance = (others / total.max(1.0)).min(1.0);
            (chance, (weighted / others, waited / others))
        } else {
            (0.0, (0.0, 0.0))
        }
    }

    /// Latency of a line that takes so long directly; a directory may lie further away [ns].
    fn by_way_of_home(&self, direct: f64) -> f64 {
        if self.machine.coherence != Coherence::Directory {
            return direct;
        }
        let (ns, own) = (self.machine.cache_to_cache_ns, self.tree.node_of(self.chip));
        let reads = self.reads.iter().map(|(domain, share)| {
            let home = self.tree.node_of_domain(*domain);
            let far = ns.far * far_factor(self.machine, own, home);
            let asked = if home == own { ns.near } else { far };
            share * direct.max(asked)
        });
        reads.sum()
    }

    /// Bytes that a thread alone has brought in after so many instructions.
    fn brought(&self, instructions: f64) -> f64 {
        let set = self.partition.profile.working_set_bytes;
        let touched = if set > 0.0 {
            1.0 - self.untouched(instructions)
        } else {
            0.0
        };
        self.brought_by_law(instructions) + set * touched
    }

    fn brought_by_law(&self, instructions: f64) -> f64 {
        let profile = &self.partition.profile;
        let (c0, power) = (profile.miss_c0_bytes, 1.0 + profile.miss_exponent);
        let lines = instructions * f64::from(self.machine.line_bytes);
        c0 * ((1.0 + power * profile.miss_m0 * lines / c0).powf(1.0 / power) - 1.0)
    }

    /// What each of so many threads finds in a cache of theirs, by halving an interval.
    fn divided(&self, bytes: f64, threads: f64) -> (f64, f64) {
        let common = self.partition.profile.footprint_common;
        let found = |done: f64| (self.brought(done / threads), self.brought(done));
        let (mut low, mut high) = (0.0, 1e15);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            let (own, all) = found(middle);
            if (1.0 - common) * threads * own + common * all < bytes {
                low = middle;
            } else {
                high = middle;
            }
        }
        found(high)
    }

    /// Bytes that a thread finds in a cache: of its own, and of what its partition has in common.
    fn finds(&self, level: usize) -> (f64, f64) {
        let cache = &self.machine.caches[level];
        let bytes = cache.bytes as f64;
        if cache.scope <= CacheScope::Core {
            let own = bytes / f64::from(self.threads);
            return (own, own);
        }
        let age = self.occupancy.ages.of(level, self.tree, self.chip);
        let (threads, all) = self.work;
        let each = if threads > 0.0 {
            all / threads
        } else {
            1.0 / self.idle(self.threads)
        };
        let found = |per_ns: f64| match per_ns * age {
            work if work.is_finite() => self.brought(work).min(bytes),
            _ => bytes,
        };
        (found(each), found(all.max(each)))
    }

    fn memory_ns(&self, domain: MemoryId) -> (f64, f64) {
        let ByDistance { local, near, far } = self.machine.memory_ns;
        let (delay, wait) = self.tolls(&self.ports_of(domain));
        let home = self.tree.node_of_domain(domain);
        let node = self.tree.node_of(self.chip);
        let idle = match self.tree.memory_distance(self.chip, domain) {
            Distance::Local => local,
            Distance::Near => near,
            Distance::Far => far * far_factor(self.machine, node, home),
        };
        (idle + delay, wait)
    }

    fn mean_memory_ns(&self) -> (f64, f64) {
        let reads = self
            .reads
            .iter()
            .map(|(d, share)| (share, self.memory_ns(*d)));
        reads.fold((0.0, 0.0), |sum, (share, ns)| {
            (sum.0 + share * ns.0, sum.1 + share * ns.1)
        })
    }

    /// Time of an instruction [ns].
    fn ns(&self) -> f64 {
        let (machine, profile) = (self.machine, &self.partition.profile);
        let (elsewhere, sharer_ns) = self.sharers();
        let sharing = profile.sharing * elsewhere;
        let core = core_cycles(machine, profile) / (machine.clock_hz * 1e-9);
        let mut stall = sharing * self.misses(2_097_152.0) * sharer_ns.0;
        let mut waits = sharing * self.misses(2_097_152.0) * sharer_ns.1;
        let (mut inside, mut before) = (0.0_f64, f64::NAN);
        for (level, cache) in machine.caches.iter().enumerate() {
            let (own, all) = self.finds(level);
            let with = |bytes: f64| match cache.victim {
                true => inside + bytes,
                false => inside.max(bytes),
            };
            let (own, all) = (with(own), with(all));
            inside = own;
            let common = match cache.scope {
                CacheScope::Part | CacheScope::Core => 0.0,
                CacheScope::Chip | CacheScope::Node => profile.footprint_common,
            };
            let misses = (1.0 - common) * self.misses(own) + common * self.misses(all);
            let misses = (1.0 - sharing) * misses;
            if level > 0 {
                let (delay, wait) = match cache.scope {
                    CacheScope::Node => self.tolls(&self.ports_from(Distance::Near)),
                    _ => (0.0, 0.0),
                };
                stall += (before - misses) * (cache.latency_ns + delay);
                waits += (before - misses) * wait;
            }
            before = misses;
        }
        let (memory_ns, wait) = self.mean_memory_ns();
        stall += before * memory_ns;
        waits += before * wait;
        if let Some(translation) = machine.translation {
            let reach = f64::from(translation.entries) * self.partition.page_bytes as f64;
            let held = (reach / self.partition.data_bytes as f64).min(1.0);
            let asked = match machine.coherence {
                Coherence::Owner | Coherence::Directory => before,
                Coherence::Home => before + sharing * self.misses(2_097_152.0),
            };
            stall += asked * (1.0 - held) * translation.walk_ns;
        }
        if let Some((walks, by)) = machine.walks.as_ref().zip(self.virtualized()) {
            let asked = match machine.coherence {
                Coherence::Owner | Coherence::Directory => before,
                Coherence::Home => before + sharing * self.misses(2_097_152.0),
            };
            stall += asked * self.nested(walks, by);
        }
        let alone = core + stall * (1.0 - profile.overlap) + waits;
        let shared = self.with_siblings(alone, core * profile.issue_share);
        let stored = self.with_stores(shared);
        let free = stored + self.lock(stored, elsewhere * (sharer_ns.0 + sharer_ns.1));
        let guest = free / (1.0 - self.partition.guest.tick_share());
        self.with_exits(guest)
    }

    fn with_exits(&self, guest: f64) -> f64 {
        let profile = &self.partition.profile;
        let share = self.partition.hypervisor_share;
        let Some(by) = self.virtualized() else {
            return guest / (1.0 - share);
        };
        let exit = by.exit_ns as f64;
        let told =
            share + exit * f64::from(by.timer_exits) / self.partition.guest.unix().tick_ns as f64;
        let bursts = match &self.partition.workload {
            Workload::Transactions { bursts, .. } | Workload::Users { bursts, .. } => *bursts,
            _ => 0.0,
        };
        let kicks = if by.posted_interrupts { 1.0 } else { 3.0 };
        let io = kicks * exit * bursts / profile.instructions_per_unit;
        (guest + io) / (1.0 - told)
    }

    fn virtualized(&self) -> Option<&Virtualized> {
        match &self.partition.processors {
            Processors::Shared { host, .. } => host.virtualized.as_deref(),
            Processors::Dedicated { .. } => None,
        }
    }

    /// Reference by reference, by the number of levels that each dimension has.
    fn nested(&self, walks: &Walks, by: &Virtualized) -> f64 {
        let data = self.partition.data_bytes as f64;
        let levels = |page: u64| match page {
            0x4000_0000.. => 2_u32,
            0x20_0000.. => 3,
            _ => 4,
        };
        let size = |levels: u32| f64::from(512_u32.pow(4 - levels)) * 4096.0;
        let mut own = self
            .machine
            .caches
            .iter()
            .filter(|c| c.scope <= CacheScope::Core);
        let near = own
            .next_back()
            .map_or(self.machine.memory_ns.local, |c| c.latency_ns);
        let last = |levels: u32| {
            let table = 8.0 * data / size(levels);
            let (mut ns, mut found) = (0.0, 0.0_f64);
            for cache in &self.machine.caches[1..] {
                let holds = (walks.cache_share * cache.bytes as f64 / table).min(1.0);
                if holds > found {
                    ns += (holds - found) * cache.latency_ns;
                    found = holds;
                }
            }
            ns + (1.0 - found) * self.machine.memory_ns.local
        };
        let walk = |levels: u32| (1..levels).fold(last(levels), |ns, _| ns + walks.upper * near);
        let held = |levels: u32| {
            let entries = if levels == 2 {
                walks.large_entries
            } else {
                walks.entries
            };
            (f64::from(entries) * size(levels) / data).min(1.0)
        };
        let (guest, host) = (levels(self.partition.page_bytes), levels(by.page_bytes));
        let inner = (1..host).fold(near, |ns, _| ns + walks.upper * near) * walks.guest_tables;
        let tables = (1..guest).fold(inner, |ns, _| ns + walks.upper * inner);
        let twice = (1.0 - held(guest.max(host))) * (walk(guest) + tables + walk(host));
        (twice - (1.0 - held(4)) * walk(4)).max(0.0)
    }

    /// Threads in turn at the core's pipelines, none of which it needs for longer than an
    /// instruction takes with the core to itself.
    fn with_siblings(&self, alone: f64, issue: f64) -> f64 {
        if self.threads == 1 {
            return alone;
        }
        let lone = alone * self.idle(1) / self.idle(self.threads);
        let demand = issue * falling(&self.factors())[usize::from(self.threads) - 2];
        in_turn(self.threads, alone, demand.min(lone).min(alone))
    }

    /// Demand in proportion to issue time that gives the reference work its gain, of two threads
    /// on.
    fn factors(&self) -> Vec<f64> {
        let smt = &self.machine.smt;
        let one = |(at, gain): (usize, &f64)| {
            let threads = at as u8 + 1;
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if in_turn(threads, 1.0, middle) < f64::from(threads) / gain {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            high / smt.reference.issue_share
        };
        smt.gain.iter().enumerate().skip(1).map(one).collect()
    }

    /// Time of an instruction while so many threads are busy on one core of an idle machine.
    fn idle(&self, threads: u8) -> f64 {
        let (machine, profile) = (self.machine, &self.partition.profile);
        let mut time = core_cycles(machine, profile) / (machine.clock_hz * 1e-9);
        let (mut inside, mut before) = (0.0_f64, f64::NAN);
        for (level, cache) in machine.caches.iter().enumerate() {
            let (own, all, common) = if cache.scope <= CacheScope::Core {
                let own = cache.bytes as f64 / f64::from(threads);
                (own, own, 0.0)
            } else {
                let (own, all) = self.divided(cache.bytes as f64, f64::from(threads));
                (own, all, profile.footprint_common)
            };
            let with = |bytes: f64| match cache.victim {
                true => inside + bytes,
                false => inside.max(bytes),
            };
            let misses = (1.0 - common) * self.misses(with(own)) + common * self.misses(with(all));
            inside = with(own);
            if level > 0 {
                time += (before - misses) * cache.latency_ns * (1.0 - profile.overlap);
            }
            before = misses;
        }
        time + before * machine.memory_ns.local * (1.0 - profile.overlap)
    }

    /// The time of an instruction in which its stores wait as long as the busy way makes them: the
    /// distance between the two falls with the time, and is halved until nothing is left of it.
    fn with_stores(&self, instruction: f64) -> f64 {
        let (Some(path), profile) = (self.machine.stores, &self.partition.profile) else {
            return instruction;
        };
        let entry = path
            .gather_bytes
            .map(|most| (8.0 * profile.store_run).min(most));
        let cycle = 1e9 / self.machine.clock_hz;
        let occupied = match entry {
            Some(bytes) => 8.0 * (path.interval_ns + bytes / path.width_bytes * cycle) / bytes,
            None => path.interval_ns,
        };
        let stores = profile.store_share * occupied;
        let busy = stores * f64::from(self.threads);
        let queued = |t: f64| instruction + 0.5 * stores * (busy / t) / (1.0 - busy / t);
        let (mut low, mut high) = (instruction.max(busy), instruction + 2.0 * (stores + busy));
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            let bound = if queued(middle) > middle {
                &mut low
            } else {
                &mut high
            };
            *bound = middle;
        }
        high
    }

    fn lock(&self, instruction: f64, transfer: f64) -> f64 {
        let profile = &self.partition.profile;
        if profile.lock_share == 0.0 {
            return 0.0;
        }
        let held = profile.lock_hold_instructions * instruction;
        let outside = held / profile.lock_share - held;
        let threads = self.cores.iter().sum::<f64>() * f64::from(self.threads);
        let wait = wait_ns(profile.lock_kind, threads, outside, held, transfer);
        (wait + transfer) * profile.lock_share / profile.lock_hold_instructions
    }
}

/// The nearest numbers that don't grow: of each, the least of the greatest means around it.
fn falling(numbers: &[f64]) -> Vec<f64> {
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let from = |at: usize, first: usize| {
        let means = (at..numbers.len()).map(|last| mean(&numbers[first..=last]));
        means.fold(f64::NEG_INFINITY, f64::max)
    };
    let at = |at: usize| {
        (0..=at)
            .map(|first| from(at, first))
            .fold(f64::INFINITY, f64::min)
    };
    (0..numbers.len()).map(at).collect()
}

/// Time of an instruction of several threads in turn, by the exact mean values of the queue.
fn in_turn(threads: u8, alone: f64, demand: f64) -> f64 {
    let mut queue = 0.0;
    let mut time = alone;
    for thread in 1..=threads {
        let there = demand * (1.0 + queue);
        time = alone - demand + there;
        queue = f64::from(thread) / time * there;
    }
    time
}

/// So many numbers from 0 to `most`, from dice in turn.
fn numbers(dice: &[u16], count: usize, most: f64) -> Vec<f64> {
    let number = |at: usize| f64::from(dice[at % dice.len()]) / f64::from(u16::MAX) * most;
    (0..count).map(number).collect()
}

/// Waits at all ports, set there.
fn tolls(occupancy: &mut Occupancy, loads: &[u16]) -> ById<PortId, Toll> {
    let ports = occupancy.fabric.ports();
    let delays = numbers(&loads[7..], ports.len(), 300.0);
    let waits = numbers(&loads[5..], ports.len(), 50.0);
    let pairs = delays.into_iter().zip(waits);
    let tolls: ById<PortId, Toll> = pairs
        .map(|(delay_ns, wait_ns)| Toll { delay_ns, wait_ns })
        .collect();
    for port in ports.into_iter() {
        occupancy.fabric.set_toll(port, tolls[port]);
    }
    tolls
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_engine_adds_up_what_the_page_says(
        dice in dice(),
        loads in prop::collection::vec(any::<u16>(), 24),
        exponent in prop::sample::select(vec![0.5, 0.3, 0.62]),
        chip_cache in any::<bool>(),
    ) {
        let mut spec = sound(&dice);
        if chip_cache {
            spec.machine.caches[2].victim = true;
            spec.machine.caches[3].scope = CacheScope::Node;
        }
        spec.machine.walks = walks(&loads[7..]);
        let (machine, tree) = (&spec.machine, Topology::new(&spec.machine));
        let chips = tree.chips().len();
        let mut occupancy = Occupancy::new(machine, &tree);
        for (level, load) in loads.iter().take(machine.caches.len()).enumerate() {
            let forever = load % 7 == 0;
            let age = if forever { f64::INFINITY } else { 10.0 * f64::from(*load) };
            occupancy.ages.set(level, age);
        }
        let tolls = tolls(&mut occupancy, &loads);
        let cores = ById::from(numbers(&loads[3..], chips, 5.0));
        for partition in &mut spec.partitions {
            let profile = missing_profile(partition.profile.instructions_per_unit);
            partition.profile.sharing = profile.sharing;
            partition.profile.miss_m0 = profile.miss_m0;
            partition.profile.miss_exponent = exponent;
            if loads[5] % 3 == 0 {
                partition.profile.working_set_bytes = 1e4 + 1e3 * f64::from(loads[6]);
                partition.profile.working_set_touches = 0.02;
            }
            virtualize(partition, loads[11], loads[12]);
            let placed = place(machine, &tree, partition);
            let mut spread = Spread::new(&tree, placed.clone());
            spread.set_cores(&tree, &cores);
            let work = (f64::from(loads[9] % 5), 0.1 + f64::from(loads[10] % 50) / 10.0);
            let chip = ChipId::new(usize::from(loads[0]) % chips);
            spread.set_work(chip, work.0, work.1, 1.0);
            for threads in 1..=partition.smt {
                let class = Class::at(Place {
                    machine,
                    tree: &tree,
                    contention: &Contention::new(machine),
                    occupancy: &occupancy,
                    partition,
                    spread: &spread,
                    chip,
                    threads,
                    snoozing_sibling: false,
                });
                let plain = Plain {
                    machine,
                    tree: &tree,
                    partition,
                    occupancy: &occupancy,
                    tolls: &tolls,
                    cores: &cores,
                    work: (work.0, work.0 / work.1),
                    reads: &placed[chip],
                    chip,
                    threads,
                };
                let twin = plain.ns();
                prop_assert!((class.ns / twin - 1.0).abs() < 1e-12, "{} {twin}", class.ns);
                prop_assert!((class.books.total() / class.ns - 1.0).abs() < 1e-12);
                let free = class.books.of(Book::Spin) <= 0.0;
                prop_assert!(free || partition.profile.lock_share > 0.0);
            }
        }
    }
}
