//! Intervals of which rounding made a part less than nothing.
//!
//! Some columns of a partition are parts of a whole that is known exactly: what processors are
//! charged adds up to the time online, books add up to the core time. Each part is rounded from
//! what it was since the start, and one of them gets the rest, so that the difference of two
//! readings may be -1 where nothing happened. Ticks are parted by the kernel's share of all time
//! since the start; where that falls, it takes back more.
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

/// Numbers that are kept at hand, 8 MiB of them: all intervals of most runs.
const HELD_NUMBERS: usize = 1 << 20;
/// Intervals that are kept at hand however long their rows are.
const LEAST_HELD: usize = 32;

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

/// A number of an interval: row and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Partition(usize, usize),
    Cpu(usize, usize),
}

/// Time that is counted in some cells instead of others.
#[derive(Clone, Debug)]
struct Move {
    to: Vec<Cell>,
    from: Vec<Cell>,
    amount: i64,
}

/// Holds intervals back until they are sound.
#[derive(Clone, Debug)]
pub(super) struct Amender {
    wholes: Vec<Vec<Part>>,
    /// User and kernel time in the table of logical processors.
    cpu_columns: [usize; 2],
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
            cpu_columns: ["user_ns", "sys_ns"].map(|name| cpu_column(name).expect("of ours")),
            held: VecDeque::new(),
            owed: Vec::new(),
            cpus: ranges.collect(),
        }
    }

    /// Takes the differences of an interval; gives back the one that is ready, if any is.
    pub(super) fn push(&mut self, interval: Reading) -> Option<Reading> {
        self.held.push_back(interval);
        let newest = self.held.len() - 1;
        for owed in std::mem::take(&mut self.owed) {
            apply(&mut self.held[newest], &owed, -1);
        }
        for partition in 0..self.cpus.len() {
            self.amend_cpus(partition);
            for whole in 0..self.wholes.len() {
                for part in 0..self.wholes[whole].len() {
                    let cell = Cell::Partition(partition, self.wholes[whole][part].column);
                    self.amend(cell, |from| from.gift(partition, whole, part));
                }
            }
        }
        (self.held.len() > self.most())
            .then(|| self.pop())
            .flatten()
    }

    /// How many intervals are kept at hand.
    fn most(&self) -> usize {
        let newest = self.held.back();
        let numbers = newest.map_or(0, Reading::numbers).max(1);
        (HELD_NUMBERS / numbers).max(LEAST_HELD)
    }

    /// The last of those that are held, as it is so far.
    pub(super) fn newest(&self) -> Option<&Reading> {
        self.held.back()
    }

    /// The first of those that are held.
    pub(super) fn pop(&mut self) -> Option<Reading> {
        self.held.pop_front()
    }

    /// Makes the logical processors of a partition sound, whose user and kernel time add up to the
    /// partition's.
    fn amend_cpus(&mut self, partition: usize) {
        for column in self.cpu_columns {
            for cpu in self.cpus[partition].clone() {
                let cell = Cell::Cpu(cpu, column);
                self.amend(cell, |from| from.gift_of_cpus(partition, cell, column));
            }
        }
    }

    /// Makes a number of the newest interval sound.
    fn amend(&mut self, cell: Cell, gift: impl Fn(&Self) -> Option<Move>) {
        let newest = self.held.len() - 1;
        for earlier in (0..newest).rev() {
            if at(&self.held[newest], cell) >= 0 {
                return;
            }
            if at(&self.held[earlier], cell) <= 0 {
                continue;
            }
            let Some(mut found) = gift(self) else {
                return;
            };
            let spare = found.to.iter().map(|cell| at(&self.held[earlier], *cell));
            found.amount = found.amount.min(spare.min().unwrap_or(0)).max(0);
            apply(&mut self.held[newest], &found, 1);
            apply(&mut self.held[earlier], &found, -1);
        }
        while at(&self.held[newest], cell) < 0 {
            let Some(found) = gift(self) else { return };
            apply(&mut self.held[newest], &found, 1);
            self.owed.push(found);
        }
    }

    /// What the largest part of the newest interval can give to one that is below 0.
    fn gift(&self, partition: usize, whole: usize, part: usize) -> Option<Move> {
        let reading = self.held.back()?;
        let row = &reading.partitions[partition];
        let parts = &self.wholes[whole];
        let all = (0..parts.len()).rev();
        let giver = all.max_by_key(|at| row[parts[*at].column])?;
        let cpus = || self.cpus[partition].clone();
        let value = |cpu: usize, column: usize| reading.cpus[cpu][column];
        let cells = |part: &Part, cpu: Option<usize>| {
            let columns = std::iter::once(part.column).chain(part.same);
            let mut cells: Vec<Cell> = columns.map(|at| Cell::Partition(partition, at)).collect();
            cells.extend(
                part.of_cpus
                    .zip(cpu)
                    .map(|(column, cpu)| Cell::Cpu(cpu, column)),
            );
            cells
        };
        let (part, giver) = (&parts[part], &parts[giver]);
        let least = |column| cpus().min_by_key(|cpu| value(*cpu, column));
        let largest = |column| cpus().rev().max_by_key(|cpu| value(*cpu, column));
        give(
            reading,
            cells(part, part.of_cpus.and_then(least)),
            cells(giver, giver.of_cpus.and_then(largest)),
        )
    }

    /// What the logical processor that has most of a column can give to one that is below 0.
    fn gift_of_cpus(&self, partition: usize, to: Cell, column: usize) -> Option<Move> {
        let reading = self.held.back()?;
        let all = self.cpus[partition].clone().rev();
        let largest = all.max_by_key(|cpu| reading.cpus[*cpu][column])?;
        give(reading, vec![to], vec![Cell::Cpu(largest, column)])
    }
}

/// What cells lack that others have, none if these have nothing.
fn give(reading: &Reading, to: Vec<Cell>, from: Vec<Cell>) -> Option<Move> {
    let lack = -at(reading, to[0]);
    let spare = from.iter().map(|cell| at(reading, *cell)).min()?;
    let amount = lack.min(spare);
    (amount > 0).then_some(Move { to, from, amount })
}

fn at(reading: &Reading, cell: Cell) -> i64 {
    match cell {
        Cell::Partition(row, column) => reading.partitions[row][column],
        Cell::Cpu(row, column) => reading.cpus[row][column],
    }
}

/// Moves time in an interval, or back.
fn apply(reading: &mut Reading, what: &Move, sign: i64) {
    let to = what.to.iter().map(|cell| (cell, what.amount));
    let from = what.from.iter().map(|cell| (cell, -what.amount));
    for (cell, amount) in to.chain(from) {
        let value = match *cell {
            Cell::Partition(row, column) => &mut reading.partitions[row][column],
            Cell::Cpu(row, column) => &mut reading.cpus[row][column],
        };
        *value += sign * amount;
    }
}

fn cpu_column(name: &str) -> Option<usize> {
    columns::CPU.iter().position(|known| *known == name)
}

/// The wholes of the table of partitions.
fn wholes() -> Vec<Vec<Part>> {
    let names = columns::partition();
    let at = |name: &str| names.iter().position(|known| known == name);
    let part = |name: &str, same: &str, of_cpus: &str| Part {
        column: at(name).expect("a column of ours"),
        same: at(same),
        of_cpus: cpu_column(of_cpus),
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

    fn reading<const N: usize>(partitions: [Vec<i64>; 1], cpus: [Vec<i64>; N]) -> Reading {
        let mut reading = Reading::default();
        reading.partitions.extend(partitions);
        reading.cpus.extend(cpus);
        reading
    }

    /// Charged time of one partition with one logical processor, interval by interval.
    fn amended(told: &[[i64; 3]]) -> Vec<[i64; 3]> {
        let mut amender = Amender::new(std::iter::once(1));
        let interval = |[user, sys, idle]: [i64; 3]| {
            let mut row = vec![0; columns::partition().len()];
            row[USER..USER + 4].copy_from_slice(&[user, sys, 0, idle]);
            row[USER + 4..USER + 8].copy_from_slice(&[user, sys, 0, idle]);
            let mut cpu = vec![0; columns::CPU.len()];
            cpu[4..6].copy_from_slice(&[user, sys]);
            reading([row], [cpu])
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
    fn a_processor_below_nothing_takes_from_another_one() {
        let mut amender = Amender::new(std::iter::once(2));
        let interval = |user: [i64; 2]| {
            let mut row = vec![0; columns::partition().len()];
            row[USER] = user[0] + user[1];
            let cpu = |user: i64| {
                let mut cpu = vec![0; columns::CPU.len()];
                cpu[4] = user;
                cpu
            };
            reading([row], user.map(cpu))
        };
        amender.push(interval([5, 1]));
        amender.push(interval([4, -1]));
        let made: Vec<_> = std::iter::from_fn(|| amender.pop())
            .map(|one| [one.cpus[0][4], one.cpus[1][4], one.partitions[0][USER]])
            .collect();
        assert_eq!(made, [[6, 0, 6], [3, 0, 3]]);
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
