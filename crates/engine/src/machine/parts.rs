//! Busy threads of a core that consists of parts.
//!
//! Its threads are in the parts by turns: of two parts one has threads 0, 2, 4, 6, the other 1, 3,
//! 5, 7. A guest that takes the lowest idle thread so fills the parts by turns; as threads come and
//! go, one part may have more than another for a while.

/// Busy threads in each part of a core.
fn in_parts(mask: u8, parts: u8) -> impl Iterator<Item = u32> {
    let turns = move |part: u8| (part..8).step_by(parts.into());
    let of = move |part: u8| turns(part).fold(0, |of, thread| of | 1 << thread);
    (0..parts.min(8)).map(move |part| (mask & of(part)).count_ones())
}

/// As many busy threads, evenly in the parts, as are as slow as those of `mask` on average: if
/// these are not even, the parts times what a busy thread finds busy in its part, itself included.
/// At most `most`.
#[inline]
pub fn crowd(mask: u8, parts: u8, most: u8) -> u8 {
    if parts == 1 {
        return mask.count_ones() as u8;
    }
    uneven(mask, parts, most)
}

fn uneven(mask: u8, parts: u8, most: u8) -> u8 {
    let busy = mask.count_ones();
    let each = busy / u32::from(parts);
    if in_parts(mask, parts).all(|count| count == each || count == each + 1) {
        return busy as u8;
    }
    let squares: u32 = in_parts(mask, parts).map(|count| count * count).sum();
    // To the nearest.
    let alike = (2 * u32::from(parts) * squares + busy) / (2 * busy);
    alike.min(u32::from(most)) as u8
}

/// What the busy threads of a core do together, one of them alone = 1, by what so many do evenly in
/// the parts.
pub fn together(gain: &[f64], parts: u8, mask: u8) -> f64 {
    let of = |busy: u32| gain[(busy as usize).min(gain.len()) - 1];
    if parts == 1 {
        return of(mask.count_ones());
    }
    let busy = in_parts(mask, parts).filter(|count| *count > 0);
    let every = u32::from(parts);
    busy.map(|count| of(every * count) / f64::from(parts)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_in_the_parts_by_turns() {
        let of = |mask| in_parts(mask, 2).collect::<Vec<_>>();
        assert_eq!(of(0b0000_0101), [2, 0]);
        assert_eq!(of(0b1111_1111), [4, 4]);
        assert_eq!(of(0b1000_0011), [1, 2]);
        assert_eq!(in_parts(0b1011, 1).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn who_fills_the_lowest_idle_thread_fills_the_parts_evenly() {
        for parts in [1, 2, 4] {
            for busy in 1..=8_u8 {
                let mask = (0xff_u16 >> (8 - busy)) as u8;
                assert_eq!(crowd(mask, parts, 8), busy, "{parts} parts");
            }
        }
    }

    #[test]
    fn two_threads_in_one_half_are_as_slow_as_four_evenly() {
        assert_eq!(crowd(0b0101, 2, 8), 4);
        assert_eq!(crowd(0b0101_0101, 2, 8), 8);
        // Three threads find three, one finds itself: 2.5 on average.
        assert_eq!(crowd(0b1_0111, 2, 8), 5);
        assert_eq!(crowd(0b1_0101, 2, 5), 5);
        assert_eq!((crowd(0, 2, 8), crowd(0b100, 2, 8)), (0, 1));
    }

    #[test]
    fn crowding_is_never_less_than_the_number_of_threads() {
        for mask in 1..=255_u8 {
            assert!(crowd(mask, 2, 8) >= mask.count_ones() as u8, "{mask:b}");
        }
    }

    #[test]
    fn what_threads_do_follows_from_their_parts() {
        let gain = [1.0, 2.0, 2.4, 2.8, 3.0, 3.2, 3.3, 3.4];
        let of = |mask| together(&gain, 2, mask);
        assert_eq!((of(0b1), of(0b11), of(0b1111)), (1.0, 2.0, 2.8));
        assert_eq!((of(0b101), of(0b111)), (1.4, 2.4));
        assert_eq!(together(&gain, 1, 0b101), 2.0);
        // A curve that ends in between stands for all beyond.
        assert_eq!(together(&gain[..3], 2, 0b101), 1.2);
    }
}
