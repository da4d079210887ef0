//! Policy `esxi` on several memory nodes: each has a contest of its own.

use crate::common::esxi::{assert_cores, cores, due, esxi, inside, of, pool, with};
use crate::common::host::on_off;
use crate::common::{loops, memory, run, Outcome, MS, SECOND};
use homenode_engine::kernel::Stream;
use homenode_engine::spec::{MemoryPolicy, Partition, Processors, Spec, Workload};

/// At home on a node, or wherever there is room.
fn at(node: Option<u16>, mut one: Partition) -> Partition {
    if let Some(node) = node {
        one.memory = vec![memory(&[node], 1 << 30)];
        one.memory_policy = MemoryPolicy::Proportional;
    }
    one
}

fn busy_s(outcome: &Outcome, name: &str) -> Vec<f64> {
    let series = outcome.series(name, "busy_ns");
    series.into_iter().map(|ns| ns as f64 / 1e9).collect()
}

/// One with a limit, held and let go fifty times a second, beside a pool with a limit and others
/// that come and go: on its node it is owed what it was due there, whatever others have had on the
/// other node.
#[test]
fn a_reservation_is_met_beside_pools_on_two_nodes() {
    for (home, duty) in [Some(0), Some(1), None]
        .into_iter()
        .flat_map(|home| [4, 8, 20, 60].map(|duty| (home, duty)))
    {
        let gold = (0..6).map(|at| inside(Some(0), of(&format!("g{at}"), 2, None, 0.0, None)));
        let silver = (0..6).map(|at| {
            let mut one = inside(Some(1), of(&format!("s{at}"), 3, None, 0.0, None));
            on_off(duty, 2e6, 9 * MS, &mut one);
            one
        });
        let mut vms: Vec<Partition> = gold.chain(silver).collect();
        vms.push(at(home, of("lim", 2, None, 0.3, Some(0.5))));
        let mut spec = esxi("node:2 chip:1 core:8", vms);
        spec.resource_pools = vec![
            pool("gold", None, 3000, Some(6.0)),
            pool("silver", None, 1000, None),
        ];
        let got = cores(&run(&spec, 0), "lim");
        assert!((0.285..=0.501).contains(&got), "{home:?} {duty}: {got}");
    }
}

/// A random host: nodes, virtual machines of loops and users, homes stated or not, pools in pools,
/// limits, and reservations that fit even if all were at home on one node.
fn random_host(chance: &mut Stream) -> Spec {
    let nodes = [1, 2, 4][chance.below(3) as usize];
    let each = [4, 8][chance.below(2) as usize];
    let pools: Vec<_> = (0..chance.below(4) as usize)
        .map(|at| {
            let parent = (at > 0 && chance.chance(0.5)).then(|| chance.below(at as u64) as u16);
            let limit = chance
                .chance(0.4)
                .then(|| each as f64 * (0.7 + chance.uniform()));
            pool(
                &format!("p{at}"),
                parent,
                500 * (1 + chance.below(8)) as u32,
                limit,
            )
        })
        .collect();
    let mut left = 0.6 * each as f64;
    let count = 3 + chance.below(3 * nodes);
    let vms = (0..count).map(|number| {
        let vcpus = 1 + chance.below(each);
        let limit = chance.chance(0.3).then_some(0.3 * vcpus as f64);
        let most = limit.unwrap_or(vcpus as f64);
        let wish = if chance.chance(0.4) { 0.6 * most } else { 0.0 };
        let reserved = wish.min(0.5 * left);
        left -= reserved;
        let shares = [250, 1000, 4000][chance.below(3) as usize] * vcpus as u32;
        let mut one = of(
            &format!("v{number}"),
            vcpus as u16,
            Some(shares),
            reserved,
            limit,
        );
        // What has nothing reserved may come and go.
        if reserved == 0.0 && chance.chance(0.5) {
            let (work, sleep) = [(2e6, 5 * MS), (5e7, 60 * MS)][chance.below(2) as usize];
            on_off(2 * vcpus as u32, work, sleep, &mut one);
        }
        // A pool's limit is divided anew each 20 ms, and what one cannot use of its part just
        // then is lost to it: beside such limits nothing is reserved in pools.
        let free = reserved == 0.0 || pools.iter().all(|pool| pool.limit.is_none());
        let pooled = free && !pools.is_empty() && chance.chance(0.6);
        let pool = pooled.then(|| chance.below(pools.len() as u64) as u16);
        at(
            chance.chance(0.5).then(|| chance.below(nodes) as u16),
            inside(pool, one),
        )
    });
    let mut spec = esxi(&format!("node:{nodes} chip:1 core:{each}"), vms.collect());
    spec.resource_pools = pools;
    spec
}

/// What a virtual machine has reserved, and its limit.
fn bounds_of(one: &Partition) -> (f64, Option<f64>) {
    let Processors::Shared { host, .. } = &one.processors else {
        panic!("no virtual machine")
    };
    let machine = host.machine.as_ref().expect("a virtual machine");
    (machine.reservation, host.cap)
}

/// Those of a pool, and of pools in it, by place in the list.
fn members(spec: &Spec, pool: usize) -> Vec<usize> {
    let own = |at: &usize| {
        let Processors::Shared { host, .. } = &spec.partitions[*at].processors else {
            return false;
        };
        let above = |of: &u16| spec.resource_pools[usize::from(*of)].parent;
        let first = host.machine.as_ref().and_then(|machine| machine.pool);
        std::iter::successors(first, above).any(|of| usize::from(of) == pool)
    };
    (0..spec.partitions.len()).filter(own).collect()
}

/// A second has as much as a limit says and what is taken in advance in a period of 20 ms.
fn assert_limits(spec: &Spec, seconds: &[Vec<f64>], told: &str) {
    let mut bound: Vec<(f64, Vec<usize>)> = Vec::new();
    for (at, one) in spec.partitions.iter().enumerate() {
        bound.extend(bounds_of(one).1.map(|limit| (limit, vec![at])));
    }
    for (at, pool) in spec.resource_pools.iter().enumerate() {
        bound.extend(pool.limit.map(|limit| (limit, members(spec, at))));
    }
    for (limit, members) in bound {
        let each = (0..seconds[0].len())
            .map(|second| members.iter().map(|at| seconds[*at][second]).sum::<f64>());
        for got in each {
            assert!(
                got <= 1.021 * limit + 0.001,
                "{told}: {members:?} {got} of {limit}"
            );
        }
    }
}

/// Reservations of loops are met, limits hold second by second, and who is sure of a fifth of a
/// core is never without one for two seconds.
#[test]
fn random_hosts_of_several_nodes_keep_what_they_promise() {
    let mut chance = Stream::new(5, 0, "nodes");
    for host in 0..40 {
        let mut spec = random_host(&mut chance);
        spec.interval_ns = SECOND;
        let outcome = run(&spec, 0);
        let names: Vec<_> = spec.partitions.iter().map(|one| one.name.clone()).collect();
        let seconds: Vec<_> = names.iter().map(|name| busy_s(&outcome, name)).collect();
        assert_limits(&spec, &seconds, &format!("host {host}"));
        for (one, got) in spec.partitions.iter().zip(&seconds) {
            let reserved = bounds_of(one).0;
            let mean = got.iter().sum::<f64>() / got.len() as f64;
            let told = format!("host {host}, {}: {got:?}, {reserved} reserved", one.name);
            assert!(mean >= 0.95 * reserved, "{told}");
            let starves = got.windows(2).any(|two| two[0] + two[1] == 0.0);
            assert!(reserved < 0.2 || !starves, "{told}");
        }
    }
}

/// Each node's processors are divided by shares and reservations among those on it, whatever the
/// other nodes have: one may be full and one next to empty.
#[test]
fn each_node_shares_as_exact_water_filling_says() {
    let mut chance = Stream::new(6, 0, "shares");
    for host in 0..40 {
        let nodes = [2, 4][chance.below(2) as usize];
        let each = 2 + chance.below(7);
        let mut claims: Vec<Vec<(f64, f64, f64)>> = vec![Vec::new(); nodes as usize];
        let mut vms = Vec::new();
        for number in 0..2 + chance.below(4 * nodes) {
            let node = chance.below(nodes) as u16;
            let vcpus = 1 + chance.below(each);
            let there = &mut claims[usize::from(node)];
            let taken: f64 = there.iter().map(|claim| claim.1).sum();
            let wish = if chance.chance(0.3) {
                0.8 * vcpus as f64
            } else {
                0.0
            };
            let reserved = wish.min(0.5 * (each as f64 - taken));
            let shares = [250, 1000, 4000][chance.below(3) as usize] * vcpus as u32;
            there.push((f64::from(shares), reserved, vcpus as f64));
            let name = format!("v{number}");
            vms.push((node, there.len() - 1, name.clone()));
            claims[usize::from(node)].last_mut().expect("just added").2 = vcpus as f64;
        }
        let partitions = vms.iter().map(|(node, place, name)| {
            let (shares, reserved, vcpus) = claims[usize::from(*node)][*place];
            at(
                Some(*node),
                of(name, vcpus as u16, Some(shares as u32), reserved, None),
            )
        });
        let spec = esxi(
            &format!("node:{nodes} chip:1 core:{each}"),
            partitions.collect(),
        );
        let spec = with(
            with(spec, "quantum_ns", 20 * MS),
            "rebalance_ns",
            60 * SECOND,
        );
        let outcome = run(&spec, 0);
        for (node, place, name) in &vms {
            let here = &claims[usize::from(*node)];
            let (got, wanted) = (cores(&outcome, name), due(each as f64, here)[*place]);
            let told = format!("host {host}, node {node}, {name}: {got}, not {wanted} {here:?}");
            assert!(
                (got - wanted).abs() <= 0.03 * wanted + 0.015 * here[*place].2,
                "{told}"
            );
        }
    }
}

/// Wide virtual machines have a part on each node; where one keeps only one of its parts busy it is
/// not for good that the busy parts of two are on the same node.
#[test]
fn busy_parts_of_wide_ones_part_where_a_node_idles() {
    for shares in [[1, 1], [1, 4], [8, 9]] {
        let half = |name: &str, shares: u32| {
            let mut one = of(name, 8, Some(1000 * shares), 0.0, None);
            one.workload = loops(4);
            one
        };
        let mut spec = esxi(
            "node:2 chip:1 core:4",
            vec![half("a", shares[0]), half("b", shares[1])],
        );
        spec.warmup_ns = 3 * SECOND;
        let outcome = run(&spec, 0);
        for name in ["a", "b"] {
            assert_cores(&outcome, name, 4.0, 0.01);
        }
    }
}

/// What one has used while nobody waited is not held against it for longer than others are owed.
#[test]
fn who_had_a_processor_that_nobody_wanted_is_served_again_soon() {
    let sleeper = |name: &str, run_ns: f64, sleep_ns: u64| {
        let mut one = of(name, 1, None, 0.0, None);
        on_off(1, run_ns, sleep_ns, &mut one);
        one
    };
    // It runs alone for 8 s; then another one comes, whose clock has stood still, and both want it.
    let mut late = of("late", 1, None, 0.0, None);
    late.workload = Workload::Idle;
    let vms = vec![
        sleeper("early", 8e9, SECOND),
        sleeper("late", 3e10, 9 * SECOND),
    ];
    let mut spec = esxi("core:1", vms);
    spec.duration_ns = 30 * SECOND;
    spec.interval_ns = SECOND;
    let outcome = run(&spec, 0);
    let early = busy_s(&outcome, "early");
    let longest = early.windows(4).any(|some| some.iter().sum::<f64>() == 0.0);
    assert!(!longest, "{early:?}");
}

/// A stable load comes to rest: after the looks of the first ten seconds nobody changes its home,
/// whatever the sizes.
#[test]
fn a_stable_load_comes_to_rest() {
    let mut chance = Stream::new(9, 0, "rest");
    for host in 0..15 {
        let nodes = [2, 4][chance.below(2) as usize];
        let each = [4, 8][chance.below(2) as usize];
        let count = 2 + chance.below(4 * nodes);
        let full = chance.chance(0.5);
        let vms = (0..count).map(|number| {
            let vcpus = 1 + chance.below(each) as u16;
            let node = if full { 0 } else { chance.below(nodes) as u16 };
            at(
                Some(node),
                of(&format!("v{number}"), vcpus, None, 0.0, None),
            )
        });
        let spec = esxi(&format!("node:{nodes} chip:1 core:{each}"), vms.collect());
        // Who is owed changes its node for as long as nodes cannot be made even.
        let mut spec = with(spec, "fairness_periods", 0);
        spec.duration_ns = 30 * SECOND;
        spec.interval_ns = 10 * SECOND;
        let outcome = run(&spec, 0);
        let changes = outcome.home.at("home_changes");
        let mut by_interval = [0; 3];
        let start = outcome.home.at("time_ns");
        for row in outcome.home.rows() {
            by_interval[((row[start] - 1) / (10 * SECOND) as i64).min(2) as usize] += row[changes];
        }
        assert_eq!(by_interval[1..], [0, 0], "host {host}: {by_interval:?}");
    }
}
