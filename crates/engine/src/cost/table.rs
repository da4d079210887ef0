//! The cost classes in use, worked out on first use in a window and kept until the next.

use super::books::Books;
use super::class::Class;
use super::fixed::Fixed;
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
    /// Class ids of each partition, and how many there are of a chip.
    rows: Vec<Row>,
    /// By partition and number of busy threads.
    fixed: Vec<Vec<Fixed>>,
    /// Of each class, what an event needs: the window in which it was worked out, its place among
    /// those ever used, and its time of an instruction.
    hot: Vec<(u32, u32, f64)>,
    used_ns: Vec<f64>,
    used: Vec<ClassId>,
    /// Those ever used: a large machine has many more that never are.
    classes: Vec<Kept>,
    epoch: u32,
}

/// A partition's part of the table; every change of threads asks for one.
struct Row {
    first: ClassId,
    width: u32,
}

/// A class that was used.
struct Kept {
    partition: u16,
    chip: u16,
    threads: u8,
    class: Class,
}

impl Table {
    /// An empty table for `partitions` on `machine`; `spreads` say where each partition's data lie.
    pub fn new(machine: &Machine, partitions: &[Partition], spreads: Vec<Spread>) -> Self {
        let tree = Topology::new(machine);
        let (mut rows, mut fixed, mut count) = (Vec::new(), Vec::new(), 0);
        for partition in partitions {
            let together = together(partition, &tree);
            let of = |threads: u8| Fixed::of(machine, partition, threads.max(1));
            fixed.push((0..=together).map(of).collect());
            let width = u32::from(together) + 1;
            rows.push(Row {
                first: count,
                width,
            });
            count += width * u32::from(tree.chips());
        }
        Self {
            rows,
            fixed,
            occupancy: Occupancy::new(&tree),
            contention: Contention::new(&machine.smt),
            machine: machine.clone(),
            tree,
            spreads,
            hot: vec![(0, 0, 0.0); count as usize],
            used_ns: vec![0.0; count as usize],
            used: Vec::new(),
            classes: Vec::new(),
            epoch: 1,
        }
    }

    /// Class of a core of `chip` on which `threads` threads of `partition` are busy; 0 stands for
    /// one busy thread beside a snoozing sibling that keeps its decode slots.
    #[inline]
    pub fn id(&self, partition: u16, chip: u16, threads: u8) -> ClassId {
        let row = &self.rows[usize::from(partition)];
        row.first + u32::from(chip) * row.width + u32::from(threads)
    }

    /// The class, worked out if this window has not used it yet.
    #[inline]
    pub fn class(&mut self, partitions: &[Partition], id: ClassId) -> &Class {
        self.instruction_ns(partitions, id);
        &self.classes[self.hot[id as usize].1 as usize].class
    }

    /// Time of an instruction of one thread in a class [ns].
    #[inline]
    pub fn instruction_ns(&mut self, partitions: &[Partition], id: ClassId) -> f64 {
        let (epoch, _, ns) = self.hot[id as usize];
        if epoch == self.epoch {
            return ns;
        }
        self.refresh(partitions, id)
    }

    #[inline(never)]
    fn refresh(&mut self, partitions: &[Partition], id: ClassId) -> f64 {
        let (epoch, mut at, _) = self.hot[id as usize];
        if epoch == 0 {
            at = self.classes.len() as u32;
            let first = self.kept(id);
            self.classes.push(first);
        }
        let Kept {
            partition,
            chip,
            threads,
            class,
        } = &mut self.classes[at as usize];
        let index = usize::from(*partition);
        let place = Place {
            machine: &self.machine,
            tree: &self.tree,
            contention: &self.contention,
            occupancy: &self.occupancy,
            partition: &partitions[index],
            spread: &self.spreads[index],
            chip: *chip,
            threads: (*threads).max(1),
            snoozing_sibling: *threads == 0,
        };
        class.set(&place, &self.fixed[index][usize::from(*threads)]);
        self.hot[id as usize] = (self.epoch, at, class.ns);
        class.ns
    }

    /// A class that has not been worked out.
    fn kept(&self, id: ClassId) -> Kept {
        let partition = self.rows.partition_point(|row| row.first <= id) - 1;
        let row = &self.rows[partition];
        Kept {
            partition: partition as u16,
            chip: ((id - row.first) / row.width) as u16,
            threads: ((id - row.first) % row.width) as u8,
            class: Class::default(),
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
        let index = usize::from(partition);
        let place = Place {
            machine: &self.machine,
            tree: &self.tree,
            contention: &self.contention,
            occupancy: &self.occupancy,
            partition: &partitions[index],
            spread: &self.spreads[index],
            chip,
            threads: 1,
            snoozing_sibling: false,
        };
        Surroundings::of(&place, &class)
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
            let Kept {
                partition,
                chip,
                threads,
                class,
            } = &self.classes[self.hot[id as usize].1 as usize];
            let (partition, chip) = (*partition, *chip);
            let ns = std::mem::take(&mut self.used_ns[id as usize]);
            let threads = f64::from((*threads).max(1));
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
