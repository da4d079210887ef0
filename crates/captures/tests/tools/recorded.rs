//! Recordings of real machines. They are not shipped: where `../shared/captures` is absent beside
//! the repository, the tests say so and pass.

use std::path::{Path, PathBuf};
use std::process::Command;

use homenode_captures::{lparstat, mpstat, Capture, Report, Value};

pub fn recorded(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/captures")
        .join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!(
        "skipped: real recordings are not shipped, {} is not there",
        path.display()
    );
    None
}

fn text(name: &str) -> Option<String> {
    recorded(name).map(|path| std::fs::read_to_string(path).expect("readable"))
}

/// What a command printed, out of the `BBBP` lines of a recording, as they stand there.
pub fn printed(command: &str) -> Option<String> {
    let path = recorded("nmon/aixlpar.nmon.gz")?;
    let unpacked = Command::new("gzip").arg("-dc").arg(path).output().ok()?;
    let marker = format!(",{command},\"");
    let lines = String::from_utf8_lossy(&unpacked.stdout)
        .lines()
        .filter(|line| line.starts_with("BBBP,"))
        .filter_map(|line| line.split_once(&marker))
        .map(|(_, text)| text.trim_end_matches('"').to_owned() + "\n")
        .collect();
    Some(lines)
}

/// The same; the recorder writes its own letter over the first dash of a ruler.
fn printed_with_rulers(command: &str) -> Option<String> {
    printed(command).map(|text| text.replace("n---", "----"))
}

fn fact(capture: &Capture, label: &str) -> Option<Value> {
    let rows = &capture.sections[0].tables[0].rows;
    rows.iter()
        .find(|row| row[0] == Value::Text(label.into()))
        .map(|row| row[1].clone())
}

fn without_trailing_blanks(text: &str) -> String {
    text.lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

#[test]
fn interval_tables_come_back_byte_for_byte() {
    for name in ["shared", "dedicated-donating"] {
        let Some(text) = text(&format!("lparstat/lparstat-aix-{name}.txt")) else {
            return;
        };
        let capture = lparstat::parse(&text).expect("sound");
        assert_eq!(capture.report, Report::LparstatIntervals);
        assert_eq!(lparstat::format(&capture).trim_end(), text.trim_end());
    }
}

#[test]
fn listings_are_read_whatever_their_blanks_and_commas() {
    for (name, rows, entitlement) in [("1", 24, "4.00"), ("2", 43, "0.30"), ("4", 31, "2.00")] {
        let Some(text) = text(&format!("lparstat/lparstat-i-sample{name}.txt")) else {
            return;
        };
        let capture = lparstat::parse(&text).expect("sound");
        assert_eq!(capture.report, Report::LparstatInformation);
        assert_eq!(
            capture.sections[0].tables[0].rows.len(),
            rows,
            "sample {name}"
        );
        let found = fact(&capture, "Entitled Capacity").and_then(|value| value.number());
        assert_eq!(
            found.map(|number| number.to_string()).as_deref(),
            Some(entitlement)
        );
        assert_eq!(
            fact(&capture, "Node Name"),
            Some(Value::Text(format!("sample{name}")))
        );
        let written = lparstat::format(&capture);
        assert_eq!(lparstat::parse(&written), Ok(capture));
        if name == "2" {
            assert_eq!(written, without_trailing_blanks(&text));
        }
    }
}

#[test]
fn the_listing_of_a_recording_comes_back_byte_for_byte() {
    let Some(text) = printed_with_rulers("lparstat -i") else {
        return;
    };
    let capture = lparstat::parse(&text).expect("sound");
    assert_eq!(
        fact(&capture, "Online Memory").map(|value| value.number().map(|n| n.scaled)),
        Some(Some(43008))
    );
    assert_eq!(lparstat::format(&capture), text);
}

#[test]
fn the_hypervisor_table_of_a_recording_comes_back() {
    let Some(text) = printed_with_rulers("lparstat -H") else {
        return;
    };
    let capture = lparstat::parse(&text).expect("sound");
    assert_eq!(capture.report, Report::LparstatHypervisor);
    assert_eq!(capture.sections[0].tables[0].rows.len(), 68);
    assert_eq!(lparstat::format(&capture), without_trailing_blanks(&text));
}

#[test]
fn mpstat_d_of_a_recording_comes_back_without_its_first_heading() {
    let Some(text) = printed_with_rulers("mpstat -d") else {
        return;
    };
    let capture = mpstat::parse(&text).expect("sound");
    assert_eq!(capture.sections[0].tables[0].rows.len(), 29);
    let mut lines: Vec<&str> = text.lines().collect();
    lines.remove(3);
    assert_eq!(
        mpstat::format(&capture),
        without_trailing_blanks(&lines.join("\n"))
    );
}
