//! Readings of the counters as rows of integers, and intervals as differences of two readings.

use super::columns;
use super::meters::CpuMeter;
use super::system::System;
use super::world::World;
use crate::ids::{PartitionId, Span};
use crate::spec::Processors;

/// Rows that are added together.
const ROWS_AT_HAND: usize = 64;

/// A row of the table of logical processors: a large machine has tens of thousands.
pub type CpuRow = [i64; columns::CPU.len()];

/// Rows of one table, column by column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// What each column is called, in their order.
    pub names: Vec<String>,
    /// Values, one vector a column.
    pub values: Vec<Vec<i64>>,
}

impl Columns {
    /// An empty table.
    pub fn new(names: Vec<String>) -> Self {
        let values = vec![Vec::new(); names.len()];
        Self { names, values }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.values.first().map_or(0, Vec::len)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds rows, column by column: so many at a time that they stay at hand.
    fn push<R: AsRef<[i64]>>(&mut self, rows: &[R]) {
        for rows in rows.chunks(ROWS_AT_HAND) {
            for (at, column) in self.values.iter_mut().enumerate() {
                column.extend(rows.iter().map(|row| row.as_ref()[at]));
            }
        }
    }
}

/// A reading of all counters, or the differences of two.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// One row a partition.
    pub partitions: Vec<Vec<i64>>,
    /// One row a logical processor.
    pub cpus: Vec<CpuRow>,
    /// One row a pool.
    pub pools: Vec<Vec<i64>>,
    /// One row a virtual machine.
    pub virtual_machines: Vec<Vec<i64>>,
    /// One row a virtual switch.
    pub switches: Vec<Vec<i64>>,
    /// One row a paging volume.
    pub volumes: Vec<Vec<i64>>,
}

/// Interval tables.
#[derive(Clone, Debug)]
pub struct Tables {
    /// By partition.
    pub partition: Columns,
    /// By logical processor.
    pub cpu: Columns,
    /// By pool.
    pub pool: Columns,
    /// By virtual machine.
    pub virtual_machine: Columns,
    /// By virtual switch.
    pub switch: Columns,
    /// By paging volume.
    pub volume: Columns,
    /// A row a dispatch; empty unless the spec asks for them.
    pub dispatches: Columns,
}

impl Default for Tables {
    fn default() -> Self {
        let named = |names: &[&str]| Columns::new(names.iter().map(|n| (*n).to_string()).collect());
        Self {
            partition: Columns::new(columns::partition()),
            cpu: named(&columns::CPU),
            pool: named(&columns::POOL),
            virtual_machine: named(&columns::VIRTUAL_MACHINE),
            switch: named(&columns::SWITCH),
            volume: named(&columns::VOLUME),
            dispatches: named(&columns::DISPATCH),
        }
    }
}

impl Tables {
    /// Adds the differences of an interval.
    pub(super) fn push(&mut self, interval: &Reading) {
        self.cpu.push(&interval.cpus);
        let pairs = [
            (&mut self.partition, &interval.partitions),
            (&mut self.pool, &interval.pools),
            (&mut self.virtual_machine, &interval.virtual_machines),
            (&mut self.switch, &interval.switches),
            (&mut self.volume, &interval.volumes),
        ];
        for (table, rows) in pairs {
            table.push(rows);
        }
    }
}

impl Reading {
    /// How many numbers it holds.
    pub(super) fn numbers(&self) -> usize {
        let all = [
            &self.partitions,
            &self.pools,
            &self.virtual_machines,
            &self.switches,
            &self.volumes,
        ];
        let rows = all.iter().flat_map(|rows| rows.iter());
        rows.map(Vec::len).sum::<usize>() + self.cpus.as_flattened().len()
    }

    /// What was counted since another reading; gauges as they are now.
    pub(super) fn since(&self, before: &Self) -> Self {
        let partition = columns::partition();
        let partition: Vec<&str> = partition.iter().map(String::as_str).collect();
        Self {
            partitions: differences(&partition, &before.partitions, &self.partitions),
            cpus: cpu_differences(&before.cpus, &self.cpus),
            pools: differences(&columns::POOL, &before.pools, &self.pools),
            virtual_machines: differences(
                &columns::VIRTUAL_MACHINE,
                &before.virtual_machines,
                &self.virtual_machines,
            ),
            switches: differences(&columns::SWITCH, &before.switches, &self.switches),
            volumes: differences(&columns::VOLUME, &before.volumes, &self.volumes),
        }
    }
}

fn cpu_differences(before: &[CpuRow], after: &[CpuRow]) -> Vec<CpuRow> {
    let gauge = columns::CPU.map(|name| columns::GAUGES.contains(&name));
    let pair = |(old, new): (&CpuRow, &CpuRow)| {
        std::array::from_fn(|at| new[at] - if gauge[at] { 0 } else { old[at] })
    };
    before.iter().zip(after).map(pair).collect()
}

fn differences(names: &[&str], before: &[Vec<i64>], after: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let gauge: Vec<bool> = names.iter().map(|n| columns::GAUGES.contains(n)).collect();
    let pairs = before.iter().zip(after);
    pairs
        .map(|(old, new)| difference(&gauge, old, new))
        .collect()
}

/// Whole numbers that add up to `sum`: what rounding leaves over goes to the largest.
pub(super) fn whole(parts: &[f64], sum: i64) -> Vec<i64> {
    let mut whole: Vec<i64> = parts.iter().map(|part| part.round() as i64).collect();
    let missing = sum - whole.iter().sum::<i64>();
    if let Some(largest) = whole.iter_mut().max() {
        *largest += missing;
    }
    whole
}

/// `new - old`, gauges apart.
pub fn difference(gauge: &[bool], old: &[i64], new: &[i64]) -> Vec<i64> {
    new.iter()
        .zip(old)
        .zip(gauge)
        .map(|((new, old), gauge)| if *gauge { *new } else { new - old })
        .collect()
}

/// The row of a logical processor, `at` partition, number and virtual processor; `ns` are user,
/// kernel, idle and busy time.
fn cpu_row(time: i64, at: [i64; 3], ns: [i64; 4], meter: &CpuMeter) -> CpuRow {
    let (partition, number, vp) = (at[0], at[1], at[2]);
    let (user, sys, idle, busy) = (ns[0], ns[1], ns[2], ns[3]);
    let [ilcs, vlcs, cs, ics] = [meter.ilcs, meter.vlcs, meter.cs, meter.ics].map(|n| n as i64);
    let [s0, s1, s2, s3, s4, s5] = meter.redispatches.map(|n| n as i64);
    let [h3, h4, h5] = meter.home_dispatches.map(|n| n as i64);
    let [moved, interrupts] = [meter.migrations(), meter.interrupts].map(|n| n as i64);
    [
        time, partition, number, vp, user, sys, 0, idle, busy, ilcs, vlcs, cs, ics, busy, s0, s1,
        s2, s3, s4, s5, h3, h4, h5, moved, interrupts, 0,
    ]
}

impl<S: System> World<S> {
    /// Reads all counters now.
    pub fn read(&mut self) -> Reading {
        self.settle_all();
        self.settle_costs();
        let mut reading = Reading::default();
        for partition in self.partitions() {
            self.meters.integrate(partition, self.now);
            let first = reading.cpus.len();
            self.read_cpus(partition, &mut reading.cpus);
            let row = self.read_partition(partition, &reading.cpus[first..]);
            reading.partitions.push(row);
        }
        reading.pools = S::read_pools(self);
        S::read_tables(self, &mut reading);
        reading
    }

    pub(super) fn measured_ns(&self) -> i64 {
        self.now as i64 - self.spec.warmup_ns as i64
    }

    fn read_cpus(&mut self, partition: PartitionId, into: &mut Vec<CpuRow>) {
        let time = self.measured_ns();
        for vp in self.at.vps_of[partition] {
            let v = &self.at.vps[vp];
            let (first, index, smt) = (v.first_thread, v.index, usize::from(v.smt));
            let purrs = self.meters.charge_daemons(v);
            for (thread, purr) in purrs[..smt].iter().enumerate() {
                let number = usize::from(index) * smt + thread;
                let (user, sys) = S::user_and_sys(self, partition, number, purr);
                let ns = [user, sys, purr.idle, purr.busy_wall].map(|ns| ns.round() as i64);
                let at = [partition.into(), number as i64, i64::from(index)];
                into.push(cpu_row(time, at, ns, &self.meters.cpus[first.plus(thread)]));
            }
        }
    }

    fn read_partition(&self, partition: PartitionId, cpus: &[CpuRow]) -> Vec<i64> {
        let meter = &self.meters.partitions[partition];
        let books = self.whole_books(partition);
        let busy_wall = cpus.iter().map(|row| row[8]).sum::<i64>();
        let cycles = busy_wall as f64 * self.spec.machine.clock_hz * 1e-9;
        let mut row = vec![self.measured_ns(), partition.into()];
        row.extend(meter.capacity());
        row.extend(self.read_times(partition, cpus, busy_wall));
        let first = self.guests[partition].first_thread.index();
        let switches = self.meters.switches(Span::new(first, cpus.len()));
        row.extend(meter.switches(&switches));
        row.push(books[books.len() - 1]);
        row.extend(meter.calls());
        row.extend(meter.dispatching());
        row.extend(meter.work());
        row.extend([meter.instructions, cycles].map(|n| n.round() as i64));
        row.extend([switches.cs, switches.interrupts, 0].map(|n| n as i64));
        row.push(i64::from(self.guests[partition].queues.unfolded()));
        row.push(meter.exhausted_ns as i64);
        row.extend(S::read_guest(self, partition));
        row.extend(S::read_host(self, partition));
        row.extend(whole(&meter.lines.0, meter.lines.total().round() as i64));
        row.extend(books);
        debug_assert_eq!(row.len(), columns::partition().len());
        row
    }

    /// PURR, SPURR (the same at constant clock) and ticks, each as user, kernel, wait and idle.
    fn read_times(&self, partition: PartitionId, cpus: &[CpuRow], busy_wall: i64) -> Vec<i64> {
        let sum = |column: usize| cpus.iter().map(|row| row[column]).sum::<i64>();
        let (user, sys) = (sum(4), sum(5));
        let online = match &self.spec_of(partition).processors {
            Processors::Dedicated { cores, .. } => cores.len() as i64 * self.now as i64,
            Processors::Shared { .. } => self.meters.partitions[partition].busy_ns as i64,
        };
        let purr = [user, sys, 0, online - user - sys];
        let kernel = busy_wall as f64 * sys as f64 / (user + sys).max(1) as f64;
        let kernel = kernel.round() as i64;
        let lcpu_ns = cpus.len() as i64 * self.now as i64;
        let ticks = [busy_wall - kernel, kernel, 0, lcpu_ns - busy_wall];
        purr.into_iter().chain(purr).chain(ticks).collect()
    }

    /// Books in whole nanoseconds that add up to the core time.
    fn whole_books(&self, partition: PartitionId) -> Vec<i64> {
        let meter = &self.meters.partitions[partition];
        debug_assert!(
            (meter.books.total() - meter.busy_ns as f64).abs() <= 8.0 + 1e-6 * meter.busy_ns as f64,
            "books of partition {partition} are {} ns, not {}",
            meter.books.total(),
            meter.busy_ns
        );
        whole(&meter.books.0, meter.busy_ns as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_parts_add_up_and_the_largest_takes_the_rest() {
        assert_eq!(whole(&[1.4, 7.4, 2.4], 11), vec![1, 8, 2]);
        assert_eq!(whole(&[0.0; 3], 0), vec![0; 3]);
    }
}
