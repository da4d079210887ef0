//! Commands as they were typed at a console, above what they printed: which rows come next, of
//! which system, and under which names where only values were asked for (`-F`).

use crate::stamp::seconds;

/// Longest prompt: `user@console:path>`.
const LONGEST_PROMPT: usize = 120;

/// What the rows beneath a command are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    /// Command and resource; none of a command whose rows are not read.
    pub(super) kind: Option<&'static str>,
    /// The managed system it asks (`-m`).
    pub(super) system: Option<String>,
    /// Names of the values it asks for (`-F`).
    pub(super) names: Option<Vec<String>>,
    /// What stands between values: the list of names has it too.
    pub(super) separator: char,
}

/// The command of a line: behind a prompt any, alone one whose rows are read.
pub(super) fn command(line: &str) -> Option<Command> {
    let (prompted, typed) = match behind_prompt(line) {
        Some(typed) => (true, typed),
        None => (false, line),
    };
    let words = words(typed);
    let tool = words.first().map_or("", String::as_str);
    let known = ["lssyscfg", "lshwres", "lslparutil", "lsmemopt"].contains(&tool);
    let has_option = words.get(1).is_some_and(|word| word.starts_with('-'));
    if !(prompted || known && has_option) {
        return None;
    }
    let after = |option: &str| {
        let place = words.iter().position(|word| word == option)?;
        words.get(place + 1).filter(|word| !word.starts_with('-'))
    };
    let resource = after("-r").map_or("", String::as_str);
    let level = after("--level").map_or("", String::as_str);
    let list = after("-F").map_or("", String::as_str);
    let separator = if list.contains(':') && !list.contains(',') {
        ':'
    } else {
        ','
    };
    let names: Vec<String> = list.split(separator).map(str::to_owned).collect();
    Some(Command {
        kind: known.then(|| kind(tool, resource, level)).flatten(),
        system: after("-m").cloned(),
        names: (known && !list.is_empty()).then_some(names),
        separator,
    })
}

/// What stands behind `user@console:~>`, `$` or `#` at the beginning of a line.
fn behind_prompt(line: &str) -> Option<&str> {
    let end = line.find(['>', '$', '#'])?;
    let prompt = &line[..end];
    let is_prompt = end <= LONGEST_PROMPT && prompt.contains('@') && !prompt.contains(['=', ',']);
    is_prompt.then(|| line[end + 1..].trim())
}

/// Words of a command line; quotes hold one with blanks together.
fn words(typed: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut within = None;
    for character in typed.chars() {
        match character {
            '"' | '\'' if within == Some(character) => within = None,
            '"' | '\'' if within.is_none() => within = Some(character),
            blank if blank.is_whitespace() && within.is_none() => found.push(String::new()),
            other => {
                if let Some(word) = found.last_mut() {
                    word.push(other);
                }
            }
        }
    }
    found.retain(|word| !word.is_empty());
    found
}

fn kind(tool: &str, resource: &str, level: &str) -> Option<&'static str> {
    Some(match (tool, resource, level) {
        ("lssyscfg", "sys", _) => "lssyscfg sys",
        ("lssyscfg", "lpar", _) => "lssyscfg lpar",
        ("lssyscfg", "prof", _) => "lssyscfg prof",
        ("lshwres", "proc", "sys") => "lshwres proc sys",
        ("lshwres", "proc", "lpar") => "lshwres proc lpar",
        ("lshwres", "proc", "pool") => "lshwres proc pool",
        ("lshwres", "procpool", _) => "lshwres procpool",
        ("lshwres", "mem", "sys") => "lshwres mem sys",
        ("lshwres", "mem", "lpar") => "lshwres mem lpar",
        ("lslparutil", ..) => "lslparutil",
        ("lsmemopt", "sys", _) => "lsmemopt sys",
        ("lsmemopt", "lpar", _) => "lsmemopt lpar",
        _ => return None,
    })
}

/// Attributes of `lslparutil -r lpar` in the order in which it prints them, which is that of its
/// values where `-F` names none.
const OF_SAMPLES: [&str; 24] = [
    "time",
    "event_type",
    "resource_type",
    "sys_time",
    "time_cycles",
    "lpar_name",
    "lpar_id",
    "curr_proc_mode",
    "curr_proc_units",
    "curr_procs",
    "curr_sharing_mode",
    "curr_uncap_weight",
    "curr_shared_proc_pool_name",
    "curr_shared_proc_pool_id",
    "curr_5250_cpw_percent",
    "mem_mode",
    "curr_mem",
    "entitled_cycles",
    "capped_cycles",
    "uncapped_cycles",
    "shared_cycles_while_active",
    "idle_cycles",
    "run_latch_instructions",
    "run_latch_cycles",
];

/// Whether cells are values of samples whose names stand nowhere.
pub(super) fn is_bare(cells: &[String]) -> bool {
    let counters =
        |cell: &&String| cell.len() > 5 && cell.bytes().all(|byte| byte.is_ascii_digit());
    cells.first().is_some_and(|cell| seconds(cell).is_some())
        && cells.iter().filter(counters).count() >= 2
}

/// Names of such values, if they are all there are.
pub(super) fn names_of_bare(cells: &[String]) -> Option<Vec<String>> {
    let is = |place: usize, word: &str| cells.get(place).is_some_and(|cell| cell == word);
    let fits = cells.len() == OF_SAMPLES.len() && is(1, "sample") && is(2, "lpar");
    (fits && is_bare(cells)).then(|| OF_SAMPLES.map(str::to_owned).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_stand_behind_a_prompt_or_alone() {
        let found = command("hscroot@hmc1:~> lshwres -r proc -m 'My Frame' --level lpar -F a:b");
        let found = found.expect("a command");
        assert_eq!(found.kind, Some("lshwres proc lpar"));
        assert_eq!(found.system.as_deref(), Some("My Frame"));
        assert_eq!(
            (found.names.map(|names| names.len()), found.separator),
            (Some(2), ':')
        );
        let other = command("hscroot@hmc1:~> lshmc -V").expect("a command");
        assert_eq!((other.kind, other.names), (None, None));
        assert!(command("lssyscfg -r sys").is_some());
        for line in ["name=a,ipaddr=x@y>z", "lssyscfg", "db2,3,4", ""] {
            assert_eq!(command(line), None, "{line}");
        }
    }
}
