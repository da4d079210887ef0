//! Reports of z/VM's Performance Toolkit, `FCX` and a number: the excerpts that performance reports
//! quote, and all that homenode's own `fcx` prints.
//!
//! ```text
//! FCX126      CPU 3906  SER .....  Interval 00:00:00 - 00:00:08    Perf. Monitor
//! LPAR ...
//!
//! Partition  Nr.  #Proc  Type  Weight
//! ZVM1         1     10   IFL     DED
//! ```
//!
//! A report ends with a blank line behind its rows, or where the next one begins; what stands
//! outside of reports is passed over. FCX102 SYSTEM and FCX108 DEVICE have layouts of their own,
//! all others columns that are two blanks apart.

mod layouts;
mod model;

pub use model::{Recording, Report, Row};

use crate::damage::{no_end_of_line, Damage, Lenient};
use crate::error::{quoted, CaptureError};
use layouts::{Layout, DEVICE, DEVICE_GROUPS};

/// Reads all of it.
///
/// # Errors
/// If there is no text, or no report in it.
pub fn read(text: &str) -> Result<Lenient<Recording>, CaptureError> {
    let mut damage = Damage::default();
    let mut state = State::default();
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        state.line(line.trim_end(), index + 1, &mut damage);
    }
    state.close(&mut damage);
    let found = state.recording;
    if found.reports.is_empty() {
        let mut lines = text.lines().enumerate();
        return Err(match lines.find(|(_, line)| !line.trim().is_empty()) {
            None => CaptureError::Empty {
                tool: "the Performance Toolkit",
            },
            Some((index, line)) => CaptureError::Unexpected {
                line: index + 1,
                expected: "a report of the Performance Toolkit (FCX and a number)",
                found: quoted(line),
            },
        });
    }
    if !text.ends_with('\n') {
        no_end_of_line(&mut damage, text.lines().count());
    }
    Ok(damage.with(found))
}

#[derive(Default)]
struct State {
    recording: Recording,
    open: Option<(Report, Layout)>,
    /// Whether the line before was blank.
    after_blank: bool,
}

impl State {
    fn line(&mut self, line: &str, number: usize, damage: &mut Damage) {
        let after_blank = std::mem::replace(&mut self.after_blank, line.trim().is_empty());
        if let Some(report) = opening(line, number) {
            let layout = Layout::of(&report.number);
            self.close(damage);
            self.open = Some((report, layout));
            return;
        }
        let excerpt = line.contains(DEVICE_GROUPS);
        if excerpt
            && self
                .open
                .as_ref()
                .is_none_or(|(one, _)| one.number != DEVICE)
        {
            self.close(damage);
            let report = Report {
                number: DEVICE.to_owned(),
                line: number,
                ..Report::default()
            };
            self.open = Some((report, Layout::of(DEVICE)));
        }
        match &mut self.open {
            Some((report, _)) if line.trim().is_empty() => {
                if !report.rows.is_empty() {
                    self.close(damage);
                }
            }
            Some((report, layout)) => {
                if let Err(why) = layout.take(report, line, number, after_blank) {
                    damage.drop_line(number, || why);
                }
            }
            None if line.trim().is_empty() => {}
            None => self.recording.outside += 1,
        }
    }

    fn close(&mut self, damage: &mut Damage) {
        let Some((report, _)) = self.open.take() else {
            return;
        };
        if report.columns.is_empty() {
            // Where nothing was counted a report says so in place of its table.
            damage.remark(report.line, || format!("{} shows no table", report.number));
        }
        self.recording.reports.push(report);
    }
}

/// `FCX126  CPU 3906  SER 4E67  Interval 00:00:00 - 00:00:08`, or `(From FCX108 DEVICE)` above an
/// excerpt.
fn opening(line: &str, number: usize) -> Option<Report> {
    let words: Vec<&str> = line.split_whitespace().take(12).collect();
    let after = |word: &str| {
        let at = words.iter().position(|one| *one == word)?;
        let told = words.get(at + 1)?;
        (!told.starts_with("..")).then(|| (*told).to_owned())
    };
    let (first, told) = match *words.first()? {
        "(From" => (
            words.get(1)?.trim_end_matches(')'),
            line.trim().ends_with(')'),
        ),
        word => (word, words.get(1) == Some(&"CPU")),
    };
    let digits = first.strip_prefix("FCX")?;
    if !told || digits.len() != 3 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut report = Report {
        number: first.to_owned(),
        line: number,
        machine: after("CPU").unwrap_or_default(),
        serial: after("SER").unwrap_or_default(),
        ..Report::default()
    };
    if let Some(at) = words.iter().position(|one| *one == "Interval") {
        if let Some([begin, "-", end]) = words.get(at + 1..at + 4) {
            report.interval = [(*begin).to_owned(), (*end).to_owned()];
        }
    }
    Some(report)
}

#[cfg(test)]
mod tests;
