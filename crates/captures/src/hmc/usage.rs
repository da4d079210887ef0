//! Use of partitions over time, from counters that only grow.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::damage::Damage;
use crate::stamp::seconds;

/// What a partition used, sample by sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PartitionUse {
    /// As the console calls the partition.
    pub name: String,
    /// Its managed system, where the command above its samples names one.
    pub system: Option<String>,
    /// Line of its first sample.
    pub line: usize,
    /// Names and values of its latest sample, without counters.
    pub fields: Vec<(String, String)>,
    /// Samples, in the order of time.
    pub samples: Samples,
}

/// A row a sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Samples {
    /// End of the sample [s since 1970-01-01].
    pub times: Vec<f64>,
    /// Its length [s].
    pub seconds: Vec<f64>,
    /// Processing units used in the sample [cores].
    pub cores: Vec<f64>,
    /// Memory [MB of 2^20 bytes]; not a number if it is not told.
    pub memory_mb: Vec<f64>,
    /// Its line, counted from 1.
    pub lines: Vec<usize>,
    /// How far `times` are ahead of UTC [s]; none where they do not tell their zone.
    pub ahead_s: Option<f64>,
}

impl Samples {
    pub(crate) fn push(&mut self, time: f64, length: f64, cores: f64, memory: f64, line: usize) {
        self.times.push(time);
        self.seconds.push(length);
        self.cores.push(cores);
        self.memory_mb.push(memory);
        self.lines.push(line);
    }
}

/// Counters of one partition at one time. They exceed what a float holds exactly.
struct Counted {
    time: f64,
    line: usize,
    passed: u64,
    used: u64,
    idle: u64,
    memory_mb: f64,
}

#[derive(Default)]
struct Partition {
    line: usize,
    dedicated: bool,
    latest: f64,
    fields: Vec<(String, String)>,
    counted: Vec<Counted>,
}

/// Samples while a listing is read.
#[derive(Default)]
pub(crate) struct Usage {
    /// By system and name.
    partitions: BTreeMap<(Option<String>, String), Partition>,
}

/// Ends of names of counters.
const COUNTERS: [&str; 4] = ["_cycles", "_instructions", "_active", "time"];

impl Usage {
    /// Take a row of `lslparutil`; rows of pools, systems and events are none of a partition's use.
    pub(crate) fn take(
        &mut self,
        system: Option<&str>,
        row: &[(String, String)],
        line: usize,
        damage: &mut Damage,
    ) {
        let value = |name: &str| {
            let found = row.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str())
        };
        let Some(name) = value("lpar_name") else {
            return;
        };
        if value("event_type").is_some_and(|event| event != "sample")
            || value("resource_type").is_some_and(|kind| kind != "lpar")
        {
            return;
        }
        let counter = |name: &str| value(name).and_then(|text| text.parse::<u64>().ok());
        let time = value("sys_time")
            .or_else(|| value("time"))
            .and_then(seconds);
        let used = counter("capped_cycles").zip(counter("uncapped_cycles"));
        let (Some(time), Some((capped, uncapped)), Some(passed)) =
            (time, used, counter("time_cycles"))
        else {
            let why = || "a sample without time, time_cycles, capped_cycles or uncapped_cycles";
            return damage.drop_line(line, || why().to_owned());
        };
        let partition = self
            .partitions
            .entry((system.map(str::to_owned), name.to_owned()))
            .or_default();
        if partition.counted.is_empty() {
            partition.line = line;
        }
        if partition.fields.is_empty() || time > partition.latest {
            partition.latest = time;
            partition.dedicated = value("curr_proc_mode") == Some("ded");
            let is_counter = |name: &str| COUNTERS.iter().any(|end| name.ends_with(end));
            let kept = row.iter().filter(|(name, _)| !is_counter(name));
            partition.fields = kept.cloned().collect();
        }
        let memory = value("curr_mem").and_then(|text| text.parse::<f64>().ok());
        partition.counted.push(Counted {
            time,
            line,
            passed,
            used: capped.saturating_add(uncapped),
            idle: counter("idle_cycles").unwrap_or(0),
            memory_mb: memory.unwrap_or(f64::NAN),
        });
    }

    /// Use between samples; the listing may have the latest first.
    pub(crate) fn differences(self, damage: &mut Damage) -> Vec<PartitionUse> {
        let each = self
            .partitions
            .into_iter()
            .map(|((system, name), mut partition)| {
                let order = |one: &Counted, next: &Counted| one.passed.cmp(&next.passed);
                partition.counted.sort_by(order);
                let mut samples = Samples::default();
                for pair in partition.counted.windows(2) {
                    between(
                        &pair[0],
                        &pair[1],
                        partition.dedicated,
                        &mut samples,
                        damage,
                    );
                }
                PartitionUse {
                    name,
                    system,
                    line: partition.line,
                    fields: partition.fields,
                    samples,
                }
            });
        each.collect()
    }
}

/// Cores between two samples. Cores of its own are never without it, so its idle time is not used.
fn between(
    before: &Counted,
    after: &Counted,
    dedicated: bool,
    samples: &mut Samples,
    damage: &mut Damage,
) {
    let passed = after.passed - before.passed;
    if passed == 0 {
        // The same sample twice, as the hourly one is.
        return;
    }
    let (used, idle) = (
        after.used.checked_sub(before.used),
        after.idle.checked_sub(before.idle),
    );
    let length = after.time - before.time;
    let (Some(used), Some(idle)) = (used, idle) else {
        let why = || "counters go back, as after a start of the partition: no use".to_owned();
        return damage.drop_line(after.line, why);
    };
    if length <= 0.0 {
        return damage.drop_line(after.line, || "the clock goes back: no use".to_owned());
    }
    let busy = if dedicated {
        used.saturating_sub(idle)
    } else {
        used
    };
    let cores = busy as f64 / passed as f64;
    samples.push(after.time, length, cores, after.memory_mb, after.line);
}

#[cfg(test)]
mod tests {
    use crate::hmc::rows;

    fn row(second: u32, cycles: u64, capped: u64, mode: &str) -> String {
        format!(
            "time=12/12/2013 16:23:{second:02},event_type=sample,resource_type=lpar,\
             sys_time=12/12/2013 \
             16:23:{second:02},time_cycles={cycles},lpar_name=db2,lpar_id=6,curr_proc_mode={mode},\
             curr_proc_units=1.0,curr_procs=2,curr_mem=8192,entitled_cycles=7,\
             capped_cycles={capped},\
             uncapped_cycles=1000,idle_cycles={},run_latch_instructions=5\n",
            capped / 2
        )
    }

    /// More than 2^53, where floats are no longer exact.
    const BASE: u64 = 10_166_426_530_034_943;

    #[test]
    fn cores_are_differences_over_the_cycles_that_passed() {
        let text = row(30, BASE + 10_000, 25_000, "shared") + &row(10, BASE, 10_000, "shared");
        let read = rows(&text).expect("samples");
        let usage = &read.found.usage[0];
        assert_eq!((usage.name.as_str(), read.dropped), ("db2", 0));
        assert_eq!(usage.samples.cores, [1.5]);
        assert_eq!(usage.samples.seconds, [20.0]);
        assert_eq!(usage.samples.lines, [1]);
        assert_eq!(usage.samples.memory_mb, [8192.0]);
        assert!(usage
            .fields
            .iter()
            .all(|(name, _)| !name.ends_with("_cycles")));
        let text = row(10, BASE, 10_000, "ded") + &row(30, BASE + 10_000, 25_000, "ded");
        let read = rows(&text).expect("samples");
        assert_eq!(read.found.usage[0].samples.cores, [0.75]);
    }

    #[test]
    fn a_partition_that_was_started_anew_has_no_use_between() {
        let text = row(10, BASE, 10_000, "shared") + &row(20, BASE + 9, 100, "shared");
        let read = rows(&text).expect("samples");
        assert!(read.found.usage[0].samples.cores.is_empty());
        assert_eq!((read.dropped, read.remarks[0].line), (1, 2));
        let text = row(10, BASE, 10_000, "shared").replace("time_cycles", "time_cycle");
        let read = rows(&text).expect("a row");
        assert_eq!(read.dropped, 1);
    }
}
