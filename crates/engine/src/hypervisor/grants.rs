//! Who gets how much where more is wanted than there is: what is entitled first, the rest by weight
//! among those that want it, by filling up those that want least (water-filling).

/// What a partition wants and may have [cores].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Claim {
    pub wants: f64,
    pub entitled: f64,
    /// Most that it may use.
    pub limit: f64,
    pub weight: f64,
    /// Index of the group that limits it.
    pub group: Option<usize>,
}

/// Hands the `cores` of the physical pool out; `limits` are those of pools or groups, of which a
/// claim has one at most.
pub(crate) fn grants(claims: &[Claim], cores: f64, limits: &[f64]) -> Vec<f64> {
    let most = |claim: &Claim| claim.wants.min(claim.limit);
    let mut granted: Vec<f64> = claims.iter().map(|c| most(c).min(c.entitled)).collect();
    let mut open: Vec<usize> = (0..claims.len())
        .filter(|at| granted[*at] < most(&claims[*at]) - 1e-12)
        .collect();
    let used = |granted: &[f64], group: usize| -> f64 {
        let of = |(claim, got): (&Claim, &f64)| (claim.group == Some(group)).then_some(*got);
        claims.iter().zip(granted).filter_map(of).sum()
    };
    while !open.is_empty() {
        let left = cores - granted.iter().sum::<f64>();
        let weights: f64 = open.iter().map(|at| claims[*at].weight).sum();
        if left <= 1e-12 || weights <= 0.0 {
            break;
        }
        // Up to where the first of them, or of their groups, is full.
        let mut rise = left / weights;
        for at in &open {
            let of = &claims[*at];
            if of.weight > 0.0 {
                rise = rise.min((most(of) - granted[*at]) / of.weight);
            }
        }
        for (group, limit) in limits.iter().enumerate() {
            let members = open.iter().filter(|at| claims[**at].group == Some(group));
            let of_group: f64 = members.map(|at| claims[*at].weight).sum();
            if of_group > 0.0 {
                rise = rise.min(((limit - used(&granted, group)) / of_group).max(0.0));
            }
        }
        open.iter()
            .for_each(|at| granted[*at] += rise * claims[*at].weight);
        let before = open.len();
        let full = |group: usize, granted: &[f64]| used(granted, group) >= limits[group] - 1e-9;
        open.retain(|at| {
            let of = &claims[*at];
            let room = granted[*at] < most(of) - 1e-9 && of.weight > 0.0;
            room && !of.group.is_some_and(|group| full(group, &granted))
        });
        if open.len() == before {
            break;
        }
    }
    granted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(wants: f64, entitled: f64, weight: f64) -> Claim {
        Claim {
            wants,
            entitled,
            limit: f64::INFINITY,
            weight,
            ..Claim::default()
        }
    }

    #[test]
    fn what_fits_is_granted_and_what_does_not_is_shared_by_weight() {
        let few = [claim(2.0, 1.0, 1.0), claim(3.0, 1.0, 1.0)];
        assert_eq!(grants(&few, 8.0, &[]), [2.0, 3.0]);
        let many = [claim(8.0, 1.0, 1.0), claim(8.0, 1.0, 3.0)];
        assert_eq!(grants(&many, 6.0, &[]), [2.0, 4.0]);
        let one_small = [claim(1.5, 1.0, 1.0), claim(8.0, 1.0, 3.0)];
        assert_eq!(grants(&one_small, 6.0, &[]), [1.5, 4.5]);
    }

    #[test]
    fn limits_of_one_and_of_several_together_hold() {
        let mut two = [claim(8.0, 1.0, 1.0), claim(8.0, 1.0, 1.0)];
        two[0].limit = 1.0;
        assert_eq!(grants(&two, 6.0, &[]), [1.0, 5.0]);
        (two[0].limit, two[0].group, two[1].group) = (9.0, Some(0), Some(0));
        assert_eq!(grants(&two, 6.0, &[3.0]), [1.5, 1.5]);
    }
}
