//! Layouts of a machine, each solved from where the first one is.

use crate::machine::Topology;
use crate::sim;
use crate::spec::{Partition, Policy, Processors, Spec};
use crate::steady::answer::{answer, loses_holders, Compared, Solved, SolvedPartition};
use crate::steady::compare::Comparing;
use crate::steady::fault::SolveFault;
use crate::steady::layout::form::Form;
use crate::steady::layout::host::Host;
use crate::steady::layout::scope::Scope;
use crate::steady::layout::state::{Doing, State};
use crate::steady::queues::halts::Guest;
use crate::steady::settle::{settle_from_above, ROUGHLY, SETTLED};
use crate::steady::windows::weights::{entitle, limits, refuse_mixed_groups, weigh};
use crate::steady::zvm::park::settle_parked;

/// Share of the time that finds home full from which on there may be a second balance.
const SPILLS: f64 = 1e-4;
/// Relative difference from which on two balances are told apart, and cores that are none.
const APART: f64 = 0.03;
const LITTLE: f64 = 1e-3;

/// A machine with forms of each partition to choose from.
pub struct Layouts {
    spec: Spec,
    forms: Vec<Vec<Form>>,
    /// The layout of the spec, and the iterations that it took; none before it was asked for.
    own: State,
    own_steps: usize,
    /// The layout from which others are compared, and its forms; the spec's at first.
    base: State,
    near: Vec<usize>,
    /// Another one, on its way from there.
    work: State,
    comparing: Option<Comparing>,
}

impl Layouts {
    /// With each partition as the spec has it.
    ///
    /// # Errors
    /// An unsound spec, or something that only a simulation can tell.
    pub fn new(spec: &Spec) -> Result<Self, SolveFault> {
        sim::check(spec)?;
        match spec.machine.hypervisor.policy {
            Policy::Linux | Policy::Credit2 => {}
            other => other
                .of_host()
                .map_or(Ok(()), |(_, title)| Err(SolveFault::Policy(title)))?,
        }
        let tree = Topology::new(&spec.machine);
        let form = |one: &Partition| Form::of(spec, &tree, one).map(|form| vec![form]);
        let mut forms: Vec<Vec<Form>> = spec
            .partitions
            .iter()
            .map(form)
            .collect::<Result<_, SolveFault>>()?;
        number_workloads(&mut forms);
        share_polling(&mut forms);
        let first: Vec<&Form> = forms.iter().map(|of| &of[0]).collect();
        refuse_mixed_groups(&first)?;
        let mut own = State::new(spec, limits(spec), tree, &first);
        own.host = Host::of(spec, &own.tree);
        let mut made = Self {
            spec: spec.clone(),
            work: own.clone(),
            base: own.clone(),
            own,
            own_steps: 0,
            near: vec![0; forms.len()],
            forms,
            comparing: None,
        };
        // What such a lock comes to is known only when it is seen who waits for a processor.
        let hangs = |of: &Form| of.lock.is_some() || of.lines_last || of.held_in_order;
        if made.forms.iter().any(|of| hangs(&of[0])) {
            made.solve(&vec![0; made.forms.len()])?;
        }
        Ok(made)
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
            partitions: vec![self.by_itself(form)],
            changes: Vec::new(),
            ..self.spec.clone()
        })?;
        let mut made = Form::of(&self.spec, &self.own.tree, form)?;
        let first = &self.forms[partition][0];
        let (got, want) = (made.workloads.len(), first.workloads.len());
        if got != want {
            return Err(SolveFault::Workloads { got, want });
        }
        made.first_workload = first.first_workload;
        self.forms[partition].push(made);
        Ok(self.forms[partition].len() - 1)
    }

    /// As a partition that is looked at alone: what its weight gives hangs on whom it is beside.
    fn by_itself(&self, form: &Partition) -> Partition {
        let mut alone = form.clone();
        if self.spec.machine.hypervisor.policy == Policy::Prsm {
            if let Processors::Shared { entitlement, .. } = &mut alone.processors {
                *entitlement = 0.0;
            }
        }
        alone
    }

    /// Solves the layout with these forms.
    ///
    /// # Errors
    /// Numbers of forms that are not there.
    pub fn solve(&mut self, chosen: &[usize]) -> Result<Solved, SolveFault> {
        self.check(chosen)?;
        self.begin();
        let (state, steps) = if chosen.iter().all(|number| *number == 0) {
            (&self.own, self.own_steps)
        } else {
            let steps = self.solve_whole(chosen, Start::Own, SETTLED);
            (&self.work, steps)
        };
        let above = self.cores_from_above(state, chosen);
        let forms = chosen.iter().zip(&self.forms).map(|(at, of)| &of[*at]);
        for (doing, form) in state.doing.iter().zip(forms.clone()) {
            if let Some(what) = loses_holders(doing, form) {
                return Err(SolveFault::Unknown {
                    partition: form.partition.name.clone(),
                    what: what.into(),
                });
            }
        }
        let told = state.doing.iter().zip(&state.cps).zip(forms);
        let partitions: Vec<SolvedPartition> = told
            .enumerate()
            .map(|(at, ((doing, cp), form))| SolvedPartition {
                balances: balances(doing.cores(), above.as_ref().map(|of| of[at])),
                ..answer(doing, cp, (form, &state.doing))
            })
            .collect();
        let unknown = |of: &SolvedPartition| !(of.cores + of.instructions).is_finite();
        match partitions.iter().position(unknown) {
            // Better nothing than a figure that is none.
            Some(at) => Err(SolveFault::Unknown {
                partition: self.forms[at][chosen[at]].partition.name.clone(),
                what: "what it comes to, for which no balance was found,".into(),
            }),
            None => Ok(Solved { partitions, steps }),
        }
    }

    /// Cores that each partition uses in the balance that is found from above; none where nobody
    /// finds his home full, so that there is no other. Hosts and z/VM have no homes that fill up.
    fn cores_from_above(&self, state: &State, chosen: &[usize]) -> Option<Vec<f64>> {
        let pairs = chosen.iter().zip(&self.forms);
        let forms: Vec<&Form> = pairs.map(|(at, of)| &of[*at]).collect();
        let full = |doing: &Doing| doing.away[0] + doing.away[1] > SPILLS;
        let spills = state.doing.iter().any(full);
        if !spills || state.host.is_some() || forms.iter().any(|form| form.guests.is_some()) {
            return None;
        }
        let mut other = state.clone();
        // It only counts where it is apart by some per cent: chips that are alike are priced
        // together.
        settle_from_above(&mut other, &forms, &self.scope(false), (SETTLED, APART))?;
        Some(other.doing.iter().map(Doing::cores).collect())
    }

    /// Compares others from this layout on: the fewer of them change of it, the sooner they are
    /// solved. It is itself solved from the spec's own, so what came before has no part in it.
    ///
    /// # Errors
    /// As [`Layouts::solve`].
    pub fn compare_near(&mut self, chosen: &[usize]) -> Result<(), SolveFault> {
        self.check(chosen)?;
        self.begin();
        if chosen == self.near {
            return Ok(());
        }
        if chosen.iter().all(|number| *number == 0) {
            self.base.clone_from(&self.own);
        } else {
            self.solve_whole(chosen, Start::Own, SETTLED);
            self.base.clone_from(&self.work);
        }
        self.near = chosen.to_vec();
        self.comparing = None;
        Ok(())
    }

    /// The same to a thousandth, for those that are compared in great number; adds what each
    /// partition comes to and returns the iterations. What is not changed is as in the layout that
    /// it is near to, and what else was compared has no part in it.
    ///
    /// # Errors
    /// As [`Layouts::solve`].
    pub fn compare(
        &mut self,
        chosen: &[usize],
        told: &mut Vec<Compared>,
    ) -> Result<usize, SolveFault> {
        self.check(chosen)?;
        self.begin();
        let mut comparing = match self.comparing.take() {
            Some(comparing) => comparing,
            None => Comparing::new(&self.base, &self.forms, &self.near),
        };
        let entitled = weigh(&self.spec, &self.base.types, &self.forms, chosen);
        // Several types of core are solved together.
        // On a host all share all processors.
        // Under z/VM how many cores are parked hangs on what the others use.
        // Several workloads of a partition are priced apart from it.
        let mut all = self.forms.iter().flatten();
        let as_before = self.base.host.is_none()
            && self.base.types.count == 1
            && all.all(|form| form.guests.is_none() && form.workloads.is_empty())
            && entitled.as_ref().is_none_or(|entitled| {
                let pairs = entitled.iter().zip(&self.base.doing);
                pairs
                    .into_iter()
                    .all(|(now, doing)| *now == (doing.entitled, doing.allowed))
            });
        let (base, work) = (&self.base, &mut self.work);
        let first = told.len();
        let found = as_before
            .then(|| comparing.put_together((base, work), &self.forms, chosen, told))
            .flatten();
        let steps = found.unwrap_or_else(|| {
            told.truncate(first);
            let steps = self.solve_whole(chosen, Start::Near, ROUGHLY);
            comparing.forget_work();
            let forms = chosen.iter().zip(&self.forms).map(|(at, of)| &of[*at]);
            let pairs = self.work.doing.iter().zip(forms);
            told.extend(pairs.map(|(doing, form)| Compared::of(doing, form)));
            steps
        });
        self.comparing = Some(comparing);
        Ok(steps)
    }

    fn check(&self, chosen: &[usize]) -> Result<(), SolveFault> {
        let mut pairs = chosen.iter().zip(&self.forms);
        if chosen.len() == self.forms.len() && pairs.all(|(at, of)| *at < of.len()) {
            return Ok(());
        }
        let (got, want) = (chosen.len(), self.forms.len());
        Err(SolveFault::Shape { got, want })
    }

    /// Solves the spec's own layout if that has not been done.
    fn begin(&mut self) {
        if self.own_steps > 0 {
            return;
        }
        let chosen = vec![0; self.forms.len()];
        let forms: Vec<&Form> = self.forms.iter().map(|of| &of[0]).collect();
        let entitled = weigh(&self.spec, &self.own.types, &self.forms, &chosen);
        entitle(&mut self.own, entitled);
        let scope = self.scope(true);
        self.own.share_out(&forms, &scope);
        self.own_steps = settle_parked(&mut self.own, &forms, &scope, SETTLED);
        self.base.clone_from(&self.own);
    }

    /// The whole machine, of which each chip may be priced by itself.
    fn scope(&self, apart: bool) -> Scope {
        let priced = self.base.doing.len();
        Scope::whole(self.base.tree.nodes(), self.forms.len(), priced, apart)
    }

    /// Solves a layout as a whole, from where another one is.
    fn solve_whole(&mut self, chosen: &[usize], from: Start, settled: f64) -> usize {
        let pairs = chosen.iter().zip(&self.forms);
        let forms: Vec<&Form> = pairs.map(|(at, of)| &of[*at]).collect();
        let scope = self.scope(settled < ROUGHLY);
        let own = vec![0; self.forms.len()];
        let (state, there) = match from {
            Start::Own => (&self.own, &own),
            Start::Near => (&self.base, &self.near),
        };
        self.work.follow(state, &scope, &forms);
        for (at, (number, before)) in chosen.iter().zip(there).enumerate() {
            if number != before {
                self.work.take(at, &self.forms[at][*number]);
            }
        }
        entitle(
            &mut self.work,
            weigh(&self.spec, &self.base.types, &self.forms, chosen),
        );
        self.work.share_out(&forms, &scope);
        settle_parked(&mut self.work, &forms, &scope, settled)
    }
}

/// The two balances of a partition, where they are apart.
fn balances(cores: f64, above: Option<f64>) -> Option<[f64; 2]> {
    let above = above?;
    let apart = (above - cores).abs() > APART * cores.max(above) && above.max(cores) > LITTLE;
    apart.then(|| [cores.min(above), cores.max(above)])
}

/// Workloads of partitions that have several are numbered after the partitions.
fn number_workloads(forms: &mut [Vec<Form>]) {
    let mut next = forms.len();
    for form in forms.iter_mut().flatten() {
        form.first_workload = next;
        next += form.workloads.len();
    }
}

/// What KVM's polling comes to is worked out once for all guests for which it does the same.
fn share_polling(forms: &mut [Vec<Form>]) {
    let mut known: Vec<Guest> = Vec::new();
    for guest in forms
        .iter_mut()
        .flatten()
        .filter_map(|form| form.threads.kvm.as_mut())
    {
        match known.iter().find(|other| other.does_as(guest)) {
            Some(other) => guest.share(other),
            None => known.push(guest.clone()),
        }
    }
}

/// Where a layout is solved from.
#[derive(Clone, Copy)]
enum Start {
    /// The spec's own.
    Own,
    /// That from which layouts are compared.
    Near,
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
