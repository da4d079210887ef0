//! What a recording says of the system besides its samples: `AAA` lines and what commands printed.

use serde::Serialize;

use crate::damage::Damage;
use crate::nmon::heading::words;
use crate::nmon::identities::Identity;

/// Bytes of such text that are kept of one file.
const MOST_TEXT: usize = 16 << 20;

/// An `AAA` line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Said {
    /// The word behind `AAA`.
    pub key: String,
    /// All that follows it.
    pub value: String,
    /// Line, counted from 1.
    pub line: usize,
}

/// What one command printed (`BBBP`), or the lines of another `BBB` section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Block {
    /// `BBBP`, `BBBL`, ...
    pub section: String,
    /// The command, as it was called; empty in other sections than `BBBP`.
    pub command: String,
    /// Each with its line in the file, counted from 1.
    pub lines: Vec<(usize, String)>,
}

/// One run of the recorder.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recording {
    /// Its first line.
    pub line: usize,
    /// Its `AAA` lines.
    pub said: Vec<Said>,
    /// Its `BBB` lines.
    pub blocks: Vec<Block>,
    /// Snapshots with a time.
    pub snapshots: u64,
    /// Whether samples stand before their times, as in a file that went through `sort`.
    pub sorted: bool,
    /// What was checked and held, or did not.
    pub identities: Vec<Identity>,
}

/// The room that is left for text.
#[derive(Debug)]
pub(crate) struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(MOST_TEXT)
    }
}

impl Room {
    /// Takes up some of it; if there is too little, the line is dropped.
    pub(crate) fn is_there(&mut self, line: usize, bytes: &[u8], damage: &mut Damage) -> bool {
        if bytes.len() > self.0 {
            damage.drop_line(line, || {
                format!("there is more text about the system than {MOST_TEXT} bytes")
            });
            return false;
        }
        self.0 -= bytes.len();
        true
    }
}

/// Splits `key,value`; the value may be missing.
pub(crate) fn key_and_value(rest: &[u8]) -> (String, String) {
    let comma = memchr::memchr(b',', rest).unwrap_or(rest.len());
    let value = rest.get(comma + 1..).unwrap_or_default();
    (words(rest[..comma].trim_ascii()), words(value.trim_ascii()))
}

/// Adds a `BBB` line: `number,text`, or `number,command,"text"`.
pub(crate) fn print(
    recording: &mut Recording,
    room: &mut Room,
    section: &[u8],
    (line, rest): (usize, &[u8]),
    damage: &mut Damage,
) {
    if !room.is_there(line, rest, damage) {
        return;
    }
    let comma = memchr::memchr(b',', rest);
    let text = comma.map_or(&b""[..], |comma| &rest[comma + 1..]);
    let (command, text) = if section == b"BBBP" {
        command_and_text(text)
    } else {
        (&b""[..], Some(text))
    };
    let (section, command) = (words(section), words(command.trim_ascii()));
    let same = |block: &&mut Block| block.section == section && block.command == command;
    let block = match recording.blocks.iter_mut().rev().take(3).find(same) {
        Some(block) => block,
        None => {
            recording.blocks.push(Block {
                section,
                command,
                lines: Vec::new(),
            });
            let last = recording.blocks.len() - 1;
            &mut recording.blocks[last]
        }
    };
    block.lines.extend(text.map(|text| (line, words(text))));
}

/// The first line of a command has no text; the text of the others stands in quotation marks that
/// are not escaped within.
fn command_and_text(rest: &[u8]) -> (&[u8], Option<&[u8]>) {
    let Some(at) = rest.windows(2).position(|pair| pair == b",\"") else {
        return (rest, None);
    };
    let text = rest[at + 2..].trim_ascii_end();
    (&rest[..at], Some(text.strip_suffix(b"\"").unwrap_or(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(lines: &[(&str, &str)]) -> Recording {
        let mut recording = Recording::default();
        let (mut room, mut damage) = (Room::default(), Damage::default());
        for (index, (section, rest)) in lines.iter().enumerate() {
            let rest = (index + 1, rest.as_bytes());
            print(
                &mut recording,
                &mut room,
                section.as_bytes(),
                rest,
                &mut damage,
            );
        }
        recording
    }

    #[test]
    fn blocks_are_what_one_command_printed() {
        let blocks = recorded(&[
            ("BBBP", "000,lssrad"),
            ("BBBP", "001,lssrad,\"REF1   SRAD        MEM      CPU\""),
            ("BBBL", "01,lparno,6"),
            ("BBBP", "002,lssrad,\"\""),
            ("BBBP", "003,/etc/release,\"VERSION=\"21 (Twenty One)\"\""),
        ])
        .blocks;
        assert_eq!(blocks.len(), 3);
        assert_eq!(
            (&*blocks[0].command, &*blocks[0].lines),
            (
                "lssrad",
                &[
                    (2, "REF1   SRAD        MEM      CPU".into()),
                    (4, String::new())
                ][..]
            )
        );
        assert_eq!(blocks[1].lines, [(3, "lparno,6".to_owned())]);
        assert_eq!(
            blocks[2].lines,
            [(5, "VERSION=\"21 (Twenty One)\"".to_owned())]
        );
    }

    #[test]
    fn keys_may_have_no_value() {
        assert_eq!(
            key_and_value(b"cpus,64,28"),
            ("cpus".into(), "64,28".into())
        );
        assert_eq!(
            key_and_value(b"SubprocessorMode Unknown"),
            ("SubprocessorMode Unknown".into(), String::new())
        );
    }
}
