//! Who finds the core that he was on last taken by others.
//!
//! While there are more virtual processors than cores, an idle core belongs to the one that left it
//! last; others may take it, and then it is theirs. Of those that come some find their own core,
//! some find that it was taken. These take it back if it is idle at that time; if not, they have to
//! take another one. An idle core is taken by those that have lost another one (evenly, whichever
//! is idle), and by those that had it before and have not been back since.
//!
//! Who is hardly ever away is hardly ever beside anybody: those that had his core find it busy
//! when they come back, and look for another. Two that come seldom take the same core from each
//! other time and again. So for each pair `i`, `k` what `k` takes from `i` is told from what `i`
//! takes from `k`:
//!
//! ```text
//! takes(i, k) = idle(i) looks(k) + takes(k, i) finds(i, k)
//! looks(k) idle cores = sum over i of takes(k, i) (1 - finds(k, i))
//! finds(i, k) = leaves(i) / (leaves(i) + back(i) + back(k))
//! idle(i) = (1 - busy(i)) / (1 + takes(i) / back(i))      sum(idle(i)) = idle cores
//! ```
//! `finds` is the chance that `k` comes back to a core that `i` has taken from it while that is
//! idle; `looks` how often `k` takes any idle core. The last line is exact whoever takes from whom:
//! each idle core belongs to one of those that are away and have lost none. Who was elsewhere
//! before, on a chip that is no home of his, takes any idle core too.
//!
//! A thread that is new takes the first virtual processor of its guest that is without work. So
//! those come again that left idle cores, and find these; those behind them come only while no core
//! is left: alone on a chip none ever takes another's. Where others have taken some, one that lost
//! its core takes one of its own partition that is missed in turn in half of the cases, that of one
//! before it. So where its own take a share `own` of what is taken, with new threads there counts
//!
//! ```text
//! (1 - own) (1 + own / 2 + (own / 2)^2 ...) = (1 - own) / (1 - own / 2)
//! ```

/// Virtual processors of a partition that come to a chip and leave it, of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::steady) struct Comer {
    /// Whose they are.
    pub partition: usize,
    /// How many, and the chance that another one of their partition is not the same.
    pub count: f64,
    pub others: f64,
    /// Cores that they keep busy.
    pub cores: f64,
    /// How soon one leaves its core, and is back [1/ns].
    pub leaves: f64,
    pub back: f64,
    /// Share of its comings that are by threads that have run before.
    pub again: f64,
    /// Share of what is taken of it that its own partition takes.
    own: f64,
    /// Share of its comings that are by such as were elsewhere before.
    pub fresh: f64,
    /// How often in a nanosecond others take the idle core of one.
    pub taken_per_ns: f64,
    /// Chance that one that comes has to take another core.
    pub moves: f64,
    /// How soon one leaves that has taken a core from them [1/ns].
    pub visitors_leave: f64,
    /// Mean number of idle cores of one, and how often one takes any idle core [1/ns].
    owns: f64,
    looks: f64,
    /// What `taken_per_ns` and `moves` would be if cores were taken as often as is told from the
    /// round before.
    takes: f64,
    gone: f64,
}

/// What those of a partition find of their caches that come to a chip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::steady) struct Found {
    /// Share that comes to another core than before.
    pub moved: f64,
    /// Share of the lines that others have displaced on the cores of the rest.
    pub displaced: f64,
}

/// Rounds of a step: each begins where the one before ended, and so does each step.
const ROUNDS: usize = 2;
/// Steps in which the mean number of idle cores is met.
const SCALE_STEPS: usize = 5;
/// Steps at most in which the least of them is found.
const IDLE_STEPS: usize = 60;
/// As many idle cores as are never taken, before a number overflows.
const MANY_IDLE: f64 = 700.0;
/// Part of the way back beyond which no step goes.
const LEAST_STEP: f64 = 1e-3;
/// How often in a nanosecond a core is taken at most: one that is gone so soon was never left. Who
/// has none of those that are idle takes more and more often from step to step.
const AT_ONCE: f64 = 1.0;
/// Cores that are idle at least, however many are asked for.
const SCARCELY: f64 = 1e-2;
/// What is asked of those of which nothing is known yet: how often their cores are taken, by how
/// soon they are back, and how many move.
const UNKNOWN: [f64; 2] = [0.1, 0.3];
/// Part of the way that those go in a round that move.
const PART: f64 = 0.5;

impl Comer {
    /// So many, of which each is busy for the same part of the time.
    pub fn of(partition: usize, (count, others): (f64, f64), cores: f64, wakes: f64) -> Self {
        let busy = (cores / count).min(ALWAYS);
        let leaves = wakes / cores;
        Self {
            partition,
            count,
            others,
            cores,
            leaves,
            back: leaves * busy / (1.0 - busy),
            again: 1.0,
            ..Self::default()
        }
    }

    /// With such a share of comings by those that were elsewhere before.
    pub fn afresh(self, fresh: f64) -> Self {
        Self { fresh, ..self }
    }

    /// With such a share of comings by threads that have run before.
    pub fn again(self, again: f64) -> Self {
        Self { again, ..self }
    }

    /// What is known of the same from before.
    pub fn known(self, before: &Self) -> Self {
        Self {
            taken_per_ns: before.taken_per_ns,
            moves: before.moves,
            visitors_leave: before.visitors_leave,
            own: before.own,
            ..self
        }
    }

    /// How often in a nanosecond all of them come.
    pub fn comes(&self) -> f64 {
        self.cores * self.leaves
    }

    fn busy(&self) -> f64 {
        self.cores / self.count
    }

    /// Each of another kind takes its core so often.
    fn loses(&mut self, each_takes: f64, back: f64, to: &Self) {
        let same = self.partition == to.partition;
        let takes = to.count * if same { to.others } else { 1.0 } * each_takes;
        let again = back + to.taken_per_ns;
        self.takes += takes;
        self.gone += takes * again / (to.leaves + again);
        self.visitors_leave += takes / to.leaves;
        self.own += if same { takes } else { 0.0 };
    }

    /// Chance that its core has been taken when one comes back.
    fn lost(&self) -> f64 {
        self.taken_per_ns / (self.taken_per_ns + self.back)
    }

    /// Of all that come: the share that comes to the core that it left, and of its lines there the
    /// share that is not displaced. A core that has been taken is left, and taken again as often as
    /// makes it busy for as many; a line is lost at an even rate while somebody is there.
    fn kept(&self, turnover_ns: f64) -> [f64; 2] {
        let with_new = (1.0 - self.own) / (1.0 - 0.5 * self.own);
        let part = self.again + (1.0 - self.again) * with_new;
        let lost = part * self.lost();
        if lost <= 0.0 {
            return [1.0, 1.0];
        }
        let (moves, leave) = ((part * self.moves).min(lost), self.visitors_leave);
        let busy = (moves / lost).min(ALWAYS);
        let again = (leave * busy / (1.0 - busy) - self.back).max(0.0);
        let stays = self.back + leave + 1.0 / turnover_ns;
        let gone = again * (1.0 - leave / stays);
        let finds = leave / stays * self.back / (self.back + gone);
        [1.0 - moves, 1.0 - lost + lost * finds]
    }
}

/// Share of the time beyond which one is as good as always busy.
const ALWAYS: f64 = 1.0 - 1e-6;

/// How often each finds that its core was taken, on a chip of which so many cores are idle on the
/// mean.
pub(in crate::steady) fn meet(comers: &mut [Comer], idle: f64) {
    let away: f64 = comers.iter().map(|of| of.count - of.cores).sum();
    let idle = idle.max(SCARCELY);
    if away <= idle {
        for of in comers.iter_mut() {
            (of.taken_per_ns, of.moves) = (0.0, 0.0);
        }
        take_afresh(comers, idle);
        return;
    }
    for of in comers.iter_mut().filter(|of| of.taken_per_ns <= 0.0) {
        (of.taken_per_ns, of.moves) = (UNKNOWN[0] * of.back, UNKNOWN[1]);
    }
    for _ in 0..ROUNDS {
        for of in comers.iter_mut() {
            of.owns = (1.0 - of.busy()).max(1e-9) / (1.0 + of.taken_per_ns / of.back);
            of.looks = of.busy() * of.leaves * of.moves / idle;
        }
        take_from_each_other(comers);
        let by = scale(comers, idle);
        for of in comers.iter_mut() {
            of.taken_per_ns = (by * of.takes).min(AT_ONCE);
            of.moves += PART * ((by * of.gone).min(of.lost()) - of.moves);
        }
    }
    take_afresh(comers, idle);
}

/// Those that were elsewhere before take any idle core, so at least so many are taken, though there
/// be a core for each of those that come back.
fn take_afresh(comers: &mut [Comer], idle: f64) {
    if comers.iter().all(|of| of.fresh <= 0.0) {
        return;
    }
    for at in 0..comers.len() {
        let one = &comers[at];
        let (mut takes, mut keeps) = (0.0, 0.0);
        for of in comers.iter().filter(|of| of.partition != one.partition) {
            let each = of.comes() * of.fresh / idle;
            takes += each;
            keeps += each * one.back / (of.leaves + one.back);
        }
        let one = &mut comers[at];
        if takes > one.taken_per_ns {
            one.taken_per_ns = takes;
            one.moves = one.moves.max(keeps / (takes + one.back));
        }
    }
}

/// Cores that are idle on the mean at least of a full chip, on which so many come and go of which
/// so many are `away` without work, while such a share of all is `out` elsewhere.
///
/// Whoever has no work for a moment finds its core again unless one takes it meanwhile that has
/// none. That is so for a share `1 - idle / away` of them; those of them that find no other idle
/// go elsewhere, and as many come back as find one: `out (1 - full) = (1 - out) (1 - idle / away)
/// full`. As good as by chance none is idle for a share `full = exp(-idle)` of the time.
pub(in crate::steady) fn least_idle(away: f64, out: f64) -> f64 {
    let ratio = out / (1.0 - out).max(1e-9);
    // What is left of the share bends downwards, so that from the first tangent on the others come
    // down to where it is nothing.
    let mut idle = 0.0_f64;
    let most = if away > 0.0 { IDLE_STEPS } else { 0 };
    for _ in 0..most {
        let grown = idle.min(MANY_IDLE).exp_m1();
        let left = 1.0 - idle / away - ratio * grown;
        let step = left / (1.0 / away + ratio * (grown + 1.0));
        idle = (idle + step).clamp(0.0, away);
        if step.abs() <= 1e-9 * idle {
            break;
        }
    }
    idle
}

/// How often in a nanosecond others take the core of one of each kind; how often it moves then, to
/// another core; how soon those leave, and what of it its own partition takes.
fn take_from_each_other(comers: &mut [Comer]) {
    for of in comers.iter_mut() {
        (of.takes, of.gone, of.visitors_leave, of.own) = (0.0, 0.0, 0.0, 0.0);
    }
    for at in 0..comers.len() {
        let (before, rest) = comers.split_at_mut(at);
        let one = &mut rest[0];
        let back = 2.0 * one.back;
        let own = one.owns * one.looks * (one.leaves + back) / back;
        let same = *one;
        one.loses(own, back, &same);
        for other in before {
            let back = one.back + other.back;
            let [from_one, from_other] = each_takes(one, other, back);
            one.loses(from_one, back, other);
            other.loses(from_other, back, one);
        }
    }
    for of in comers.iter_mut() {
        of.own /= of.takes.max(1e-300);
        of.visitors_leave = of.takes / of.visitors_leave.max(1e-300);
        of.gone /= of.busy() * of.leaves;
        of.takes = (of.takes / of.owns).min(AT_ONCE);
    }
}

/// How often one of the second takes a core of one of the first, and the other way round: solved
/// for both ways of the pair.
fn each_takes(a: &Comer, b: &Comer, back: f64) -> [f64; 2] {
    let by = 1.0 / (back * (a.leaves + b.leaves + back));
    let (looks_at_a, looks_at_b) = (a.owns * b.looks, b.owns * a.looks);
    let (a_back, b_back) = (a.leaves + back, b.leaves + back);
    [
        b_back * (looks_at_a * a_back + looks_at_b * a.leaves) * by,
        a_back * (looks_at_b * b_back + looks_at_a * b.leaves) * by,
    ]
}

/// By how much more often all are taken if the mean number of idle cores is what it is.
fn scale(comers: &[Comer], idle: f64) -> f64 {
    let mut by = 1.0_f64;
    for _ in 0..SCALE_STEPS {
        let (mut owned, mut less) = (0.0, 0.0);
        for of in comers.iter() {
            let ratio = of.takes / of.back;
            let part = 1.0 / (1.0 + by * ratio);
            let away = (of.count - of.cores).max(0.0) * part;
            owned += away;
            less += away * ratio * part;
        }
        // Newton's step for the reciprocal, which grows evenly where all are of one kind.
        if less <= 0.0 {
            break;
        }
        let step = (owned / idle - 1.0) * owned / less;
        by = (by + step).max(LEAST_STEP * by);
    }
    by
}

/// What those of a partition find that come to a chip, where an idle core is also taken for good so
/// often; a line is displaced after so long on the mean while others run [ns].
pub(in crate::steady) fn found(
    comers: &[Comer],
    partition: usize,
    for_good: f64,
    turnover_ns: f64,
) -> Found {
    let (mut comes, mut stays, mut kept) = (0.0, 0.0, 0.0);
    for of in comers.iter().filter(|of| of.partition == partition) {
        let [own, lines] = of.kept(turnover_ns);
        let left = of.back / (of.back + for_good);
        comes += of.comes();
        stays += of.comes() * left * own;
        kept += of.comes() * left * lines;
    }
    if comes <= 0.0 {
        return Found::default();
    }
    Found {
        moved: 1.0 - stays / comes,
        displaced: 1.0 - kept / stays.max(1e-300),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many of a partition, each without work and with it for so long in turn.
    fn comers(partition: usize, count: f64, away_ns: f64, stay_ns: f64) -> Comer {
        let others = 1.0 - 1.0 / count;
        let cores = count * stay_ns / (away_ns + stay_ns);
        Comer::of(partition, (count, others), cores, cores / stay_ns)
    }

    fn met(mut comers: Vec<Comer>, cores: f64) -> Vec<Comer> {
        let used: f64 = comers.iter().map(|of| of.cores).sum();
        (0..30).for_each(|_| meet(&mut comers, cores - used));
        comers
    }

    fn lost_and_moves(comers: &[Comer]) -> Vec<[f64; 2]> {
        comers.iter().map(|of| [of.lost(), of.moves]).collect()
    }

    #[test]
    fn with_a_core_for_each_nobody_takes_anothers() {
        let eight = met(
            vec![comers(0, 4.0, 100.0, 100.0), comers(1, 4.0, 1e6, 50.0)],
            8.0,
        );
        assert_eq!(lost_and_moves(&eight), [[0.0; 2]; 2]);
        assert_eq!(found(&eight, 0, 0.0, 1e3), Found::default());
    }

    #[test]
    fn idle_cores_are_owned_by_as_many_as_are_away_and_have_lost_none() {
        let those = met(
            vec![comers(0, 3.0, 0.67, 1.0), comers(1, 16.0, 19.0, 1.0)],
            8.0,
        );
        let owned = |of: &Comer| (of.count - of.cores) * (1.0 - of.lost());
        let used: f64 = those.iter().map(|of| of.cores).sum();
        let idle: f64 = those.iter().map(owned).sum();
        assert!((idle / (8.0 - used) - 1.0).abs() < 1e-3, "{idle}");
    }

    /// Against each coming played out: 400,000 of them, threads that go to the core they left, else
    /// to the first that is idle.
    #[test]
    fn those_that_come_often_keep_their_cores_as_when_each_coming_is_played() {
        let few_and_many = met(
            vec![comers(0, 3.0, 0.667, 1.0), comers(1, 16.0, 19.0, 1.0)],
            8.0,
        );
        let long_and_short = met(
            vec![comers(0, 4.0, 20.0, 20.0), comers(1, 8.0, 4.0, 1.0)],
            8.0,
        );
        let alike = met(vec![comers(0, 10.0, 2.33, 1.0)], 8.0);
        let told = [&few_and_many, &long_and_short, &alike]
            .map(|of| lost_and_moves(of))
            .concat();
        let played = [
            [0.017, 0.011],
            [0.723, 0.183],
            [0.609, 0.225],
            [0.431, 0.198],
            [0.286, 0.144],
        ];
        for (told, played) in told.iter().zip(played) {
            let near = |at: usize| (told[at] - played[at]).abs() < 0.01 + 0.2 * played[at];
            assert!(near(0) && near(1), "{told:?} {played:?}");
        }
    }

    /// Against guests played out whose threads are all new: virtual processors of each kind, cores
    /// that they keep busy and how often they come, of one partition and of another beside it; idle
    /// cores, and the share of the first one's comings that move.
    #[test]
    fn new_threads_take_no_cores_of_their_own_partition_but_where_others_do() {
        let nobody = ([1.0; 3], 0.0, 0.0);
        let played = [
            ([6.29, 4.45, 3.10], 8.91, 8.40, nobody, 3.09, 0.0),
            (
                [5.13, 3.64, 2.54],
                7.28,
                6.85,
                ([2.39, 1.91, 1.26], 2.96, 0.27),
                1.77,
                0.069,
            ),
            (
                [4.20, 2.97, 2.06],
                5.95,
                5.60,
                ([3.49, 2.41, 1.32], 4.89, 4.20),
                1.16,
                0.406,
            ),
            (
                [4.40, 3.15, 2.13],
                6.23,
                5.91,
                ([3.15, 1.94, 0.80], 4.43, 28.3),
                1.34,
                0.521,
            ),
        ];
        for (counts, cores, comes, beside, idle, moves) in played {
            let mut all = Vec::new();
            for (of, (counts, cores, comes)) in [(counts, cores, comes), beside].iter().enumerate()
            {
                for (count, share) in counts.iter().zip([0.6, 0.3, 0.1]) {
                    let comes = share * comes * 1e-3;
                    let one = Comer::of(of, (*count, 0.93), share * cores, comes);
                    all.push(one.again(0.0));
                }
            }
            all.retain(|of| of.cores > 0.0);
            (0..30).for_each(|_| meet(&mut all, idle));
            let told = found(&all, 0, 0.0, 1e9).moved;
            assert!((told - moves).abs() < 0.2 * moves + 1e-9, "{told} {moves}");
            // Of threads that have all run before more move.
            all.iter_mut().for_each(|of| of.again = 1.0);
            assert!(found(&all, 0, 0.0, 1e9).moved > told + 0.1);
        }
    }

    #[test]
    fn one_more_neighbour_takes_cores_more_often_and_quick_caches_lose_more() {
        let base = vec![comers(0, 8.0, 200.0, 100.0), comers(1, 6.0, 1e4, 100.0)];
        let more = [base.clone(), vec![comers(2, 4.0, 400.0, 100.0)]].concat();
        let [base, more] = [base, more].map(|of| met(of, 9.0));
        for at in 0..2 {
            assert!(more[at].lost() > base[at].lost() && more[at].moves > base[at].moves);
        }
        let quick = |turnover_ns: f64| found(&base, 0, 0.0, turnover_ns).displaced;
        assert!(quick(1e2) > quick(1e3) && quick(1e12) < 1e-6);
        assert!(found(&base, 0, 1e-3, 1e3).moved > found(&base, 0, 0.0, 1e3).moved);
    }

    #[test]
    fn who_was_elsewhere_before_takes_cores_of_those_that_would_have_one_each() {
        let at_home = comers(0, 4.0, 100.0, 100.0);
        let strangers = |fresh: f64| comers(1, 1.0, 1e3, 100.0).afresh(fresh);
        let of = |fresh: f64| met(vec![at_home, strangers(fresh)], 8.0)[0];
        assert_eq!([of(0.0).lost(), of(0.0).moves], [0.0; 2]);
        let [few, many] = [0.2, 1.0].map(of);
        assert!(few.moves > 0.0 && few.moves < few.lost());
        assert!(many.lost() > few.lost() && many.moves > few.moves);
        // Of one's own partition none is a stranger.
        let own = met(vec![at_home, comers(0, 1.0, 1e3, 100.0).afresh(1.0)], 8.0);
        assert_eq!(lost_and_moves(&own), [[0.0; 2]; 2]);
    }

    #[test]
    fn the_more_are_elsewhere_the_fewer_cores_are_idle_and_none_takes_one_if_nobody_is() {
        assert!((least_idle(0.4, 0.0) - 0.4).abs() < 1e-6);
        let idle = [0.0, 0.01, 0.1, 0.3, 0.9].map(|out| least_idle(1.5, out));
        assert!(idle.windows(2).all(|pair| pair[0] > pair[1]), "{idle:?}");
        assert!(least_idle(3.0, 0.1) > least_idle(1.5, 0.1));
        assert!(least_idle(1.5, 1.0) < 1e-3 && least_idle(0.0, 0.5) == 0.0);
        // As many go elsewhere as come back.
        let (away, out) = (0.4, 0.2);
        let idle = least_idle(away, out);
        let full = (-idle).exp();
        let goes = (1.0 - out) * (1.0 - idle / away) * full;
        assert!((goes - out * (1.0 - full)).abs() < 1e-5);
    }

    #[test]
    fn a_chip_that_is_asked_for_more_than_it_has_is_as_good_as_never_idle() {
        let some = vec![comers(0, 4.0, 1e9, 10.0), comers(1, 4.0, 100.0, 100.0)];
        let mut crowded = some.clone();
        (0..30).for_each(|_| meet(&mut crowded, -3.0));
        let roomy = met(some, 6.0);
        for (full, free) in crowded.iter().zip(&roomy) {
            assert!(full.lost() > free.lost() && full.moves >= free.moves && full.moves <= 1.0);
        }
    }

    #[test]
    fn however_seldom_or_often_work_comes_figures_stay_finite() {
        let kinds = crate::steady::queues::kinds::Kinds::of(4, 0.75);
        for busy in [1e-12, 1e-5, 1e-2, 1.0, 3.99, 4.0] {
            let counts = kinds.counts(busy);
            let each = counts.into_iter().zip(crate::steady::queues::kinds::SHARES);
            let of = |(count, part): (f64, f64)| {
                Comer::of(0, (count, 0.75), part * busy, part * 1e-7 * busy)
            };
            let mut some: Vec<Comer> = each.map(of).collect();
            for idle in [-3.0, 0.0, 0.5, 1.0, 3.0, 9.0] {
                (0..20).for_each(|_| meet(&mut some, idle));
                let told = found(&some, 0, 0.0, 1e5);
                assert!(
                    told.moved >= 0.0 && told.moved <= 1.0,
                    "{busy} {idle} {some:?}"
                );
                assert!(
                    told.displaced >= 0.0 && told.displaced <= 1.0,
                    "{busy} {idle} {some:?}"
                );
            }
        }
    }

    #[test]
    fn who_never_finds_a_core_of_its_own_has_it_taken_at_once_at_most() {
        // Two that stay for long beside some that come and go, with hardly a core for any.
        let mut all = vec![
            comers(0, 1.2, 5.3e9, 1.4e9),
            comers(0, 0.8, 5.3e9, 1.4e9),
            comers(1, 0.9, 3e6, 3.8e4),
            comers(1, 1.9, 2e7, 3.8e4),
            comers(2, 1.0, 1.2e5, 1.5e4),
        ];
        for _ in 0..2_000 {
            meet(&mut all, 1e-3);
        }
        for of in &all {
            let [own, lines] = of.kept(2.4e6);
            assert!(of.taken_per_ns <= 1.0 && own.is_finite() && lines.is_finite());
        }
        assert!(found(&all, 1, 0.0, 2.4e6).displaced.is_finite());
    }
}
