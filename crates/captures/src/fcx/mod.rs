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
//! all others a heading and rows. The Toolkit's own listings begin with `FCX225  Run` and a date,
//! have a page heading down to a ruler, several pages, and sums over others, which are passed
//! over:
//!
//! ```text
//! 1FCX225  Run 2020/02/03 14:00:28         SYSSUMLG
//! From 2020/02/03 09:07:00
//! To   2020/02/03 09:37:00                                   CPU 3906-715   SN 4E67
//! ______________________________________________________________________________
//!
//!          <------- CPU -------->
//! Interval   Pct       Cap-   On-
//! End Time  Busy   T/V ture  line
//! >>Mean>>  50.0  1.10 .950   4.0
//! 09:12:00  48.0  1.11 .951   4.0
//! ```

mod layouts;
mod listing;
mod model;

pub use model::{Recording, Report, Row};

use crate::damage::{no_end_of_line, Damage, Lenient};
use crate::error::{quoted, CaptureError};
use layouts::{is_ruler, Layout, DEVICE, DEVICE_GROUPS};
use listing::has_figures;

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
    /// Whether the line before was blank, or a ruler.
    after_blank: bool,
    /// Of a listing, where it stands in its page.
    page: Page,
}

/// Where a line stands.
#[derive(Clone, Copy, Default, PartialEq)]
enum Page {
    /// In no page of a listing.
    #[default]
    None,
    /// In its heading, which ends with a ruler, or a blank line behind its times.
    Heading,
    /// Below it.
    Body,
}

impl State {
    fn line(&mut self, line: &str, number: usize, damage: &mut Damage) {
        let is_gap = line.bytes().all(|byte| matches!(byte, b' ' | b'_'));
        // Dots over the columns stand between the blank line and the heading.
        let after_blank = std::mem::replace(&mut self.after_blank, is_gap || is_ruler(line));
        if let Some((report, page)) = opening(line, number) {
            self.begin(report, page, damage);
            return;
        }
        let in_device = |open: &(Report, Layout)| open.0.number == DEVICE;
        if line.contains(DEVICE_GROUPS) && !self.open.as_ref().is_some_and(in_device) {
            let report = Report {
                number: DEVICE.to_owned(),
                line: number,
                ..Report::default()
            };
            self.begin(report, Page::None, damage);
        }
        match &mut self.open {
            Some((report, _)) if is_gap => {
                if self.page != Page::None {
                    // A title may be cut off: its line is blank then.
                    if line.contains('_') || !report.interval[1].is_empty() {
                        self.page = Page::Body;
                    }
                } else if !report.rows.is_empty() {
                    self.close(damage);
                }
            }
            Some((report, _)) if self.page == Page::Heading => page_heading(report, line),
            Some((report, layout)) => {
                if let Err(why) = layout.take(report, line, number, after_blank) {
                    if has_figures(line) {
                        report.lost.push(number);
                    }
                    damage.drop_line(number, || why);
                }
            }
            None if is_gap => {}
            None => self.recording.outside += 1,
        }
    }

    fn begin(&mut self, report: Report, page: Page, damage: &mut Damage) {
        self.close(damage);
        let layout = Layout::of(&report.number, page != Page::None);
        self.open = Some((report, layout));
        self.page = page;
    }

    fn close(&mut self, damage: &mut Damage) {
        let Some((mut report, mut layout)) = self.open.take() else {
            return;
        };
        layout.finish(&mut report);
        let page = std::mem::take(&mut self.page);
        let continued = |last: &&mut Report| page != Page::None && report.continues(last);
        if let Some(last) = self.recording.reports.last_mut().filter(continued) {
            last.rows.append(&mut report.rows);
            last.lost.append(&mut report.lost);
            return;
        }
        if report.columns.is_empty() {
            // Where nothing was counted a report says so in place of its table.
            damage.remark(report.line, || format!("{} shows no table", report.number));
        }
        self.recording.reports.push(report);
    }
}

/// `FCX126  CPU 3906  SER 4E67  Interval 00:00:00 - 00:00:08`, `FCX126  Data for 2020/02/03
/// Interval 00:00:00 - 00:00:08` where monitor data are read, `(From FCX108 DEVICE)` above an
/// excerpt, or `FCX126  Run 2020/02/03 14:00:28` above a page of a listing, behind the control
/// character of a printer.
fn opening(line: &str, number: usize) -> Option<(Report, Page)> {
    let line = line.trim_start_matches(['\u{c}', '1', ' ']);
    let words: Vec<&str> = line.split_whitespace().take(12).collect();
    let second = words.get(1).copied();
    let (first, told) = match *words.first()? {
        "(From" => (second?.trim_end_matches(')'), line.trim().ends_with(')')),
        word => (word, matches!(second, Some("CPU" | "Run" | "Data"))),
    };
    let digits = first.strip_prefix("FCX")?;
    if !told || digits.len() != 3 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut report = Report {
        number: first.to_owned(),
        line: number,
        machine: after(&words, "CPU").unwrap_or_default(),
        serial: after(&words, "SER").unwrap_or_default(),
        ..Report::default()
    };
    if let Some(at) = words.iter().position(|one| *one == "Interval") {
        if let Some([begin, "-", end]) = words.get(at + 1..at + 4) {
            report.interval = [(*begin).to_owned(), (*end).to_owned()];
            let day = after(&words, "for").filter(|day| day != "Interval");
            if let (Some("Data"), Some(day)) = (second, day) {
                report.interval[0].insert_str(0, &format!("{day} "));
            }
        }
    }
    let is_page = first != "(From" && second == Some("Run");
    Some((report, if is_page { Page::Heading } else { Page::None }))
}

/// The word behind another, unless dots stand there.
fn after(words: &[&str], word: &str) -> Option<String> {
    let at = words.iter().position(|one| *one == word)?;
    let told = words.get(at + 1)?;
    (!told.starts_with("..")).then(|| (*told).to_owned())
}

/// What a listing's page tells above its ruler: the machine, and begin and end of its time.
fn page_heading(report: &mut Report, line: &str) {
    let words: Vec<&str> = line.split_whitespace().take(16).collect();
    match words[..] {
        ["From", day, time, ..] => report.interval[0] = format!("{day} {time}"),
        ["To", day, time, ..] => report.interval[1] = format!("{day} {time}"),
        _ => {}
    }
    if let Some(model) = after(&words, "CPU") {
        report.machine = model.split('-').next().unwrap_or_default().to_owned();
        report.serial = after(&words, "SN").unwrap_or_default();
    }
}

#[cfg(test)]
mod tests;
