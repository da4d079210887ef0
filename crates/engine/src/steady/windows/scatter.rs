//! Shares of a partition's time on the chips of a frame: at home as far as it finds a core there.
//!
//! Who finds none at home is on another chip of the node with an idle core; who finds none on the
//! node on another one, or waits where there is none. A core that is left goes to one at home
//! there, so of those that wait only some stray.

use crate::ids::{ById, ChipId, NodeId, Span};
use crate::machine::Topology;
use crate::steady::layout::form::Form;
use crate::steady::layout::state::NOTHING;

/// Part of the time in which all cores are taken that is told by how full a home chip is already:
/// where all of it is, who finds none at home is away as often as the rarer of both says less, and
/// where none is, both are apart. Assumed, 0 to 1: the number on a chip is told as if those that
/// find it full left, and while all cores are taken they wait.
const ALIKE: f64 = 0.5;

/// What one finds that comes: chances by chip and node.
pub(in crate::steady) struct Finds<'a> {
    /// That its home chip is full, and that its node is.
    pub near: &'a dyn Fn(ChipId) -> f64,
    pub far: &'a dyn Fn(NodeId) -> f64,
    /// That who waits does not come to its home chip.
    pub strays: &'a dyn Fn(ChipId) -> f64,
    /// Part of those that come to a home chip that it has cores for.
    pub fits: &'a dyn Fn(ChipId) -> f64,
    /// Shares of the dispatches that are on any chip of the node, and of the frame.
    pub anywhere: [f64; 2],
    /// Whether what is entitled throws off others.
    pub evicts: bool,
    /// Under PowerVM the part of a dispatch away from home after a window is over.
    pub comes_home: Option<f64>,
}

/// The chips of a frame: cores that they have, and that are idle, as far as those away from home
/// come to them on the node and beyond.
#[derive(Clone, Copy)]
pub(in crate::steady) struct Chips<'a> {
    pub tree: &'a Topology,
    pub free: &'a ById<ChipId, f64>,
    pub idle: &'a [ById<ChipId, f64>; 2],
}

/// Shares of those of a node that have no place yet: beside their home chip, on other nodes, where
/// the first core is left for which they wait, or wherever one is as their home chip has too few.
#[derive(Default)]
struct Apart {
    aside: f64,
    elsewhere: f64,
    waited: f64,
    crowded: f64,
}

/// Shares of a partition's time by chip: at home, on the home's node, elsewhere; those of the
/// latter two.
pub(in crate::steady) fn scatter(
    (form, homes): (&Form, impl Iterator<Item = (ChipId, f64)> + Clone),
    finds: &Finds,
    on: Chips,
    shares: &mut ById<ChipId, f64>,
) -> [f64; 2] {
    let mut away = [0.0; 2];
    for (node, _) in &form.homes_by_node {
        let node = NodeId::new(*node);
        let beside = on.tree.chips_of(node);
        let mut apart = Apart::default();
        let far = (finds.far)(node);
        for home in homes.clone().filter(|(home, _)| beside.contains(*home)) {
            at_home(
                (home, beside),
                (finds, far),
                on,
                (shares, &mut away, &mut apart),
            );
        }
        on_others(beside, finds, on, (shares, &mut away, &mut apart));
        let left = || first_left(on.tree, beside, finds.anywhere, on.free);
        let seats = (beside, homes.clone());
        if apart.crowded > 0.0 {
            seat_first(left(), seats.clone(), apart.crowded, (shares, &mut away));
        }
        if apart.waited > 0.0 {
            let strayed = seat_waiting(seats.clone(), finds, apart.waited, shares);
            seat_first(left(), seats, strayed, (shares, &mut away));
        }
    }
    away
}

/// Those of a home chip: there, on another chip of the node, or without a place yet.
fn at_home(
    ((home, share), beside): ((ChipId, f64), Span<ChipId>),
    (finds, far): (&Finds, f64),
    on: Chips,
    (shares, away, apart): (&mut ById<ChipId, f64>, &mut [f64; 2], &mut Apart),
) {
    let none_left = finds.evicts && on.none_left(beside);
    let others = || on.open(beside).filter(|chip| *chip != home);
    let all_taken = finds.anywhere[0] + finds.anywhere[1];
    // Who finds none on the node finds none at home; with one chip these are the same.
    let waits = far.max(all_taken);
    let lost = if on.free[home] <= 0.0 {
        1.0
    } else if others().next().is_some() {
        let mut near = (finds.near)(home);
        if finds.comes_home.is_some() {
            let apart = near + (1.0 - near) * all_taken;
            near = ALIKE * near.max(all_taken) + (1.0 - ALIKE) * apart;
        }
        near.max(waits)
    } else {
        waits
    };
    // Of PowerVM some come home when a window is over, as far as they find a core there.
    let back = share * (lost - waits) * finds.comes_home.unwrap_or_default() * (1.0 - lost);
    // No more run on a chip than it has cores, however many wait for one of it.
    let here = share * (1.0 - lost) + back;
    let too_many = here * (1.0 - (finds.fits)(home));
    shares[home] += here - too_many;
    let mut aside = share * (lost - waits) - back;
    if none_left {
        apart.crowded += too_many;
    } else {
        aside += too_many;
    }
    if finds.comes_home.is_none() || others().next().is_none() {
        apart.aside += aside;
    } else if none_left {
        apart.waited += aside;
    } else if aside > 0.0 {
        // Each looks at its home chip first, so it is on another one of the node.
        emptiest(others, &on.idle[0], on.free)
            .for_each(|(chip, part)| shares[chip] += aside * part);
        away[0] += aside;
    }
    apart.elsewhere += share * far;
    apart.waited += share * (waits - far);
}

/// Those that found none at home on other chips of the node, and of other nodes.
fn on_others(
    beside: Span<ChipId>,
    finds: &Finds,
    on: Chips,
    (shares, away, apart): (&mut ById<ChipId, f64>, &mut [f64; 2], &mut Apart),
) {
    let (free, [near_idle, idle]) = (on.free, on.idle);
    let all: f64 = free.slice(beside).iter().sum();
    if all <= 0.0 {
        apart.elsewhere += std::mem::take(&mut apart.aside) + std::mem::take(&mut apart.waited);
    }
    if finds.evicts && on.none_left(beside) {
        apart.waited += std::mem::take(&mut apart.aside);
    }
    if apart.aside > 0.0 {
        let each = emptiest(|| beside.into_iter(), near_idle, free);
        each.for_each(|(chip, part)| shares[chip] += apart.aside * part);
    }
    away[0] += apart.aside;
    let elsewhere = apart.elsewhere;
    let chips = on.tree.chips();
    let others = || chips.into_iter().filter(|of| !beside.contains(*of));
    let spare: f64 = others().map(|chip| idle[chip]).sum();
    if spare > 0.0 {
        away[1] += elsewhere;
        // On each of the others it is less than that, and so of no account.
        if elsewhere > NOTHING {
            others().for_each(|chip| shares[chip] += elsewhere * idle[chip] / spare);
        }
    } else if all <= 0.0 {
        let all: f64 = others().map(|chip| free[chip]).sum();
        others().for_each(|chip| shares[chip] += elsewhere * free[chip] / all.max(1e-9));
        away[1] += elsewhere;
    } else if finds.evicts {
        // Who finds no core anywhere waits for the first that is left.
        apart.waited += elsewhere;
    }
}

impl<'a> Chips<'a> {
    /// Chips of which no core is active, or all are dedicated, take nobody.
    fn open(self, chips: Span<ChipId>) -> impl Iterator<Item = ChipId> + 'a {
        let free = self.free;
        chips.into_iter().filter(move |chip| free[*chip] > 0.0)
    }

    fn none_left(self, chips: Span<ChipId>) -> bool {
        let idle = self.idle[0].slice(chips);
        idle.iter().all(|idle| *idle <= 0.0)
    }
}

/// Where those are that find none at home but on another chip of the node, with their shares.
fn emptiest<'a, I: Iterator<Item = ChipId> + 'a>(
    chips: impl Fn() -> I,
    idle: &'a ById<ChipId, f64>,
    free: &'a ById<ChipId, f64>,
) -> impl Iterator<Item = (ChipId, f64)> + 'a {
    let sum = |of: &ById<ChipId, f64>| chips().map(|chip| of[chip]).sum::<f64>();
    let by = if sum(idle) > 0.0 { idle } else { free };
    let all = sum(by);
    chips().map(move |chip| (chip, by[chip] / all))
}

/// Puts those that waited for a core at home, as far as they don't stray; the share that does.
fn seat_waiting(
    (node, homes): (Span<ChipId>, impl Iterator<Item = (ChipId, f64)> + Clone),
    finds: &Finds,
    waited: f64,
    shares: &mut ById<ChipId, f64>,
) -> f64 {
    let here = || homes.clone().filter(|(home, _)| node.contains(*home));
    let all: f64 = here().map(|(_, share)| share).sum();
    let mut strayed = waited;
    for (home, share) in here().filter(|_| all > 0.0) {
        let back = waited * share / all * (1.0 - (finds.strays)(home)) * (finds.fits)(home);
        shares[home] += back;
        strayed -= back;
    }
    strayed
}

/// Puts a share where the first core is left; adds up how many are away on the node and beyond.
fn seat_first(
    left: impl Iterator<Item = (ChipId, f64)>,
    (node, homes): (Span<ChipId>, impl Iterator<Item = (ChipId, f64)> + Clone),
    share: f64,
    (shares, away): (&mut ById<ChipId, f64>, &mut [f64; 2]),
) {
    for (chip, part) in left {
        shares[chip] += share * part;
        if homes.clone().all(|(home, _)| home != chip) {
            away[usize::from(!node.contains(chip))] += share * part;
        }
    }
}

/// Where those are that waited for a core, with their shares: on any chip of their node, or on any
/// of the frame, as often as it has cores.
fn first_left<'a>(
    tree: &'a Topology,
    node: Span<ChipId>,
    [on_node, on_frame]: [f64; 2],
    free: &'a ById<ChipId, f64>,
) -> impl Iterator<Item = (ChipId, f64)> + 'a {
    let of_all = |chips: Span<ChipId>| free.slice(chips).iter().sum::<f64>();
    let all = of_all(tree.chips());
    let part = on_node / (on_node + on_frame).max(1e-12);
    let (node_each, each) = (
        part / of_all(node).max(1e-12),
        (1.0 - part) / all.max(1e-12),
    );
    let open = tree.chips().into_iter().filter(|chip| free[*chip] > 0.0);
    open.map(move |chip| {
        let here = if node.contains(chip) { node_each } else { 0.0 };
        (chip, free[chip] * (here + each))
    })
}
