//! Is there a steady state? A layout can tip over: remote cost raises demand, demand raises the
//! remote share, until the virtual processors are used up and the backlog grows without end. An
//! average of such a run means nothing.
//!
//! The recorded time is cut into batches, and a line is fitted to their mean backlogs. A partition
//! is unsteady if the line rises by more than the scatter about it allows and by more than a small
//! share of what arrived. Where all its virtual processors had work all the time, which is what a
//! layout that tipped over looks like, less evidence will do.

/// Batches into which the recorded time is cut.
pub const BATCHES: usize = 18;

/// Rise of the line that counts, in its standard errors: usually, and with nothing left to run on.
const ERRORS: (f64, f64) = (5.0, 2.5);
/// Rise that counts, as a share of the transactions that arrived.
const SHARE_OF_ARRIVALS: f64 = 0.005;
/// Share of virtual processors with work from which on nothing is left to run on.
const SATURATED: f64 = 0.99;

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

/// Judges the mean backlog of each batch; `arrived` is the number of arrivals in the whole time,
/// `users` the number of those who think between two, `vp_busy` the share of virtual processors
/// that had work in its last third.
pub fn judge(batches: &[f64], arrived: f64, users: f64, vp_busy: f64) -> Verdict {
    let third = batches.len() / 3;
    let verdict = |is_steady, start, end| Verdict {
        is_steady,
        backlog_start: start,
        backlog_end: end,
    };
    if third < 2 {
        let mean = mean(batches);
        return verdict(true, mean, mean);
    }
    let (rise, error) = trend(batches);
    // Short batches resemble their neighbours, so that the scatter about the line is too small;
    // independent customers alone make a backlog differ by its square root. Of users those who
    // think are independent, and whoever does not think is in the backlog.
    let error = error.max(mean(batches).max(users).sqrt());
    let errors = if vp_busy > SATURATED {
        ERRORS.1
    } else {
        ERRORS.0
    };
    let grows = rise > errors * error && rise > SHARE_OF_ARRIVALS * arrived;
    let (start, end) = (&batches[..third], &batches[batches.len() - third..]);
    verdict(!grows, mean(start), mean(end))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Rise of the least-squares line over all batches, and its standard error.
fn trend(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let (centre, level) = ((n - 1.0) / 2.0, mean(values));
    let offset = |index: usize| index as f64 - centre;
    let spread: f64 = (0..values.len()).map(|i| offset(i).powi(2)).sum();
    let each = || values.iter().enumerate();
    let slope = each().map(|(i, v)| offset(i) * (v - level)).sum::<f64>() / spread;
    let rest = each().map(|(i, v)| (v - level - slope * offset(i)).powi(2));
    let variance = rest.sum::<f64>() / (n - 2.0);
    (slope * (n - 1.0), (variance / spread).sqrt() * (n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_backlog_is_steady_and_a_growing_one_is_not() {
        let level: Vec<f64> = (0..18).map(|i| 50.0 + f64::from(i % 3)).collect();
        assert!(judge(&level, 84_000.0, 0.0, 0.6).is_steady);
        let growing: Vec<f64> = (0..18).map(|i| 50.0 + 400.0 * f64::from(i)).collect();
        let verdict = judge(&growing, 84_000.0, 0.0, 0.6);
        assert!(!verdict.is_steady);
        assert_eq!(
            (verdict.backlog_start, verdict.backlog_end),
            (1050.0, 5850.0)
        );
    }

    #[test]
    fn with_nothing_left_to_run_on_less_evidence_will_do() {
        let wavy = |i: i32| 900.0 + 40.0 * f64::from(i) + 350.0 * f64::from(i % 3 - 1);
        let batches: Vec<f64> = (0..18).map(wavy).collect();
        let (rise, error) = trend(&batches);
        assert!(rise > 2.5 * error && rise < 5.0 * error, "{rise} {error}");
        assert!(judge(&batches, 17_000.0, 0.0, 0.7).is_steady);
        assert!(!judge(&batches, 17_000.0, 0.0, 1.0).is_steady);
    }

    #[test]
    fn users_who_come_back_from_thinking_are_no_growth() {
        // Of 800 some 780 think, 28 more or fewer by chance alone.
        let batches: Vec<f64> = (0..18).map(|i| 15.0 + 2.0 * f64::from(i)).collect();
        assert!(!judge(&batches, 1_600.0, 0.0, 0.83).is_steady);
        assert!(judge(&batches, 1_600.0, 800.0, 0.83).is_steady);
        // All of them end up waiting.
        let piled: Vec<f64> = (0..18).map(|i| 15.0 + 40.0 * f64::from(i)).collect();
        assert!(!judge(&piled, 1_600.0, 800.0, 1.0).is_steady);
    }

    #[test]
    fn a_straight_line_has_its_rise_and_no_error() {
        let (rise, error) = trend(&[1.0, 2.0, 3.0, 4.0]);
        assert!((rise - 3.0).abs() < 1e-12 && error < 1e-12);
    }

    #[test]
    fn a_small_drift_within_the_scatter_is_steady() {
        let drift: Vec<f64> = (0..18).map(|i| 50.0 + f64::from(i)).collect();
        assert!(judge(&drift, 84_000.0, 0.0, 1.0).is_steady);
    }
}
