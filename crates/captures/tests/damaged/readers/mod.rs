//! Every parser as a function of bytes, with what must hold of its answer to any of them. The
//! damage tests and the fuzz targets use the same list.

mod streams;

use homenode_captures::{fcx, hmc, hwloc, hyptop, libvirt, lparcfg, lparstat, lscpu, monwrite};
use homenode_captures::{mpstat, parstatus, reports, sysfs, sysinfo, vparstatus, xml};
use homenode_captures::{Capture, CaptureError, Lenient, Reading, Remark};
use serde::Serialize;

/// What a parser made of some bytes.
pub struct Kept {
    /// What was sound, as the binding hands it over.
    pub json: String,
    /// Lines and records that were dropped.
    pub dropped: u64,
    /// What was said of them: line and text.
    pub remarks: Vec<(usize, String)>,
}

/// What was kept, or why nothing was.
pub type Answer = Result<Kept, String>;

/// A parser.
#[derive(Clone, Copy)]
pub struct Reader {
    /// Name of its fuzz target and of the folder of its seeds.
    pub name: &'static str,
    /// Reads any bytes.
    pub read: fn(&[u8]) -> Answer,
    /// Bytes it may use, and write, whatever the length of its text: a few digits may stand for as
    /// many processors as a host can have.
    pub at_least: usize,
}

const ANY: usize = 1 << 20;
/// 65,536 processors, each an object with its own line.
const PROCESSORS: usize = 256 << 20;

/// All parsers.
pub const READERS: &[Reader] = &[
    reader("lparstat_strict", |bytes| {
        strict(lparstat::parse(&text(bytes)))
    }),
    reader("mpstat_strict", |bytes| strict(mpstat::parse(&text(bytes)))),
    reader("vparstatus", |bytes| {
        listing(vparstatus::parse(&text(bytes)))
    }),
    reader("parstatus", |bytes| listing(parstatus::parse(&text(bytes)))),
    reader("reports", |bytes| lenient(reports::read(&text(bytes)))),
    reader("lparcfg", |bytes| lenient(lparcfg::read(&text(bytes)))),
    reader("hmc_rows", |bytes| lenient(hmc::rows(&text(bytes)))),
    reader("hmc_processed", |bytes| {
        lenient(hmc::processed(&text(bytes)))
    }),
    reader("nmon", streams::nmon),
    reader("njmon", streams::njmon),
    reader("hyptop", |bytes| lenient(hyptop::read(&text(bytes)))),
    reader("fcx", |bytes| lenient(fcx::read(&text(bytes)))),
    reader("monwrite", |bytes| framed(bytes, monwrite::read(bytes))),
    reader("samples", streams::samples),
    reader("metrics", streams::metrics),
    reader("sysinfo", |bytes| lenient(sysinfo::read(&text(bytes)))),
    reader("libvirt_domain", |bytes| {
        lenient(libvirt::read_domains(&text(bytes)))
    }),
    reader("xml", |bytes| lenient(xml::read(&text(bytes)))),
    topology("libvirt_capabilities", |bytes| {
        lenient(libvirt::read_capabilities(&text(bytes)))
    }),
    topology("lscpu", |bytes| lenient(lscpu::read(&text(bytes)))),
    topology("hwloc", |bytes| lenient(hwloc::read(&text(bytes)))),
    topology("sysfs", |bytes| lenient(sysfs::read(&streams::tree(bytes)))),
];

/// The parser of that name.
///
/// # Panics
/// There is none.
pub fn named(name: &str) -> Reader {
    let found = READERS.iter().find(|reader| reader.name == name);
    *found.unwrap_or_else(|| panic!("no parser is called {name}"))
}

const fn reader(name: &'static str, read: fn(&[u8]) -> Answer) -> Reader {
    Reader {
        name,
        read,
        at_least: ANY,
    }
}

const fn topology(name: &'static str, read: fn(&[u8]) -> Answer) -> Reader {
    Reader {
        name,
        read,
        at_least: PROCESSORS,
    }
}

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

fn json<T: Serialize>(found: &T) -> String {
    serde_json::to_string(found).expect("what was read can be written")
}

fn strict(parsed: Result<Capture, CaptureError>) -> Answer {
    let capture = parsed.map_err(|error| error.to_string())?;
    Ok(Kept {
        json: capture.to_json(),
        dropped: 0,
        remarks: Vec::new(),
    })
}

fn listing<T: Serialize>(parsed: Result<Reading<T>, CaptureError>) -> Answer {
    let reading = parsed.map_err(|error| error.to_string())?;
    Ok(Kept {
        json: json(&reading.found),
        dropped: 0,
        remarks: reading.remarks.iter().map(told).collect(),
    })
}

fn lenient<T: Serialize>(parsed: Result<Lenient<T>, CaptureError>) -> Answer {
    let lenient = parsed.map_err(|error| error.to_string())?;
    Ok(Kept {
        json: json(&lenient.found),
        dropped: lenient.dropped,
        remarks: lenient.remarks.iter().map(told).collect(),
    })
}

/// Of a file without lines: remarks name its frames.
fn framed<T: Serialize>(bytes: &[u8], parsed: Result<Lenient<T>, CaptureError>) -> Answer {
    let mut kept = lenient(parsed)?;
    let frames = bytes.len().div_ceil(4096);
    for (frame, _) in &mut kept.remarks {
        assert!((1..=frames).contains(frame), "frame {frame} of {frames}");
        *frame = 1;
    }
    Ok(kept)
}

fn told(remark: &Remark) -> (usize, String) {
    (remark.line, remark.text.clone())
}

/// More than any sentence needs, even one that quotes a line.
const LONGEST_SENTENCE: usize = 600;
/// JSON beyond this share of the text repeats something.
const JSON_A_BYTE: usize = 100;

/// What is wrong with an answer, if anything: sentences that cannot be read, lines that are not
/// there, output out of proportion.
pub fn fault(reader: Reader, bytes: &[u8], answer: &Answer) -> Option<String> {
    let kept = match answer {
        Err(error) => return unreadable(error),
        Ok(kept) => kept,
    };
    if kept.json.len() > reader.at_least + JSON_A_BYTE * bytes.len() {
        return Some(format!(
            "{} bytes of JSON for {} bytes",
            kept.json.len(),
            bytes.len()
        ));
    }
    if kept.dropped > bytes.len() as u64 {
        return Some(format!(
            "{} lines dropped of {} bytes",
            kept.dropped,
            bytes.len()
        ));
    }
    let lines = bytes
        .iter()
        .filter(|&&byte| byte == b'\n' || byte == b'\r')
        .count()
        + 1;
    kept.remarks.iter().find_map(|(line, text)| {
        if *line > lines {
            return Some(format!("a remark on line {line} of {lines}: {text}"));
        }
        unreadable(text)
    })
}

fn unreadable(sentence: &str) -> Option<String> {
    let long = sentence.len() > LONGEST_SENTENCE;
    let broken = sentence.trim().is_empty() || sentence.contains('\n');
    (long || broken).then(|| {
        let start: String = sentence.chars().take(120).collect();
        format!("a sentence of {} bytes: {start:?}", sentence.len())
    })
}
