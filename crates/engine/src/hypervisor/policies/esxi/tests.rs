//! What is due to each, and how a virtual machine is divided over nodes.

use super::claims::{rate, Claim};
use super::*;
use crate::hypervisor::State;
use crate::machine::parse_short;

fn claim(shares: f64, least: f64, most: f64) -> Claim {
    Claim {
        shares,
        least,
        most,
    }
}

/// What comes of claims on so many cores.
fn given(cores: f64, claims: &[Claim]) -> Vec<f64> {
    let rate = rate(cores, claims);
    claims.iter().map(|claim| claim.at(rate)).collect()
}

#[test]
fn shares_reservations_and_limits_are_met_together() {
    let near = |got: Vec<f64>, wanted: &[f64]| {
        for (got, wanted) in got.iter().zip(wanted) {
            assert!((got - wanted).abs() < 1e-9, "{got}, not {wanted}");
        }
    };
    near(
        given(4.0, &[claim(1.0, 0.0, 4.0), claim(3.0, 0.0, 4.0)]),
        &[1.0, 3.0],
    );
    near(
        given(4.0, &[claim(1.0, 2.0, 4.0), claim(3.0, 0.0, 4.0)]),
        &[2.0, 2.0],
    );
    near(
        given(4.0, &[claim(1.0, 0.0, 4.0), claim(3.0, 0.0, 1.0)]),
        &[3.0, 1.0],
    );
    // Where all get what they want no rate is needed.
    assert_eq!(
        rate(4.0, &[claim(1.0, 0.0, 2.0), claim(3.0, 0.0, 2.0)]),
        0.0
    );
}

/// A host of two nodes with virtual machines of these sizes.
fn host(machine: &str, sizes: &[u16]) -> Esxi {
    let mut machine = parse_short(machine).unwrap();
    machine.hypervisor.policy = crate::spec::Policy::Esxi;
    let partition = |(at, size): (usize, &u16)| {
        serde_json::json!({
            "name": at.to_string(),
            "processors": {
                "mode": "shared", "virtual": size, "capped": false, "weight": 0, "pool": 0,
                "host": {}
            },
            "smt": 1, "memory": [], "memory_policy": "proportional", "data_bytes": 0,
            "io_domain": null, "page_bytes": 4096, "hypervisor_share": 0.0, "home": [0],
            "guest": {
                "os": "linux", "tick_ns": 1_000_000, "tick_cost_ns": 0, "timeslice_ns": 1_000_000,
                "rebalance_ns": null, "daemon_rate_per_s": 0.0, "daemon_ns": 0
            },
            "workload": { "kind": "loops", "count": 1, "endless": true },
            "profile": {
                "name": "plain", "instructions_per_unit": 1.0, "system_share": 0.0, "eicpi": 1.0,
                "issue_share": 1.0, "miss_m0": 0.0, "miss_c0_bytes": 1.0, "miss_exponent": 0.5,
                "sharing": 0.0, "footprint_bytes": 0, "footprint_common": 0.0, "overlap": 0.0,
                "lock_share": 0.0, "lock_hold_instructions": 1.0, "private_data": 0.0,
                "io_data": 0.0, "store_share": 0.0, "store_run": 1.0
            }
        })
    };
    let spec: Spec = serde_json::from_value(serde_json::json!({
        "name": "test", "seed": 1, "warmup_ns": 0, "duration_ns": 1_000_000,
        "interval_ns": 1_000_000, "record_dispatches": false, "machine": machine, "pools": [],
        "partitions": sizes.iter().enumerate().map(partition).collect::<Vec<_>>(),
    }))
    .unwrap();
    Esxi::new(&spec, &State::new(&spec))
}

#[test]
fn a_home_is_the_least_loaded_node_and_a_wide_one_has_several() {
    let homes = |esxi: &Esxi| {
        let of = |client: &Client| (client.worlds.len(), client.home);
        esxi.clients.iter().map(of).collect::<Vec<_>>()
    };
    let small = host("node:2 chip:1 core:4", &[2, 2, 4, 1]);
    assert_eq!(homes(&small), [(2, 0), (2, 1), (4, 0), (1, 1)]);
    // Seven are more than the four cores of a node, nine more than two nodes have.
    let wide = host("node:2 chip:1 core:4", &[7, 9]);
    assert_eq!(homes(&wide), [(3, 0), (4, 1), (4, 0), (5, 1)]);
}
