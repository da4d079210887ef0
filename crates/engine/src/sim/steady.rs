//! Is there a steady state? A layout can tip over: remote cost raises demand, demand raises the remote share, until the
//! virtual processors are used up and the backlog grows without end. An average of such a run means nothing.
//!
//! The recorded time is cut into batches. A partition is unsteady if its backlog grows from the first to the last third
//! of the batches by more than its own scatter allows, and by more than a small share of what arrived.

/// Batches into which the recorded time is cut.
pub const BATCHES: usize = 18;

/// Growth between thirds that counts, in standard errors of the difference.
const ERRORS: f64 = 4.0;
/// Growth of the backlog that counts, as a share of the transactions that arrived in the meantime.
const SHARE_OF_ARRIVALS: f64 = 0.005;

/// Verdict on one partition.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether averages mean something.
    pub is_steady: bool,
    /// Mean backlog in the first third of the recorded time [transactions].
    pub backlog_start: f64,
    /// Mean backlog in the last third [transactions].
    pub backlog_end: f64,
}

/// Judges the mean backlog of each batch; `arrived` is the number of arrivals in the whole time.
pub fn judge(batches: &[f64], arrived: f64) -> Verdict {
    let third = batches.len() / 3;
    if third < 2 {
        let mean = batches.iter().sum::<f64>() / batches.len().max(1) as f64;
        return Verdict {
            is_steady: true,
            backlog_start: mean,
            backlog_end: mean,
        };
    }
    let (start, start_var) = moments(&batches[..third]);
    let (end, _) = moments(&batches[batches.len() - third..]);
    let growth = end - start;
    let error = (2.0 * start_var.max(start) / third as f64).sqrt();
    let grows = growth > ERRORS * error && growth > SHARE_OF_ARRIVALS * arrived * 2.0 / 3.0;
    Verdict {
        is_steady: !grows,
        backlog_start: start,
        backlog_end: end,
    }
}

fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_backlog_is_steady_and_a_growing_one_is_not() {
        let level: Vec<f64> = (0..18).map(|i| 50.0 + f64::from(i % 3)).collect();
        assert!(judge(&level, 84_000.0).is_steady);
        let growing: Vec<f64> = (0..18).map(|i| 50.0 + 400.0 * f64::from(i)).collect();
        let verdict = judge(&growing, 84_000.0);
        assert!(!verdict.is_steady);
        assert_eq!(
            (verdict.backlog_start, verdict.backlog_end),
            (1050.0, 5850.0)
        );
    }

    #[test]
    fn a_small_drift_within_the_scatter_is_steady() {
        let drift: Vec<f64> = (0..18).map(|i| 50.0 + f64::from(i)).collect();
        assert!(judge(&drift, 84_000.0).is_steady);
    }
}
