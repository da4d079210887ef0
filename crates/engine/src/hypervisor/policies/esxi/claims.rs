//! What virtual machines are due: by their shares, no less than is reserved, no more than they can
//! use.

use super::parts::NORMAL;
use crate::spec::{Partition, Processors, Spec};

/// What a virtual machine may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub(super) shares: f64,
    /// Cores that it gets in any case.
    pub(super) least: f64,
    /// The most that it can use.
    pub(super) most: f64,
}

impl Claim {
    /// What it gets at a rate of cores for a share.
    pub(super) fn at(&self, rate: f64) -> f64 {
        (self.shares * rate).clamp(self.least, self.most)
    }

    /// The same at the rate of a whole host, where 0 leaves each what it can use.
    pub(super) fn due(&self, rate: f64) -> f64 {
        if rate > 0.0 {
            self.at(rate)
        } else {
            self.most
        }
    }
}

/// Cores for a share at which all that there is is given out; 0 if all get what they want.
pub(super) fn rate(cores: f64, claims: &[Claim]) -> f64 {
    let given = |rate: f64| claims.iter().map(|claim| claim.at(rate)).sum::<f64>();
    if claims.iter().map(|claim| claim.most).sum::<f64>() <= cores {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, cores);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if given(middle) > cores {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// A rate is found to as many bits as a number has.
const HALVINGS: usize = 64;

/// Shares of a virtual machine: as given, or so many for each of its virtual processors.
pub(super) fn shares_of(given: Option<u32>, count: usize) -> f64 {
    given.map_or(NORMAL * count as f64, f64::from)
}

/// What each virtual machine of a host would get if all wanted all they can have [cores].
pub fn entitled(spec: &Spec, cores: f64) -> Vec<f64> {
    let claim = |partition: &Partition| match &partition.processors {
        Processors::Shared {
            r#virtual, host, ..
        } => {
            let count = f64::from(*r#virtual);
            let most = host.cap.unwrap_or(count).min(count);
            Claim {
                shares: shares_of(host.machine().shares, usize::from(*r#virtual)),
                least: host.machine().reservation.min(most),
                most,
            }
        }
        Processors::Dedicated { cores, .. } => Claim {
            shares: NORMAL,
            least: 0.0,
            most: cores.len() as f64,
        },
    };
    let claims: Vec<Claim> = spec.partitions.iter().map(claim).collect();
    let rate = rate(cores, &claims);
    claims.iter().map(|claim| claim.due(rate)).collect()
}
