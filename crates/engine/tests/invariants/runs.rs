//! What holds for every run.

use crate::common::{assert_all, run, scenarios, Scenario};
use crate::random;

fn all_holds(Scenario(spec): &Scenario) {
    assert_all(spec, &run(spec, 0));
}

random! {
    scenarios => all_holds;
    powervm: PowerVm, 256;
    prsm: PrSm, 192;
    cores_of_ones_own: Dedicated, 128;
    zvm: Zvm, 96;
    linux: Linux, 128;
    xen: Credit2, 128;
}
