//! Waiting for a lock whose holder runs.
//!
//! The threads of a partition and one lock are a closed queue (the machine repairman): each of `n`
//! threads computes for a time `outside` and then wants the lock for a time `held`, both
//! exponential. Mean value analysis solves it exactly, a thread at a time: who comes as the k-th
//! finds the queue that the other k - 1 leave among themselves.
//!
//! ```text
//! R(k) = held (1 + Q(k-1)),   Q(k) = k R(k) / (outside + R(k)),   wait = R(n) - held
//! ```

/// Mean wait of a thread each time it takes the lock [ns], its own holding time apart.
///
/// `threads` is an average and need not be whole: between two whole numbers the wait is
/// interpolated. One thread alone never waits.
pub fn wait_ns(threads: f64, outside_ns: f64, held_ns: f64) -> f64 {
    if threads <= 1.0 || held_ns <= 0.0 {
        return 0.0;
    }
    let outside = outside_ns / held_ns;
    // Customers that are met at the lock, by a k-th customer and by the next one.
    let (mut met, mut customers) = (0.0_f64, 1.0_f64);
    loop {
        let response = 1.0 + met;
        let next = customers * response / (outside + response);
        if customers + 1.0 >= threads {
            return held_ns * (met + (threads - customers) * (next - met));
        }
        met = next;
        customers += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_threads_that_hold_it_half_of_the_time() {
        // Q(1) = 1/2, R(2) = 3/2: a wait of half a holding time.
        assert_eq!(wait_ns(2.0, 100.0, 100.0), 50.0);
        // Q(2) = 2 x 1.5 / 2.5 = 1.2
        assert!((wait_ns(3.0, 100.0, 100.0) - 120.0).abs() < 1e-12);
        assert!((wait_ns(2.5, 100.0, 100.0) - 85.0).abs() < 1e-12);
    }

    #[test]
    fn a_thread_alone_never_waits() {
        assert_eq!(wait_ns(1.0, 0.0, 100.0), 0.0);
        assert_eq!(wait_ns(0.3, 100.0, 100.0), 0.0);
        assert_eq!(wait_ns(8.0, 100.0, 0.0), 0.0);
    }

    #[test]
    fn a_lock_that_is_always_wanted_is_taken_in_turn() {
        assert!((wait_ns(8.0, 0.0, 100.0) - 700.0).abs() < 1e-9);
    }
}
