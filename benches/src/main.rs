//! How fast the engine is, as ratios to a bare loop on the same machine in the same run.
//!
//! Every round measures every case once, one after the other, so that a machine that slows down
//! slows all of them down; what is printed is the median over the rounds with the least and the
//! greatest. The answers of W1 and W2 are checked: a fast loop that computes something else is no
//! yardstick. How the program is called stands in [`options::USAGE`].

mod aims;
mod bare;
mod calls;
mod case;
mod cases;
mod cells;
mod costs;
mod devices;
mod engine;
mod frames;
mod growth;
mod hosts;
mod kernel;
mod load;
mod nmon;
mod options;
mod policies;
mod profile;
mod report;
mod rounds;
mod scenarios;
mod sizes;
mod zvm;

use std::process::ExitCode;

use options::{Options, Task};
use rounds::measure;

fn main() -> ExitCode {
    let options = options::parse(std::env::args().skip(1));
    match options.and_then(|options| carry_out(&options)) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{message}\n\n{}", options::USAGE);
            ExitCode::from(2)
        }
    }
}

fn carry_out(options: &Options) -> Result<ExitCode, String> {
    match &options.task {
        Task::Measure(words) => return measure_all(words, options),
        Task::Profile(word, seconds) => profile_one(word, *seconds, options.json)?,
        Task::List => cases::all()
            .iter()
            .for_each(|case| println!("{}", case.name)),
    }
    Ok(ExitCode::SUCCESS)
}

fn profile_one(word: &str, seconds: f64, json: bool) -> Result<(), String> {
    let case = options::the_one(cases::all(), word)?;
    let seen = profile::profile(case, seconds);
    if json {
        println!("{}", report::profile_json(&seen));
    } else {
        print!("{}", seen.text());
    }
    Ok(())
}

fn measure_all(words: &[String], options: &Options) -> Result<ExitCode, String> {
    let mut cases = cases::all();
    options::choose(&mut cases, words)?;
    let results = measure(&mut cases, options.rounds, |round| {
        if !options.json {
            eprint!("\rround {round} of {} ", options.rounds);
        }
    });
    if options.json {
        println!("{}", report::json(&results));
    } else {
        eprint!("\r                    \r");
        print!("{}", report::text(&results));
    }
    let wrong = !results.answers_are_right();
    Ok(ExitCode::from(u8::from(wrong)))
}
