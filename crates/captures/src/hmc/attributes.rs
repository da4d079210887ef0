//! Rows of `key=value` fields with commas between them, as the commands of an HMC print them, or
//! rows of values under a line of names (`-F ... --header`).
//!
//! A field with a comma in it stands in quotes as a whole; a quote within is doubled. Which command
//! a row is from is told by its keys, in a session also by the command above it. Counters of
//! `lslparutil` become use by partition at once, so that a listing of weeks needs little memory.

use serde::Serialize;

use crate::damage::{no_end_of_line, Damage, Lenient};
use crate::error::{quoted, CaptureError};
use crate::hmc::session::{self, Command};
use crate::hmc::usage::{PartitionUse, Usage};

const LONGEST_LINE: usize = 65_536;
const MOST_FIELDS: usize = 400;
/// Lines in which a row must be found for a text to be known.
const MOST_TRIED: usize = 40;

/// A row that is not a sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Line, counted from 1.
    pub line: usize,
    /// Command and resource: `lshwres proc lpar`.
    pub kind: &'static str,
    /// The managed system that the command above it asked, as it was typed.
    pub system: Option<String>,
    /// Names and values.
    pub fields: Vec<(String, String)>,
}

/// All rows of a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Listing {
    /// Rows that describe systems, partitions, pools and profiles.
    pub rows: Vec<Row>,
    /// Use of partitions between samples of `lslparutil`.
    pub usage: Vec<PartitionUse>,
    /// Samples that were read.
    pub samples: u64,
}

/// Whether a text begins with such rows.
#[must_use]
pub fn recognise(head: &str) -> bool {
    let mut above = Above::default();
    for line in head
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .take(MOST_TRIED)
    {
        match above.cells(line) {
            Cells::Row(fields) if above.kind(&fields).is_some() => return true,
            Cells::Bare => return true,
            _ => {}
        }
    }
    false
}

/// Read all rows; forgiving.
///
/// # Errors
/// No line is a row that is known.
pub fn rows(text: &str) -> Result<Lenient<Listing>, CaptureError> {
    let mut damage = Damage::default();
    let mut listing = Listing::default();
    let mut usage = Usage::default();
    let mut above = Above::default();
    let mut bare = None;
    for (index, line) in text.lines().enumerate() {
        let (line, number) = (line.trim(), index + 1);
        if line.is_empty() || line.starts_with("No results were found") {
            continue;
        }
        let found = match above.cells(line) {
            Cells::Row(found) => found,
            Cells::Above => continue,
            Cells::Bare => {
                bare.get_or_insert((number, quoted(line)));
                damage.drop_line(number, || NO_NAMES.to_owned());
                continue;
            }
            // What another command printed is no damage.
            Cells::Neither if above.is_other() => continue,
            Cells::Neither => {
                damage.drop_line(number, || format!("{:?} is no row", quoted(line)));
                continue;
            }
        };
        match above.kind(&found) {
            Some("lslparutil") => {
                listing.samples += 1;
                usage.take(above.system(), &found, number, &mut damage);
            }
            Some(kind) => listing.rows.push(Row {
                line: number,
                kind,
                system: above.system().map(str::to_owned),
                fields: found,
            }),
            None if above.is_other() => {}
            None => damage.drop_line(number, || {
                format!("{:?} is a row of no command that is read", quoted(line))
            }),
        }
    }
    if !text.ends_with('\n') {
        no_end_of_line(&mut damage, text.lines().count());
    }
    listing.usage = usage.differences(&mut damage);
    if listing.rows.is_empty() && listing.samples == 0 {
        return Err(match bare {
            Some((line, found)) => CaptureError::Unexpected {
                line,
                expected: NAMES_ABOVE,
                found,
            },
            None => CaptureError::Empty {
                tool: "lssyscfg, lshwres, lslparutil or lsmemopt",
            },
        });
    }
    Ok(damage.with(listing))
}

const NO_NAMES: &str = "values without names: write the list behind -F above them";
const NAMES_ABOVE: &str = "the names of the values (the list behind -F) as a line above them";

type Fields = Vec<(String, String)>;

/// What a line is.
enum Cells {
    Row(Fields),
    /// A command, or names of the values of the rows beneath.
    Above,
    /// Values of samples whose names stand nowhere.
    Bare,
    Neither,
}

/// What stands above a row: the command that printed it, and the names of its values.
#[derive(Default)]
struct Above {
    command: Option<Command>,
    names: Option<Vec<String>>,
}

impl Above {
    fn system(&self) -> Option<&str> {
        self.command.as_ref()?.system.as_deref()
    }

    /// Whether the command above is one of which nothing is read.
    fn is_other(&self) -> bool {
        let command = self.command.as_ref();
        command.is_some_and(|command| command.kind.is_none())
    }

    /// By the keys of a row, else by the command above it.
    fn kind(&self, fields: &Fields) -> Option<&'static str> {
        let told = || {
            let kind = self.command.as_ref()?.kind?;
            let named = fields
                .iter()
                .any(|(key, _)| key == "name" || key == "lpar_name");
            (named && kind != "lslparutil").then_some(kind)
        };
        kind(fields).or_else(told)
    }

    fn cells(&mut self, line: &str) -> Cells {
        if line.len() > LONGEST_LINE {
            return Cells::Neither;
        }
        if let Some(command) = session::command(line) {
            self.names.clone_from(&command.names);
            self.command = Some(command);
            return Cells::Above;
        }
        let separator = self
            .command
            .as_ref()
            .map_or(',', |command| command.separator);
        let Some(cells) = split(line, separator) else {
            return Cells::Neither;
        };
        let pairs: Option<Fields> = cells.iter().map(|cell| pair(cell)).collect();
        if let Some(pairs) = pairs {
            return Cells::Row(pairs);
        }
        let told = self
            .command
            .as_ref()
            .and_then(|command| command.names.as_ref());
        if told.map_or_else(|| are_names(&cells), |names| *names == cells) {
            self.names = Some(cells);
            return Cells::Above;
        }
        match &self.names {
            Some(names) if names.len() == cells.len() => {
                Cells::Row(names.iter().cloned().zip(cells).collect())
            }
            Some(_) => Cells::Neither,
            None => match session::names_of_bare(&cells) {
                Some(names) => Cells::Row(names.into_iter().zip(cells).collect()),
                None if session::is_bare(&cells) => Cells::Bare,
                None => Cells::Neither,
            },
        }
    }
}

/// Names have underscores; a row of values that looks like this would be odd.
fn are_names(cells: &[String]) -> bool {
    let is_name = |cell: &String| {
        cell.starts_with(|c: char| c.is_ascii_lowercase())
            && cell
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    cells.len() > 1 && cells.iter().all(is_name) && cells.iter().any(|cell| cell.contains('_'))
}

/// Cells between separators; quotes hold a cell with some together.
fn split(line: &str, separator: char) -> Option<Vec<String>> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let cell = cells.last_mut()?;
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            between if between == separator && !quoted => {
                if cells.len() >= MOST_FIELDS {
                    return None;
                }
                cells.push(String::new());
            }
            other => cell.push(other),
        }
    }
    (!quoted).then_some(cells)
}

fn pair(cell: &str) -> Option<(String, String)> {
    let (name, value) = cell.split_once('=')?;
    let named = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    named.then(|| (name.to_owned(), value.to_owned()))
}

/// Command and resource of a row, by keys that only it has.
fn kind(fields: &Fields) -> Option<&'static str> {
    let has = |name: &str| fields.iter().any(|(known, _)| known == name);
    let partition = has("lpar_name") || has("lpar_id");
    let kinds = [
        (
            has("event_type") || has("time_cycles") || has("capped_cycles"),
            "lslparutil",
        ),
        (
            has("curr_sys_score") || has("predicted_sys_score"),
            "lsmemopt sys",
        ),
        (
            has("curr_lpar_score") || has("predicted_lpar_score"),
            "lsmemopt lpar",
        ),
        (
            has("configurable_sys_proc_units") || has("installed_sys_proc_units"),
            "lshwres proc sys",
        ),
        (has("configurable_pool_proc_units"), "lshwres proc pool"),
        (
            has("configurable_sys_mem") || has("installed_sys_mem"),
            "lshwres mem sys",
        ),
        (
            partition && (has("desired_procs") || has("desired_mem")),
            "lssyscfg prof",
        ),
        (
            partition && (has("curr_proc_mode") || has("curr_procs") || has("run_procs")),
            "lshwres proc lpar",
        ),
        (
            partition && (has("curr_mem") || has("run_mem")),
            "lshwres mem lpar",
        ),
        (
            has("shared_proc_pool_id") && (has("max_pool_proc_units") || has("lpar_ids")),
            "lshwres procpool",
        ),
        (has("type_model") && has("serial_num"), "lssyscfg sys"),
        (
            has("name") && has("lpar_id") && (has("lpar_env") || has("os_version")),
            "lssyscfg lpar",
        ),
    ];
    kinds.iter().find(|(fits, _)| *fits).map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_known_by_their_keys() {
        for (line, expected) in [
            (
                "name=frame1,type_model=9119-FHB,serial_num=0210000,state=Operating",
                "lssyscfg sys",
            ),
            (
                "name=db2,lpar_id=3,lpar_env=aixlinux,state=Running",
                "lssyscfg lpar",
            ),
            (
                "configurable_sys_proc_units=16.0,curr_avail_sys_proc_units=9.8",
                "lshwres proc sys",
            ),
            (
                "lpar_name=db2,lpar_id=3,curr_proc_mode=shared,curr_procs=2",
                "lshwres proc lpar",
            ),
            ("lpar_name=db2,lpar_id=3,curr_mem=4096", "lshwres mem lpar"),
            (
                "name=p1,shared_proc_pool_id=1,max_pool_proc_units=2.0",
                "lshwres procpool",
            ),
            (
                "name=normal,lpar_name=db2,desired_procs=2,\"x=a,b\"",
                "lssyscfg prof",
            ),
            (
                "lpar_name=db2,lpar_id=3,curr_lpar_score=none",
                "lsmemopt lpar",
            ),
            ("curr_sys_score=95,predicted_sys_score=100", "lsmemopt sys"),
        ] {
            let read = rows(line).expect(line);
            assert_eq!(read.found.rows[0].kind, expected);
            assert_eq!(read.dropped, 0);
            assert!(recognise(line));
        }
    }

    #[test]
    fn quotes_hold_commas_and_names_may_stand_above() {
        let read = rows("name=a,lpar_id=1,lpar_env=x,\"names=b,\"\"c\"\",d\"\n").expect("a row");
        let last = &read.found.rows[0].fields[3];
        assert_eq!(last, &("names".to_owned(), "b,\"c\",d".to_owned()));
        let text = "lpar_name,lpar_id,curr_procs\ndb2,3,4\ndb3,4\n";
        let read = rows(text).expect("a row");
        let fields = &read.found.rows[0].fields;
        assert_eq!(fields[2], ("curr_procs".to_owned(), "4".to_owned()));
        assert_eq!((read.dropped, read.remarks[0].line), (1, 3));
    }

    #[test]
    fn a_session_tells_names_systems_and_what_is_no_damage() {
        let text = include_str!("../../../../fuzz/seeds/hmc_rows/session.txt");
        let read = rows(text).expect("rows");
        assert_eq!(read.dropped, 0, "{:?}", read.remarks);
        let kinds: Vec<&str> = read.found.rows.iter().map(|row| row.kind).collect();
        assert_eq!(
            kinds,
            [
                "lssyscfg sys",
                "lssyscfg lpar",
                "lssyscfg lpar",
                "lshwres proc lpar"
            ]
        );
        assert_eq!(read.found.rows[1].system.as_deref(), Some("frame9"));
        let usage = &read.found.usage[0];
        assert_eq!(
            (usage.name.as_str(), usage.system.as_deref()),
            ("db2", Some("frame9"))
        );
        assert_eq!(usage.samples.cores, [0.75]);
        assert!(recognise(text));
    }

    #[test]
    fn values_without_names_are_read_in_the_order_of_the_command_or_asked_for() {
        let text = include_str!("../../../../fuzz/seeds/hmc_rows/lslparutil-bare.txt");
        let read = rows(text).expect("samples");
        assert_eq!((read.dropped, read.found.samples), (0, 3));
        assert_eq!(read.found.usage[0].samples.cores, [0.25, 0.5]);
        let some = "06/01/2026 10:00:00,db2,12345678,1234567\n";
        assert!(recognise(some));
        let told = rows(some).expect_err("no names").to_string();
        assert!(
            told.starts_with("line 1: the names of the values"),
            "{told}"
        );
        let named = format!("time,lpar_name,time_cycles,capped_cycles\n{some}");
        assert!(rows(&named).is_ok_and(|read| read.found.samples == 1));
    }

    #[test]
    fn other_rows_are_dropped_and_other_texts_refused() {
        let read = rows("curr_sys_score=95\na=b\nx\n\"a=b\n").expect("a row");
        assert_eq!(read.dropped, 3);
        for text in ["", "a=b\n", "a,b\n1,2\n", "lparcfg 1.9\npurr=7\n"] {
            assert!(rows(text).is_err(), "{text:?}");
            assert!(!recognise(text), "{text:?}");
        }
    }
}
