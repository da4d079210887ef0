//! Lines of listings: labels and values, affinity domains, tunables, counters.

use crate::reports::model::{Affinity, Tunable};
use crate::reports::tools::{self, AffinityRow, LABELS};

/// Labels that a listing may begin with: those that no other tool has.
const OPENING: [&str; 5] = [
    "Node Name",
    "Entitled Capacity",
    "Online Virtual CPUs",
    "Variable Capacity Weight",
    "Desired Capacity",
];

/// `Node Name : db2`: a label to begin with, or, within such a listing, any label of a few words.
pub(crate) fn fact(text: &str, within: bool) -> Option<(String, String)> {
    let (label, value) = text.split_once(':')?;
    let label: String = label.split_whitespace().collect::<Vec<_>>().join(" ");
    let value = value.trim();
    let known = OPENING
        .iter()
        .any(|known| known.eq_ignore_ascii_case(&label))
        || within
            && LABELS
                .iter()
                .any(|known| known.eq_ignore_ascii_case(&label));
    let worded = || {
        label.split(' ').count() <= 8
            && label.starts_with(|c: char| c.is_ascii_uppercase())
            && label
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || " /()-_.".contains(c))
    };
    let sound = !value.is_empty() && (known || within && worded());
    sound.then(|| (label, value.to_owned()))
}

/// Names of processors of `mpstat -s`: `Proc0 Proc4` or `cpu0 cpu1`.
pub(crate) fn processors(words: &[&str]) -> Option<Vec<String>> {
    let numbered = |word: &&str| {
        ["Proc", "cpu"].iter().any(|prefix| {
            word.strip_prefix(prefix)
                .is_some_and(|number| !number.is_empty() && is_number(number))
        })
    };
    let all = !words.is_empty() && words.iter().all(numbered);
    all.then(|| words.iter().map(|word| (*word).to_owned()).collect())
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Add a line beneath the headings of `lssrad`; whether it is one.
pub(crate) fn domain(listing: &mut Affinity, words: &[&str], line: usize) -> bool {
    match tools::affinity(words, line, listing.ref1) {
        Some(AffinityRow::Ref1(number)) => listing.ref1 = Some(number),
        Some(AffinityRow::Domain(domain)) => listing.domains.push(domain),
        Some(AffinityRow::More(ranges)) => match listing.domains.last_mut() {
            Some(domain) => domain.processors.extend(ranges),
            None => return false,
        },
        None => return false,
    }
    true
}

/// A row of `schedo -L`: name, current, default, boot, minimum, maximum, unit, type.
pub(crate) fn tunable(words: &[&str], line: usize) -> Option<Tunable> {
    let [name, current, default, _, _, ..] = words else {
        return None;
    };
    let named = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_%-./".contains(&byte));
    (named && !is_number(name)).then(|| Tunable {
        line,
        name: (*name).to_owned(),
        current: (*current).to_owned(),
        default: Some((*default).to_owned()),
    })
}

/// A row of `schedo -a`: `name = value`.
pub(crate) fn assignment(words: &[&str], line: usize) -> Option<Tunable> {
    let [name, "=", current] = words else {
        return None;
    };
    Some(Tunable {
        line,
        name: (*name).to_owned(),
        current: (*current).to_owned(),
        default: None,
    })
}

/// A row of `vmstat -v` or `-s`: a number and what it counts.
pub(crate) fn is_counter(words: &[&str]) -> bool {
    let digits = |word: &str| {
        word.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    let named = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic());
    matches!(words, [number, what, ..] if digits(number) && named(what))
}

/// A line beneath the tunables that says what letters mean: `D = Dynamic: ...`.
pub(crate) fn is_legend(words: &[&str]) -> bool {
    match words {
        ["n/a", "means", ..] | ["Parameter", "types:"] | ["Value", "conventions:"] => true,
        [letter, "=", _, ..] => letter.len() == 1,
        _ => false,
    }
}
