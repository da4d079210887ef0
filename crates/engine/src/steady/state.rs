//! A layout on its way to the fixed point: what each partition does where, and what the machine's
//! caches and links make of it.

use super::chain::{Load, THREADS};
use super::form::Form;
use crate::cost::{Class, Contention, Occupancy, Spread, Working};
use crate::ids::{ById, ChipId};
use crate::machine::Topology;
use crate::spec::Machine;

/// Share of a partition's time on a chip below which it is of no account.
pub(super) const NOTHING: f64 = 1e-4;

/// A chip on which a partition runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Site {
    pub chip: usize,
    /// Share of its core time there.
    pub share: f64,
    /// What an instruction costs by busy threads of the core; those not priced yet are zero.
    pub classes: Vec<Class>,
}

/// What a partition does.
#[derive(Clone, Debug)]
pub(super) struct Doing {
    /// Which of its forms it has.
    pub form: usize,
    pub sites: Vec<Site>,
    /// Time of an instruction, by busy threads, mean over the chips [ns].
    pub ns: [f64; THREADS],
    pub load: Load,
    /// Share of the time with work in which a dispatch holds a virtual processor up.
    pub stalled: f64,
    /// What cold caches add to a burst [ns].
    pub reload_ns: f64,
    /// Share of the bursts beside others, see [`Filled`](super::filling::Filled).
    pub stray: f64,
    /// Dispatches in a nanosecond, those of daemons included.
    pub dispatches: f64,
    /// Share of the time with work in which its virtual processors have a core.
    pub served: f64,
    /// Cores that daemons and polling take.
    pub beside: f64,
    /// Cores that it used in the step before.
    pub before: f64,
    /// Share of its time on other chips of the home node, and on other nodes.
    pub away: [f64; 2],
    /// Share of its time on chips that are no home of any of its virtual processors.
    pub out: f64,
}

impl Doing {
    /// As if alone at home, with nothing known of what it costs.
    pub fn new(form: &Form) -> Self {
        Self {
            form: 0,
            sites: sites_of(form),
            ns: [0.0; THREADS],
            load: Load::default(),
            stalled: 0.0,
            reload_ns: 0.0,
            stray: 0.0,
            dispatches: 0.0,
            served: 1.0,
            beside: 0.0,
            before: 0.0,
            away: [0.0; 2],
            out: 0.0,
        }
    }

    /// Core time in a nanosecond: physical cores used.
    pub fn cores(&self) -> f64 {
        self.served * self.load.vps + self.beside
    }
}

fn sites_of(form: &Form) -> Vec<Site> {
    let site = |(chip, share): &(ChipId, f64)| Site {
        chip: chip.index(),
        share: *share,
        classes: vec![Class::default(); form.fixed.len()],
    };
    form.homes.iter().map(site).collect()
}

/// The machine and all that runs on it.
pub(super) struct State {
    pub machine: Machine,
    /// Cores that groups of partitions, or pools, may use together.
    pub limits: Vec<f64>,
    pub tree: Topology,
    pub contention: Contention,
    pub occupancy: Occupancy,
    pub spreads: Vec<Spread>,
    pub working: Vec<Working>,
    pub doing: Vec<Doing>,
    /// Cores by chip that are active, and those of them that are nobody's own.
    pub active: ById<ChipId, f64>,
    pub free: ById<ChipId, f64>,
    /// By node, the largest relative change of what runs there in the last step.
    pub unrest: Vec<f64>,
    /// Virtual processors in use on each.
    pub here: ById<ChipId, f64>,
    /// Busy cores of each, and how long those stay who keep them busy [ns].
    pub stays: ById<ChipId, Vec<(f64, f64)>>,
}

impl State {
    /// With the first form of each partition.
    pub fn new(machine: &Machine, limits: Vec<f64>, tree: Topology, forms: &[&Form]) -> Self {
        let mut active = ById::of(0.0, tree.chips().len());
        for core in tree
            .cores()
            .into_iter()
            .take(usize::from(tree.active_cores))
        {
            active[tree.chip_of(core)] += 1.0;
        }
        Self {
            contention: Contention::new(machine),
            occupancy: Occupancy::new(machine, &tree),
            spreads: forms.iter().map(|form| form.spread.clone()).collect(),
            working: forms.iter().map(|form| form.working).collect(),
            doing: forms.iter().map(|form| Doing::new(form)).collect(),
            unrest: vec![1.0; tree.nodes().len()],
            free: active.clone(),
            here: active.clone(),
            stays: ById::of(Vec::new(), active.len()),
            active,
            machine: machine.clone(),
            limits,
            tree,
        }
    }

    /// A partition takes another form: where it was is forgotten, the rest of the machine is not.
    pub fn take(&mut self, partition: usize, number: usize, form: &Form) {
        self.disturb(partition);
        let before = &self.doing[partition];
        let (stalled, reload_ns) = (before.stalled, before.reload_ns);
        self.doing[partition] = Doing {
            form: number,
            stalled,
            reload_ns,
            ..Doing::new(form)
        };
        self.spreads[partition] = form.spread.clone();
        self.working[partition] = form.working;
        self.disturb(partition);
    }

    /// All has to be worked out anew where a partition runs.
    fn disturb(&mut self, partition: usize) {
        for site in &self.doing[partition].sites {
            let node = self.tree.node_of(ChipId::new(site.chip)).index();
            self.unrest[node] = 1.0;
        }
    }

    /// Which cores nobody owns.
    pub fn share_out(&mut self, forms: &[&Form]) {
        self.free = self.active.clone();
        for form in forms.iter().filter(|form| form.owns) {
            let count = f64::from(form.filled.vps());
            for (chip, share) in &form.homes {
                self.free[*chip] -= share * count;
            }
        }
    }
}

/// Virtual processors among which the work is, as if they had equal parts: a thread that comes
/// takes the first that is idle, or goes back to where it was, so the last of many hardly ever
/// have work. If the one of place `i` works while `n` are busy and `n > i`, the squares of their
/// parts add up to the mean of the lesser of two such numbers, `m - s / sqrt(pi)` of a normal one.
pub(super) fn in_use(doing: &Doing, form: &Form) -> f64 {
    let mean = doing.load.vps;
    let lesser = mean - (doing.load.vps_variance / std::f64::consts::PI).sqrt();
    let parts = mean * mean / lesser.max(0.2 * mean).max(1e-12);
    parts.max(mean).max(1.0).min(f64::from(form.filled.vps()))
}
