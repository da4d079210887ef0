//! One step towards the fixed point: price, queue, share out, place, load the machine.

use crate::cost::{Book, Class, Others, Spent, Times, Wants};
use crate::ids::ChipId;
use crate::steady::hosts::own::{self, Paces};
use crate::steady::layout::form::Form;
use crate::steady::layout::scope::Scope;
use crate::steady::layout::state::{classes, Caches, Doing, Site, State};
use crate::steady::leap::{Leap, Went};
use crate::steady::queues::capped::Capped;
use crate::steady::queues::chain;
use crate::steady::queues::filling::{Filled, THREADS};
use crate::steady::queues::held_up;
use crate::steady::queues::locks::Lock;
use crate::steady::swings::Swings;
use crate::steady::windows::slices::ever_run;

/// Relative change of a partition's cores, and of an instruction's time, from which on it counts as
/// settled: where cores are always full they never change.
pub(in crate::steady) const SETTLED: f64 = 1e-4;
/// The same for one of many layouts that are only compared.
pub(in crate::steady) const ROUGHLY: f64 = 1e-3;
/// What a step of partitions that share cores goes at first, in parts of the usual way: these halve
/// what they change, so that who displaces each other comes to rest.
const FORWARD: f64 = 1.5;
/// The same of one that goes all of the way.
const WHOLE: f64 = 2.0;
/// Iterations after which an answer counts as found, and one of many that are only compared: by
/// then it goes to and fro between balances that are as good.
const MOST_STEPS: usize = 200;
const MOST_ROUGHLY: usize = 60;
/// Steps that go all of the way; of those after them what they carry is a mean over as many more.
const FREE_STEPS: f64 = 24.0;
/// Where steps go to and fro, or overshoot, each goes this part of what the one before went, and at
/// least so much.
const TAMER: f64 = 0.7;
const LEAST_WEIGHT: f64 = 0.1;
/// Change of a partition's cores below which the rest of the way is foreseen: what is further off
/// may be another balance.
const NEAR: f64 = 0.02;
/// Share of a partition's time on a chip below which a chip away from home is priced for the usual
/// number of threads only.
const LITTLE: f64 = 0.05;
/// Steps from where caches are cold, at most and before it can be at rest there, and from there on
/// before it can have settled.
const COLD_STEPS: usize = 12;
const FEWEST_COLD_STEPS: usize = 4;
/// Part of the difference at which two balances are told apart below which they are one.
const SAME: f64 = 0.3;
const WARM_STEPS: usize = 4;
/// Steps from where caches stay warm, before what they find is counted.
const WARM_FIRST: usize = 8;
/// Steps of the caches' ages in each iteration: with one they would follow too far behind.
const AGE_STEPS: usize = 2;

/// Iterates to the fixed point: all of the way at first, less and less where that has not come to
/// rest or a step takes back the one before, on hosts and under z/VM where a step overshoots. The
/// iterations that it took.
pub(in crate::steady) fn settle(
    state: &mut State,
    forms: &[&Form],
    scope: &Scope,
    settled: f64,
) -> usize {
    let homes_fill = state.host.is_none() && forms.iter().all(|form| form.guests.is_none());
    if !homes_fill || settled >= ROUGHLY {
        return settle_or(state, forms, scope, settled, &|_| false);
    }
    // Where cold caches fill homes there may be several balances. The least is found from below:
    // from who is where while caches stay warm.
    state.caches = Caches::Warm;
    for _ in 0..WARM_FIRST {
        state.step(forms, &scope.roughly(), (1.0, 1.0));
    }
    state.caches = Caches::Told;
    WARM_FIRST + settle_or(state, forms, scope, settled, &|_| false)
}

/// The same until this is so.
fn settle_or(
    state: &mut State,
    forms: &[&Form],
    scope: &Scope,
    settled: f64,
    is_enough: &dyn Fn(&State) -> bool,
) -> usize {
    let most = if settled < ROUGHLY {
        MOST_STEPS
    } else {
        MOST_ROUGHLY
    };
    let homes_fill = state.host.is_none() && forms.iter().all(|form| form.guests.is_none());
    let (mut weight, mut last, mut leap) = (1.0_f64, f64::INFINITY, Leap::default());
    let (mut most_weight, mut loads, mut swings) = (1.0_f64, 1.0, Swings::default());
    // As long as it is far off, chips that are alike need not be told apart.
    let mut rough = (homes_fill && scope.apart && settled < ROUGHLY).then(|| scope.roughly());
    for step in 1..=most {
        let change = state.step(forms, rough.as_ref().unwrap_or(scope), (weight, loads));
        if change <= ROUGHLY && step > 2 && rough.take().is_some() {
            continue;
        }
        // Those that keep their processors are near if what is left of the way is short.
        let near = if homes_fill { settled } else { settled * loads };
        if change <= near && step > 2 || state.spills || is_enough(state) {
            return step;
        }
        if homes_fill || state.is_kept() {
            loads = swings.after(&state.doing, &scope.active);
        }
        if homes_fill {
            if change < NEAR && leap.after(&mut state.doing, &scope.active) == Went::Back {
                most_weight = (TAMER * most_weight).max(LEAST_WEIGHT);
            }
            weight = (FREE_STEPS / (step + 1) as f64).clamp(LEAST_WEIGHT, most_weight);
        } else if change > last {
            weight = (TAMER * weight).max(LEAST_WEIGHT);
        }
        last = change;
    }
    state.share_at_last(forms, scope);
    most
}

/// The same from above: from where each dispatch finds cold caches, so that bursts are as long, and
/// homes as full, as can be. Nothing where even that is at rest within `near` of where it began:
/// every other balance lies between.
pub(in crate::steady) fn settle_from_above(
    state: &mut State,
    forms: &[&Form],
    scope: &Scope,
    (settled, near): (f64, f64),
) -> Option<usize> {
    let below = state.cores();
    let mut cold = [below.clone(), below.clone(), below.clone()];
    state.caches = Caches::Cold;
    let mut is_bound = false;
    for step in 0..COLD_STEPS {
        state.step(forms, scope, (1.0, 1.0));
        cold[step % 3] = state.cores();
        // A step back and forth is no rest, so the last is held against the one before the last.
        let at = |step: usize| &cold[step % 3];
        if step >= FEWEST_COLD_STEPS && are_alike(at(step), at(step - 2), ROUGHLY) {
            let mut both = [step, step - 1].into_iter();
            is_bound = both.all(|step| are_alike(at(step), &below, near));
            break;
        }
    }
    state.caches = Caches::Told;
    if is_bound {
        return None;
    }
    for _ in 0..WARM_STEPS {
        state.step(forms, scope, (0.3, 1.0));
    }
    // Where it comes back to where it began there is no other balance.
    let is_back = |state: &State| are_alike(&state.cores(), &below, near * SAME);
    Some(settle_or(state, forms, scope, settled, &is_back))
}

/// Whether all partitions use as many cores, but for a share of them.
fn are_alike(some: &[f64], others: &[f64], share: f64) -> bool {
    let mut pairs = some.iter().zip(others);
    pairs.all(|(one, other)| (one - other).abs() <= share * one.max(*other))
}

impl State {
    /// Cores that each partition uses.
    fn cores(&self) -> Vec<f64> {
        self.doing.iter().map(Doing::cores).collect()
    }

    /// One step of a part of the machine, after which what it carries is averaged in with `weight`,
    /// and such a part of that; the largest relative change of the cores that a partition uses, or
    /// of what an instruction takes.
    pub fn step(&mut self, forms: &[&Form], scope: &Scope, (weight, loads): (f64, f64)) -> f64 {
        let mut change = 0.0_f64;
        let pace = if self.host.is_some() { 1.0 } else { FORWARD };
        self.pace = pace * weight;
        self.share_out_lent(forms, scope);
        for at in scope.active.iter().copied() {
            let priced = self.doing[at].ns[1];
            self.price(at, forms[at], scope.apart);
            self.queue(at, forms[at]);
            let now = self.doing[at].cores();
            let before = std::mem::replace(&mut self.doing[at].before, now);
            change = change.max((now - before).abs() / now.max(1e-6));
            change = change.max((self.doing[at].ns[1] / priced.max(1e-9) - 1.0).abs());
        }
        let weight = weight * loads;
        let types = scope.by_type(forms, self.types.count);
        for (at, one) in types.iter().enumerate() {
            self.turn_to(at);
            change = change.max(self.hand_out(forms, one));
        }
        if types.is_empty() {
            change = change.max(self.hand_out(forms, scope));
        }
        for (at, one) in types.iter().enumerate() {
            self.turn_to(at);
            self.carry_there(forms, one, weight);
        }
        self.turn_to(0);
        if types.is_empty() {
            self.carry_there(forms, scope, weight);
        }
        self.carry(scope, weight);
        change
    }

    /// Shares out once more, all of the way, what is wanted now. Where no balance is found what
    /// partitions have lags behind what they want, and would be more than there is.
    fn share_at_last(&mut self, forms: &[&Form], scope: &Scope) {
        self.pace = WHOLE;
        let types = scope.by_type(forms, self.types.count);
        for (at, one) in types.iter().enumerate() {
            self.turn_to(at);
            self.share(forms, one);
        }
        self.turn_to(0);
        if types.is_empty() {
            self.share(forms, scope);
        }
    }

    /// Who has which cores, and what that costs; by how much it changed.
    fn hand_out(&mut self, forms: &[&Form], scope: &Scope) -> f64 {
        for at in scope.active.iter().copied() {
            self.dispatches(at, forms[at]);
        }
        let change = self.share(forms, scope);
        change.max(self.place(forms, scope))
    }

    /// What an instruction costs on each chip, by busy threads; each chip counts by itself where
    /// they are priced `apart`.
    pub(in crate::steady) fn price(&mut self, at: usize, form: &Form, apart: bool) {
        if !form.workloads.is_empty() {
            return self.price_each(at, form, apart);
        }
        let mut sites = std::mem::take(&mut self.doing[at].sites);
        let usual = usual_threads(&self.doing[at], form);
        let main = sites.iter().map(|site| site.share).fold(0.0, f64::max);
        let kept = self.is_kept(); // Who is beside one of its threads there is told apart.
        let (mut rates, mut paces) = ([0.0; THREADS], Paces::default());
        for index in 0..sites.len() {
            let (before, rest) = sites.split_at_mut(index);
            let site = &mut rest[0];
            let is_main = site.share >= LITTLE || site.share >= main || index == 0 || kept;
            site.twin = if apart || !form.even || self.host.is_some() {
                None
            } else {
                before.iter().position(|of| self.are_twins(at, of, site))
            };
            if let Some(twin) = site.twin {
                add_rates(&mut rates, site.share, &before[twin].classes);
                continue;
            }
            for threads in 1..form.fixed.len() {
                if is_main || threads == usual || threads == 1 {
                    self.price_at((at, form), site, threads);
                }
            }
            if !is_main {
                follow(&mut site.classes, &before[0].classes, usual);
            }
            if let Some(crowd) = &site.crowd {
                let by_number = own::rates(site);
                site.classes[1] = Class::mean(crowd.iter().copied().zip(&site.classes).skip(1));
                paces.add(site, by_number);
            }
            add_rates(&mut rates, site.share, &site.classes);
        }
        let doing = &mut self.doing[at];
        doing.sites = sites;
        doing.by_number_ns = paces.ns();
        for (ns, rate) in doing.ns.iter_mut().zip(rates).skip(1) {
            *ns = 1.0 / rate;
        }
    }

    /// Whether an instruction costs the same at both: on the same node, with as much of the
    /// partition, caches and ports as much in demand.
    fn are_twins(&self, at: usize, one: &Site, other: &Site) -> bool {
        let (a, b) = (ChipId::new(one.chip), ChipId::new(other.chip));
        one.twin.is_none()
            && (one.share - other.share).abs() <= 1e-3
            && self.tree.node_of(a) == self.tree.node_of(b)
            && (self.spreads[at].cores()[a] - self.spreads[at].cores()[b]).abs() <= 1e-2
            && self.occupancy.are_alike(&self.tree, a, b)
    }

    fn price_at(&self, (at, form): (usize, &Form), site: &mut Site, threads: usize) {
        let place = self.place_of((at, form), ChipId::new(site.chip), threads);
        let fixed = &form.fixed[threads];
        if let Some(class) = self.price_kept((&place, fixed), site, threads) {
            site.classes[threads] = class;
        } else {
            let others = self.beside_at(site, threads);
            let others = others.map_or(Others::Alike, Others::Mean);
            site.classes[threads].set_beside(&place, fixed, others);
        }
        let class = &site.classes[threads];
        if self.host.is_some() || !site.company.is_empty() {
            site.times.resize(form.fixed.len(), Times::default());
            site.times[threads] = class.times(&place, fixed);
        }
    }

    /// How many threads are runnable.
    fn queue(&mut self, at: usize, form: &Form) {
        if let Some(guests) = &form.guests {
            return self.queue_guests(at, form, guests);
        }
        if form.workloads.is_empty() {
            self.queue_one(at, form);
        } else {
            self.queue_each(at, form);
        }
        let filled = filled(&self.doing[at], form);
        let doing = &mut self.doing[at];
        if filled.returns {
            let load = &doing.load;
            let balanced = form.balances_per_ns / load.bursts_per_ns.max(1e-18);
            let stray = filled.astray(load.threads(), load.full, balanced);
            doing.stray += 0.5 * (stray - doing.stray);
        }
    }

    /// The same of a single workload.
    fn queue_one(&mut self, at: usize, form: &Form) {
        let asked = form.serves.as_ref().map(|of| self.asked(at, form, of));
        let capped = self.capped(at, form);
        let cap = capped.map_or(f64::INFINITY, Capped::at_once);
        let doing = &mut self.doing[at];
        let demand = &form.demand;
        let working = doing.let_run * (1.0 - doing.stalled) * doing.handled.leaves();
        let mut rates = [0.0; THREADS];
        let own = rates.iter_mut().zip(doing.ns).enumerate();
        for (threads, (rate, ns)) in own.take(form.fixed.len()).skip(1) {
            *rate = working * threads as f64 / (demand.burst * ns + doing.reload_ns);
        }
        let filled = filled(doing, form);
        let part = doing.handled.part_of([demand].into_iter());
        let arrivals = asked.unwrap_or_else(|| doing.handled.answered(demand, part));
        let (vps, all) = (filled.vps(), form.filled.vps());
        let is_known = vps == all && !filled.is_held();
        let paced = doing.paced(form).filter(|_| is_known);
        let returning = filled.returning(doing.load.threads());
        let known = match &paced {
            Some(known) => &known[..],
            None if is_known && !filled.returns => &form.known[..],
            None => &returning[..],
        };
        let arrivals = if vps < all {
            arrivals.at_first(vps, all)
        } else {
            arrivals
        };
        let arrivals = arrivals.rest(demand.phases, &rates, filled);
        doing.load = match form.lock {
            Some(lock) => {
                let share = with_lock(doing, form);
                // Dispatches of woken threads are on their way to the lock, not spread over all.
                let spread = 1.0 - doing.stalled * doing.stalled_by_lock.min(1.0);
                rates.iter_mut().for_each(|rate| *rate /= spread);
                let wait = doing.wake_ns / lock_ns(doing, form, lock);
                let at = (lock, share, wait, &mut self.locks[at]);
                held_up::load(arrivals, &rates, (filled, known), at)
            }
            None => chain::load(arrivals, &rates, filled, known, cap),
        };
        if paced.is_some() {
            doing.load.with[1] = doing.load.vps;
        }
        let alike = demand
            .alike
            .filter(|_| form.lock.is_none() && form.serves.is_none());
        if let Some(alike) = alike {
            let load = std::mem::take(&mut doing.load);
            doing.load = alike.load(load, arrivals, f64::from(filled.threads()));
        }
        doing.served = doing.let_run * (1.0 - doing.load.stopped);
        doing.load.overrun |= doing.handled.is_short(demand, part);
        // Who has a cap waits for the others beside what it waits there.
        let beside = capped.map_or(0.0, |_| doing.load.waiting);
        doing
            .load
            .wait_together(doing.waits.fewer, doing.waits.queued + beside, arrivals);
    }

    /// What is done on each chip.
    fn carry_there(&mut self, forms: &[&Form], scope: &Scope, weight: f64) {
        for chips in scope.nodes.iter().map(|node| self.tree.chips_of(*node)) {
            self.used.slice_mut(chips).fill(0.0);
            for comers in self.comers.slice_mut(chips) {
                comers.iter_mut().for_each(|of| of.cores = 0.0);
            }
        }
        for at in scope.there() {
            self.carry_one(at, forms[at], scope.apart || self.waits, weight);
        }
        if self.host.is_none() {
            for node in scope.nodes.iter().copied() {
                self.meet_on(node);
            }
        }
    }

    /// Loads of caches, links and memory follow.
    fn carry(&mut self, scope: &Scope, weight: f64) {
        for at in scope.active.iter().chain(&scope.workloads).copied() {
            self.row.iter_mut().for_each(|cores| *cores = 0.0);
            let doing = &self.doing[at];
            for site in &doing.sites {
                let chip = ChipId::new(site.chip);
                self.row[chip] = site.share * doing.served * doing.load.vps * site.cores();
            }
            self.spreads[at].set_cores(&self.tree, &self.row);
            if doing.spins {
                self.spreads[at]
                    .crowd()
                    .gather(doing.met_beside.unwrap_or_else(|| doing.met()));
            }
        }
        if scope.whole {
            let spreads = &self.spreads;
            self.waits = self
                .occupancy
                .close_window(&self.tree, spreads, 1.0, weight);
            self.occupancy.fabric.forgive();
        } else {
            let at = (&self.spreads, &scope.ports);
            self.waits = self.occupancy.close_on(&self.tree, at.0, at.1, weight);
        }
        for _ in 0..AGE_STEPS {
            let on = (&self.tree, &scope.nodes[..]);
            let ages = &mut self.occupancy.ages;
            ages.update_on(on, &self.spreads, &self.working, scope.priced());
        }
        let chips = scope
            .nodes
            .iter()
            .flat_map(|node| self.tree.chips_of(*node));
        let there = scope.there().map(|at| &self.spreads[at]);
        self.occupancy.clocks.update(chips, there);
    }

    /// What a partition does on each chip.
    fn carry_one(&mut self, at: usize, form: &Form, apart: bool, weight: f64) {
        if form.workloads.is_empty() {
            self.spend(at, apart, weight);
        } else {
            self.carry_each(at, form, apart, weight);
        }
        for index in 0..self.doing[at].sites.len() {
            let doing = &self.doing[at];
            let site = &doing.sites[index];
            let (chip, share) = (ChipId::new(site.chip), site.share);
            if !form.owns {
                self.used[chip] += share * doing.served * doing.load.vps;
                // A host's processors are asked for by its own rules (`hosts/siblings.rs`).
                if self.host.is_none() {
                    self.come_to(at, form, (chip, share));
                }
            }
        }
    }

    /// What it asks of caches, links and memory there.
    pub(in crate::steady) fn spend(&mut self, at: usize, apart: bool, weight: f64) {
        let doing = &self.doing[at];
        let spread = &mut self.spreads[at];
        for site in &doing.sites {
            let chip = ChipId::new(site.chip);
            let classes = classes(&doing.sites, site);
            let (mut threads, mut done) = (0.0, 0.0);
            let mut wants = Wants::default();
            for (busy, class) in classes.iter().enumerate().skip(1) {
                let vps = site.share * doing.served * doing.load.with[busy];
                // A chip where it has only just come to is not priced yet.
                if vps <= 0.0 || class.ns <= 0.0 {
                    continue;
                }
                let work_ns = doing.burst * class.ns;
                let all_ns = work_ns + doing.reload_ns + doing.extra.ns;
                let spun = doing.load.spun;
                let working = (1.0 - doing.stalled) * (1.0 - spun) * work_ns / all_ns;
                let busy_threads = vps * busy as f64 * working;
                let instructions = busy_threads / class.ns;
                threads += busy_threads;
                done += instructions;
                if apart {
                    let spent = Spent::of(class, at, chip, instructions);
                    self.occupancy.add(&self.tree, spread, spent);
                } else {
                    wants.add_scaled(&class.wants, instructions);
                }
            }
            if !apart {
                let at = (chip, &*spread);
                self.occupancy.add_wants(&self.tree, at, &wants);
            }
            let ns = if done > 0.0 { threads / done } else { 1.0 };
            spread.set_work(chip, threads, ns, weight);
        }
    }
}

/// The share of a thread's time with its lock: the way of the lock's line belongs to it.
fn with_lock(doing: &Doing, form: &Form) -> f64 {
    let own = form.partition.profile.lock_share;
    let (mut all, mut way) = (0.0, 0.0);
    for site in &doing.sites {
        let class = &classes(&doing.sites, site)[1];
        all += site.share * class.ns;
        way += site.share * class.books.of(Book::Spin);
    }
    if all > 0.0 {
        (own * (all - way) + way) / all
    } else {
        own
    }
}

/// How long a thread works from one time that it takes its lock to the next [ns].
fn lock_ns(doing: &Doing, form: &Form, lock: Lock) -> f64 {
    let ns = doing.ns[usual_threads(doing, form)];
    lock.between * (ns + doing.reload_ns / form.demand.burst.max(1.0))
}

/// How its virtual processors are filled, those of them that ever run.
fn filled(doing: &Doing, form: &Form) -> Filled {
    let filled = form.filled.strayed(doing.stray).held(doing.stalled);
    let some = ever_run(doing, form).filter(|_| form.workloads.is_empty());
    some.map_or(filled, |vps| filled.of_vps(vps))
}

/// What is not priced by itself is in proportion to what the usual number of threads costs.
fn follow(classes: &mut [Class], first: &[Class], usual: usize) {
    let by = classes[usual].ns / first[usual].ns;
    let rest = classes.iter_mut().zip(first).enumerate().skip(2);
    for (_, (class, at_home)) in rest.filter(|(threads, _)| *threads != usual) {
        *class = *at_home;
        class.ns *= by;
    }
}

pub(in crate::steady) fn add_rates(rates: &mut [f64; THREADS], share: f64, classes: &[Class]) {
    for (rate, class) in rates.iter_mut().zip(classes).skip(1) {
        *rate += share / class.ns;
    }
}

/// Busy threads of a core at which most of the time is spent.
fn usual_threads(doing: &Doing, form: &Form) -> usize {
    let by_time = |busy: &usize| doing.load.with[*busy];
    (1..form.fixed.len())
        .max_by(|a, b| by_time(a).total_cmp(&by_time(b)).then(b.cmp(a)))
        .unwrap_or(1)
}
