//! Who is thrown off of those that come and go while all cores of a PowerVM frame are taken, and
//! where it goes then.
//!
//! Whoever comes within its entitlement then throws off somebody on its node who is beyond his:
//! whoever has been on its core longest. So it is on any chip of the node, as often as that has
//! cores. Who comes beyond its own waits, like those that were thrown off, for the next core that
//! is left, and is on any chip of the frame.
//! How long one stays until it is thrown off is told as under PR/SM (`windows/thrown.rs`).

use crate::ids::{ChipId, NodeId};
use crate::spec::Processors;
use crate::steady::layout::form::Form;
use crate::steady::layout::state::State;
use crate::steady::layout::stints::on_and_off;
use crate::steady::queues::chances::above;
use crate::steady::windows::evictions::entitled_part;
use crate::steady::windows::shortage::NEVER;
use crate::steady::windows::thrown::{after, Beyond};

/// A partition on a node.
#[derive(Clone, Copy, Debug)]
struct Sharer {
    stays: bool,
    /// Cores that it is entitled to and that it uses, and by how much these differ from window to
    /// window.
    due: f64,
    cores: f64,
    varies: f64,
    /// How often in a nanosecond one of its virtual processors comes.
    comes: f64,
    /// Those that run there.
    runs: Beyond,
}

impl Sharer {
    /// Whether it runs there or comes there.
    fn is_there(&self) -> bool {
        self.runs.cores + self.comes > 0.0
    }

    /// Chance that its entitlement is used up after such a part of a window.
    fn used_up(&self, since: f64) -> f64 {
        above((self.due / since - self.cores) / self.varies.max(1e-9))
    }
}

impl State {
    /// How often those that share cores are thrown off under PowerVM, and find all cores taken: as
    /// these are for such a part of the comings of each.
    pub(in crate::steady) fn evict(&mut self, full: &[f64], sharing: &[usize], forms: &[&Form]) {
        if !self.evicts() {
            return;
        }
        let pace = 0.5 * self.pace;
        let mut thrown = vec![0.0; sharing.len()];
        let ever = full.iter().any(|of| *of > NEVER);
        for node in self.tree.nodes().into_iter().filter(|_| ever) {
            self.evict_on(node, (sharing, forms), full, &mut thrown);
        }
        for ((at, thrown), full) in sharing.iter().zip(thrown).zip(full) {
            let doing = &mut self.doing[*at];
            doing.awaited += pace * (full - doing.awaited);
            doing.thrown += pace * (thrown.max(doing.cut) - doing.thrown);
        }
    }

    /// Share of a partition's time on a node.
    fn on_node(&self, at: usize, node: NodeId) -> f64 {
        let chips = self.tree.chips_of(node);
        let sites = self.doing[at].sites.iter();
        let here = sites.filter(|site| chips.contains(ChipId::new(site.chip)));
        here.map(|site| site.share).sum()
    }

    /// Adds how often each is thrown off a node while all cores are taken, for such a part of the
    /// comings of each. A partition is within its entitlement until that is used up, so in each
    /// part of a window those that have some left throw off those that have none.
    fn evict_on(
        &self,
        node: NodeId,
        (sharing, forms): (&[usize], &[&Form]),
        full: &[f64],
        thrown: &mut [f64],
    ) {
        let those = sharing.iter().enumerate();
        let those = those.map(|(index, at)| (index, self.sharer(*at, forms[*at], node)));
        let those: Vec<(usize, Sharer)> = those.filter(|(_, of)| of.is_there()).collect();
        for part in 0..PARTS {
            let since = (part as f64 + 0.5) / PARTS as f64;
            let (mut often, mut cores) = (0.0, 0.0);
            let beyond: Vec<Beyond> = (those.iter())
                .map(|(index, of)| {
                    let beyond = of.used_up(since);
                    often += full[*index] * of.comes * (1.0 - beyond);
                    cores += of.runs.cores * beyond;
                    Beyond {
                        cores: of.runs.cores * beyond,
                        ..of.runs
                    }
                })
                .collect();
            let there = -(-cores).exp_m1();
            let Some(ns) = after(&beyond, often * there) else {
                continue;
            };
            for ((index, _), runs) in those.iter().zip(&beyond).filter(|((_, of), _)| !of.stays) {
                thrown[*index] += runs.thrown(ns) / PARTS as f64;
            }
        }
    }

    fn sharer(&self, at: usize, form: &Form, node: NodeId) -> Sharer {
        let doing = &self.doing[at];
        let homes = form.homes_by_node.iter();
        let homes = homes.filter(|(home, _)| *home == node.index());
        let home: f64 = homes.map(|(_, share)| share).sum();
        let comes = if form.stays {
            0.0
        } else {
            home * doing.load.wakes_per_ns
        };
        let cores = doing.served * doing.load.vps;
        // Who is capped stops when its entitlement is used up.
        let capped = matches!(
            form.partition.processors,
            Processors::Shared { capped: true, .. }
        );
        Sharer {
            stays: form.stays,
            due: if capped { f64::INFINITY } else { doing.due },
            cores,
            varies: (doing.served * doing.served * self.varies_in_windows(at, form)).sqrt(),
            comes,
            runs: Beyond {
                cores: self.on_node(at, node) * cores,
                stay_ns: on_and_off(doing, form)[0].max(1.0),
            },
        }
    }

    /// Shares of a partition's dispatches that are on any chip of its node, since it throws
    /// somebody off there, and on any of the frame: of those that find all cores taken and have
    /// used up their entitlement, and of those that were thrown off.
    pub(in crate::steady) fn anywhere(&self, at: usize, form: &Form) -> [f64; 2] {
        if form.stays || !self.evicts() {
            return [0.0; 2];
        }
        let doing = &self.doing[at];
        // Whose turn is over comes back to the core that it was on.
        let thrown = (doing.thrown - doing.cut).max(0.0);
        let again = thrown / (thrown + doing.load.wakes_per_ns).max(1e-18);
        let (come, entitled) = ((1.0 - again) * doing.awaited, entitled_part(doing));
        [come * entitled, again + come * (1.0 - entitled)]
    }
}

/// Parts of a window that are looked at.
const PARTS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_uses_more_for_its_entitlement_has_used_it_up_sooner() {
        let of = |due: f64, varies: f64| Sharer {
            stays: false,
            due,
            cores: 4.0,
            varies,
            comes: 0.0,
            runs: Beyond::default(),
        };
        // Two of four cores last for half of a window, and about that where windows differ.
        assert_eq!(
            [0.4, 0.6].map(|since| of(2.0, 0.0).used_up(since)),
            [0.0, 1.0]
        );
        let varies = [0.4, 0.5, 0.6].map(|since| of(2.0, 1.0).used_up(since));
        assert!(varies.windows(2).all(|two| two[0] < two[1]));
        assert!((varies[1] - 0.5).abs() < 1e-6);
        assert_eq!(of(5.0, 0.0).used_up(1.0), 0.0);
    }
}
