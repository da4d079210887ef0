//! On which chips partitions run: at home while a core is idle there, else beside it or elsewhere.
//!
//! Who stays for longer than a window is there before those who come and go. Each uses what it is
//! entitled to first, so in the first part of a window nobody can be thrown off; in the rest what
//! is entitled throws off what is not.

use super::demand::Arrivals;
use super::form::Form;
use super::nodes::Nodes;
use super::overflow::{Groups, Offered, RANKS};
use super::scope::Scope;
use super::state::{Doing, Site, State, NOTHING};
use crate::ids::{ById, ChipId, NodeId};
use crate::machine::Topology;

/// Whose home is elsewhere leaves for anyone who is entitled.
const STRANGER: [f64; RANKS] = [0.0, 0.0, 0.0, 1.0];

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
        for (at, share) in &form.homes_by_node {
            let offered = offered(doing, form, *share);
            self.nodes.alike.add(*at, seats, offered);
            self.nodes.ranked.add(*at, ranks(doing, form), offered);
            self.nodes.entitled[*at] += share * doing.cores() * entitled_part(doing);
            self.nodes.all[*at] += share * doing.cores();
        }
        for (chip, share) in &form.homes {
            let offered = offered(doing, form, *share);
            self.seats.add(chip.index(), seats, offered);
        }
        if doing.out > 0.0 {
            let to = (&mut self.seats, &mut self.nodes);
            add_strangers(&self.tree, (doing, form), seats, to);
        }
    }

    /// A partition goes where it finds cores.
    fn settle_down(&mut self, at: usize, form: &Form, half_window: f64) {
        let doing = &mut self.doing[at];
        let (seats, ranks) = (seats(doing, half_window), ranks(doing, form));
        let near = |chip: ChipId| self.seats.lost(chip.index(), seats, 1.0);
        let far = |node: NodeId| self.nodes.lost(node.index(), seats, ranks);
        let shares = &mut self.shares;
        shares.clear();
        doing.away = scatter(&self.tree, form, near, far, &self.idle, shares);
        settle_sites(doing, form, shares);
        let is_home = |site: &&Site| form.homes.iter().any(|(home, _)| home.index() == site.chip);
        let at_home = doing.sites.iter().filter(is_home);
        let at_home: f64 = at_home.map(|site| site.share).sum();
        doing.out = (1.0 - at_home).max(0.0);
    }
}

/// What a part of a partition's virtual processors asks for: so many of all, taken at random.
fn offered(doing: &Doing, form: &Form, share: f64) -> Offered {
    let (vps, load) = (f64::from(form.filled.vps()), &doing.load);
    let apart = if vps > 1.0 {
        let pairs = load.vps * vps - (load.vps_variance + load.vps * load.vps);
        share * (1.0 - share) * pairs.max(0.0) / (vps - 1.0)
    } else {
        0.0
    };
    Offered {
        mean: share * load.vps,
        variance: share * share * load.vps_variance + apart,
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
    (doing.entitled / doing.cores().max(1e-9)).min(1.0)
}

/// The same on a node where what is entitled throws off what is not.
fn ranks(doing: &Doing, form: &Form) -> [f64; RANKS] {
    let entitled = entitled_part(doing);
    match form.demand.arrivals {
        Arrivals::Always(..) => [entitled, 0.0, 1.0 - entitled, 0.0],
        _ => [0.0, entitled, 0.0, 1.0 - entitled],
    }
}

/// Those of a partition that run where it is not at home.
fn add_strangers(
    tree: &Topology,
    (doing, form): (&Doing, &Form),
    seats: [f64; RANKS],
    (chips, nodes): (&mut Groups, &mut Nodes),
) {
    for site in &doing.sites {
        let chip = ChipId::new(site.chip);
        let mean = doing.served * doing.load.vps * site.share;
        let stranger = Offered {
            mean,
            variance: mean,
            most: mean,
        };
        if form.homes.iter().all(|(home, _)| *home != chip) {
            chips.add(site.chip, seats, stranger);
        }
        let node = tree.node_of(chip).index();
        if form.homes_by_node.iter().all(|(home, _)| *home != node) {
            nodes.alike.add(node, seats, stranger);
            nodes.ranked.add(node, STRANGER, stranger);
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
            let lost = near(*home);
            let far = far.min(lost);
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

/// A partition runs on these chips now: half of the way, so that those that displace each other
/// come to rest.
fn settle_sites(doing: &mut Doing, form: &Form, chips: &[(usize, f64)]) {
    doing.sites.iter_mut().for_each(|site| site.share *= 0.5);
    for (chip, share) in chips.iter().filter(|(_, share)| *share > NOTHING) {
        match doing.sites.iter_mut().find(|site| site.chip == *chip) {
            Some(site) => site.share += 0.5 * share,
            None => doing.sites.push(Site::new(*chip, 0.5 * share, form)),
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
fn part_twins(sites: &mut [Site]) {
    for index in 0..sites.len() {
        let (before, rest) = sites.split_at_mut(index);
        if let Some(twin) = rest[0].twin.take() {
            rest[0].classes.clone_from(&before[twin].classes);
        }
    }
}
