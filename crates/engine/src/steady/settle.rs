//! One step towards the fixed point: price, queue, share out, place, load the machine.

use super::chain::{self, THREADS};
use super::form::Form;
use super::state::{in_use, Doing, State, NOTHING};
use crate::cost::{Class, Place, Spent};
use crate::ids::{ById, ChipId};

/// Share of a partition's time on a chip below which a chip away from home is priced for the usual
/// number of threads only.
const LITTLE: f64 = 0.05;
/// Steps of the caches' ages in each iteration: with one they would follow too far behind.
const AGE_STEPS: usize = 2;

impl State {
    /// One step, after which what the machine carries is averaged in with `weight`; the largest
    /// relative change of the cores that a partition uses.
    pub fn step(&mut self, forms: &[&Form], weight: f64, settled: f64) -> f64 {
        let mut change = 0.0_f64;
        let stirred = self.stirred(forms, settled);
        self.unrest.iter_mut().for_each(|unrest| *unrest = 0.0);
        for at in stirred.iter().copied() {
            self.price(at, forms[at]);
            self.queue(at, forms[at]);
            let now = self.doing[at].cores();
            let before = std::mem::replace(&mut self.doing[at].before, now);
            let moved = (now - before).abs() / now.max(1e-6);
            self.stir(at, moved);
            change = change.max(moved);
        }
        for at in stirred {
            self.dispatches(at, forms[at]);
        }
        let served: Vec<f64> = self.doing.iter().map(|doing| doing.served).collect();
        self.share(forms);
        for (at, before) in served.into_iter().enumerate() {
            let moved = (self.doing[at].served - before).abs() / before;
            self.stir(at, moved);
            change = change.max(moved);
        }
        let out: Vec<f64> = self.doing.iter().map(|doing| doing.out).collect();
        self.place(forms);
        for (at, before) in out.into_iter().enumerate() {
            let moved = (self.doing[at].out - before).abs();
            self.stir(at, moved);
            change = change.max(moved);
        }
        self.carry(forms, weight);
        change
    }

    /// Partitions that run where something changed lately: of the others the price is known.
    fn stirred(&self, forms: &[&Form], settled: f64) -> Vec<usize> {
        let unrest = |node: usize| self.unrest[node] > 0.2 * settled;
        let of = |chip: usize| self.tree.node_of(ChipId::new(chip)).index();
        let is_stirred = |at: &usize| {
            let at_home = forms[*at].homes_by_node.iter();
            at_home.clone().any(|(node, _)| unrest(*node))
                || self.doing[*at]
                    .sites
                    .iter()
                    .any(|site| unrest(of(site.chip)))
        };
        (0..forms.len()).filter(is_stirred).collect()
    }

    /// A partition changed by so much where it runs.
    fn stir(&mut self, at: usize, moved: f64) {
        for site in &self.doing[at].sites {
            let node = self.tree.node_of(ChipId::new(site.chip)).index();
            self.unrest[node] = self.unrest[node].max(moved);
        }
    }

    /// What an instruction costs on each chip, by busy threads.
    fn price(&mut self, at: usize, form: &Form) {
        let (machine, tree) = (&self.machine, &self.tree);
        let spread = &self.spreads[at];
        let doing = &mut self.doing[at];
        let usual = usual_threads(doing, form);
        let mut rates = [0.0; THREADS];
        let main = doing
            .sites
            .iter()
            .map(|site| site.share)
            .fold(0.0, f64::max);
        let mut first: Option<Vec<Class>> = None;
        for site in &mut doing.sites {
            let all = site.share >= LITTLE || site.share >= main || first.is_none();
            for threads in 1..form.fixed.len() {
                if !all && threads != usual && threads != 1 {
                    continue;
                }
                let place = Place {
                    machine,
                    tree,
                    contention: &self.contention,
                    occupancy: &self.occupancy,
                    partition: &form.partition,
                    spread,
                    chip: ChipId::new(site.chip),
                    threads: threads as u8,
                    snoozing_sibling: form.snoozes && threads == 1,
                };
                site.classes[threads].set(&place, &form.fixed[threads]);
            }
            if let (false, Some(first)) = (all, &first) {
                let by = site.classes[usual].ns / first[usual].ns;
                let rest = site.classes.iter_mut().zip(first).enumerate().skip(2);
                for (_, (class, at_home)) in rest.filter(|(threads, _)| *threads != usual) {
                    *class = *at_home;
                    class.ns *= by;
                }
            }
            for (rate, class) in rates.iter_mut().zip(&site.classes).skip(1) {
                *rate += site.share / class.ns;
            }
            if first.is_none() {
                first = Some(site.classes.clone());
            }
        }
        for (ns, rate) in doing.ns.iter_mut().zip(rates).skip(1) {
            *ns = 1.0 / rate;
        }
    }

    /// How many threads are runnable.
    fn queue(&mut self, at: usize, form: &Form) {
        let doing = &mut self.doing[at];
        let demand = &form.demand;
        let working = doing.served * (1.0 - doing.stalled);
        let mut rates = [0.0; THREADS];
        let own = rates.iter_mut().zip(doing.ns).enumerate();
        for (threads, (rate, ns)) in own.take(form.fixed.len()).skip(1) {
            *rate = working * threads as f64 / (demand.burst * ns + doing.reload_ns);
        }
        let filled = form.filled.strayed(doing.stray);
        doing.load = chain::load(demand.arrivals, &rates, filled);
        if filled.returns {
            let load = &doing.load;
            let running: f64 = (1..THREADS).map(|busy| load.with[busy] * busy as f64).sum();
            let balanced = form.balances_per_ns / load.bursts_per_ns.max(1e-18);
            let stray = filled.astray(running, load.full, balanced);
            doing.stray += 0.5 * (stray - doing.stray);
        }
    }

    /// Loads of caches, links and memory follow.
    fn carry(&mut self, forms: &[&Form], weight: f64) {
        let chips = self.tree.chips().len();
        for (at, form) in forms.iter().enumerate() {
            let doing = &self.doing[at];
            let mut row = ById::of(0.0, chips);
            let spread = &mut self.spreads[at];
            for site in &doing.sites {
                let chip = ChipId::new(site.chip);
                row[chip] = site.share * doing.served * doing.load.vps;
                let (mut threads, mut done) = (0.0, 0.0);
                for busy in 1..form.fixed.len() {
                    let vps = site.share * doing.served * doing.load.with[busy];
                    let class = &site.classes[busy];
                    let work_ns = form.demand.burst * class.ns;
                    let working = (1.0 - doing.stalled) * work_ns / (work_ns + doing.reload_ns);
                    let busy_threads = vps * busy as f64 * working;
                    let instructions = busy_threads / class.ns;
                    threads += busy_threads;
                    done += instructions;
                    if instructions > 0.0 {
                        let spent = Spent::of(class, at, chip, instructions);
                        self.occupancy.add(&self.tree, spread, spent);
                    }
                }
                let ns = if done > 0.0 { threads / done } else { 1.0 };
                spread.set_work(chip, threads, ns, weight);
            }
            spread.set_cores(&self.tree, &row);
        }
        self.here.iter_mut().for_each(|vps| *vps = 0.0);
        self.stays.iter_mut().for_each(Vec::clear);
        for (doing, form) in self.doing.iter().zip(forms).filter(|(_, form)| !form.owns) {
            let stay_ns = doing.load.vps / doing.load.wakes_per_ns.max(1e-15);
            for site in doing.sites.iter().filter(|site| site.share > NOTHING) {
                let chip = ChipId::new(site.chip);
                let cores = site.share * doing.served * doing.load.vps;
                self.here[chip] += site.share * in_use(doing, form);
                self.stays[chip].push((cores, stay_ns));
            }
        }
        self.occupancy
            .close_window(&self.tree, &self.spreads, 1.0, weight);
        self.occupancy.fabric.forgive();
        for _ in 0..AGE_STEPS {
            let ages = &mut self.occupancy.ages;
            ages.update(&self.tree, &self.spreads, &self.working);
        }
    }
}

/// Busy threads of a core at which most of the time is spent.
fn usual_threads(doing: &Doing, form: &Form) -> usize {
    let by_time = |busy: &usize| doing.load.with[*busy];
    (1..form.fixed.len())
        .max_by(|a, b| by_time(a).total_cmp(&by_time(b)).then(b.cmp(a)))
        .unwrap_or(1)
}
