//! Policy `esxi`: random trees of resource pools, held against water-filling level by level.

use crate::common::esxi::{cores, due, esxi, inside, of, pool, with};
use crate::common::{run, MS};
use homenode_engine::kernel::Stream;
use homenode_engine::spec::{Partition, Processors, ResourcePool, Spec};

/// Shares, reservation and the most that one can use.
type Claim = (f64, f64, f64);

fn own_claim(one: &Partition) -> (Option<u16>, Claim) {
    let Processors::Shared {
        r#virtual, host, ..
    } = &one.processors
    else {
        panic!("no virtual machine")
    };
    let machine = host.machine.as_ref().expect("a virtual machine");
    let count = f64::from(*r#virtual);
    let most = host.cap.unwrap_or(count).min(count);
    let shares = f64::from(machine.shares.expect("shares"));
    (machine.pool, (shares, machine.reservation, most))
}

fn claim_of(spec: &Spec, at: u16) -> Claim {
    let pool = &spec.resource_pools[usize::from(at)];
    let inside = members(spec, Some(at));
    let reserved: f64 = inside.iter().map(|one| one.1 .1.min(one.1 .2)).sum();
    let most: f64 = inside.iter().map(|one| one.1 .2).sum();
    let most = most.min(pool.limit.unwrap_or(f64::MAX));
    (f64::from(pool.shares), pool.reservation.max(reserved), most)
}

/// All right in a pool: pools by number, machines by number beyond those.
fn members(spec: &Spec, of: Option<u16>) -> Vec<(usize, Claim)> {
    let pools = spec.resource_pools.len();
    let own = (0..pools as u16).filter(|at| spec.resource_pools[usize::from(*at)].parent == of);
    let mut all: Vec<_> = own
        .map(|at| (usize::from(at), claim_of(spec, at)))
        .collect();
    for (at, one) in spec.partitions.iter().enumerate() {
        let (pool, claim) = own_claim(one);
        if pool == of {
            all.push((pools + at, claim));
        }
    }
    all
}

/// What each machine is due, level by level.
fn fill(spec: &Spec, of: Option<u16>, cores: f64, to: &mut [f64]) {
    let inside = members(spec, of);
    let claims: Vec<Claim> = inside
        .iter()
        .map(|one| (one.1 .0, one.1 .1.min(one.1 .2), one.1 .2))
        .collect();
    if claims.is_empty() {
        return;
    }
    for ((at, _), part) in inside.iter().zip(due(cores, &claims)) {
        match at.checked_sub(spec.resource_pools.len()) {
            Some(machine) => to[machine] = part,
            None => fill(spec, Some(*at as u16), part, to),
        }
    }
}

fn random_host(chance: &mut Stream) -> (Spec, f64) {
    let each = 2 + chance.below(15);
    let room = each as f64;
    let mut pools: Vec<ResourcePool> = Vec::new();
    for at in 0..1 + chance.below(4) {
        let parent = (at > 0 && chance.chance(0.5)).then(|| chance.below(at) as u16);
        let shares = 500 * (1 + chance.below(8)) as u32;
        let limit = chance
            .chance(0.5)
            .then(|| room * (0.15 + 0.6 * chance.uniform()));
        let mut one = pool(&format!("p{at}"), parent, shares, limit);
        one.expandable = chance.chance(0.5);
        pools.push(one);
    }
    let mut vms = Vec::new();
    // What may still be reserved in each pool, and in all.
    let mut left: Vec<f64> = pools
        .iter()
        .map(|one| 0.8 * one.limit.unwrap_or(room))
        .collect();
    let mut all = 0.7 * room;
    for number in 0..2 + chance.below(8) {
        let vcpus = 1 + chance.below(each.min(6));
        let pool = chance
            .chance(0.75)
            .then(|| chance.below(pools.len() as u64) as u16);
        let above = |at: &u16| pools[usize::from(*at)].parent;
        let chain: Vec<usize> = std::iter::successors(pool, above)
            .map(usize::from)
            .collect();
        let most = chain.iter().map(|at| left[*at]).fold(all, f64::min);
        let wish = if chance.chance(0.4) {
            0.7 * vcpus as f64
        } else {
            0.0
        };
        let reserved = wish.min(0.6 * most);
        all -= reserved;
        chain.iter().for_each(|at| left[*at] -= reserved);
        let limit = chance
            .chance(0.15)
            .then_some((0.5 * vcpus as f64).max(reserved));
        let shares = [250, 1000, 4000][chance.below(3) as usize] * vcpus as u32;
        let name = format!("v{number}");
        vms.push(inside(
            pool,
            of(&name, vcpus as u16, Some(shares), reserved, limit),
        ));
    }
    let mut spec = with(
        with(esxi(&format!("core:{each}"), vms), "quantum_ns", 20 * MS),
        "costop_ns",
        0,
    );
    spec.resource_pools = pools;
    for at in (0..spec.resource_pools.len()).rev() {
        let (_, reserved, most) = claim_of(&spec, at as u16);
        let more = if chance.chance(0.3) {
            chance.uniform() * (most - reserved).max(0.0).min(all)
        } else {
            0.0
        };
        if more > 0.0 || !spec.resource_pools[at].expandable {
            spec.resource_pools[at].reservation = reserved + more + 1e-9;
            all -= more;
        }
    }
    (spec, room)
}

/// Of all virtual machines of random hosts hardly any is off, and none that has a reservation is
/// much below it. Co-stop is off: siblings on fewer processors than they are lose time by it.
#[test]
fn random_trees_share_as_water_filling_by_level_says() {
    let mut chance = Stream::new(31, 0, "trees");
    let (mut all, mut off) = (0, Vec::new());
    for host in 0..100 {
        let (spec, room) = random_host(&mut chance);
        let outcome = run(&spec, 0);
        let mut wanted = vec![0.0; spec.partitions.len()];
        fill(&spec, None, room, &mut wanted);
        for (one, wanted) in spec.partitions.iter().zip(wanted) {
            let got = cores(&outcome, &one.name);
            let (_, (_, reserved, most)) = own_claim(one);
            let told = format!("host {host}, {}: {got:.2}, not {wanted:.2}", one.name);
            assert!(
                got >= 0.93 * reserved.min(most),
                "{told}, {reserved} reserved"
            );
            all += 1;
            if (got - wanted).abs() > 0.05 * wanted + 0.02 {
                off.push(told);
            }
        }
    }
    assert!(off.len() * 100 <= all, "{} of {all}: {off:#?}", off.len());
}

/// Who has two virtual processors in a pool that uses up its limit on eight within most of each
/// period: what it could not use of its part in one it makes up for in the next.
#[test]
fn a_reservation_is_met_in_a_pool_with_a_limit() {
    let mut vms = vec![inside(Some(0), of("sure", 2, None, 1.4, None))];
    vms.extend((0..6).map(|at| inside(Some(0), of(&format!("v{at}"), 5, None, 0.0, None))));
    let mut spec = with(esxi("core:8", vms), "costop_ns", 0);
    spec.resource_pools = vec![pool("all", None, 1000, Some(5.6))];
    let got = cores(&run(&spec, 0), "sure");
    assert!(got >= 1.37, "{got}");
}

/// One with few shares beside one that uses its limit on all processors at once: there is enough
/// for both on the whole.
#[test]
fn a_burst_beside_a_pool_takes_nothing_from_what_all_could_have() {
    let vms = vec![
        inside(Some(0), of("bursts", 3, None, 0.0, Some(1.5))),
        of("few", 1, Some(250), 0.7, None),
    ];
    let mut spec = esxi("core:3", vms);
    spec.resource_pools = vec![pool("any", None, 3000, None)];
    let got = cores(&run(&spec, 0), "few");
    assert!(got >= 0.97, "{got}");
}
