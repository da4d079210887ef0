//! The results, for people and for programs.

use std::process::Command;

use crate::aims;
use crate::growth::{self, Growth};
use crate::load::Answer;
use crate::profile::Profile;
use crate::rounds::{Measured, Results, Spread};

/// One JSON object on one line.
pub fn json(results: &Results) -> String {
    let (processor, commit) = (processor(), commit());
    let here = serde_json::json!({"processor": processor, "commit": commit, "results": results});
    here.to_string()
}

/// What a profile saw, as one JSON object on one line.
pub fn profile_json(profile: &Profile) -> String {
    serde_json::json!(profile).to_string()
}

/// A table of at most 120 columns.
pub fn text(results: &Results) -> String {
    let (processor, commit, rounds) = (processor(), commit(), results.rounds);
    let mut text =
        format!("{processor}; commit {commit}; median of {rounds} rounds [least-greatest]\n");
    let mut group = "";
    for case in results.cases.iter().filter(|it| it.group != growth::GROUP) {
        if case.group != group {
            group = case.group;
            let columns = ["M events/s", "of the bare loop", "x real", "aim"];
            text += &line(&format!("\n{group:<53}"), columns);
        }
        text += &row(case);
    }
    text + &table(&results.growth) + &answers(results)
}

/// A line of the table without blanks at its end.
fn line(name: &str, [a, b, c, d]: [&str; 4]) -> String {
    let line = format!("{name:<53}{a:>23}{b:>23}{c:>7}{d:>14}");
    line.trim_end().to_string() + "\n"
}

fn row(case: &Measured) -> String {
    let events = spread(case.events_per_s, 1e-6, 1);
    let ratio = if case.name == case.yardstick {
        "1".to_string()
    } else {
        spread(case.ratio, 1.0, 2)
    };
    let simulated = case.simulated_s_per_s;
    let simulated = simulated.map_or(String::new(), |it| short(it.median));
    let columns = [&*events, &*ratio, &*simulated, &*verdict(case)];
    line(&format!("  {}", case.name), columns)
}

fn verdict(case: &Measured) -> String {
    match (case.aim, case.reached()) {
        (Some(aim), Some(true)) => format!("{aim:.2} reached"),
        (Some(aim), _) => format!("short of {aim:.2}"),
        (None, _) => String::new(),
    }
}

/// A number of which the first two digits matter.
fn short(number: f64) -> String {
    let decimals = usize::from(number < 10.0) + usize::from(number < 1.0);
    format!("{number:.decimals$}")
}

/// Three numbers with so many decimals: more where nothing would be left of them, none where there
/// are digits enough.
fn spread(spread: Spread, unit: f64, decimals: usize) -> String {
    let [median, min, max] = [spread.median, spread.min, spread.max].map(|x| x * unit);
    let decimals = match median {
        tiny if tiny < 0.01 => 4,
        small if small < 0.1 => 3,
        large if large >= 100.0 => 0,
        _ => decimals,
    };
    format!("{median:.decimals$} [{min:.decimals$}-{max:.decimals$}]")
}

/// A row for each axis along which a model grows.
fn table(growth: &[Growth]) -> String {
    let rows: String = growth.iter().map(growth_row).collect();
    if rows.is_empty() {
        return rows;
    }
    let aim = format!("at most {:.0}", aims::GROWTH);
    format!(
        "\n{:<84}{:>10}{:>9}{:>7}{aim:>10}\n",
        "Growth: us an event, by size", "set-up ms", "exponent", "growth"
    ) + &rows
}

fn growth_row(growth: &Growth) -> String {
    let costs = growth.us_by_size.iter();
    let costs = costs.map(|(size, us)| format!("{:>15}", format!("{}: {us:.3}", grouped(*size))));
    let (costs, setup_ms): (String, f64) = (costs.collect(), growth.setup_ms);
    let verdict = if growth.reached() { "reached" } else { "short" };
    let figures = format!("{:>9.2}{:>7.2}", growth.exponent, growth.growth);
    let name = growth.name;
    format!("  {name:<37}{costs:<45}{setup_ms:>10.1}{figures}{verdict:>10}\n")
}

/// A number with a comma before its last three digits.
fn grouped(number: u16) -> String {
    match (number / 1_000, number % 1_000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{thousands},{rest:03}"),
    }
}

fn answers(results: &Results) -> String {
    let rows = results.cases.iter().flat_map(|case| {
        let row = |answer| answer_row(&case.name, answer);
        case.answers.iter().map(row)
    });
    let rows: String = rows.collect();
    if rows.is_empty() {
        return rows;
    }
    line(
        &format!("\n{:<53}", "Answers"),
        ["came out", "must be", "", ""],
    ) + &rows
}

fn answer_row(case: &str, answer: &Answer) -> String {
    let verdict = if answer.is_right() { "" } else { "WRONG" };
    let value = format!("{:.6}", answer.value);
    let expected = format!("{} +- {:.5}", answer.expected, answer.tolerance);
    let name = format!("  {case}: {}", answer.name);
    line(&name, [&value, &expected, verdict, ""])
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cases, sizes};

    fn measured(name: &str, ratio: f64, aim: Option<f64>) -> Measured {
        Measured {
            aim,
            ratio: Spread::all(ratio),
            simulated_s_per_s: Some(Spread::all(12_345.6)),
            ..Measured::of_rate(name, 9_999.94e6)
        }
    }

    #[test]
    fn what_is_short_of_its_aim_is_said_so() {
        assert_eq!(verdict(&measured("a", 0.29, Some(0.3))), "short of 0.30");
        assert_eq!(verdict(&measured("a", 0.30, Some(0.3))), "0.30 reached");
        assert_eq!(verdict(&measured("a", 0.30, None)), "");
    }

    #[test]
    fn no_row_is_wider_than_120_columns() {
        let cases = cases::all().into_iter();
        for case in cases.filter(|case| case.group != growth::GROUP) {
            for ratio in [0.0123, 99.994] {
                let row = row(&measured(&case.name, ratio, Some(0.3)));
                assert!(row.trim_end().chars().count() <= 120, "{row}");
            }
        }
    }

    #[test]
    fn no_row_of_growth_is_wider_than_120_columns() {
        for axis in sizes::axes() {
            let growth = Growth {
                name: axis.name,
                us_by_size: axis.sizes.map(|size| (size, 99.999)).to_vec(),
                setup_ms: 12_345.67,
                exponent: -0.12,
                growth: 123.4,
                aim: aims::GROWTH,
            };
            let row = growth_row(&growth);
            assert_eq!(row.trim_end().chars().count(), 120, "{row}");
        }
    }

    #[test]
    fn thousands_have_a_comma() {
        let grouped = [8, 999, 1_000, 10_024].map(grouped);
        assert_eq!(grouped, ["8", "999", "1,000", "10,024"]);
    }
}
