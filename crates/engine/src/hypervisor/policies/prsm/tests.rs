//! Who must leave, against a plain scan of all cores.

use super::*;
use crate::hypervisor::{State, Windows};
use crate::kernel::Stream;
use crate::machine::parse_short;
use crate::spec;

const PARTITIONS: u64 = 6;
const VPS: u64 = 30;
const MS: u64 = 1_000_000;

/// Partitions of thirty logical cores, in two pools.
fn spec() -> Spec {
    let mut machine = parse_short("node:3 chip:3 core:10").unwrap();
    machine.hypervisor.policy = spec::Policy::Prsm;
    let partition = |at: u64| {
        serde_json::json!({
            "name": at.to_string(),
            "processors": {
                "mode": "shared", "entitlement": 1.0, "virtual": VPS, "capped": false,
                "weight": 100, "pool": at % 2
            },
            "smt": 1, "memory": [], "memory_policy": "proportional", "data_bytes": 0,
            "io_domain": null, "page_bytes": 4096, "hypervisor_share": 0.0, "home": [at, 8 - at],
            "guest": {
                "os": "linux", "tick_ns": MS, "tick_cost_ns": 0, "timeslice_ns": MS,
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
    };
    serde_json::from_value(serde_json::json!({
        "name": "test", "seed": 1, "warmup_ns": 0, "duration_ns": MS, "interval_ns": MS,
        "record_dispatches": false, "machine": machine,
        "pools": [
            { "name": "a", "maximum": null, "reserved": 0.0, "cores": (0..40).collect::<Vec<_>>() },
            { "name": "b", "maximum": null, "reserved": 0.0, "cores": null },
        ],
        "partitions": (0..PARTITIONS).map(partition).collect::<Vec<_>>(),
    }))
    .unwrap()
}

fn plain_victim(view: View, vp: VpId) -> Option<CoreId> {
    let (requester, pool) = (&view.state.vps[vp], pool_of(view, vp));
    let rank = |core: CoreId| {
        let runner = view.state.runner(core)?;
        let own = runner.partition == requester.partition;
        let distance = view.state.distance_from_home(vp, core);
        Some((own, distance, runner.dispatched_at, core))
    };
    let all = excess_runners(view, pool, view.state.tree.chips());
    let first = all.filter_map(rank).min();
    first.map(|(_, _, _, core)| core)
}

/// Few or many cores have a runner beyond its share, of few or many partitions.
#[test]
fn the_nearest_of_another_partition_must_leave() {
    let spec = spec();
    let mut state = State::new(&spec);
    let mut windows = Windows::new(&spec, &mut state);
    let mut stream = Stream::new(1, 0, "victims");
    let mut found = 0;
    for round in 0..4_000 {
        let (most, partitions) = (1 + round % 20, 1 + stream.below(PARTITIONS));
        for core in state.tree.cores() {
            let chip = state.cores[core].chip;
            let on = stream.below(most) == 0;
            windows.sets.set_excess(chip, core, on);
            let vp = VpId::new(stream.below(partitions * VPS) as usize);
            state.cores[core].running = on.then_some(vp);
            state.vps[vp].dispatched_at = stream.below(5);
        }
        let (state, windows) = (&state, &windows);
        let left_ns = 0;
        let view = View {
            state,
            windows,
            left_ns,
        };
        let vp = VpId::new(stream.below(PARTITIONS * VPS) as usize);
        let victim = victim(view, vp);
        assert_eq!(victim, plain_victim(view, vp));
        found += u32::from(victim.is_some());
    }
    assert!((3_000..4_000).contains(&found), "{found}");
}
