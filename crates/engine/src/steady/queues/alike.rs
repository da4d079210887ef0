//! How bursts wait that are all as long.
//!
//! Between bursts in service times do not count: how many there are hangs on the mean alone. What
//! waits for a logical processor is less than of exponential bursts, since who comes finds them
//! further on. From outside come as many at random. One processor has exactly half of the wait
//! (Pollaczek 1930, Khinchine 1932), `c` of them
//!
//! ```text
//! (1 + (1 - rho) (c - 1) (sqrt(4 + 5 c) - 2) / (16 rho c)) / 2
//! ```
//! of it (Cosmetatos, Approximate explicit formulae for the average queueing time in the processes
//! (M/D/r) and (D/M/r), 1975), and never more than `c / (c + 1)`: while hardly anybody comes the
//! first of `c` is done after `1 / (c + 1)` of a burst, where it would be `1 / c`.
//!
//! Who comes of a fixed number finds what is there with one fewer, and waits for those that queue
//! and for the first that is done: for the same part of what that would be of exponential bursts
//! (Reiser, A queueing network analysis of computer communication networks with window flow
//! control, 1979, for one server). How often all are busy is `rho` to the power
//! `sqrt(2 (c + 1)) - 1` there (Sakasegawa, An approximation formula, 1977). It is worked out for
//! both kinds, and their ratio taken. Where users are away for as long each time too they come in
//! step: then they wait only if there are more than fit one after the other.
//!
//! Work that takes several time slices of the guest goes to the end of the queue after each. In a
//! queue are as many before each of their `m` slices, so on the mean `(m + 1) / 2 m` of a burst is
//! left of each, and for the same work there are more: `m / (m + 1)` of the wait of exponential
//! bursts with one processor, and all of it where processors are shared.

use crate::steady::queues::chain::Load;
use crate::steady::queues::demand::{Alike, Arrivals};

/// Part of a time slice up to which only some bursts that exceed another one by it take one more:
/// what a burst takes varies by so much. Assumed, 1 to 30 %.
const HARDLY: f64 = 0.1;

impl Alike {
    /// What so many logical processors do, which was told for exponential bursts.
    pub fn load(self, mut load: Load, arrivals: Arrivals, processors: f64) -> Load {
        if load.waiting <= 0.0 || load.overrun {
            return load;
        }
        let per_ns = load.bursts_per_ns;
        let burst_ns = (load.runnable - load.waiting) / per_ns;
        let server = Server {
            count: processors,
            burst_ns,
            slices: slices(burst_ns / self.slice_ns),
        };
        match arrivals {
            Arrivals::Open(_) => {
                let busy = load.waiting / (load.waiting + load.held);
                let less = (1.0 - server.part(busy)) * load.waiting;
                load.waiting -= less;
                load.runnable -= less;
            }
            Arrivals::Closed(count, away_ns) => {
                let wait_ns = load.waiting / per_ns;
                let wait = if self.in_step {
                    let fits = count * burst_ns / processors;
                    (fits - away_ns - burst_ns).clamp(0.0, wait_ns)
                } else {
                    server.ratio(count, away_ns) * wait_ns
                };
                sooner(&mut load, (count, wait_ns - wait), processors);
                load.waiting = load.bursts_per_ns * wait;
                load.runnable = load.bursts_per_ns * (burst_ns + wait);
            }
            Arrivals::Always(..) | Arrivals::Never => {}
        }
        load
    }
}

/// Slices that a burst of such a length takes, the last of which need not be a whole one. Bursts
/// that hardly exceed some differ by what they meet, so not all of them take one more.
fn slices(long: f64) -> f64 {
    let whole = long.floor();
    (whole + ((long - whole) / HARDLY).min(1.0)).max(1.0)
}

/// So many customers wait so much less each time, so that more is done.
fn sooner(load: &mut Load, (count, less_ns): (f64, f64), processors: f64) {
    let busy: f64 = (1..)
        .zip(&load.with[1..])
        .map(|(k, of)| f64::from(k) * of)
        .sum();
    let most = processors / busy.max(1e-12);
    let cycle_ns = count / load.bursts_per_ns;
    let more = (cycle_ns / (cycle_ns - less_ns)).min(most).max(1.0);
    load.with.iter_mut().for_each(|of| *of *= more);
    for of in [
        &mut load.vps,
        &mut load.bursts_per_ns,
        &mut load.wakes_per_ns,
        &mut load.woken_per_ns,
    ] {
        *of *= more;
    }
}

/// Logical processors, and bursts that they take so long for, in so many slices.
#[derive(Clone, Copy, Debug)]
struct Server {
    count: f64,
    burst_ns: f64,
    slices: f64,
}

impl Server {
    /// The part of the wait of exponential bursts that is waited, at such a load of each.
    fn part(&self, rho: f64) -> f64 {
        let c = self.count;
        let rest = (1.0 - rho) * (c - 1.0) * ((4.0 + 5.0 * c).sqrt() - 2.0);
        let uncut = (0.5 + rest / (32.0 * rho.max(1e-12) * c)).min(c / (c + 1.0));
        1.0 - (1.0 - uncut) * 2.0 / (self.slices + 1.0)
    }

    /// What so many wait who are away for so long, for what they would with exponential bursts.
    fn ratio(&self, count: f64, away_ns: f64) -> f64 {
        let each_ns = self.burst_ns / self.count;
        let power = (2.0 * (self.count + 1.0)).sqrt() - 1.0;
        let mut waits = [0.0_f64; 2];
        let mut there = if count.fract() > 0.0 {
            count.fract()
        } else {
            1.0
        };
        while there < count - 0.5 {
            for (wait, alike) in waits.iter_mut().zip([false, true]) {
                let per_ns = there / (away_ns + self.burst_ns + *wait);
                let rho = (per_ns * each_ns).min(1.0);
                let part = if alike { self.part(rho) } else { 1.0 };
                *wait = each_ns * (per_ns * *wait + part * rho.powf(power));
            }
            there += 1.0;
        }
        let [scattered, alike] = waits;
        if scattered > 0.0 {
            (alike / scattered).min(1.0)
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steady::queues::chain;
    use crate::steady::queues::filling::{Filled, THREADS};

    const ALIKE: Alike = Alike {
        slice_ns: 10.0,
        in_step: false,
    };

    /// What processors of one thread do that each do a burst in a nanosecond.
    fn found(arrivals: Arrivals, processors: u16, of: Alike) -> Load {
        let mut rates = [0.0; THREADS];
        rates[1] = 1.0;
        let filled = Filled::single(processors);
        let scattered = chain::load(arrivals, &rates, filled, &[], f64::INFINITY);
        of.load(scattered, arrivals, f64::from(processors))
    }

    #[test]
    fn on_one_processor_half_of_the_wait_is_left() {
        for load in [0.1, 0.5, 0.9] {
            let found = found(Arrivals::Open(load), 1, ALIKE);
            let queue = 0.5 * load * load / (1.0 - load);
            assert!((found.waiting - queue).abs() < 1e-6 * queue, "{load}");
            assert!((found.runnable - load - queue).abs() < 1e-6);
            assert!((found.vps - load).abs() < 1e-9);
        }
    }

    #[test]
    fn several_processors_wait_as_the_tables_say() {
        // Exact waits of M/D/c for those of M/M/c, by Crommelin's equations.
        let told = [
            (2, 0.4, 0.5424),
            (2, 0.9, 0.5036),
            (4, 0.6, 0.5484),
            (8, 0.8, 0.5313),
            (16, 0.6, 0.6520),
            (32, 0.2, 0.9376),
        ];
        for (processors, rho, exact) in told {
            let server = Server {
                count: f64::from(processors),
                burst_ns: 1.0,
                slices: 1.0,
            };
            let part = server.part(rho);
            assert!(
                (part / exact - 1.0).abs() < 0.035,
                "{processors} {rho} {part}"
            );
        }
    }

    #[test]
    fn what_is_cut_into_slices_waits_as_if_processors_were_shared() {
        let wait = |slice_ns: f64| {
            let of = Alike { slice_ns, ..ALIKE };
            found(Arrivals::Open(0.8), 1, of).waiting
        };
        let waits = [1.0, 0.5, 0.1, 1e-6].map(wait);
        assert!(waits.is_sorted());
        assert!((waits[1] - 3.2 * 2.0 / 3.0).abs() < 1e-6 && (waits[3] - 3.2).abs() < 1e-4);
    }

    #[test]
    fn a_few_customers_wait_for_what_is_left_of_the_one_in_service() {
        // Two that are away for as long as a burst takes. By Reiser the second finds the first at
        // work half of the time, and waits for half of a burst then.
        let two = found(Arrivals::Closed(2.0, 1.0), 1, ALIKE);
        assert!((two.bursts_per_ns - 2.0 / 2.25).abs() < 1e-9);
        assert!((two.runnable - 1.25 * two.bursts_per_ns).abs() < 1e-9);
        // The many wait for each other, and no more is done than can be.
        let many = found(Arrivals::Closed(500.0, 1.0), 1, ALIKE);
        assert!((many.bursts_per_ns - 1.0).abs() < 1e-9);
        assert!((many.runnable - 499.0).abs() < 0.6, "{}", many.runnable);
    }

    #[test]
    fn who_comes_in_step_waits_only_where_not_all_fit() {
        let of = Alike {
            in_step: true,
            ..ALIKE
        };
        let five = found(Arrivals::Closed(5.0, 20.0), 1, of);
        assert!(five.waiting == 0.0 && (five.bursts_per_ns - 5.0 / 21.0).abs() < 1e-9);
        let many = found(Arrivals::Closed(50.0, 20.0), 1, of);
        assert!((many.waiting - 29.0).abs() < 0.1, "{}", many.waiting);
    }
}
