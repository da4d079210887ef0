//! Invariants on random scenarios of all six policies: of one run (`runs`), of what competitors
//! without end get (`shares`), of two runs (`pairs`), and what does not hold yet (`known`).
//!
//! The same scenarios each time; `PROPTEST_RNG_SEED=7 PROPTEST_CASES=2000` looks at others, and at
//! more. A failure tells the smallest scenario as JSON, which `sim::run` takes.

#[path = "../common/mod.rs"]
mod common;

mod known;
mod pairs;
mod runs;
mod several;
mod shares;

use std::env::var_os;

use proptest::test_runner::{Config, RngSeed};

/// So many cases from one seed, unless the environment asks for others.
fn config(cases: u32) -> Config {
    let asked = Config {
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    Config {
        cases: var_os("PROPTEST_CASES").map_or(cases, |_| asked.cases),
        rng_seed: var_os("PROPTEST_RNG_SEED").map_or(RngSeed::Fixed(1), |_| asked.rng_seed),
        ..asked
    }
}

/// A check on scenarios or races of some platforms, each a test of its own.
macro_rules! random {
    ($made:ident => $check:ident; $($name:ident: $platform:ident, $cases:literal;)*) => {$(
        proptest::proptest! {
            #![proptest_config(crate::config($cases))]

            #[test]
            fn $name(made in $made($crate::common::platform::Platform::$platform)) {
                $check(&made);
            }
        }
    )*};
}
use random;
