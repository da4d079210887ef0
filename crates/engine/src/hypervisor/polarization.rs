//! Entitlement by weight, and its spread over a partition's logical cores.
//!
//! Entitlement is the power a partition is guaranteed: of the shared physical cores of a type, the
//! part that its weight is of all weights (IBM z/VM documentation, "PR/SM Concepts"). In horizontal
//! polarization every logical core has an even part of it. In vertical polarization it is packed:
//! vertical-high cores are entitled to a whole physical core, vertical-medium ones to a part, and
//! vertical-low ones to nothing (they run on what others leave).
//!
//! Which are how many follows from the entitlement's fraction `f`: without one, all of it is
//! vertical-highs; with one half or more, one vertical-medium takes it; with less, one
//! vertical-high is given up and two vertical-mediums share `1 + f`, so that none is entitled to
//! less than half a core. Between one and one and a half cores there is no vertical-high, below
//! one a single vertical-medium.

/// How many logical cores are of which kind; numbered in this order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// Vertical-high: entitled to a whole physical core each.
    pub high: u16,
    /// Vertical-medium.
    pub medium: u16,
    /// Vertical-low: entitled to nothing.
    pub low: u16,
    /// What each vertical-medium is entitled to [cores].
    pub medium_share: f64,
}

/// Kind of a logical core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Entitled like all others of its partition, or to a core of its own.
    Horizontal,
    /// Entitled to a whole physical core.
    High,
    /// Entitled to part of one.
    Medium,
    /// Entitled to nothing.
    Low,
}

/// Rounding that is no fraction of a core.
const SLACK: f64 = 1e-9;

/// Splits an entitlement [cores] over so many logical cores in vertical polarization.
pub fn polarize(entitlement: f64, cores: u16) -> Split {
    let split = |high: u16, medium: u16, shared: f64| Split {
        high,
        medium,
        low: cores - high - medium,
        medium_share: if medium == 0 {
            0.0
        } else {
            shared / f64::from(medium)
        },
    };
    let entitlement = entitlement.min(f64::from(cores));
    let whole = (entitlement + SLACK).floor();
    let fraction = (entitlement - whole).max(0.0);
    match whole as u16 {
        whole if whole > 0 && fraction <= SLACK => split(whole, 0, 0.0),
        0 => split(0, 1, entitlement),
        whole if fraction >= 0.5 => split(whole, 1, fraction),
        whole => split(whole - 1, 2, 1.0 + fraction),
    }
}

impl Split {
    /// Kind of a logical core by its index.
    pub fn kind(&self, index: u16) -> Kind {
        if index < self.high {
            Kind::High
        } else if index < self.high + self.medium {
            Kind::Medium
        } else {
            Kind::Low
        }
    }

    /// What so many are entitled to together, the first ones first [cores].
    pub fn of_first(&self, count: f64) -> f64 {
        let high = count.min(f64::from(self.high));
        let medium = (count - high).min(f64::from(self.medium));
        high + medium * self.medium_share
    }

    /// What a logical core is entitled to [cores].
    pub fn share(&self, index: u16) -> f64 {
        match self.kind(index) {
            Kind::High => 1.0,
            Kind::Medium => self.medium_share,
            Kind::Low | Kind::Horizontal => 0.0,
        }
    }
}

/// What each of the partitions that share `cores` physical cores is entitled to, by its weight and
/// at most its own logical cores [cores].
pub fn entitlements(cores: u32, partitions: &[(u16, u16)]) -> Vec<f64> {
    let sum: u32 = partitions
        .iter()
        .map(|(weight, _)| u32::from(*weight))
        .sum();
    let share = |(weight, logical): &(u16, u16)| {
        let by_weight = f64::from(cores) * f64::from(*weight) / f64::from(sum.max(1));
        by_weight.min(f64::from(*logical))
    };
    partitions.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(entitlement: f64, cores: u16) -> (u16, u16, u16) {
        let split = polarize(entitlement, cores);
        (split.high, split.medium, split.low)
    }

    #[test]
    fn worked_examples_of_the_rule() {
        // 28 % and 26 % of 32 shared cores.
        assert_eq!(counts(8.96, 12), (8, 1, 3));
        assert_eq!(counts(8.32, 12), (7, 2, 3));
        assert!((polarize(8.96, 12).medium_share - 0.96).abs() < 1e-9);
        assert!((polarize(8.32, 12).medium_share - 0.66).abs() < 1e-9);
    }

    #[test]
    fn published_splits() {
        // By cores shared, weight, sum of weights and logical cores of the partition.
        let of = |shared, weight, sum: u16, logical| {
            let shares = entitlements(shared, &[(weight, logical), (sum - weight, u16::MAX)]);
            (shares[0], counts(shares[0], logical))
        };
        assert_eq!(of(32, 260, 1000, 12).1, (7, 2, 3));
        assert_eq!(of(10, 300, 1000, 4).1, (3, 0, 1));
        let (entitled, split) = of(10, 270, 1000, 4);
        assert_eq!(split, (2, 1, 1));
        assert!((polarize(entitled, 4).share(2) - 0.7).abs() < 1e-9);
        // A z13 703: two logical processors with 56.8 % each.
        assert_eq!(counts(1.136, 2), (0, 2, 0));
        assert!((polarize(1.136, 2).medium_share - 0.568).abs() < 1e-9);
        // Less than one engine: the one that is entitled to it, and 17 that are not.
        assert_eq!(counts(0.4, 18), (0, 1, 17));
    }

    #[test]
    fn small_entitlements_have_no_vertical_high() {
        assert_eq!(counts(0.3, 4), (0, 1, 3));
        assert_eq!(counts(1.4, 4), (0, 2, 2));
        assert_eq!(counts(1.5, 4), (1, 1, 2));
        assert!((polarize(1.4, 4).medium_share - 0.7).abs() < 1e-9);
    }

    #[test]
    fn whole_entitlements() {
        assert_eq!(counts(4.0, 4), (4, 0, 0));
        assert_eq!(counts(4.0, 6), (4, 0, 2));
        assert_eq!(counts(1.0, 3), (1, 0, 2));
        assert_eq!(counts(1.0, 1), (1, 0, 0));
    }

    #[test]
    fn a_split_hands_out_the_whole_entitlement() {
        for cores in 1..20 {
            for step in 1..=40 * cores {
                let entitlement = f64::from(step) / 40.0;
                let split = polarize(entitlement, cores);
                let sum: f64 = (0..cores).map(|index| split.share(index)).sum();
                assert!((sum - entitlement).abs() < 1e-6, "{entitlement} {split:?}");
                let first: f64 = (0..cores / 2).map(|index| split.share(index)).sum();
                assert!((split.of_first(f64::from(cores / 2)) - first).abs() < 1e-9);
                assert_eq!(split.high + split.medium + split.low, cores);
                assert!(split.medium_share <= 1.0);
            }
        }
    }

    #[test]
    fn entitlement_is_by_weight_and_no_more_than_the_logical_cores() {
        // Three partitions of weights 500, 480 and 20 on six cores.
        let shares = entitlements(6, &[(500, 6), (480, 3), (20, 3)]);
        let expected = [3.0, 2.88, 0.12];
        for (share, expected) in shares.iter().zip(expected) {
            assert!((share - expected).abs() < 1e-12);
        }
        assert_eq!(entitlements(8, &[(900, 2), (100, 4)])[0], 2.0);
    }
}
