//! What is due to each, and how a virtual machine is divided over nodes.

use serde_json::json;

use super::super::bare;
use super::claims::{rate, Claim};
use super::*;
use crate::hypervisor::State;
use crate::spec::Policy;

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
    let partition = |(at, size): (usize, &u16)| {
        let processors = json!({
            "mode": "shared", "virtual": size, "capped": false, "weight": 0, "pool": 0, "host": {}
        });
        bare::partition(at, &processors, &[0])
    };
    let partitions: Vec<_> = sizes.iter().enumerate().map(partition).collect();
    let spec = bare::spec(machine, Policy::Esxi, &json!([]), &partitions);
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
