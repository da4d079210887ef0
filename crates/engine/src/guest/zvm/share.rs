//! SHARE: what each virtual machine is entitled to, and who gets what others leave.
//!
//! An absolute share is a part of all processors, a relative one competes with the other relative
//! shares for what the absolute ones leave. Absolute shares that together pass the whole are scaled
//! down to it. Nobody gets more than it asks for: what one leaves goes to those that want more, in
//! proportion to their shares (water-filling).

use crate::spec::CpShare;

/// Least part of the processors that relative shares compete for, however much is promised to
/// absolute ones: assumed, between 0.001 and 0.1.
const LEFT_FOR_RELATIVE: f64 = 0.01;

/// What shares are worth, as parts of all processors; they add up to 1, or less if there are
/// absolute ones only.
pub fn weights(shares: &[CpShare]) -> Vec<f64> {
    let absolute: f64 = shares.iter().map(|share| part_of(*share)).sum();
    let relative: f64 = shares.iter().map(|share| points_of(*share)).sum();
    let most = if relative > 0.0 {
        1.0 - LEFT_FOR_RELATIVE
    } else {
        1.0
    };
    let scale = if absolute > most {
        most / absolute
    } else {
        1.0
    };
    let left = 1.0 - absolute * scale;
    let worth = |share: &CpShare| match share {
        CpShare::Absolute(part) => part * scale,
        CpShare::Relative(points) => left * f64::from(*points) / relative,
    };
    shares.iter().map(worth).collect()
}

/// What one share would be worth beside others, as a part of all processors.
pub fn weight_beside(share: CpShare, at: usize, others: &[CpShare]) -> f64 {
    let mut all = others.to_vec();
    all[at] = share;
    weights(&all)[at]
}

fn part_of(share: CpShare) -> f64 {
    match share {
        CpShare::Absolute(part) => part,
        CpShare::Relative(_) => 0.0,
    }
}

fn points_of(share: CpShare) -> f64 {
    match share {
        CpShare::Absolute(_) => 0.0,
        CpShare::Relative(points) => f64::from(points),
    }
}

/// Shares `capacity` out in proportion to `weights`, nobody more than it demands; what is not
/// wanted goes to the others.
pub fn water_fill(capacity: f64, weights: &[f64], demands: &[f64]) -> Vec<f64> {
    debug_assert_eq!(weights.len(), demands.len());
    let mut given = vec![0.0; weights.len()];
    let mut open: Vec<usize> = (0..weights.len()).filter(|i| weights[*i] > 0.0).collect();
    let mut left = capacity;
    loop {
        let sum: f64 = open.iter().map(|i| weights[*i]).sum();
        let level = left / sum;
        let (full, short): (Vec<usize>, Vec<usize>) = open
            .iter()
            .partition(|i| demands[**i] <= weights[**i] * level);
        if full.is_empty() || short.is_empty() {
            for at in open {
                given[at] = demands[at].min(weights[at] * level);
            }
            return given;
        }
        for at in full {
            given[at] = demands[at];
            left -= demands[at];
        }
        open = short;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_shares_compete_for_what_absolute_ones_leave() {
        let shares = [
            CpShare::Absolute(0.4),
            CpShare::Relative(100),
            CpShare::Relative(200),
        ];
        let by_hand = [0.4, 0.2, 0.4];
        for (worth, hand) in weights(&shares).iter().zip(by_hand) {
            assert!((worth - hand).abs() < 1e-12);
        }
        let tripled = weight_beside(CpShare::Relative(300), 1, &shares);
        assert!((tripled - 0.36).abs() < 1e-12);
    }

    #[test]
    fn more_than_everything_is_scaled_down() {
        let shares = [CpShare::Absolute(0.9), CpShare::Absolute(0.6)];
        let worth = weights(&shares);
        assert!((worth[0] - 0.6).abs() < 1e-12 && (worth[1] - 0.4).abs() < 1e-12);
        let mixed = weights(&[CpShare::Absolute(1.0), CpShare::Relative(100)]);
        assert!(mixed[1] > 0.0 && (mixed[0] + mixed[1] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_one_leaves_goes_to_the_others_in_proportion() {
        // 10 to share 1:2:2; the first wants 1, the second 3, the third everything.
        let given = water_fill(10.0, &[1.0, 2.0, 2.0], &[1.0, 3.0, 100.0]);
        assert_eq!(given, vec![1.0, 3.0, 6.0]);
        // Nobody wants all: each gets what it wants.
        let given = water_fill(10.0, &[1.0, 1.0], &[2.0, 3.0]);
        assert_eq!(given, vec![2.0, 3.0]);
        // All want more: in proportion.
        let given = water_fill(9.0, &[1.0, 2.0], &[50.0, 50.0]);
        assert_eq!(given, vec![3.0, 6.0]);
        assert_eq!(water_fill(4.0, &[0.0], &[1.0]), vec![0.0]);
    }
}
