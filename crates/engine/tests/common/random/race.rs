//! Random races.

use proptest::prelude::*;

use super::super::platform::Platform;
use super::super::race::{Race, Runner};
use super::Dice;

/// Dice of a race.
pub const OF_RACE: usize = 32;

/// The race that a row of dice makes: on one or two chips, two to five competitors.
pub fn race(platform: Platform, dice: &[u16]) -> Race {
    let mut dice = Dice::new(dice);
    let mut race = Race::on(platform, dice.between(1, 4), vec![]);
    race.chips = dice.between(1, 2);
    race.vertical = dice.chance(2);
    race.bound = platform == Platform::Linux && dice.chance(2);
    race.missing = dice.chance(2);
    race.seed = u64::from(dice.next());
    let (count, alike) = (dice.between(2, 5), dice.chance(3));
    for _ in 0..count {
        let next = random_runner(&mut dice, &race, count);
        match race.runners.first() {
            Some(first) if alike => race.runners.push(*first),
            _ => race.runners.push(next),
        }
    }
    if platform == Platform::Dedicated {
        let mut free = race.capacity();
        for one in &mut race.runners {
            one.threads = one.threads.min(free);
            free -= one.threads;
        }
        race.runners.retain(|one| one.threads > 0);
    }
    race
}

/// At most half of the machine is entitled to somebody.
fn random_runner(dice: &mut Dice, race: &Race, count: u16) -> Runner {
    let capacity = race.capacity();
    let threads = dice.between(1, 2 * capacity);
    let entitled = dice.real(0.2, 1.0) * 0.5 * f64::from(capacity) / f64::from(count);
    let whole = threads.div_ceil(capacity) * capacity;
    Runner {
        threads: if race.bound { whole } else { threads },
        weight: dice.pick(&[100, 50, 200, 255, 33]),
        entitled: entitled.min(f64::from(threads)),
    }
}

/// Races of a platform.
pub fn races(platform: Platform) -> impl Strategy<Value = Race> {
    prop::collection::vec(any::<u16>(), OF_RACE).prop_map(move |dice| race(platform, &dice))
}
