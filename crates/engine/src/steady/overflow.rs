//! How many of those who want a core of a group find none free there.
//!
//! What is on the cores were there enough of them has a mean and a variance; their ratio is the
//! peakedness `z`. The part that finds all `c` cores taken is about that of Poisson arrivals that
//! offer `mean / z` to `c / z` cores (Fredericks, Congestion in blocking systems: a simple
//! approximation technique, Bell System Technical Journal 59, 1980), which Erlang's formula gives.
//! Those who come back as soon as a core is free are away only while more are there than cores.

/// What asks for a group of cores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Offered {
    /// Mean number of those who want one.
    pub mean: f64,
    /// Variance of that number.
    pub variance: f64,
    /// Most there can be.
    pub most: f64,
}

/// Deviations beyond which a number hardly ever is.
const HARDLY: f64 = 7.0;
/// Least peakedness that is told from none: below it the number hardly varies.
const SMOOTH: f64 = 0.05;

impl Offered {
    pub fn add(&mut self, other: Self) {
        self.mean += other.mean;
        self.variance += other.variance;
        self.most += other.most;
    }

    /// Share of those who come that find no core, and take one elsewhere until they leave.
    pub fn lost(self, cores: f64) -> f64 {
        if self.most <= cores || self.mean <= 0.0 || self.fits(cores) {
            return 0.0;
        }
        let peaked = self.variance / self.mean;
        let lost = if peaked < SMOOTH {
            self.beyond(cores)
        } else {
            erlang_b(cores / peaked, self.mean / peaked)
        };
        // No more are ever away than there are beyond the cores, and only while these are taken.
        let most = (self.most - cores) / self.mean * (self.mean / cores.max(1e-12)).min(1.0);
        lost.min(most)
    }

    /// Whether there are always enough cores: as good as never are so many there.
    fn fits(self, cores: f64) -> bool {
        let room = cores - self.mean;
        let spread = HARDLY * HARDLY * (self.variance + 0.5 * self.mean);
        room > 0.0 && room * room > spread
    }

    /// Mean number beyond the cores, as a share of all: what is elsewhere if each comes back at
    /// once. The number is taken to be normal.
    pub fn beyond(self, cores: f64) -> f64 {
        if self.most <= cores || self.mean <= 0.0 || self.fits(cores) {
            return 0.0;
        }
        mean_beyond(self.mean, self.variance, cores) / self.mean
    }
}

/// Mean of what a normal number is above a bound.
pub(super) fn mean_beyond(mean: f64, variance: f64, bound: f64) -> f64 {
    let deviation = variance.sqrt();
    if deviation < 1e-9 {
        return (mean - bound).max(0.0);
    }
    let z = (bound - mean) / deviation;
    if z > 8.0 {
        return 0.0;
    }
    let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    (deviation * (density - z * above(z))).max(0.0)
}

/// Chance of a standard normal number above `z` (Abramowitz and Stegun 26.2.17).
pub(super) fn above(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - above(-z);
    }
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let poly = [
        1.330_274_429,
        -1.821_255_978,
        1.781_477_937,
        -0.356_563_782,
        0.319_381_530,
    ];
    let sum = poly.iter().fold(0.0, |sum, factor| (sum + factor) * t);
    (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt() * sum
}

/// Erlang's loss formula for any number of servers: between whole ones by logarithms.
pub(super) fn erlang_b(servers: f64, offered: f64) -> f64 {
    let whole = servers.floor();
    let mut inverse = 1.0;
    for server in 1..=whole as u32 {
        inverse = 1.0 + inverse * f64::from(server) / offered;
        if inverse > 1e12 {
            return 0.0;
        }
    }
    let next = 1.0 + inverse * (whole + 1.0) / offered;
    let part = servers - whole;
    1.0 / (inverse.powf(1.0 - part) * next.powf(part))
}

/// In which order those who want a core of a group get it.
pub(super) const RANKS: usize = 4;

/// Groups of cores, and who wants one.
#[derive(Clone)]
pub(super) struct Groups {
    cores: Vec<f64>,
    offered: Vec<[Offered; RANKS]>,
    /// Shares of each rank that find no core, and that are away if they come back at once.
    shares: Vec<[[f64; 2]; RANKS]>,
}

impl Groups {
    pub fn new(count: usize) -> Self {
        Self {
            cores: vec![0.0; count],
            offered: vec![[Offered::default(); RANKS]; count],
            shares: vec![[[0.0; 2]; RANKS]; count],
        }
    }

    /// A group has so many cores, and nobody wants one.
    pub fn open(&mut self, at: usize, cores: f64) {
        self.cores[at] = cores;
        self.offered[at] = [Offered::default(); RANKS];
    }

    pub fn add(&mut self, at: usize, ranks: [f64; RANKS], offered: Offered) {
        for (sum, share) in self.offered[at].iter_mut().zip(ranks) {
            sum.add(Offered {
                mean: share * offered.mean,
                variance: share * offered.variance,
                most: share * offered.most,
            });
        }
    }

    /// Each rank of a group loses what those up to it lose together and those before it do not.
    pub fn close(&mut self, at: usize) {
        let cores = self.cores[at];
        let mut all = Offered::default();
        let mut before = [0.0; 2];
        for (rank, share) in self.offered[at].iter().zip(&mut self.shares[at]) {
            if rank.mean <= 0.0 {
                *share = [0.0; 2];
                continue;
            }
            all.add(*rank);
            let lost = [all.lost(cores), all.beyond(cores)].map(|share| share * all.mean);
            for at in 0..2 {
                let own = (lost[at] - before[at]) / rank.mean.max(1e-12);
                share[at] = own.clamp(0.0, 1.0);
            }
            before = lost;
        }
    }

    pub fn lost(&self, at: usize, ranks: [f64; RANKS], back: f64) -> f64 {
        let of = |(share, [lost, beyond]): (f64, &[f64; 2])| {
            share * (back * lost + (1.0 - back) * beyond)
        };
        ranks.into_iter().zip(&self.shares[at]).map(of).sum()
    }

    /// Mean number of those who find one.
    pub fn kept(&self, at: usize) -> f64 {
        let of = |(rank, [lost, _]): (&Offered, &[f64; 2])| rank.mean * (1.0 - lost);
        self.offered[at].iter().zip(&self.shares[at]).map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erlangs_formula_has_its_tabled_values() {
        // B(1, 1) = 1/2, B(2, 1) = 1/5, B(10, 5) = 0.018385 (Erlang's tables).
        assert!((erlang_b(1.0, 1.0) - 0.5).abs() < 1e-12);
        assert!((erlang_b(2.0, 1.0) - 0.2).abs() < 1e-12);
        assert!((erlang_b(10.0, 5.0) - 0.018_385).abs() < 1e-6);
        let between = erlang_b(1.5, 1.0);
        assert!(between < 0.5 && between > 0.2);
    }

    #[test]
    fn nobody_is_lost_where_all_fit() {
        let few = Offered {
            mean: 3.9,
            variance: 0.1,
            most: 4.0,
        };
        assert_eq!((few.lost(4.0), few.beyond(4.0)), (0.0, 0.0));
    }

    #[test]
    fn a_number_that_never_varies_loses_what_does_not_fit() {
        let many = Offered {
            mean: 10.0,
            variance: 0.0,
            most: 10.0,
        };
        assert!((many.lost(8.0) - 0.2).abs() < 1e-12);
    }

    #[test]
    fn the_mean_above_a_bound_of_a_normal_number() {
        let all = mean_beyond(0.0, 1.0, 0.0);
        assert!((all - 0.398_942).abs() < 1e-6);
        assert!((mean_beyond(5.0, 1.0, -5.0) - 10.0).abs() < 1e-6);
    }
}
