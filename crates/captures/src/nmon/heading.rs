//! Lines that name the columns of a section.

use crate::nmon::number::{plain, Field};

/// Columns that hold words. In all others a word is damage.
const WORDS: [&str; 9] = [
    "Command",
    "WLMclass",
    "Subclass",
    "PROG",
    "ProgName",
    "COMM",
    "USER",
    "GROUP",
    "FullCommand",
];
/// Of these, those in which a comma is part of the text.
const FREE: [&str; 3] = ["Command", "FullCommand", "ProgName"];

/// The columns of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    /// Names as written, without blanks around them; without the process number's plus sign and
    /// without the column of the snapshot.
    pub columns: Vec<String>,
    /// Which field of a row, counted from 0 behind the section's name, holds the snapshot.
    pub snapshot: usize,
}

impl Heading {
    /// Reads what follows the section's name; nothing if it names no columns.
    ///
    /// `title,column,...` or, for processes, `+PID,Time,...`, in which `Time` stands for the
    /// snapshot.
    pub(crate) fn parse(rest: &[u8]) -> Option<Self> {
        let names = |text: &[u8]| -> Vec<String> {
            let fields = text.split(|byte| *byte == b',');
            fields.map(|field| words(field).trim().to_owned()).collect()
        };
        if let Some(processes) = rest.strip_prefix(b"+") {
            let mut columns = names(processes);
            let snapshot = columns.iter().position(|name| name == "Time")?;
            columns.remove(snapshot);
            return Some(Self { columns, snapshot }).filter(Self::is_sound);
        }
        let title = rest.iter().position(|byte| *byte == b',')?;
        let mut columns = names(&rest[title + 1..]);
        while columns.last().is_some_and(String::is_empty) {
            columns.pop();
        }
        let heading = Self {
            columns,
            snapshot: 0,
        };
        Some(heading).filter(Self::is_sound)
    }

    /// The columns that nmon writes into a section, for a recording whose beginning is lost.
    pub(crate) fn usual(table: &str, width: usize) -> Option<Self> {
        let columns: &[&str] = match (table, width) {
            ("LPAR", 20) => &LPAR[..20],
            ("LPAR", 21) => &LPAR,
            ("CPU_ALL", 6) => &["User%", "Sys%", "Wait%", "Idle%", "Busy", "CPUs"],
            ("CPU", 4) => &["User%", "Sys%", "Wait%", "Idle%"],
            ("CPU", 5) => &["User%", "Sys%", "Wait%", "Idle%", "Steal%"],
            ("PCPU" | "SCPU" | "SCPU_ALL", 4) => &["User", "Sys", "Wait", "Idle"],
            ("PCPU_ALL", 5) => &["User", "Sys", "Wait", "Idle", "Entitled Capacity"],
            _ => return None,
        };
        let columns = columns.iter().map(|name| (*name).to_owned()).collect();
        Some(Self {
            columns,
            snapshot: 0,
        })
    }

    /// Whether a column holds words.
    pub(crate) fn holds_words(name: &str) -> bool {
        WORDS.contains(&name)
    }

    /// The column that takes the commas of a row with too many, if one may hold any.
    pub(crate) fn free(&self) -> Option<usize> {
        let is_free = |name: &String| FREE.contains(&name.as_str());
        self.columns.iter().rposition(is_free)
    }

    /// A row that lost its snapshot is no heading: most names are no numbers.
    fn is_sound(&self) -> bool {
        let named = self.columns.iter().filter(|name| !name.is_empty());
        let (mut names, mut numbers) = (0, 0);
        for name in named {
            names += 1;
            numbers += usize::from(matches!(plain(name.as_bytes()), Field::Number(_)));
        }
        names > 0 && numbers * 2 <= names
    }
}

const LPAR: [&str; 21] = [
    "PhysicalCPU",
    "virtualCPUs",
    "logicalCPUs",
    "poolCPUs",
    "entitled",
    "weight",
    "PoolIdle",
    "usedAllCPU%",
    "usedPoolCPU%",
    "SharedCPU",
    "Capped",
    "EC_User%",
    "EC_Sys%",
    "EC_Wait%",
    "EC_Idle%",
    "VP_User%",
    "VP_Sys%",
    "VP_Wait%",
    "VP_Idle%",
    "Folded",
    "Pool_id",
];

/// Bytes as text: UTF-8 if they are, else Latin-1, which old systems write.
pub(crate) fn words(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes).map_or_else(
        |_| bytes.iter().map(|byte| char::from(*byte)).collect(),
        str::to_owned,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(rest: &str) -> Option<Vec<String>> {
        Heading::parse(rest.as_bytes()).map(|heading| heading.columns)
    }

    #[test]
    fn headings_name_columns() {
        assert_eq!(
            columns("PCPU Total web,User  ,Sys  , Entitled Capacity ").unwrap(),
            ["User", "Sys", "Entitled Capacity"]
        );
        let heading = Heading::parse(b"+PID,Time,%CPU,Command,WLMclass").unwrap();
        assert_eq!(heading.columns, ["PID", "%CPU", "Command", "WLMclass"]);
        assert_eq!((heading.snapshot, heading.free()), (1, Some(2)));
        assert_eq!(
            Heading::parse(b"+Time,PID,FullCommand").unwrap().snapshot,
            0
        );
    }

    #[test]
    fn other_lines_name_none() {
        for rest in [
            "%CPU Utilisation",
            "",
            "title,",
            "title,1.0,2.0,3",
            "+PID,%CPU",
        ] {
            assert_eq!(columns(rest), None, "{rest}");
        }
    }

    #[test]
    fn old_systems_write_latin_1() {
        assert_eq!(words(b"h\xf4te"), "h\u{f4}te");
        assert_eq!(words("h\u{f4}te".as_bytes()), "h\u{f4}te");
    }
}
