//! Which moves are tried.

use super::assignment::{Assignment, Step};
use super::known::Known;
use super::reach::Reach;
use crate::kernel::Stream;

/// One of so many swaps is one of kin, where kin are asked for.
const KIN: u64 = 2;
/// So many draws of eight are of the heaviest, where there are such.
const HEAVY: u64 = 6;
/// Draws for one who is away, where such are asked for.
const AWAY: usize = 4;

/// Which draws are likelier.
#[derive(Clone, Copy, Debug, Default)]
pub struct Leaning {
    /// Swaps of kin: where it is hot, kin have little to gain.
    pub kin: bool,
    /// Moves of so many of the heaviest: where it is hot, places of others do not matter yet, while
    /// those of the heaviest are settled once it is cold.
    pub heaviest: usize,
    /// Half of all draws of those who are not where they were: where it is too cold to leave, they
    /// move on at little cost, and make room for each other's return.
    pub away: bool,
}

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

/// Draws a move that the machines of its services allow; none where the draw has none.
#[inline]
pub fn draw(
    now: &Assignment<'_>,
    known: &Known,
    leaning: Leaning,
    dice: &mut Stream,
) -> Option<Move> {
    let reach = &known.reach;
    let one = match known.burden.heaviest(leaning.heaviest) {
        _ if leaning.away && dice.below(2) == 0 => away(now, dice),
        [] => any(now, dice),
        _ if dice.below(8) >= HEAVY => any(now, dice),
        heavy => heavy[dice.below(heavy.len() as u64) as usize],
    };
    match dice.below(16) {
        0..=6 => shift(now, reach, dice, one),
        7..=13 => {
            let other = if leaning.kin && dice.below(KIN) == 0 {
                known.kin.draw(dice, one)
            } else {
                partner(now, reach, dice, one)?
            };
            swap(now, one, other)
        }
        14 => home(now, one),
        _ => chain(now, reach, dice, one),
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
fn shift(now: &Assignment<'_>, reach: &Reach, dice: &mut Stream, one: u32) -> Option<Move> {
    let to = reach.draw(dice, one);
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
fn chain(now: &Assignment<'_>, reach: &Reach, dice: &mut Stream, one: u32) -> Option<Move> {
    let other = partner(now, reach, dice, one)?;
    if related(now, one, other) {
        return None;
    }
    let there = step(now, one, now.at()[other as usize])?;
    let to = reach.draw(dice, other);
    let on = step(now, other, to)?;
    (to != there.from).then(|| Move::of(&[there, on]))
}

fn any(now: &Assignment<'_>, dice: &mut Stream) -> u32 {
    dice.below(now.at().len() as u64) as u32
}

/// Somebody who is not where he was, if one is found soon.
fn away(now: &Assignment<'_>, dice: &mut Stream) -> u32 {
    let is_away = |&one: &u32| now.at()[one as usize] != now.problem().start[one as usize];
    let first = any(now, dice);
    std::iter::once(first)
        .chain((1..AWAY).map(|_| any(now, dice)))
        .find(is_away)
        .unwrap_or(first)
}

/// Somebody on a machine that this one can be on.
fn partner(now: &Assignment<'_>, reach: &Reach, dice: &mut Stream, one: u32) -> Option<u32> {
    let there = match reach.of(one) {
        [] => return Some(any(now, dice)),
        machines => machines[dice.below(machines.len() as u64) as usize],
    };
    let all = now.members(there as usize);
    (!all.is_empty()).then(|| all[dice.below(all.len() as u64) as usize])
}

/// Whether two are of one service: they must not be in one move.
fn related(now: &Assignment<'_>, one: u32, other: u32) -> bool {
    let service = &now.problem().service;
    service[one as usize] == service[other as usize]
}
