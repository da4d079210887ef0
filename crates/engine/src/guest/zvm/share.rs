//! SHARE: what each virtual machine is entitled to, and who gets what others leave.
//!
//! An absolute share is a part of all processors, a relative one competes with the other relative
//! shares for what the absolute ones leave. Absolute shares that together pass the whole are scaled
//! down to it. What one leaves goes to those that want more, in proportion to their shares: the
//! dispatcher does that by deadlines, which move on by time used over what a share is worth.

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
}
