//! A run's tables and summary, by column name.

use homenode_engine::sim::{self, columns, Columns, PartitionSummary, RunError, Summary};
use homenode_engine::spec::Spec;

/// One result table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    names: Vec<String>,
    rows: Vec<Vec<i64>>,
}

impl Table {
    fn append(&mut self, columns: &Columns) {
        self.names.clone_from(&columns.names);
        for row in 0..columns.len() {
            self.rows
                .push(columns.values.iter().map(|c| c[row]).collect());
        }
    }

    /// Index of a column.
    pub fn at(&self, column: &str) -> usize {
        let found = self.names.iter().position(|name| name == column);
        found.unwrap_or_else(|| panic!("no column {column}"))
    }

    /// Name of a column.
    pub fn name(&self, at: usize) -> &str {
        &self.names[at]
    }

    /// Rows in which a column has a value.
    pub fn only<'a>(&'a self, column: &str, value: i64) -> impl Iterator<Item = &'a [i64]> {
        let at = self.at(column);
        let rows = self.rows.iter().filter(move |row| row[at] == value);
        rows.map(Vec::as_slice)
    }

    /// In the order in which they were recorded.
    pub fn rows(&self) -> impl Iterator<Item = &[i64]> {
        self.rows.iter().map(Vec::as_slice)
    }

    /// A column of the rows that belong to an owner (partition or pool).
    pub fn series(&self, owner: &str, index: usize, column: &str) -> Vec<i64> {
        let at = self.at(column);
        self.only(owner, index as i64).map(|row| row[at]).collect()
    }
}

/// What a run recorded.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// By partition and interval.
    pub partition: Table,
    /// By logical processor and interval.
    pub cpu: Table,
    /// By pool and interval.
    pub pool: Table,
    /// By dispatch, where they were asked for.
    pub dispatches: Table,
    /// By virtual machine and interval.
    pub virtual_machine: Table,
    /// By virtual switch and interval.
    pub switch: Table,
    /// By paging volume and interval.
    pub volume: Table,
    /// By processor that takes interrupts, and interval.
    pub interrupt: Table,
    /// By virtual machine, memory domain and interval.
    pub home: Table,
    /// What is known at the end only.
    pub summary: Summary,
}

impl Outcome {
    /// Summary of a partition.
    pub fn of(&self, partition: &str) -> &PartitionSummary {
        let mut all = self.summary.partitions.iter();
        all.find(|p| p.name == partition).expect("a partition")
    }

    /// A partition's total over the recorded time.
    pub fn total(&self, partition: &str, column: &str) -> f64 {
        let names = columns::partition();
        let at = names.iter().position(|name| name == column);
        self.of(partition).totals[at.expect("a column")] as f64
    }

    /// Interrupts that a processor took, and its time for them and for what followed [ns].
    pub fn interrupts(&self, cpu: i64) -> [f64; 3] {
        let table = &self.interrupt;
        ["interrupts", "hard_ns", "soft_ns"].map(|column| {
            let at = table.at(column);
            table.only("cpu", cpu).map(|row| row[at] as f64).sum()
        })
    }

    /// A partition's column, interval by interval.
    pub fn series(&self, partition: &str, column: &str) -> Vec<i64> {
        let mut all = self.summary.partitions.iter();
        let index = all.position(|p| p.name == partition).expect("a partition");
        self.partition.series("partition", index, column)
    }
}

/// Runs a sound spec to its end.
pub fn run(spec: &Spec, replication: u64) -> Outcome {
    run_some(spec, replication, u64::MAX).unwrap_or_else(|fault| panic!("{fault}\n{spec:?}"))
}

/// Runs a spec until its end or for so many events.
///
/// # Errors
/// As [`sim::run`]; `Stopped` if there were more events.
pub fn run_some(spec: &Spec, replication: u64, most_events: u64) -> Result<Outcome, RunError> {
    let mut tables: [Table; 9] = Default::default();
    let summary = sim::run(spec, replication, |batch| {
        let new = [
            &batch.tables.partition,
            &batch.tables.cpu,
            &batch.tables.pool,
            &batch.tables.dispatches,
            &batch.tables.virtual_machine,
            &batch.tables.switch,
            &batch.tables.volume,
            &batch.tables.interrupt,
            &batch.tables.home,
        ];
        for (table, columns) in tables.iter_mut().zip(new) {
            table.append(columns);
        }
        batch.events < most_events
    })?;
    let [partition, cpu, pool, dispatches, virtual_machine, switch, volume, interrupt, home] =
        tables;
    Ok(Outcome {
        partition,
        cpu,
        pool,
        dispatches,
        virtual_machine,
        switch,
        volume,
        interrupt,
        home,
        summary,
    })
}
