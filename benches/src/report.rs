//! The results, for people and for programs.

use std::fmt::Write;
use std::process::Command;

use crate::rounds::{Measured, Results, Spread};

/// One JSON object on one line.
pub fn json(results: &Results) -> String {
    let (processor, commit) = (processor(), commit());
    let here = serde_json::json!({"processor": processor, "commit": commit, "results": results});
    here.to_string()
}

/// A table.
pub fn text(results: &Results) -> String {
    let mut text = String::new();
    let (processor, commit) = (processor(), commit());
    let rounds = results.rounds;
    writeln!(
        text,
        "{processor}; commit {commit}; median of {rounds} rounds [least - greatest]"
    )
    .expect("a string takes all");
    let mut group = "";
    for case in &results.cases {
        if case.group != group {
            group = case.group;
            write!(text, "\n{group:<40}{:>22}{:>26}", "M events/s", "ratio").expect("as above");
            text.push_str("   simulated s/s\n");
        }
        text.push_str(&row(case));
    }
    text.push_str(&answers(results));
    text
}

fn row(case: &Measured) -> String {
    let events = spread(case.events_per_s, 1e-6, 1);
    let ratio = if case.name == case.yardstick {
        String::new()
    } else {
        spread(case.ratio, 1.0, 2)
    };
    let of =
        if case.group == "Whole frames" && ratio.is_empty() || case.yardstick.starts_with("bare") {
            ""
        } else {
            " of one"
        };
    let simulated = case.simulated_s_per_s.map(|it| format!("{:.0}", it.median));
    let simulated = simulated.unwrap_or_default();
    format!(
        "  {:<38}{events:>22}{ratio:>19}{of:<7}{simulated:>16}\n",
        case.name
    )
}

fn spread(spread: Spread, unit: f64, decimals: usize) -> String {
    let [median, min, max] = [spread.median, spread.min, spread.max].map(|x| x * unit);
    format!("{median:.decimals$} [{min:.decimals$} - {max:.decimals$}]")
}

fn answers(results: &Results) -> String {
    let mut text = format!("\n{:<40}{:>14}{:>14}\n", "Answers", "came out", "must be");
    for case in &results.cases {
        for answer in &case.answers {
            let name = format!("{}: {}", case.name, answer.name);
            let verdict = if answer.is_right() { "" } else { "   WRONG" };
            let (value, expected) = (answer.value, answer.expected);
            let value = format!("{value:.6}");
            let expected = format!("{expected} +- {:.1e}", answer.tolerance);
            writeln!(text, "  {name:<38}{value:>14}{expected:>24}{verdict}").expect("as above");
        }
    }
    text
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
