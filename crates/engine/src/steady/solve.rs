//! Layouts of a machine solved one after the other, each from where the one before it was.

use super::fault::SolveFault;
use super::form::Form;
use super::state::State;
use crate::cost::{Book, Books, Lines};
use crate::hypervisor::entitlements;
use crate::machine::Topology;
use crate::sim;
use crate::spec::{Partition, Policy, Pool, Processors, Spec};

/// Relative change of a partition's cores from which on it counts as settled.
const SETTLED: f64 = 1e-4;
/// The same for one of many layouts that are only compared.
const ROUGHLY: f64 = 1e-3;
/// Iterations after which an answer counts as found.
const MOST_STEPS: usize = 200;

/// What a layout comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// By partition, in the spec's order.
    pub partitions: Vec<SolvedPartition>,
    /// Iterations that it took.
    pub steps: usize,
}

/// What a partition comes to, means over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolvedPartition {
    /// Physical cores used.
    pub cores: f64,
    /// Transactions in a second.
    pub throughput: f64,
    /// Mean response of a transaction [ns]; none without transactions.
    pub response_ns: Option<f64>,
    /// Whether there is a steady state.
    pub steady: bool,
    /// Virtual processors with work.
    pub busy_vps: f64,
    /// Busy hardware threads of the cores used.
    pub busy_threads: f64,
    /// Transactions inside.
    pub inside: f64,
    /// Dispatches in a second.
    pub dispatches: f64,
    /// Share of its core time on its home chips, elsewhere on their nodes, and on others.
    pub by_distance: [f64; 3],
    /// Instructions in a second.
    pub instructions: f64,
    /// Cores by cause; they add up to `cores`.
    pub books: Books,
    /// Lines brought into the first cache level in a second, by source.
    pub lines: Lines,
    /// Share of the time with work in which its virtual processors wait for a core.
    pub waiting: f64,
}

/// A machine with forms of each partition to choose from.
pub struct Layouts {
    spec: Spec,
    forms: Vec<Vec<Form>>,
    state: State,
}

impl Layouts {
    /// With each partition as the spec has it.
    ///
    /// # Errors
    /// An unsound spec, or something that only a simulation can tell.
    pub fn new(spec: &Spec) -> Result<Self, SolveFault> {
        sim::check(spec)?;
        let policy = spec.machine.hypervisor.policy;
        if !matches!(policy, Policy::Phyp | Policy::Prsm | Policy::Dedicated) {
            return Err(SolveFault::Policy(format!("{policy:?}")));
        }
        let types = spec.pools.iter().filter(|pool| pool.cores.is_some());
        if types.count() > 1 {
            return Err(SolveFault::Policy("cores of several types".into()));
        }
        let tree = Topology::new(&spec.machine);
        let form = |one: &Partition| Form::of(&spec.machine, &tree, one).map(|form| vec![form]);
        let forms: Vec<Vec<Form>> = spec
            .partitions
            .iter()
            .map(form)
            .collect::<Result<_, SolveFault>>()?;
        let first: Vec<&Form> = forms.iter().map(|of| &of[0]).collect();
        let state = State::new(&spec.machine, limits(spec), tree, &first);
        Ok(Self {
            spec: spec.clone(),
            state,
            forms,
        })
    }

    /// Adds a form of a partition and returns its number.
    ///
    /// # Errors
    /// One that is unsound by itself, a partition that is not there. Whether it fits beside the
    /// others is not looked at: what they have is not known before a layout is chosen.
    pub fn add(&mut self, partition: usize, form: &Partition) -> Result<usize, SolveFault> {
        if partition >= self.forms.len() {
            let (got, want) = (partition, self.forms.len());
            return Err(SolveFault::Shape { got, want });
        }
        sim::check(&Spec {
            partitions: vec![form.clone()],
            changes: Vec::new(),
            ..self.spec.clone()
        })?;
        let made = Form::of(&self.spec.machine, &self.state.tree, form)?;
        self.forms[partition].push(made);
        Ok(self.forms[partition].len() - 1)
    }

    /// Solves the layout with these forms.
    ///
    /// # Errors
    /// Numbers of forms that are not there.
    pub fn solve(&mut self, chosen: &[usize]) -> Result<Solved, SolveFault> {
        self.solve_to(chosen, SETTLED)
    }

    /// The same to a thousandth, from where the layout before it was: for those that are compared
    /// in great number.
    ///
    /// # Errors
    /// As [`Layouts::solve`].
    pub fn compare(&mut self, chosen: &[usize]) -> Result<Solved, SolveFault> {
        self.solve_to(chosen, ROUGHLY)
    }

    fn solve_to(&mut self, chosen: &[usize], settled: f64) -> Result<Solved, SolveFault> {
        let fits = chosen.len() == self.forms.len()
            && chosen
                .iter()
                .zip(&self.forms)
                .all(|(at, of)| *at < of.len());
        if !fits {
            let (got, want) = (chosen.len(), self.forms.len());
            return Err(SolveFault::Shape { got, want });
        }
        for (partition, number) in chosen.iter().enumerate() {
            if self.state.doing[partition].form != *number {
                let form = &self.forms[partition][*number];
                self.state.take(partition, *number, form);
            }
        }
        weigh(&self.spec, &mut self.forms, chosen);
        let forms: Vec<&Form> = chosen
            .iter()
            .zip(&self.forms)
            .map(|(at, of)| &of[*at])
            .collect();
        self.state.share_out(&forms);
        let steps = settle(&mut self.state, &forms, settled);
        let partitions = (0..forms.len())
            .map(|at| self.answer(at, forms[at]))
            .collect();
        Ok(Solved { partitions, steps })
    }

    fn answer(&self, at: usize, form: &Form) -> SolvedPartition {
        let doing = &self.state.doing[at];
        let (load, demand) = (&doing.load, &form.demand);
        let mut answer = SolvedPartition {
            cores: doing.cores(),
            throughput: load.bursts_per_ns / demand.bursts * 1e9,
            steady: !load.overrun,
            busy_vps: load.vps,
            inside: load.runnable,
            dispatches: doing.dispatches * 1e9,
            by_distance: [
                1.0 - doing.away[0] - doing.away[1],
                doing.away[0],
                doing.away[1],
            ],
            waiting: 1.0 - doing.served,
            busy_threads: doing.beside,
            ..SolvedPartition::default()
        };
        if load.bursts_per_ns > 0.0 && !demand.recorded && answer.steady {
            let each = load.runnable / load.bursts_per_ns;
            answer.response_ns = Some(each * demand.bursts + demand.wait_ns);
        }
        for site in &doing.sites {
            for busy in 1..form.fixed.len() {
                let vps = site.share * doing.served * load.with[busy];
                if vps <= 0.0 {
                    continue;
                }
                answer.busy_threads += vps * busy as f64;
                let class = &site.classes[busy];
                let work_ns = demand.burst * class.ns;
                let all_ns = work_ns + doing.reload_ns;
                answer.books.add(Book::Hypervisor, vps * doing.stalled);
                let vps = vps * (1.0 - doing.stalled);
                let instructions = vps * busy as f64 * work_ns / all_ns / class.ns;
                answer.instructions += instructions * 1e9;
                let total = class.books.total();
                answer
                    .books
                    .add_scaled(&class.books, vps * work_ns / all_ns / total);
                answer.lines.add_scaled(&class.lines, instructions * 1e9);
                answer
                    .books
                    .add(Book::Reload, vps * doing.reload_ns / all_ns);
            }
        }
        answer.books.add(Book::Useful, doing.beside);
        answer
    }
}

/// Iterates to the fixed point: all of the way at first, less where a step overshoots.
fn settle(state: &mut State, forms: &[&Form], settled: f64) -> usize {
    let (mut weight, mut last) = (1.0_f64, f64::INFINITY);
    for step in 1..=MOST_STEPS {
        let change = state.step(forms, weight, settled);
        if change <= settled && step > 2 {
            return step;
        }
        if change > last {
            weight = (0.7 * weight).max(0.1);
        }
        last = change;
    }
    MOST_STEPS
}

/// Under PR/SM weights become entitlements, of the cores of a pool that are nobody's own.
fn weigh(spec: &Spec, forms: &mut [Vec<Form>], chosen: &[usize]) {
    if spec.machine.hypervisor.policy != Policy::Prsm {
        return;
    }
    let owned: usize = forms
        .iter()
        .zip(chosen)
        .filter(|(of, at)| of[**at].owns)
        .map(|(of, at)| of[*at].filled.vps() as usize)
        .sum();
    let cores = u32::from(spec.machine.active_cores).saturating_sub(owned as u32);
    let told = |one: &Partition| match &one.processors {
        Processors::Shared {
            weight, r#virtual, ..
        } => (*weight, *r#virtual),
        Processors::Dedicated { .. } => (0, 0),
    };
    let weights: Vec<(u16, u16)> = forms
        .iter()
        .zip(chosen)
        .map(|(of, at)| told(&of[*at].partition))
        .collect();
    let entitled = entitlements(cores, &weights);
    for ((of, at), entitled) in forms.iter_mut().zip(chosen).zip(entitled) {
        if !of[*at].owns {
            of[*at].entitled = entitled;
        }
    }
}

/// Limits of pools; under PR/SM, of groups.
fn limits(spec: &Spec) -> Vec<f64> {
    if spec.machine.hypervisor.policy == Policy::Prsm {
        return spec.groups.iter().map(|group| group.cap).collect();
    }
    let most = |pool: &Pool| pool.maximum.unwrap_or(f64::INFINITY);
    spec.pools.iter().map(most).collect()
}

/// Solves a layout.
///
/// # Errors
/// As [`Layouts::new`].
pub fn solve(spec: &Spec) -> Result<Solved, SolveFault> {
    let mut layouts = Layouts::new(spec)?;
    let chosen = vec![0; spec.partitions.len()];
    layouts.solve(&chosen)
}
