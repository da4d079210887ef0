//! The results, for people and for programs.

use std::process::Command;

use crate::load::Answer;
use crate::rounds::{Measured, Results, Spread};

/// One JSON object on one line.
pub fn json(results: &Results) -> String {
    let (processor, commit) = (processor(), commit());
    let here = serde_json::json!({"processor": processor, "commit": commit, "results": results});
    here.to_string()
}

/// A table.
pub fn text(results: &Results) -> String {
    let (processor, commit, rounds) = (processor(), commit(), results.rounds);
    let mut text =
        format!("{processor}; commit {commit}; median of {rounds} rounds [least - greatest]\n");
    let mut group = "";
    for case in &results.cases {
        if case.group != group {
            group = case.group;
            text += &heading(group, ["M events/s", "of the bare loop", "x real"]);
        }
        text += &row(case);
    }
    text += &heading("Answers", ["came out", "must be", ""]);
    for case in &results.cases {
        for answer in &case.answers {
            text += &answer_row(case.name, answer);
        }
    }
    text
}

fn heading(name: &str, columns: [&str; 3]) -> String {
    let [a, b, c] = columns;
    format!("\n{name:<54}{a:>26}{b:>26}{c:>8}\n")
}

fn row(case: &Measured) -> String {
    let name = case.name;
    let events = spread(case.events_per_s, 1e-6, 1);
    let ratio = if case.name == case.yardstick {
        "1".to_string()
    } else {
        spread(case.ratio, 1.0, 2)
    };
    let simulated = case.simulated_s_per_s;
    let simulated = simulated.map_or(String::new(), |it| format!("{:.0}", it.median));
    format!("  {name:<52}{events:>26}{ratio:>26}{simulated:>8}\n")
}

/// Three numbers with so many decimals, and more where nothing would be left of them.
fn spread(spread: Spread, unit: f64, decimals: usize) -> String {
    let [median, min, max] = [spread.median, spread.min, spread.max].map(|x| x * unit);
    let decimals = if median < 0.1 { 4 } else { decimals };
    format!("{median:.decimals$} [{min:.decimals$} - {max:.decimals$}]")
}

fn answer_row(case: &str, answer: &Answer) -> String {
    let name = format!("{case}: {}", answer.name);
    let verdict = if answer.is_right() { "" } else { "WRONG" };
    let expected = format!("{} +- {:.5}", answer.expected, answer.tolerance);
    format!(
        "  {name:<52}{:>26.6}{expected:>26}{verdict:>8}\n",
        answer.value
    )
}

/// Model of this machine's processor, where the system tells it.
fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("unknown processor", |name| {
        name.trim_start_matches([' ', '\t', ':'])
    });
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{model}, {threads} logical processors")
}

fn commit() -> String {
    let output = Command::new("git")
        .args(["rev-parse", "--short", "HEAD"])
        .output();
    let text = output.map(|it| String::from_utf8_lossy(&it.stdout).trim().to_string());
    text.ok()
        .filter(|it| !it.is_empty())
        .unwrap_or_else(|| "unknown".to_string())
}
