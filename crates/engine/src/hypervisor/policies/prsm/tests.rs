//! Who must leave, against a plain scan of all cores.

use serde_json::json;

use super::super::bare;
use super::*;
use crate::hypervisor::{State, Windows};
use crate::kernel::Stream;
use crate::spec;

const PARTITIONS: u64 = 6;
const VPS: u64 = 30;

/// Partitions of thirty logical cores, in two pools.
fn spec() -> Spec {
    let partition = |at: usize| {
        let processors = json!({
            "mode": "shared", "entitlement": 1.0, "virtual": VPS, "capped": false, "weight": 100,
            "pool": at % 2
        });
        bare::partition(at, &processors, &[at, 8 - at])
    };
    let pools = json!([
        { "name": "a", "maximum": null, "reserved": 0.0, "cores": (0..40).collect::<Vec<_>>() },
        { "name": "b", "maximum": null, "reserved": 0.0, "cores": null },
    ]);
    let partitions: Vec<_> = (0..PARTITIONS as usize).map(partition).collect();
    let machine = "node:3 chip:3 core:10";
    bare::spec(machine, spec::Policy::Prsm, &pools, &partitions)
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
