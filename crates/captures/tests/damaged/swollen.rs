//! Texts that grow without end: a whole sample again and again, one of its lines, a word within a
//! line, a bracket. A reader that looks back over all it has read so far shows here.

use std::fmt;

/// What differs from one repetition to the next, so that names and keys are new each time.
#[derive(Clone, Copy, PartialEq)]
enum Differing {
    Nothing,
    FirstNumber,
    LastNumber,
    FirstWord,
}

/// Something repeated within a sample.
pub struct Swelling {
    before: Vec<u8>,
    again: Vec<u8>,
    after: Vec<u8>,
    differing: Differing,
}

impl Swelling {
    fn new(before: &[u8], again: &[u8], after: &[u8]) -> Self {
        Self {
            before: before.to_vec(),
            again: again.to_vec(),
            after: after.to_vec(),
            differing: Differing::Nothing,
        }
    }

    fn with(self, differing: Differing) -> Self {
        Self { differing, ..self }
    }

    /// The text, about so long.
    pub fn of_length(&self, length: usize) -> Vec<u8> {
        let times = 1 + length / self.again.len().max(1);
        let mut text = self.before.clone();
        for number in 0..times {
            text.extend(numbered(&self.again, self.differing, number));
        }
        text.extend(&self.after);
        text
    }
}

impl fmt::Display for Swelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<u8> = self.again.iter().copied().take(100).collect();
        let behind = self.before.iter().filter(|&&byte| byte == b'\n').count();
        write!(
            f,
            "{:?} behind line {behind}",
            String::from_utf8_lossy(&shown)
        )?;
        f.write_str(match self.differing {
            Differing::Nothing => "",
            Differing::FirstNumber => " (another first number each time)",
            Differing::LastNumber => " (another last number each time)",
            Differing::FirstWord => " (another first word each time)",
        })
    }
}

fn numbered(text: &[u8], differing: Differing, number: usize) -> Vec<u8> {
    let digit = u8::is_ascii_digit;
    let (start, end) = match differing {
        Differing::Nothing => return text.to_vec(),
        Differing::FirstNumber => {
            let start = text.iter().position(digit).unwrap_or(0);
            let length = text[start..].iter().position(|byte| !digit(byte));
            (start, length.map_or(text.len(), |length| start + length))
        }
        Differing::LastNumber => {
            let end = text
                .iter()
                .rposition(digit)
                .map_or(text.len(), |last| last + 1);
            let before = text[..end].iter().rposition(|byte| !digit(byte));
            (before.map_or(0, |before| before + 1), end)
        }
        Differing::FirstWord => {
            let start = text.iter().position(u8::is_ascii_alphabetic).unwrap_or(0);
            let length = text[start..]
                .iter()
                .position(|byte| !byte.is_ascii_alphanumeric());
            let end = length.map_or(text.len(), |length| start + length);
            (end, end)
        }
    };
    [&text[..start], number.to_string().as_bytes(), &text[end..]].concat()
}

const PIECES: [&str; 16] = [
    "\n", " ", "x", "0", "-", ",", ":", "\"", "(", "[", "{", "<a>", "&amp;", "é", "\0", "x\n",
];

/// The ways in which the samples of a parser swell: of each sample so many lines.
pub fn swellings(samples: &[Vec<u8>], most_lines: usize) -> Vec<Swelling> {
    let mut found = Vec::new();
    for sample in samples {
        found.push(Swelling::new(b"", sample, b""));
        let lines: Vec<&[u8]> = sample.split_inclusive(|&byte| byte == b'\n').collect();
        for index in (0..lines.len()).step_by(lines.len().div_ceil(most_lines).max(1)) {
            found.extend(of_line(&lines, index));
        }
    }
    let first = &samples[0];
    for piece in PIECES {
        found.push(Swelling::new(b"", piece.as_bytes(), b""));
        let middle = first.len() / 2;
        found.push(Swelling::new(
            &first[..middle],
            piece.as_bytes(),
            &first[middle..],
        ));
    }
    found
}

/// A line is repeated, and the last word of it within the line.
fn of_line(lines: &[&[u8]], index: usize) -> Vec<Swelling> {
    let (before, line, after) = (
        lines[..index].concat(),
        lines[index],
        lines[index + 1..].concat(),
    );
    let words = line.strip_suffix(b"\n").unwrap_or(line);
    let cut = words
        .iter()
        .rposition(|byte| b" ,:;\t".contains(byte))
        .unwrap_or(0);
    let last = if cut < words.len() {
        &words[cut..]
    } else {
        b" "
    };
    let (within, rest) = ([&before, words].concat(), [b"\n", &after[..]].concat());
    let whole = || Swelling::new(&before, line, &after);
    let long = || Swelling::new(&within, last, &rest);
    let differing = [
        Differing::FirstNumber,
        Differing::LastNumber,
        Differing::FirstWord,
    ];
    let mut found = vec![whole(), long()];
    for differing in differing {
        found.push(whole().with(differing));
        if differing != Differing::FirstNumber {
            found.push(long().with(differing));
        }
    }
    found
}
