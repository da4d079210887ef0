//! Several workloads of a partition: each is priced by itself and has a part in the partition's
//! virtual processors, which are queued for, shared out and placed as those of one.
//!
//! A thread takes what an instruction of its own workload takes beside as many others, and core
//! time is parted evenly among the threads of a core: so a workload has the part of a virtual
//! processor that it has of its threads.

use crate::cost::{Class, Times};
use crate::spec::Workload;
use crate::steady::layout::form::Form;
use crate::steady::layout::state::{classes, Site, State, NOTHING};
use crate::steady::queues::chain::Load;
use crate::steady::queues::devices::Handled;
use crate::steady::queues::filling::THREADS;
use crate::steady::queues::mixture::{self, Stream};
use crate::steady::queues::runs::Runs;
use crate::steady::settle::add_rates;
use crate::steady::windows::homes::part_twins;

/// Whether its work counts as transactions.
fn has_transactions(form: &Form) -> bool {
    !matches!(
        form.partition.workload,
        Workload::Loops { .. } | Workload::Idle
    )
}

impl State {
    /// What an instruction of each costs, and the mean of them.
    pub(in crate::steady) fn price_each(&mut self, at: usize, form: &Form, apart: bool) {
        let mut sites = std::mem::take(&mut self.doing[at].sites);
        for (workload, of) in form.each_workload() {
            go_along(&mut self.doing[workload].sites, &sites, of);
            if self.host.is_none() {
                self.meet_each_other(form, (workload, of));
            }
            self.price(workload, of, apart);
        }
        let mut rates = [0.0; THREADS];
        for (index, site) in sites.iter_mut().enumerate() {
            site.twin = None;
            for threads in 1..form.fixed.len() {
                let parts = form.each_workload().map(|(workload, _)| {
                    let doing = &self.doing[workload];
                    let class = &classes(&doing.sites, &doing.sites[index])[threads];
                    (doing.load.vps.max(1e-9), class)
                });
                site.classes[threads] = Class::mean(parts);
            }
            if self.host.is_some() {
                site.times = self.mean_times(form, index);
            }
            add_rates(&mut rates, site.share, &site.classes);
        }
        let doing = &mut self.doing[at];
        doing.sites = sites;
        for (ns, rate) in doing.ns.iter_mut().zip(rates).skip(1) {
            *ns = 1.0 / rate;
        }
    }

    /// Whose threads those of a workload meet on their cores: each other, and of its own as many as
    /// run while one does.
    fn meet_each_other(&mut self, form: &Form, (own, of): (usize, &Form)) {
        let mut company = Vec::new();
        if form
            .each_workload()
            .any(|(_, other)| other.partition.profile != of.partition.profile)
        {
            for (workload, other) in form.each_workload() {
                let met = if workload == own { again(other) } else { 1.0 };
                company.push((workload, met * self.doing[workload].load.vps));
            }
        }
        let all: f64 = company.iter().map(|(_, of)| of).sum();
        company.retain(|(_, of)| *of > 1e-9 * all);
        company.iter_mut().for_each(|(_, of)| *of /= all);
        for site in &mut self.doing[own].sites {
            site.company.clone_from(&company);
        }
    }

    /// What their threads are on average to others of a host's core, at one of their sites.
    fn mean_times(&self, form: &Form, index: usize) -> Vec<Times> {
        let mut mean = vec![Times::default(); form.fixed.len()];
        for (workload, _) in form.each_workload() {
            let doing = &self.doing[workload];
            let each = mean.iter_mut().zip(&doing.sites[index].times);
            for (mean, times) in each.filter(|(_, times)| times.base > 0.0) {
                mean.add_scaled(times, doing.load.vps.max(1e-9) / times.base);
            }
        }
        mean
    }

    /// How many threads of each are runnable.
    pub(in crate::steady) fn queue_each(&mut self, at: usize, form: &Form) {
        let whole = &self.doing[at];
        let handled = whole.handled;
        let working = whole.served * (1.0 - whole.stalled) * handled.leaves();
        let filled = form.filled.strayed(whole.stray);
        let part = handled.part_of(form.each_workload().map(|(_, of)| &of.demand));
        let stream = |(workload, of): (usize, &Form)| {
            let doing = &self.doing[workload];
            let mut ns = [0.0; THREADS];
            for (ns, each) in ns.iter_mut().zip(doing.ns).take(form.fixed.len()).skip(1) {
                *ns = (of.demand.burst * each + doing.reload_ns) / working;
            }
            Stream {
                arrivals: handled.answered(&of.demand, part).rest_after(
                    of.demand.phases,
                    ns[1],
                    1.0,
                ),
                ns,
                before: doing.load,
            }
        };
        let streams: Vec<Stream> = form.each_workload().map(stream).collect();
        let returning = filled.returning(whole.load.threads());
        let known = if filled.returns {
            &returning
        } else {
            &form.known
        };
        let (mut all, each) = mixture::loads(&streams, filled, known);
        for ((workload, of), mut load) in form.each_workload().zip(each) {
            load.overrun |= handled.is_short(&of.demand, part);
            all.overrun |= load.overrun;
            self.doing[workload].load = load;
        }
        self.doing[at].load = all;
        self.tell_transactions(at, form);
    }

    /// Transactions of all, and how long one takes on average.
    fn tell_transactions(&mut self, at: usize, form: &Form) {
        let handled = self.doing[at].handled;
        let (mut done, mut taken, mut known) = (0.0, 0.0, true);
        for (workload, of) in form.each_workload().filter(|(_, of)| has_transactions(of)) {
            let (load, demand) = (&self.doing[workload].load, &of.demand);
            let each = load.bursts_per_ns / demand.bursts;
            known &= !demand.recorded && !load.overrun;
            done += each;
            taken +=
                load.runnable + each * (demand.wait_ns + handled.of_transaction_ns(&of.demand));
        }
        let doing = &mut self.doing[at];
        doing.done_per_ns = done;
        doing.response_ns = (known && done > 0.0).then(|| taken / done);
    }

    /// What each does on each chip.
    pub(in crate::steady) fn carry_each(
        &mut self,
        at: usize,
        form: &Form,
        apart: bool,
        weight: f64,
    ) {
        let whole = &mut self.doing[at];
        let (served, stalled, out, away) = (whole.served, whole.stalled, whole.out, whole.away);
        let met = whole.met();
        let handled = Handled {
            beside: 0.0,
            on_siblings: 0.0,
            ..whole.handled
        };
        let sites = std::mem::take(&mut whole.sites);
        for (workload, of) in form.each_workload() {
            let doing = &mut self.doing[workload];
            (doing.served, doing.stalled) = (served, stalled);
            (doing.out, doing.away, doing.handled) = (out, away, handled);
            doing.met_beside = Some(met);
            go_along(&mut doing.sites, &sites, of);
            self.spend(workload, apart, weight);
        }
        self.doing[at].sites = sites;
    }

    /// What each loses to cold caches: its first threads that come to a core after a dispatch
    /// refill what it has lost there.
    pub(in crate::steady) fn reload_each(&mut self, at: usize, form: &Form) {
        let whole = self.doing[at].load;
        let wakes = whole.wakes_per_ns.max(1e-18);
        let in_a_stay = (whole.bursts_per_ns / wakes).max(1.0);
        for (workload, of) in form.each_workload() {
            let load: Load = self.doing[workload].load;
            let bursts = load.bursts_per_ns.max(1e-18);
            let part = (bursts / whole.bursts_per_ns.max(1e-18)).min(1.0);
            let comes = wakes * (1.0 - (1.0 - part).powf(in_a_stay));
            let each = (bursts / comes.max(1e-18)).max(1.0);
            let threads = f64::from(of.partition.smt).min(each);
            let mut sites = std::mem::take(&mut self.doing[workload].sites);
            let mut all = 0.0;
            for index in 0..sites.len() {
                if sites[index].share <= NOTHING {
                    continue;
                }
                sites[index].reload_ns = match sites[index].twin {
                    Some(twin) => sites[twin].reload_ns,
                    None => {
                        let executes = of.demand.burst * each / threads;
                        let runs = Runs::alike(executes);
                        self.reload_at((workload, of), (&sites, index), at, runs)
                    }
                };
                all += sites[index].share * threads * sites[index].reload_ns;
            }
            let pace = self.pace;
            let doing = &mut self.doing[workload];
            doing.sites = sites;
            let refilled = all * (comes / bursts).min(1.0);
            doing.reload_ns += 0.5 * pace * (refilled - doing.reload_ns);
        }
    }
}

/// How often others of a workload run while one of them does, in proportion to their mean: of so
/// many threads all but one, of an open stream all.
fn again(form: &Form) -> f64 {
    match form.partition.workload {
        Workload::Loops { count, .. } | Workload::Users { count, .. } => {
            1.0 - 1.0 / f64::from(count)
        }
        _ => 1.0,
    }
}

/// A workload runs where its partition does.
fn go_along(own: &mut Vec<Site>, sites: &[Site], form: &Form) {
    part_twins(own);
    let mut before = std::mem::take(own);
    for site in sites {
        let there = before.iter().position(|of| of.chip == site.chip);
        let mut new = match there {
            Some(at) => before.swap_remove(at),
            None => {
                let priced = own.first().or(before.first());
                Site::new(site.chip, site.share, form).costs_as(priced)
            }
        };
        new.share = site.share;
        new.crowd = site.crowd;
        new.company.clone_from(&site.company);
        new.comers.clone_from(&site.comers);
        new.visits.clone_from(&site.visits);
        new.neighbours.clone_from(&site.neighbours);
        own.push(new);
    }
}
