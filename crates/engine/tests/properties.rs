//! Conservation on random scenarios: whatever the machine, the partitions and their work, the
//! invariants hold in every interval.

mod common;

use common::{assert_all, dice, run, sound};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 384,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_interval_balances(dice in dice()) {
        let spec = sound(&dice);
        assert_all(&spec, &run(&spec, 0));
    }
}
