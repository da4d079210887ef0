//! What holds whatever the load: time is conserved, nobody idles beside work, weights become
//! shares, quotas and cpusets are kept.

use proptest::prelude::*;

use super::driver::{Came, Does, Driver};
use super::tests::{group, scheduler, spec};
use crate::spec::{Cgroup, FairClass, Spec};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
const SPIN: Does = Does::Compute(u64::MAX / 4);

fn classes() -> impl Strategy<Value = FairClass> {
    prop_oneof![Just(FairClass::Eevdf), Just(FairClass::Cfs)]
}

fn does() -> impl Strategy<Value = Does> {
    let turns = (100_000..20 * MS, 50_000..30 * MS);
    prop_oneof![
        Just(SPIN),
        turns.prop_map(|(run, sleep)| Does::Turns(run, sleep))
    ]
}

/// Weight, quota [ms] if at least 5, and threads of a group.
fn limited() -> impl Strategy<Value = (u32, u64, Vec<Does>)> {
    (1u32..1000, 0u64..200, prop::collection::vec(does(), 1..4))
}

fn play(spec: &Spec, does: &[Does], until: u64) -> Vec<Came> {
    let cpus = usize::from(spec.machine.active_cores);
    Driver::new(scheduler(spec, 0), cpus, does).run(until).0
}

fn ran(came: &[Came]) -> u64 {
    came.iter().map(|c| c.ran).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Groups of any weight, some with quotas, of threads that compute or sleep in turn.
    #[test]
    fn time_is_conserved_and_quotas_are_kept(
        cpus in 1u16..6,
        class in classes(),
        groups in prop::collection::vec(limited(), 1..5),
    ) {
        let named = groups.iter().enumerate().map(|(at, (weight, quota, _))| Cgroup {
            quota_ns: (*quota >= 5).then_some(quota * MS),
            ..group(&format!("g{at}"), *weight)
        });
        let counts: Vec<u16> = groups.iter().map(|g| g.2.len() as u16).collect();
        let mut spec = spec(cpus, named.collect(), &counts);
        spec.machine.hypervisor.linux.scheduler = class;
        let does: Vec<Does> = groups.iter().flat_map(|g| g.2.clone()).collect();
        let until = 2 * SECOND;
        let came = play(&spec, &does, until);
        prop_assert!(ran(&came) <= u64::from(cpus) * until);
        for one in &came {
            prop_assert!(one.ran + one.waited <= until);
        }
        let mut from = 0;
        for (of, count) in spec.cgroups.iter().zip(&counts) {
            let part = ran(&came[from..from + usize::from(*count)]);
            from += usize::from(*count);
            // A slice of the quota and a tick on each processor, and a full pool to begin with.
            let periods = until / of.period_ns + 2;
            let most = of.quota_ns.map(|q| q * periods + u64::from(cpus) * 9 * MS);
            prop_assert!(most.is_none_or(|most| part <= most), "{part} of {most:?}");
        }
        let again = play(&spec, &does, until);
        prop_assert_eq!(format!("{came:?}"), format!("{again:?}"));
    }

    /// As long as there are threads without sleep for all, no processor idles.
    #[test]
    fn no_processor_idles_beside_waiting_work(
        cpus in 1u16..9,
        class in classes(),
        more in 0u16..6,
        others in prop::collection::vec(does(), 0..5),
    ) {
        let spinners = usize::from(cpus + more);
        let mut does = vec![SPIN; spinners];
        does.extend(others);
        let mut spec = spec(cpus, vec![], &[does.len() as u16]);
        spec.machine.hypervisor.linux.scheduler = class;
        let until = SECOND;
        let used = ran(&play(&spec, &does, until)) as f64;
        let all = f64::from(cpus) * until as f64;
        // One may run dry for a moment when a sleeper leaves, until it finds work elsewhere.
        prop_assert!(used >= 0.97 * all, "{} of the time", used / all);
    }

    /// On one processor, groups that never sleep share by weight.
    #[test]
    fn weights_become_shares(
        class in classes(),
        groups in prop::collection::vec((50u32..400, 1u16..4), 2..5),
    ) {
        let named = groups.iter().enumerate();
        let named = named.map(|(at, g)| group(&format!("g{at}"), g.0)).collect();
        let counts: Vec<u16> = groups.iter().map(|g| g.1).collect();
        let mut spec = spec(1, named, &counts);
        spec.machine.hypervisor.linux.scheduler = class;
        let does = vec![SPIN; counts.iter().map(|n| usize::from(*n)).sum()];
        let came = play(&spec, &does, 10 * SECOND);
        let all: u32 = groups.iter().map(|g| g.0).sum();
        let mut from = 0;
        for (weight, count) in &groups {
            let part = ran(&came[from..from + usize::from(*count)]) as f64;
            from += usize::from(*count);
            let (got, due) = (part / (10 * SECOND) as f64, f64::from(*weight) / f64::from(all));
            prop_assert!((got - due).abs() < 0.015, "{got} for {due}");
        }
    }
}
