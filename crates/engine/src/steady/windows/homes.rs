//! On which chips partitions run: at home while a core is idle there, else beside it or elsewhere.
//!
//! On a chip nobody is thrown off while another core of the node is idle. Threads that always have
//! work begin with the run and keep their cores, in the order of the partitions, but for those that
//! are capped: while these are away others come home. Of those that come each finds it full as
//! often, whatever it stays for then; under PR/SM, which looks at one's last core first, those that
//! stay for longer than a window are there before them. On a full node of PowerVM what is entitled
//! throws off what is not, and that stays away until a window begins while a core is idle. Who
//! finds none goes to the chip with most idle cores, or waits for the first that is left at home.

use crate::ids::{ById, ChipId, NodeId};
use crate::machine::Topology;
use crate::spec::Policy;
use crate::steady::layout::form::Form;
use crate::steady::layout::scope::Scope;
use crate::steady::layout::state::{Doing, Site, State, NOTHING};
use crate::steady::queues::overflow::{Groups, Offered, LAST, RANKS, TURNS};
use crate::steady::windows::beginning::slice;
use crate::steady::windows::evictions::{entitled_part, waits_at_a_cap};
use crate::steady::windows::scatter::{scatter, Chips, Finds};

/// Steps in which the level of idle cores is found.
const LEVEL_STEPS: usize = 16;
/// Behind all others.
const BEHIND: [f64; RANKS] = only(LAST);

impl State {
    /// On which chips the partitions of a part of the machine run; by how much that changed.
    pub(in crate::steady) fn place(&mut self, forms: &[&Form], scope: &Scope) -> f64 {
        if self.host.is_some() {
            self.place_host(forms);
            return 0.0;
        }
        let half_window = 0.5 * self.machine.hypervisor.window_ns as f64;
        self.settle_at_home(forms, scope);
        for node in scope.nodes.iter().copied() {
            let chips = self.tree.chips_of(node);
            let free = self.free.slice(chips);
            self.nodes.open(node.index(), free.iter().sum());
            for (chip, cores) in chips.into_iter().zip(free) {
                self.seats.open(chip.index(), *cores);
                (self.taken[chip], self.begun[chip]) = (0.0, 0.0);
            }
        }
        self.fit_in(scope);
        self.excess = self.mean_excess(forms, scope.there());
        for at in scope.there().filter(|at| !forms[*at].owns) {
            self.ask(at, forms[at], half_window);
        }
        for node in scope.nodes.iter().copied() {
            match self.evicts() {
                true => {
                    let within = self.all_within(node, forms, scope);
                    let window_ns = 2.0 * half_window;
                    self.nodes.close_by_window(node.index(), window_ns, within);
                }
                false => self.nodes.close(node.index()),
            }
            for chip in self.tree.chips_of(node) {
                self.seats.close(chip.index());
                self.idle[chip] = (self.free[chip] - self.seats.kept(chip.index())).max(0.0);
            }
        }
        self.goes_elsewhere = self.find_elsewhere();
        self.level_idle(forms, scope);
        let mut change = 0.0_f64;
        for at in scope.active.iter().copied().filter(|at| !forms[*at].owns) {
            let before = self.doing[at].out;
            self.settle_down(at, forms[at], half_window);
            change = change.max((self.doing[at].out - before).abs());
        }
        change
    }

    /// Part of those that come to each chip of a PowerVM frame that it has cores for.
    fn fit_in(&mut self, scope: &Scope) {
        if self.machine.hypervisor.policy != Policy::Phyp {
            return;
        }
        for chip in scope
            .nodes
            .iter()
            .flat_map(|node| self.tree.chips_of(*node))
        {
            if self.used[chip] <= self.free[chip] && self.fits[chip] >= 1.0 {
                continue;
            }
            let has = self.free[chip] / self.used[chip].max(1e-9);
            let step = has.clamp(0.5, 2.0).powf(0.5 * self.pace);
            self.fits[chip] = (self.fits[chip] * step).min(1.0);
        }
    }

    /// Cores that those away from home take: of the chips with most idle ones, down to where these
    /// are as many as they need, first on the nodes of their homes, then anywhere.
    fn level_idle(&mut self, forms: &[&Form], scope: &Scope) {
        let cores = |state: &Self, at: usize| {
            let doing = &state.doing[at];
            doing.served * doing.load.vps
        };
        for node in scope.nodes.iter().copied() {
            let mut needed = 0.0;
            for at in scope.there().filter(|at| !forms[*at].owns) {
                let homes = forms[at].homes_by_node.iter();
                let here = homes.filter(|(of, _)| *of == node.index());
                let share: f64 = here.map(|(_, share)| share).sum();
                needed += share * self.doing[at].away[0] * cores(self, at);
            }
            let chips = self.tree.chips_of(node);
            let level = level(self.idle.slice(chips), needed);
            for chip in chips {
                self.spare[0][chip] = (self.idle[chip] - level).max(0.0);
            }
        }
        let there = scope.there().filter(|at| !forms[*at].owns);
        let needed: f64 = there
            .map(|at| self.doing[at].away[1] * cores(self, at))
            .sum();
        let chips = self.tree.chips();
        let level = level(self.idle.slice(chips), needed);
        for chip in chips {
            self.spare[1][chip] = (self.idle[chip] - level).max(0.0);
        }
    }

    /// What a partition wants of its home and of where else it runs.
    fn ask(&mut self, at: usize, form: &Form, half_window: f64) {
        let doing = &self.doing[at];
        let (seats, back) = (
            self.seats_of(at, form, half_window),
            come_back(doing, half_window),
        );
        let ranks = self.ranks(at, form, back);
        let (come, begin) = (ranks[1] + ranks[3], self.begins(at, form));
        let slice = slice(form);
        for (at, share) in &form.homes_by_node {
            let all = offered(doing, form, *share);
            let rest = all.part(1.0 - begin);
            self.nodes.add(*at, ranks, rest);
            if ranks[1] > 0.0 {
                self.nodes.add_at_first(*at, rest.part(come));
            }
            self.nodes.add(*at, BEHIND, all.part(begin));
            self.nodes.add_beginning(*at, slice, begin * all.most);
        }
        let there = 1.0 - self.once(at, form, back) * doing.away[1];
        let found = self.ask_chips((at, form), seats, there);
        let doing = &self.doing[at];
        if doing.out > 0.0 {
            let to = (&mut self.seats, &mut self.nodes);
            let leaves = self.machine.hypervisor.policy == Policy::Phyp;
            let ranks = if leaves { BEHIND } else { ranks };
            // The home chips of which it was told above how much of it is there.
            let told = self.at_home[at].len();
            add_strangers(&self.tree, (doing, form, told), (seats, ranks), to);
        }
        (self.doing[at].first, self.doing[at].roamed) = found;
    }

    /// What those of a partition that are `there` want of its home chips, and of the rest of their
    /// nodes if they have been thrown off; the share of those that always have work that are on
    /// home chips since the beginning, and again.
    fn ask_chips(
        &mut self,
        (at, form): (usize, &Form),
        seats: [f64; RANKS],
        there: f64,
    ) -> (f64, f64) {
        let roams = self.roams(at, form);
        let doing = &self.doing[at];
        let by_turns = form.stays && self.begins(at, form) > 0.0;
        let (mut first, mut roamed) = (0.0, 0.0);
        for (chip, share) in form.home_chips().zip(&self.at_home[at]) {
            let mut asked = offered(doing, form, *share);
            let all = asked.most;
            // Those that are capped leave in each window, when others come home.
            let begin = all.min((self.free[chip] - self.begun[chip]).max(0.0));
            if form.stays && !by_turns {
                self.begun[chip] += begin;
                asked.most = begin * (1.0 - roams);
                self.taken[chip] += asked.most;
                let kept = asked.most / all;
                (asked.mean, asked.variance) = (kept * asked.mean, kept * asked.variance);
                asked.entitled *= kept;
                first += share * kept;
            }
            self.seats.add(chip.index(), seats, asked.part(there));
            let begin = there * seats[TURNS] * asked.most;
            self.seats.add_beginning(chip.index(), slice(form), begin);
        }
        for (node, share) in form.homes_by_node.iter().filter(|_| roams > 0.0) {
            let chips = self.tree.chips_of(NodeId::new(*node));
            let room = |chip: ChipId| self.room_for(doing, chip);
            let all: f64 = chips.into_iter().map(room).sum();
            let asked = offered(doing, form, *share).part(roams);
            // Of those that have been on their cores for as long the first is thrown off.
            let mut gone = 1.0 - there;
            for chip in chips {
                let came = self.room_for(doing, chip) / all.max(1e-9);
                let part = (came - gone).max(0.0);
                gone -= came - part;
                self.seats.add(chip.index(), seats, asked.part(part));
                if form.homes.iter().any(|(home, _)| *home == chip) {
                    roamed += roams * share * part / there.max(1e-9);
                }
            }
        }
        (first, roamed)
    }

    /// Cores of a chip that one may come to which was thrown off: idle ones, and those that its own
    /// have there.
    fn room_for(&self, doing: &Doing, chip: ChipId) -> f64 {
        let on_it = doing.sites.iter().filter(|site| site.chip == chip.index());
        let own: f64 = on_it.map(|site| site.share).sum();
        (self.idle[chip] + own * doing.served * doing.load.vps).min(self.free[chip])
    }

    /// In which order they get the cores of a chip: who always has work has been there from the
    /// beginning; of the others each finds it full as often when it comes, however long it stays.
    /// Under PR/SM one that comes looks at its last core first, so who stays long keeps it.
    /// One that always has work and is capped begins each window anew, all together.
    fn seats_of(&self, at: usize, form: &Form, half_window: f64) -> [f64; RANKS] {
        let begin = self.begins(at, form);
        let come = match self.machine.hypervisor.policy {
            Policy::Phyp => f64::from(u8::from(!form.stays)),
            _ => come_back(&self.doing[at], half_window),
        };
        let mut seats = [1.0 - come, come, 0.0, 0.0].map(|share| (1.0 - begin) * share);
        seats[TURNS] = begin;
        seats
    }

    /// In which order a partition's virtual processors get the cores of a node.
    fn ranks(&self, at: usize, form: &Form, back: f64) -> [f64; RANKS] {
        if self.machine.hypervisor.policy != Policy::Phyp {
            return [1.0 - back, back, 0.0, 0.0];
        }
        let doing = &self.doing[at];
        let entitled = entitled_part(doing);
        if waits_at_a_cap(doing, form) {
            // All begin a window together, when nobody can be thrown off.
            return BEHIND;
        }
        // Those that stay for longer than a window come back when one begins.
        let come = if form.stays { 0.0 } else { back };
        let stay = 1.0 - come;
        let thrown = if self.evicts() {
            self.yields(at, form)
        } else {
            1.0 - entitled
        };
        let of_stay = [stay * (1.0 - thrown), stay * thrown];
        [
            of_stay[0],
            come * entitled,
            of_stay[1],
            come * (1.0 - entitled),
        ]
    }

    /// A partition goes where it finds cores.
    fn settle_down(&mut self, at: usize, form: &Form, half_window: f64) {
        let mut shares = std::mem::take(&mut self.row);
        shares.iter_mut().for_each(|share| *share = 0.0);
        let doing = &self.doing[at];
        let (seats, back) = (
            self.seats_of(at, form, half_window),
            come_back(doing, half_window),
        );
        let (ranks, once) = (self.ranks(at, form, back), self.once(at, form, back));
        let (begin, slice) = (self.begins(at, form), slice(form));
        let others_far = |node: NodeId| self.nodes.lost(node.index(), ranks, back);
        let far = |node: NodeId| {
            let kept = self.nodes.kept_at_beginning(node.index(), slice);
            begin * (1.0 - kept) * self.goes_elsewhere + (1.0 - begin) * others_far(node)
        };
        let others_near = |chip: ChipId| {
            let far = others_far(self.tree.node_of(chip));
            if form.stays {
                return 1.0 - doing.first - doing.roamed * (1.0 - far);
            }
            let lost = if self.machine.hypervisor.policy == Policy::Phyp {
                self.seats.finds_none(chip.index())
            } else {
                self.seats.lost(chip.index(), seats, 1.0)
            };
            1.0 - (1.0 - once * far) * (1.0 - lost)
        };
        let near = |chip: ChipId| {
            if begin <= 0.0 {
                return others_near(chip);
            }
            let kept = self.seats.kept_by_turns(chip.index(), slice);
            let waits = self.waits_at_home(chip, slice);
            begin * (1.0 - kept - waits).max(0.0) + (1.0 - begin) * others_near(chip)
        };
        let finds = Finds {
            near: &near,
            far: &far,
            strays: &|home| self.strays(home),
            fits: &|home| if form.stays { 1.0 } else { self.fits[home] },
            anywhere: self.anywhere(at, form),
            evicts: self.evicts(),
            comes_home: self.returns(at, form, 2.0 * half_window),
        };
        let there = (form, self.homes_of(at, form));
        let away = scatter(there, &finds, self.chips(), &mut shares);
        let (shut_out, moved) = (self.shut_out(at, form), self.moved_home(at, form));
        let doing = &mut self.doing[at];
        doing.shut_out += 0.5 * self.pace * (shut_out - doing.shut_out);
        doing.away = away;
        doing.roved = (1.0 - away[0] - away[1]).max(0.0) * moved;
        settle_sites(doing, form, &mut shares, 0.5 * self.pace);
        self.row = shares;
        let is_home = |site: &&Site| form.is_home(ChipId::new(site.chip));
        let at_home = doing.sites.iter().filter(is_home);
        let at_home: f64 = at_home.map(|site| site.share).sum();
        doing.out = (1.0 - at_home).max(0.0);
    }

    fn chips(&self) -> Chips<'_> {
        Chips {
            tree: &self.tree,
            free: &self.free,
            idle: &self.spare,
        }
    }

    /// Part of the time of a dispatch away from home of PowerVM after a window in it is over: who
    /// runs on what it is entitled to looks for a core at home again then. Of an exponential time a
    /// share `r (1 - exp(-1 / r))` is after that, with its mean `r` windows.
    fn returns(&self, at: usize, form: &Form, window_ns: f64) -> Option<f64> {
        if self.machine.hypervisor.policy != Policy::Phyp {
            return None;
        }
        let doing = &self.doing[at];
        let run_ns = doing.run_ns();
        if form.stays || !run_ns.is_finite() {
            return Some(0.0);
        }
        let after = run_ns / window_ns * -(-window_ns / run_ns.max(1e-9)).exp_m1();
        Some(entitled_part(doing) * after.min(1.0))
    }

    /// Part of those that wait that get a core as if who waits took the first that is left: under
    /// PowerVM a core goes to one that is at home there, unless none of its own waits. How many
    /// wait in a queue is a geometric number, and so is a part of them taken at random: there is
    /// none with the chance `1 / (1 + mean)`.
    fn strays(&self, home: ChipId) -> f64 {
        if self.machine.hypervisor.policy != Policy::Phyp {
            return 1.0;
        }
        let all: f64 = self.free.slice(self.tree.chips()).iter().sum();
        let of_its_own = self.waiting_while_short * self.free[home] / all.max(1e-12);
        (1.0 + of_its_own).recip()
    }

    /// Chance that one that always has work finds its home chip full when it comes back.
    fn shut_out(&self, at: usize, form: &Form) -> f64 {
        let full = |(chip, share): &(ChipId, f64)| {
            let one = offered(&self.doing[at], form, *share).one();
            share * self.seats.full_beside(chip.index(), one)
        };
        let homes = form.homes.iter().filter(|_| form.stays);
        homes.map(full).sum()
    }
}

/// What a part of a partition's virtual processors asks for: so many of all, taken at random.
pub(in crate::steady) fn offered(doing: &Doing, form: &Form, share: f64) -> Offered {
    // Those that wait until a window ends do so together.
    let (vps, load) = (form.in_turn, &doing.load);
    let mean = doing.served * load.vps;
    let squares = doing.served * (load.vps_variance + load.vps * load.vps);
    let apart = if vps > 1.0 {
        share * (1.0 - share) * (mean * vps - squares).max(0.0) / (vps - 1.0)
    } else {
        0.0
    };
    Offered {
        mean: share * mean,
        variance: share * share * (squares - mean * mean) + apart,
        most: share * vps,
        hurry: 0.0,
        moves: 0.0,
        entitled: share * mean * entitled_part(doing),
    }
    .hurried(doing)
}

impl Offered {
    /// With how soon it changes as a partition does it.
    fn hurried(self, doing: &Doing) -> Self {
        let rate = doing.load.wakes_per_ns / doing.load.vps.max(1e-12);
        Self {
            hurry: rate * self.variance,
            moves: if rate > 0.0 { self.mean } else { 0.0 },
            ..self
        }
    }
}

/// All of one rank.
const fn only(rank: usize) -> [f64; RANKS] {
    let mut ranks = [0.0; RANKS];
    ranks[rank] = 1.0;
    ranks
}

/// Share of a partition's dispatches after which it looks for a core at home anew before a window
/// is over.
fn come_back(doing: &Doing, half_window: f64) -> f64 {
    let stay_ns = doing.load.vps / doing.load.wakes_per_ns.max(1e-15);
    half_window / (half_window + stay_ns)
}

/// Those of a partition that run where it is not at home; on a node of others' homes they leave for
/// anyone who is entitled.
fn add_strangers(
    tree: &Topology,
    (doing, form, told): (&Doing, &Form, usize),
    (seats, ranks): ([f64; RANKS], [f64; RANKS]),
    (chips, nodes): (&mut Groups, &mut Groups),
) {
    for site in &doing.sites {
        let chip = ChipId::new(site.chip);
        let mean = doing.served * doing.load.vps * site.share;
        let stranger = Offered {
            mean,
            variance: mean,
            most: mean,
            hurry: 0.0,
            moves: 0.0,
            entitled: 0.0,
        }
        .hurried(doing);
        let on_chip = Offered {
            entitled: mean * entitled_part(doing),
            ..stranger
        };
        let node = tree.node_of(chip).index();
        let near = form.homes_by_node.iter().any(|(home, _)| *home == node);
        if !near {
            nodes.add(node, ranks, stranger);
            chips.add(site.chip, ranks, on_chip);
        } else if form.home_chips().take(told).all(|home| home != chip) {
            chips.add(site.chip, seats, on_chip);
        }
    }
}

/// Down to where so many idle cores are taken of the chips with most of them; half a core less, as
/// the emptiest one is another now and then.
fn level(idle: &[f64], needed: f64) -> f64 {
    let (mut low, mut high) = (0.0, idle.iter().copied().fold(0.0, f64::max));
    for _ in 0..LEVEL_STEPS {
        let level = 0.5 * (low + high);
        let taken: f64 = idle.iter().map(|of| (of - level).max(0.0)).sum();
        if taken < needed {
            high = level;
        } else {
            low = level;
        }
    }
    (low - 0.5_f64).max(0.0)
}

/// A partition runs on these chips now: `part` of the way, so that those that displace each other
/// come to rest.
fn settle_sites(doing: &mut Doing, form: &Form, chips: &mut ById<ChipId, f64>, part: f64) {
    let counted = |share: f64| if share > NOTHING { part * share } else { 0.0 };
    for site in &mut doing.sites {
        let share = std::mem::take(&mut chips[ChipId::new(site.chip)]);
        site.share = (1.0 - part) * site.share + counted(share);
    }
    for (chip, share) in chips.entries().filter(|(_, share)| **share > NOTHING) {
        let site = Site::new(chip.index(), counted(*share), form);
        doing.sites.push(site.costs_as(doing.sites.first()));
    }
    let gone = |site: &Site| site.share <= 0.2 * NOTHING;
    if doing.sites.iter().any(gone) {
        part_twins(&mut doing.sites);
        doing.sites.retain(|site| !gone(site));
    }
    let all: f64 = doing.sites.iter().map(|site| site.share).sum();
    doing.sites.iter_mut().for_each(|site| site.share /= all);
}

/// Each has its own classes, for the places of those before it change.
pub(in crate::steady) fn part_twins(sites: &mut [Site]) {
    for index in 0..sites.len() {
        let (before, rest) = sites.split_at_mut(index);
        if let Some(twin) = rest[0].twin.take() {
            rest[0].classes.clone_from(&before[twin].classes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_emptiest_are_taken_first() {
        // Two of eight are taken of the emptiest alone; of the others once they are level.
        assert!((level(&[8.0, 2.0, 3.0], 2.0) - 5.5).abs() < 1e-3);
        assert!((level(&[8.0, 6.0, 3.0], 6.0) - 3.5).abs() < 1e-3);
        assert_eq!(level(&[1.0, 1.0], 5.0), 0.0);
    }
}
