//! Lines around the reports: configurations, first lines of tools, commands that were typed.

use crate::reports::model::{Banner, Command, Configuration};
use crate::stamp;

/// Tools whose reports are read.
const TOOLS: [&str; 10] = [
    "lparstat", "mpstat", "vmstat", "sar", "iostat", "lssrad", "schedo", "vmo", "ioo", "no",
];
/// More words than any configuration line has; the rest is not kept.
const MOST_WORDS: usize = 60;

/// A `System configuration` line, or the line beneath Linux's, which stands alone.
pub(crate) fn configuration(text: &str, line: usize) -> Option<Configuration> {
    let words = match text.get(..OPENING.len()) {
        Some(start) if start.eq_ignore_ascii_case(OPENING) => &text[OPENING.len()..],
        _ if text.starts_with("type=") => text,
        _ => return None,
    };
    let mut values: Vec<(String, String)> = Vec::new();
    for word in words.split_whitespace().take(MOST_WORDS) {
        match word.split_once('=') {
            Some((key, value)) if !key.is_empty() => {
                values.push((key.to_owned(), value.to_owned()));
            }
            // A unit stands apart from its number on Linux.
            _ => {
                if let Some((_, value)) = values.last_mut() {
                    value.push(' ');
                    value.push_str(word);
                }
            }
        }
    }
    Some(Configuration { line, values })
}

const OPENING: &str = "System configuration";

/// `AIX host 1 7 00F6... 11/10/20`, `HP-UX host B.11.31 U ia64 11/10/20` or
/// `Linux 5.4 (host) 11/10/20 _ppc64le_ (4 CPU)`.
pub(crate) fn banner(words: &[&str], line: usize) -> Option<Banner> {
    let (system, host, level) = match words {
        ["AIX", host, release, version, ..] if words.len() >= 5 => {
            ("AIX", *host, format!("{version}.{release}"))
        }
        ["HP-UX", host, level, ..] if words.len() >= 5 && level.contains('.') => {
            ("HP-UX", *host, (*level).to_owned())
        }
        ["Linux", level, host, ..] if host.starts_with('(') && host.ends_with(')') => {
            ("Linux", host.trim_matches(['(', ')']), (*level).to_owned())
        }
        _ => return None,
    };
    let day = words.iter().skip(3).find_map(|word| stamp::date(word));
    let count = words.windows(2).find(|pair| pair[1] == "CPU)");
    let processors = count.and_then(|pair| pair[0].strip_prefix('(')?.parse().ok());
    let between = |word: &&str| {
        let inner = word.strip_prefix('_')?.strip_suffix('_')?;
        (!inner.is_empty()).then(|| inner.to_owned())
    };
    Some(Banner {
        architecture: words.iter().skip(3).find_map(between),
        processors,
        line,
        system: system.to_owned(),
        host: host.to_owned(),
        level,
        day,
    })
}

/// A tool's name with its arguments, alone or behind a prompt.
pub(crate) fn command(words: &[&str], line: usize) -> Option<Command> {
    let behind = |word: &&str| word.ends_with(['#', '$', '>', '%']);
    let start = match words.iter().position(behind) {
        Some(prompt) => prompt + 1,
        None => 0,
    };
    let (first, arguments) = words.get(start..)?.split_first()?;
    let name = first.rsplit('/').next().unwrap_or(first);
    let argument = |word: &&str| {
        word.starts_with('-') || word.bytes().all(|byte| byte.is_ascii_digit()) || start > 0
    };
    if !TOOLS.contains(&name) || arguments.len() >= MOST_WORDS || !arguments.iter().all(argument) {
        return None;
    }
    let interval = arguments
        .iter()
        .find_map(|word| word.parse::<u32>().ok().filter(|seconds| *seconds > 0));
    let words = std::iter::once(name).chain(arguments.iter().copied());
    Some(Command {
        line,
        words: words.map(str::to_owned).collect(),
        interval,
    })
}

/// Whether a line is a prompt with a command behind it; what others print is no report's.
pub(crate) fn is_prompt(words: &[&str]) -> bool {
    let ends = |word: &str| word.ends_with(['#', '$', '>', '%']);
    match words {
        ["#" | "$", first, ..] => first
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || b"/_.-0123456789".contains(&byte)),
        [user, rest @ ..] if user.contains('@') => {
            ends(user) || rest.first().is_some_and(|word| ends(word))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_of_both_systems() {
        let aix = configuration("System configuration: lcpu=8 mem=4096MB ent=0,70 ", 2);
        let pairs = [("lcpu", "8"), ("mem", "4096MB"), ("ent", "0,70")];
        let expected = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(aix.map(|found| found.values), Some(expected.to_vec()));
        let linux = configuration("type=Shared mem=8250048 kB cpus=8", 3);
        let pairs = [("type", "Shared"), ("mem", "8250048 kB"), ("cpus", "8")];
        let expected = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(linux.map(|found| found.values), Some(expected.to_vec()));
        assert_eq!(configuration("System", 1), None);
    }

    #[test]
    fn first_lines_name_host_and_day() {
        let words = ["AIX", "db2", "1", "7", "00F6", "11/10/20"];
        let found = banner(&words, 1).expect("a banner");
        assert_eq!((found.host.as_str(), found.level.as_str()), ("db2", "7.1"));
        assert_eq!(found.day, Some(18_576));
        let words = ["HP-UX", "oak", "B.11.31", "U", "ia64", "11/10/20"];
        let found = banner(&words, 1).expect("a banner");
        let told = (
            found.system.as_str(),
            found.host.as_str(),
            found.level.as_str(),
        );
        assert_eq!(told, ("HP-UX", "oak", "B.11.31"));
        assert_eq!(found.day, Some(18_576));
        assert_eq!(banner(&["HP-UX", "is", "a", "Unix", "too"], 1), None);
        let words = [
            "Linux",
            "5.4",
            "(db2)",
            "2020-11-10",
            "_ppc64le_",
            "(4",
            "CPU)",
        ];
        let found = banner(&words, 1).expect("a banner");
        assert_eq!((found.host.as_str(), found.day), ("db2", Some(18_576)));
        assert_eq!(found.processors, Some(4));
        assert_eq!(found.architecture.as_deref(), Some("ppc64le"));
        assert_eq!(banner(&["AIX", "is", "fine"], 1), None);
    }

    #[test]
    fn prompts_have_a_user_or_stand_alone() {
        for line in [
            "root@db2:/# prtconf",
            "[me@db2 ~]$ ls -l",
            "# lsattr -El sys0",
        ] {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert!(is_prompt(&words), "{line}");
        }
        for line in ["# hostname;interval", "# CPU", "user@host says", "5 6 7"] {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert!(!is_prompt(&words), "{line}");
        }
    }

    #[test]
    fn commands_stand_alone_or_behind_a_prompt() {
        for (line, interval) in [
            ("lparstat 5 12", Some(5)),
            ("# /usr/bin/vmstat -t 2 10", Some(2)),
            ("root@db2:/> sar -P ALL 60 3", Some(60)),
            ("$ lparstat -i", None),
        ] {
            let words: Vec<&str> = line.split_whitespace().collect();
            let found = command(&words, 1).expect(line);
            assert_eq!(found.interval, interval, "{line}");
        }
        for line in ["no such file", "lparstat: command not found", "# ls -l", ""] {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(command(&words, 1), None, "{line}");
        }
    }
}
