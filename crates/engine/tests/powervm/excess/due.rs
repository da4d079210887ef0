//! Exact water-filling: what each partition is due of what others leave.

/// A partition on shared cores, with a loop without end on each virtual processor that is busy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sharer {
    pub vps: u16,
    pub busy: u16,
    /// What those that are busy are entitled to [cores].
    pub entitled: f64,
    pub weight: u16,
    pub capped: bool,
    /// Pool, or group where there is one.
    pub pool: usize,
}

/// A shared processor pool: its maximum, and its reserve [cores].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    pub maximum: Option<f64>,
    pub reserved: f64,
}

impl Sharer {
    /// What it uses of its entitlement [cores].
    pub fn own(&self) -> f64 {
        self.entitled.min(f64::from(self.busy))
    }

    /// What it could use beyond that and what it was given [cores].
    fn more(&self, given: f64) -> f64 {
        if self.capped || self.weight == 0 {
            return 0.0;
        }
        (f64::from(self.busy) - self.own() - given).max(0.0)
    }
}

/// Some of a pool, and what they were given so far [cores].
struct Members<'a>(Vec<(usize, &'a Sharer, f64)>);

impl Members<'_> {
    /// What each takes more at a level of cores a weight.
    fn taken(&self, level: f64) -> impl Iterator<Item = f64> + '_ {
        let each = self.0.iter();
        each.map(move |(_, one, given)| one.more(*given).min(level * f64::from(one.weight)))
    }

    /// The highest level at which they take no more than that.
    fn level_of(&self, most: f64, cores: f64) -> f64 {
        highest(most, |level| self.taken(level).sum::<f64>() <= cores)
    }
}

/// Excess handed out to each [cores], where `cores` are used in all: what a pool is entitled to
/// goes to its own first, the rest to all, as far as its maximum lets a pool take it.
pub fn excess(cores: f64, limits: &[Limit], sharers: &[Sharer]) -> Vec<f64> {
    let mut given = vec![0.0; sharers.len()];
    let mut left = cores - sharers.iter().map(Sharer::own).sum::<f64>();
    let members = |pool: usize, given: &[f64]| {
        let each = sharers.iter().enumerate();
        let those = each.filter(|(_, one)| one.pool == pool);
        Members(those.map(|(at, one)| (at, one, given[at])).collect())
    };
    let mut rooms = Vec::new();
    for (pool, limit) in limits.iter().enumerate() {
        let those = members(pool, &given);
        let own: f64 = those.0.iter().map(|(_, one, _)| one.own()).sum();
        let entitled: f64 = those.0.iter().map(|(_, one, _)| one.entitled).sum();
        let level = those.level_of(MOST, limit.reserved + entitled - own);
        let mut used = own;
        for ((at, ..), more) in those.0.iter().zip(those.taken(level)) {
            (given[*at], left, used) = (more, left - more, used + more);
        }
        rooms.push(
            limit
                .maximum
                .map_or(f64::INFINITY, |maximum| maximum - used),
        );
    }
    let pools: Vec<Members> = (0..limits.len())
        .map(|pool| members(pool, &given))
        .collect();
    let at_level = |level: f64| -> Vec<(usize, f64)> {
        let each = pools.iter().zip(&rooms).flat_map(|(those, room)| {
            let level = those.level_of(level, *room);
            let taken: Vec<f64> = those.taken(level).collect();
            those.0.iter().map(|(at, ..)| *at).zip(taken)
        });
        each.collect()
    };
    let level = highest(MOST, |level| {
        at_level(level).iter().map(|(_, more)| more).sum::<f64>() <= left
    });
    for (at, more) in at_level(level) {
        given[at] += more;
    }
    given
}

/// No level is higher [cores].
const MOST: f64 = 1e4;

/// The highest level up to `most` at which something that fails above some level holds.
fn highest(most: f64, holds: impl Fn(f64) -> bool) -> f64 {
    if holds(most) {
        return most;
    }
    let (mut low, mut high) = (0.0, most);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[test]
fn pools_come_first_for_their_own_and_take_no_more_than_their_maximum() {
    let one = |entitled, weight, pool| Sharer {
        vps: 8,
        busy: 8,
        entitled,
        weight,
        capped: false,
        pool,
    };
    let some = [one(1.0, 1, 0), one(1.0, 3, 1), one(1.0, 1, 1)];
    let limit = |maximum, reserved| Limit { maximum, reserved };
    let of = |second: Limit| excess(9.0, &[limit(None, 0.0), second], &some);
    let near = |got: Vec<f64>, due: [f64; 3]| {
        let off = got.iter().zip(due).map(|(got, due)| (got - due).abs());
        assert!(off.fold(0.0, f64::max) < 1e-6, "{got:?} of {due:?}");
    };
    near(of(limit(None, 0.0)), [1.2, 3.6, 1.2]);
    near(of(limit(None, 1.0)), [1.0, 3.75, 1.25]);
    near(of(limit(Some(4.0), 1.0)), [4.0, 1.5, 0.5]);
}
