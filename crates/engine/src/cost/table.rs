//! The cost classes in use, worked out on first use in a window and kept until the next.

use super::books::Books;
use super::class::Class;
use super::lines::Lines;
use super::occupancy::Occupancy;
use super::place::Place;
use super::smt::Contention;
use super::spread::{Spread, NEWEST};
use super::surroundings::Surroundings;
use crate::machine::Topology;
use crate::spec::{Machine, Partition};

/// Index of a class in the [`Table`].
pub type ClassId = u32;

/// Cost classes of all partitions: one for each chip and number of busy threads, plus the one with
/// a snoozing sibling.
pub struct Table {
    /// For which the classes hold.
    pub machine: Machine,
    /// Where cores, chips and nodes are in it.
    pub tree: Topology,
    /// Shared resources.
    pub occupancy: Occupancy,
    /// Where each partition's memory lies and its cores ran.
    pub spreads: Vec<Spread>,
    contention: Contention,
    first: Vec<u32>,
    owner: Vec<(u16, u16, u8)>,
    classes: Vec<Class>,
    /// Window in which the class was worked out, and its time of an instruction: what an event
    /// needs.
    hot: Vec<(u32, f64)>,
    width: Vec<u32>,
    epoch: u32,
    used_ns: Vec<f64>,
    used: Vec<ClassId>,
}

impl Table {
    /// An empty table for `partitions` on `machine`; `spreads` say where each partition's data lie.
    pub fn new(machine: &Machine, partitions: &[Partition], spreads: Vec<Spread>) -> Self {
        let tree = Topology::new(machine);
        let (mut first, mut owner) = (Vec::new(), Vec::new());
        for (index, partition) in partitions.iter().enumerate() {
            first.push(owner.len() as u32);
            for chip in 0..tree.chips() {
                let threads = 0..=together(partition, &tree);
                owner.extend(threads.map(|threads| (index as u16, chip, threads)));
            }
        }
        let width = |partition| u32::from(together(partition, &tree)) + 1;
        Self {
            width: partitions.iter().map(width).collect(),
            occupancy: Occupancy::new(&tree),
            contention: Contention::new(&machine.smt),
            machine: machine.clone(),
            tree,
            spreads,
            first,
            classes: vec![Class::default(); owner.len()],
            hot: vec![(0, 0.0); owner.len()],
            used_ns: vec![0.0; owner.len()],
            owner,
            epoch: 1,
            used: Vec::new(),
        }
    }

    /// Class of a core of `chip` on which `threads` threads of `partition` are busy; 0 stands for
    /// one busy thread beside a snoozing sibling that keeps its decode slots.
    #[inline]
    pub fn id(&self, partition: u16, chip: u16, threads: u8) -> ClassId {
        let at = usize::from(partition);
        self.first[at] + u32::from(chip) * self.width[at] + u32::from(threads)
    }

    /// The class, worked out if this window has not used it yet.
    #[inline]
    pub fn class(&mut self, partitions: &[Partition], id: ClassId) -> &Class {
        self.instruction_ns(partitions, id);
        &self.classes[id as usize]
    }

    /// Time of an instruction of one thread in a class [ns].
    #[inline]
    pub fn instruction_ns(&mut self, partitions: &[Partition], id: ClassId) -> f64 {
        let (epoch, ns) = self.hot[id as usize];
        if epoch == self.epoch {
            return ns;
        }
        self.refresh(partitions, id)
    }

    #[inline(never)]
    fn refresh(&mut self, partitions: &[Partition], id: ClassId) -> f64 {
        let (partition, chip, threads) = self.owner[id as usize];
        let snoozing = threads == 0;
        let place = self.place(partitions, partition, chip, threads.max(1), snoozing);
        self.classes[id as usize] = Class::at(place);
        let ns = self.classes[id as usize].ns;
        self.hot[id as usize] = (self.epoch, ns);
        ns
    }

    fn place<'a>(
        &'a self,
        partitions: &'a [Partition],
        partition: u16,
        chip: u16,
        threads: u8,
        snoozing_sibling: bool,
    ) -> Place<'a> {
        let index = usize::from(partition);
        Place {
            machine: &self.machine,
            tree: &self.tree,
            contention: &self.contention,
            occupancy: &self.occupancy,
            partition: &partitions[index],
            spread: &self.spreads[index],
            chip,
            threads,
            snoozing_sibling,
        }
    }

    /// What surrounds a core of `chip` in this window.
    pub fn surroundings(
        &mut self,
        partitions: &[Partition],
        partition: u16,
        chip: u16,
    ) -> Surroundings {
        let id = self.id(partition, chip, 1);
        let class = *self.class(partitions, id);
        Surroundings::of(&self.place(partitions, partition, chip, 1, false), &class)
    }

    /// Adds core time of a partition that is no instruction of a class, and the lines that came
    /// from other nodes in it.
    #[inline]
    pub fn linger(&mut self, partition: u16, chip: u16, ns: f64, far_lines: f64) {
        self.spreads[usize::from(partition)].add(chip, ns);
        self.occupancy.hold(&self.tree, chip, ns, far_lines);
    }

    /// Adds core time spent in a class (reload apart); time of one hardware thread where these are
    /// counted one by one.
    #[inline]
    pub fn spend(&mut self, id: ClassId, ns: f64) {
        let used = &mut self.used_ns[id as usize];
        if *used == 0.0 {
            self.used.push(id);
        }
        *used += ns;
    }

    /// Books the time spent since the last call; `each` gets partition, books, lines and
    /// instructions of every class used.
    pub fn settle(&mut self, mut each: impl FnMut(u16, &Books, &Lines, f64)) {
        for id in self.used.drain(..) {
            let (partition, chip, threads) = self.owner[id as usize];
            let class = &self.classes[id as usize];
            let ns = std::mem::take(&mut self.used_ns[id as usize]);
            let threads = f64::from(threads.max(1));
            let mut books = Books::default();
            books.add_scaled(&class.books, ns / class.ns);
            let (instructions, ns) = if self.tree.siblings == 1 {
                (ns * threads / class.ns, ns)
            } else {
                (ns / class.ns, ns / threads)
            };
            let mut lines = Lines::default();
            lines.add_scaled(&class.lines, instructions);
            each(partition, &books, &lines, instructions);
            let spread = &mut self.spreads[usize::from(partition)];
            spread.add(chip, ns);
            self.occupancy
                .add(&self.tree, chip, ns, spread, class, instructions);
        }
    }

    /// Ends a window: occupancy is refreshed, all classes are stale. Call [`Table::settle`] first.
    pub fn close_window(&mut self, window_ns: f64) {
        debug_assert!(self.used.is_empty(), "settle before the window closes");
        self.occupancy
            .close_window(&self.machine, window_ns, NEWEST);
        for spread in &mut self.spreads {
            spread.close_window(&self.tree, window_ns);
        }
        self.epoch += 1;
    }
}

/// Most threads that run on a core together, one of the partition's among them.
fn together(partition: &Partition, tree: &Topology) -> u8 {
    partition.smt.max(tree.siblings as u8)
}
