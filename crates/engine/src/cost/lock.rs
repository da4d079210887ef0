//! Waiting for a lock whose holder runs.
//!
//! The threads of a partition and one lock are a closed queue: each of `n` threads computes for a
//! time `outside` and then wants the lock for a time `held`, both exponential. How long a hand-over
//! takes is the kind's doing:
//!
//! - Of a queue lock each that waits spins on a line of its own, and the release writes that of the
//!   next one alone: one transfer, however many wait (Mellor-Crummey, Scott 1991).
//! - Whoever releases a ticket lock invalidates its line in the caches of all that wait; their
//!   reads are served one after the other, and the next owner's is on average in the middle. So a
//!   hand-over takes longer the more threads wait (Boyd-Wickizer, Kaashoek, Morris, Zeldovich:
//!   Non-scalable locks are dangerous, 2012). That of a test-and-set lock does, too.
//!
//! With k threads at the lock, one holding and k - 1 waiting:
//!
//! ```text
//! arrivals (n - k) / outside,   departures 1 / s(k)
//! s(k) = held + transfer (queue),   held + transfer (1 + (k - 1)/2) (ticket)
//! p(k) = p(k-1) (n - k + 1) s(k) / outside
//! wait = sum of k p(k) / sum of p(k)/s(k) - s(1)
//! ```
//!
//! A queue lock, and any without a transfer, is the machine repairman's queue. Who sleeps for a
//! lock costs no instruction anything: that wait is simulated.

use crate::spec::LockKind;

/// Mean wait of a thread each time it takes the lock [ns], beyond its own holding time and one
/// transfer of the lock's line.
///
/// None for a lock for which threads sleep. `threads` is an average and need not be whole: between
/// two whole numbers the wait is interpolated. One thread alone never waits.
pub fn wait_ns(
    kind: LockKind,
    threads: f64,
    outside_ns: f64,
    held_ns: f64,
    transfer_ns: f64,
) -> f64 {
    if threads <= 1.0 || held_ns + transfer_ns <= 0.0 {
        return 0.0;
    }
    let slower_ns = match kind {
        LockKind::Queue => 0.0,
        LockKind::Ticket | LockKind::TestAndSet => 0.5 * transfer_ns,
        LockKind::Sleeping => return 0.0,
    };
    let alone_ns = held_ns + transfer_ns;
    let whole = threads.floor();
    let wait = wait_of(whole as u32, outside_ns, alone_ns, slower_ns);
    if whole == threads {
        return wait;
    }
    let next = wait_of(whole as u32 + 1, outside_ns, alone_ns, slower_ns);
    wait + (threads - whole) * (next - wait)
}

/// The wait among a whole number of threads, state by state, where each that waits makes a turn
/// longer by `slower_ns`: all sums are kept as means over the states so far, so that nothing leaves
/// the range of a number.
fn wait_of(threads: u32, outside_ns: f64, alone: f64, slower_ns: f64) -> f64 {
    // Share of the newest state among those so far; mean of those that wait, in units of what they
    // wait for; mean rate, in units of that without waiting.
    let (mut newest, mut waiting, mut rate) = (1.0_f64, 0.0_f64, 0.0_f64);
    for at in 1..=threads {
        let service = alone + slower_ns * f64::from(at - 1);
        let grown = newest * f64::from(threads - at + 1) * service;
        newest = grown / (outside_ns + grown);
        let slowed = alone / service;
        waiting = waiting * (1.0 - newest) + newest * (f64::from(at) - slowed);
        rate = rate * (1.0 - newest) + newest * slowed;
    }
    alone * waiting / rate
}

#[cfg(test)]
mod tests {
    use super::*;
    use LockKind::{Queue, Ticket};

    #[test]
    fn two_threads_that_hold_it_half_of_the_time() {
        // Without a transfer: 1/5, 2/5, 2/5; 6/5 at the lock at a rate of 4/5 of 1/100.
        assert!((wait_ns(Ticket, 2.0, 100.0, 100.0, 0.0) - 50.0).abs() < 1e-12);
        // 1, 3, 6, 6 of 16: 33/16 at a rate of 15/16.
        assert!((wait_ns(Ticket, 3.0, 100.0, 100.0, 0.0) - 120.0).abs() < 1e-12);
        assert!((wait_ns(Ticket, 2.5, 100.0, 100.0, 0.0) - 85.0).abs() < 1e-12);
    }

    #[test]
    fn a_thread_alone_never_waits() {
        assert_eq!(wait_ns(Ticket, 1.0, 0.0, 100.0, 50.0), 0.0);
        assert_eq!(wait_ns(Ticket, 0.3, 100.0, 100.0, 50.0), 0.0);
        assert_eq!(wait_ns(Ticket, 8.0, 100.0, 0.0, 0.0), 0.0);
    }

    #[test]
    fn a_lock_that_is_always_wanted_is_taken_in_turn() {
        assert!((wait_ns(Ticket, 8.0, 0.0, 100.0, 0.0) - 700.0).abs() < 1e-9);
        // Seven wait, so that a turn takes 100 + 10 (1 + 7/2) = 145.
        assert!((wait_ns(Ticket, 8.0, 0.0, 100.0, 10.0) - (8.0 * 145.0 - 110.0)).abs() < 1e-9);
        // In a queue, a turn takes 110 however many wait.
        assert!((wait_ns(Queue, 8.0, 0.0, 100.0, 10.0) - 7.0 * 110.0).abs() < 1e-9);
    }
}
