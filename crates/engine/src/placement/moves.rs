//! Which moves are tried.

use super::assignment::{Assignment, Step};
use crate::kernel::Stream;

/// Some steps made at once.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    steps: [Step; 3],
    count: usize,
}

impl Move {
    fn of(steps: &[Step]) -> Move {
        let mut all = [steps[0]; 3];
        all[..steps.len()].copy_from_slice(steps);
        Move {
            steps: all,
            count: steps.len(),
        }
    }

    /// Its steps.
    #[inline]
    pub fn steps(&self) -> &[Step] {
        &self.steps[..self.count]
    }
}

/// Draws a move that the machines of its services allow; none where the draw has none.
#[inline]
pub fn draw(now: &Assignment<'_>, dice: &mut Stream) -> Option<Move> {
    let problem = now.problem();
    let one = dice.below(problem.partitions() as u64) as u32;
    match dice.below(16) {
        0..=6 => shift(now, dice, one),
        7..=13 => swap(now, dice, one),
        14 => home(now, one),
        _ => chain(now, dice, one),
    }
}

fn step(now: &Assignment<'_>, partition: u32, to: u32) -> Option<Step> {
    let from = now.at()[partition as usize];
    (from != to && !now.occupied(partition as usize, to as usize)).then_some(Step {
        partition,
        from,
        to,
    })
}

/// To another machine.
fn shift(now: &Assignment<'_>, dice: &mut Stream, one: u32) -> Option<Move> {
    let to = dice.below(now.problem().machines() as u64) as u32;
    step(now, one, to).map(|step| Move::of(&[step]))
}

/// Back to where it was.
fn home(now: &Assignment<'_>, one: u32) -> Option<Move> {
    let to = now.problem().start[one as usize];
    step(now, one, to).map(|step| Move::of(&[step]))
}

/// Two change places.
fn swap(now: &Assignment<'_>, dice: &mut Stream, one: u32) -> Option<Move> {
    let other = other(now, dice, one)?;
    let at = now.at();
    let there = step(now, one, at[other as usize])?;
    let back = step(now, other, at[one as usize])?;
    Some(Move::of(&[there, back]))
}

/// One goes where another makes room for it by going elsewhere.
fn chain(now: &Assignment<'_>, dice: &mut Stream, one: u32) -> Option<Move> {
    let other = other(now, dice, one)?;
    let at = now.at();
    let there = step(now, one, at[other as usize])?;
    let to = dice.below(now.problem().machines() as u64) as u32;
    let on = step(now, other, to)?;
    (to != at[one as usize]).then(|| Move::of(&[there, on]))
}

/// A partition of another service on another machine.
fn other(now: &Assignment<'_>, dice: &mut Stream, one: u32) -> Option<u32> {
    let problem = now.problem();
    let other = dice.below(problem.partitions() as u64) as u32;
    let service = |of: u32| problem.service[of as usize];
    (service(one) != service(other)).then_some(other)
}
