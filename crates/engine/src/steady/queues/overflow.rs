//! How many of those who want a core of a group find none free there.
//!
//! What is on the cores were there enough of them has a mean and a variance; their ratio is the
//! peakedness `z`. The part that finds all `c` cores taken is about that of Poisson arrivals that
//! offer `mean / z` to `c / z` cores (Fredericks, Congestion in blocking systems: a simple
//! approximation technique, Bell System Technical Journal 59, 1980), which Erlang's formula gives.
//! Those who come back as soon as a core is free are away only while more are there than cores.

use crate::steady::queues::chances::{above, erlang_b, longer_away, mean_beyond, quantile};

/// What asks for a group of cores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::steady) struct Offered {
    /// Mean number of those who want one.
    pub mean: f64,
    /// Variance of that number.
    pub variance: f64,
    /// Most there can be.
    pub most: f64,
    /// The variance by how long one of them stays [1/ns].
    pub hurry: f64,
    /// Mean number of those that come and go.
    pub moves: f64,
    /// Mean number of those that are within what they are entitled to.
    pub entitled: f64,
}

/// Deviations beyond which a number hardly ever is.
const HARDLY: f64 = 7.0;
/// Least peakedness that is told from none: below it the number hardly varies.
const SMOOTH: f64 = 0.05;

/// Part by which slices differ that count as equal.
const ALIKE: f64 = 1e-3;
/// Steps in which is found who had cores when a window began.
const LOST_STEPS: usize = 3;

impl Offered {
    pub fn add(&mut self, other: Self) {
        self.mean += other.mean;
        self.variance += other.variance;
        self.most += other.most;
        self.hurry += other.hurry;
        self.moves += other.moves;
        self.entitled += other.entitled;
    }

    /// So much of it.
    pub fn part(self, share: f64) -> Self {
        Self {
            mean: share * self.mean,
            variance: share * self.variance,
            most: share * self.most,
            hurry: share * self.hurry,
            moves: share * self.moves,
            entitled: share * self.entitled,
        }
    }

    /// What one of them asks for.
    pub fn one(self) -> Self {
        self.part(1.0 / self.most.max(1.0))
    }

    pub fn without(self, other: Self) -> Self {
        let less = other.part(-1.0);
        let mut rest = self;
        rest.add(less);
        (rest.mean, rest.variance) = (rest.mean.max(0.0), rest.variance.max(0.0));
        rest.hurry = rest.hurry.max(0.0);
        rest.moves = rest.moves.max(0.0);
        rest
    }

    /// Share of those who come that find none of the cores that were theirs a time ago: all of them
    /// where they could take what they wanted for longer than they stay. Their number varies: a
    /// deviation more and less stand for it.
    fn lost_until(self, ns: f64) -> f64 {
        let forgets = (-ns * self.hurry / self.variance.max(1e-12)).exp();
        let mut lost = 0.0;
        for _ in 0..LOST_STEPS {
            let mean = self.mean * (1.0 - lost * forgets);
            let spread = (self.variance * mean / self.mean.max(1e-12)).sqrt();
            let there = [mean - spread, mean + spread];
            let each = there.map(|cores| self.lost(cores.max(0.0)));
            lost = 0.5 * (each[0] + each[1]);
        }
        lost
    }

    /// Chance that there are more than so many cores.
    pub fn full(self, cores: f64) -> f64 {
        if self.most <= cores || self.fits(cores) {
            return 0.0;
        }
        above((cores - self.mean) / self.variance.sqrt().max(1e-9))
    }

    /// The same with the most that were there since a window of such a length began, mean over it:
    /// what comes and goes for `t` on the mean is looked at anew that often, and the greatest of
    /// `k` normal numbers is about where a share `(k - 3/8) / (k + 1/4)` is below (Blom,
    /// Statistical estimates and transformed beta-variables, 1958). The greater that is, the less
    /// it varies.
    fn peak(self, window_ns: f64) -> Self {
        let looks = 1.0 + 0.5 * window_ns * self.hurry / self.variance.max(1e-12);
        let beyond = quantile((looks - 0.375) / (looks + 0.25));
        let beyond = beyond.max(0.0);
        let mean = self.mean + beyond * self.variance.sqrt();
        Self {
            mean: mean.min(self.most.max(self.mean)),
            variance: self.variance / (1.0 + beyond * beyond),
            ..self
        }
    }

    /// Share of those who come that find no core, and take one elsewhere until they leave.
    pub fn lost(self, cores: f64) -> f64 {
        if self.most <= cores || self.mean <= 0.0 || self.fits(cores) {
            return 0.0;
        }
        let peaked = self.variance / self.mean;
        let lost = if peaked < SMOOTH {
            self.beyond(cores)
        } else {
            let erlang = erlang_b(cores / peaked, self.mean / peaked);
            erlang * self.longer_away(cores)
        };
        // No more are ever away than there are beyond the cores, and only while these are taken.
        let most = (self.most - cores) / self.mean * (self.mean / cores.max(1e-12)).min(1.0);
        lost.min(most).min(1.0)
    }

    /// By how much more are away than Erlang's formula says, as those that come and go stay for
    /// longer than their number takes to be another.
    fn longer_away(self, cores: f64) -> f64 {
        if self.variance >= self.moves {
            return 1.0;
        }
        let peaked = self.variance / self.moves;
        // A number of cores is reached half of one before a number that may be anything.
        let room = cores + 0.5 * peaked - self.mean;
        let longer = longer_away(room / self.variance.sqrt(), peaked);
        // One at a time is no small step of a number whose deviation is about one.
        1.0 + (longer - 1.0) * self.variance / (self.variance + 1.0)
    }

    /// Whether there are always enough cores: as good as never are so many there.
    fn fits(self, cores: f64) -> bool {
        let room = cores - self.mean;
        let spread = HARDLY * HARDLY * (self.variance + 0.5 * self.mean);
        room > 0.0 && room * room > spread
    }

    /// Mean number beyond the cores, as a share of all: what is elsewhere if each comes back at
    /// once. The number is taken to be normal.
    pub fn beyond(self, cores: f64) -> f64 {
        if self.most <= cores || self.mean <= 0.0 || self.fits(cores) {
            return 0.0;
        }
        mean_beyond(self.mean, self.variance, cores) / self.mean
    }
}

/// In which order those who want a core of a group get it.
pub(in crate::steady) const RANKS: usize = 4;
/// Rank of those on a chip that always have work and run in the same part of each window: they
/// begin it together.
pub(in crate::steady) const TURNS: usize = 2;
/// Rank of those behind all others.
pub(in crate::steady) const LAST: usize = RANKS - 1;

/// Groups of cores, and who wants one.
#[derive(Clone)]
pub(in crate::steady) struct Groups {
    cores: Vec<f64>,
    offered: Vec<[Offered; RANKS]>,
    /// Shares of each rank that find no core, and that are away if they come back at once.
    shares: Vec<[[f64; 2]; RANKS]>,
    /// Those that come and go and have not used up yet what they are entitled to in a window: all
    /// of them, as they are in the first part of it.
    at_first: Vec<Offered>,
    /// Those that a cap has stopped, all of which are there when a window begins: how many have
    /// slices of it of such a length.
    begin: Vec<Vec<[f64; 2]>>,
    /// How many of those that may be thrown off are in a nanosecond.
    thrown: Vec<f64>,
}

impl Groups {
    pub fn new(count: usize) -> Self {
        Self {
            cores: vec![0.0; count],
            offered: vec![[Offered::default(); RANKS]; count],
            shares: vec![[[0.0; 2]; RANKS]; count],
            at_first: vec![Offered::default(); count],
            begin: vec![Vec::new(); count],
            thrown: vec![0.0; count],
        }
    }

    /// Becomes like another of as many groups.
    pub fn follow(&mut self, other: &Self) {
        self.cores.clone_from(&other.cores);
        self.offered.clone_from(&other.offered);
        self.shares.clone_from(&other.shares);
        self.at_first.clone_from(&other.at_first);
        self.begin.clone_from(&other.begin);
        self.thrown.clone_from(&other.thrown);
    }

    /// A group has so many cores, and nobody wants one.
    pub fn open(&mut self, at: usize, cores: f64) {
        self.cores[at] = cores;
        self.offered[at] = [Offered::default(); RANKS];
        self.at_first[at] = Offered::default();
        self.begin[at].clear();
    }

    pub fn add(&mut self, at: usize, ranks: [f64; RANKS], offered: Offered) {
        for (sum, share) in self.offered[at].iter_mut().zip(ranks) {
            sum.add(offered.part(share));
        }
    }

    /// Those that come and go in a part of each window within what they are entitled to, and are
    /// beyond it in the rest.
    pub fn add_at_first(&mut self, at: usize, offered: Offered) {
        self.at_first[at].add(offered);
    }

    /// Those that begin a window together, as a cap has stopped them in the one before, with such a
    /// slice of it.
    pub fn add_beginning(&mut self, at: usize, slice: f64, count: f64) {
        if count > 0.0 {
            self.begin[at].push([slice, count]);
        }
    }

    /// What those hold that are there when a window begins, but for those that begin it, and its
    /// variance.
    fn held(&self, at: usize) -> (f64, f64) {
        let there = self.offered[at].iter().zip(&self.shares[at]).take(LAST);
        let (mut mean, mut variance) = (0.0, 0.0);
        for (rank, [lost, _]) in there {
            mean += (1.0 - lost) * rank.mean;
            variance += (1.0 - lost) * rank.variance;
        }
        (mean, variance)
    }

    /// Cores that are left when a window begins; below nothing, those that are lacking.
    pub fn left(&self, at: usize) -> f64 {
        let begin: f64 = self.begin[at].iter().map(|[_, count]| count).sum();
        self.cores[at] - self.held(at).0.min(self.cores[at]) - begin
    }

    /// Part of a window after which all have had what they are entitled to, if its cores do nothing
    /// else.
    pub fn until_done(&self, at: usize) -> f64 {
        let begin = self.begin[at].iter().map(|[slice, count]| slice * count);
        let others = self.but_turns(at).map(|rank| rank.entitled);
        (begin.sum::<f64>() + others.sum::<f64>()) / self.cores[at].max(1e-9)
    }

    /// Part of those with such a slice that find a core of the group: of those that others leave
    /// that are there when a window begins.
    pub fn kept_at_beginning(&self, at: usize, slice: f64) -> f64 {
        let (mean, variance) = self.held(at);
        let spread = variance.sqrt();
        let kept = [mean - spread, mean + spread];
        let left = kept.map(|held| (self.cores[at] - held.max(0.0)).max(0.0));
        self.in_order(at, left, slice)
    }

    /// Part of those with such a slice that have so many cores, or so many: whoever has the longest
    /// comes first, those that are equal find one alike.
    fn in_order(&self, at: usize, cores: [f64; 2], slice: f64) -> f64 {
        let (mut before, mut alike) = (0.0, 0.0);
        for [of, count] in &self.begin[at] {
            if *of > slice * (1.0 + ALIKE) {
                before += count;
            } else if *of >= slice * (1.0 - ALIKE) {
                alike += count;
            }
        }
        let found = cores.map(|cores| (cores - before).clamp(0.0, alike));
        0.5 * (found[0] + found[1]) / alike.max(1e-12)
    }

    /// The most of the second rank that were there after such a part of a window of such a length
    /// in which nobody is thrown off. All that come and go are of that rank at first.
    fn most_since(&self, at: usize, part: f64, window_ns: f64) -> Offered {
        let (come, all) = (self.offered[at][1], self.at_first[at]);
        let always = come.peak((1.0 - part) * window_ns);
        let entitled = (all.entitled / all.mean.max(1e-12)).min(1.0);
        if entitled <= part {
            return always;
        }
        let first = all.peak((entitled - part) * window_ns);
        if first.mean > always.mean {
            first
        } else {
            always
        }
    }

    /// Each rank of a group loses what those up to it lose together and those before it do not.
    pub fn close(&mut self, at: usize) {
        let cores = self.cores[at];
        let mut all = Offered::default();
        let mut before = [0.0; 2];
        for (rank, share) in self.offered[at].iter().zip(&mut self.shares[at]) {
            if rank.mean <= 0.0 {
                *share = [0.0; 2];
                continue;
            }
            all.add(*rank);
            let lost = [all.lost(cores), all.beyond(cores)].map(|share| share * all.mean);
            for at in 0..2 {
                let own = (lost[at] - before[at]) / rank.mean.max(1e-12);
                share[at] = own.clamp(0.0, 1.0);
            }
            before = lost;
        }
    }

    /// The same where those of the second rank throw off those of the third, who come back when a
    /// window of such a length begins.
    ///
    /// Until the latter have used up what they are entitled to nobody is thrown off: who comes has
    /// the cores that the others left when the window began, as many as were there then.
    /// Afterwards, each time that there are more of the second than before, one of the third has to
    /// go, and what it leaves is there for all that come. For a part of the window, `all_within`,
    /// those of the last rank are like those of the second.
    pub fn close_by_window(&mut self, at: usize, window_ns: f64, all_within: f64) {
        self.close(at);
        let [stay, come, thrown, last] = self.offered[at];
        let cores = self.cores[at];
        self.thrown[at] = 0.0;
        if thrown.mean <= 0.0 {
            self.even_out(at, all_within);
            return;
        }
        let of = |parts: &[Offered]| {
            let mut all = Offered::default();
            parts.iter().for_each(|part| all.add(*part));
            all
        };
        let lost_of =
            |all: Offered| [all.lost(cores), all.beyond(cores)].map(|lost| lost * all.mean);
        let beyond = |come: Offered| {
            let [all, before] = [of(&[stay, come, thrown]), of(&[stay, come])];
            (all.beyond(cores) * all.mean - before.beyond(cores) * before.mean) / thrown.mean
        };
        let entitled = (thrown.entitled / thrown.mean).min(1.0);
        let full = of(&[stay, come, thrown]).full(cores);
        let finds_none = entitled * full * come.lost_until((1.0 - entitled) * window_ns);
        let later = self.most_since(at, entitled, window_ns);
        let first = beyond(come.part(1.0 - finds_none)).clamp(0.0, 1.0);
        let away = entitled * first + (1.0 - entitled) * beyond(later).clamp(0.0, 1.0);
        // As many leave in a window as come back when it begins.
        let last_of_all = self.most_since(at, entitled, 2.0 * window_ns);
        let last_of_all = beyond(last_of_all).clamp(0.0, 1.0);
        self.thrown[at] = (last_of_all - first).max(0.0) * thrown.mean / window_ns;
        let before = lost_of(of(&[stay, come, thrown.part(1.0 - away)]));
        let lost = lost_of(of(&[stay, come, thrown.part(1.0 - away), last]));
        let shares = &mut self.shares[at];
        let come_alone = lost_of(of(&[stay, come]));
        let stay_alone = lost_of(stay);
        for of in 0..2 {
            let own = (come_alone[of] - stay_alone[of]) / come.mean.max(1e-12);
            shares[1][of] = own.max(finds_none).clamp(0.0, 1.0);
            shares[2][of] = away;
            let own = (lost[of] - before[of]) / last.mean.max(1e-12);
            shares[3][of] = own.clamp(0.0, 1.0);
        }
        self.even_out(at, all_within);
    }

    /// Those of the second rank and of the last find none as often for such a part of the time, so
    /// that as many as before find none together.
    fn even_out(&mut self, at: usize, part: f64) {
        let [_, come, _, last] = self.offered[at];
        if come.mean <= 0.0 || last.mean <= 0.0 {
            return;
        }
        let [_, of_come, _, of_last] = &mut self.shares[at];
        for (one, other) in of_come.iter_mut().zip(of_last) {
            let lost = *one * come.mean + *other * last.mean;
            let even = lost / (come.mean + last.mean);
            for share in [one, other] {
                *share += part * (even - *share);
            }
        }
    }

    /// Whether more want one than there are, now and then.
    pub fn is_short(&self, at: usize) -> bool {
        let mut all = Offered::default();
        self.offered[at].iter().for_each(|rank| all.add(*rank));
        all.beyond(self.cores[at]) > 0.0
    }

    /// How many of those that may be thrown off are in a nanosecond.
    pub fn thrown(&self, at: usize) -> f64 {
        self.thrown[at]
    }

    /// The same of one of them.
    pub fn thrown_each(&self, at: usize) -> f64 {
        self.thrown[at] / self.offered[at][2].mean.max(1e-12)
    }

    pub fn lost(&self, at: usize, ranks: [f64; RANKS], back: f64) -> f64 {
        let of = |(share, [lost, beyond]): (f64, &[f64; 2])| {
            share * (back * lost + (1.0 - back) * beyond)
        };
        ranks.into_iter().zip(&self.shares[at]).map(of).sum()
    }

    fn but_turns(&self, at: usize) -> impl Iterator<Item = &Offered> {
        let ranks = self.offered[at].iter().enumerate();
        ranks.filter(|(rank, _)| *rank != TURNS).map(|(_, of)| of)
    }

    /// Part of the time in which it is the turn of those that work by turns, and cores that they
    /// have then: what those leave that always stay, and that come and go and are there when the
    /// turn begins. The number of these varies: a deviation less and more stand for it.
    fn turns(&self, at: usize) -> (f64, [f64; 2]) {
        let [stay, come, turns, _] = self.offered[at];
        if turns.mean <= 0.0 {
            return (0.0, [0.0; 2]);
        }
        let room = (self.cores[at] - stay.mean).max(0.0);
        let found = 1.0 - come.lost(room);
        let (held, spread) = (found * come.mean, (found * come.variance).sqrt());
        let kept = [held - spread, held + spread];
        let kept = kept.map(|held| (room - held.max(0.0)).clamp(0.0, turns.most));
        ((turns.mean / turns.most).min(1.0), kept)
    }

    /// Part of those that work by turns, with such a slice, that find a core of the group.
    pub fn kept_by_turns(&self, at: usize, slice: f64) -> f64 {
        self.in_order(at, self.turns(at).1, slice)
    }

    /// Chance that one of the second rank finds no core: the share of them that is elsewhere, as
    /// each stays as long where it comes to. So it counts among those that want one itself.
    pub fn finds_none(&self, at: usize) -> f64 {
        let (turn, kept) = self.turns(at);
        let cores = self.cores[at];
        let none = |kept: f64| self.none_of(at, cores - kept);
        if turn <= 0.0 {
            return none(0.0);
        }
        turn * 0.5 * kept.map(none).iter().sum::<f64>() + (1.0 - turn) * none(0.0)
    }

    fn none_of(&self, at: usize, cores: f64) -> f64 {
        let [stay, come, ..] = self.offered[at];
        let mut all = stay;
        all.add(come);
        let lost = all.lost(cores) * all.mean - stay.lost(cores) * stay.mean;
        (lost / come.mean.max(1e-12)).clamp(0.0, 1.0)
    }

    /// Chance that all cores are taken by others than one that is there.
    pub fn full_beside(&self, at: usize, one: Offered) -> f64 {
        let mut all = Offered::default();
        self.but_turns(at).for_each(|rank| all.add(*rank));
        all.without(one).full(self.cores[at] - 0.5)
    }

    /// Mean number of those who find one.
    pub fn kept(&self, at: usize) -> f64 {
        let of = |(rank, [lost, _]): (&Offered, &[f64; 2])| rank.mean * (1.0 - lost);
        self.offered[at].iter().zip(&self.shares[at]).map(of).sum()
    }
}

#[cfg(test)]
mod tests;
