//! On which chips partitions run: at home while a core is idle there, else beside it or elsewhere.
//!
//! Who stays for longer than a window is there before those who come and go. Each uses what it is
//! entitled to first, so in the first part of a window nobody can be thrown off; in the rest what
//! is entitled throws off what is not.

use super::demand::Arrivals;
use super::form::Form;
use super::overflow::{Groups, Offered, RANKS};
use super::state::{Doing, Site, State, NOTHING};
use crate::cost::Class;
use crate::ids::{ChipId, NodeId};
use crate::machine::Topology;

/// Whose home is elsewhere leaves for anyone who is entitled.
const STRANGER: [f64; RANKS] = [0.0, 0.0, 0.0, 1.0];

impl State {
    /// On which chips partitions run.
    pub(super) fn place(&mut self, forms: &[&Form]) {
        let tree = &self.tree;
        let half_window = 0.5 * self.machine.hypervisor.window_ns as f64;
        let free_on = |node| -> f64 { self.free.slice(tree.chips_of(node)).iter().sum() };
        let mut chips = Groups::new(self.free.iter().copied().collect());
        let mut nodes = Nodes::new(tree.nodes().into_iter().map(free_on).collect());
        for (doing, form) in self.doing.iter().zip(forms).filter(|(_, form)| !form.owns) {
            let seats = seats(doing, half_window);
            for (at, share) in &form.homes_by_node {
                let offered = offered(doing, form, *share);
                nodes.alike.add(*at, seats, offered);
                nodes.ranked.add(*at, ranks(doing, form), offered);
                nodes.entitled[*at] += share * doing.cores() * entitled_part(doing, form);
                nodes.all[*at] += share * doing.cores();
            }
            for (chip, share) in &form.homes {
                chips.add(chip.index(), seats, offered(doing, form, *share));
            }
            add_strangers(tree, (doing, form), seats, &mut chips, &mut nodes);
        }
        chips.close();
        nodes.alike.close();
        nodes.ranked.close();
        let idle: Vec<f64> = tree
            .chips()
            .into_iter()
            .map(|chip| (self.free[chip] - chips.kept(chip.index())).max(0.0))
            .collect();
        for (doing, form) in self.doing.iter_mut().zip(forms) {
            if form.owns {
                continue;
            }
            let seats = seats(doing, half_window);
            let near = |chip: ChipId| chips.lost(chip.index(), seats, 1.0);
            let far = |node: NodeId| nodes.lost(node.index(), seats, ranks(doing, form));
            let shares = scatter(tree, form, near, far, &idle);
            doing.away = shares.away;
            settle_sites(doing, form, &shares.chips);
            let is_home =
                |site: &&Site| form.homes.iter().any(|(home, _)| home.index() == site.chip);
            let at_home: f64 = doing
                .sites
                .iter()
                .filter(is_home)
                .map(|site| site.share)
                .sum();
            doing.out = 1.0 - at_home;
        }
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
pub(super) fn entitled_part(doing: &Doing, form: &Form) -> f64 {
    (form.entitled / doing.cores().max(1e-9)).min(1.0)
}

/// The same on a node where what is entitled throws off what is not.
fn ranks(doing: &Doing, form: &Form) -> [f64; RANKS] {
    let entitled = entitled_part(doing, form);
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
    chips: &mut Groups,
    nodes: &mut Nodes,
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

/// Nodes, where entitlement counts once it is used up: each uses its own first, so that in the
/// first part of a window nobody can be thrown off.
struct Nodes {
    alike: Groups,
    ranked: Groups,
    /// Core time of those at home, and the part of it that is entitled.
    all: Vec<f64>,
    entitled: Vec<f64>,
}

impl Nodes {
    fn new(cores: Vec<f64>) -> Self {
        Self {
            all: vec![0.0; cores.len()],
            entitled: vec![0.0; cores.len()],
            alike: Groups::new(cores.clone()),
            ranked: Groups::new(cores),
        }
    }

    fn lost(&self, at: usize, seats: [f64; RANKS], ranks: [f64; RANKS]) -> f64 {
        let early = self.entitled[at] / self.all[at].max(1e-12);
        let alike = self.alike.lost(at, seats, seats[1]);
        let ranked = self.ranked.lost(at, ranks, seats[1]);
        early * alike + (1.0 - early) * ranked
    }
}

struct Scattered {
    chips: Vec<(usize, f64)>,
    away: [f64; 2],
}

/// Shares of a partition's time by chip: at home, on the home's node, elsewhere.
fn scatter(
    tree: &Topology,
    form: &Form,
    near: impl Fn(ChipId) -> f64,
    far: impl Fn(NodeId) -> f64,
    idle: &[f64],
) -> Scattered {
    let mut chips: Vec<(usize, f64)> = Vec::new();
    let mut away = [0.0; 2];
    let mut put = |chip: usize, share: f64| match chips.iter_mut().find(|(at, _)| *at == chip) {
        Some((_, sum)) => *sum += share,
        None => chips.push((chip, share)),
    };
    for (home, share) in &form.homes {
        let node = tree.node_of(*home);
        let lost = near(*home);
        let far = far(node).min(lost);
        put(home.index(), share * (1.0 - lost));
        let beside = tree.chips_of(node);
        let spare: f64 = beside.into_iter().map(|chip| idle[chip.index()]).sum();
        for chip in beside {
            if spare > 0.0 && lost > far {
                let part = idle[chip.index()] / spare;
                put(chip.index(), share * (lost - far) * part);
            } else if lost > far {
                put(chip.index(), share * (lost - far) / beside.len() as f64);
            }
        }
        away[0] += share * (lost - far);
        if far > 0.0 {
            let elsewhere = || {
                tree.chips()
                    .into_iter()
                    .filter(|c| tree.node_of(*c) != node)
            };
            let spare: f64 = elsewhere().map(|chip| idle[chip.index()]).sum();
            if spare > 0.0 {
                elsewhere().for_each(|chip| {
                    put(chip.index(), share * far * idle[chip.index()] / spare);
                });
                away[1] += share * far;
            } else {
                put(home.index(), share * far);
            }
        }
    }
    Scattered { chips, away }
}

/// A partition runs on these chips now: half of the way, so that those that displace each other
/// come to rest.
fn settle_sites(doing: &mut Doing, form: &Form, chips: &[(usize, f64)]) {
    doing.sites.iter_mut().for_each(|site| site.share *= 0.5);
    for (chip, share) in chips.iter().filter(|(_, share)| *share > NOTHING) {
        match doing.sites.iter_mut().find(|site| site.chip == *chip) {
            Some(site) => site.share += 0.5 * share,
            None => doing.sites.push(Site {
                chip: *chip,
                share: 0.5 * share,
                classes: vec![Class::default(); form.fixed.len()],
            }),
        }
    }
    doing.sites.retain(|site| site.share > 0.2 * NOTHING);
    let all: f64 = doing.sites.iter().map(|site| site.share).sum();
    doing.sites.iter_mut().for_each(|site| site.share /= all);
}
