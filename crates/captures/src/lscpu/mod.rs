//! What `lscpu` prints: its summary as text and as JSON (`-J`), and its tables for machines (`-p`)
//! and for people (`-e`, also with `-J`).
//!
//! The summary says how many of what there are, not which processors share a core: without a table
//! they are put into cores in the order of their numbers, node by node, and a remark says so.

mod fields;
mod found;
mod json;
mod table;
mod tree;

use crate::damage::{no_end_of_line, Damage, Lenient};
use crate::error::{quoted, CaptureError};
use crate::topology::Host;
use found::Found;
use table::Table;

/// Reads what `lscpu` printed.
pub fn read(text: &str) -> Result<Lenient<Host>, CaptureError> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err(CaptureError::Empty { tool: "lscpu" });
    }
    let mut damage = Damage::default();
    let found = match text.trim_start().starts_with('{') {
        true => json::read(text, &mut damage),
        false => lines(text, &mut damage),
    };
    if found.fields.is_empty() && found.table.is_none() {
        return Err(CaptureError::Unexpected {
            line: 1,
            expected: "lines of lscpu such as \"CPU(s): 8\"",
            found: quoted(text.lines().next().unwrap_or("")),
        });
    }
    let host = tree::host(&found, &mut damage);
    Ok(damage.with(host.summed()))
}

/// The summary and the tables of a text.
fn lines(text: &str, damage: &mut Damage) -> Found {
    let mut found = Found::default();
    let mut columns: Option<Vec<String>> = None;
    for (place, line) in text.lines().enumerate() {
        let (number, line) = (place + 1, line.trim_end());
        if let Some(heading) = table::heading(line) {
            if found.table.is_none() {
                found.table = Some(Table::new(&heading, damage, number));
                columns = Some(heading);
            } else {
                columns = None;
                damage.remark(number, || "a second table; the first counts".into());
            }
        } else if line.starts_with('#') || line.trim().is_empty() {
            continue;
        } else if let (Some(_), Some(table)) = (&columns, &mut found.table) {
            table.row(line, number, damage);
        } else if found.table.is_some() && line.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        } else {
            found.fields.line(line, number, damage);
        }
    }
    if !text.ends_with('\n') {
        no_end_of_line(damage, text.lines().count());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{console, Kind};

    const SUMMARY: &str = "\
Architecture:        x86_64
CPU(s):              8
On-line CPU(s) list: 0-7
Thread(s) per core:  2
Core(s) per socket:  2
Socket(s):           2
Model name:          Some Processor
CPU max MHz:         3100.0000
L1d cache:           128 KiB (4 instances)
L3 cache:            16 MiB (2 instances)
NUMA node(s):        2
NUMA node0 CPU(s):   0-1,4-5
NUMA node1 CPU(s):   2-3,6-7
";

    #[test]
    fn a_summary_makes_an_even_tree() {
        let read = read(SUMMARY).expect("a summary");
        let host = read.found;
        assert_eq!(
            (host.processor.as_deref(), host.clock_mhz),
            (Some("Some Processor"), Some(3100.0))
        );
        let tree = host.topology.expect("a tree").root;
        let sizes: Vec<_> = tree.all(Kind::named("L3").unwrap_or_default());
        assert_eq!(
            sizes.iter().map(|cache| cache.bytes).collect::<Vec<_>>(),
            [Some(8 << 20); 2]
        );
        assert_eq!(
            host.summary,
            "2 Package, 2 L3, 4 L1d, 4 Core, 8 PU, 2 NUMANode"
        );
        assert_eq!(
            (read.dropped, read.remarks.len()),
            (0, 1),
            "{:?}",
            read.remarks
        );
    }

    #[test]
    fn cores_of_several_kinds_are_all_counted() {
        let text = include_str!("../../../../fuzz/seeds/lscpu/kinds.txt");
        let read = read(text).expect("a summary");
        assert_eq!(read.dropped, 0, "{:?}", read.remarks);
        let host = read.found;
        assert_eq!(host.processor.as_deref(), Some("Cortex-A55"));
        assert_eq!(
            host.summary,
            "1 Package, 1 L3, 8 L2, 8 L1d, 8 L1i, 8 Core, 8 PU, 1 NUMANode"
        );
    }

    #[test]
    fn json_says_the_same_also_cut_short() {
        let row = |line: &str| {
            let (field, data) = line.split_once(':').unwrap_or_default();
            format!("{{\"field\": \"{field}:\", \"data\": \"{}\"}}", data.trim())
        };
        let rows: Vec<String> = SUMMARY.lines().map(row).collect();
        let json = format!("{{\"lscpu\": [\n{}\n]}}", rows.join(",\n"));
        let (text, whole) = (read(SUMMARY).expect("text"), read(&json).expect("JSON"));
        assert_eq!(text.found, whole.found);
        let cut = read(json.strip_suffix("-7\"}\n]}").expect("its end")).expect("cut JSON");
        assert!(cut.dropped > 0);
    }

    #[test]
    fn a_table_says_which_share_a_core() {
        let text =
            "# CPU,Core,Socket,Node,,L1d,L1i,L2\n0,0,0,0,,0,0,0\n1,1,0,0,,1,1,0\n2,0,0,0,,0,0,0\n\
                    x,1\n";
        let read = read(text).expect("a table");
        assert_eq!(read.dropped, 1);
        let tree = read.found.topology.expect("a tree");
        let text = console(&tree);
        assert!(
            text.contains("Core L#0 (P#0)\n            PU L#0 (P#0)\n            PU L#1 (P#2)"),
            "{text}"
        );
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "\n\n", "hello", "{}", "{\"a\": 1}", "a: b\nc: d"] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn numbers_that_no_host_has_are_dropped() {
        let text = "CPU(s): 4000000000\nOn-line CPU(s) list: 0-3999999999\nSocket(s): 4000000000\n";
        let read = read(text).expect("fields");
        assert!(read.found.topology.is_none() && read.dropped > 0);
    }
}
