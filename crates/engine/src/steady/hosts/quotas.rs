//! Who uses how much of a host's processors, within the quotas of control groups.
//!
//! While a group may run, all of its members that have work do, each on as many processors as there
//! are for it; then all of them stop, until the period is over. So what one uses of the quota goes
//! by how many of its threads run meanwhile, and weights tell only where processors are short:
//!
//! ```text
//! uses = min(wants, part of the time x runs meanwhile), all uses together = quota
//! ```
//! One that is stopped earlier, by a quota of its own, leaves the others longer. Members of other
//! groups that are stopped too have what they have on average. Virtual processors of KVM that poll
//! before they halt use the quota up like those that work, and stop with them: they poll for that
//! part of the time, however little there is to do.

use std::collections::{BTreeMap, BTreeSet};

use crate::hypervisor::policies::{quota, share_out, Member};
use crate::spec::Cgroup;
use crate::steady::hosts::weights::{by_pool, Load};

/// Most steps at a time in which groups that are in each other's way come to rest: what is left is
/// done in the next step of the whole layout.
const STEPS: usize = 3;
/// Change of what one uses below which they have [processors].
const AT_REST: f64 = 1e-9;
/// Halvings after which the part of the time is found in which a group may run, and the most that
/// is looked for: what one wants may be more than it gets while nothing stops it.
const HALVINGS: usize = 80;
const MOST_OPEN: f64 = 1e9;
/// The same where processors are short while a group runs, each of which shares them out.
const OPENINGS: usize = 32;
/// Part of what one wants that is as good as none.
const ALL: f64 = 1e-9;

/// Threads of a partition that may use the same processors.
#[derive(Clone, Copy, Debug)]
pub(in crate::steady) struct Part {
    /// Which of these sets.
    pub pool: usize,
    pub member: Member,
    /// How many may run at once, where what waited while they were stopped is made up for, and
    /// what these weigh.
    pub at_once: f64,
    pub weigh: f64,
    /// How many poll beside these while nothing stops them.
    pub polls: f64,
}

impl Part {
    /// What it uses if nothing stops it.
    fn wants(&self) -> f64 {
        self.member.most + self.polls
    }
}

/// What is shared out.
pub(in crate::steady) struct Sharing<'a> {
    pub cgroups: &'a [Cgroup],
    /// Processors of each set.
    pub cores: &'a [f64],
    pub parts: &'a [Part],
}

/// What each part uses, what it has while no quota stops it, and the share of the time in which
/// none does: of those that have all that they want, only if they poll.
pub(in crate::steady) struct Shares {
    pub used: Vec<f64>,
    pub running: Vec<f64>,
    pub runs: Vec<f64>,
    /// Share of those that would poll meanwhile for which the others leave a processor.
    pub polls: Vec<f64>,
}

/// A group with a quota that none is above, with its parts and what it lets run.
struct Outermost {
    group: usize,
    parts: Vec<usize>,
    nodes: Vec<Node>,
    /// Groups with a quota within it.
    inner: BTreeSet<usize>,
    /// Weights while it runs.
    weights: Weights,
}

/// What parts weigh, and groups on each set of processors.
struct Weights {
    of_parts: Vec<f64>,
    of_groups: Vec<Vec<f64>>,
}

/// What each part has while its groups run, and which share of its polling.
struct Meanwhile {
    running: Vec<f64>,
    polls: Vec<f64>,
}

impl Sharing<'_> {
    /// What each part gets.
    pub fn share_out(&self) -> Shares {
        let parts = self.parts.len();
        let mut used: Vec<f64> = self.parts.iter().map(|part| part.member.most).collect();
        let weights = self.weights(|at| self.parts[at].member.weight);
        let limits: Vec<Vec<usize>> = self.parts.iter().map(|part| self.limits(part)).collect();
        let groups = self.outermost(&limits);
        let mut shares = Shares {
            used: Vec::new(),
            running: vec![f64::NAN; parts],
            runs: vec![1.0; parts],
            polls: vec![1.0; parts],
        };
        for _ in 0..STEPS {
            let mut change = 0.0_f64;
            for of in &groups {
                let meanwhile = self.meanwhile((of, &limits), &used);
                let before = used.clone();
                let all = quota(&self.cgroups[of.group]);
                self.use_up((&of.nodes, &meanwhile), all, (&mut used, &mut shares.runs));
                for at in &of.parts {
                    shares.running[*at] = meanwhile.running[*at];
                    shares.polls[*at] = meanwhile.polls[*at];
                    change = change.max((used[*at] - before[*at]).abs());
                }
            }
            if change < AT_REST {
                break;
            }
        }
        shares.used = self.without_quotas(&weights, &used, |_| f64::INFINITY);
        for (at, part) in self.parts.iter().enumerate() {
            // One that a cap of its own stops has what others leave it until then; what nothing
            // stops runs all of its time.
            if shares.running[at].is_nan() && part.at_once > part.member.most {
                let mut most = shares.used.clone();
                most[at] = part.at_once;
                let alone = self.without_quotas(&weights, &most, |_| f64::INFINITY);
                shares.running[at] = alone[at];
            }
            shares.running[at] = shares.running[at].max(shares.used[at]);
        }
        shares
    }

    /// Groups with a quota that may stop some, of those that are within no other.
    fn outermost(&self, limits: &[Vec<usize>]) -> Vec<Outermost> {
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, limits) in limits.iter().enumerate() {
            if let Some(outermost) = limits.first() {
                groups.entry(*outermost).or_default().push(at);
            }
        }
        groups.retain(|_, parts| self.may_stop(parts, limits));
        let of = |(group, parts): (usize, Vec<usize>)| {
            let inner = parts.iter().flat_map(|at| limits[*at].iter().skip(1));
            Outermost {
                group,
                nodes: Node::all(&parts, limits, 1),
                inner: inner.copied().collect(),
                weights: self.weights(|at| match parts.contains(&at) {
                    true => self.parts[at].weigh,
                    false => self.parts[at].member.weight,
                }),
                parts,
            }
        };
        groups.into_iter().map(of).collect()
    }

    /// What a group's parts have while it runs. Processors may be short then though they are not
    /// on the mean: who has all that he wants is done before the group is stopped, and has as much
    /// on average as he uses in the part of the time that it runs for, no more.
    fn meanwhile(&self, (of, limits): (&Outermost, &[Vec<usize>]), used: &[f64]) -> Meanwhile {
        if !self.is_short(used, of) {
            return Meanwhile {
                running: self.parts.iter().map(|part| part.at_once).collect(),
                polls: vec![1.0; self.parts.len()],
            };
        }
        let all = quota(&self.cgroups[of.group]);
        let having = |open: f64| self.having(of, (used, open));
        let uses = |open: f64| self.use_all((&of.nodes, &having(open)), open);
        // The more of the time it runs the less those take that are done before.
        let [mut low, mut high] = [0.0, 1.0];
        for _ in 0..OPENINGS {
            let middle = 0.5 * (low + high);
            if uses(middle) < all {
                low = middle;
            } else {
                high = middle;
            }
        }
        let mut found = having(high);
        // One that another quota stops earlier has all that is left to him until then.
        let within = |at: &&usize| limits[**at].len() > 1;
        let mut most = used.to_vec();
        of.parts
            .iter()
            .for_each(|at| most[*at] = found.running[*at]);
        for at in of.parts.iter().filter(within) {
            most[*at] = self.parts[*at].at_once;
        }
        let until = self.without_quotas(&of.weights, &most, |_| f64::INFINITY);
        for at in of.parts.iter().filter(within) {
            found.running[*at] = until[*at];
        }
        found
    }

    /// Whether some have no processor if all that may run at once do, and poll.
    fn is_short(&self, used: &[f64], of: &Outermost) -> bool {
        let mut left = self.cores.to_vec();
        for (at, part) in self.parts.iter().enumerate() {
            left[part.pool] -= match of.parts.contains(&at) {
                true => part.at_once + part.polls,
                false => used[at],
            };
        }
        left.iter().any(|left| *left < 0.0)
    }

    /// The same if it runs for such a part of the time, on the mean over that.
    fn having(&self, of: &Outermost, (used, open): (&[f64], f64)) -> Meanwhile {
        let mut most = used.to_vec();
        for at in &of.parts {
            let part = &self.parts[*at];
            most[*at] = part.at_once.min(part.member.most / open);
        }
        let inner = |group: usize| match of.inner.contains(&group) {
            true => quota(&self.cgroups[group]) / open,
            false => f64::INFINITY,
        };
        // Nobody polls while another waits for its processor. Those that are more than there are
        // processors wait evenly.
        let mut left: Vec<f64> = self.cores.iter().map(|cores| 2.0 * cores).collect();
        for (part, most) in self.parts.iter().zip(&most) {
            left[part.pool] -= most + part.polls;
        }
        let room =
            |part: &Part| (left[part.pool] / self.cores[part.pool].max(1e-12)).clamp(0.0, 1.0);
        Meanwhile {
            polls: self.parts.iter().map(room).collect(),
            running: self.without_quotas(&of.weights, &most, inner),
        }
    }

    /// Groups with a quota that a part is in, the outermost first.
    fn limits(&self, part: &Part) -> Vec<usize> {
        let mut limits: Vec<usize> = limits(self.cgroups, part.member.group).collect();
        limits.reverse();
        limits
    }

    /// Whether parts want more than one of the quotas that they are under.
    fn may_stop(&self, parts: &[usize], limits: &[Vec<usize>]) -> bool {
        let mut wanted: BTreeMap<usize, f64> = BTreeMap::new();
        for at in parts {
            for group in &limits[*at] {
                *wanted.entry(*group).or_default() += self.parts[*at].wants();
            }
        }
        let mut each = wanted.iter();
        each.any(|(group, wanted)| *wanted > quota(&self.cgroups[*group]))
    }

    /// Weights where parts have such ones.
    fn weights(&self, of: impl Fn(usize) -> f64) -> Weights {
        let of_parts: Vec<f64> = (0..self.parts.len()).map(of).collect();
        let load = |(part, weight): (&Part, &f64)| Load {
            pool: part.pool,
            group: part.member.group,
            weight: *weight,
        };
        let loads: Vec<Load> = self.parts.iter().zip(&of_parts).map(load).collect();
        Weights {
            of_groups: by_pool(self.cgroups, &loads, self.cores.len()),
            of_parts,
        }
    }

    /// What each has if it uses so much at most, its groups as much as there is `room` for each,
    /// and nothing stops them: by weight where processors are short.
    fn without_quotas(
        &self,
        weights: &Weights,
        most: &[f64],
        room: impl Fn(usize) -> f64,
    ) -> Vec<f64> {
        let rooms: Vec<f64> = (0..self.cgroups.len()).map(room).collect();
        let mut all = vec![0.0; self.parts.len()];
        for (pool, cores) in self.cores.iter().enumerate() {
            let there = (0..self.parts.len()).filter(|at| self.parts[*at].pool == pool);
            let there: Vec<usize> = there.collect();
            let members = there.iter().map(|at| Member {
                group: self.parts[*at].member.group,
                weight: weights.of_parts[*at],
                most: most[*at],
            });
            let members: Vec<Member> = members.collect();
            let shares = share_out(
                self.cgroups,
                (&weights.of_groups[pool], &rooms),
                &members,
                *cores,
            );
            there
                .iter()
                .zip(shares)
                .for_each(|(at, own)| all[*at] = own);
        }
        all
    }

    /// Shares out so much among those that run together until it is used up; groups within may be
    /// stopped earlier.
    fn use_up(
        &self,
        (nodes, having): (&[Node], &Meanwhile),
        cores: f64,
        of: (&mut [f64], &mut [f64]),
    ) {
        let uses = |open: f64| self.use_all((nodes, having), open);
        let mut high = 1.0;
        while uses(high) < cores && high < MOST_OPEN {
            high *= 2.0;
        }
        let mut low = 0.0;
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if uses(middle) < cores {
                low = middle;
            } else {
                high = middle;
            }
        }
        let (used, runs) = of;
        for node in nodes {
            match node {
                Node::Group(_, within) => {
                    let cores = self.uses((node, having), high);
                    self.use_up((within, having), cores, (used, runs));
                }
                Node::Part(at) => {
                    let part = &self.parts[*at];
                    used[*at] = part.member.most.min(high * having.running[*at]);
                    if part.polls > 0.0 || used[*at] < (1.0 - ALL) * part.member.most {
                        runs[*at] = high.min(1.0);
                    }
                }
            }
        }
    }

    /// What one uses if it may run for such a part of the time, as far as groups within let it.
    fn uses(&self, (node, having): (&Node, &Meanwhile), open: f64) -> f64 {
        match node {
            Node::Group(group, within) => {
                let all = self.use_all((within, having), open);
                all.min(quota(&self.cgroups[*group]))
            }
            Node::Part(at) => {
                let part = &self.parts[*at];
                let polls = part.polls * having.polls[*at];
                part.member.most.min(open * having.running[*at]) + polls * open.min(1.0)
            }
        }
    }

    fn use_all(&self, (nodes, having): (&[Node], &Meanwhile), open: f64) -> f64 {
        nodes
            .iter()
            .map(|node| self.uses((node, having), open))
            .sum()
    }
}

/// What a group with a quota lets run: a group within it that has one too, or a part.
enum Node {
    Group(usize, Vec<Node>),
    Part(usize),
}

impl Node {
    /// Of parts, by the groups with a quota that each is in from this depth on.
    fn all(parts: &[usize], limits: &[Vec<usize>], depth: usize) -> Vec<Self> {
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut nodes = Vec::new();
        for at in parts {
            match limits[*at].get(depth) {
                Some(group) => groups.entry(*group).or_default().push(*at),
                None => nodes.push(Self::Part(*at)),
            }
        }
        let within = |(group, parts): (usize, Vec<usize>)| {
            Self::Group(group, Self::all(&parts, limits, depth + 1))
        };
        nodes.extend(groups.into_iter().map(within));
        nodes
    }
}

/// Those of a group and of the groups above it that have a quota.
pub(in crate::steady) fn limits(
    cgroups: &[Cgroup],
    group: Option<u16>,
) -> impl Iterator<Item = usize> + '_ {
    let above = |at: &u16| cgroups[usize::from(*at)].parent;
    let groups = std::iter::successors(group, above).map(usize::from);
    groups.filter(|at| cgroups[*at].quota_ns.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(parent: Option<u16>, cores: Option<f64>) -> Cgroup {
        Cgroup {
            name: String::new(),
            parent,
            weight: 100,
            quota_ns: cores.map(|of| (of * 1e8) as u64),
            period_ns: 100_000_000,
            burst_ns: 0,
            cpuset: None,
            idle: false,
        }
    }

    /// Loops in a group, each set of processors counted by itself.
    fn loops(pool: usize, group: u16, count: f64, weight: f64) -> Part {
        Part {
            pool,
            member: Member {
                group: Some(group),
                weight: weight * count,
                most: count,
            },
            at_once: count,
            weigh: weight * count,
            polls: 0.0,
        }
    }

    fn used(cgroups: &[Cgroup], cores: &[f64], parts: &[Part]) -> Vec<f64> {
        let sharing = Sharing {
            cgroups,
            cores,
            parts,
        };
        sharing.share_out().used
    }

    fn near(found: &[f64], wanted: &[f64]) {
        let mut pairs = found.iter().zip(wanted);
        let all = pairs.all(|(found, wanted)| (found - wanted).abs() < 1e-6);
        assert!(all, "{found:?}, not {wanted:?}");
    }

    #[test]
    fn who_has_more_running_uses_more_of_a_quota_whatever_the_weights() {
        let groups = [group(None, Some(2.0))];
        for weight in [10.0, 100.0, 1000.0] {
            let parts = [loops(0, 0, 8.0, weight), loops(0, 0, 1.0, 100.0)];
            near(&used(&groups, &[16.0], &parts), &[16.0 / 9.0, 2.0 / 9.0]);
        }
    }

    #[test]
    fn weights_tell_where_processors_are_short() {
        let groups = [group(None, Some(2.0))];
        let parts = [loops(0, 0, 4.0, 300.0), loops(0, 0, 4.0, 100.0)];
        near(&used(&groups, &[4.0], &parts), &[1.5, 0.5]);
        // On processors of their own they do not.
        let parts = [loops(0, 0, 4.0, 300.0), loops(1, 0, 4.0, 100.0)];
        near(&used(&groups, &[4.0, 4.0], &parts), &[1.0, 1.0]);
        // Two on one processor run as one.
        let parts = [loops(0, 0, 2.0, 100.0), loops(1, 0, 3.0, 100.0)];
        near(&used(&groups, &[1.0, 3.0], &parts), &[0.5, 1.5]);
    }

    #[test]
    fn what_comes_and_goes_is_made_up_for_while_the_group_runs() {
        let groups = [group(None, Some(2.0))];
        let mut comes = loops(0, 0, 0.3, 100.0);
        (comes.at_once, comes.weigh) = (4.0, 400.0);
        near(
            &used(&groups, &[16.0], &[loops(0, 0, 8.0, 100.0), comes]),
            &[1.7, 0.3],
        );
        comes.member.most = 3.0;
        let both = used(&groups, &[16.0], &[loops(0, 0, 8.0, 100.0), comes]);
        near(&both, &[4.0 / 3.0, 2.0 / 3.0]);
    }

    #[test]
    fn who_polls_uses_a_quota_up_while_its_group_runs() {
        let groups = [group(None, Some(2.0))];
        let mut comes = loops(0, 0, 0.3, 100.0);
        (comes.at_once, comes.weigh, comes.polls) = (4.0, 400.0, 3.6);
        let parts = [loops(0, 0, 8.0, 100.0), comes];
        let sharing = Sharing {
            cgroups: &groups,
            cores: &[16.0],
            parts: &parts,
        };
        let shares = sharing.share_out();
        // What is left of the quota is for eight that loop and those that poll.
        let runs = 1.7 / 11.6;
        near(&shares.used, &[8.0 * runs, 0.3]);
        near(&shares.runs, &[runs, runs]);
    }

    #[test]
    fn who_is_done_before_the_group_is_stopped_leaves_its_processors_to_others() {
        let groups = [group(None, Some(2.0))];
        let mut comes = loops(0, 0, 0.5, 100.0);
        (comes.at_once, comes.weigh) = (4.0, 400.0);
        // Of four processors half is what comes; two thirds of the rest are theirs that are two.
        let parts = [loops(0, 0, 4.0, 200.0), loops(0, 0, 4.0, 100.0), comes];
        near(&used(&groups, &[4.0], &parts), &[1.0, 0.5, 0.5]);
    }

    #[test]
    fn the_more_others_want_processors_the_fewer_poll() {
        let groups = [group(None, Some(1.0))];
        let polls = |count: f64| {
            let mut comes = loops(0, 0, 0.5, 100.0);
            (comes.at_once, comes.weigh, comes.polls) = (4.0, 400.0, 1.0);
            let parts = [loops(0, 0, count, 100.0), comes];
            let sharing = Sharing {
                cgroups: &groups,
                cores: &[4.0],
                parts: &parts,
            };
            sharing.share_out().polls[1]
        };
        let rooms = [1.0, 2.0, 4.0, 5.0, 8.0].map(polls);
        assert!(rooms.windows(2).all(|two| two[0] >= two[1]), "{rooms:?}");
        assert!(rooms[0] > 0.7 && rooms[4] < 1e-6, "{rooms:?}");
    }

    #[test]
    fn who_is_stopped_earlier_leaves_others_longer() {
        let groups = [group(None, Some(2.0)), group(Some(0), Some(0.2))];
        let parts = [loops(0, 0, 3.0, 100.0), loops(0, 1, 3.0, 100.0)];
        near(&used(&groups, &[16.0], &parts), &[1.8, 0.2]);
        let inner = [
            loops(0, 0, 1.0, 100.0),
            loops(0, 1, 3.0, 100.0),
            loops(0, 1, 1.0, 100.0),
        ];
        near(&used(&groups, &[16.0], &inner), &[1.0, 0.15, 0.05]);
    }

    #[test]
    fn beside_others_a_group_has_its_weight_while_it_runs() {
        let groups = [group(None, Some(0.25)), group(None, None)];
        let parts = [loops(0, 0, 1.0, 100.0), loops(0, 1, 1.0, 100.0)];
        near(&used(&groups, &[1.0], &parts), &[0.25, 0.75]);
        let two = [group(None, Some(0.25)), group(None, Some(0.25))];
        near(&used(&two, &[1.0], &parts), &[0.25, 0.25]);
        near(&used(&two, &[0.4], &parts), &[0.2, 0.2]);
    }
}
