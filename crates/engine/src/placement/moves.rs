//! Which moves are tried.

use super::assignment::{Assignment, Step};
use super::kin::Kin;
use crate::kernel::Stream;

/// One of so many swaps is one of kin, where kin are known.
const KIN: u64 = 2;

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

    /// What is made at once, one of each partition.
    #[inline]
    pub fn steps(&self) -> &[Step] {
        &self.steps[..self.count]
    }
}

/// Draws a move that the machines of its services allow; none where the draw has
/// none. Without kin partners are drawn from all: where it is hot, kin have little to gain.
#[inline]
pub fn draw(now: &Assignment<'_>, kin: Option<&Kin>, dice: &mut Stream) -> Option<Move> {
    let one = dice.below(now.at().len() as u64) as u32;
    match dice.below(16) {
        0..=6 => shift(now, dice, one),
        7..=13 => {
            let other = match kin {
                Some(kin) if dice.below(KIN) == 0 => kin.draw(dice, one),
                _ => any(now, dice),
            };
            swap(now, one, other)
        }
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
fn swap(now: &Assignment<'_>, one: u32, other: u32) -> Option<Move> {
    if related(now, one, other) {
        return None;
    }
    let there = step(now, one, now.at()[other as usize])?;
    let back = step(now, other, now.at()[one as usize])?;
    Some(Move::of(&[there, back]))
}

/// One goes where another makes room for it by going elsewhere.
fn chain(now: &Assignment<'_>, dice: &mut Stream, one: u32) -> Option<Move> {
    let other = any(now, dice);
    if related(now, one, other) {
        return None;
    }
    let there = step(now, one, now.at()[other as usize])?;
    let to = dice.below(now.problem().machines() as u64) as u32;
    let on = step(now, other, to)?;
    (to != there.from).then(|| Move::of(&[there, on]))
}

fn any(now: &Assignment<'_>, dice: &mut Stream) -> u32 {
    dice.below(now.at().len() as u64) as u32
}

/// Whether two are of one service: they must not be in one move.
fn related(now: &Assignment<'_>, one: u32, other: u32) -> bool {
    let service = &now.problem().service;
    service[one as usize] == service[other as usize]
}
