//! A layout on its way to the fixed point: what each partition does where, and what the machine's
//! caches and links make of it.

use crate::cost::{Class, Contention, Occupancy, Place, Spread, Times, Working};
use crate::hypervisor::policies::run_time_ns;
use crate::ids::{ById, ChipId};
use crate::machine::Topology;
use crate::spec::{Machine, Policy, Spec};
use crate::steady::cp::figures::{Beside, Cp};
use crate::steady::layout::core_types::CoreTypes;
use crate::steady::layout::form::Form;
use crate::steady::layout::host::Host;
use crate::steady::layout::scope::Scope;
use crate::steady::layout::tamed::Tamed;
use crate::steady::layout::waits::Waits;
use crate::steady::queues::chain::Load;
use crate::steady::queues::devices::Handled;
use crate::steady::queues::filling::THREADS;
use crate::steady::queues::last_cores::Comer;
use crate::steady::queues::locks::Known;
use crate::steady::queues::overflow::Groups;
use crate::steady::queues::throng::Throng;
use crate::steady::queues::visits::Visit;

/// Part of the cores that those have who are not entitled to them, up to which whoever is entitled
/// to nothing never runs, and from which on it does again: between the two it is as it was.
const SCARCE: [f64; 2] = [0.005, 0.02];
/// How often it is found that cores are left without it before that is taken as told.
const OFTEN: u8 = 4;

/// Share of a partition's time on a chip below which it is of no account.
pub(in crate::steady) const NOTHING: f64 = 1e-4;

/// Share of the time of a thread by how many are busy on its core, itself included.
pub(in crate::steady) type Crowd = [f64; THREADS];

/// Whom threads find on some of the cores on which they keep a processor.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::steady) struct Neighbours {
    /// Partitions of the others, in order.
    pub who: Vec<usize>,
    /// Share of the threads at the site.
    pub share: f64,
}

/// A chip on which a partition runs.
#[derive(Clone, Debug, Default)]
pub(in crate::steady) struct Site {
    pub chip: usize,
    /// Share of its core time there.
    pub share: f64,
    /// What an instruction costs by busy threads of the core; those not priced yet are zero.
    pub classes: Vec<Class>,
    /// The site before it at which it costs the same.
    pub twin: Option<usize>,
    /// What a dispatch loses there to cold caches [ns].
    pub reload_ns: f64,
    /// On a host, the share of its time by how many threads are busy on its core.
    pub crowd: Option<Crowd>,
    /// The same by how many of its partition's threads have work, for
    /// [some numbers](crate::steady::hosts::own::numbers); nothing where that is of no account.
    pub by_number: Vec<Crowd>,
    /// On a host, whose threads are beside one, with their shares; nobody where all are its like.
    pub company: Vec<(usize, f64)>,
    /// The same where threads keep their processors.
    pub beside: Vec<Neighbours>,
    /// There, what a thread is to those beside it, by busy threads of the core.
    pub times: Vec<Times>,
    /// On a host, who comes to one's last processor while one is away: these, each lot with its
    /// chance.
    pub comers: Vec<(f64, Vec<Visit>)>,
    /// There, who comes to each processor beside it.
    pub visits: Vec<Visit>,
    /// On a Linux host: whose each processor beside it is, with the chance that it is anybody's.
    pub neighbours: Vec<(f64, Visit)>,
}

impl Site {
    /// One that is not priced yet.
    pub fn new(chip: usize, share: f64, form: &Form) -> Self {
        Self {
            chip,
            share,
            classes: vec![Class::default(); form.fixed.len()],
            ..Self::default()
        }
    }

    /// Costs what another does until it is priced itself: the step in which it came may be the
    /// last.
    pub fn costs_as(mut self, other: Option<&Self>) -> Self {
        if let Some(other) = other {
            self.classes.clone_from(&other.classes);
        }
        self
    }

    /// Cores for each of its threads that runs, which are less than one where these share them.
    pub fn cores(&self) -> f64 {
        let Some(crowd) = &self.crowd else { return 1.0 };
        (1..)
            .zip(&crowd[1..])
            .map(|(threads, share)| share / f64::from(threads))
            .sum()
    }
}

/// What an instruction costs at a site.
pub(in crate::steady) fn classes<'a>(sites: &'a [Site], of: &'a Site) -> &'a [Class] {
    of.twin.map_or(&of.classes, |twin| &sites[twin].classes)
}

/// Where others keep virtual processors from their cores, how near to all together: between 0,
/// where each waits by itself, and 1. Assumed, half way: which it is hangs on the order in which
/// they come to cores, of which nothing is told.
const TOGETHER: f64 = 0.5;
/// Part of the time for which one is taken to run at least.
const SELDOM: f64 = 0.01;

/// What a partition does.
#[derive(Clone, Debug, Default)]
pub(in crate::steady) struct Doing {
    pub sites: Vec<Site>,
    /// Cores that it is entitled to; under PR/SM the weights of all tell.
    pub entitled: f64,
    /// Part of it that its caps leave it, the group's among them.
    pub allowed: f64,
    /// Whether its threads spin for a lock, and whether a limit may stop all of them together.
    pub spins: bool,
    pub in_step: bool,
    /// What is left of both for those of its virtual processors that have work in a window.
    pub due: f64,
    /// Time of an instruction, by busy threads, mean over the chips [ns].
    pub ns: [f64; THREADS],
    /// The same on a host, by how many threads have work, as of [`Site::by_number`].
    pub by_number_ns: Vec<f64>,
    pub load: Load,
    /// Share of the time with work in which a dispatch holds a virtual processor up.
    pub stalled: f64,
    pub stalled_by: Tamed,
    /// How long one that is woken is held up, and the part of `stalled` that this is of those that
    /// a lock's releases wake.
    pub wake_ns: f64,
    pub stalled_by_lock: f64,
    /// What cold caches add to a burst [ns].
    pub reload_ns: f64,
    /// Instructions of a burst, those of z/VM's own for it included, and what comes on top.
    pub burst: f64,
    pub extra: Beside,
    /// Mean response where z/VM's machines, or several workloads, tell it [ns].
    pub response_ns: Option<f64>,
    /// Transactions of several workloads in a nanosecond.
    pub done_per_ns: f64,
    /// Share of the bursts beside others, see [`Filled`](crate::steady::queues::filling::Filled).
    pub stray: f64,
    /// Dispatches in a nanosecond, those of daemons included.
    pub dispatches: f64,
    /// Share of the time with work in which its virtual processors have a core.
    pub served: f64,
    /// The same but for what it waits at its own cap.
    pub let_run: f64,
    /// The same as far as turns tell that those come round to who is beside others that always want
    /// more: all of it where turns are not known, or a core is always left over.
    pub turns: f64,
    /// On a host, whether it is not known how long its work waits for turns.
    pub waits_unknown: bool,
    /// Part of those with work that its own cap or pool leaves.
    pub limited: f64,
    /// On a host, the most cores that quotas leave it, polling included.
    pub quota: f64,
    /// On a host, the share of the time in which no quota stops it; all of it where it has what it
    /// wants and does not poll.
    pub runs: f64,
    /// On a host, what would poll under its quotas, were those that others use up no matter
    /// [processors], and the share of it for which others that run meanwhile leave one.
    pub may_poll: f64,
    pub poll_room: f64,
    /// Whom one meets on average over those that run while the first slices of a quota last.
    pub last_slices: f64,
    /// Whether it takes turns with others, all with the whole machine.
    pub in_turn: bool,
    /// Whether it does with one other under a hypervisor that switches them as a whole.
    pub one_of_two: bool,
    /// Of a workload beside others, what [`Doing::met`] is of all together.
    pub met_beside: Option<f64>,
    /// How they wait under PR/SM although they are within their share.
    pub waits: Waits,
    /// Whether all cores are used by those that are entitled to them, so that what is entitled to
    /// nothing never runs.
    pub starves: bool,
    /// How often cores were left once it did not run.
    pub fed: u8,
    /// Chance that somebody waits for the core that one of its logical cores leaves.
    pub awaited: f64,
    /// How often in a nanosecond one of its logical cores is thrown off that is beyond its share.
    pub thrown: f64,
    /// The same at the end of its turns beside others that always want more.
    pub cut: f64,
    /// How many of them wait for cores that others leave.
    pub queued: f64,
    /// What interrupts of its devices do to it.
    pub handled: Handled,
    /// On a host, threads among which the work is.
    pub in_use: f64,
    /// Cores that daemons and polling take; the part of it that is KVM's polling.
    pub beside: f64,
    pub polls: f64,
    /// Cores that it used in the step before.
    pub before: f64,
    /// Share of its time on other chips of the home node, and on other nodes.
    pub away: [f64; 2],
    /// Share of those that stay for good that came to their home chips before these were full.
    pub first: f64,
    /// Share of them that came back to them after they had been thrown off.
    pub roamed: f64,
    /// Share of its time on other home chips of its node than its virtual processors' own.
    pub roved: f64,
    /// Chance that one that was elsewhere finds a core at home when it comes.
    pub comes_home: f64,
    /// Chance that one of those that stay, once thrown off, finds its home chip full when it comes
    /// back.
    pub shut_out: f64,
    /// Share of its time on chips that are no home of any of its virtual processors.
    pub out: f64,
}

impl Doing {
    /// Those whom one that works meets at a lock, itself included, over how many work on average.
    /// Who comes finds of all with work those on a core besides itself: more of them than on
    /// average where their number varies. Of these, limits stop all together, and others keep some
    /// from their cores, or all at once where they take turns with the whole machine.
    pub fn met(&self) -> f64 {
        let work = self.load.vps.max(1e-9);
        let all = work + self.load.vps_variance / work;
        let left = 1.0 - self.kept_off();
        let together = if self.in_turn { 1.0 } else { TOGETHER };
        let at_once = left + together * (1.0 - left);
        let meets = self.last_slices * (1.0 + at_once * (all - 1.0).max(0.0));
        (meets / (self.served * work)).clamp(1.0, SELDOM.recip())
    }

    /// As if alone at home, with nothing known of what it costs.
    pub fn new(form: &Form) -> Self {
        let mut new = Self::default();
        new.begin(form);
        new
    }

    /// The same, in the room that it has; what dispatches cost is taken to be as before.
    pub fn begin(&mut self, form: &Form) {
        let mut sites = std::mem::take(&mut self.sites);
        sites.truncate(form.homes.len());
        for (at, (chip, share)) in form.homes.iter().enumerate() {
            match sites.get_mut(at) {
                Some(site) => {
                    (site.chip, site.share, site.twin) = (chip.index(), *share, None);
                    site.classes.resize(form.fixed.len(), Class::default());
                }
                None => sites.push(Site::new(chip.index(), *share, form)),
            }
        }
        *self = Self {
            sites,
            entitled: form.entitled,
            allowed: 1.0,
            spins: form.spins,
            in_step: form.in_step,
            due: form.entitled,
            burst: form.demand.burst,
            stalled: self.stalled,
            reload_ns: self.reload_ns,
            served: 1.0,
            let_run: 1.0,
            turns: 1.0,
            quota: f64::INFINITY,
            runs: 1.0,
            may_poll: 0.0,
            poll_room: 1.0,
            limited: 1.0,
            last_slices: 1.0,
            in_use: f64::from(form.filled.vps()),
            ..Self::default()
        };
    }

    /// Becomes like another, but for what its instructions cost, in the room that it has.
    pub fn follow(&mut self, other: &Self) {
        let mut sites = std::mem::take(&mut self.sites);
        sites.resize_with(other.sites.len(), Site::default);
        for (site, other) in sites.iter_mut().zip(&other.sites) {
            (site.chip, site.share, site.twin) = (other.chip, other.share, None);
            site.classes.resize(other.classes.len(), Class::default());
        }
        *self = Self {
            sites,
            ns: other.ns,
            by_number_ns: other.by_number_ns.clone(),
            load: other.load,
            ..*other
        };
    }

    /// Finds whether what is entitled to nothing ever runs, where those who are not entitled to
    /// their cores have so many. That it never does is a balance only if all cores are used without
    /// it: where it is found again and again that some are left then, it does run.
    pub fn starve(&mut self, left: f64, cores: f64) {
        let starves = left <= SCARCE[usize::from(self.starves)] * cores && self.fed < OFTEN;
        self.fed += u8::from(self.starves && !starves);
        self.starves = starves;
    }

    /// Core time in a nanosecond: physical cores used.
    pub fn cores(&self) -> f64 {
        self.served * self.load.vps + self.beside
    }
}

/// What becomes of the cores of a type, while those of another are looked at.
#[derive(Clone, Debug)]
pub(in crate::steady) struct Aside {
    pub free: ById<ChipId, f64>,
    pub idle: ById<ChipId, f64>,
    pub used: ById<ChipId, f64>,
    pub comers: ById<ChipId, Vec<Comer>>,
}

impl Aside {
    /// Of as many types as there are; none where there is one.
    pub fn of(types: usize, chips: usize) -> Vec<Self> {
        let one = Self {
            free: ById::of(0.0, chips),
            idle: ById::of(0.0, chips),
            used: ById::of(0.0, chips),
            comers: ById::of(Vec::new(), chips),
        };
        vec![one; if types > 1 { types } else { 0 }]
    }
}

/// Which caches a dispatch is taken to find: those that are told, or all of one kind where a
/// balance is looked for from below or above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::steady) enum Caches {
    Told,
    Warm,
    Cold,
}

/// What pools reserve for their members.
fn reserves(spec: &Spec) -> Vec<f64> {
    let has_some = spec.machine.hypervisor.policy == Policy::Phyp;
    let reserved = spec.pools.iter().map(|pool| pool.reserved);
    reserved.filter(|_| has_some).collect()
}

/// The machine and all that runs on it.
#[derive(Clone)]
pub(in crate::steady) struct State {
    pub machine: Machine,
    /// Cores that groups of partitions, or pools, may use together.
    pub limits: Vec<f64>,
    /// Cores that each of PowerVM's pools has reserved for its own members.
    pub reserves: Vec<f64>,
    pub tree: Topology,
    pub contention: Contention,
    pub occupancy: Occupancy,
    pub spreads: Vec<Spread>,
    pub working: Vec<Working>,
    pub doing: Vec<Doing>,
    /// Cores by chip that are active, and those of them that are nobody's own.
    pub active: ById<ChipId, f64>,
    pub free: ById<ChipId, f64>,
    /// What those at home on each leave of it.
    pub idle: ById<ChipId, f64>,
    /// What those away from home take of that, beside it and elsewhere.
    pub spare: [ById<ChipId, f64>; 2],
    /// Cores at work on each.
    pub used: ById<ChipId, f64>,
    /// Who finds a core on each chip, and on each node.
    pub seats: Groups,
    /// Shares of each partition on its home chips, and who comes to each of these.
    pub at_home: Vec<Vec<f64>>,
    pub crowds: ById<ChipId, Throng>,
    /// Cores of each that are taken for good, and that were taken when the run began.
    pub taken: ById<ChipId, f64>,
    pub begun: ById<ChipId, f64>,
    /// Part of those that come to each under PowerVM that it has cores for.
    pub fits: ById<ChipId, f64>,
    pub nodes: Groups,
    /// What is used beyond what is entitled, by weight.
    pub excess: f64,
    /// Cores on which one is thrown off by another, under PR/SM.
    pub contested: f64,
    /// Virtual processors that wait on the mean while more want a core than there are.
    pub waiting_while_short: f64,
    /// Part of those that find no core of their node when a window begins that find one elsewhere.
    pub goes_elsewhere: f64,
    /// Cores that are left there while one is used by who threw somebody off.
    pub left_meanwhile: f64,
    /// Part of the usual way that a step goes, so that those that overshoot come to rest.
    pub pace: f64,
    /// Room to work in: core time, or shares of it, by chip.
    pub row: ById<ChipId, f64>,
    /// Whether somebody waits at a port of the part of the machine that is solved.
    pub waits: bool,
    /// Which caches dispatches are taken to find.
    pub caches: Caches,
    /// Whether a part of the machine cannot be solved without the rest.
    pub spills: bool,
    /// Who comes to cores of each and leaves them.
    pub comers: ById<ChipId, Vec<Comer>>,
    /// Those of the chip that was looked at last, as they were before.
    pub asked: Vec<Comer>,
    /// Where cores are of several types, which they are, what becomes of those that are not looked
    /// at, and of which those are that are.
    pub types: CoreTypes,
    pub aside: Vec<Aside>,
    pub at_type: usize,
    /// z/VM's own in each partition.
    pub cps: Vec<Cp>,
    /// What is known of the lock of each partition for which its threads sleep.
    pub locks: Vec<Known>,
    /// Who may use which processors, on a host.
    pub host: Option<Host>,
}

impl State {
    /// With the first form of each partition.
    pub fn new(spec: &Spec, limits: Vec<f64>, tree: Topology, forms: &[&Form]) -> Self {
        let (machine, types) = (&spec.machine, CoreTypes::new(spec));
        let of_several = || forms.iter().flat_map(|form| &form.workloads);
        let priced = || forms.iter().copied().chain(of_several());
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
            spreads: priced().map(|form| form.spread.clone()).collect(),
            working: priced().map(|form| form.working).collect(),
            doing: priced().map(Doing::new).collect(),
            free: active.clone(),
            idle: active.clone(),
            used: ById::of(0.0, active.len()),
            comers: ById::of(Vec::new(), active.len()),
            asked: Vec::new(),
            seats: Groups::new(active.len()),
            spare: [active.clone(), active.clone()],
            at_home: priced().map(|_| Vec::new()).collect(),
            crowds: ById::of(Throng::default(), active.len()),
            taken: ById::of(0.0, active.len()),
            begun: ById::of(0.0, active.len()),
            fits: ById::of(1.0, active.len()),
            nodes: Groups::new(tree.nodes().len()),
            excess: 0.0,
            contested: 0.0,
            waiting_while_short: 0.0,
            goes_elsewhere: 1.0,
            left_meanwhile: 0.0,
            pace: 1.0,
            row: ById::of(0.0, active.len()),
            waits: false,
            spills: false,
            caches: Caches::Told,
            aside: Aside::of(types.count, active.len()),
            types,
            at_type: 0,
            cps: vec![Cp::default(); forms.len()],
            locks: vec![Known::default(); forms.len()],
            host: None,
            active,
            machine: in_effect(spec),
            limits,
            reserves: reserves(spec),
            tree,
        }
    }

    /// A partition takes another form: where it was is forgotten, the rest of the machine is not.
    pub fn take(&mut self, partition: usize, form: &Form) {
        self.doing[partition].begin(form);
        self.at_home[partition].clear();
        self.spreads[partition].follow(&form.spread);
        self.working[partition] = form.working;
        for (workload, of) in form.each_workload() {
            self.take(workload, of);
        }
    }

    /// Part of the machine, and who runs there, become as they are in another state of it.
    pub fn follow(&mut self, other: &Self, scope: &Scope, forms: &[&Form]) {
        self.occupancy.follow(&other.occupancy);
        for at in scope.active.iter().copied() {
            self.follow_one(at, other, forms[at]);
            for (workload, of) in forms[at].each_workload() {
                self.follow_one(workload, other, of);
            }
        }
        self.cps.clone_from(&other.cps);
        self.aside.clone_from(&other.aside);
        self.free.follow(&other.free);
        self.idle.follow(&other.idle);
        for (of, other) in self.spare.iter_mut().zip(&other.spare) {
            of.follow(other);
        }
        self.used.follow(&other.used);
        self.fits.follow(&other.fits);
        self.goes_elsewhere = other.goes_elsewhere;
        self.taken.follow(&other.taken);
        self.seats.follow(&other.seats);
        self.nodes.follow(&other.nodes);
        for node in scope.nodes.iter().copied() {
            for chip in self.tree.chips_of(node) {
                self.comers[chip].clone_from(&other.comers[chip]);
            }
        }
        self.waits = self.occupancy.waits_on(&scope.ports);
        self.spills = false;
    }

    fn follow_one(&mut self, at: usize, other: &Self, form: &Form) {
        self.doing[at].follow(&other.doing[at]);
        self.at_home[at].clone_from(&other.at_home[at]);
        self.spreads[at].follow(&other.spreads[at]);
        self.working[at] = form.working;
    }

    /// Where threads of a partition run, so many on each core.
    pub fn place_of<'a>(
        &'a self,
        (at, form): (usize, &'a Form),
        chip: ChipId,
        threads: usize,
    ) -> Place<'a> {
        Place {
            machine: &self.machine,
            tree: &self.tree,
            contention: &self.contention,
            occupancy: &self.occupancy,
            partition: &form.partition,
            spread: &self.spreads[at],
            chip,
            threads: threads as u8,
            snoozing_sibling: form.snoozes && threads == 1,
        }
    }

    /// Which cores of a part of the machine nobody owns.
    pub fn share_out(&mut self, forms: &[&Form], scope: &Scope) {
        if let Some(host) = &mut self.host {
            host.divide(&self.tree, forms);
            host.stays = self.machine.smt.parts == 1 && host.all_stay(&self.tree, forms);
        }
        if self.types.count > 1 {
            return self.share_out_types(forms);
        }
        for chips in scope.nodes.iter().map(|node| self.tree.chips_of(*node)) {
            for chip in chips {
                self.free[chip] = self.active[chip];
            }
        }
        let owners = scope.active.iter().map(|at| (&self.doing[*at], forms[*at]));
        for (doing, form) in owners.filter(|(_, form)| form.owns) {
            for (chip, share) in &form.all_homes {
                self.free[*chip] -= share * form.keeps(doing.cores());
            }
        }
    }

    /// The same where some lend what they do not use, of which each step tells more.
    pub fn share_out_lent(&mut self, forms: &[&Form], scope: &Scope) {
        if scope.active.iter().any(|at| forms[*at].lends_below() > 0.0) {
            self.share_out(forms, scope);
        }
    }
}

/// The machine with the constants that take effect: under PR/SM a time slice is the window.
fn in_effect(spec: &Spec) -> Machine {
    let mut machine = spec.machine.clone();
    if machine.hypervisor.policy == Policy::Prsm {
        let window_ns = run_time_ns(spec);
        machine.hypervisor.window_ns = window_ns.unwrap_or(machine.hypervisor.window_ns);
    }
    machine
}
