//! What happens to files: they are cut, glued, overwritten, edited by hand, sent through the wrong
//! encoding. Each kind of damage is drawn from a seed, so that a case is found again by its number.

/// SplitMix64 (Steele, Lea and Flood 2014): the same numbers on every machine.
pub struct Draw(u64);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("below a usize")
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Numbers that no machine has, or that a careless reader counts to.
const NUMBERS: [&str; 20] = [
    "0",
    "-1",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775808",
    "99999999999999999999999999999999999999999",
    "0-4294967295",
    "0-1000000000",
    "9-3",
    "0,0,0",
    "1e308",
    "1e999",
    "-0.0",
    "NaN",
    "inf",
    "0x7fffffffffffffff",
    "1,5",
    "12.34.56",
];

const STRAY: [&str; 16] = [
    "",
    " ",
    "\t\t",
    "Terminated",
    "ksh: lparstat: not found",
    "System configuration: lcpu=8 mem=4096MB ent=1.00",
    "$ exit",
    ",,,,,,,,",
    ":::::::::",
    "{\"a\":1}",
    "<a>",
    "</topology>",
    "%user %sys %wait %idle",
    "ZZZZ,T0001,00:00:00,01-JAN-1970",
    "\u{feff}",
    "Zeitüberschreitung 12,5 é",
];

const OPENING: [&str; 6] = ["(", "[", "{", "[[", "{\"a\":", "<object type=\"Group\">"];

type Kind = fn(&mut Draw, &mut Vec<u8>, &[Vec<u8>]);

const KINDS: [(&str, Kind); 22] = [
    ("cut off", |draw, bytes, _| {
        bytes.truncate(draw.below(bytes.len() + 1))
    }),
    ("beginning lost", |draw, bytes, _| {
        bytes.drain(..draw.below(bytes.len() + 1));
    }),
    ("two glued", |draw, bytes, samples| {
        bytes.extend(draw.pick(samples))
    }),
    ("one inside another", |draw, bytes, samples| {
        let at = draw.below(bytes.len() + 1);
        bytes.splice(at..at, draw.pick(samples).iter().copied());
    }),
    ("stray line", |draw, bytes, _| {
        let stray = draw.pick(&STRAY).as_bytes().to_vec();
        lines(bytes, |lines| {
            lines.insert(draw.below(lines.len() + 1), stray)
        });
    }),
    ("lines swapped", |draw, bytes, _| {
        lines(bytes, |lines| {
            let (first, second) = (draw.below(lines.len()), draw.below(lines.len()));
            lines.swap(first, second);
        });
    }),
    ("line lost", |draw, bytes, _| {
        lines(bytes, |lines| {
            lines.remove(draw.below(lines.len()));
        });
    }),
    ("line twice", |draw, bytes, _| {
        lines(bytes, |lines| {
            let at = draw.below(lines.len());
            lines.insert(at, lines[at].clone());
        });
    }),
    ("line cut", |draw, bytes, _| {
        lines(bytes, |lines| {
            let at = draw.below(lines.len());
            let length = draw.below(lines[at].len() + 1);
            lines[at].truncate(length);
        });
    }),
    ("line joined with the next", |draw, bytes, _| {
        if let Some(at) = found(draw, bytes, |byte| byte == b'\n') {
            bytes.remove(at);
        }
    }),
    ("line broken in two", |draw, bytes, _| {
        bytes.insert(draw.below(bytes.len() + 1), b'\n');
    }),
    ("long line", |draw, bytes, _| {
        lines(bytes, |lines| {
            let at = draw.below(lines.len());
            let times = 1 + 4096 / (lines[at].len() + 1);
            lines[at] = lines[at].repeat(times);
        });
    }),
    ("deep nesting", |draw, bytes, _| {
        let deep = draw.pick(&OPENING).repeat(1 + draw.below(3000));
        let at = draw.below(bytes.len() + 1);
        bytes.splice(at..at, deep.into_bytes());
    }),
    ("NUL bytes", |draw, bytes, _| overwrite(draw, bytes, |_| 0)),
    ("blanks", |draw, bytes, _| overwrite(draw, bytes, |_| b' ')),
    ("noise", |draw, bytes, _| {
        let noise = draw.next() as u8;
        overwrite(draw, bytes, |byte| byte.wrapping_mul(31) ^ noise);
    }),
    ("CR LF", |_, bytes, _| replace(bytes, b"\n", b"\r\n")),
    ("byte order mark", |_, bytes, _| {
        bytes.splice(0..0, *b"\xef\xbb\xbf");
    }),
    ("Latin-1", |draw, bytes, _| {
        bytes.insert(
            draw.below(bytes.len() + 1),
            *draw.pick(b"\xe4\xfc\xdf\xa0\x85"),
        );
    }),
    ("another separator", |draw, bytes, _| {
        let (from, to) = (*draw.pick(b",;: .=\t"), *draw.pick(b",;: .=\t|"));
        replace(bytes, &[from], &[to]);
    }),
    ("word lost", |draw, bytes, _| {
        if let Some(word) = word(draw, bytes, |byte| !byte.is_ascii_whitespace()) {
            bytes.drain(word);
        }
    }),
    ("strange number", |draw, bytes, _| {
        if let Some(digits) = word(draw, bytes, |byte| byte.is_ascii_digit()) {
            bytes.splice(digits, draw.pick(&NUMBERS).bytes());
        }
    }),
];

/// A sample with up to four kinds of damage, and their names.
pub fn damaged(seed: u64, samples: &[Vec<u8>]) -> (Vec<u8>, Vec<&'static str>) {
    let mut draw = Draw::new(seed);
    let mut bytes = draw.pick(samples).clone();
    let mut names = Vec::new();
    for _ in 0..1 + draw.below(4) {
        let (name, kind) = draw.pick(&KINDS);
        kind(&mut draw, &mut bytes, samples);
        names.push(*name);
    }
    (bytes, names)
}

/// Change the lines; there is at least one, and be it empty.
fn lines(bytes: &mut Vec<u8>, change: impl FnOnce(&mut Vec<Vec<u8>>)) {
    let mut lines: Vec<Vec<u8>> = bytes
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    change(&mut lines);
    *bytes = lines.join(&b'\n');
}

/// A place from which on the search for such a byte begins, around the end.
fn found(draw: &mut Draw, bytes: &[u8], is: impl Fn(u8) -> bool) -> Option<usize> {
    let start = draw.below(bytes.len() + 1);
    let order = (start..bytes.len()).chain(0..start);
    order.into_iter().find(|&at| is(bytes[at]))
}

/// A stretch of such bytes.
fn word(draw: &mut Draw, bytes: &[u8], is: impl Fn(u8) -> bool) -> Option<std::ops::Range<usize>> {
    let at = found(draw, bytes, &is)?;
    let start = bytes[..at]
        .iter()
        .rposition(|&byte| !is(byte))
        .map_or(0, |before| before + 1);
    let length = bytes[at..].iter().position(|&byte| !is(byte));
    Some(start..length.map_or(bytes.len(), |length| at + length))
}

fn overwrite(draw: &mut Draw, bytes: &mut [u8], with: impl Fn(u8) -> u8) {
    let start = draw.below(bytes.len() + 1);
    let length = 1 + draw.below(64);
    for byte in bytes[start..].iter_mut().take(length) {
        *byte = with(*byte);
    }
}

fn replace(bytes: &mut Vec<u8>, from: &[u8], to: &[u8]) {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = &bytes[..];
    while let Some((first, tail)) = rest.split_first() {
        if let Some(behind) = rest.strip_prefix(from) {
            out.extend(to);
            rest = behind;
        } else {
            out.push(*first);
            rest = tail;
        }
    }
    *bytes = out;
}
