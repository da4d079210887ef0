//! Readings of the counters as rows of integers, and intervals as differences of two readings.

use std::ops::{Index, IndexMut, Range};

use super::columns;
use super::system::System;
use super::world::World;
use crate::cost::BOOK_COUNT;
use crate::ids::{PartitionId, Span};
use crate::spec::Processors;

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

    fn append(&mut self, rows: &Rows) {
        for (at, column) in self.values.iter_mut().enumerate() {
            column.extend(rows.iter().map(|row| row[at]));
        }
    }
}

/// Rows of one table in one piece, each as wide as the table.
#[derive(Clone, Debug)]
pub struct Rows {
    width: usize,
    values: Vec<i64>,
}

impl Rows {
    /// No rows of so many columns.
    fn new(width: usize) -> Self {
        let values = Vec::new();
        Self { width, values }
    }

    /// Rows one after the other.
    pub fn iter(&self) -> impl Iterator<Item = &[i64]> {
        self.values.chunks_exact(self.width)
    }

    /// Adds rows.
    pub fn extend<R: AsRef<[i64]>>(&mut self, rows: impl IntoIterator<Item = R>) {
        for row in rows {
            self.values.extend_from_slice(row.as_ref());
            debug_assert_eq!(self.values.len() % self.width, 0);
        }
    }

    fn len(&self) -> usize {
        self.values.len() / self.width
    }

    /// A column's sum over some rows.
    fn sum(&self, rows: Range<usize>, column: usize) -> i64 {
        rows.map(|row| self[row][column]).sum()
    }

    /// What was counted since another reading of the same rows.
    fn since(&self, before: &Self, gauge: &[bool]) -> Self {
        let mut values = Vec::with_capacity(self.values.len());
        for (new, old) in self.iter().zip(before.iter()) {
            values.extend(differences(gauge, old, new));
        }
        Self { values, ..*self }
    }
}

impl Index<usize> for Rows {
    type Output = [i64];

    fn index(&self, row: usize) -> &[i64] {
        &self.values[row * self.width..][..self.width]
    }
}

impl IndexMut<usize> for Rows {
    fn index_mut(&mut self, row: usize) -> &mut [i64] {
        &mut self.values[row * self.width..][..self.width]
    }
}

/// A reading of all counters, or the differences of two.
#[derive(Clone, Debug)]
pub struct Reading {
    /// One row a partition.
    pub partitions: Rows,
    /// One row a logical processor.
    pub cpus: Rows,
    /// One row a pool.
    pub pools: Rows,
    /// One row a load, of partitions with several.
    pub loads: Rows,
    /// One row a virtual machine.
    pub virtual_machines: Rows,
    /// One row a virtual switch.
    pub switches: Rows,
    /// One row a paging volume.
    pub volumes: Rows,
    /// One row a port of the fabric.
    pub fabric: Rows,
    /// One row a processor that took interrupts.
    pub interrupts: Rows,
    /// One row a virtual machine and memory domain, where machines have homes.
    pub homes: Rows,
    /// Of each core (of each hardware thread, where a host counts those) how long it was used since
    /// the start [ns]; nothing of a difference.
    pub clocks: Vec<u64>,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            partitions: Rows::new(columns::PARTITIONS),
            cpus: Rows::new(columns::CPU.len()),
            pools: Rows::new(columns::POOL.len()),
            loads: Rows::new(columns::LOAD.len()),
            virtual_machines: Rows::new(columns::VIRTUAL_MACHINE.len()),
            switches: Rows::new(columns::SWITCH.len()),
            volumes: Rows::new(columns::VOLUME.len()),
            fabric: Rows::new(columns::FABRIC.len()),
            interrupts: Rows::new(columns::INTERRUPT.len()),
            homes: Rows::new(columns::HOME.len()),
            clocks: Vec::new(),
        }
    }
}

/// Of each table, which columns are readings at the end of an interval.
#[derive(Clone, Debug)]
pub(super) struct Gauges([Vec<bool>; 10]);

impl Gauges {
    pub(super) fn new() -> Self {
        let partition = columns::partition();
        let partition: Vec<&str> = partition.iter().map(String::as_str).collect();
        let all: [&[&str]; 10] = [
            &partition,
            &columns::CPU,
            &columns::POOL,
            &columns::LOAD,
            &columns::VIRTUAL_MACHINE,
            &columns::SWITCH,
            &columns::VOLUME,
            &columns::FABRIC,
            &columns::INTERRUPT,
            &columns::HOME,
        ];
        let gauge = |name: &&str| columns::GAUGES.contains(name);
        Self(all.map(|names| names.iter().map(gauge).collect()))
    }
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
    /// By load, of partitions with several.
    pub load: Columns,
    /// By virtual machine.
    pub virtual_machine: Columns,
    /// By virtual switch.
    pub switch: Columns,
    /// By paging volume.
    pub volume: Columns,
    /// By port of the fabric.
    pub fabric: Columns,
    /// By partition and processor that takes its devices' interrupts.
    pub interrupt: Columns,
    /// By virtual machine and memory domain that may be its home.
    pub home: Columns,
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
            load: named(&columns::LOAD),
            virtual_machine: named(&columns::VIRTUAL_MACHINE),
            switch: named(&columns::SWITCH),
            volume: named(&columns::VOLUME),
            fabric: named(&columns::FABRIC),
            interrupt: named(&columns::INTERRUPT),
            home: named(&columns::HOME),
            dispatches: named(&columns::DISPATCH),
        }
    }
}

impl Tables {
    /// Adds the differences of an interval.
    pub(super) fn push(&mut self, interval: &Reading) {
        let pairs = [
            (&mut self.partition, &interval.partitions),
            (&mut self.cpu, &interval.cpus),
            (&mut self.pool, &interval.pools),
            (&mut self.load, &interval.loads),
            (&mut self.virtual_machine, &interval.virtual_machines),
            (&mut self.switch, &interval.switches),
            (&mut self.volume, &interval.volumes),
            (&mut self.fabric, &interval.fabric),
            (&mut self.interrupt, &interval.interrupts),
            (&mut self.home, &interval.homes),
        ];
        for (table, rows) in pairs {
            table.append(rows);
        }
    }

    /// How many numbers wait in them.
    pub(super) fn numbers(&self) -> usize {
        let all = [
            &self.partition,
            &self.cpu,
            &self.pool,
            &self.load,
            &self.virtual_machine,
            &self.switch,
            &self.volume,
            &self.fabric,
            &self.interrupt,
            &self.home,
            &self.dispatches,
        ];
        let numbers = all.map(|table| table.len() * table.names.len());
        numbers.iter().sum()
    }

    /// Forgets all rows, and keeps the memory for more of them.
    pub(super) fn clear(&mut self) {
        let all = [
            &mut self.partition,
            &mut self.cpu,
            &mut self.pool,
            &mut self.load,
            &mut self.virtual_machine,
            &mut self.switch,
            &mut self.volume,
            &mut self.fabric,
            &mut self.interrupt,
            &mut self.home,
            &mut self.dispatches,
        ];
        for table in all {
            table.values.iter_mut().for_each(Vec::clear);
        }
    }
}

impl Reading {
    fn tables(&self) -> [&Rows; 10] {
        [
            &self.partitions,
            &self.cpus,
            &self.pools,
            &self.loads,
            &self.virtual_machines,
            &self.switches,
            &self.volumes,
            &self.fabric,
            &self.interrupts,
            &self.homes,
        ]
    }

    /// How many numbers it holds.
    pub(super) fn numbers(&self) -> usize {
        self.tables().iter().map(|rows| rows.values.len()).sum()
    }

    /// What was counted since another reading; gauges as they are now.
    pub(super) fn since(&self, before: &Self, gauges: &Gauges) -> Self {
        let pairs = std::array::from_fn::<_, 10, _>(|at| {
            self.tables()[at].since(before.tables()[at], &gauges.0[at])
        });
        let [partitions, cpus, pools, loads, machines, switches, volumes, fabric, taken, homes] =
            pairs;
        Self {
            partitions,
            cpus,
            pools,
            loads,
            virtual_machines: machines,
            switches,
            volumes,
            fabric,
            interrupts: taken,
            homes,
            clocks: Vec::new(),
        }
    }
}

/// Whole numbers that add up to `sum`: what rounding leaves over goes to the largest.
pub(super) fn whole<const N: usize>(parts: &[f64; N], sum: i64) -> [i64; N] {
    let mut whole = parts.map(|part| part.round() as i64);
    let missing = sum - whole.iter().sum::<i64>();
    if let Some(largest) = whole.iter_mut().max() {
        *largest += missing;
    }
    whole
}

/// `new - old`, gauges apart.
pub fn differences<'a>(
    gauge: &'a [bool],
    old: &'a [i64],
    new: &'a [i64],
) -> impl Iterator<Item = i64> + 'a {
    let pairs = new.iter().zip(old).zip(gauge);
    pairs.map(|((new, old), gauge)| if *gauge { *new } else { new - old })
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
            let own = first..reading.cpus.len();
            self.read_partition(partition, own, &mut reading);
        }
        reading.pools.extend(S::read_pools(self));
        self.read_loads(&mut reading.loads);
        S::read_tables(self, &mut reading);
        self.read_fabric(&mut reading.fabric);
        self.read_interrupts(&mut reading.interrupts);
        reading
            .clocks
            .extend(self.at.cores.iter().map(|on| on.clock));
        reading
    }

    fn read_loads(&self, into: &mut Rows) {
        for partition in self.partitions() {
            for load in self.loads_of(partition) {
                let of = &self.loads[load];
                if let Some(meter) = &of.meter {
                    let place = of.place as i64;
                    into.values
                        .extend([self.measured_ns(), partition.into(), place]);
                    into.values.extend(meter.reading());
                }
            }
        }
    }

    fn read_fabric(&self, into: &mut Rows) {
        let fabric = &self.table.occupancy.fabric;
        let line = f64::from(self.spec.machine.line_bytes);
        for port in fabric.in_use() {
            let (lines, wait_ns) = fabric.carried(port);
            let counted = [lines, lines * line, wait_ns].map(|n| n.round() as i64);
            let (kind, place) = fabric.place(port);
            into.values.push(self.measured_ns());
            into.values.extend([kind, place].map(|n| n as i64));
            into.values.extend(counted);
        }
    }

    fn read_interrupts(&self, into: &mut Rows) {
        for (partition, cpu, taken) in self.interrupting.taken() {
            into.values
                .extend([self.measured_ns(), partition.into(), i64::from(cpu)]);
            let times = [taken.hard_ns, taken.soft_ns].map(|ns| ns.round() as i64);
            into.values.push(taken.interrupts as i64);
            into.values.extend(times);
        }
    }

    pub(super) fn measured_ns(&self) -> i64 {
        self.now as i64 - self.spec.warmup_ns as i64
    }

    fn read_cpus(&mut self, partition: PartitionId, into: &mut Rows) {
        for vp in self.at.vps_of[partition] {
            let v = &self.at.vps[vp];
            let (first, index, smt) = (v.first_thread, v.index, usize::from(v.smt));
            let purrs = self.meters.charge_daemons(v);
            for (thread, purr) in purrs.iter().enumerate().take(smt) {
                let meter = &self.meters.cpus[first.plus(thread)];
                let number = usize::from(index) * smt + thread;
                let row = &mut into.values;
                row.extend([
                    self.measured_ns(),
                    partition.into(),
                    number as i64,
                    i64::from(index),
                ]);
                let (user, sys) = S::user_and_sys(self, partition, number, purr);
                row.extend([user, sys, 0.0, purr.idle, purr.busy_wall].map(|ns| ns.round() as i64));
                row.extend([meter.ilcs, meter.vlcs, meter.cs, meter.ics].map(|n| n as i64));
                let there = self.guests[partition].queues.threads_on(number as u16);
                row.push(meter.run_queue_ns(self.now, there) as i64);
                row.extend(meter.redispatches.map(|n| n as i64));
                row.extend(meter.home_dispatches.map(|n| n as i64));
                row.extend([meter.migrations(), meter.interrupts, 0].map(|n| n as i64));
                debug_assert_eq!(row.len() % columns::CPU.len(), 0);
            }
        }
    }

    /// The row of a partition with these logical processors, which have been read.
    fn read_partition(&self, partition: PartitionId, own: Range<usize>, into: &mut Reading) {
        let meter = &self.meters.partitions[partition];
        let books = self.whole_books(partition);
        let busy_wall = into.cpus.sum(own.clone(), 8);
        let cycles = busy_wall as f64 * self.spec.machine.clock_hz * 1e-9;
        let first = self.guests[partition].first_thread.index();
        let switches = self.meters.switches(Span::new(first, own.len()));
        let times = self.read_times(partition, &into.cpus, own, busy_wall);
        let row = &mut into.partitions.values;
        row.extend([self.measured_ns(), partition.into()]);
        row.extend(meter.capacity());
        row.extend(times);
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
        debug_assert_eq!(row.len() % columns::PARTITIONS, 0);
    }

    /// PURR, SPURR (the same at constant clock) and ticks, each as user, kernel, wait and idle.
    fn read_times(
        &self,
        partition: PartitionId,
        cpus: &Rows,
        own: Range<usize>,
        busy_wall: i64,
    ) -> impl Iterator<Item = i64> {
        let (user, sys) = (cpus.sum(own.clone(), 4), cpus.sum(own.clone(), 5));
        let online = match &self.spec_of(partition).processors {
            Processors::Dedicated { cores, .. } => {
                cores.len() as i64 * self.now as i64 + self.guests[partition].before.cores_ns
            }
            Processors::Shared { .. } => self.meters.partitions[partition].busy_ns as i64,
        };
        let purr = [user, sys, 0, online - user - sys];
        let kernel = busy_wall as f64 * sys as f64 / (user + sys).max(1) as f64;
        let kernel = kernel.round() as i64;
        let guest = &self.guests[partition];
        let lcpus = i64::from(guest.queues.online()) * i64::from(guest.queues.threads());
        let lcpu_ns = lcpus * self.now as i64 + guest.before.cpus_ns;
        let ticks = [busy_wall - kernel, kernel, 0, lcpu_ns - busy_wall];
        purr.into_iter().chain(purr).chain(ticks)
    }

    /// Books in whole nanoseconds that add up to the core time.
    fn whole_books(&self, partition: PartitionId) -> [i64; BOOK_COUNT] {
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
        assert_eq!(whole(&[1.4, 7.4, 2.4], 11), [1, 8, 2]);
        assert_eq!(whole(&[0.0; 3], 0), [0; 3]);
    }
}
