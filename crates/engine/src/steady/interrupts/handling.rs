//! What interrupts of devices take: time of the processors that see to them, and of those who wait.
//!
//! ```text
//! processor idle           the work is done beside the partition's, at the price of a wake-up
//! its sibling busy         the siblings are slowed for as long
//! a thread runs there      the thread stands still for as long
//! ```
//! Each burst of work that waits for devices is one interrupt. Interrupts take turns among their
//! processors, so each of these gets an equal part; which share of the time it is busy follows from
//! how the guest fills its virtual processors. What is seen to on a busy core is work of that core:
//! it makes all bursts there longer by the share of the threads' time that it takes. Those who wait
//! get their answer that much later, and wait for those before them on the processor: the work is
//! always as long, so that is half of an exponential one's wait (M/D/1, Khintchine 1932).

use crate::guest::aix::{Folding, Used};
use crate::ids::ChipId;
use crate::machine::memory_ns;
use crate::spec::Guest;
use crate::steady::layout::form::Form;
use crate::steady::layout::state::{Doing, Site, State, NOTHING};
use crate::steady::queues::demand::Arrivals;
use crate::steady::queues::devices::{Handled, Handling, Part, NEARLY_ALL};
use crate::steady::queues::filling::THREADS;
use crate::steady::queues::halts::used;
use crate::steady::queues::runs::Runs;

/// Standard deviations by which the virtual processors that are wanted at once in a second are more
/// than the mean (assumed, 2 to 3).
const VARIES: f64 = 2.5;

impl State {
    /// Bursts of a partition in a nanosecond that wait for a device: of transactions from outside,
    /// and of users.
    pub(in crate::steady) fn answers_per_ns(&self, at: usize, form: &Form) -> [f64; 2] {
        let mut all = [0.0; 2];
        let mut add = |at: usize, form: &Form| {
            if form.demand.asks_devices {
                let users = matches!(form.demand.arrivals, Arrivals::Closed(..));
                all[usize::from(users)] += self.doing[at].load.bursts_per_ns;
            }
        };
        if form.workloads.is_empty() {
            add(at, form);
        }
        for (workload, of) in form.each_workload() {
            add(workload, of);
        }
        all
    }

    /// Time for which lines that a device has written are waited for on a chip [ns].
    pub(in crate::steady) fn device_lines_ns(
        &self,
        handling: &Handling,
        part: &Part,
        chip: ChipId,
    ) -> f64 {
        if part.lines == 0.0 {
            return 0.0;
        }
        let domain = handling.domain.unwrap_or_else(|| self.tree.domain_of(chip));
        part.lines * memory_ns(&self.machine, &self.tree, chip, domain)
    }

    /// What so many instructions of an interrupt lose to cold caches where a core is woken
    /// for them [ns].
    fn handled_cold_ns(&self, at: usize, form: &Form, instructions: f64) -> f64 {
        let doing = &self.doing[at];
        let wakes = doing.load.wakes_per_ns + doing.handled.wakes;
        if form.owns || wakes <= 0.0 {
            return 0.0;
        }
        let lost = |(index, site): (usize, &Site)| {
            let from = (&doing.sites[..], index);
            let runs = Runs::alike(instructions);
            let cold = self.reload_at((at, form), from, at, runs);
            site.share * cold
        };
        let sites = doing.sites.iter().enumerate();
        // A chip that is priced as another one has no price of its own.
        let sites = sites.filter(|(_, site)| site.share > NOTHING && site.twin.is_none());
        let (mut all, mut share) = (0.0, 0.0);
        for (index, site) in sites {
            all += lost((index, site));
            share += site.share;
        }
        all / f64::max(share, 1e-9)
    }

    /// Who does a part of an interrupt, and what it takes.
    fn seen_to<'a>(
        &self,
        (at, form): (usize, &Form),
        handling: &Handling,
        part: &'a Part,
        rate: f64,
    ) -> Seen<'a> {
        let doing = &self.doing[at];
        let sites = doing.sites.iter();
        let lines =
            |site: &Site| site.share * self.device_lines_ns(handling, part, ChipId::new(site.chip));
        let lines_ns: f64 = sites.map(lines).sum();
        let on = Processors::of(doing, form, &part.cpus);
        let each = rate / on.count;
        let (instructions, waits_ns) = handling.coalesced(part, each, (doing.ns[1], lines_ns));
        let instructions = instructions + lines_ns / doing.ns[1];
        let cold_ns = self.handled_cold_ns(at, form, instructions);
        let one = (instructions, cold_ns);
        let alone = on.take(doing, form, one, 0.0);
        let took = on.take(doing, form, one, on.siblings_see_to(rate, alone.ns));
        Seen {
            part,
            on,
            took,
            waits_ns,
        }
    }

    /// What interrupts on a partition's own processors do to it, if its devices cost anything.
    pub(in crate::steady) fn handle_in_guest(&mut self, at: usize, form: &Form, wake_ns: f64) {
        let Some(handling) = &form.handling else {
            return;
        };
        let doing = &self.doing[at];
        let answers: f64 = self.answers_per_ns(at, form).iter().sum();
        let rate = answers + handling.rate_per_ns;
        let wake_ns = wake_ns + waits_ns(doing);
        let parts = handling.parts.iter();
        let each: Vec<Seen> = parts
            .map(|part| self.seen_to((at, form), handling, part, rate))
            .collect();
        let mut all = Handled::default();
        let mut most = f64::INFINITY;
        for seen in &each {
            let (on, took) = (&seen.on, &seen.took);
            let alone = on.alone(doing, rate, took.alone_ns);
            let (ns, squares) = seen.with_others(&each);
            most = most.min(1.0 / ns.max(1e-9) - handling.rate_per_ns);
            let queued_ns = 0.5 * rate * squares / (1.0 - (rate * ns).min(NEARLY_ALL));
            all.lost += rate * took.lost_ns;
            let idle = 1.0 - on.busy;
            let taken = alone * on.vps * idle;
            all.beside += taken;
            all.on_siblings += rate * (took.on_siblings + idle * took.alone_ns / doing.ns[1]);
            all.on_siblings -= taken / doing.ns[1];
            let wakes = idle * (1.0 - alone); // Another one may have woken it.
            all.wakes += rate * wakes;
            all.answer_ns += took.ns + queued_ns + wakes * wake_ns + seen.waits_ns;
            all.woken = on.same;
        }
        let load = &doing.load;
        let idle = (f64::from(form.filled.vps()) - load.vps).max(1e-9);
        let others = (all.beside / idle).min(1.0);
        let answered = answers / rate.max(1e-30);
        all.woken = answered * all.woken + (1.0 - answered * all.woken) * others;
        let threads: f64 = (1..THREADS).map(|busy| load.with[busy] * busy as f64).sum();
        let at_work = threads * doing.served * (1.0 - doing.stalled);
        all.lost = (all.lost / at_work.max(1e-9)).min(0.9);
        all.most = Some(most.max(0.0) * NEARLY_ALL);
        all.wait_for_the_most(&form.demand, load);
        let pace = (0.5 * self.pace).min(1.0);
        self.doing[at].handled.turn_to(all, pace);
    }
}

/// How long a virtual processor waits for a core each time that it gets work [ns].
fn waits_ns(doing: &Doing) -> f64 {
    let load = &doing.load;
    (1.0 - doing.served) * load.vps / load.wakes_per_ns.max(1e-15)
}

/// Processors of a guest that see to interrupts: how many, the share of the time in which the
/// virtual processors that they are of have work, and the chance that the thread that waited goes
/// to the same one, which has not to be woken again.
struct Processors {
    count: f64,
    busy: f64,
    same: f64,
    /// Of so many virtual processors.
    vps: f64,
}

/// Virtual processors that some logical ones are of.
fn on_vps(cpus: &[&u16], smt: u8) -> f64 {
    let mut vps: Vec<u16> = cpus.iter().map(|cpu| **cpu / u16::from(smt)).collect();
    vps.sort_unstable();
    vps.dedup();
    vps.len() as f64
}

/// Virtual processors that a guest leaves unfolded: what its rule says of the cores used, and all
/// that are wanted at once, since it unfolds at once and folds one a second.
fn unfolded(doing: &Doing, form: &Form) -> f64 {
    let vps = form.filled.vps();
    let folding = match &form.partition.guest {
        Guest::Aix(aix) => Folding::of(aix),
        _ => None,
    };
    let Some(folding) = folding else {
        return f64::from(vps);
    };
    let used = Used {
        cores: doing.cores(),
        most: doing.load.vps.min(1.0),
    };
    let needed = f64::from(folding.needed(used, vps as u16));
    let at_once = doing.load.vps + VARIES * doing.load.vps_variance.sqrt();
    needed.max(at_once.ceil()).min(f64::from(vps))
}

/// What one interrupt takes, means [ns].
#[derive(Default)]
struct Took {
    /// Of the time of the processor that sees to it.
    ns: f64,
    /// The same where nobody else is at work on its core.
    alone_ns: f64,
    /// Of the time of threads that stand still or are slowed.
    lost_ns: f64,
    /// Instructions on siblings of busy threads, beyond what those are slowed.
    on_siblings: f64,
}

/// A part of an interrupt, who does it, and what it takes.
struct Seen<'a> {
    part: &'a Part,
    on: Processors,
    took: Took,
    /// How long the device waits with it [ns].
    waits_ns: f64,
}

impl Seen<'_> {
    /// What all parts of an interrupt take of a processor that does this one in the mean [ns], and
    /// the same by the time of each [ns²].
    fn with_others(&self, each: &[Self]) -> (f64, f64) {
        let here = each.iter().filter(|of| self.part.meets(of.part));
        here.fold((0.0, 0.0), |(ns, squares), of| {
            let one = of.took.ns / of.on.count;
            (ns + one, squares + one * of.took.ns)
        })
    }
}

impl Processors {
    fn of(doing: &Doing, form: &Form, cpus: &[u16]) -> Self {
        let (vps, smt) = (form.filled.vps(), form.partition.smt);
        let load = &doing.load;
        let open = unfolded(doing, form);
        if cpus.is_empty() {
            return Self {
                count: open * f64::from(smt),
                busy: (load.vps / open).min(1.0),
                same: 1.0 / open,
                vps: open,
            };
        }
        let each = used(vps as usize, form.homes.len(), load.vps, form.again());
        let serves = |cpu: &&u16| f64::from(**cpu / u16::from(smt)) < open;
        let mut some: Vec<&u16> = cpus.iter().filter(serves).collect();
        if some.is_empty() {
            some = cpus.iter().collect();
        }
        let busy = |cpu: &&u16| each[usize::from(**cpu / u16::from(smt))];
        let count = some.len() as f64;
        let sum: f64 = some.iter().map(busy).sum();
        Self {
            count,
            busy: (sum / count).min(1.0),
            same: sum / count / load.vps.max(1e-12),
            vps: on_vps(&some, smt),
        }
    }

    /// Share of the time in which a core without other work sees to interrupts, each of which takes
    /// so long by itself: several at once where siblings take them, each then slower.
    fn alone(&self, doing: &Doing, rate: f64, alone_ns: f64) -> f64 {
        let each = (rate * alone_ns / self.count).min(1.0);
        let siblings = (self.count / self.vps).max(1.0);
        if siblings <= 1.0 {
            return each;
        }
        let beside = ((siblings - 1.0) * each).min(1.0);
        let slower = 1.0 + beside * (doing.ns[2] / doing.ns[1] - 1.0).max(0.0);
        1.0 - (1.0 - (each * slower).min(1.0)).powf(siblings)
    }

    /// Siblings of one that sees to interrupts that do so too meanwhile, if each takes so long.
    fn siblings_see_to(&self, rate: f64, ns: f64) -> f64 {
        let siblings = (self.count / self.vps).max(1.0) - 1.0;
        siblings * (rate * ns / self.count).min(1.0)
    }

    /// What an interrupt of so many instructions takes, which cold caches make so much longer on an
    /// idle one, while so many siblings see to others.
    fn take(
        &self,
        doing: &Doing,
        form: &Form,
        (instructions, cold_ns): (f64, f64),
        beside: f64,
    ) -> Took {
        let (load, ns) = (&doing.load, &doing.ns);
        let smt = usize::from(form.partition.smt);
        let alone = instructions * ns[1] + cold_ns;
        let idle = 1.0 - self.busy;
        let slower =
            |busy: usize| 1.0 + beside * (ns[(busy + 1).min(smt)] / ns[busy] - 1.0).max(0.0);
        let mut took = Took {
            ns: idle * alone * slower(1),
            alone_ns: alone,
            ..Took::default()
        };
        for busy in 1..=smt {
            let share = self.busy * load.with[busy] / load.vps.max(1e-12);
            let hit = busy as f64 / smt as f64;
            let (own, more) = (ns[busy], ns[(busy + 1).min(smt)]);
            took.ns += share * instructions * (hit * own * slower(busy) + (1.0 - hit) * more);
            let slowed = busy as f64 * (more - own).max(0.0);
            took.lost_ns += share * instructions * (hit * own + (1.0 - hit) * slowed);
            took.on_siblings += share * instructions * (1.0 - hit) * (1.0 - slowed / own);
        }
        took
    }
}
