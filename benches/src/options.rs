//! What is asked for on the command line.

use crate::case::Case;

/// How the program is called.
pub const USAGE: &str = "\
usage: homenode-bench [--only WORD]... [--rounds N] [--json]
       homenode-bench --profile CASE [--seconds S] [--json]
       homenode-bench --list

  --only WORD     only cases with one of these words in their name, and what they are compared with
  --rounds N      measure every case N times (9 if not given)
  --profile CASE  nothing but this case in a loop: its name, or words that no other name has
  --seconds S     how long to profile (10 if not given); what was begun is finished
  --json          print one JSON object instead of text
  --list          print the names of the cases";

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Measure the cases whose names have one of the words, all if there is none.
    Measure(Vec<String>),
    /// Run one case in a loop for so many seconds.
    Profile(String, f64),
    /// Print the names of the cases.
    List,
}

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// What to do.
    pub task: Task,
    /// How often to measure.
    pub rounds: usize,
    /// Whether a program reads what is printed.
    pub json: bool,
}

/// Reads the words after the program's name.
///
/// # Errors
/// What is wrong with them.
pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Options, String> {
    let (mut only, mut profile, mut seconds, mut list) = (Vec::new(), None, 10.0, false);
    let (mut rounds, mut json) = (9, false);
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let mut next = || words.next().ok_or(format!("{word} needs a word behind it"));
        match word.as_str() {
            "--json" => json = true,
            "--list" => list = true,
            "--only" => only.push(next()?),
            "--profile" => profile = Some(next()?),
            "--rounds" => rounds = number(&word, &next()?, 1.0)? as usize,
            "--seconds" => seconds = number(&word, &next()?, 0.0)?,
            _ => return Err(format!("{word} is not known")),
        }
    }
    let task = match profile {
        Some(_) if list || !only.is_empty() => {
            return Err("--profile runs one case: without --only and --list".into())
        }
        Some(case) => Task::Profile(case, seconds),
        None if list => Task::List,
        None => Task::Measure(only),
    };
    Ok(Options { task, rounds, json })
}

fn number(option: &str, text: &str, least: f64) -> Result<f64, String> {
    let number = text.parse().ok();
    let number = number.filter(|number: &f64| number.is_finite() && *number >= least);
    number.ok_or_else(|| format!("{option} is {text}, it must be a number from {least}"))
}

/// Leaves the cases with one of the words in their name and what they are compared with; all where
/// there is no word.
///
/// # Errors
/// A word that no case has.
pub fn choose(cases: &mut Vec<Case>, words: &[String]) -> Result<(), String> {
    let has = |case: &Case, word: &String| case.name.contains(word);
    if let Some(word) = words
        .iter()
        .find(|word| !cases.iter().any(|case| has(case, word)))
    {
        return Err(format!("no case has {word:?} in its name; see --list"));
    }
    let chosen = |case: &Case| words.is_empty() || words.iter().any(|word| has(case, word));
    let needed: Vec<&str> = cases
        .iter()
        .filter(|it| chosen(it))
        .map(|it| it.yardstick)
        .collect();
    cases.retain(|case| chosen(case) || needed.contains(&&*case.name));
    Ok(())
}

/// The one case that is called so, or whose name alone has these words.
///
/// # Errors
/// None, or more than one.
pub fn the_one(cases: Vec<Case>, word: &str) -> Result<Case, String> {
    let exactly = cases.iter().any(|case| case.name == word);
    let is_meant = |case: &Case| {
        if exactly {
            case.name == word
        } else {
            case.name.contains(word)
        }
    };
    let mut meant: Vec<Case> = cases.into_iter().filter(is_meant).collect();
    match (meant.pop(), meant.len()) {
        (Some(case), 0) => Ok(case),
        (None, _) => Err(format!("no case has {word:?} in its name; see --list")),
        (Some(last), _) => {
            let names = meant.iter().chain([&last]).map(|case| &*case.name);
            let names: Vec<&str> = names.collect();
            Err(format!("{word:?} may be any of\n  {}", names.join("\n  ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    fn parsed(line: &str) -> Result<Options, String> {
        parse(line.split_whitespace().map(str::to_string))
    }

    fn chosen(words: &[&str]) -> Vec<String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let mut cases = cases::all();
        choose(&mut cases, &words).expect("words of names");
        cases.into_iter().map(|case| case.name).collect()
    }

    #[test]
    fn options_are_read() {
        let options = parsed("--only a --rounds 3 --only b --json").expect("sound");
        let words = vec!["a".to_string(), "b".to_string()];
        assert_eq!(options.task, Task::Measure(words));
        assert_eq!((options.rounds, options.json), (3, true));
        let options = parsed("--profile W2 --seconds 2.5").expect("sound");
        assert_eq!(options.task, Task::Profile("W2".into(), 2.5));
        assert_eq!(parsed("--list").map(|it| it.task), Ok(Task::List));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in [
            "--rounds 0",
            "--rounds x",
            "--only",
            "--seconds -1",
            "--twice",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
        assert!(parsed("--profile a --only b").is_err());
        assert!(choose(&mut cases::all(), &["no such".into()]).is_err());
    }

    #[test]
    fn a_chosen_case_brings_what_it_is_compared_with() {
        assert_eq!(chosen(&["kernel, W1"]), ["bare loop, W1", "kernel, W1"]);
        let two = chosen(&["kernel, W1", "kernel, W2"]);
        assert_eq!(two.len(), 4, "{two:?}");
        assert_eq!(chosen(&[]).len(), cases::all().len());
    }

    #[test]
    fn one_case_is_found_by_its_name_or_by_words_of_its_own() {
        let one = |word| the_one(cases::all(), word).map(|case| case.name);
        // Two more names begin so.
        assert_eq!(one("Queue: the same").as_deref(), Ok("Queue: the same"));
        assert_eq!(one("kernel, W2").as_deref(), Ok("kernel, W2"));
        assert!(one("W2").is_err_and(|message| message.contains("\n  bare loop, W2")));
        assert!(one("no such").is_err());
    }
}
