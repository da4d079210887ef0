//! Intervals of which rounding made a part less than nothing.
//!
//! Some columns of a partition are parts of a whole that is known exactly: what processors are
//! charged adds up to the time online, books add up to the core time. Each part is rounded from
//! what it was since the start, and one of them gets the rest, so that the difference of two
//! readings may be -1 where nothing happened.
//!
//! Such a part becomes 0. What it lacked is taken from an earlier interval in which it was counted
//! too high, as long as that is at hand; if none is, the next interval owes it. Another part, the
//! largest, gives in the one interval what it gets in the other: rows keep their sums, and so do
//! columns. Only where a part is below 0 over all of the recorded time do its intervals add up to
//! more, to 0.

use std::collections::VecDeque;
use std::ops::Range;

use super::columns;
use super::rows::Reading;
use crate::cost::{BOOK_NAMES, LINE_NAMES};

/// Intervals that are kept at hand.
const HELD: usize = 32;

/// A part of a whole.
#[derive(Clone, Debug)]
struct Part {
    /// Its column in the table of partitions.
    column: usize,
    /// A column that shows the same time once more.
    same: Option<usize>,
    /// The column of the table of logical processors that adds up to it.
    of_cpus: Option<usize>,
}

/// Time that one part of a row gets from another.
#[derive(Clone, Copy, Debug)]
struct Move {
    partition: usize,
    whole: usize,
    part: usize,
    giver: usize,
    /// Rows of the logical processors whose shares move with them.
    cpus: (usize, usize),
    amount: i64,
}

impl Move {
    fn back(self) -> Self {
        Self {
            amount: -self.amount,
            ..self
        }
    }
}

/// Holds intervals back until they are sound.
#[derive(Clone, Debug)]
pub(super) struct Amender {
    wholes: Vec<Vec<Part>>,
    held: VecDeque<Reading>,
    owed: Vec<Move>,
    /// Rows of the logical processors of each partition.
    cpus: Vec<Range<usize>>,
}

impl Amender {
    /// Nothing is held; `cpus` has how many logical processors each partition has.
    pub(super) fn new(cpus: impl Iterator<Item = usize>) -> Self {
        let ranges = cpus.scan(0, |end, count| {
            *end += count;
            Some(*end - count..*end)
        });
        Self {
            wholes: wholes(),
            held: VecDeque::new(),
            owed: Vec::new(),
            cpus: ranges.collect(),
        }
    }

    /// Takes the differences of an interval; gives back the one that is ready, if any is.
    pub(super) fn push(&mut self, interval: Reading) -> Option<Reading> {
        self.held.push_back(interval);
        for owed in std::mem::take(&mut self.owed) {
            self.apply(self.held.len() - 1, owed.back());
        }
        for partition in 0..self.cpus.len() {
            for whole in 0..self.wholes.len() {
                for part in 0..self.wholes[whole].len() {
                    self.amend(partition, whole, part);
                }
            }
        }
        (self.held.len() > HELD).then(|| self.pop()).flatten()
    }

    /// The first of those that are held.
    pub(super) fn pop(&mut self) -> Option<Reading> {
        self.held.pop_front()
    }

    /// Makes a part of the newest interval sound.
    fn amend(&mut self, partition: usize, whole: usize, part: usize) {
        let newest = self.held.len() - 1;
        let column = self.wholes[whole][part].column;
        for earlier in (0..newest).rev() {
            if self.held[newest].partitions[partition][column] >= 0 {
                return;
            }
            let spare = self.held[earlier].partitions[partition][column];
            if let Some(found) = self.gift(partition, whole, part, spare) {
                self.apply(newest, found);
                self.apply(earlier, found.back());
            }
        }
        while let Some(found) = self.gift(partition, whole, part, i64::MAX) {
            self.apply(newest, found);
            self.owed.push(found);
        }
    }

    /// What the largest part of the newest interval can give to one that is below 0, and at most.
    fn gift(&self, partition: usize, whole: usize, part: usize, most: i64) -> Option<Move> {
        let reading = self.held.back()?;
        let row = &reading.partitions[partition];
        let parts = &self.wholes[whole];
        let lack = -row[parts[part].column];
        let giver = (0..parts.len())
            .rev()
            .max_by_key(|at| row[parts[*at].column])?;
        let cpus = || self.cpus[partition].clone();
        let least = |column: usize| cpus().min_by_key(|at| reading.cpus[*at][column]);
        let largest = |column: usize| cpus().rev().max_by_key(|at| reading.cpus[*at][column]);
        let to = parts[part].of_cpus.and_then(least).unwrap_or(0);
        let from = parts[giver].of_cpus.and_then(largest).unwrap_or(0);
        let held = row[parts[giver].column];
        let held = parts[giver]
            .of_cpus
            .map_or(held, |column| held.min(reading.cpus[from][column]));
        let amount = lack.min(most).min(held);
        (amount > 0).then_some(Move {
            partition,
            whole,
            part,
            giver,
            cpus: (to, from),
            amount,
        })
    }

    /// Moves time in an interval.
    fn apply(&mut self, interval: usize, what: Move) {
        let (parts, reading) = (&self.wholes[what.whole], &mut self.held[interval]);
        let row = &mut reading.partitions[what.partition];
        let both = [
            (&parts[what.part], what.cpus.0, what.amount),
            (&parts[what.giver], what.cpus.1, -what.amount),
        ];
        for (part, cpu, amount) in both {
            row[part.column] += amount;
            if let Some(same) = part.same {
                row[same] += amount;
            }
            if let Some(column) = part.of_cpus {
                reading.cpus[cpu][column] += amount;
            }
        }
    }
}

/// The wholes of the table of partitions.
fn wholes() -> Vec<Vec<Part>> {
    let names = columns::partition();
    let at = |name: &str| names.iter().position(|known| known == name);
    let part = |name: &str, same: &str, of_cpus: &str| Part {
        column: at(name).expect("a column of ours"),
        same: at(same),
        of_cpus: columns::CPU.iter().position(|known| *known == of_cpus),
    };
    let alone = |name: &str| part(name, "", "");
    let book = |name: &&str| match *name {
        "hypervisor" => part("book_hypervisor", "hypervisor_ns", ""),
        name => alone(&format!("book_{name}")),
    };
    vec![
        vec![
            part("user_ns", "suser_ns", "user_ns"),
            part("sys_ns", "ssys_ns", "sys_ns"),
            part("idle_ns", "sidle_ns", ""),
        ],
        ["ticks_user", "ticks_sys"].map(alone).to_vec(),
        ["guest_ns", "chargeable_ns", "system_ns"]
            .map(alone)
            .to_vec(),
        LINE_NAMES
            .iter()
            .map(|name| alone(&format!("lines_{name}")))
            .collect(),
        BOOK_NAMES.iter().map(book).collect(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: usize = 6;
    const IDLE: usize = 9;

    /// Charged time of one partition with one logical processor, interval by interval.
    fn amended(told: &[[i64; 3]]) -> Vec<[i64; 3]> {
        let mut amender = Amender::new(std::iter::once(1));
        let interval = |[user, sys, idle]: [i64; 3]| {
            let mut row = vec![0; columns::partition().len()];
            row[USER..USER + 4].copy_from_slice(&[user, sys, 0, idle]);
            row[USER + 4..USER + 8].copy_from_slice(&[user, sys, 0, idle]);
            let mut cpu = vec![0; columns::CPU.len()];
            cpu[4..6].copy_from_slice(&[user, sys]);
            Reading {
                partitions: vec![row],
                cpus: vec![cpu],
                ..Reading::default()
            }
        };
        let mut out: Vec<Reading> = told
            .iter()
            .filter_map(|row| amender.push(interval(*row)))
            .collect();
        out.extend(std::iter::from_fn(|| amender.pop()));
        let charged = |reading: &Reading| {
            let (row, cpu) = (&reading.partitions[0], &reading.cpus[0]);
            assert_eq!(row[USER..USER + 4], row[USER + 4..USER + 8]);
            assert_eq!(row[USER..USER + 2], cpu[4..6]);
            [row[USER], row[USER + 1], row[IDLE]]
        };
        out.iter().map(charged).collect()
    }

    #[test]
    fn a_part_below_nothing_takes_from_the_interval_before() {
        let told = [[10, 5, 3], [9, 6, 0], [13, 4, -2], [8, 2, 0]];
        let made = [[12, 5, 1], [9, 6, 0], [11, 4, 0], [8, 2, 0]];
        assert_eq!(amended(&told), made);
    }

    #[test]
    fn what_no_earlier_interval_has_the_next_one_owes() {
        let told = [[8, 2, -1], [9, 2, 1], [4, 4, 4]];
        assert_eq!(amended(&told), [[7, 2, 0], [10, 2, 0], [4, 4, 4]]);
        assert_eq!(amended(&[[8, 2, -1], [8, 2, 0]]), [[7, 2, 0], [8, 2, 0]]);
    }

    #[test]
    fn sound_intervals_stay_as_they_are_in_their_order() {
        let told: Vec<[i64; 3]> = (0..100).map(|n| [n, 2 * n, n % 3]).collect();
        assert_eq!(amended(&told), told);
    }

    #[test]
    fn rows_and_columns_keep_their_sums_over_many_intervals() {
        // Noise of rounding around a part that does not grow, beside two that do.
        let noise = |n: i64| (n * 7919 % 5) - 2;
        let told: Vec<[i64; 3]> = (1..500)
            .map(|n| [1000 + noise(n - 1) - noise(n), 3, noise(n) - noise(n - 1)])
            .collect();
        let made = amended(&told);
        let sum = |rows: &[[i64; 3]], at: usize| rows.iter().map(|row| row[at]).sum::<i64>();
        assert!(made.iter().flatten().all(|part| *part >= 0));
        for (told, made) in told.iter().zip(&made) {
            assert_eq!(told.iter().sum::<i64>(), made.iter().sum::<i64>());
        }
        assert_eq!(sum(&told, 2).max(0), sum(&made, 2));
    }
}
