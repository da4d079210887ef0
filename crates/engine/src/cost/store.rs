//! Stores on their way to the cache that keeps them.
//!
//! Where the caches next to a core pass every store on, all stores of the core's threads go one
//! after the other over one way. A store occupies it for a time `o`; with k threads that store in
//! the share `s` of their instructions, the way is busy for `d = k s o` in the time `t` of an
//! instruction. A store that finds it busy waits as in a queue with random arrivals and constant
//! service (M/D/1), and its wait lengthens the instruction in turn:
//!
//! ```text
//! t = base + s o rho / (2 (1 - rho)),   rho = d / t
//! (t - base) (t - d) = s o d / 2
//! ```
//!
//! a square equation, of whose roots the larger is above `base` and `d`: an instruction cannot be
//! faster than its stores get away.

use crate::spec::{Profile, StorePath};

/// Length of a store [bytes].
const STORE_BYTES: f64 = 8.0;

/// Time for which a store occupies the way [ns]. Neighbours that are gathered go together: the
/// interval for their place, then their bytes step by step, a step a cycle.
pub(super) fn occupancy_ns(path: &StorePath, profile: &Profile, clock_hz: f64) -> f64 {
    let Some(gather) = path.gather_bytes else {
        return path.interval_ns;
    };
    let entry = (profile.store_run * STORE_BYTES).min(gather);
    let steps_ns = entry / path.width_bytes * 1e9 / clock_hz;
    (path.interval_ns + steps_ns) / (entry / STORE_BYTES)
}

/// What an instruction of `base_ns` waits for its stores [ns]; `stores_ns` is the time for which
/// they occupy the way that `threads` share.
pub fn wait_ns(base_ns: f64, stores_ns: f64, threads: u8) -> f64 {
    let busy = stores_ns * f64::from(threads);
    let apart = base_ns - busy;
    let product = 2.0 * stores_ns * busy;
    let root = (apart * apart + product).sqrt();
    // The same root, written so that nothing cancels.
    if apart > 0.0 {
        0.5 * product / (root + apart)
    } else {
        0.5 * (root - apart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_solves_its_own_equation() {
        for (base, stores, threads) in [(1.0, 0.3, 1), (1.0, 0.3, 2), (1.0, 0.8, 2), (5.0, 1e-3, 4)]
        {
            let wait = wait_ns(base, stores, threads);
            let busy = f64::from(threads) * stores / (base + wait);
            assert!(busy < 1.0);
            let queued = stores * busy / (2.0 * (1.0 - busy));
            assert!(
                (wait / queued - 1.0).abs() < 1e-12,
                "{base} {stores} {threads}"
            );
        }
    }

    #[test]
    fn an_instruction_is_no_faster_than_its_stores_get_away() {
        assert!(1.0 + wait_ns(1.0, 7.0, 1) > 7.0);
        assert!(1.0 + wait_ns(1.0, 7.0, 2) > 14.0);
        assert_eq!(wait_ns(1.0, 0.0, 2), 0.0);
    }
}
