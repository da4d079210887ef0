//! How often processors of a host that idle are taken by others than who left them last.

/// What a partition does on a chip, dispatch by dispatch.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::steady) struct Stay {
    /// Cores that it keeps busy.
    pub cores: f64,
    /// How long one of these stays, and how long it is without work then [ns].
    pub stay_ns: f64,
    pub away_ns: f64,
}

impl Stay {
    /// How many come and go, that so many of them are there.
    pub fn threads(&self) -> f64 {
        self.cores * (self.stay_ns + self.away_ns) / self.stay_ns.max(1e-9)
    }
}

/// Part of some cores that is idle at least, however much is asked of them.
pub(in crate::steady) const SCARCELY: f64 = 1e-3;
/// Part of the idle cores by which their number may be missed.
const NEARLY: f64 = 1e-3;
/// Steps in which the rate is found at which idle cores are taken.
const MOST_STEPS: usize = 20;

/// How often in a nanosecond an idle core is taken by others than who left it last. It is idle
/// until one of them comes, who left it after a stay, or another; over all who leave cores this
/// makes the mean number of idle ones: `sum(leave / (rate + 1 / away)) = idle`.
pub(in crate::steady) fn takes<'a>(
    stays: impl Iterator<Item = &'a Stay> + Clone,
    idle: f64,
) -> f64 {
    let (mut comes, mut soonest) = (0.0, 0.0_f64);
    for stay in stays.clone() {
        comes += stay.cores / stay.stay_ns;
        soonest = soonest.max(1.0 / stay.away_ns.max(1.0));
    }
    // No less than if all came back as soon as the first.
    let mut rate = (comes / idle - soonest).max(0.0);
    for _ in 0..MOST_STEPS {
        let (mut lie, mut less) = (0.0, 0.0);
        for stay in stays.clone() {
            let each = 1.0 / (rate + 1.0 / stay.away_ns.max(1.0));
            lie += stay.cores / stay.stay_ns * each;
            less += stay.cores / stay.stay_ns * each * each;
        }
        if lie <= idle * (1.0 + NEARLY) {
            break;
        }
        rate += (lie - idle) / less;
    }
    rate
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stay(cores: f64, stay_ns: f64, away_ns: f64) -> Stay {
        Stay {
            cores,
            stay_ns,
            away_ns,
        }
    }

    #[test]
    fn with_a_core_for_each_nobody_takes_anothers() {
        // Four that work half of the time, on four cores and on three.
        let four = [stay(2.0, 100.0, 100.0)];
        assert_eq!(takes(four.iter(), 2.0), 0.0);
        // Two are without work, one core is idle: it is taken as often as its owner comes.
        assert!((takes(four.iter(), 1.0) * 100.0 - 1.0).abs() < 0.01);
    }

    #[test]
    fn idle_cores_are_as_many_as_there_are() {
        let several = [
            stay(3.0, 50.0, 200.0),
            stay(1.0, 400.0, 900.0),
            stay(2.0, 10.0, 30.0),
        ];
        let rate = takes(several.iter(), 0.7);
        let lie = several.map(|of| of.cores / of.stay_ns / (rate + 1.0 / of.away_ns));
        assert!((lie.iter().sum::<f64>() / 0.7 - 1.0).abs() < 0.01);
    }
}
