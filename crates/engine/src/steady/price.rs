//! The price of a layout: what an instruction of each partition costs while given cores are busy.
//!
//! Loads stretch latencies, and latencies slow the cores that make the load down. The simulation
//! finds the balance of the two window by window; here it is iterated to the fixed point, without
//! arrivals, guests or a dispatcher. Every busy core has all the threads busy that its partition
//! uses.

use crate::check::SpecFault;
use crate::cost::{
    working, Books, Class, Contention, Lines, Occupancy, Place, Spent, Spread, Working,
};
use crate::guest::memory;
use crate::ids::{ById, ChipId};
use crate::machine::Topology;
use crate::sim;
use crate::spec::{Machine, Partition, Spec};

/// Relative change of an instruction's time from which on it counts as settled.
const SETTLED: f64 = 1e-13;
/// Least part of a step that is gone, however often the steps before went too far.
const LEAST_WEIGHT: f64 = 0.02;
/// Steps of the caches' ages in each iteration: with one they would follow too far behind.
const AGE_STEPS: usize = 4;
/// The same where a port is just full, and waits go on by a little for ever.
const GOOD_ENOUGH: f64 = 1e-6;
/// Iterations before the price is given up.
const MOST_STEPS: usize = 10_000;

/// Why there is no price.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PriceFault {
    /// The spec is unsound.
    #[error("{0}")]
    Spec(#[from] SpecFault),
    /// Busy cores that are no matrix of partitions by chips.
    #[error("busy cores: {got} {what} are given, {want} are there; give one number for each")]
    Shape {
        /// Rows or numbers of which row.
        what: String,
        /// How many were given.
        got: usize,
        /// How many there must be.
        want: usize,
    },
    /// A number of cores that can't be busy.
    #[error("busy cores: {owner} keeps {cores} cores of chip {chip} busy, it must be 0 to {most}")]
    Cores {
        /// Partition, or all of them.
        owner: String,
        /// Index over the whole machine.
        chip: usize,
        /// Busy ones that were asked for.
        cores: f64,
        /// Cores of a chip.
        most: u16,
    },
    /// Loads and latencies that do not come to a balance.
    #[error("loads and latencies come to no balance; check bandwidths and busy cores")]
    Unsettled,
}

/// Cost of an instruction of one thread, mean over a partition's instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Time [ns].
    pub ns: f64,
    /// Time in cycles of the core clock.
    pub cpi: f64,
    /// Time by cause [ns].
    pub books: Books,
    /// Lines brought into the first cache level, by source.
    pub lines: Lines,
}

/// Cost of an instruction on one chip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChipPrice {
    /// The chip, counted over the whole machine.
    pub chip: ChipId,
    /// Busy cores there.
    pub cores: f64,
    /// Time of an instruction [ns].
    pub ns: f64,
    /// Time by cause [ns].
    pub books: Books,
}

/// What refilling a core's caches costs a thread, mean over the chips by busy cores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Refill {
    /// Lines that the core's private caches hold for one thread.
    pub private_lines: f64,
    /// Lines refilled by one instruction.
    pub lines: f64,
    /// Extra time of such an instruction, by where the lines lie: on the chip, on the node, on
    /// another node [ns].
    pub ns: [f64; 3],
}

/// What an instruction costs, over all chips and on each.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionPrice {
    /// As the spec has it.
    pub name: String,
    /// Cost of its instructions; none if it keeps no core busy.
    pub cost: Option<Cost>,
    /// Cost of coming to a core with cold caches; 0 if it keeps no core busy.
    pub refill: Refill,
    /// The chips on which it keeps cores busy.
    pub by_chip: Vec<ChipPrice>,
}

/// Prices a layout; `busy[partition][chip]` are the cores that a partition keeps busy on a chip.
///
/// # Errors
/// An unsound spec, numbers of cores that do not fit the machine, or loads without a balance.
pub fn price(spec: &Spec, busy: &[Vec<f64>]) -> Result<Vec<PartitionPrice>, PriceFault> {
    sim::check(spec)?;
    let mut layout = Layout::new(spec);
    layout.check(busy)?;
    layout.occupy(busy);
    layout.settle()?;
    Ok((0..spec.partitions.len())
        .map(|index| layout.price_of(index))
        .collect())
}

/// Cores that one partition keeps busy on one chip, and what an instruction costs them.
struct Group {
    partition: usize,
    chip: ChipId,
    cores: f64,
    class: Class,
}

struct Layout<'a> {
    machine: &'a Machine,
    partitions: &'a [Partition],
    tree: Topology,
    contention: Contention,
    occupancy: Occupancy,
    spreads: Vec<Spread>,
    working: Vec<Working>,
    groups: Vec<Group>,
}

impl<'a> Layout<'a> {
    fn new(spec: &'a Spec) -> Self {
        let (machine, tree) = (&spec.machine, Topology::new(&spec.machine));
        let spread = |p: &Partition| Spread::new(&tree, memory::place(machine, &tree, p));
        Self {
            machine,
            partitions: &spec.partitions,
            contention: Contention::new(machine),
            occupancy: Occupancy::new(machine, &tree),
            spreads: spec.partitions.iter().map(spread).collect(),
            working: spec
                .partitions
                .iter()
                .map(|p| working(machine, p))
                .collect(),
            groups: Vec::new(),
            tree,
        }
    }

    fn check(&self, busy: &[Vec<f64>]) -> Result<(), PriceFault> {
        let shape = |what: String, got, want| {
            let fault = PriceFault::Shape { what, got, want };
            (got != want).then_some(fault).map_or(Ok(()), Err)
        };
        shape("partitions".into(), busy.len(), self.partitions.len())?;
        let chips = self.tree.chips().len();
        for (partition, row) in self.partitions.iter().zip(busy) {
            let owner = format!("partition {}", partition.name);
            shape(format!("chips of {owner}"), row.len(), chips)?;
            for (chip, cores) in row.iter().enumerate() {
                self.check_cores(&owner, chip, *cores)?;
            }
        }
        (0..chips).try_for_each(|chip| {
            let all = busy.iter().map(|row| row[chip]).sum();
            self.check_cores("all partitions together", chip, all)
        })
    }

    fn check_cores(&self, owner: &str, chip: usize, cores: f64) -> Result<(), PriceFault> {
        let most = self.tree.cores_per_chip / self.tree.siblings;
        if cores >= 0.0 && cores <= f64::from(most) + 1e-9 {
            return Ok(());
        }
        Err(PriceFault::Cores {
            owner: owner.into(),
            chip,
            cores,
            most,
        })
    }

    /// Puts the partitions on their cores, with nothing loaded yet.
    fn occupy(&mut self, busy: &[Vec<f64>]) {
        for (partition, row) in busy.iter().enumerate() {
            let row = ById::from(row.clone());
            for (chip, cores) in row.entries().filter(|(_, cores)| **cores > 0.0) {
                self.groups.push(Group {
                    partition,
                    chip,
                    cores: *cores,
                    class: Class::default(),
                });
            }
            self.spreads[partition].set_cores(&self.tree, &row);
        }
    }

    /// Iterates to the fixed point. A step goes half of the way, and less where it overshoots; the
    /// first goes all of it: what is half there uses caches like half as many threads, and could
    /// be taken for settled.
    fn settle(&mut self) -> Result<(), PriceFault> {
        self.step(1.0);
        let (mut weight, mut last) = (0.5_f64, f64::INFINITY);
        for _ in 0..MOST_STEPS {
            let change = self.step(weight);
            if change <= SETTLED {
                return Ok(());
            }
            if change > last {
                weight = (weight / 2.0).max(LEAST_WEIGHT);
            }
            last = change;
        }
        if last <= GOOD_ENOUGH {
            return Ok(());
        }
        Err(PriceFault::Unsettled)
    }

    /// One nanosecond of all cores, after which loads are averaged in with `weight`; the largest
    /// relative change of an instruction's time.
    fn step(&mut self, weight: f64) -> f64 {
        let mut change = 0.0_f64;
        for group in &mut self.groups {
            let partition = &self.partitions[group.partition];
            let spread = &self.spreads[group.partition];
            let class = Class::at(Place {
                machine: self.machine,
                tree: &self.tree,
                contention: &self.contention,
                occupancy: &self.occupancy,
                partition,
                spread,
                chip: group.chip,
                threads: partition.smt,
                snoozing_sibling: false,
            });
            change = change.max((class.ns - group.class.ns).abs() / class.ns);
            group.class = class;
        }
        for group in &self.groups {
            let threads = f64::from(self.partitions[group.partition].smt);
            let instructions = group.cores * threads / group.class.ns;
            let index = group.partition;
            let spent = Spent::of(&group.class, index, group.chip, instructions);
            let spread = &mut self.spreads[index];
            spread.set_work(group.chip, group.cores * threads, group.class.ns, weight);
            self.occupancy.add(&self.tree, spread, spent);
        }
        self.occupancy
            .close_window(&self.tree, &self.spreads, 1.0, weight);
        self.occupancy.fabric.forgive();
        for _ in 0..AGE_STEPS {
            let ages = &mut self.occupancy.ages;
            ages.update(&self.tree, &self.spreads, &self.working);
        }
        let chips = self.tree.chips().into_iter();
        self.occupancy.clocks.update(chips, self.spreads.iter());
        change
    }

    fn price_of(&self, partition: usize) -> PartitionPrice {
        let own = || self.groups.iter().filter(|g| g.partition == partition);
        let instructions: f64 = own().map(|g| g.cores / g.class.ns).sum();
        let mut books = Books::default();
        let mut lines = Lines::default();
        for group in own() {
            let share = group.cores / group.class.ns / instructions;
            books.add_scaled(&group.class.books, share);
            lines.add_scaled(&group.class.lines, share);
        }
        let ns = books.total();
        let cost = Cost {
            ns,
            cpi: ns * self.machine.clock_hz * 1e-9,
            books,
            lines,
        };
        let chip = |group: &Group| ChipPrice {
            chip: group.chip,
            cores: group.cores,
            ns: group.class.ns,
            books: group.class.books,
        };
        PartitionPrice {
            name: self.partitions[partition].name.clone(),
            cost: (instructions > 0.0).then_some(cost),
            refill: self.refill_of(partition),
            by_chip: own().map(chip).collect(),
        }
    }

    fn refill_of(&self, partition: usize) -> Refill {
        let own = || self.groups.iter().filter(|g| g.partition == partition);
        let cores: f64 = own().map(|group| group.cores).sum();
        let mut found = Refill::default();
        for group in own() {
            let share = group.cores / cores;
            found.private_lines += share * group.class.private_lines;
            found.lines += share * group.class.reload_lines;
            for (sum, ns) in found.ns.iter_mut().zip(group.class.reload_ns) {
                *sum += share * ns;
            }
        }
        found
    }
}
