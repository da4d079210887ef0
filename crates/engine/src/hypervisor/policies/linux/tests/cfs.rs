//! What a Linux host did up to 6.5: its older fair class.

use super::*;

/// A runner and two that wait for its processor, which have had so much [ns]. On one processor a
/// woken one preempts from 1 ms on.
fn beside_each_other(vruntimes: [i64; 3]) -> Linux {
    let mut spec = spec(1, vec![], &[3]);
    spec.machine.hypervisor.linux.scheduler = FairClass::Cfs;
    let mut linux = woken(&spec, 3);
    assert_eq!(linux.tree.cpus[CPU].curr, Some(TASK));
    let tree = &mut linux.tree;
    tree.entities[TASK].vruntime = vruntimes[0];
    for (place, vruntime) in [(1, vruntimes[1]), (2, vruntimes[2])] {
        let id = TASK.plus(place);
        tree.remove(id);
        tree.entities[id].vruntime = vruntime;
        tree.insert(id);
    }
    linux
}

#[test]
fn under_cfs_a_buddy_comes_next_within_the_granularity_and_the_yielder_stays_where_it_is() {
    for (ahead, next) in [(900_000, 2), (1_100_000, 1)] {
        let mut linux = beside_each_other([50_000_000, 49_000_000, 49_000_000 + ahead]);
        assert!(linux.yield_to(vp(0), vp(2), 0));
        assert_eq!(linux.take_pending(), Some(CPU));
        assert_eq!(linux.pick(CPU, 0), Some(vp(next)));
        assert_eq!(linux.tree.entity(TASK).vruntime, 50_000_000);
    }
}

#[test]
fn under_cfs_a_sleeper_is_as_far_ahead_on_another_queue_as_it_was_on_its_own() {
    let mut spec = spec(2, vec![], &[3]);
    spec.machine.hypervisor.linux.scheduler = FairClass::Cfs;
    let mut linux = woken(&spec, 3);
    let (task, from) = (TASK.plus(2), linux.tree.tasks[TASK.plus(2)].cpu);
    linux.sleep(vp(2), 0);
    let to = CoreId::new(1 - from.index());
    let tree = &mut linux.tree;
    for (cpu, floor) in [(from, 40 * MS), (to, 7 * SECOND)] {
        let queue = tree.queue_of(tree.tasks[task].group, cpu);
        tree.queues[queue].floor = floor as i64;
    }
    tree.entities[task].vruntime = 43 * MS as i64;
    tree.settle_on(task, to, Some(from));
    let ahead = tree.entity(task).vruntime - 7 * SECOND as i64;
    assert_eq!(ahead, 3 * MS as i64);
}

#[test]
fn under_cfs_who_yields_comes_after_the_next_one_within_the_granularity() {
    // Named is one that has had too much in all cases.
    for (next, chosen) in [(50_900_000, 1), (51_100_000, 0)] {
        let mut linux = beside_each_other([50_000_000, next, 60_000_000]);
        assert!(linux.yield_to(vp(0), vp(2), 0));
        assert_eq!(linux.take_pending(), Some(CPU));
        assert_eq!(linux.pick(CPU, 0), Some(vp(chosen)));
        // The note is there until it runs again.
        let noted = (chosen == 1).then_some(TASK);
        let queue = linux.tree.entity(TASK).queue;
        assert_eq!(linux.tree.queue(queue).skip, noted);
    }
}

#[test]
fn under_cfs_who_preempts_by_waking_comes_next() {
    // Another one that waits has had less, but was not it for whom the runner makes way.
    for (woken, preempts) in [(48_900_000, true), (49_100_000, false)] {
        let mut linux = beside_each_other([50_000_000, 48_500_000, woken]);
        let queue = linux.tree.entity(TASK).queue;
        linux.sleep(vp(2), 0);
        linux.tree.queues[queue].floor = 40_000_000;
        linux.tree.entities[TASK.plus(2)].vruntime = woken;
        linux.wake(vp(2), None, 0);
        assert_eq!(linux.tree.cpus[CPU].resched, preempts);
        let named = preempts.then_some(TASK.plus(2));
        assert_eq!(linux.tree.queue(queue).buddy, named);
        if preempts {
            assert_eq!(linux.take_pending(), Some(CPU));
            assert_eq!(linux.pick(CPU, 0), Some(vp(2)));
        }
    }
}
