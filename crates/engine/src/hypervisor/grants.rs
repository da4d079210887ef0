//! Who gets how much where more is wanted than there is: what is entitled first, the rest by weight
//! among those that want it, by filling up those that want least (water-filling).
//!
//! Of PowerVM's pools each has excess of its own that is for its members first, and a soft cap
//! comes last (`hypervisor/excess`).

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
    /// Index of the pool whose own excess is for it first.
    pub pool: usize,
    /// Whether it has of the excess only what all others leave.
    pub soft: bool,
}

/// Room for what is asked of [`grants_by_level`] again and again.
#[derive(Default)]
pub(crate) struct Room {
    pub claims: Vec<Claim>,
    pub limits: Vec<f64>,
    pub own: Vec<f64>,
}

/// Hands the `cores` of the physical pool out; `limits` are those of pools or groups, of which a
/// claim has one at most.
pub(crate) fn grants(claims: &[Claim], cores: f64, limits: &[f64]) -> Vec<f64> {
    grants_by_level(claims, cores, limits, &[])
}

/// The same where the excess of each pool that is its `own` is for its own members first. Those
/// with a soft cap come last of all, those of the pool too.
pub(crate) fn grants_by_level(
    claims: &[Claim],
    cores: f64,
    limits: &[f64],
    own: &[f64],
) -> Vec<f64> {
    let mut filling = Filling {
        claims,
        limits,
        granted: claims.iter().map(|c| most(c).min(c.entitled)).collect(),
    };
    for (pool, own) in own.iter().enumerate() {
        let until = cores.min(filling.granted.iter().sum::<f64>() + own);
        filling.fill(until, |claim| claim.pool == pool && !claim.soft);
    }
    filling.fill(cores, |claim| !claim.soft);
    filling.fill(cores, |claim| claim.soft);
    filling.granted
}

fn most(claim: &Claim) -> f64 {
    claim.wants.min(claim.limit)
}

/// What each has so far.
struct Filling<'a> {
    claims: &'a [Claim],
    limits: &'a [f64],
    granted: Vec<f64>,
}

impl Filling<'_> {
    fn used(&self, group: usize) -> f64 {
        let of = |(claim, got): (&Claim, &f64)| (claim.group == Some(group)).then_some(*got);
        self.claims.iter().zip(&self.granted).filter_map(of).sum()
    }

    /// Gives to some of them, by weight, until all together have so many cores.
    fn fill(&mut self, cores: f64, those: impl Fn(&Claim) -> bool) {
        let claims = self.claims;
        let mut open: Vec<usize> = (0..claims.len())
            .filter(|at| those(&claims[*at]) && self.granted[*at] < most(&claims[*at]) - 1e-12)
            .collect();
        while !open.is_empty() {
            let left = cores - self.granted.iter().sum::<f64>();
            let weights: f64 = open.iter().map(|at| claims[*at].weight).sum();
            if left <= 1e-12 || weights <= 0.0 {
                break;
            }
            let rise = self.rise(&open, left / weights);
            open.iter()
                .for_each(|at| self.granted[*at] += rise * claims[*at].weight);
            let before = open.len();
            let full = |group: usize| self.used(group) >= self.limits[group] - 1e-9;
            open.retain(|at| {
                let of = &claims[*at];
                let room = self.granted[*at] < most(of) - 1e-9 && of.weight > 0.0;
                room && !of.group.is_some_and(full)
            });
            if open.len() == before {
                break;
            }
        }
    }

    /// By how much, for their weight, these can be given more until the first of them, or of their
    /// groups, is full; no more than so much.
    fn rise(&self, open: &[usize], most_rise: f64) -> f64 {
        let mut rise = most_rise;
        for at in open {
            let of = &self.claims[*at];
            if of.weight > 0.0 {
                rise = rise.min((most(of) - self.granted[*at]) / of.weight);
            }
        }
        for (group, limit) in self.limits.iter().enumerate() {
            let members = open.iter();
            let members = members.filter(|at| self.claims[**at].group == Some(group));
            let of_group: f64 = members.map(|at| self.claims[*at].weight).sum();
            if of_group > 0.0 {
                rise = rise.min(((limit - self.used(group)) / of_group).max(0.0));
            }
        }
        rise
    }
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

    #[test]
    fn a_soft_cap_has_of_the_excess_what_all_others_leave() {
        let soft = Claim {
            soft: true,
            ..claim(8.0, 1.0, 128.0)
        };
        assert_eq!(grants(&[soft, claim(8.0, 1.0, 1.0)], 8.0, &[]), [1.0, 7.0]);
        assert_eq!(grants(&[soft, claim(3.0, 1.0, 1.0)], 8.0, &[]), [5.0, 3.0]);
        assert_eq!(grants(&[soft, soft], 8.0, &[]), [4.0, 4.0]);
        // Of a pool's maximum too.
        let pooled = |claim: Claim| Claim {
            group: Some(0),
            ..claim
        };
        let two = [pooled(soft), pooled(claim(4.0, 1.0, 1.0))];
        assert_eq!(grants(&two, f64::INFINITY, &[6.0]), [2.0, 4.0]);
    }

    #[test]
    fn what_is_a_pools_own_goes_to_its_members_first_and_counts_for_nobody_else() {
        let of = |pool: usize, claim: Claim| Claim { pool, ..claim };
        let two = [of(1, claim(8.0, 1.0, 1.0)), of(0, claim(8.0, 2.0, 1.0))];
        // Of eight cores three are entitled, two are the pool's, and of three each has half.
        assert_eq!(grants_by_level(&two, 8.0, &[], &[0.0, 2.0]), [4.5, 3.5]);
        assert_eq!(grants_by_level(&two, 8.0, &[], &[0.0, 0.0]), [3.5, 4.5]);
        // What its members do not want of it is for all.
        let little = [of(1, claim(2.0, 1.0, 1.0)), two[1]];
        assert_eq!(grants_by_level(&little, 8.0, &[], &[0.0, 2.0]), [2.0, 6.0]);
        // A member with a soft cap has nothing of it that another one wants, in any pool.
        let soft = [
            Claim {
                soft: true,
                ..two[0]
            },
            two[1],
        ];
        assert_eq!(grants_by_level(&soft, 8.0, &[], &[0.0, 2.0]), [1.0, 7.0]);
    }
}
