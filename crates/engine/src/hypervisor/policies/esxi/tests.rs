//! What is due to each, and how a virtual machine is divided over nodes.

use serde_json::json;

use super::super::bare;
use super::claims::{divide, rate, Claim};
use super::*;
use crate::hypervisor::State;
use crate::kernel::Stream;
use crate::spec::Policy;

fn claim(shares: f64, reserved: f64, most: f64) -> Claim {
    Claim {
        shares,
        reserved,
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

fn pool(shares: u32, parent: Option<u16>, reservation: f64, limit: Option<f64>) -> ResourcePool {
    ResourcePool {
        name: String::new(),
        parent,
        shares,
        reservation,
        limit,
        expandable: true,
    }
}

fn due(cores: f64, pools: &[ResourcePool], machines: &[(Option<u16>, Claim)]) -> Vec<f64> {
    let parts = divide(cores, pools, machines);
    parts.iter().map(|part| part.due).collect()
}

#[track_caller]
fn assert_due(
    cores: f64,
    pools: &[ResourcePool],
    machines: &[(Option<u16>, Claim)],
    wanted: &[f64],
) {
    let got = due(cores, pools, machines);
    let near = |(got, wanted): (&f64, &f64)| (got - wanted).abs() < 1e-9;
    assert!(got.iter().zip(wanted).all(near), "{got:?}, not {wanted:?}");
}

#[test]
fn a_pool_stands_beside_virtual_machines_as_one_of_them() {
    let one = claim(1_000.0, 0.0, 4.0);
    let beside = [(Some(0), one), (Some(0), one), (None, one)];
    let plain = pool(1_000, None, 0.0, None);
    assert_due(4.0, std::slice::from_ref(&plain), &beside, &[1.0, 1.0, 2.0]);
    // A limit of the pool binds the sum, and the rest goes to who is beside it.
    let limited = pool(1_000, None, 0.0, Some(0.5));
    assert_due(4.0, &[limited], &beside, &[0.25, 0.25, 3.5]);
    // What is reserved is the pool's, whoever in it wants it.
    let reserved = pool(1_000, None, 3.0, None);
    assert_due(4.0, &[reserved], &beside, &[1.5, 1.5, 1.0]);
    // A pool in a pool has its part of that one's.
    let nested = [plain, pool(3_000, Some(0), 0.0, None)];
    let inside = [(Some(1), one), (Some(0), one), (None, one)];
    assert_due(4.0, &nested, &inside, &[1.5, 0.5, 2.0]);
    // What a virtual machine has reserved its pools have, too.
    let sure = claim(1.0, 3.0, 4.0);
    let inside = [(Some(1), sure), (Some(0), one), (None, one)];
    let got = due(4.0, &nested, &inside);
    assert!((got[0] - 3.0).abs() < 1e-9, "{got:?}");
}

/// Fills a level drop by drop: each drop goes to whoever has least for its shares, reservations
/// first. Slow, and nothing like halving.
fn by_drops(cores: f64, claims: &[Claim]) -> Vec<f64> {
    let drop = cores / 20_000.0;
    let mut got: Vec<f64> = claims.iter().map(|of| of.reserved.min(of.most)).collect();
    let mut left = cores - got.iter().sum::<f64>();
    while left > 0.0 {
        let open = (0..claims.len()).filter(|at| got[*at] < claims[*at].most);
        let by = |at: &usize| got[*at] / claims[*at].shares;
        let Some(next) = open.min_by(|a, b| by(a).total_cmp(&by(b))) else {
            break;
        };
        let given = drop.min(claims[next].most - got[next]);
        got[next] += given;
        left -= drop;
    }
    got
}

/// What a pool and all in it get, by drops.
fn pour(
    cores: f64,
    at: Option<u16>,
    pools: &[ResourcePool],
    machines: &[(Option<u16>, Claim)],
    to: &mut [f64],
) {
    let inner: Vec<u16> = (0..pools.len() as u16)
        .filter(|pool| pools[usize::from(*pool)].parent == at)
        .collect();
    let own: Vec<usize> = (0..machines.len())
        .filter(|one| machines[*one].0 == at)
        .collect();
    let mut claims: Vec<Claim> = inner
        .iter()
        .map(|one| whole(*one, pools, machines))
        .collect();
    claims.extend(own.iter().map(|one| machines[*one].1));
    let got = by_drops(cores, &claims);
    for (pool, got) in inner.iter().zip(&got) {
        pour(*got, Some(*pool), pools, machines, to);
    }
    for (one, got) in own.iter().zip(&got[inner.len()..]) {
        to[*one] = *got;
    }
}

/// A pool as its neighbours see it.
fn whole(at: u16, pools: &[ResourcePool], machines: &[(Option<u16>, Claim)]) -> Claim {
    let pool = &pools[usize::from(at)];
    let mut inside: Vec<Claim> = machines
        .iter()
        .filter(|one| one.0 == Some(at))
        .map(|one| one.1)
        .collect();
    for inner in 0..pools.len() as u16 {
        if pools[usize::from(inner)].parent == Some(at) {
            inside.push(whole(inner, pools, machines));
        }
    }
    let sum = |of: fn(&Claim) -> f64| inside.iter().map(of).sum::<f64>();
    claim(
        f64::from(pool.shares),
        pool.reservation.max(sum(|of| of.reserved)),
        pool.limit.unwrap_or(f64::MAX).min(sum(|of| of.most)),
    )
}

/// Pools of a random host: up to five, in each other, some with a limit, some with a reserve.
fn random_pools(chance: &mut Stream, cores: f64) -> Vec<ResourcePool> {
    let count = 1 + chance.below(5) as usize;
    let mut one = |at: usize| {
        let parent = (at > 0 && chance.chance(0.5)).then(|| chance.below(at as u64) as u16);
        let reserved = if chance.chance(0.3) { 0.1 * cores } else { 0.0 };
        let limit = chance
            .chance(0.3)
            .then(|| cores * (0.6 + 0.4 * chance.uniform()));
        pool(500 * (1 + chance.below(8)) as u32, parent, reserved, limit)
    };
    (0..count).map(&mut one).collect()
}

#[test]
fn random_trees_are_divided_as_drop_by_drop() {
    let mut chance = Stream::new(7, 0, "pools");
    for tree in 0..60 {
        let cores = (2 + chance.below(14)) as f64;
        let pools = random_pools(&mut chance, cores);
        let count = 2 + chance.below(6);
        let one = |_| {
            let pool = chance
                .chance(0.8)
                .then(|| chance.below(pools.len() as u64) as u16);
            let reserved = if chance.chance(0.2) {
                0.05 * cores
            } else {
                0.0
            };
            let most = 1.0 + chance.below(6) as f64;
            (
                pool,
                claim(250.0 * (1 + chance.below(8)) as f64, reserved, most),
            )
        };
        let machines: Vec<_> = (0..count).map(one).collect();
        let got = due(cores, &pools, &machines);
        let mut wanted = vec![0.0; machines.len()];
        pour(cores, None, &pools, &machines, &mut wanted);
        for (got, wanted) in got.iter().zip(&wanted) {
            let told = format!("{tree}: {got} not {wanted} {pools:?} {machines:?}");
            assert!((got - wanted).abs() < 0.003 * cores, "{told}");
        }
        let sum: f64 = got.iter().sum();
        assert!(sum <= cores * (1.0 + 1e-9), "{tree}: {sum}");
    }
}

/// As many shares as count would give the same if there were no pools, where the host is short.
#[test]
fn what_counts_says_the_same_without_pools() {
    let pools = [
        pool(1_000, None, 0.0, None),
        pool(3_000, Some(0), 0.0, None),
    ];
    let (one, little) = (claim(1_000.0, 0.0, 4.0), claim(500.0, 0.0, 0.1));
    for machines in [
        vec![(Some(1), one), (Some(0), one), (None, one)],
        vec![(Some(1), little), (Some(0), one), (None, one)],
        // One in the pool wants all that the pool may have: just then nobody waits in there.
        vec![
            (Some(0), little),
            (Some(0), claim(1_000.0, 0.0, 1.9)),
            (None, one),
        ],
        vec![(Some(1), claim(1.0, 1.5, 2.0)), (Some(0), one), (None, one)],
    ] {
        let parts = divide(4.0, &pools, &machines);
        let flat = parts.iter().zip(&machines);
        let flat = flat.map(|(part, (_, own))| claim(part.counts, 0.0, own.most));
        let again = given(4.0, &flat.collect::<Vec<_>>());
        for (again, part) in again.iter().zip(&parts) {
            assert!((again - part.due).abs() < 1e-6, "{again} {parts:?}");
        }
    }
}

#[test]
fn in_a_pool_whose_reservations_take_all_shares_still_count() {
    // Of 9000 shares the pool has 1000, which are worth less than what is reserved in it.
    let machines = [
        (Some(0), claim(1000.0, 1.5, 2.0)),
        (Some(0), claim(1000.0, 0.0, 2.0)),
        (None, claim(8000.0, 0.0, 4.0)),
    ];
    let parts = divide(4.0, &[pool(1000, None, 0.0, None)], &machines);
    assert!(
        (parts[0].due - 1.5).abs() < 1e-6 && parts[1].due < 0.01,
        "{parts:?}"
    );
    assert!(parts.iter().all(|part| part.counts >= 1.0), "{parts:?}");
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
