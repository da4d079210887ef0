//! Scenarios for tests of a policy alone: partitions that do nothing, of which only places count.

use serde_json::{json, Value};

use crate::machine::parse_short;
use crate::spec::{Policy, Spec};

/// A partition of nobody's work, with these `processors` and homes.
pub fn partition(at: usize, processors: &Value, home: &[usize]) -> Value {
    json!({
        "name": at.to_string(), "processors": processors, "home": home,
        "smt": 1, "memory": [], "memory_policy": "proportional", "data_bytes": 0,
        "io_domain": null, "page_bytes": 4096, "hypervisor_share": 0.0,
        "guest": {
            "os": "linux", "tick_ns": 1_000_000, "tick_cost_ns": 0, "timeslice_ns": 1_000_000,
            "rebalance_ns": null, "daemon_rate_per_s": 0.0, "daemon_ns": 0
        },
        "workload": { "kind": "idle" },
        "profile": {
            "name": "plain", "instructions_per_unit": 1.0, "system_share": 0.0, "eicpi": 1.0,
            "issue_share": 1.0, "miss_m0": 0.0, "miss_c0_bytes": 1.0, "miss_exponent": 0.5,
            "sharing": 0.0, "footprint_bytes": 0, "footprint_common": 0.0, "overlap": 0.0,
            "lock_share": 0.0, "lock_hold_instructions": 1.0, "private_data": 0.0,
            "io_data": 0.0, "store_share": 0.0, "store_run": 1.0
        }
    })
}

/// A scenario of a machine in its short form, with pools and partitions.
pub fn spec(machine: &str, policy: Policy, pools: &Value, partitions: &[Value]) -> Spec {
    let mut machine = parse_short(machine).expect("a sound short form");
    machine.hypervisor.policy = policy;
    let told = json!({
        "name": "test", "seed": 1, "warmup_ns": 0, "duration_ns": 1_000_000,
        "interval_ns": 1_000_000, "record_dispatches": false, "machine": machine, "pools": pools,
        "partitions": partitions,
    });
    serde_json::from_value(told).expect("a scenario")
}
