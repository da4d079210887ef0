//! What holds for every run still holds where partitions have a second load, and loads share out
//! what their partition did.

use homenode_engine::sim::{check, columns, PartitionSummary};
use homenode_engine::spec::{Load, Spec, Workload};

use crate::common::{assert_all, run, scenarios, Outcome, Scenario};
use crate::random;

fn all_holds(Scenario(spec): &Scenario) {
    let spec = with_second_loads(spec);
    let outcome = run(&spec, 0);
    assert_all(&spec, &outcome);
    for partition in &outcome.summary.partitions {
        loads_share_out(&outcome, partition);
    }
}

/// With threads that never sleep in every partition that may have them, of its own profile: so they
/// fit all that is known of it.
fn with_second_loads(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    for at in 0..spec.partitions.len() {
        let before = spec.clone();
        let partition = &mut spec.partitions[at];
        partition.workload_name = "first".into();
        partition.beside.push(Load {
            name: "second".into(),
            workload: Workload::Warehouses { count: 2 },
            profile: partition.profile.clone(),
        });
        if check(&spec).is_err() {
            spec = before;
        }
    }
    spec
}

fn loads_share_out(outcome: &Outcome, partition: &PartitionSummary) {
    if partition.loads.is_empty() {
        return;
    }
    let all = |column: &str| outcome.total(&partition.name, column);
    let sum = |column: &str| {
        let at = columns::LOAD.iter().position(|name| *name == column);
        let at = at.expect("a column");
        let each = partition.loads.iter().map(|load| load.totals[at] as f64);
        each.sum::<f64>()
    };
    for column in ["tx_arrived", "tx_done", "tx_inside", "response_ns"] {
        assert_eq!(sum(column), all(column), "{column} of {}", partition.name);
    }
    for column in ["busy_ns", "instructions"] {
        let (parts, whole) = (sum(column), all(column));
        let most = whole + 8.0 + 1e-6 * whole;
        assert!(
            parts <= most,
            "{column} of {}: {parts} of {whole}",
            partition.name
        );
    }
}

random! {
    scenarios => all_holds;
    powervm: PowerVm, 128;
    prsm: PrSm, 96;
    cores_of_ones_own: Dedicated, 96;
    linux: Linux, 96;
    xen: Credit2, 96;
}
