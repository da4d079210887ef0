//! The cost classes in use, worked out on first use in a window and kept until the next.

use super::age::Working;
use super::beside::{Beside, Company};
use super::beyond::Beyond;
use super::books::Books;
use super::class::{Class, ClassId};
use super::fixed::{working, Fixed};
use super::lines::Lines;
use super::occupancy::{Occupancy, Spent};
use super::place::Place;
use super::refill::Refill;
use super::smt::{Contention, Others, Times};
use super::spread::{Spread, NEWEST};
use super::surroundings::Surroundings;
use crate::ids::ChipId;
use crate::machine::Topology;
use crate::spec::{Machine, Partition};

/// Cost classes of all partitions: one for each chip and number of busy threads, plus the one with
/// a snoozing sibling. Loads beside a partition's first one are numbered after all partitions, and
/// are here what partitions are: memory, lines and sharers of each are its own.
pub struct Table {
    /// For which the classes hold.
    pub machine: Machine,
    /// Where cores, chips and nodes are in it.
    pub tree: Topology,
    /// Shared resources.
    pub occupancy: Occupancy,
    /// Where each partition's memory lies and its cores ran.
    pub spreads: Vec<Spread>,
    /// Partitions with one of their further loads each.
    others: Vec<Partition>,
    contention: Contention,
    /// What each partition brings into shared caches.
    working: Vec<Working>,
    /// Class ids of each partition, and how many there are of a chip.
    rows: Vec<Row>,
    /// By partition and number of busy threads.
    fixed: Vec<Vec<Fixed>>,
    /// The first partition with the same profile, of each.
    kinds: Vec<u16>,
    has_kinds: bool,
    /// Classes beside other work.
    beside: Beside,
    hot: Vec<Hot>,
    used: Vec<ClassId>,
    /// Those ever used: a large machine has many more that never are.
    classes: Vec<Kept>,
    /// Of the same, what a dispatch needs.
    refills: Vec<Refill>,
    /// Which partitions have a part of their footprints in caches that cores share.
    reach: Vec<bool>,
    /// Of their classes, that part; nothing if none has any.
    beyonds: Vec<Beyond>,
    epoch: u32,
}

/// A partition's part of the table; every change of threads asks for one.
struct Row {
    first: ClassId,
    width: u32,
}

/// Of a class, what an event needs.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Hot {
    /// Time of an instruction, and its inverse.
    rate: Rate,
    /// Time spent in it in this window [ns].
    used_ns: f64,
    /// Window in which it was worked out.
    epoch: u32,
    /// Its place among those ever used.
    at: u32,
}

/// How fast one thread executes instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Time of an instruction [ns].
    pub ns: f64,
    /// Instructions in a nanosecond: kept, because a division costs more than all else in an event.
    pub per_ns: f64,
}

/// A class that was used: five cache lines.
#[repr(align(64))]
struct Kept {
    partition: u16,
    chip: ChipId,
    threads: u8,
    class: Class,
}

impl Table {
    /// An empty table for `partitions` on `machine`; `spreads` say where the data of each lie, and
    /// of each further load.
    pub fn new(machine: &Machine, partitions: &[Partition], spreads: Vec<Spread>) -> Self {
        let tree = Topology::new(machine);
        let (mut rows, mut fixed, mut count) = (Vec::new(), Vec::new(), 0);
        let mut reach = Vec::new();
        let others: Vec<_> = partitions.iter().flat_map(Partition::others).collect();
        for partition in partitions.iter().chain(&others) {
            let together = together(partition, &tree);
            let of = |threads: u8| Fixed::of(machine, partition, threads.max(1));
            fixed.push((0..=together).map(of).collect());
            reach.push(Beyond::reaches(machine, partition, together));
            let width = u32::from(together) + 1;
            rows.push(Row {
                first: count,
                width,
            });
            count += width * tree.chips().len() as u32;
        }
        let kinds = kinds(&partitions.iter().chain(&others).collect::<Vec<_>>(), &tree);
        Self {
            rows,
            fixed,
            has_kinds: kinds.iter().any(|kind| *kind > 0),
            kinds,
            beside: Beside::new(count),
            occupancy: Occupancy::new(machine, &tree),
            contention: Contention::new(machine),
            working: partitions
                .iter()
                .chain(&others)
                .map(|partition| working(machine, partition))
                .collect(),
            machine: machine.clone(),
            tree,
            spreads,
            others,
            hot: vec![Hot::unknown(); count as usize],
            used: Vec::new(),
            classes: Vec::new(),
            refills: Vec::new(),
            reach,
            beyonds: Vec::new(),
            epoch: 1,
        }
    }

    /// Class of a core of `chip` on which `threads` threads of `partition` are busy; 0 stands for
    /// one busy thread beside a snoozing sibling that keeps its decode slots.
    #[inline]
    pub fn id(&self, partition: u16, chip: ChipId, threads: u8) -> ClassId {
        let row = &self.rows[usize::from(partition)];
        row.first + chip.index() as u32 * row.width + u32::from(threads)
    }

    /// The class, worked out if this window has not used it yet.
    #[inline]
    pub fn class(&mut self, partitions: &[Partition], id: ClassId) -> &Class {
        self.rate(partitions, id);
        &self.classes[self.hot[id as usize].at as usize].class
    }

    /// What a virtual processor that comes to a core must refill in a class.
    #[inline]
    pub fn refill(&mut self, partitions: &[Partition], id: ClassId) -> &Refill {
        self.rate(partitions, id);
        &self.refills[self.hot[id as usize].at as usize]
    }

    /// Whether any partition has a part of its footprint in caches that cores share.
    pub fn reaches_beyond(&self) -> bool {
        self.reach.contains(&true)
    }

    /// What a virtual processor that comes to another chip must fetch again in a class.
    pub fn beyond(&mut self, partitions: &[Partition], id: ClassId) -> Beyond {
        self.rate(partitions, id);
        let at = self.hot[id as usize].at as usize;
        self.beyonds.get(at).copied().unwrap_or_default()
    }

    /// Speed of one thread in a class.
    #[inline]
    pub fn rate(&mut self, partitions: &[Partition], id: ClassId) -> Rate {
        let hot = &self.hot[id as usize];
        if hot.epoch == self.epoch {
            return hot.rate;
        }
        self.refresh(partitions, id)
    }

    /// What kind of work a partition's is to others of a core.
    #[inline]
    pub fn kind(&self, partition: u16) -> u16 {
        self.kinds[usize::from(partition)]
    }

    /// Whether there is work of more than one kind.
    #[inline]
    pub fn has_kinds(&self) -> bool {
        self.has_kinds
    }

    /// The class beside such others of the part of a core of what has `plain` beside its like.
    pub fn beside(&mut self, plain: ClassId, company: Company) -> ClassId {
        if company == Company::default() {
            return plain;
        }
        let (id, new) = self.beside.of(plain, company);
        if new {
            self.hot.push(Hot::unknown());
        }
        id
    }

    /// The class that a partition has where another one has that one, beside the same others.
    #[inline]
    pub fn instead(&mut self, id: ClassId, partition: u16) -> ClassId {
        let (plain, company) = self.beside.parts(id);
        let (_, chip, threads) = self.stand(plain);
        let plain = self.id(partition, chip, threads);
        self.beside(plain, company)
    }

    /// What the others are to a thread in a class beside other work; none where all are its like.
    fn others(&mut self, partitions: &[Partition], id: ClassId) -> Option<Vec<Times>> {
        let (plain, company) = self.beside.parts(id);
        let (own, chip, threads) = self.stand(plain);
        if company.is_like(self.kind(own)) {
            return None;
        }
        let mut each = Vec::with_capacity(company.kinds().len());
        for kind in company.kinds() {
            let class = *self.class(partitions, self.id(*kind, chip, threads));
            let fixed = &self.fixed[usize::from(*kind)][usize::from(threads)];
            each.push(class.times(&self.place(partitions, *kind, chip, threads), fixed));
        }
        Some(each)
    }

    #[inline(never)]
    fn refresh(&mut self, partitions: &[Partition], id: ClassId) -> Rate {
        let others = self.others(partitions, id);
        let Hot { epoch, mut at, .. } = self.hot[id as usize];
        if epoch == 0 {
            at = self.classes.len() as u32;
            let first = self.kept(id);
            self.classes.push(first);
            self.refills.push(Refill::default());
        }
        // Out of the table meanwhile: the place borrows the rest, and a class is long to copy.
        let mut classes = std::mem::take(&mut self.classes);
        let Kept {
            partition,
            chip,
            threads,
            class,
        } = &mut classes[at as usize];
        let fixed = &self.fixed[usize::from(*partition)][usize::from(*threads)];
        let place = self.place(partitions, *partition, *chip, *threads);
        let others = others.as_deref().map_or(Others::Alike, Others::Each);
        class.set_beside(&place, fixed, others);
        let refill = Refill::of(class, &place);
        let whose = usize::from(*partition);
        let beyond = if self.reach[whose] {
            Beyond::of(&place, fixed)
        } else {
            Beyond::default()
        };
        let rate = Rate {
            ns: class.ns,
            per_ns: 1.0 / class.ns,
        };
        self.classes = classes;
        self.refills[at as usize] = refill;
        if self.reach[whose] {
            self.beyonds.resize(self.classes.len(), Beyond::default());
            self.beyonds[at as usize] = beyond;
        }
        let hot = &mut self.hot[id as usize];
        (hot.epoch, hot.at, hot.rate) = (self.epoch, at, rate);
        rate
    }

    /// Where threads of a partition run, so many on a core of `chip` as [`Table::id`] says.
    fn place<'a>(
        &'a self,
        partitions: &'a [Partition],
        partition: u16,
        chip: ChipId,
        threads: u8,
    ) -> Place<'a> {
        let index = usize::from(partition);
        Place {
            machine: &self.machine,
            tree: &self.tree,
            contention: &self.contention,
            occupancy: &self.occupancy,
            partition: partitions
                .get(index)
                .unwrap_or_else(|| &self.others[index - partitions.len()]),
            spread: &self.spreads[index],
            chip,
            threads: threads.max(1),
            snoozing_sibling: threads == 0,
        }
    }

    /// A class that has not been worked out.
    fn kept(&self, id: ClassId) -> Kept {
        let (plain, _) = self.beside.parts(id);
        let (partition, chip, threads) = self.stand(plain);
        Kept {
            partition,
            chip,
            threads,
            class: Class::default(),
        }
    }

    /// Whose a class beside one's like is, where, and with how many threads.
    fn stand(&self, plain: ClassId) -> (u16, ChipId, u8) {
        let partition = self.rows.partition_point(|row| row.first <= plain) - 1;
        let row = &self.rows[partition];
        let place = plain - row.first;
        let chip = ChipId::new((place / row.width) as usize);
        (partition as u16, chip, (place % row.width) as u8)
    }

    /// What surrounds a core of `chip` in this window.
    pub fn surroundings(
        &mut self,
        partitions: &[Partition],
        partition: u16,
        chip: ChipId,
    ) -> Surroundings {
        let id = self.id(partition, chip, 1);
        let class = *self.class(partitions, id);
        Surroundings::of(&self.place(partitions, partition, chip, 1), &class)
    }

    /// Adds core time of a partition that is no instruction of a class, and the lines that came
    /// from other nodes in it.
    #[inline]
    pub fn linger(&mut self, partition: u16, chip: ChipId, ns: f64, far_lines: f64) {
        self.spreads[usize::from(partition)].add(chip, ns);
        self.occupancy.hold(&self.tree, chip, far_lines);
    }

    /// Adds core time spent in a class (reload apart); time of one hardware thread where these are
    /// counted one by one.
    #[inline]
    pub fn spend(&mut self, id: ClassId, ns: f64) {
        let used = &mut self.hot[id as usize].used_ns;
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
            } = &self.classes[self.hot[id as usize].at as usize];
            let (partition, chip) = (*partition, *chip);
            let ns = std::mem::take(&mut self.hot[id as usize].used_ns);
            let threads = f64::from((*threads).max(1));
            let mut books = Books::default();
            books.add_scaled(&class.books, ns / class.ns);
            let (thread_ns, ns) = if self.tree.siblings == 1 {
                (ns * threads, ns)
            } else {
                (ns, ns / threads)
            };
            let instructions = thread_ns / class.ns;
            let mut lines = Lines::default();
            lines.add_scaled(&class.lines, instructions);
            each(partition, &books, &lines, instructions);
            let spread = &mut self.spreads[usize::from(partition)];
            spread.add(chip, ns);
            spread.add_work(chip, thread_ns, instructions);
            let spent = Spent::of(class, usize::from(partition), chip, instructions);
            self.occupancy.add(&self.tree, spread, spent);
        }
    }

    /// Ends a window: occupancy is refreshed, all classes are stale. Call [`Table::settle`] first.
    pub fn close_window(&mut self, now: u64, window_ns: f64) {
        debug_assert!(self.used.is_empty(), "settle before the window closes");
        let (tree, spreads) = (&self.tree, &self.spreads);
        self.occupancy
            .close_window(tree, spreads, window_ns, NEWEST);
        for spread in &mut self.spreads {
            spread.close_window(&self.tree, now, window_ns);
        }
        self.occupancy
            .ages
            .update(&self.tree, &self.spreads, &self.working);
        let chips = self.tree.chips().into_iter();
        self.occupancy.clocks.update(chips, self.spreads.iter());
        self.epoch += 1;
    }
}

impl Hot {
    fn unknown() -> Self {
        Self {
            rate: Rate {
                ns: 0.0,
                per_ns: 0.0,
            },
            used_ns: 0.0,
            epoch: 0,
            at: 0,
        }
    }
}

/// Of each, the first one with the same profile of which as many threads run on a core together.
fn kinds(partitions: &[&Partition], tree: &Topology) -> Vec<u16> {
    let first = |one: &&Partition| {
        partitions.iter().position(|other| {
            other.profile == one.profile && together(other, tree) == together(one, tree)
        })
    };
    let kinds = partitions.iter().filter_map(first);
    kinds.map(|kind| kind as u16).collect()
}

/// Most threads that run on a core together, one of the partition's among them.
fn together(partition: &Partition, tree: &Topology) -> u8 {
    partition.smt.max(tree.siblings as u8)
}
