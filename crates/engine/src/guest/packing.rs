//! The order in which a guest that counts busy threads by virtual processor fills them, and which
//! thread it moves where that order is not kept.
//!
//! So many threads of a virtual processor are loaded before another virtual processor is: under AIX
//! `vpm_throughput_mode` says how many, 1 in the raw modes; a Linux that packs loads one in each
//! part of the core. A waking thread goes back to its last virtual processor where the order allows
//! it.

use super::loads::Loads;

/// Virtual processor with an idle thread for a waking thread that last ran on `last`.
pub fn choose(loads: &Loads, threads_before_next: u8, last: Option<u16>) -> Option<u16> {
    let full = usize::from(threads_before_next);
    loaded(loads, last, 1, full)
        .or_else(|| at_load(loads, last, 0))
        .or_else(|| (full..usize::from(loads.smt())).find_map(|load| at_load(loads, last, load)))
}

/// A virtual processor with `from..to` busy threads, the fullest first, the last one before others.
fn loaded(loads: &Loads, last: Option<u16>, from: usize, to: usize) -> Option<u16> {
    let mine = last.filter(|vp| (from..to).any(|load| loads.at(load).contains(*vp)));
    mine.or_else(|| (from..to).rev().find_map(|load| loads.at(load).first()))
}

fn at_load(loads: &Loads, last: Option<u16>, load: usize) -> Option<u16> {
    let set = loads.at(load);
    last.filter(|vp| set.contains(*vp)).or_else(|| set.first())
}

/// From which virtual processor to which other a running thread is to move, if any: where one has
/// more than its number to where the order would have put it; else, where two have fewer, from the
/// emptiest to the fullest of them. With one thread for each there is nothing to pack, and one busy
/// thread less is better.
pub fn better(loads: &Loads, threads_before_next: u8) -> Option<(u16, u16)> {
    let full = usize::from(threads_before_next);
    let (most, fewest) = loads.extremes()?;
    let from = loads.at(most).first()?;
    if full == 1 {
        return (most > fewest).then_some((from, loads.at(fewest).first()?));
    }
    if most > full {
        let to = choose(loads, threads_before_next, None)?;
        return (loads.load(to) < most).then_some((from, to));
    }
    let partly = || (1..full).flat_map(|load| loads.at(load).iter());
    let (emptiest, fullest) = (partly().next()?, partly().last()?);
    (emptiest != fullest).then_some((emptiest, fullest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Virtual processors of eight threads, so many of which are busy.
    fn loads(busy: &[u8]) -> Loads {
        let mut loads = Loads::new(busy.len() as u16, 8);
        for (vp, busy) in busy.iter().enumerate() {
            loads.set_mask(vp as u16, ((1_u16 << busy) - 1) as u8, true);
        }
        loads
    }

    #[test]
    fn a_thread_too_many_goes_where_the_order_would_have_put_it() {
        assert_eq!(better(&loads(&[3, 2, 1, 0]), 2), Some((0, 2)));
        assert_eq!(better(&loads(&[3, 2, 2, 0]), 2), Some((0, 3)));
        assert_eq!(better(&loads(&[4, 2, 3, 2]), 2), Some((0, 1)));
        // Nobody is better off.
        assert_eq!(better(&loads(&[3, 2, 2, 2]), 2), Some((0, 1)));
        assert_eq!(better(&loads(&[3, 3, 3, 3]), 2), None);
    }

    #[test]
    fn what_is_packed_stays_so_and_what_is_not_is_packed() {
        assert_eq!(better(&loads(&[2, 2, 1, 0]), 2), None);
        assert_eq!(better(&loads(&[2, 1, 1, 0]), 2), Some((1, 2)));
        assert_eq!(better(&loads(&[1, 3, 4, 2]), 4), Some((0, 1)));
        assert_eq!(better(&loads(&[0, 0, 0, 0]), 2), None);
    }

    #[test]
    fn raw_modes_spread() {
        assert_eq!(better(&loads(&[2, 1]), 1), Some((0, 1)));
        assert_eq!(better(&loads(&[1, 0]), 1), Some((0, 1)));
        assert_eq!(better(&loads(&[1, 1]), 1), None);
    }

    #[test]
    fn packing_comes_to_rest() {
        for threads_before_next in [2, 4, 8] {
            let mut busy = [1, 1, 0, 3, 1, 2, 1, 1];
            let moves = std::iter::from_fn(|| {
                let (from, to) = better(&loads(&busy), threads_before_next)?;
                busy[usize::from(from)] -= 1;
                busy[usize::from(to)] += 1;
                Some(())
            });
            assert!(moves.take(40).count() < 40);
            let used = busy.iter().filter(|busy| **busy > 0).count();
            assert_eq!(used, 10_usize.div_ceil(threads_before_next.into()));
        }
    }
}
