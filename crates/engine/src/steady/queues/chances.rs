//! Chances of normal numbers, and Erlang's of finding no server.

/// Mean of what a normal number is above a bound.
pub(in crate::steady) fn mean_beyond(mean: f64, variance: f64, bound: f64) -> f64 {
    let deviation = variance.sqrt();
    if deviation < 1e-9 {
        return (mean - bound).max(0.0);
    }
    let z = (bound - mean) / deviation;
    if z > 8.0 {
        return 0.0;
    }
    let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    (deviation * (density - z * above(z))).max(0.0)
}

/// Chance of a standard normal number above `z` (Abramowitz and Stegun 26.2.17).
pub(in crate::steady) fn above(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - above(-z);
    }
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let poly = [
        1.330_274_429,
        -1.821_255_978,
        1.781_477_937,
        -0.356_563_782,
        0.319_381_530,
    ];
    let sum = poly.iter().fold(0.0, |sum, factor| (sum + factor) * t);
    (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt() * sum
}

/// The standard normal number below which such a share is (Abramowitz and Stegun 26.2.23).
pub(in crate::steady) fn quantile(share: f64) -> f64 {
    if share < 0.5 {
        return -quantile(1.0 - share);
    }
    let t = (-2.0 * (1.0 - share).max(1e-12).ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - above / below
}

/// Erlang's loss formula for any number of servers: between whole ones by logarithms.
pub(in crate::steady) fn erlang_b(servers: f64, offered: f64) -> f64 {
    let (whole, each) = (servers.floor(), 1.0 / offered);
    let mut inverse = 1.0;
    for server in 1..=whole as u32 {
        // Only the product waits for the server before.
        inverse = 1.0 + (f64::from(server) * each) * inverse;
        if inverse > 1e12 {
            return 0.0;
        }
    }
    let part = servers - whole;
    if part <= 0.0 {
        return 1.0 / inverse;
    }
    let next = 1.0 + inverse * (whole + 1.0) * each;
    (inverse / next).powf(part) / inverse
}

/// By how much more find no server where their number varies less than that of Poisson arrivals,
/// `peaked` times as much, than Erlang's formula says for as much less of both; `room` is what
/// servers there are above the mean, in deviations of the number.
///
/// Then the number comes and goes sooner than one stays. So those that found no server are away
/// still when others leave, and these are taken by new ones only, of which there are fewer by as
/// many as are away. With deviations and the number's own time as units, `f` of them away for good
/// make it one that has the mean `-(1 - peaked) f` (an Ornstein-Uhlenbeck process held below
/// `room`), and it is pushed back there as often as `peaked f` come home, `f = hazard(room + (1 -
/// peaked) f) / peaked`. But they are not always as many. They go in groups, of some one and a half
/// times what it is beyond a bound on the mean; the fewer groups are away at once the less one
/// group knows of another, and each by itself is Erlang's.
pub(in crate::steady) fn longer_away(room: f64, peaked: f64) -> f64 {
    let alone = hazard(room);
    let mut away = alone;
    for _ in 0..AWAY_STEPS {
        let at = room + (1.0 - peaked) * away;
        let pushed = hazard(at);
        let slope = (1.0 - peaked) * pushed * (at + pushed) + peaked;
        away += (pushed - peaked * away) / slope;
    }
    let at = room + (1.0 - peaked) * away;
    let group = GROUP / (at + hazard(at));
    1.0 + away / (away + group) * (away / alone - 1.0).max(0.0)
}

/// How soon a standard normal number that is below a bound is at it.
fn hazard(bound: f64) -> f64 {
    if bound < -FAR_BELOW {
        // What is left of the number is an exponential one, but for a part in as many squares.
        return -bound - 1.0 / bound;
    }
    (-0.5 * bound * bound).exp() / (2.0 * std::f64::consts::PI).sqrt() / above(-bound)
}

/// Steps of Newton in which is found how many are away.
const AWAY_STEPS: usize = 4;
/// How many go at once, by how far a number is beyond a bound on the mean.
const GROUP: f64 = 1.5;
/// Deviations below which the chance is told by what is left.
const FAR_BELOW: f64 = 5.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poisson_arrivals_are_erlangs() {
        for room in [-3.0, -0.5, 0.0, 1.0, 4.0, 9.0] {
            assert!((longer_away(room, 1.0) - 1.0).abs() < 1e-9, "{room}");
            assert!(longer_away(room, 0.999) < 1.01, "{room}");
        }
    }

    #[test]
    fn erlangs_formula_has_its_tabled_values() {
        // B(1, 1) = 1/2, B(2, 1) = 1/5, B(10, 5) = 0.018385 (Erlang's tables).
        assert!((erlang_b(1.0, 1.0) - 0.5).abs() < 1e-12);
        assert!((erlang_b(2.0, 1.0) - 0.2).abs() < 1e-12);
        assert!((erlang_b(10.0, 5.0) - 0.018_385).abs() < 1e-6);
        let between = erlang_b(1.5, 1.0);
        assert!(between < 0.5 && between > 0.2);
    }

    #[test]
    fn the_mean_above_a_bound_of_a_normal_number() {
        let all = mean_beyond(0.0, 1.0, 0.0);
        assert!((all - 0.398_942).abs() < 1e-6);
        assert!((mean_beyond(5.0, 1.0, -5.0) - 10.0).abs() < 1e-6);
    }

    #[test]
    fn the_normal_numbers_have_their_tabled_shares() {
        for (share, number) in [
            (0.5, 0.0),
            (0.841_345, 1.0),
            (0.977_250, 2.0),
            (0.158_655, -1.0),
        ] {
            assert!((quantile(share) - number).abs() < 1e-3, "{share}");
            assert!((above(quantile(share)) - (1.0 - share)).abs() < 2e-4);
        }
    }
}
