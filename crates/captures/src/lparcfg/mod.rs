//! `/proc/ppc64/lparcfg` of Linux on Power: a version line, then `key=value` lines.
//!
//! Several copies in one file are several snapshots: `purr` and `tbr` of two of them give the cores
//! that were used between them. Capacities are in hundredths of a core. Keys keep their names.

use serde::Serialize;

use crate::damage::{no_end_of_line, Damage, Lenient};
use crate::error::{quoted, CaptureError};

/// Ticks of the time base in a second, as partitions of PowerVM see it.
const TIME_BASE_HZ: f64 = 512.0e6;
const VERSION: &str = "lparcfg";
/// More keys than any version has.
const MOST_KEYS: usize = 200;
const LONGEST_LINE: usize = 4_096;

/// One copy of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// Line, counted from 1.
    pub line: usize,
    /// `1.9`; empty if the first line is missing.
    pub version: String,
    /// Keys, values and lines.
    pub fields: Vec<(String, String, usize)>,
}

impl Snapshot {
    /// The value of a key.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&str> {
        let field = self.fields.iter().find(|(known, _, _)| known == key);
        field.map(|(_, value, _)| value.as_str())
    }

    fn ticks(&self, key: &str) -> Option<u64> {
        self.value(key)?.parse().ok()
    }
}

/// The use between two snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Line of the later snapshot.
    pub line: usize,
    /// Its length [s].
    pub seconds: f64,
    /// Cores that the partition was on.
    pub cores: f64,
}

/// All copies in a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Lparcfg {
    /// Copies, in the order of the lines.
    pub snapshots: Vec<Snapshot>,
    /// What lies between copies that follow each other.
    pub intervals: Vec<Interval>,
}

/// Whether a text begins like the file.
#[must_use]
pub fn recognise(head: &str) -> bool {
    let mut lines = head.lines().map(str::trim).filter(|line| !line.is_empty());
    match lines.next() {
        Some(first) if is_version(first) => true,
        Some(first) => {
            // Without its first line: two keys that occur nowhere else.
            let keys = [
                "system_type=",
                "partition_entitled_capacity=",
                "DisWheRotPer=",
            ];
            std::iter::once(first)
                .chain(lines)
                .take(MOST_KEYS)
                .filter(|line| keys.iter().any(|key| line.starts_with(key)))
                .count()
                > 1
        }
        None => false,
    }
}

fn is_version(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some(VERSION)
        && words
            .next()
            .is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        && words.next().is_none()
}

/// Read one copy or several; forgiving.
///
/// # Errors
/// No line is a key with a value.
pub fn read(text: &str) -> Result<Lenient<Lparcfg>, CaptureError> {
    let mut damage = Damage::default();
    let mut snapshots: Vec<Snapshot> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        take(line.trim(), index + 1, &mut snapshots, &mut damage);
    }
    if !text.ends_with('\n') {
        no_end_of_line(&mut damage, text.lines().count());
    }
    snapshots.retain(|snapshot| !snapshot.fields.is_empty());
    if snapshots.is_empty() {
        return Err(CaptureError::Empty {
            tool: "/proc/ppc64/lparcfg",
        });
    }
    let mut intervals = Vec::new();
    for pair in snapshots.windows(2) {
        match interval(&pair[0], &pair[1]) {
            Some(interval) => intervals.push(interval),
            None => damage.drop_line(pair[1].line, || {
                "no use between this copy and the one before: purr or tbr is missing or goes back"
                    .to_owned()
            }),
        }
    }
    Ok(damage.with(Lparcfg {
        snapshots,
        intervals,
    }))
}

fn take(line: &str, number: usize, snapshots: &mut Vec<Snapshot>, damage: &mut Damage) {
    if line.is_empty() {
        return;
    }
    if is_version(line) {
        let version = line
            .split_whitespace()
            .nth(1)
            .unwrap_or_default()
            .to_owned();
        snapshots.push(Snapshot {
            line: number,
            version,
            fields: Vec::new(),
        });
        return;
    }
    let Some((key, value)) = line.split_once('=').filter(|_| line.len() <= LONGEST_LINE) else {
        return damage.drop_line(number, || format!("{:?} is no key=value", quoted(line)));
    };
    let (key, value) = (key.trim(), value.trim());
    let named = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if key.is_empty() || !key.chars().all(named) {
        return damage.drop_line(number, || format!("{:?} is no key=value", quoted(line)));
    }
    if snapshots.is_empty() {
        damage.remark(number, || {
            "the line \"lparcfg VERSION\" is missing".to_owned()
        });
        snapshots.push(Snapshot {
            line: number,
            ..Snapshot::default()
        });
    }
    let Some(open) = snapshots.last_mut() else {
        return;
    };
    if open.value(key).is_some() {
        return damage.drop_line(number, || format!("{key} occurs twice; the first counts"));
    }
    if open.fields.len() >= MOST_KEYS {
        return damage.drop_line(number, || "more keys than any version has".to_owned());
    }
    open.fields.push((key.to_owned(), value.to_owned(), number));
}

/// `purr` counts what all processors of the partition got, in ticks of the time base `tbr`.
fn interval(before: &Snapshot, after: &Snapshot) -> Option<Interval> {
    let passed = after.ticks("tbr")?.checked_sub(before.ticks("tbr")?)?;
    let used = after.ticks("purr")?.checked_sub(before.ticks("purr")?)?;
    (passed > 0).then(|| Interval {
        line: after.line,
        seconds: passed as f64 / TIME_BASE_HZ,
        cores: used as f64 / passed as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "lparcfg 1.9\nserial_number=IBM,0210000A1\nsystem_type=IBM,9119-FHB\n\
                       partition_id=3\npartition_entitled_capacity=130\n\
                       purr=512000000\ntbr=1024000000\n";

    #[test]
    fn keys_keep_their_names_values_and_lines() {
        let read = read(ONE).expect("sound");
        assert_eq!(read.dropped, 0);
        let snapshot = &read.found.snapshots[0];
        assert_eq!(snapshot.version, "1.9");
        assert_eq!(snapshot.value("partition_entitled_capacity"), Some("130"));
        assert_eq!(snapshot.fields[0].2, 2);
        assert!(recognise(ONE));
        assert!(recognise(&ONE[12..]));
        assert!(!recognise("system_type=x\n"));
    }

    #[test]
    fn two_copies_give_the_use_between_them() {
        let later = ONE
            .replace("purr=512000000", "purr=1280000000")
            .replace("tbr=1024000000", "tbr=1536000000");
        let read = read(&format!("{ONE}{later}")).expect("sound");
        // 768e6 of 512e6 ticks in a second.
        let expected = Interval {
            line: 8,
            seconds: 1.0,
            cores: 1.5,
        };
        assert_eq!(read.found.intervals, [expected]);
    }

    #[test]
    fn damage_is_named() {
        let text = format!("{}garbage\n=5\npurr=7\n{ONE}", &ONE[12..]);
        let read = read(&text).expect("most is sound");
        assert_eq!(read.dropped, 4);
        assert_eq!(read.found.snapshots.len(), 2);
        let lines: Vec<usize> = read.remarks.iter().map(|remark| remark.line).collect();
        assert_eq!(lines, [1, 7, 8, 9, 10]);
        assert!(super::read("\n\nhello\n").is_err());
    }
}
