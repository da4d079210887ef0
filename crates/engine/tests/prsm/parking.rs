//! What holds for any decision to park, whatever was observed.

use homenode_engine::guest::zvm::park::{Cores, History, Observation, Parking};
use homenode_engine::spec::{ExcessUse, Unparking};
use proptest::prelude::*;

const BOLDNESS: [ExcessUse; 4] = [
    ExcessUse::None,
    ExcessUse::Low,
    ExcessUse::Medium,
    ExcessUse::High,
];

fn history(observations: &[(f64, f64)], factor: f64) -> History {
    let mut history = History::new();
    for &(used, excess) in observations {
        history.push(Observation {
            used_cores: used * factor,
            excess_cores: excess,
        });
    }
    history
}

proptest! {
    #[test]
    fn decisions_keep_their_order(
        observations in proptest::collection::vec((0.0f64..80.0, 0.0f64..40.0), 0..9),
        online in 1u16..=80, entitled in 0u16..=80, cpupad in 0.0f64..8.0, more in 0.0f64..8.0,
        factor in 1.0f64..3.0, of_entitled in 0.5f64..=1.0,
    ) {
        let entitled = entitled.min(online);
        let entitlement = f64::from(entitled) * of_entitled;
        let cores = Cores { online, entitled, entitlement };
        let seen = history(&observations, 1.0);
        let decide = |unparking, cpupad, excessuse, history: &History| {
            Parking { unparking, cpupad, excessuse }.unparked(history, cores)
        };
        let mut bolder = [0; 3];
        for excessuse in BOLDNESS {
            let [small, medium, large] = [Unparking::Small, Unparking::Medium, Unparking::Large]
                .map(|unparking| decide(unparking, cpupad, excessuse, &seen));
            prop_assert!(1 <= small && small <= medium && medium <= large && large <= online);
            prop_assert!(large >= cores.entitled);
            for (was, now) in bolder.iter_mut().zip([small, medium, large]) {
                prop_assert!(*was <= now);
                *was = now;
            }
            let padded = decide(Unparking::Small, cpupad + more, excessuse, &seen);
            prop_assert!(padded >= small);
            let loaded = history(&observations, factor);
            prop_assert!(decide(Unparking::Small, cpupad, excessuse, &loaded) >= small);
        }
    }

    #[test]
    fn the_ceiling_covers_what_was_seen_and_the_floor_does_not_exceed_it(
        observations in proptest::collection::vec((0.0f64..80.0, 0.0f64..40.0), 2..9),
    ) {
        let seen = history(&observations, 1.0);
        let last = &observations[observations.len().saturating_sub(5)..];
        let ceiling = seen.ceiling();
        prop_assert!(last.iter().all(|(used, _)| *used <= ceiling));
        let mean = last.iter().map(|(_, excess)| excess).sum::<f64>() / last.len() as f64;
        for excessuse in BOLDNESS {
            let floor = seen.floor(excessuse);
            prop_assert!((0.0..=mean + 1e-9).contains(&floor));
        }
    }
}
