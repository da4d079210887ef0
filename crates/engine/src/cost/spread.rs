//! Where a partition's data lie and where its virtual processors ran.

use super::crowd::Crowd;
use crate::ids::{ById, ChipId, MemoryId, NodeId, Span};
use crate::machine::{far_factor, Topology};
use crate::spec::Machine;

/// Share of the newest window in the running average. A cache of some megabytes takes a few windows
/// to change hands: assumed, between 0.1 and 1.
pub(super) const NEWEST: f64 = 0.25;

/// Busy threads, as a running average, below which they are gone for good: an average never gets to
/// nothing by itself. Some 70 windows after the last one left.
const GONE: f64 = 1e-9;

/// Where a partition's data lie and where its virtual processors ran.
#[derive(Clone, Debug)]
pub struct Spread {
    memory: Reads,
    cores: ById<ChipId, f64>,
    node_cores: ById<NodeId, f64>,
    busy_ns: ById<ChipId, f64>,
    /// What its threads do on each chip, running average, and in this window.
    work: ById<ChipId, Work>,
    done: ById<ChipId, Work>,
    /// Chips where it ever ran, as bits: the averages of all others are 0 and stay so.
    used: Vec<u64>,
    /// Nodes of these chips, in their order.
    used_nodes: Vec<NodeId>,
    /// How many run at once.
    crowd: Crowd,
}

/// What threads do on a chip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Work {
    /// How many are busy; in a window, their time [ns].
    threads: f64,
    /// Instructions of them all in a nanosecond; in a window, how many.
    instructions: f64,
}

/// Domains that a core of each chip reads from, with their shares of its lines from memory.
#[derive(Clone, Debug)]
struct Reads {
    all: Vec<(MemoryId, f64)>,
    /// Where those of each chip begin and end.
    of_chip: ById<ChipId, (u32, u32)>,
}

impl Reads {
    fn new(memory: &ById<ChipId, Vec<(MemoryId, f64)>>) -> Self {
        let (mut all, mut of_chip) = (Vec::<(MemoryId, f64)>::new(), ById::new());
        let mut own = (0, 0);
        for reads in memory {
            // Most often a chip reads as the one before it does.
            if all[own.0..own.1] != reads[..] {
                own = (all.len(), all.len() + reads.len());
                all.extend(reads);
            }
            of_chip.push((own.0 as u32, own.1 as u32));
        }
        Self { all, of_chip }
    }

    #[inline]
    fn of(&self, chip: ChipId) -> &[(MemoryId, f64)] {
        let (first, end) = self.of_chip[chip];
        &self.all[first as usize..end as usize]
    }
}

/// Who wrote a shared line last, as a core of one chip sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sharers {
    /// Chance that it was another core.
    pub elsewhere: f64,
    /// Shares of the other cores by their distance; they add up to 1 if there are any.
    pub by: [f64; 3],
    /// Factor on the far latency, the mean over the cores on other nodes.
    pub far_factor: f64,
}

impl Sharers {
    /// Share of the other cores that are on other chips.
    pub fn beyond_chip(&self) -> f64 {
        self.by[1] + self.by[2]
    }
}

impl Spread {
    /// A partition that has not run yet; `memory` has, for every chip, the domains that its cores
    /// read from and their shares, which add up to 1.
    pub fn new(tree: &Topology, memory: ById<ChipId, Vec<(MemoryId, f64)>>) -> Self {
        debug_assert_eq!(memory.len(), tree.chips().len());
        let chips = memory.len();
        Self {
            memory: Reads::new(&memory),
            cores: ById::of(0.0, chips),
            node_cores: ById::of(0.0, tree.nodes().len()),
            busy_ns: ById::of(0.0, chips),
            work: ById::of(Work::default(), chips),
            done: ById::of(Work::default(), chips),
            used: vec![0; chips.div_ceil(64)],
            used_nodes: Vec::new(),
            crowd: Crowd::default(),
        }
    }

    /// Becomes like another of the same machine, in the room that it has.
    pub fn follow(&mut self, other: &Self) {
        self.memory.all.clone_from(&other.memory.all);
        self.memory.of_chip.follow(&other.memory.of_chip);
        self.cores.follow(&other.cores);
        self.node_cores.follow(&other.node_cores);
        self.busy_ns.follow(&other.busy_ns);
        self.work.follow(&other.work);
        self.done.follow(&other.done);
        self.used.clone_from(&other.used);
        self.used_nodes.clone_from(&other.used_nodes);
        self.crowd = other.crowd;
    }

    /// Domains that a core of `chip` reads from, with their shares of its lines from memory.
    pub fn memory_of(&self, chip: ChipId) -> &[(MemoryId, f64)] {
        self.memory.of(chip)
    }

    /// Its data lie elsewhere from now on; `memory` as at the start.
    pub fn set_memory(&mut self, memory: ById<ChipId, Vec<(MemoryId, f64)>>) {
        debug_assert_eq!(memory.len(), self.cores.len());
        self.memory = Reads::new(&memory);
    }

    /// Cores that it kept busy on each chip, running average.
    pub fn cores(&self) -> &ById<ChipId, f64> {
        &self.cores
    }

    /// Cores that it kept busy in all, running average.
    pub fn busy_cores(&self) -> f64 {
        self.node_cores.iter().sum()
    }

    /// Cores whose threads one of its own meets at a lock.
    pub fn contending_cores(&self) -> f64 {
        self.busy_cores() * self.crowd.factor()
    }

    /// How many run at once, to be told of who comes and goes.
    #[inline]
    pub fn crowd(&mut self) -> &mut Crowd {
        &mut self.crowd
    }

    /// Sets the cores that it keeps busy on each chip.
    pub fn set_cores(&mut self, tree: &Topology, cores: &ById<ChipId, f64>) {
        let pairs = self.cores.iter_mut().zip(cores);
        pairs.for_each(|(own, cores)| *own = *cores);
        for (chip, _) in self.cores.entries().filter(|(_, cores)| **cores != 0.0) {
            self.used[chip.index() / 64] |= 1 << (chip.index() % 64);
        }
        self.each_used(tree, |_, _, _, _| {});
    }

    /// Sets what its threads do on a chip, in the proportion `weight` to what it was: how many are
    /// busy, and the time of an instruction of one of them [ns].
    pub fn set_work(&mut self, chip: ChipId, threads: f64, ns: f64, weight: f64) {
        self.used[chip.index() / 64] |= 1 << (chip.index() % 64);
        let work = &mut self.work[chip];
        work.threads += weight * (threads - work.threads);
        work.instructions += weight * (threads / ns - work.instructions);
    }

    /// Adds core time on a chip.
    #[inline]
    pub fn add(&mut self, chip: ChipId, busy_ns: f64) {
        self.busy_ns[chip] += busy_ns;
        self.used[chip.index() / 64] |= 1 << (chip.index() % 64);
    }

    /// Adds what threads did on a chip: their time and their instructions.
    #[inline]
    pub fn add_work(&mut self, chip: ChipId, thread_ns: f64, instructions: f64) {
        let done = &mut self.done[chip];
        done.threads += thread_ns;
        done.instructions += instructions;
    }

    /// Goes through the chips where its threads were busy lately: how many, and their instructions
    /// in a nanosecond, running averages.
    pub fn each_at_work(&self, mut each: impl FnMut(ChipId, f64, f64)) {
        for (word, bits) in self.used.iter().enumerate() {
            let mut left = *bits;
            while left != 0 {
                let chip = ChipId::new(word * 64 + left.trailing_zeros() as usize);
                left &= left - 1;
                let work = self.work[chip];
                if work.threads > GONE {
                    each(chip, work.threads, work.instructions);
                }
            }
        }
    }

    /// Busy threads on all chips, running average.
    pub fn busy_threads(&self) -> f64 {
        let mut all = 0.0;
        self.each_at_work(|_, threads, _| all += threads);
        all
    }

    /// Instructions of all its threads in a nanosecond, running average.
    pub fn per_ns(&self) -> f64 {
        let mut all = 0.0;
        self.each_at_work(|_, _, per_ns| all += per_ns);
        all
    }

    /// Busy threads on some chips and their instructions in a nanosecond, running averages.
    #[inline]
    pub fn work_on(&self, chips: Span<ChipId>) -> (f64, f64) {
        let all = self.work.slice(chips).iter();
        all.fold((0.0, 0.0), |sum, work| {
            (sum.0 + work.threads, sum.1 + work.instructions)
        })
    }

    /// Ends a window.
    pub fn close_window(&mut self, tree: &Topology, now: u64, window_ns: f64) {
        self.each_used(tree, |cores, busy, work, done| {
            *cores += NEWEST * (*busy / window_ns - *cores);
            work.threads += NEWEST * (done.threads / window_ns - work.threads);
            work.instructions += NEWEST * (done.instructions / window_ns - work.instructions);
            (*busy, *done) = (0.0, Work::default());
        });
        self.crowd.close(now, window_ns, NEWEST);
    }

    /// Goes through average and core time of the chips where it ever ran, and adds the averages up.
    fn each_used(
        &mut self,
        tree: &Topology,
        mut each: impl FnMut(&mut f64, &mut f64, &mut Work, &mut Work),
    ) {
        self.used_nodes.clear();
        for word in 0..self.used.len() {
            let mut left = self.used[word];
            while left != 0 {
                let chip = ChipId::new(word * 64 + left.trailing_zeros() as usize);
                left &= left - 1;
                let (cores, busy) = (&mut self.cores[chip], &mut self.busy_ns[chip]);
                each(cores, busy, &mut self.work[chip], &mut self.done[chip]);
                let node = tree.node_of(chip);
                if self.used_nodes.last() != Some(&node) {
                    self.used_nodes.push(node);
                }
            }
        }
        for node in &self.used_nodes {
            let cores = self.cores.slice(tree.chips_of(*node));
            self.node_cores[*node] = cores.iter().sum();
        }
    }

    /// Who wrote a shared line last, as seen from a core of `chip`.
    ///
    /// The partition's other cores are equally likely to have written it, so a partition that keeps
    /// `n` cores busy finds `(n - 1) / n` of its shared lines elsewhere.
    pub fn sharers(&self, machine: &Machine, tree: &Topology, chip: ChipId) -> Sharers {
        let node = tree.node_of(chip);
        let mut cores = [self.cores[chip], 0.0, 0.0];
        let near = tree.chips_of(node).into_iter();
        for other in near.filter(|other| *other != chip) {
            cores[1] += self.cores[other];
        }
        for other in self.used_nodes.iter().filter(|other| **other != node) {
            cores[2] += self.node_cores[*other];
        }
        let total: f64 = cores.iter().sum();
        let far_factor = self.far_factor(machine, node, cores[2]);
        cores[0] = (cores[0] - 1.0).max(0.0);
        let others: f64 = cores.iter().sum();
        if others <= 0.0 {
            return Sharers {
                far_factor,
                ..Sharers::default()
            };
        }
        Sharers {
            elsewhere: (others / total.max(1.0)).min(1.0),
            by: cores.map(|n| n / others),
            far_factor,
        }
    }

    /// Factor on the far latency of a line that one of `far` cores on other nodes has.
    fn far_factor(&self, machine: &Machine, node: NodeId, far: f64) -> f64 {
        if machine.node_distance.is_empty() || far <= 0.0 {
            return 1.0;
        }
        self.sum_beyond(node, |other| far_factor(machine, node, other)) / far
    }

    /// Mean of what is told of other nodes over the partition's cores there; none without any.
    pub fn mean_beyond(&self, node: NodeId, of: impl Fn(NodeId) -> f64) -> Option<f64> {
        let cores = self.sum_beyond(node, |_| 1.0);
        (cores > 0.0).then(|| self.sum_beyond(node, of) / cores)
    }

    fn sum_beyond(&self, node: NodeId, of: impl Fn(NodeId) -> f64) -> f64 {
        let others = self.used_nodes.iter().filter(|other| **other != node);
        others.fold(0.0, |sum, other| sum + self.node_cores[*other] * of(*other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse_short;

    #[test]
    fn one_core_alone_has_no_sharers() {
        let machine = parse_short("node:2 chip:1 core:4").unwrap();
        let tree = Topology::new(&machine);
        let mut spread = Spread::new(&tree, ById::of(vec![], 2));
        let first = ChipId::new(0);
        spread.set_cores(&tree, &vec![1.0, 0.0].into());
        assert_eq!(spread.sharers(&machine, &tree, first).elsewhere, 0.0);
        spread.set_cores(&tree, &vec![2.0, 2.0].into());
        let sharers = spread.sharers(&machine, &tree, first);
        assert_eq!(sharers.elsewhere, 0.75);
        assert!((sharers.by[0] - 1.0 / 3.0).abs() < 1e-12);
        assert!((sharers.by[2] - 2.0 / 3.0).abs() < 1e-12);
    }

    /// Averages over all chips, window by window, to the last bit.
    #[test]
    fn only_what_was_used_is_touched_and_all_is_as_if_all_were() {
        let machine = parse_short("node:9 chip:8 core:4").unwrap();
        let tree = Topology::new(&machine);
        let mut spread = Spread::new(&tree, ById::of(vec![], 72));
        let (mut cores, mut busy) = (vec![0.0_f64; 72], vec![0.0_f64; 72]);
        let mut stream = crate::kernel::Stream::new(1, 0, "spread");
        for window in 0..300 {
            for _ in 0..stream.below(5) {
                let chip = stream.below(4 + window / 4) as usize % 72;
                let ns = stream.exponential(1e6);
                spread.add(ChipId::new(chip), ns);
                busy[chip] += ns;
            }
            spread.close_window(&tree, (window + 1) * 10_000_000, 1e7);
            for (cores, busy) in cores.iter_mut().zip(&mut busy) {
                *cores += NEWEST * (*busy / 1e7 - *cores);
                *busy = 0.0;
            }
            let nodes: Vec<f64> = cores.chunks(8).map(|cores| cores.iter().sum()).collect();
            assert_eq!(spread.busy_cores(), nodes.iter().sum::<f64>());
            assert_eq!(spread.cores(), &ById::from(cores.clone()));
            assert_eq!(spread.node_cores, ById::from(nodes));
        }
    }

    #[test]
    fn reads_of_equal_chips_are_kept_once() {
        let domain = MemoryId::new;
        let (a, b) = (
            vec![(domain(0), 0.5), (domain(1), 0.5)],
            vec![(domain(1), 1.0)],
        );
        let memory = ById::from(vec![a.clone(), a.clone(), b, vec![], a]);
        let reads = Reads::new(&memory);
        assert!(memory.entries().all(|(chip, own)| reads.of(chip) == own));
        assert_eq!(reads.all.len(), 5);
    }

    #[test]
    fn far_sharers_are_as_far_as_their_nodes() {
        let mut machine = parse_short("node:3 chip:2 core:4").unwrap();
        machine.node_distance = vec![1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0];
        let tree = Topology::new(&machine);
        let mut spread = Spread::new(&tree, ById::of(vec![], 6));
        spread.set_cores(&tree, &vec![1.0, 1.0, 1.0, 0.0, 0.0, 3.0].into());
        // Of four far cores one is on node 1 at 1, three are on node 2 at 2: 7/4.
        let sharers = spread.sharers(&machine, &tree, ChipId::new(0));
        assert_eq!(sharers.far_factor, 1.75);
        assert_eq!(sharers.by, [0.0, 0.2, 0.8]);
    }
}
