//! Which logical processor a virtual one comes back to.
//!
//! One that becomes ready goes to the logical processor that it left if that idles, else to another
//! that idles, and that one is its own from then on. So how many have the same one as their own
//! comes and goes: of `k` each leaves as soon as it comes while another is there, and whoever looks
//! for another finds this one idle while none of the `k` is at work. Where each of `v` is at work
//! for a share `u`,
//!
//! ```text
//! p(k+1) (k+1) (1 - (1-u)^k) = p(k) x (1-u)^k        mean of k = v / logical processors
//! ```
//! The last one on a logical processor never leaves it, so where there is one for each nobody is
//! ever in another's way. It is told as if those on one worked whatever the others do; two are
//! never at work at once, so where many share few it is up to a quarter too rare.

/// Virtual processors that have the same logical one as their own, at most: more are as good as
/// never seen.
const MOST: usize = 64;
/// Halvings in which `x` is found, of its logarithm, and how far from none.
const STEPS: usize = 60;
const FAR: f64 = 60.0;

/// Chance that one of `among` virtual processors, of which so many are at work on the mean, finds
/// another on its own of so many logical ones when it comes.
pub(super) fn taken(busy: f64, among: f64, lps: f64) -> f64 {
    let mean = among / lps.max(1e-12);
    if mean <= 1.0 || busy <= 0.0 {
        return 0.0;
    }
    let rests = 1.0 - (busy / among).min(1.0 - 1e-6);
    let (mut low, mut high) = (-FAR, FAR);
    for _ in 0..STEPS {
        let middle = 0.5 * (low + high);
        if shared(middle.exp(), rests).0 < mean {
            low = middle;
        } else {
            high = middle;
        }
    }
    let (mean, found) = shared(low.exp(), rests);
    found / mean
}

/// How many have the same one as their own on the mean, and how many of these would find it taken;
/// each rests for such a share of the time.
fn shared(x: f64, rests: f64) -> (f64, f64) {
    let (mut p, mut none) = (1.0, 1.0);
    let (mut all, mut mean, mut found) = (0.0, 0.0, 0.0);
    for count in 1..=MOST {
        // `none` is the chance that none of the others is at work.
        let own = count as f64 * p;
        all += p;
        mean += own;
        found += own * (1.0 - none);
        none *= rests;
        p *= x * none / ((count + 1) as f64 * (1.0 - none).max(1e-300));
        if p > 1e100 {
            let by = 1.0 / p;
            (all, mean, found, p) = (all * by, mean * by, found * by, 1.0);
        }
    }
    (mean / all, found / all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Stream;

    #[test]
    fn where_there_is_one_for_each_nobody_is_in_anothers_way() {
        for (busy, among, lps) in [(0.5, 4.0, 4.0), (3.9, 4.0, 4.0), (2.0, 3.0, 8.0)] {
            assert_eq!(taken(busy, among, lps), 0.0);
        }
    }

    #[test]
    fn the_more_there_are_and_the_more_they_do_the_more_find_theirs_taken() {
        let by_busy = [0.1, 1.0, 3.0, 6.0].map(|busy| taken(busy, 18.0, 12.0));
        assert!(by_busy.windows(2).all(|two| two[1] > two[0]), "{by_busy:?}");
        let by_count = [13.0, 18.0, 36.0, 120.0].map(|among| taken(6.0, among, 12.0));
        assert!(
            by_count.windows(2).all(|two| two[1] > two[0]),
            "{by_count:?}"
        );
    }

    /// The same told by playing: each comes and goes by chance.
    #[test]
    fn it_does_what_a_played_twin_does() {
        let played = |among: usize, lps: usize, share: f64| {
            let mut stream = Stream::new(1, 0, "seats");
            let mut dice = || stream.uniform();
            let mut own: Vec<usize> = (0..among).map(|at| at % lps).collect();
            let (mut on, mut works) = (vec![false; lps], vec![false; among]);
            let (mut came, mut found) = (0.0, 0.0);
            for _ in 0..2_000_000 {
                let one = (dice() * among as f64) as usize % among;
                if works[one] {
                    if dice() < 0.1 * (1.0 - share) {
                        (works[one], on[own[one]]) = (false, false);
                    }
                } else if dice() < 0.1 * share {
                    let idle: Vec<usize> = (0..lps).filter(|at| !on[*at]).collect();
                    if idle.is_empty() {
                        continue;
                    }
                    came += 1.0;
                    if on[own[one]] {
                        found += 1.0;
                        own[one] = idle[(dice() * idle.len() as f64) as usize % idle.len()];
                    }
                    (works[one], on[own[one]]) = (true, true);
                }
            }
            found / came
        };
        for (among, lps, share) in [(18, 12, 0.2), (18, 12, 0.4), (24, 8, 0.15)] {
            let busy = share * among as f64;
            let (told, was) = (
                taken(busy, among as f64, lps as f64),
                played(among, lps, share),
            );
            assert!((told / was - 1.0).abs() < 0.25, "{told} {was}");
        }
    }
}
