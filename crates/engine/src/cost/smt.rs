//! Threads of a core share its issue slots.
//!
//! A thread uses issue slots in `i` cycles per instruction and waits in the rest. With `k` threads
//! busy, the others take slots at the rate `i/CPI` each, and the thread's core part stretches in
//! proportion:
//!
//! ```text
//! CPI_k = B + s_k (k-1) i^2 / CPI_k,     B = cycles per instruction without contention
//! CPI_k = (B + sqrt(B^2 + 4 s_k (k-1) i^2)) / 2
//! ```
//! The conflict factor `s_k` is fixed by the machine's published gain for its reference workload
//! (`CPI_1 = 1`, `i = 1 - stall share`, `CPI_k = k / gain_k`). So a workload that mostly waits
//! gains more from a second thread than the reference, and one that keeps the slots busy gains
//! less.

use crate::spec::Smt;

/// Conflict factors of a machine, by number of busy threads.
#[derive(Clone, Debug)]
pub struct Contention {
    factor: Vec<f64>,
}

impl Contention {
    /// Derives the factors from the gain curve.
    pub fn new(smt: &Smt) -> Self {
        let issue = 1.0 - smt.reference_stall_share;
        let factor = smt
            .gain
            .iter()
            .enumerate()
            .map(|(index, gain)| {
                let threads = index as f64 + 1.0;
                let cpi = threads / gain;
                ((cpi * cpi - cpi) / (issue * issue)).max(0.0)
            })
            .collect();
        Self { factor }
    }

    /// Cycles per instruction lost to siblings: `base` without contention, `issue` slots used per
    /// instruction.
    pub fn lost(&self, threads: u8, base: f64, issue: f64) -> f64 {
        let factor = self.factor[usize::from(threads) - 1];
        0.5 * ((base * base + 4.0 * factor * issue * issue).sqrt() - base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power7() -> Contention {
        Contention::new(&Smt {
            gain: vec![1.0, 1.4, 1.52, 1.6],
            reference_stall_share: 0.5,
        })
    }

    #[test]
    fn the_reference_workload_gets_the_published_gain() {
        for (threads, gain) in [(1u8, 1.0), (2, 1.4), (3, 1.52), (4, 1.6)] {
            let cpi = 1.0 + power7().lost(threads, 1.0, 0.5);
            assert!((f64::from(threads) / cpi - gain).abs() < 1e-12);
        }
    }

    #[test]
    fn waiting_gains_and_issuing_loses() {
        let gain = |issue| 2.0 / (1.0 + power7().lost(2, 1.0, issue));
        assert!(gain(0.2) > 1.7);
        assert!((gain(0.0) - 2.0).abs() < 1e-12);
        assert!(gain(0.8) < 1.1);
    }

    #[test]
    fn gain_one_is_no_smt() {
        let none = Contention::new(&Smt {
            gain: vec![1.0, 1.0],
            reference_stall_share: 0.5,
        });
        assert!((1.0 + none.lost(2, 1.0, 0.5) - 2.0).abs() < 1e-12);
    }
}
