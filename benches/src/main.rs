//! How fast the engine is, as ratios to a bare loop on the same machine in the same run.
//!
//! `homenode-bench [--rounds N] [--only WORD] [--json]`. Every round measures every case once, one
//! after the other, so that a machine that slows down slows all of them down; what is printed is
//! the median over the rounds with the least and the greatest. The answers of W1 and W2 are
//! checked: a fast loop that computes something else is no yardstick.

mod bare;
mod calls;
mod cases;
mod cells;
mod costs;
mod devices;
mod engine;
mod hosts;
mod kernel;
mod load;
mod nmon;
mod report;
mod rounds;
mod scenarios;
mod zvm;

use std::process::ExitCode;

use rounds::{measure, Case, Results};

const USAGE: &str = "usage: homenode-bench [--rounds N] [--only WORD] [--json]

  --rounds N   measure every case N times (9 if not given)
  --only WORD  only the cases with this word in their name, and what they are compared with
  --json       print one JSON object instead of the table";

struct Options {
    rounds: usize,
    only: String,
    json: bool,
}

fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut cases = cases::all();
    cases.extend(calls::all());
    cases.extend(nmon::all());
    let chosen = |case: &Case| case.name.contains(&options.only);
    let needed: Vec<&str> = cases
        .iter()
        .filter(|it| chosen(it))
        .map(|it| it.yardstick)
        .collect();
    cases.retain(|case| chosen(case) || needed.contains(&case.name));
    let results = measure(&mut cases, options.rounds, |round| {
        if !options.json {
            eprint!("\rround {round} of {} ", options.rounds);
        }
    });
    print_results(&results, options.json)
}

fn print_results(results: &Results, json: bool) -> ExitCode {
    if json {
        println!("{}", report::json(results));
    } else {
        eprint!("\r                    \r");
        print!("{}", report::text(results));
    }
    ExitCode::from(u8::from(!results.answers_are_right()))
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        rounds: 9,
        only: String::new(),
        json: false,
    };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => options.json = true,
            "--only" => options.only = words.next().ok_or("--only needs a word")?,
            "--rounds" => {
                let number = words.next().ok_or("--rounds needs a number")?;
                options.rounds = number
                    .parse()
                    .ok()
                    .filter(|&rounds| rounds > 0)
                    .ok_or_else(|| format!("--rounds is {number}, it must be a number from 1"))?;
            }
            _ => return Err(format!("{word} is not known")),
        }
    }
    Ok(options)
}
