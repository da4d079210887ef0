//! Who uses which cache and how loaded each port of the fabric is, refreshed once a dispatch
//! window.

use super::age::Ages;
use super::class::Class;
use super::clocks::Clocks;
use super::fabric::Fabric;
use super::port::Wants;
use super::relief::Asked;
use super::spread::Spread;
use crate::ids::{ChipId, PortId};
use crate::machine::Topology;
use crate::spec::Machine;

/// State of the machine's shared resources.
#[derive(Clone, Debug)]
pub struct Occupancy {
    /// How long lines stay in caches that cores share.
    pub ages: Ages,
    /// Controllers, links and caches with a bandwidth.
    pub fabric: Fabric,
    /// How fast cores are clocked.
    pub clocks: Clocks,
    /// This window's work, looked at again if more was asked for than fits.
    spent: Vec<Spent>,
}

/// What one cost class did in a window.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    /// Index of its partition.
    pub partition: usize,
    /// Where.
    pub chip: ChipId,
    /// Instructions of all its threads.
    pub instructions: f64,
    /// Time of one of them [ns].
    pub ns: f64,
    /// The part of it that is waits at ports [ns].
    pub wait_ns: f64,
    /// Lines that one of them asks for.
    pub wants: Wants,
}

impl Spent {
    /// Of a class on a chip.
    pub fn of(class: &Class, partition: usize, chip: ChipId, instructions: f64) -> Self {
        Self {
            partition,
            chip,
            instructions,
            ns: class.ns,
            wait_ns: class.wait_ns,
            wants: class.wants,
        }
    }
}

impl Occupancy {
    /// An idle machine.
    pub fn new(machine: &Machine, tree: &Topology) -> Self {
        Self {
            ages: Ages::new(machine, tree),
            fabric: Fabric::new(machine, tree),
            clocks: Clocks::new(machine, tree),
            spent: Vec::new(),
        }
    }

    /// Adds what one cost class did in the window; `spread` says where its partition's data lie.
    pub fn add(&mut self, tree: &Topology, spread: &Spread, spent: Spent) {
        let unhindered = spent.ns / (spent.ns - spent.wait_ns);
        let at = (spent.chip, spread);
        let counts = (spent.instructions, unhindered);
        self.fabric.carry(tree, at, &spent.wants, counts);
        self.spent.push(spent);
    }

    /// Adds what many instructions on a chip want, of whom nobody waits.
    pub fn add_wants(&mut self, tree: &Topology, at: (ChipId, &Spread), wants: &Wants) {
        self.fabric.carry(tree, at, wants, (1.0, 1.0));
    }

    /// Ends a nanosecond at some ports alone; whether somebody waits there.
    pub fn close_on(
        &mut self,
        tree: &Topology,
        spreads: &[Spread],
        ports: &[PortId],
        weight: f64,
    ) -> bool {
        let waits = self.fabric.waits_on(ports);
        self.fabric.close_on(ports, weight);
        if waits {
            self.relieve(tree, spreads, 1.0);
        }
        self.fabric.begin_anew();
        self.spent.clear();
        waits
    }

    /// Whether caches and ports beside both chips are as much in demand, but for a thousandth.
    pub fn are_alike(&self, tree: &Topology, one: ChipId, other: ChipId) -> bool {
        let toll = |chip| {
            let memory = self.fabric.memory_toll(chip, tree.domain_of(chip), 1.0);
            (self.fabric.near_toll(chip).ns(), memory.ns())
        };
        let (a, b) = (toll(one), toll(other));
        let is_near = |a: f64, b: f64| (a - b).abs() <= 1e-2 + 1e-3 * a;
        is_near(a.0, b.0)
            && is_near(a.1, b.1)
            && self.clocks.are_alike(one, other)
            && self.ages.are_alike(tree, one, other)
    }

    /// Whether somebody waits at one of some ports.
    pub fn waits_on(&self, ports: &[PortId]) -> bool {
        self.fabric.waits_on(ports)
    }

    /// Becomes like that of the same machine.
    pub fn follow(&mut self, other: &Self) {
        self.ages.follow(&other.ages);
        self.fabric.follow(&other.fabric);
        self.clocks.follow(&other.clocks);
    }

    /// Adds lines that came from other nodes' caches to a chip.
    pub fn hold(&mut self, tree: &Topology, chip: ChipId, far_lines: f64) {
        self.fabric.carry_far(tree, chip, far_lines);
    }

    /// Ends a window of `window_ns`: loads become delays, which enter the running averages with
    /// `weight`, and what was asked beyond them becomes waits; counts start anew. `spreads` are
    /// those of all partitions. Whether more was asked for.
    pub fn close_window(
        &mut self,
        tree: &Topology,
        spreads: &[Spread],
        window_ns: f64,
        weight: f64,
    ) -> bool {
        self.fabric.close_window(window_ns, weight);
        let overrun = self.fabric.is_overrun(window_ns);
        if overrun {
            self.relieve(tree, spreads, window_ns);
        } else {
            self.fabric.let_go();
        }
        self.spent.clear();
        overrun
    }

    /// Those wait who asked for more than there is.
    fn relieve(&mut self, tree: &Topology, spreads: &[Spread], window_ns: f64) {
        let mut asked = Asked::default();
        for spent in &self.spent {
            let at = (spent.chip, &spreads[spent.partition]);
            self.fabric
                .each_want(tree, at, &spent.wants, |port, lines| {
                    asked.want(port, lines)
                });
            asked.add(spent.instructions * spent.ns, spent.ns - spent.wait_ns);
        }
        asked.relieve(&mut self.fabric, window_ns);
    }
}
