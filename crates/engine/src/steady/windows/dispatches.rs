//! What dispatches cost: the hypervisor's time, and caches that a virtual processor finds cold.

use crate::cost::{Beyond, Refill};
use crate::ids::{ChipId, NodeId};
use crate::spec::{Guest, Policy};
use crate::steady::layout::form::Form;
use crate::steady::layout::state::{Caches, Doing, Site, State, NOTHING};
use crate::steady::layout::stints::{in_use, on_and_off};
use crate::steady::queues::kinds::{KINDS, SHARES};
use crate::steady::queues::last_cores::{found, least_idle, meet, Comer};
use crate::steady::queues::runs::Runs;
use crate::steady::windows::evictions::entitled_part;
use crate::steady::windows::slices::{counts, high_part};

impl State {
    /// What dispatches cost.
    pub(in crate::steady) fn dispatches(&mut self, at: usize, form: &Form) {
        if self.host.is_some() {
            return self.turns(at, form);
        }
        let hypervisor = &self.machine.hypervisor;
        let own = (hypervisor.dispatch_ns + hypervisor.cede_ns + hypervisor.prod_ns) as f64;
        let own = if form.free { 0.0 } else { own };
        let again = hypervisor.dispatch_ns as f64;
        self.handle_in_guest(at, form, again);
        self.doing[at].comes_home = self.comes_home(at, form);
        let doing = &self.doing[at];
        let load = &doing.load;
        let bursts = load.bursts_per_ns.max(1e-18);
        let vps = in_use(doing, form);
        let comes = (load.wakes_per_ns / bursts).min(1.0) + doing.thrown / bursts;
        let idle = (vps - load.vps).max(0.0);
        let handled = doing.handled;
        let reload = if form.owns {
            0.0
        } else if !form.workloads.is_empty() {
            self.reload_each(at, form);
            0.0
        } else {
            let mut sites = std::mem::take(&mut self.doing[at].sites);
            let all = self.reload(at, form, &mut sites);
            self.doing[at].sites = sites;
            all
        };
        let found_idle = idle / vps;
        let daemons = form.demand.daemons_per_ns;
        let daemon_wakes = daemons * found_idle;
        let polls = self.polled(at, form, daemons);
        let load = self.doing[at].load;
        let doing = &mut self.doing[at];
        // Daemons and polling use what the work leaves of the virtual processors.
        let left = f64::from(form.filled.vps()) - doing.served * load.vps;
        let others_ns = form.demand.daemons() * doing.ns[1] + handled.beside;
        let other_wakes = daemon_wakes + handled.wakes;
        let own_wakes = load.wakes_per_ns * (1.0 - handled.woken);
        let others_ns = others_ns + other_wakes * own;
        doing.beside = (others_ns + polls).min(left.max(0.0));
        doing.polls = polls.min(doing.beside - others_ns.min(doing.beside));
        doing.dispatches = own_wakes + other_wakes + doing.thrown;
        // What dispatches cost changes how many there are: half of the way keeps them together.
        let (held_up, worked) = (
            own_wakes * own + doing.thrown * again,
            doing.served * load.vps * (1.0 - doing.stalled),
        );
        let stalled = held_up / (held_up + worked).max(1e-15);
        doing.wake_ns = own;
        doing.stalled_by_lock = load.woken_per_ns * own / held_up.max(1e-15);
        let most = (0.7 * self.pace).min(1.0);
        doing.stalled = doing.stalled_by.step(doing.stalled, stalled, most);
        doing.reload_ns += 0.5 * self.pace * (comes * reload - doing.reload_ns);
    }

    /// Processors on which idle threads of AIX poll before they go: of all virtual processors that
    /// are not folded, since daemons wake those without work too.
    fn polled(&self, at: usize, form: &Form, daemons: f64) -> f64 {
        let load = &self.doing[at].load;
        let vps = match &form.partition.guest {
            Guest::Aix(aix) if aix.xvcpus < 0 => f64::from(form.filled.vps()),
            _ => in_use(&self.doing[at], form),
        };
        let idle = (vps - load.vps).max(0.0);
        let wakes = load.wakes_per_ns + daemons * idle / vps;
        // Of idle times that end by chance, what comes before the end of the polling.
        let mean = idle / wakes.max(1e-18);
        idle * -(-form.polls_ns / mean.max(1e-12)).exp_m1()
    }

    /// What a dispatch loses to cold caches: time of its threads together [ns].
    fn reload(&self, at: usize, form: &Form, sites: &mut [Site]) -> f64 {
        let doing = &self.doing[at];
        let load = &doing.load;
        let bursts = load.bursts_per_ns / (load.wakes_per_ns + doing.thrown).max(1e-18);
        let threads = f64::from(form.partition.smt).min(bursts.max(1.0));
        let bursts = if doing.thrown > 0.0 {
            bursts
        } else {
            bursts.max(1.0)
        };
        let runs = doing.runs().map(|of| {
            of.times(form.demand.burst * bursts / threads)
                .beside(form.partition.smt > 1)
        });
        let mut all = 0.0;
        for index in 0..sites.len() {
            if sites[index].share <= NOTHING {
                continue;
            }
            sites[index].reload_ns = match sites[index].twin {
                Some(twin) => sites[twin].reload_ns,
                None => self.reload_at((at, form), (sites, index), at, runs),
            };
            all += sites[index].share * threads * sites[index].reload_ns;
        }
        all
    }

    /// Chance that one that ran elsewhere finds a core at home when it comes, where it goes then:
    /// as often as one at home finds its own core taken and none idle there. Of those that find
    /// theirs taken as many go elsewhere as come back, so all that come home to a core that is not
    /// their last are as many as find it taken.
    fn comes_home(&self, at: usize, form: &Form) -> f64 {
        let out = self.doing[at].out;
        if self.machine.hypervisor.policy != Policy::Phyp || out <= 0.0 {
            return 0.0; // Nobody is elsewhere, or the last core is looked at first, wherever it is.
        }
        let (mut taken, mut all) = (0.0, 0.0);
        let sites = self.doing[at].sites.iter();
        for site in sites.filter(|site| site.share > NOTHING) {
            let chip = ChipId::new(site.chip);
            if form.is_home(chip) {
                let for_good = self.come_back(self.tree.node_of(chip));
                let there = found(&self.comers[chip], at, for_good, f64::INFINITY);
                taken += site.share * there.moved;
                all += site.share;
            }
        }
        let leaves = (1.0 - out) * taken / f64::max(all, 1e-9);
        leaves / (out + leaves).max(1e-9)
    }

    /// The same at one site, of one thread that executes so many instructions in runs of each kind,
    /// of a workload of the partition that comes there.
    pub(in crate::steady) fn reload_at(
        &self,
        (at, form): (usize, &Form),
        (sites, index): (&[Site], usize),
        whole: usize,
        runs: [Runs; 2],
    ) -> f64 {
        let site = &sites[index];
        let chip = ChipId::new(site.chip);
        let node = self.tree.node_of(chip);
        let beside =
            |of: &&Site| of.share > NOTHING && self.tree.node_of(ChipId::new(of.chip)) == node;
        let on_node: f64 = sites.iter().filter(beside).map(|of| of.share).sum();
        let refill = Refill::of(&site.classes[1], &self.place_of((at, form), chip, 1));
        if refill.lines_per_instruction <= 0.0 {
            return 0.0;
        }
        let is_home = form.is_home(chip);
        let came = if is_home {
            0.0
        } else {
            self.doing[whole].comes_home
        };
        let comers = &self.comers[chip];
        let there = found(comers, whole, self.come_back(node), refill.turnover_ns);
        let strangers = self.strangers(whole, chip);
        let (moved, displaced) = match self.caches {
            Caches::Told => (self.moves(at, form, (came, there.moved)), there.displaced),
            Caches::Warm => (0.0, 0.0),
            Caches::Cold => (1.0, 0.0),
        };
        let from = [site.share, on_node - site.share, 1.0 - on_node];
        let own_ns: f64 = from
            .iter()
            .zip(refill.own_ns)
            .map(|(share, ns)| share * ns)
            .sum();
        let common_ns = self.common_ns(at, chip, refill.own_ns);
        let doing = &self.doing[at];
        let alone_ns = doing.ns[1];
        let mean_ns = alone_ns + doing.reload_ns / form.demand.burst.max(1.0);
        // What is lost is refilled as far as the work goes that it came for.
        let cold_ns = |lost: f64, own_ns: f64| {
            let own = refill.lines * (1.0 - refill.common) * lost;
            let common = refill.lines * refill.common * lost * strangers;
            let cold = (own + common) / refill.lines_per_instruction;
            if cold <= 0.0 {
                return 0.0;
            }
            let ns = (own * own_ns + common * common_ns) / (own + common);
            let slower = (alone_ns + ns) / mean_ns;
            let instructions = runs.map(|of| of.refilled(cold, slower));
            instructions.iter().sum::<f64>() * ns
        };
        let displaced = self.with_next(whole, form, displaced, &refill);
        let (moved, displaced) = self.with_thrown(at, (moved, displaced), &refill);
        let beyond_ns = if form.reaches && self.caches != Caches::Warm {
            let came = [from[1], from[2]].map(|share| moved * share);
            let run = runs.iter().map(Runs::mean).sum();
            self.beyond_ns((at, form), (sites, index), (whole, run), came)
        } else {
            0.0
        };
        beyond_ns
            + moved * cold_ns(1.0, own_ns)
            + (1.0 - moved) * cold_ns(displaced, refill.own_ns[0])
    }

    /// What a thread that comes to a site for a run of so many instructions fetches of what caches
    /// that cores share hold for it [ns]; it was near before, or far, with such chances.
    fn beyond_ns(
        &self,
        (at, form): (usize, &Form),
        (sites, index): (&[Site], usize),
        (whole, run): (usize, f64),
        came: [f64; 2],
    ) -> f64 {
        let moves: f64 = came.iter().sum();
        if moves <= 0.0 {
            return 0.0;
        }
        let chip = ChipId::new(sites[index].chip);
        let [on_ns, off_ns] = on_and_off(&self.doing[whole], form);
        // Of times that end by chance, what lines that come in are before the end of.
        let gone = |ns: f64, turnover: Option<f64>| {
            turnover.map_or(1.0, |turnover| {
                1.0 / (1.0 + turnover / ns.clamp(1e-9, 1e18))
            })
        };
        let turnovers = self.occupancy.ages.turnovers(&self.tree, chip);
        let displaced = turnovers.map(|turnover| gone(off_ns, turnover));
        let back = comes_back(sites, index);
        let kept =
            turnovers.map(|turnover| back * (1.0 - gone((on_ns + off_ns) / moves, turnover)));
        let beyond = Beyond::of(&self.place_of((at, form), chip, 1), &form.fixed[1]);
        beyond.mean_ns(run, came, displaced, kept)
    }

    /// Share of those that come to a chip that come to another core than before: such a share comes
    /// from elsewhere, and such a share of the others finds its core taken.
    fn moves(&self, at: usize, form: &Form, (came, taken): (f64, f64)) -> f64 {
        // Who had to wait would have gone to its last core if that had been left.
        let stopped = self.doing[at].waits.comings;
        let awaited = self.doing[at].awaited;
        let taken = taken + (1.0 - taken) * awaited;
        let found = stopped + (1.0 - stopped) * taken;
        // While all cores are taken, who comes throws somebody off or waits.
        let found = found * (1.0 - awaited * (1.0 - self.elsewhere(at)));
        (1.0 - high_part(&self.doing[at], form)) * (came + (1.0 - came) * found)
    }

    /// What others displaced of the lines of one that comes back to its core. While all cores of
    /// a PowerVM frame are taken, who waits has a core as soon as that is left, and until the one
    /// that left it takes it back.
    fn with_next(&self, at: usize, form: &Form, displaced: f64, refill: &Refill) -> f64 {
        if self.machine.hypervisor.policy != Policy::Phyp || self.caches != Caches::Told {
            return displaced;
        }
        let doing = &self.doing[at];
        let [on_ns, off_ns] = on_and_off(doing, form);
        let waits_ns = on_ns * (1.0 / doing.served.max(1e-3) - 1.0);
        // Of times that end by chance, what a line's end comes before.
        let gone = (off_ns + waits_ns) / (off_ns + waits_ns + refill.turnover_ns);
        displaced + doing.awaited * (gone - displaced).max(0.0)
    }

    /// Time of an instruction while the lines are refilled that a partition has in common, by where
    /// they lie [ns]. A run finds them on this chip, or node, in those windows in which enough of
    /// its cores are busy there, which are the more the more cores that is on the mean.
    fn common_ns(&self, at: usize, chip: ChipId, [local, near, far]: [f64; 3]) -> f64 {
        let cores = self.spreads[at].cores();
        let node = cores.slice(self.tree.chips_of(self.tree.node_of(chip)));
        let [here, beside] = [cores[chip], node.iter().sum()].map(has_lines);
        here * local + (1.0 - here) * (beside * near + (1.0 - beside) * far)
    }

    /// A share of what a partition does comes to a chip.
    pub(in crate::steady) fn come_to(
        &mut self,
        at: usize,
        form: &Form,
        (chip, share): (ChipId, f64),
    ) {
        let doing = &self.doing[at];
        let load = &doing.load;
        let cores = share * doing.served * load.vps;
        let wakes = share * (load.wakes_per_ns + doing.handled.wakes);
        let comers = &mut self.comers[chip];
        if form.stays || !(cores > HARDLY_ANY && wakes > SELDOM_PER_NS * cores) {
            comers.retain(|of| of.partition != at);
            return;
        }
        let each = counts(doing, form).map(|count| share * count);
        let others = form.kinds.others();
        let is_home = form.is_home(chip);
        let fresh = if is_home { 0.0 } else { doing.comes_home };
        // Under PR/SM who waits takes the core that is left, whichever it is in its guest.
        let again = match self.machine.hypervisor.policy {
            Policy::Phyp => form.filled.again(),
            _ => 1.0,
        };
        let of = |count: f64, part: f64| {
            let one = Comer::of(at, (count, others), part * cores, part * wakes);
            one.afresh(fresh).again(again)
        };
        // Away from home they are few, and all who are there for now. Of very many partitions each
        // is one of many on its chip, and each pair takes time.
        let is_told_apart = is_home && self.doing.len() <= MANY;
        let all = [of(each.iter().sum(), 1.0)];
        let apart: [Comer; KINDS] = std::array::from_fn(|kind| of(each[kind], SHARES[kind]));
        let new: &[Comer] = if is_told_apart { &apart } else { &all };
        let known = comers.iter().filter(|of| of.partition == at);
        if known.count() == new.len() {
            let known = comers.iter_mut().filter(|of| of.partition == at);
            known.zip(new).for_each(|(of, new)| *of = new.known(of));
        } else {
            comers.retain(|of| of.partition != at);
            comers.extend(new);
        }
    }

    /// How often those that come to the chips of a node find their cores taken there.
    pub(in crate::steady) fn meet_on(&mut self, node: NodeId) {
        let mut last: Option<ChipId> = None;
        let mut asked = std::mem::take(&mut self.asked);
        for chip in self.tree.chips_of(node) {
            self.comers[chip].retain(|of| of.cores > 0.0);
            let idle = self.free[chip] - self.used[chip];
            // Chips on which all is alike, as most are of a home of several, need not be worked out
            // again.
            let alike = last.filter(|last| {
                let same = self.free[*last] - self.used[*last] == idle;
                same && asked == self.comers[chip]
            });
            if let Some(alike) = alike {
                let found = std::mem::take(&mut self.comers[alike]);
                self.comers[chip].clone_from(&found);
                self.comers[alike] = found;
            } else {
                asked.clone_from(&self.comers[chip]);
                let idle = self.at_least_idle(chip, idle);
                meet(&mut self.comers[chip], idle);
                last = Some(chip);
            }
        }
        self.asked = asked;
    }

    /// Cores of a chip that are idle at least, though those that come would take all on the mean.
    fn at_least_idle(&self, chip: ChipId, idle: f64) -> f64 {
        if self.machine.hypervisor.policy != Policy::Phyp || idle >= 1.0 {
            return idle;
        }
        let (mut cores, mut away, mut out) = (0.0, 0.0, 0.0);
        for of in &self.comers[chip] {
            cores += of.cores;
            away += (of.count - of.cores).max(0.0);
            out += of.cores * self.doing[of.partition].out;
        }
        idle.max(least_idle(away, out / f64::max(cores, 1e-9)).min(1.0))
    }

    /// Share of others' partitions in what runs on a chip.
    fn strangers(&self, at: usize, chip: ChipId) -> f64 {
        let all = self.used[chip] + self.used_beside(chip);
        if all > 0.0 {
            (1.0 - self.spreads[at].cores()[chip] / all).max(0.0)
        } else {
            0.0
        }
    }

    /// How often in a nanosecond an idle core of a node is taken by one that was thrown off there,
    /// and comes back when a window begins.
    fn come_back(&self, node: NodeId) -> f64 {
        let thrown = self.nodes.thrown(node.index());
        if thrown <= 0.0 {
            return 0.0;
        }
        let chips = self.tree.chips_of(node);
        let cores: f64 = self.free.slice(chips).iter().sum();
        let used: f64 = self.used.slice(chips).iter().sum();
        thrown / (cores - used).max(SCARCELY * cores).max(1.0)
    }
}

impl Doing {
    /// Runs in which one may be thrown off, and the others, by instructions of the mean run: that
    /// is while all cores are taken, and beyond its share, so these are many and short. While a
    /// core is idle all of a partition's virtual processors with work run.
    fn runs(&self) -> [Runs; 2] {
        if self.thrown <= 0.0 {
            let [all, none] = Runs::alike(1.0);
            return [all.joined(self.joins()), none];
        }
        let in_room = ((1.0 - self.awaited) / self.served.max(1e-9)).min(1.0);
        let beyond = 1.0 - entitled_part(self);
        let all = self.load.wakes_per_ns + self.thrown;
        let wakes = self.load.wakes_per_ns / all;
        let may = beyond * self.awaited * wakes;
        let work = beyond * (1.0 - in_room);
        let thrown = self.thrown / all;
        let kinds = [
            Runs::of(thrown + may, work).thrown(thrown / (thrown + may)),
            Runs::of(wakes - may, 1.0 - work),
        ];
        kinds.map(|of| of.joined(self.joins()))
    }

    /// Share of the bursts that find their virtual processor at work.
    fn joins(&self) -> f64 {
        1.0 - self.load.wakes_per_ns / self.load.bursts_per_ns.max(1e-18)
    }
}

/// Chance that one that comes to a site from another was there before that other: where it goes to
/// next hangs on how much is done there, and not on where it was.
fn comes_back(sites: &[Site], index: usize) -> f64 {
    let here = sites[index].share;
    let others = sites.iter().enumerate().filter(|(at, _)| *at != index);
    let back = |(_, of): (usize, &Site)| of.share * here / (1.0 - of.share).max(here).max(1e-12);
    let all: f64 = others.map(back).sum();
    (all / (1.0 - here).max(1e-12)).min(1.0)
}

/// Part of the windows in which a partition that keeps so many cores busy has its common lines in
/// their caches.
fn has_lines(cores: f64) -> f64 {
    let [never, always] = [1.0 - VARIES, 1.0 + VARIES].map(|by| by * Refill::BUSY_ENOUGH);
    ((cores - never) / (always - never)).clamp(0.0, 1.0)
}

/// Part by which the cores that are busy in a window differ from their mean: the root of twice a
/// stay by the window, for a core with stays of a fiftieth. Assumed, 0.1 to 0.5: a two-hundredth to
/// an eighth.
const VARIES: f64 = 0.2;
/// Cores of a partition on a chip that nobody there notices. Assumed, 1e-4 to 1e-2.
const HARDLY_ANY: f64 = 1e-3;
/// Partitions and workloads beyond which those of each count as one kind. Assumed: with so many the
/// pairs of a full frame's chips take as long as all else.
const MANY: usize = 64;
/// How soon one leaves its core that counts as one that comes and goes [1/ns]: within eleven days.
const SELDOM_PER_NS: f64 = 1e-15;
/// Part of some cores that is idle at least, however much is asked of them.
const SCARCELY: f64 = 1e-3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_lines_are_nearer_in_more_windows_the_more_cores_are_busy() {
        let chances = [0.0, 0.39, 0.45, 0.5, 0.55, 0.61, 8.0].map(has_lines);
        assert!(chances.windows(2).all(|pair| pair[0] <= pair[1]));
        assert_eq!((chances[1], chances[5]), (0.0, 1.0));
        assert!((has_lines(Refill::BUSY_ENOUGH) - 0.5).abs() < 1e-12);
    }
}
