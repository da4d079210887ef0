//! Takes the lines of a text one by one and says of each what it is.

use crate::damage::{Damage, Lenient};
use crate::error::{quoted, CaptureError};
use crate::heading::Heading;
use crate::reports::listing;
use crate::reports::model::{Affinity, Banner, Information, Recording, Table};
use crate::reports::rows::{Open, Taken};
use crate::reports::sadf::Sadf;
use crate::reports::session;
use crate::reports::tools;
use crate::reports::words;
use crate::stamp::{self, Stamp};

/// A longer line is no line of a report.
pub(super) const LONGEST_LINE: usize = 16_384;

/// More facts than `lparstat -i` has at any level.
const MOST_FACTS: usize = 200;

/// More headings than `sar -A` has.
const MOST_OTHERS: usize = 100;

/// What the lines that come next belong to.
#[derive(Default)]
enum Mode {
    #[default]
    Nothing,
    /// Rows of the open table.
    Rows,
    /// Hypervisor calls; the headings take two lines.
    Calls,
    /// Names of processors, whose shares come next.
    Names(Vec<String>),
    Affinity,
    /// Rows of tunables; a long name stands on a line of its own above its values.
    Tunables(Option<String>),
    /// What the letters beneath the tunables mean.
    Legend,
    Information,
    /// Counters since the system started.
    Counters,
    /// Means at the end of a report.
    Averages,
    /// Rows of a table that is of no report taken here.
    Other,
}

/// Takes the lines of a text one by one.
#[derive(Default)]
pub struct Reader {
    /// Lines that were taken.
    pub(super) number: usize,
    mode: Mode,
    open: Option<Open>,
    found: Recording,
    damage: Damage,
    /// Whether the line before was empty, as it is before every heading of sysstat's.
    gap: bool,
    /// Date and time on a line of their own, which hold for the headings that come.
    clock: Stamp,
    /// Headings of tables that are not taken, each once, and the line of the first.
    others: Vec<String>,
    first_other: usize,
    sadf: Sadf,
}

/// The tool whose report comes first in the beginning of a text, if there is one.
#[must_use]
pub fn recognise(head: &str) -> Option<&'static str> {
    let mut reader = Reader::default();
    for line in head.lines() {
        reader.line(line);
        if !reader.found.information.is_empty() {
            return Some("lparstat");
        }
        if !reader.found.affinity.is_empty() {
            return Some("lssrad");
        }
        if let Some(open) = &reader.open {
            return open.heading.report.split(' ').next();
        }
    }
    None
}

impl Reader {
    /// Take the next line.
    pub fn line(&mut self, raw: &str) {
        self.number += 1;
        if raw.len() > LONGEST_LINE {
            return self.lost(|| "longer than any line of a report".to_owned());
        }
        match self.sadf.lines(raw) {
            Some(lines) => lines.iter().for_each(|line| self.take(line)),
            None => self.take(raw),
        }
    }

    /// A line as it stands in a report.
    fn take(&mut self, raw: &str) {
        let text = raw.trim_matches(|c: char| c.is_whitespace() || c.is_control());
        let gap = std::mem::replace(&mut self.gap, text.is_empty());
        if text.is_empty() {
            return;
        }
        let all: Vec<&str> = text.split_whitespace().collect();
        if self.surroundings(text, &all) {
            return;
        }
        let mut words = &all[..];
        let mut stamp = stamp::take_front(&mut words);
        if stamp.is_none() {
            stamp = stamp::take_back(&mut words);
        }
        // No heading and no listing begins with a number.
        let is_row = words
            .first()
            .is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        if words.is_empty() && !stamp.is_none() {
            self.clock = stamp;
            return;
        }
        let above = std::mem::take(&mut self.clock);
        let at = if stamp.is_none() { above } else { stamp };
        let is_heading = !is_row
            && (self.heading(words, at)
                || self.listing_begins(text, words)
                || gap && self.other_begins(words, stamp));
        if is_heading {
            return;
        }
        self.row(raw, words, stamp);
    }

    /// The last line has no end, so that a number in it may be shorter than it was.
    pub fn cut_off(&mut self) {
        crate::damage::no_end_of_line(&mut self.damage, self.number);
    }

    /// Close what is open and hand over all.
    ///
    /// # Errors
    /// Nothing of the text was a report.
    pub fn finish(mut self) -> Result<Lenient<Recording>, CaptureError> {
        let rest = self.sadf.rest();
        rest.iter().for_each(|line| self.take(line));
        self.close_table();
        if let Some(first) = self.others.first() {
            let count = self.others.len();
            let why = || {
                format!(
                    "{count} other tables are not taken, first {:?}",
                    quoted(first)
                )
            };
            self.damage.remark(self.first_other, why);
        }
        let found = &self.found;
        let nothing = found.tables.is_empty()
            && found.information.is_empty()
            && found.affinity.is_empty()
            && found.tunables.is_empty()
            && found.configurations.is_empty();
        if nothing {
            let expected = "a report of lparstat, mpstat, vmstat, sar or lssrad";
            return Err(CaptureError::CutShort {
                line: self.number,
                expected,
            });
        }
        Ok(self.damage.with(self.found))
    }

    fn lost(&mut self, why: impl FnOnce() -> String) {
        self.damage.drop_line(self.number, why);
    }

    /// Configurations, first lines of tools, commands, rulers, headings over groups.
    fn surroundings(&mut self, text: &str, words: &[&str]) -> bool {
        if let Some(configuration) = session::configuration(text, self.number) {
            if configuration.values.is_empty() && text.to_ascii_lowercase().contains("changed") {
                self.damage.remark(self.number, || {
                    "the system's configuration changed".to_owned()
                });
            } else if !configuration.values.is_empty() {
                self.close_table();
                self.found.configurations.push(configuration);
            }
            self.mode = Mode::Nothing;
            return true;
        }
        if let Some(banner) = session::banner(words, self.number) {
            self.close_table();
            self.mode = Mode::Nothing;
            self.found.banners.push(banner);
            return true;
        }
        if let Some(command) = session::command(words, self.number) {
            self.close_table();
            self.mode = Mode::Nothing;
            self.found.commands.push(command);
            return true;
        }
        if session::is_prompt(words) {
            self.close_table();
            self.mode = Mode::Other;
            return true;
        }
        if words::is_ruler(words) {
            self.ruler();
            return true;
        }
        self.decoration(text, words)
    }

    /// A line of dashes: beneath headings, between intervals, behind the calls.
    fn ruler(&mut self) {
        if matches!(self.mode, Mode::Calls) {
            self.close_table();
            self.mode = Mode::Nothing;
        }
        if let (Mode::Rows, Some(open)) = (&self.mode, &mut self.open) {
            open.close_interval(&mut self.damage);
        }
    }

    /// Lines that say what is known.
    fn decoration(&mut self, text: &str, words: &[&str]) -> bool {
        let calls = "Detailed information on Hypervisor Calls";
        if text == calls {
            self.begin(tools::calls(), Stamp::default());
            self.mode = Mode::Calls;
            return true;
        }
        if matches!(self.mode, Mode::Calls) && matches!(words, ["Hypervisor" | "Call", ..]) {
            return true;
        }
        let is_title = text.starts_with("Physical Processor Utili")
            || text.starts_with("---")
            || text.starts_with("***")
            || tools::is_group(words);
        if words
            .iter()
            .any(|word| word.eq_ignore_ascii_case("restart") || *word == "restarts")
        {
            // Time before and after a restart is no interval.
            self.close_table();
            self.mode = Mode::Nothing;
            let why = || "the system was started anew here".to_owned();
            self.damage.remark(self.number, why);
            return true;
        }
        is_title
    }

    /// Headings open a table; headings that are repeated go on with it.
    fn heading(&mut self, words: &[&str], stamp: Stamp) -> bool {
        let Some(heading) = tools::recognise(tools::without_time(words)) else {
            return false;
        };
        let going_on = match &mut self.open {
            Some(open) if open.heading == heading => {
                open.close_interval(&mut self.damage);
                open.heading_at(stamp)
            }
            _ => false,
        };
        if !going_on {
            self.begin(heading, stamp);
        }
        self.mode = Mode::Rows;
        true
    }

    /// Headings of a table of sysstat's that is none of those taken, or the headings above means:
    /// a time, or a word for the means, and words of which none is a number.
    fn other_begins(&mut self, words: &[&str], stamp: Stamp) -> bool {
        let of_linux = |banner: &Banner| banner.system == "Linux";
        let (means, names) = match words {
            [first, rest @ ..] if means_mean(first) => (true, rest),
            _ => (false, words),
        };
        let sysstat = stamp.time.is_some() || self.found.banners.last().is_some_and(of_linux);
        let all_names = !names.is_empty() && names.iter().all(|word| words::value(word).is_none());
        if !(sysstat && all_names) {
            return false;
        }
        if let (Mode::Rows, Some(open)) = (&self.mode, &mut self.open) {
            open.close_interval(&mut self.damage);
        }
        self.mode = Mode::Other;
        let heading = words::joined(names);
        if !means && self.others.len() < MOST_OTHERS && !self.others.contains(&heading) {
            if self.others.is_empty() {
                self.first_other = self.number;
            }
            self.others.push(heading);
        }
        true
    }

    fn begin(&mut self, heading: Heading, stamp: Stamp) {
        self.close_table();
        let last = |count: usize| count.checked_sub(1);
        let table = Table {
            report: heading.report,
            line: self.number,
            configuration: last(self.found.configurations.len()),
            banner: last(self.found.banners.len()),
            command: last(self.found.commands.len()),
            ..Table::default()
        };
        let day = self.found.banners.last().and_then(|banner| banner.day);
        let mut open = Open::new(table, heading);
        open.begin_at(day, stamp);
        self.open = Some(open);
    }

    fn close_table(&mut self) {
        let Some(mut open) = self.open.take() else {
            return;
        };
        open.close_interval(&mut self.damage);
        let mut table = open.table;
        let since_boot = table.lines.len() > 1
            && match table.report {
                "vmstat" => table.columns.iter().any(|name| name == "swpd"),
                report => report == "iostat",
            };
        if since_boot {
            let line = table.lines.remove(0) as usize;
            let end = table.times.remove(0);
            // The next interval begins where this one ends.
            table.start = table.start.or(Some(end).filter(|end| !end.is_nan()));
            table.values.iter_mut().for_each(|column| {
                column.remove(0);
            });
            table.intervals -= 1;
            let why = || "the first row is the mean since the start of the system".to_owned();
            self.damage.remark(line, why);
        }
        if table.intervals > 0 {
            self.found.tables.push(table);
        }
    }

    /// Listings that are no tables over time.
    fn listing_begins(&mut self, text: &str, words: &[&str]) -> bool {
        let mode = if tools::is_affinity(words) {
            self.found.affinity.push(Affinity {
                line: self.number,
                ..Affinity::default()
            });
            Mode::Affinity
        } else if matches!(words, ["NAME", "CUR", "DEF", ..]) {
            Mode::Tunables(None)
        } else if let Some(processors) = listing::processors(words) {
            return self.processors(processors);
        } else if let Some(fact) = listing::fact(text, matches!(self.mode, Mode::Information)) {
            return self.fact(fact);
        } else {
            return false;
        };
        self.close_table();
        self.mode = mode;
        true
    }

    /// Names of processors of `mpstat -s`, a line above their shares.
    fn processors(&mut self, names: Vec<String>) -> bool {
        let threads = tools::shares();
        if self
            .open
            .as_ref()
            .is_none_or(|open| open.heading != threads)
        {
            self.begin(threads, Stamp::default());
        }
        self.mode = Mode::Names(names);
        true
    }

    /// A label and a value.
    fn fact(&mut self, (label, value): (String, String)) -> bool {
        self.close_table();
        let again = |listing: &Information| listing.facts.iter().any(|known| known.0 == label);
        let room = |listing: &Information| listing.facts.len() < MOST_FACTS && !again(listing);
        let going_on = matches!(self.mode, Mode::Information)
            && self.found.information.last().is_some_and(room);
        if !going_on {
            let (line, facts) = (self.number, Vec::new());
            self.found.information.push(Information { line, facts });
        }
        if let Some(listing) = self.found.information.last_mut() {
            listing.facts.push((label, value, self.number));
        }
        self.mode = Mode::Information;
        true
    }

    /// What is left is a row of what was opened last.
    fn row(&mut self, raw: &str, words: &[&str], stamp: Stamp) {
        let within = matches!(self.mode, Mode::Rows | Mode::Averages);
        if within && is_average(words) {
            if let Some(open) = &mut self.open {
                open.close_interval(&mut self.damage);
            }
            self.mode = Mode::Averages;
            return;
        }
        match std::mem::take(&mut self.mode) {
            Mode::Averages if stamp.is_none() && ends_in_value(words) => {
                self.mode = Mode::Averages;
            }
            Mode::Rows | Mode::Averages => {
                self.mode = Mode::Rows;
                self.table_row(raw, words, stamp);
            }
            Mode::Other => self.mode = Mode::Other,
            Mode::Calls => {
                self.mode = Mode::Calls;
                self.table_row(raw, words, stamp);
            }
            Mode::Names(names) => self.shares(&names, words),
            Mode::Affinity => self.domain(words),
            Mode::Tunables(name) => self.tunable(name, raw, words),
            Mode::Legend if listing::is_legend(words) => self.mode = Mode::Legend,
            mode => {
                self.mode = mode;
                self.stray(raw, words);
            }
        }
    }

    fn table_row(&mut self, raw: &str, words: &[&str], stamp: Stamp) {
        let without;
        let mut kept: Vec<&str> = words.to_vec();
        if raw.contains('[') {
            without = words::without_brackets(&words::joined(words));
            kept = without.split_whitespace().collect();
        }
        let indented = raw.starts_with(char::is_whitespace);
        let Some(open) = &mut self.open else {
            return self.stray(raw, words);
        };
        match open.row(indented, &kept, stamp, self.number, &mut self.damage) {
            Taken::Yes => {}
            Taken::No(why) => self.lost(|| why),
            Taken::Back => {
                let why = || "the clock goes back: what follows is a recording of its own";
                self.damage.remark(self.number, || why().to_owned());
                let heading = open.heading.clone();
                self.begin(
                    heading,
                    Stamp {
                        time: None,
                        ..stamp
                    },
                );
                self.mode = Mode::Rows;
                self.table_row(raw, words, stamp);
            }
        }
    }

    /// Shares beneath the names of processors.
    fn shares(&mut self, names: &[String], words: &[&str]) {
        if names.len() != words.len() {
            let (found, expected) = (words.len(), names.len());
            return self.lost(|| format!("{found} shares beneath {expected} processors"));
        }
        for (name, share) in names.iter().zip(words) {
            self.table_row(" ", &[name, share], Stamp::default());
        }
    }

    fn domain(&mut self, words: &[&str]) {
        self.mode = Mode::Affinity;
        let listing = self.found.affinity.last_mut();
        if !listing.is_some_and(|listing| listing::domain(listing, words, self.number)) {
            self.lost(|| format!("{:?} is no affinity domain", quoted(&words::joined(words))));
        }
    }

    /// A line beneath the headings of `schedo -L`.
    fn tunable(&mut self, name: Option<String>, raw: &str, words: &[&str]) {
        self.mode = Mode::Tunables(None);
        let indented = raw.starts_with(char::is_whitespace);
        let row: Vec<&str> = match &name {
            Some(name) if indented => std::iter::once(name.as_str())
                .chain(words.iter().copied())
                .collect(),
            _ => words.to_vec(),
        };
        let found = listing::tunable(&row, self.number);
        if let Some(tunable) = found.or_else(|| listing::assignment(words, self.number)) {
            self.found.tunables.push(tunable);
        } else if listing::is_legend(words) {
            self.mode = Mode::Legend;
        } else if let ([name], false) = (words, indented) {
            self.mode = Mode::Tunables(Some((*name).to_owned()));
        } else if !(indented && words.len() <= 2 || words[0].starts_with("##")) {
            // What a tunable depends on is set in beneath it.
            self.lost(|| format!("{:?} is no tunable", quoted(raw.trim())));
        }
    }

    /// A line that belongs to nothing.
    fn stray(&mut self, raw: &str, words: &[&str]) {
        if let Some(tunable) = listing::assignment(words, self.number) {
            self.found.tunables.push(tunable);
        } else if listing::is_counter(words) {
            if !matches!(self.mode, Mode::Counters) {
                let why = "counters since the start of the system have no interval: left out";
                self.damage.remark(self.number, || why.to_owned());
            }
            self.close_table();
            self.mode = Mode::Counters;
        } else {
            self.lost(|| format!("{:?} belongs to no report", quoted(raw.trim())));
        }
    }
}

/// A row of means: `Average`, `Average:` or what other languages have for it, and values. `sar -w`
/// has one or two of them; where a word is not known, more are asked for.
fn is_average(words: &[&str]) -> bool {
    let Some((first, values)) = words.split_first() else {
        return false;
    };
    let enough = if first.starts_with("Average") { 1 } else { 3 };
    means_mean(first) && values.len() >= enough && ends_in_value(words)
}

/// `Average`, `Average:` or what may be another language's word for it.
fn means_mean(first: &str) -> bool {
    let likely = first.len() > 3 && first.ends_with(':') && !first.contains('=');
    likely || first == "Average"
}

fn ends_in_value(words: &[&str]) -> bool {
    words
        .last()
        .is_some_and(|word| words::value(word).is_some())
}
