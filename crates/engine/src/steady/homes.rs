//! On which chips partitions run: at home while a core is idle there, else beside it or elsewhere.
//!
//! On a chip nobody is thrown off while another core of the node is idle. Threads that always have
//! work begin with the run and keep their cores, in the order of the partitions; of the others,
//! those that stay for longer than a window are there before those that come and go. On a full node
//! of PowerVM what is entitled throws off what is not, and that stays away until a window begins
//! while a core is idle: so what is entitled comes first, whoever stays longer.

use super::form::Form;
use super::overflow::{Groups, Offered, RANKS};
use super::scope::Scope;
use super::state::{Doing, Site, State, NOTHING};
use crate::ids::{ById, ChipId, NodeId};
use crate::machine::Topology;
use crate::spec::{Policy, Processors};

/// Share of the time with work in which one has a core that waits for a window now and then.
const WAITS: f64 = 0.99;

impl State {
    /// On which chips the partitions of a part of the machine run; by how much that changed.
    pub(super) fn place(&mut self, forms: &[&Form], scope: &Scope) -> f64 {
        if self.host.is_some() {
            self.place_host(forms);
            return 0.0;
        }
        let half_window = 0.5 * self.machine.hypervisor.window_ns as f64;
        for node in scope.nodes.iter().copied() {
            let chips = self.tree.chips_of(node);
            let free = self.free.slice(chips);
            self.nodes.open(node.index(), free.iter().sum());
            for (chip, cores) in chips.into_iter().zip(free) {
                self.seats.open(chip.index(), *cores);
                self.taken[chip] = 0.0;
            }
        }
        for at in scope.there().filter(|at| !forms[*at].owns) {
            self.ask(at, forms[at], half_window);
        }
        for node in scope.nodes.iter().copied() {
            self.nodes.close(node.index());
            for chip in self.tree.chips_of(node) {
                self.seats.close(chip.index());
                self.idle[chip] = (self.free[chip] - self.seats.kept(chip.index())).max(0.0);
            }
        }
        let mut change = 0.0_f64;
        for at in scope.active.iter().copied().filter(|at| !forms[*at].owns) {
            let before = self.doing[at].out;
            self.settle_down(at, forms[at], half_window);
            change = change.max((self.doing[at].out - before).abs());
        }
        change
    }

    /// What a partition wants of its home and of where else it runs.
    fn ask(&mut self, at: usize, form: &Form, half_window: f64) {
        let doing = &self.doing[at];
        let seats = seats(doing, half_window);
        let ranks = self.ranks(doing, form, seats);
        for (at, share) in &form.homes_by_node {
            self.nodes.add(*at, ranks, offered(doing, form, *share));
        }
        let mut first = 0.0;
        for (chip, share) in &form.homes {
            let mut asked = offered(doing, form, *share);
            if form.stays {
                let all = asked.most;
                asked.most = all.min((self.free[*chip] - self.taken[*chip]).max(0.0));
                self.taken[*chip] += asked.most;
                let kept = asked.most / all;
                (asked.mean, asked.variance) = (kept * asked.mean, kept * asked.variance);
                first += share * kept;
            }
            self.seats.add(chip.index(), seats, asked);
        }
        if doing.out > 0.0 {
            let to = (&mut self.seats, &mut self.nodes);
            add_strangers(&self.tree, (doing, form), (seats, ranks), to);
        }
        self.doing[at].first = first;
    }

    /// In which order a partition's virtual processors get the cores of a node.
    fn ranks(&self, doing: &Doing, form: &Form, seats: [f64; RANKS]) -> [f64; RANKS] {
        if self.machine.hypervisor.policy != Policy::Phyp {
            return seats;
        }
        let entitled = entitled_part(doing);
        let capped = matches!(
            form.partition.processors,
            Processors::Shared { capped: true, .. }
        );
        if capped && doing.served < WAITS {
            // All begin a window together, when nobody can be thrown off.
            [0.0, 0.0, 0.0, 1.0]
        } else if form.stays {
            [entitled, 0.0, 1.0 - entitled, 0.0]
        } else {
            [0.0, entitled, 0.0, 1.0 - entitled]
        }
    }

    /// A partition goes where it finds cores.
    fn settle_down(&mut self, at: usize, form: &Form, half_window: f64) {
        let doing = &self.doing[at];
        let seats = seats(doing, half_window);
        let ranks = self.ranks(doing, form, seats);
        let doing = &mut self.doing[at];
        let first = doing.first;
        let near = |chip: ChipId| match form.stays {
            true => 1.0 - first,
            false => self.seats.lost(chip.index(), seats, 1.0),
        };
        let far = |node: NodeId| self.nodes.lost(node.index(), ranks, seats[1]);
        let shares = &mut self.shares;
        shares.clear();
        doing.away = scatter(&self.tree, form, near, far, &self.idle, shares);
        settle_sites(doing, form, shares, 0.5 * self.pace);
        let is_home = |site: &&Site| form.homes.iter().any(|(home, _)| home.index() == site.chip);
        let at_home = doing.sites.iter().filter(is_home);
        let at_home: f64 = at_home.map(|site| site.share).sum();
        doing.out = (1.0 - at_home).max(0.0);
    }
}

/// What a part of a partition's virtual processors asks for: so many of all, taken at random.
fn offered(doing: &Doing, form: &Form, share: f64) -> Offered {
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
    }
}

/// Who stays for longer than a window is there before those who come and go; on a chip nobody is
/// thrown off while another core of the node is idle.
fn seats(doing: &Doing, half_window: f64) -> [f64; RANKS] {
    let come = come_back(doing, half_window);
    [1.0 - come, come, 0.0, 0.0]
}

/// Share of a partition's dispatches after which it looks for a core at home anew before a window
/// is over.
fn come_back(doing: &Doing, half_window: f64) -> f64 {
    let stay_ns = doing.load.vps / doing.load.wakes_per_ns.max(1e-15);
    half_window / (half_window + stay_ns)
}

/// Share of a partition's core time to which it is entitled.
pub(super) fn entitled_part(doing: &Doing) -> f64 {
    (doing.entitled * doing.allowed / doing.cores().max(1e-9)).min(1.0)
}

/// Those of a partition that run where it is not at home; on a node of others' homes they leave for
/// anyone who is entitled.
fn add_strangers(
    tree: &Topology,
    (doing, form): (&Doing, &Form),
    (seats, ranks): ([f64; RANKS], [f64; RANKS]),
    (chips, nodes): (&mut Groups, &mut Groups),
) {
    let last = [0.0, 0.0, 0.0, 1.0];
    let (on_chip, on_node) = if ranks == seats {
        (seats, seats)
    } else {
        (last, last)
    };
    for site in &doing.sites {
        let chip = ChipId::new(site.chip);
        let mean = doing.served * doing.load.vps * site.share;
        let stranger = Offered {
            mean,
            variance: mean,
            most: mean,
        };
        let node = tree.node_of(chip).index();
        let near = form.homes_by_node.iter().any(|(home, _)| *home == node);
        if !near {
            nodes.add(node, on_node, stranger);
            chips.add(site.chip, on_chip, stranger);
        } else if form.homes.iter().all(|(home, _)| *home != chip) {
            chips.add(site.chip, seats, stranger);
        }
    }
}

/// Shares of a partition's time by chip: at home, on the home's node, elsewhere; those of the
/// latter two.
fn scatter(
    tree: &Topology,
    form: &Form,
    near: impl Fn(ChipId) -> f64,
    far: impl Fn(NodeId) -> f64,
    idle: &ById<ChipId, f64>,
    chips: &mut Vec<(usize, f64)>,
) -> [f64; 2] {
    let mut away = [0.0; 2];
    let mut put = |chip: ChipId, share: f64| {
        let chip = chip.index();
        match chips.iter_mut().find(|(at, _)| *at == chip) {
            Some((_, sum)) => *sum += share,
            None => chips.push((chip, share)),
        }
    };
    for (node, _) in &form.homes_by_node {
        let node = NodeId::new(*node);
        let beside = tree.chips_of(node);
        let (far, mut aside, mut elsewhere) = (far(node), 0.0, 0.0);
        for (home, share) in form.homes.iter().filter(|(home, _)| beside.contains(*home)) {
            // Who finds no core of the node finds none at home.
            let lost = near(*home).max(far);
            put(*home, share * (1.0 - lost));
            aside += share * (lost - far);
            elsewhere += share * far;
        }
        let spare: f64 = idle.slice(beside).iter().sum();
        for chip in beside.into_iter().filter(|_| aside > 0.0) {
            let part = if spare > 0.0 {
                idle[chip] / spare
            } else {
                1.0 / beside.len() as f64
            };
            put(chip, aside * part);
        }
        away[0] += aside;
        let others = || tree.chips().into_iter().filter(|of| !beside.contains(*of));
        let spare: f64 = others().map(|chip| idle[chip]).sum();
        if spare > 0.0 {
            away[1] += elsewhere;
        } else {
            elsewhere = 0.0;
        }
        // On each of the others it is less than that, and so of no account.
        if elsewhere > NOTHING {
            others().for_each(|chip| put(chip, elsewhere * idle[chip] / spare));
        }
    }
    away
}

/// A partition runs on these chips now: `part` of the way, so that those that displace each other
/// come to rest.
fn settle_sites(doing: &mut Doing, form: &Form, chips: &[(usize, f64)], part: f64) {
    let sites = doing.sites.iter_mut();
    sites.for_each(|site| site.share *= 1.0 - part);
    for (chip, share) in chips.iter().filter(|(_, share)| *share > NOTHING) {
        match doing.sites.iter_mut().find(|site| site.chip == *chip) {
            Some(site) => site.share += part * share,
            None => doing.sites.push(Site::new(*chip, part * share, form)),
        }
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
pub(super) fn part_twins(sites: &mut [Site]) {
    for index in 0..sites.len() {
        let (before, rest) = sites.split_at_mut(index);
        if let Some(twin) = rest[0].twin.take() {
            rest[0].classes.clone_from(&before[twin].classes);
        }
    }
}
