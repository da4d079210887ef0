//! What switches cost on a host: the switch itself, a guest's way out of it and back, polling, and
//! caches that a thread finds cold.

use crate::cost::Refill;
use crate::hypervisor::numa::next_period_ns;
use crate::ids::ChipId;
use crate::spec::Policy;
use crate::steady::hosts::quotas::limits;
use crate::steady::hosts::stops::Stops;
use crate::steady::layout::form::Form;
use crate::steady::layout::host::Host;
use crate::steady::layout::state::{Doing, Site, State, NOTHING};
use crate::steady::queues::demand::Arrivals;
use crate::steady::queues::halts::{used, Returning};
use crate::steady::queues::visits::{left_at_one_of, left_by_one_of, left_by_sibling};

/// How virtual processors halt: for how long on the mean [ns], what polling takes [processors], the
/// share of halts that end meanwhile, and the squares of the busy shares.
#[derive(Default)]
struct Halting {
    ns: f64,
    polls: f64,
    /// The same under quotas; nothing elsewhere.
    may_poll: f64,
    found: f64,
    squares: f64,
}

impl Halting {
    fn of(host: &Host, doing: &Doing, (at, form): (usize, &Form)) -> Self {
        let load = &doing.load;
        let vps = f64::from(form.filled.vps());
        let idle = (vps - load.vps).max(0.0);
        let again = form.again();
        let chips = form.homes.len();
        let (between_stops, polled) = between_stops(doing, form);
        let used = used(form.filled.vps() as usize, chips, load.vps, again);
        let turns = chips as f64 * idle / vps;
        let stages = 1.0 + (1.0 - again) * (turns - 1.0).max(0.0);
        let back = returning(doing, form);
        let mut all = Self {
            squares: used.iter().map(|busy| busy * busy).sum(),
            ..Self::default()
        };
        for busy in used {
            let share = busy / load.vps.max(1e-12);
            let halt = (1.0 - busy) / (load.wakes_per_ns * share).max(1e-18);
            all.ns += share * halt;
            if let Some(kvm) = &form.threads.kvm {
                let waiting = share * back.waiting;
                let back = Returning { waiting, ..back };
                let (poll_ns, ends) = kvm.polling_with(between_stops * halt, stages, back);
                all.polls += polled * load.wakes_per_ns * share * poll_ns;
                all.found += share * ends;
            }
        }
        // Nobody polls while others want its processor: as often as it waits itself when it comes.
        let room = host.room_of(at) * (doing.served / doing.runs).min(1.0);
        all.polls *= room;
        all.found *= room;
        if limits(&host.cgroups, form.threads.group).next().is_some() {
            all.may_poll = all.polls;
            all.polls *= doing.poll_room;
            all.found *= doing.poll_room;
        }
        all
    }
}

/// A guest's threads that wait for devices between the bursts of what they do.
fn returning(doing: &Doing, form: &Form) -> Returning {
    let demand = &form.demand;
    let of = match demand.arrivals {
        Arrivals::Closed(count, _) => count.max(1.0),
        _ => f64::INFINITY,
    };
    let waiting = doing.load.bursts_per_ns / demand.bursts.max(1.0) * demand.wait_ns;
    let is_known = form.workloads.is_empty() && waiting < of;
    Returning {
        waiting: if is_known { waiting } else { 0.0 },
        of,
        share: form.again(),
    }
}

/// Share of a halt in which no quota stops it, and share of the polling of such halts that is left.
/// While a quota stops it nobody polls. Who comes from outside is then served at once, by all
/// together, when it may run again, and after that they come and halt as without a quota; those who
/// come back after a pause come more often the sooner they are served.
fn between_stops(doing: &Doing, form: &Form) -> (f64, f64) {
    let runs = doing.runs;
    if !matches!(form.demand.arrivals, Arrivals::Open(_)) {
        return (runs, 1.0);
    }
    let busy = doing.served * doing.load.vps;
    let idle = (f64::from(form.filled.vps()) - busy).max(1e-9);
    (1.0, (runs - busy * (1.0 - runs) / idle).max(0.0))
}

impl State {
    /// What wake-ups and turns cost a partition.
    pub(in crate::steady) fn turns(&mut self, at: usize, form: &Form) {
        let Some(host) = &self.host else { return };
        let doing = &self.doing[at];
        let load = doing.load;
        let vps = f64::from(form.filled.vps());
        let halting = Halting::of(host, doing, (at, form));
        let kvm = form.threads.kvm.as_ref();
        let path = kvm.map_or(0.0, |kvm| kvm.path_ns);
        let passage = host.switch_ns + path;
        // One that others wait for runs for a turn, while as many wait as run for less. Whom a
        // quota or a cap stops gives nobody its turn.
        let waiting = (2.0 * doing.kept_off()).min(1.0);
        let ends = doing.served * load.vps * waiting / host.turn_ns;
        let sleeps = load.wakes_per_ns * (1.0 - halting.found);
        let in_guest = load.wakes_per_ns * halting.found * path;
        let stops = Stops::of(host, doing, form);
        let in_kernel = kvm.map_or(0.0, |_| self.switches((at, form)) * host.guest_switch_ns);
        let held_up = (sleeps + ends + stops.per_ns) * passage
            + in_guest
            + in_kernel
            + faults(host, doing, form);
        let wake_ns = (sleeps * passage + in_guest) / load.wakes_per_ns.max(1e-18);
        let beside = host.siblings - 1;
        let after = |away_ns: f64| {
            move |site: &Site, turnover_ns: f64| {
                let by_sibling = left_by_sibling(&site.visits, away_ns, turnover_ns);
                let by_neighbour = left_by_one_of(&site.neighbours, away_ns, turnover_ns);
                let own = left_at_one_of(&site.comers, away_ns, turnover_ns);
                own.and(by_sibling.and(by_neighbour).of(beside)).lost()
            }
        };
        // Under Xen any processor of the run queue goes on with one; Linux leaves it where it was.
        let moved = f64::from(u8::from(host.policy == Policy::Credit2));
        let turn_ns = host.turn_ns;
        let put_off = |_: &Site, turnover_ns: f64| {
            (1.0, 1.0 - (1.0 - moved) * (-turn_ns / turnover_ns).exp())
        };
        let cold = |at: usize, form: &Form, part: f64| {
            let [sleeps, ends, stops_of] = [sleeps, ends, stops.per_ns].map(|often| part * often);
            sleeps * self.cold(at, form, sleeps, after(halting.ns))
                + ends * self.cold(at, form, ends, put_off)
                + stops_of * self.cold(at, form, stops_of, after(stops.ns))
        };
        let (reload_ns, each) = self.refilled((at, form), cold);
        let busy = doing.served * load.vps;
        let worked = busy * (1.0 - doing.stalled);
        let left = vps.min(doing.quota) - busy;
        let demand = &form.demand;
        let daemon_wakes = demand.daemons_per_ns * (vps - load.vps).max(0.0) / vps;
        let daemons = demand.daemons() * doing.ns[1] + daemon_wakes * passage;
        let beside = daemons + halting.polls;
        let doing = &mut self.doing[at];
        doing.may_poll = halting.may_poll;
        doing.beside = beside.min(left.max(0.0));
        doing.polls = doing.beside * halting.polls / beside.max(1e-18);
        doing.in_use =
            (load.vps * load.vps / halting.squares.max(1e-18)).clamp(load.vps, vps.max(load.vps));
        doing.dispatches = sleeps + ends + stops.per_ns + daemon_wakes;
        doing.wake_ns = wake_ns;
        doing.stalled_by_lock = load.woken_per_ns * wake_ns / held_up.max(1e-15);
        let stalled = held_up / (held_up + worked).max(1e-15);
        doing.stalled += 0.7 * self.pace * (stalled.min(0.9) - doing.stalled);
        doing.reload_ns += 0.5 * self.pace * (reload_ns - doing.reload_ns);
        for (workload, ns) in each {
            let reload_ns = &mut self.doing[workload].reload_ns;
            *reload_ns += 0.5 * self.pace * (ns - *reload_ns);
        }
    }

    /// How often in a nanosecond a guest's kernel goes on with another thread: who always has work
    /// stays where it is.
    fn switches(&self, (at, form): (usize, &Form)) -> f64 {
        let often = |(at, of): (usize, &Form)| match of.demand.arrivals {
            Arrivals::Always(_, duty) if duty < 1.0 => self.doing[at].load.wakes_per_ns,
            Arrivals::Always(..) => 0.0,
            _ => self.doing[at].load.bursts_per_ns,
        };
        if form.workloads.is_empty() {
            return often((at, form));
        }
        form.each_workload().map(often).sum()
    }

    /// What a burst refills of what was lost [ns]; of several workloads each has its own.
    fn refilled(
        &self,
        (at, form): (usize, &Form),
        cold: impl Fn(usize, &Form, f64) -> f64,
    ) -> (f64, Vec<(usize, f64)>) {
        let often = |at: usize| self.doing[at].load.bursts_per_ns.max(1e-18);
        let own = |(workload, of)| {
            let part = often(workload) / often(at);
            (workload, cold(workload, of, part) / often(workload))
        };
        let each: Vec<(usize, f64)> = form.each_workload().map(own).collect();
        if each.is_empty() {
            (cold(at, form, 1.0) / often(at), each)
        } else {
            (0.0, each)
        }
    }

    /// What a thread loses that finds others' lines where it comes to run: `lost` is how often that
    /// is, and the share of its own that it does not find then, in caches that are filled anew in
    /// so long [ns]. Losing all now and then costs less than a part each time, for no more is
    /// refilled than it has work.
    fn cold(
        &self,
        at: usize,
        form: &Form,
        often: f64,
        lost: impl Fn(&Site, f64) -> (f64, f64),
    ) -> f64 {
        let doing = &self.doing[at];
        let bursts = doing.load.bursts_per_ns / often.max(1e-18);
        let each = form.demand.burst * bursts;
        let mut all = 0.0;
        for site in doing.sites.iter().filter(|site| site.share > NOTHING) {
            let chip = ChipId::new(site.chip);
            let refill = Refill::of(&site.classes[1], &self.place_of((at, form), chip, 1));
            if refill.lines_per_instruction <= 0.0 {
                continue;
            }
            let busy = self.used[chip];
            let (chance, lost) = lost(site, refill.turnover_ns);
            let strangers = (1.0 - site.share * doing.cores() / busy.max(1e-9)).max(0.0);
            let own = refill.lines * (1.0 - refill.common) * lost;
            let common = refill.lines * refill.common * lost * strangers;
            let cold = (own + common) / refill.lines_per_instruction;
            if cold > 0.0 {
                let ns = (own * refill.own_ns[0] + common * refill.common_ns) / (own + common);
                all += site.share * chance * each * (1.0 - (-cold / each).exp()) * ns;
            }
        }
        all
    }
}

/// Processor time that faults of NUMA balancing take in a nanosecond, once scans are as rare as
/// they get: an address space has one whenever its threads have run for the time between two.
fn faults(host: &Host, doing: &Doing, form: &Form) -> f64 {
    let (Some(numa), Some(memory)) = (&host.numa, &form.threads.drawn) else {
        return 0.0;
    };
    let one = &form.partition;
    let local = memory.iter().copied().fold(0.0, f64::max);
    let mut period = numa.scan_period_max_ns;
    for _ in 0..100 {
        period = next_period_ns(numa, period, local, one.profile.private_data);
    }
    let spaces = if form.threads.kvm.is_some() {
        1.0
    } else {
        f64::from(form.filled.vps())
    };
    let data = one.data_bytes as f64;
    let runs = doing.served * doing.load.vps;
    let scanned = (numa.scan_bytes as f64 * spaces.min(runs)).min(data);
    scanned / one.page_bytes.max(1) as f64 * numa.fault_ns as f64 / period as f64
}
