//! Who goes from crowded chips to others on which there is room.
//!
//! Where more virtual processors come and go on a chip than there are cores left of it, some go
//! until each has one; where all chips together have too few, until these have as many for each
//! core.
//!
//! ```text
//! goes(chip) = count(chip) - level left(chip)      level >= 1, sum over the chips that go = come
//! ```

use crate::steady::queues::overflow::Offered;

/// Virtual processors that come and go on a chip, and the cores there that nobody else keeps.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::steady) struct Throng {
    /// How many there are, each weighted by how much it does; those of them that have other home
    /// chips on the node.
    pub count: f64,
    pub movable: f64,
    /// What they want there, if each is where it was at first.
    pub wanted: Offered,
    /// Cores that are not kept by somebody who always stays. Who is thrown off keeps none.
    pub left: f64,
    /// How many go to other chips, and how many may come.
    pub goes: f64,
    pub room: f64,
    /// Chips between which some may go have the same number, the least of theirs.
    pub set: usize,
}

impl Throng {
    /// Share of those that go that have gone after such a time, if one comes so often in a
    /// nanosecond: each does when it first finds no core.
    pub fn gone(&self, comes_per_ns: f64, ns: f64) -> f64 {
        let often = self.wanted.lost(self.left) * comes_per_ns * ns;
        often / (1.0 + often)
    }
}

/// Steps in which the level is found.
const STEPS: usize = 16;

/// How many go from each chip of a set and may come there, so that those that go find room.
pub(in crate::steady) fn level(crowds: &mut [Throng], set: usize) {
    let (mut count, mut left) = (0.0, 0.0);
    for of in crowds.iter().filter(|of| of.set == set) {
        count += of.count;
        left += of.left;
    }
    // If each had as many for each core there would be room for all that go.
    let (mut low, mut high) = (1.0, (count / f64::max(left, 1e-9)).max(1.0));
    for step in 0..=STEPS + 1 {
        let at = match step {
            0 => low,
            _ if step > STEPS => high,
            _ => 0.5 * (low + high),
        };
        let mut beyond = 0.0;
        for of in crowds.iter_mut().filter(|of| of.set == set) {
            let more = of.count - at * of.left;
            of.goes = more.clamp(0.0, of.movable);
            of.room = (-more).max(0.0);
            beyond += of.goes - of.room;
        }
        match (step, beyond <= 0.0) {
            (0, true) => return,
            (_, true) => high = at,
            (_, false) => low = at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crowd(count: f64, movable: f64, left: f64) -> Throng {
        Throng {
            count,
            movable,
            left,
            ..Throng::default()
        }
    }

    fn then(crowds: &[Throng]) -> Vec<f64> {
        let mut levelled = crowds.to_vec();
        level(&mut levelled, 0);
        let gone: f64 = levelled.iter().map(|of| of.goes).sum();
        let room: f64 = levelled.iter().map(|of| of.room).sum();
        let come = |of: &Throng| of.count - of.goes + gone * of.room / room.max(1e-9);
        levelled.iter().map(come).collect()
    }

    #[test]
    fn where_there_is_a_core_for_each_only_those_go_that_have_none() {
        let found = then(&[crowd(5.0, 5.0, 3.0), crowd(2.0, 2.0, 6.0)]);
        assert!((found[0] - 3.0).abs() < 1e-3 && (found[1] - 4.0).abs() < 1e-3);
        let roomy = [crowd(2.0, 2.0, 3.0), crowd(6.0, 6.0, 6.0)];
        assert_eq!(then(&roomy), [2.0, 6.0]);
    }

    #[test]
    fn too_many_have_as_many_cores_each_on_all_chips() {
        let found = then(&[crowd(9.0, 9.0, 3.0), crowd(3.0, 3.0, 6.0)]);
        assert!((found[0] / 3.0 - found[1] / 6.0).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn who_has_no_other_home_stays_and_crowds_the_others_out() {
        let found = then(&[crowd(5.0, 1.0, 3.0), crowd(2.0, 2.0, 6.0)]);
        assert!((found[0] - 4.0).abs() < 1e-3, "{found:?}");
        // One more neighbour, and more go; none left of a chip, and all go that can.
        let more = then(&[crowd(6.0, 3.0, 3.0), crowd(2.0, 2.0, 6.0)]);
        assert!(more[1] > found[1]);
        let none = then(&[crowd(3.0, 3.0, 0.0), crowd(1.0, 1.0, 6.0)]);
        assert!(none[0] < 1e-3, "{none:?}");
    }

    #[test]
    fn beside_a_chip_without_a_core_left_the_others_are_level_too() {
        let found = then(&[
            crowd(3.0, 3.0, 0.0),
            crowd(5.0, 5.0, 1.0),
            crowd(1.0, 1.0, 6.0),
        ]);
        let each = [0.0, 9.0 / 7.0, 54.0 / 7.0];
        let near = |(found, wanted): (&f64, f64)| (found - wanted).abs() < 1e-3;
        assert!(found.iter().zip(each).all(near), "{found:?}");
    }

    #[test]
    fn who_seldom_comes_or_seldom_finds_it_full_has_not_gone_yet() {
        let wanting = |mean: f64| Throng {
            wanted: Offered {
                mean,
                variance: mean,
                most: 3.0 * mean,
                ..Offered::default()
            },
            ..crowd(20.0, 20.0, 8.0)
        };
        let gone = |mean: f64, comes: f64| wanting(mean).gone(comes * 1e-9, 1e9);
        assert!(gone(4.0, 100.0) < gone(7.0, 100.0) && gone(7.0, 100.0) < gone(10.0, 100.0));
        assert!(gone(7.0, 1.0) < gone(7.0, 1e3) && gone(10.0, 1e5) > 0.99);
        assert_eq!(gone(1.0, 0.0), 0.0);
    }

    #[test]
    fn sets_of_chips_have_nothing_to_do_with_each_other() {
        let mut crowds = [
            crowd(5.0, 5.0, 3.0),
            crowd(2.9, 2.9, 3.0),
            crowd(1.0, 1.0, 8.0),
        ];
        crowds[2].set = 2;
        level(&mut crowds, 0);
        assert!((crowds[0].goes - 1.05).abs() < 1e-3, "{crowds:?}");
        assert_eq!(crowds[2].room, 0.0);
    }
}
