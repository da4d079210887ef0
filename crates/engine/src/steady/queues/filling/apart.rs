//! How new threads lie on virtual processors in a guest that sends each to the emptiest one.
//!
//! While `w` of `v` virtual processors have work, whoever comes takes another one, until all have;
//! whoever ends leaves its own without work if it was alone there. With `n` threads at work whoever
//! is less or more than that by one came or ended as often as the other way round, so what all
//! `w(n)` are on the mean follows from those beside:
//!
//! ```text
//! (come + n) w(n) = n (w(n-1) + 1 - full(n-1)) + come (w(n+1) - alone(n+1) / (n+1))
//! ```
//! with `come` the threads that come while one is at work, their mean number. Those without work
//! are few and come and go by themselves, so there are none with the chance `exp(w - v)`; threads
//! lie as evenly as can be, so `2 w - n` are alone. Against guests that were played, of 1 to 32
//! virtual processors with 2 to 8 threads each, `w` is met within half a per cent.

use super::{Busy, Filled};

/// Sweeps through all numbers in which the means are found, and the change at which they are.
const SWEEPS: usize = 60;
const FOUND: f64 = 1e-4;
/// Standard deviations from the mean number of threads beyond which there are hardly ever more.
const HARDLY_EVER: f64 = 8.0;

impl Filled {
    /// For each number of busy threads that comes about, while so many are on the mean: those that
    /// go back to where they ran lie as they were left, new ones apart.
    pub fn returning(self, running: f64) -> Vec<Busy> {
        if !self.returns {
            return Vec::new();
        }
        let often = running + HARDLY_EVER * (running.sqrt() + 1.0);
        let most = self.threads().min(often.ceil() as u32);
        let with_work = self.with_work(most as usize, running);
        let each = (0..=most).zip(with_work);
        each.map(|(threads, vps)| {
            let new = 1.0 - self.again;
            Busy::of(self, threads).mix(self.apart(threads, vps), new)
        })
        .collect()
    }

    /// So many threads as evenly as can be on so many virtual processors.
    fn apart(self, threads: u32, vps: f64) -> Busy {
        let full = self.all_with_work(threads as usize, vps);
        let mut busy = Busy {
            vps,
            squares: vps * vps,
            wakes: 1.0 - full,
            full: [full; 2],
            ..Busy::default()
        };
        if threads > 0 {
            let mean = f64::from(threads) / vps;
            let low = (mean + 1e-9).floor();
            let more = (mean - low).max(0.0);
            busy.with[low as usize] += vps * (1.0 - more);
            if more > 1e-9 {
                busy.with[low as usize + 1] += vps * more;
            }
        }
        busy
    }

    /// Chance that none is without work.
    fn all_with_work(self, threads: usize, vps: f64) -> f64 {
        if threads < self.vps as usize {
            return 0.0;
        }
        (vps - f64::from(self.vps)).min(0.0).exp()
    }

    /// Mean virtual processors with work, by busy threads.
    fn with_work(self, most: usize, running: f64) -> Vec<f64> {
        let vps = f64::from(self.vps);
        let mut with: Vec<f64> = (0..=most).map(|n| (n as f64).min(vps)).collect();
        for _ in 0..SWEEPS {
            let mut change = 0.0_f64;
            for n in (1..=most).chain((1..=most).rev()) {
                let new = self.between(&with, n, running);
                change = change.max((new - with[n]).abs());
                with[n] = new;
            }
            if change < FOUND {
                break;
            }
        }
        with
    }

    /// What that is for so many threads, by what it is for one less and one more.
    fn between(self, with: &[f64], n: usize, running: f64) -> f64 {
        let threads = n as f64;
        let came = with[n - 1] + 1.0 - self.all_with_work(n - 1, with[n - 1]);
        let (mut sum, mut all) = (threads * came, threads);
        if let Some(more) = with.get(n + 1) {
            let alone = (2.0 * more - (threads + 1.0)).max(0.0);
            sum += running * (more - alone / (threads + 1.0));
            all += running;
        }
        let least = (threads / f64::from(self.smt)).ceil();
        (sum / all).max(least).min(threads.min(f64::from(self.vps)))
    }
}
