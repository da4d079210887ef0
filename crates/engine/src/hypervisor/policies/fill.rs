//! Sharing out by weight, within what each can use.

/// Shares `cores` out by weight; what one can't use goes to the others. Of each `wants` tells the
/// weight and the most that it can use [cores].
pub fn fill(cores: f64, wants: &[(f64, f64)]) -> Vec<f64> {
    let mut shares = vec![0.0; wants.len()];
    let mut open: Vec<usize> = (0..wants.len()).collect();
    let mut left = cores;
    loop {
        let weights: f64 = open.iter().map(|at| wants[*at].0).sum();
        let due = |at: usize| left * wants[at].0 / weights;
        let (full, rest): (Vec<usize>, Vec<usize>) =
            open.iter().partition(|at| wants[**at].1 <= due(**at));
        if full.is_empty() {
            rest.iter().for_each(|at| shares[*at] = due(*at));
            return shares;
        }
        for at in full {
            shares[at] = wants[at].1;
        }
        left = cores - shares.iter().sum::<f64>();
        open = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_cannot_use_goes_to_the_others_by_weight() {
        assert_eq!(fill(2.0, &[(2.0, 2.0), (1.0, 2.0)]), [4.0 / 3.0, 2.0 / 3.0]);
        assert_eq!(fill(2.0, &[(2.0, 1.0), (1.0, 2.0)]), [1.0, 1.0]);
        assert_eq!(
            fill(4.0, &[(1.0, 0.5), (2.0, 9.0), (1.0, 9.0)]),
            [0.5, 7.0 / 3.0, 3.5 / 3.0]
        );
        assert_eq!(fill(4.0, &[(1.0, 1.0), (1.0, 1.0)]), [1.0, 1.0]);
    }
}
