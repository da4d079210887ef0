//! The files of a dump.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::topology::{Set, HIGHEST};

/// Contents by path below the root.
pub(super) struct Files<'a> {
    held: &'a BTreeMap<String, Vec<u8>>,
}

impl<'a> Files<'a> {
    pub(super) const fn new(held: &'a BTreeMap<String, Vec<u8>>) -> Self {
        Self { held }
    }

    /// A file's text, without what ends it.
    pub(super) fn text(&self, path: &str) -> Option<Cow<'a, str>> {
        let bytes = self.held.get(path)?;
        Some(match String::from_utf8_lossy(bytes) {
            Cow::Borrowed(text) => Cow::Borrowed(trimmed(text)),
            Cow::Owned(text) => Cow::Owned(trimmed(&text).to_owned()),
        })
    }

    /// A number in a file; nothing for one below 0, by which kernels say that they do not know.
    pub(super) fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// A set of processors in the first of several files that is there: masks, or lists if the
    /// name ends like one. The second value is whether one was there that says no set.
    pub(super) fn set(&self, folder: &str, names: &[&str]) -> (Option<Set>, bool) {
        let mut damaged = false;
        for name in names {
            let Some(text) = self.text(&format!("{folder}/{name}")) else {
                continue;
            };
            let set = if name.ends_with("list") {
                Set::from_list(&text)
            } else {
                Set::from_mask(&text)
            };
            match set {
                Some(set) => return (Some(set), damaged),
                None => damaged = true,
            }
        }
        (None, damaged)
    }

    /// Names of what stands below a folder that has something below itself.
    pub(super) fn folders(&self, folder: &str) -> impl Iterator<Item = &'a str> + 'a {
        let start = format!("{folder}/");
        let length = start.len();
        let below = self.held.range(start.clone()..);
        let below = below.take_while(move |(path, _)| path.starts_with(&start));
        let mut last = "";
        below.filter_map(move |(path, _)| {
            let (name, _) = path.get(length..)?.split_once('/')?;
            let new = name != last;
            last = name;
            new.then_some(name)
        })
    }

    /// Numbers of the folders below one that are called by a word and a number.
    pub(super) fn numbered(&self, folder: &str, word: &str) -> BTreeSet<u32> {
        let numbers = self.folders(folder).filter_map(|name| {
            let digits = name.strip_prefix(word)?;
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            let number = digits.parse().ok().filter(|number| *number <= HIGHEST);
            plain.then_some(number).flatten()
        });
        numbers.collect()
    }
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\0')
}
