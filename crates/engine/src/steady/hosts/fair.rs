//! Who uses how much of sets of processors that overlap, by weight.
//!
//! A kernel shares each processor's time by weight among those that run there, and moves threads
//! until no processor carries more weight than another that they may use. Of threads that are as
//! many as one likes to divide that comes to the weighted max-min share: no one can have more but
//! from another that has no more for its weight. It is a flow from who wants processors to those
//! that he may use:
//!
//! ```text
//! uses(level) = min(most, level x weight); the highest level at which all of it flows
//! ```
//! At that level some are held up: all that they may use is theirs, and what they use. These have
//! their share; the others go on without these processors at a higher level of their own. The
//! level is found from above (Dinkelbach): where not all flows, the smallest cut names a set of
//! them that wants more than there is for it, and the level falls to what that set can have.

/// Part of what is wanted below which it counts as nothing: sums are rounded.
const NOTHING: f64 = 1e-10;

/// What wants processors.
#[derive(Clone, Debug)]
pub(in crate::steady) struct Claim {
    pub weight: f64,
    /// Most that it can use [processors].
    pub most: f64,
    /// Sets of processors that it may use.
    pub pools: Vec<usize>,
}

/// What it has, and where: of what it may use, others are left with what is used at a lower level.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::steady) struct Share {
    pub cores: f64,
    pub pools: Vec<usize>,
}

/// What each of these has of sets of so many processors.
pub(in crate::steady) fn fair(cores: &[f64], claims: &[Claim]) -> Vec<Share> {
    let mut shares: Vec<Option<Share>> = vec![None; claims.len()];
    let mut is_open = vec![true; cores.len()];
    loop {
        let open: Vec<usize> = (0..claims.len())
            .filter(|at| shares[*at].is_none())
            .collect();
        let may = |at: usize| -> Vec<usize> {
            let pools = claims[at].pools.iter().copied();
            pools.filter(|pool| is_open[*pool]).collect()
        };
        let may: Vec<Vec<usize>> = open.iter().map(|at| may(*at)).collect();
        let claim = |at: usize| (claims[at].weight, claims[at].most);
        let wants: Vec<(f64, f64)> = open.iter().map(|at| claim(*at)).collect();
        let (targets, held_up) = level(cores, &wants, &may);
        let is_last = held_up.is_none();
        let held_up = held_up.unwrap_or(Cut {
            claims: vec![true; open.len()],
            pools: vec![true; cores.len()],
        });
        for (seat, at) in open.iter().enumerate() {
            if held_up.claims[seat] {
                shares[*at] = Some(Share {
                    cores: targets[seat],
                    pools: may[seat].clone(),
                });
            }
        }
        if is_last || open.is_empty() {
            return shares.into_iter().flatten().collect();
        }
        for (open, taken) in is_open.iter_mut().zip(held_up.pools) {
            *open &= !taken;
        }
    }
}

/// Who is held up, with all that it may use.
struct Cut {
    claims: Vec<bool>,
    pools: Vec<bool>,
}

/// What each has at the highest level at which all of that flows, and who is held up there; none if
/// everybody has what he wants.
fn level(cores: &[f64], wants: &[(f64, f64)], may: &[Vec<usize>]) -> (Vec<f64>, Option<Cut>) {
    let mut targets: Vec<f64> = wants.iter().map(|(_, most)| *most).collect();
    let mut held_up: Option<Cut> = None;
    // Each cut is another set, of a lower level than the last.
    for _ in 0..=wants.len() + cores.len() {
        let mut flow = Flow::of(cores, &targets, may);
        flow.fill(may);
        let Some(cut) = flow.cut(may) else { break };
        let each = cut.claims.iter().zip(wants).filter(|(within, _)| **within);
        let within: Vec<(f64, f64)> = each.map(|(_, want)| *want).collect();
        let each = cut.pools.iter().zip(cores).filter(|(within, _)| **within);
        let level = level_of(&within, each.map(|(_, cores)| cores).sum());
        for (target, (weight, most)) in targets.iter_mut().zip(wants) {
            *target = target.min(most.min(level * weight));
        }
        held_up = Some(cut);
    }
    (targets, held_up)
}

/// The level at which these together use so many processors, less than they want.
fn level_of(wants: &[(f64, f64)], cores: f64) -> f64 {
    let full = |want: &(f64, f64)| want.1 / want.0;
    let mut sorted = wants.to_vec();
    sorted.sort_by(|a, b| full(a).total_cmp(&full(b)));
    let mut weights: f64 = sorted.iter().map(|(weight, _)| weight).sum();
    let mut left = cores;
    for (weight, most) in sorted {
        if most * weights >= left * weight {
            return (left / weights).max(0.0);
        }
        left -= most;
        weights -= weight;
    }
    f64::INFINITY
}

/// What flows from claims to sets of processors.
struct Flow {
    /// What each claim still wants, and what each set has left.
    wanted: Vec<f64>,
    left: Vec<f64>,
    /// By claim, what it has of each set.
    has: Vec<Vec<f64>>,
    nothing: f64,
}

impl Flow {
    fn of(cores: &[f64], targets: &[f64], may: &[Vec<usize>]) -> Self {
        let all: f64 = targets.iter().sum();
        Self {
            wanted: targets.to_vec(),
            left: cores.to_vec(),
            has: vec![vec![0.0; cores.len()]; may.len()],
            nothing: NOTHING * all.max(1.0),
        }
    }

    /// Lets flow all that can.
    fn fill(&mut self, may: &[Vec<usize>]) {
        for (at, pools) in may.iter().enumerate() {
            for pool in pools {
                let more = self.wanted[at].min(self.left[*pool]);
                self.push(at, *pool, more);
            }
        }
        while let Some(path) = self.path(may) {
            self.along(&path);
        }
    }

    fn push(&mut self, claim: usize, pool: usize, more: f64) {
        self.wanted[claim] -= more;
        self.left[pool] -= more;
        self.has[claim][pool] += more;
    }

    /// Who can be reached from those that want more, by sets that they may use and by others who
    /// have something there: for each claim the set, for each set the claim, that it was reached
    /// from. Stops at a set that has something left.
    fn reach(&self, may: &[Vec<usize>]) -> Reached {
        let mut reached = Reached {
            claims: vec![None; may.len()],
            pools: vec![None; self.left.len()],
            free: None,
        };
        let wants = |at: &usize| self.wanted[*at] > self.nothing;
        let mut next: Vec<usize> = (0..may.len()).filter(wants).collect();
        next.iter().for_each(|at| reached.claims[*at] = Some(None));
        let mut seen = 0;
        while let Some(claim) = next.get(seen).copied() {
            seen += 1;
            for pool in &may[claim] {
                if reached.pools[*pool].is_some() {
                    continue;
                }
                reached.pools[*pool] = Some(claim);
                if self.left[*pool] > self.nothing {
                    reached.free = Some(*pool);
                    return reached;
                }
                for (other, has) in self.has.iter().enumerate() {
                    if has[*pool] > self.nothing && reached.claims[other].is_none() {
                        reached.claims[other] = Some(Some(*pool));
                        next.push(other);
                    }
                }
            }
        }
        reached
    }

    /// The shortest way to a set with something left: pairs of a claim and the set that it takes
    /// more of, the last first.
    fn path(&self, may: &[Vec<usize>]) -> Option<Vec<(usize, usize)>> {
        let reached = self.reach(may);
        let mut pool = reached.free?;
        let mut path = Vec::new();
        loop {
            let claim = reached.pools[pool]?;
            path.push((claim, pool));
            match reached.claims[claim]? {
                Some(before) => pool = before,
                None => return Some(path),
            }
        }
    }

    /// Moves as much as can be along a way: each takes from a set what the next gives up there.
    fn along(&mut self, path: &[(usize, usize)]) {
        let (Some((_, free)), Some((first, _))) = (path.first(), path.last()) else {
            return;
        };
        let most = self.wanted[*first].min(self.left[*free]);
        let gives = |pair: &[(usize, usize)]| self.has[pair[0].0][pair[1].1];
        let most = path.windows(2).map(gives).fold(most, f64::min);
        for pair in path.windows(2) {
            self.push(pair[0].0, pair[1].1, -most);
        }
        for (claim, pool) in path {
            self.push(*claim, *pool, most);
        }
    }

    /// Those that want more than there is for them; none if all has flown.
    fn cut(&self, may: &[Vec<usize>]) -> Option<Cut> {
        let reached = self.reach(may);
        let claims: Vec<bool> = reached.claims.iter().map(Option::is_some).collect();
        let pools = reached.pools.iter().map(Option::is_some).collect();
        claims.contains(&true).then_some(Cut { claims, pools })
    }
}

struct Reached {
    claims: Vec<Option<Option<usize>>>,
    pools: Vec<Option<usize>>,
    free: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(weight: f64, most: f64, pools: &[usize]) -> Claim {
        Claim {
            weight,
            most,
            pools: pools.to_vec(),
        }
    }

    fn has(cores: &[f64], claims: &[Claim]) -> Vec<f64> {
        fair(cores, claims).iter().map(|of| of.cores).collect()
    }

    fn near(found: &[f64], wanted: &[f64]) {
        let mut pairs = found.iter().zip(wanted);
        let all = pairs.all(|(found, wanted)| (found - wanted).abs() < 1e-9);
        assert!(all, "{found:?}, not {wanted:?}");
    }

    #[test]
    fn one_within_another_has_by_weight_what_the_other_cannot_have_elsewhere() {
        // Four that weigh 1000 in all on four processors, two that weigh 1 on two of these: the
        // level is 4 / 1001.
        let nested = [claim(1000.0, 4.0, &[0, 1]), claim(1.0, 2.0, &[0])];
        near(&has(&[2.0, 2.0], &nested), &[4000.0 / 1001.0, 4.0 / 1001.0]);
        // Two leave the other two alone.
        let nested = [claim(1000.0, 2.0, &[0, 1]), claim(1.0, 2.0, &[0])];
        near(&has(&[2.0, 2.0], &nested), &[2.0, 2.0]);
        // Where the inner one weighs more, the outer one keeps to what is left.
        let nested = [claim(1.0, 4.0, &[0, 1]), claim(1000.0, 2.0, &[0])];
        let found = fair(&[2.0, 2.0], &nested);
        near(&[found[0].cores, found[1].cores], &[2.0, 2.0]);
    }

    #[test]
    fn who_is_held_up_keeps_the_others_from_where_he_is() {
        // Eight with equal weight on two, four more that may use four: these keep to the others.
        let claims = [claim(8.0, 8.0, &[0]), claim(4.0, 4.0, &[0, 1])];
        let found = fair(&[2.0, 2.0], &claims);
        near(&[found[0].cores, found[1].cores], &[2.0, 2.0]);
        assert_eq!(found[1].pools, [1]);
    }

    #[test]
    fn sets_that_overlap_in_part_pass_on_what_is_short() {
        // a: 0 and 1, b: 1 and 2, c: 2 alone: c has half of what b leaves it, and so on.
        let claims = [
            claim(1.0, 9.0, &[0, 1]),
            claim(1.0, 9.0, &[1, 2]),
            claim(1.0, 9.0, &[2]),
        ];
        near(&has(&[1.0; 3], &claims), &[1.0; 3]);
        let mut heavy = claims.clone();
        heavy[0].weight = 4.0;
        near(&has(&[1.0; 3], &heavy), &[2.0, 0.5, 0.5]);
        heavy[2].weight = 4.0;
        // The last has all of its own then, and the others five parts of two.
        near(&has(&[1.0; 3], &heavy), &[1.6, 0.4, 1.0]);
    }
}
