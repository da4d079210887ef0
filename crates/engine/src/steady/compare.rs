//! Many layouts compared: each put together from parts of the machine that have nothing to do with
//! each other, of which each is solved once for those that are there.
//!
//! A part is the nodes of those that share homes or memory. What runs elsewhere is taken to be as
//! in the layout from which others are compared, so that a part comes out the same whatever layout
//! it is asked for, and whatever was asked before. Where that would not do (cores of the pool
//! become scarce, ports are full, more overflows to other nodes), the layout has to be solved as a
//! whole.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::ids::{ChipId, NodeId, PortId};
use crate::steady::answer::Compared;
use crate::steady::layout::form::Form;
use crate::steady::layout::scope::{Scope, Used};
use crate::steady::layout::state::{State, NOTHING};
use crate::steady::queues::chances::mean_beyond;
use crate::steady::settle::{settle, ROUGHLY};

/// Share of the shared cores by which what overflows may differ before all nodes are looked at.
const OVERFLOW: f64 = 0.005;
/// Share of what is wanted that may be lost by chance before all of the pool is looked at.
const SCARCE: f64 = 5e-4;
/// Parts that are kept; then it begins anew.
const MOST_KEPT: usize = 1 << 16;

/// What a part comes to.
#[derive(Clone, Debug, Default)]
struct Part {
    partitions: Vec<(usize, Compared)>,
    used: Used,
    /// Core time on other nodes.
    far: f64,
    /// Cores that are somebody's own.
    owned: f64,
    steps: usize,
    /// Whether it cannot be solved without the rest.
    spills: bool,
}

/// Layouts on their way to be compared.
pub(in crate::steady) struct Comparing {
    parts: HashMap<Box<[u32]>, Part, BuildHasherDefault<Mixed>>,
    /// The layout from which others are compared: the forms of each partition,
    near: Vec<usize>,
    /// what each uses there, and on which nodes that is, as bits.
    used: Vec<Used>,
    there: Vec<u64>,
    far: f64,
    cores: f64,
    ports: Vec<Vec<PortId>>,
    /// Partitions of which the work state is no longer that of this layout.
    stale: Vec<bool>,
    scope: Scope,
    masks: Vec<u64>,
    key: Vec<u32>,
}

impl Comparing {
    /// With the layout from which others are compared.
    pub fn new(base: &State, forms: &[Vec<Form>], near: &[usize]) -> Self {
        let used = |(at, of): (usize, &Vec<Form>)| {
            let mut used = Used::default();
            let doing = &base.doing[at];
            used.add((&doing.load, doing.waits.time), doing.beside, &of[near[at]]);
            used
        };
        let far = |(at, _): (usize, &Vec<Form>)| base.doing[at].away[1] * base.doing[at].cores();
        Self {
            parts: HashMap::default(),
            near: near.to_vec(),
            used: forms.iter().enumerate().map(used).collect(),
            there: (0..forms.len()).map(|at| there(base, at)).collect(),
            far: forms.iter().enumerate().map(far).sum(),
            cores: base.active.iter().sum(),
            ports: base
                .tree
                .nodes()
                .into_iter()
                .map(|node| base.occupancy.fabric.ports_on(&base.tree, node))
                .collect(),
            stale: vec![true; forms.len()],
            scope: Scope::default(),
            masks: Vec::new(),
            key: Vec::new(),
        }
    }

    /// The work state was used for something else.
    pub fn forget_work(&mut self) {
        self.stale.fill(true);
    }

    /// Adds what each partition comes to; the most iterations of a part. None where the layout has
    /// to be solved as a whole.
    pub fn put_together(
        &mut self,
        (base, work): (&State, &mut State),
        forms: &[Vec<Form>],
        chosen: &[usize],
        told: &mut Vec<Compared>,
    ) -> Option<usize> {
        self.divide(forms, chosen);
        let first = told.len();
        told.resize(first + chosen.len(), Compared::default());
        let (mut used, mut far, mut owned, mut steps) = (Used::default(), 0.0, 0.0, 0);
        for index in 0..self.masks.len() {
            let mask = self.masks[index];
            self.key.clear();
            let own = chosen.iter().zip(forms).enumerate();
            let own = own.filter(|(_, (number, of))| of[**number].nodes & mask != 0);
            let numbers = own.map(|(at, (number, _))| (at as u32) << 16 | *number as u32);
            self.key.extend(numbers);
            if !self.parts.contains_key(&self.key[..]) {
                self.solve((base, work), forms, mask);
            }
            let part = &self.parts[&self.key[..]];
            if part.spills {
                return None;
            }
            for (at, compared) in &part.partitions {
                told[first + at] = *compared;
            }
            used.join(part.used);
            (far, owned) = (far + part.far, owned + part.owned);
            steps = steps.max(part.steps);
        }
        let cores = self.cores - owned;
        let apart = !used.is_scarce(cores) && (far - self.far).abs() < OVERFLOW * cores;
        apart.then_some(steps)
    }

    /// Nodes of those that share some, as bits.
    fn divide(&mut self, forms: &[Vec<Form>], chosen: &[usize]) {
        self.masks.clear();
        for (number, of) in chosen.iter().zip(forms) {
            let mut nodes = of[*number].nodes;
            if self.masks.iter().all(|mask| mask & nodes == 0) {
                self.masks.push(nodes);
                continue;
            }
            self.masks.retain(|mask| {
                let apart = mask & nodes == 0;
                nodes |= if apart { 0 } else { *mask };
                apart
            });
            self.masks.push(nodes);
        }
    }

    /// Solves the part of the key, which has these nodes.
    fn solve(&mut self, (base, work): (&State, &mut State), forms: &[Vec<Form>], mask: u64) {
        if self.parts.len() >= MOST_KEPT {
            self.parts.clear();
        }
        let pairs = forms.iter().zip(&self.near);
        let mut chosen: Vec<&Form> = pairs.map(|(of, number)| &of[*number]).collect();
        for number in &self.key {
            let (at, number) = ((number >> 16) as usize, (number & 0xffff) as usize);
            chosen[at] = &forms[at][number];
        }
        self.enclose(base, forms, mask);
        work.follow(base, &self.scope, &chosen);
        for at in self
            .scope
            .passive
            .iter()
            .copied()
            .filter(|at| self.stale[*at])
        {
            work.doing[at].clone_from(&base.doing[at]);
            work.spreads[at].follow(&base.spreads[at]);
            work.working[at] = base.working[at];
        }
        for number in &self.key {
            let (at, number) = ((number >> 16) as usize, (number & 0xffff) as usize);
            if number != self.near[at] {
                work.take(at, &forms[at][number]);
                let (of, before) = (&mut work.doing[at], &base.doing[at]);
                if chosen[at].by_weight {
                    (of.entitled, of.allowed) = (before.entitled, before.allowed);
                    of.due = of.entitled * of.allowed;
                }
            }
        }
        self.scope.there().for_each(|at| self.stale[at] = true);
        work.share_out(&chosen, &self.scope);
        let steps = settle(work, &chosen, &self.scope, ROUGHLY);
        let mut part = Part {
            steps,
            spills: work.spills,
            ..Part::default()
        };
        for at in self.scope.active.iter().copied() {
            let (doing, form) = (&work.doing[at], chosen[at]);
            part.partitions.push((at, Compared::of(doing, form)));
            part.used
                .add((&doing.load, doing.waits.time), doing.beside, form);
            part.far += doing.away[1] * doing.cores();
            part.owned += if form.owns {
                f64::from(form.filled.vps())
            } else {
                0.0
            };
        }
        self.parts.insert(self.key.as_slice().into(), part);
    }

    /// Who has to do with these nodes while those of the key are there.
    fn enclose(&mut self, base: &State, forms: &[Vec<Form>], mask: u64) {
        let scope = &mut self.scope;
        let inside = |node: &NodeId| mask >> node.index().min(63) & 1 == 1;
        scope.nodes.clear();
        scope
            .nodes
            .extend(base.tree.nodes().into_iter().filter(inside));
        scope.ports.clear();
        for node in &scope.nodes {
            scope.ports.extend(&self.ports[node.index()]);
        }
        scope.active.clear();
        scope
            .active
            .extend(self.key.iter().map(|number| (number >> 16) as usize));
        scope.passive.clear();
        scope.others = Used::default();
        for (at, of) in forms.iter().enumerate() {
            let left = of[self.near[at]].nodes & mask != 0;
            if left || scope.active.contains(&at) {
                continue;
            }
            scope.others.join(self.used[at]);
            if self.there[at] & mask != 0 {
                scope.passive.push(at);
            }
        }
    }
}

impl Used {
    fn join(&mut self, other: Self) {
        self.mean += other.mean;
        self.variance += other.variance;
        self.most += other.most;
        self.beside += other.beside;
    }

    /// Whether some have to wait for a core of the pool, now and then.
    fn is_scarce(self, cores: f64) -> bool {
        if self.most <= cores {
            return false;
        }
        let lost = mean_beyond(self.mean, self.variance, cores);
        lost > SCARCE * self.mean || self.mean + self.beside > cores
    }
}

/// Nodes on which a partition runs or has memory, as bits.
fn there(state: &State, at: usize) -> u64 {
    let mut nodes = 0;
    for site in state.doing[at]
        .sites
        .iter()
        .filter(|site| site.share > NOTHING)
    {
        let chip = ChipId::new(site.chip);
        let reads = state.spreads[at].memory_of(chip).iter();
        let memory = reads.map(|(domain, _)| state.tree.node_of_domain(*domain));
        for node in memory.chain([state.tree.node_of(chip)]) {
            nodes |= 1 << node.index().min(63);
        }
    }
    nodes
}

/// Mixes numbers; nobody chooses them to collide.
#[derive(Clone, Copy, Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(4) {
            let number = part.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
            self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
    }
}
