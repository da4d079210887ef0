//! Compound moves: a partition goes where there is no room for it, or where its service may not be
//! alone, and others make room or come along.

use super::assignment::{Assignment, Step};
use super::reach::Reach;
use crate::kernel::Stream;

/// Steps of a compound move at most.
const STEPS: usize = 8;
/// Machines that are asked to take one who makes room.
const ASKED: usize = 3;

/// Draws a move and makes it with all that it takes; whether every rule holds then. If not, nothing
/// has moved.
pub fn draw(
    now: &mut Assignment<'_>,
    reach: &Reach,
    dice: &mut Stream,
    steps: &mut Vec<Step>,
) -> bool {
    let partition = dice.below(now.at().len() as u64) as u32;
    let to = reach.draw(dice, partition);
    steps.clear();
    let from = now.at()[partition as usize];
    if from == to || now.occupied(partition as usize, to as usize) {
        return false;
    }
    go(now, steps, partition, to);
    while let Some(fault) = broken(now, steps) {
        let mended = steps.len() < STEPS
            && match fault {
                Fault::Full(machine) => make_room(now, reach, dice, steps, machine, from),
                Fault::Lacks(service, to) => bring(now, dice, steps, service, to),
                Fault::Left(service, from, to) => take_along(now, steps, service, from, to),
            };
        if !mended {
            undo(now, steps);
            return false;
        }
    }
    if !steps.iter().all(|step| now.sound(step)) {
        undo(now, steps);
        return false;
    }
    true
}

/// Takes steps back, the last first.
pub fn undo(now: &mut Assignment<'_>, steps: &mut Vec<Step>) {
    while let Some(Step {
        partition,
        from,
        to,
    }) = steps.pop()
    {
        now.force(&Step {
            partition,
            from: to,
            to: from,
        });
    }
}

/// What is to be mended.
enum Fault {
    /// A machine that is too full.
    Full(u32),
    /// A service that must come to this machine's neighbourhood.
    Lacks(usize, u32),
    /// A service that must leave a neighbourhood for that of a machine.
    Left(usize, u32, u32),
}

fn go(now: &mut Assignment<'_>, steps: &mut Vec<Step>, partition: u32, to: u32) {
    let from = now.at()[partition as usize];
    let step = Step {
        partition,
        from,
        to,
    };
    now.force(&step);
    steps.push(step);
}

fn broken(now: &Assignment<'_>, steps: &[Step]) -> Option<Fault> {
    let problem = now.problem();
    let near = |machine: u32| problem.neighbourhood[machine as usize];
    for step in steps.iter().rev() {
        if now.overfull(step.to as usize) {
            return Some(Fault::Full(step.to));
        }
        let service = problem.service[step.partition as usize] as usize;
        let (old, new) = (near(step.from), near(step.to));
        if old != new {
            if let Some(other) = now.services().lacked(service, new) {
                return Some(Fault::Lacks(other, step.to));
            }
            if let Some(other) = now.services().left_behind(service, old) {
                return Some(Fault::Left(other, old, step.to));
            }
        }
    }
    None
}

/// Somebody goes from a machine that is too full; not one who has just come.
fn make_room(
    now: &mut Assignment<'_>,
    reach: &Reach,
    dice: &mut Stream,
    steps: &mut Vec<Step>,
    machine: u32,
    from: u32,
) -> bool {
    for _ in 0..ASKED {
        let members = now.members(machine as usize);
        let one = members[dice.below(members.len() as u64) as usize];
        if steps.iter().any(|step| step.partition == one) {
            continue;
        }
        let any = reach.draw(dice, one);
        for to in [from, any] {
            if to != machine && now.takes(one as usize, to as usize) {
                go(now, steps, one, to);
                return true;
            }
        }
    }
    false
}

/// A partition of a service comes to a machine that has none.
fn bring(
    now: &mut Assignment<'_>,
    dice: &mut Stream,
    steps: &mut Vec<Step>,
    service: usize,
    to: u32,
) -> bool {
    let all = now.services().partitions(service);
    if all.is_empty() {
        return false;
    }
    let one = all[dice.below(all.len() as u64) as usize];
    if now.occupied(one as usize, to as usize) || steps.iter().any(|step| step.partition == one) {
        return false;
    }
    go(now, steps, one, to);
    true
}

/// A partition of a service leaves a neighbourhood for a machine.
fn take_along(
    now: &mut Assignment<'_>,
    steps: &mut Vec<Step>,
    service: usize,
    from: u32,
    to: u32,
) -> bool {
    let problem = now.problem();
    let near = |one: &&u32| problem.neighbourhood[now.at()[**one as usize] as usize] == from;
    let one = now.services().partitions(service).iter().find(near);
    let Some(&one) = one else { return false };
    if now.occupied(one as usize, to as usize) || steps.iter().any(|step| step.partition == one) {
        return false;
    }
    go(now, steps, one, to);
    true
}
