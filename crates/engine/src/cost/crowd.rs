//! How many virtual processors of a partition compute at once, as one of them sees it.
//!
//! A lock is contended by those that compute now. The mean over some windows tells that only of a
//! partition of which as many always do: eight that run together for half of the time, whatever
//! stops them meanwhile, are four on average and yet meet seven others whenever they run. Of n(t)
//! that compute, each sees `integral of n^2 / integral of n`, which is n where that never changes
//! and more wherever it does.
//!
//! While nobody has the lock until one that is off its core comes back, or all who come stand in
//! line behind one that is off, what is waited for is simulated (`sim::convoy`): whom they meet
//! then is not counted here, or they would wait twice.

/// What is added up over a window, and its running averages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    /// Time of all that compute [ns].
    all: f64,
    /// The same while nobody is held up.
    ran: f64,
    /// Of these, time of each by how many there are [ns].
    met: f64,
}

/// Those of a partition that compute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crowd {
    /// Whether anybody tells who comes and goes.
    told: bool,
    computing: u32,
    /// Whether who comes to the lock is held up by one that is off its core.
    held_up: bool,
    counted_to: u64,
    window: Sums,
    average: Sums,
    factor: f64,
}

impl Default for Crowd {
    fn default() -> Self {
        Self {
            told: false,
            computing: 0,
            held_up: false,
            counted_to: 0,
            window: Sums::default(),
            average: Sums::default(),
            factor: 1.0,
        }
    }
}

impl Crowd {
    /// It is told from now on who comes and goes.
    pub fn listen(&mut self) {
        self.told = true;
    }

    /// One more does from now on.
    #[inline]
    pub fn come(&mut self, now: u64) {
        if !self.told {
            return;
        }
        self.count(now);
        self.computing += 1;
    }

    /// One fewer does.
    #[inline]
    pub fn go(&mut self, now: u64) {
        if !self.told {
            return;
        }
        self.count(now);
        self.computing -= 1;
    }

    /// Whether who comes to the lock is held up by one that is off its core, from now on.
    pub fn hold_up(&mut self, now: u64, held_up: bool) {
        if self.told && self.held_up != held_up {
            self.count(now);
            self.held_up = held_up;
        }
    }

    fn count(&mut self, now: u64) {
        let (computing, passed) = (f64::from(self.computing), (now - self.counted_to) as f64);
        self.window.all += computing * passed;
        if !self.held_up {
            self.window.ran += computing * passed;
            self.window.met += computing * computing * passed;
        }
        self.counted_to = now;
    }

    /// A window of so many ns ends, which has this part in the averages.
    pub fn close(&mut self, now: u64, window_ns: f64, newest: f64) {
        self.count(now);
        let (new, old) = (std::mem::take(&mut self.window), &mut self.average);
        old.all += newest * (new.all - old.all);
        old.ran += newest * (new.ran - old.ran);
        old.met += newest * (new.met - old.met);
        // One that has not run for long is what it was when it last did: all sums fade alike.
        if old.ran >= 1.0 {
            self.factor = old.met * window_ns / (old.ran * old.all);
        }
    }

    /// So many times as many as on average run at once.
    pub fn gather(&mut self, factor: f64) {
        self.factor = factor;
    }

    /// Those whom one that works meets at a lock, over how many work on average.
    pub fn factor(&self) -> f64 {
        self.factor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(windows: u64, each: impl Fn(&mut Crowd, u64)) -> Crowd {
        let mut crowd = Crowd::default();
        crowd.listen();
        for window in 0..windows {
            let from = 1_000 * window;
            each(&mut crowd, from);
            crowd.close(from + 1_000, 1_000.0, 0.25);
        }
        crowd
    }

    #[test]
    fn those_that_always_run_are_as_many_as_on_average() {
        let steady = after(40, |crowd, from| {
            if from == 0 {
                (0..8).for_each(|_| crowd.come(0));
            }
        });
        assert!((steady.factor() - 1.0).abs() < 1e-4, "{steady:?}");
    }

    #[test]
    fn one_that_idles_for_long_is_what_it_was() {
        let mut crowd = after(80, |crowd, from| {
            (0..8).for_each(|_| crowd.come(from));
            (0..8).for_each(|_| crowd.go(from + 500));
        });
        for window in 80..5_080 {
            crowd.close(1_000 * (window + 1), 1_000.0, 0.25);
        }
        assert!(crowd.factor().is_finite(), "{crowd:?}");
        // Eight that run all of the time from now on are those that are there on average.
        (0..8).for_each(|_| crowd.come(5_080_000));
        for window in 5_080..5_160 {
            crowd.close(1_000 * (window + 1), 1_000.0, 0.25);
        }
        assert!((crowd.factor() - 1.0).abs() < 1e-4, "{crowd:?}");
    }

    #[test]
    fn a_gang_for_half_of_the_time_is_twice_what_the_mean_says() {
        let gang = after(80, |crowd, from| {
            (0..8).for_each(|_| crowd.come(from));
            (0..8).for_each(|_| crowd.go(from + 500));
        });
        assert!((gang.factor() - 2.0).abs() < 1e-4, "{gang:?}");
    }
}
