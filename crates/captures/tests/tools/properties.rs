//! Whatever the bytes: an answer, never a panic; and what was read is read again from what is
//! written.

use homenode_captures::{lparstat, mpstat, parstatus, vparstatus, Capture, CaptureError};
use proptest::prelude::*;

const WORDS: [&str; 34] = [
    "System configuration:",
    "type=Shared",
    "lcpu=4",
    "ent=0,50",
    "mem=4096MB",
    "%user",
    "%sys",
    "%wait",
    "%idle",
    "physc",
    "%entc",
    "-----",
    "---",
    "0.1",
    "99,9",
    "-",
    "1014627468",
    "cpu",
    "cs",
    "ics",
    "S0rd",
    "lpa",
    "ALL",
    "U",
    "Proc0",
    "Proc1",
    "cpu0",
    "cpu1",
    "0.27%",
    "Node Name",
    ":",
    "Detailed information on Hypervisor Calls",
    "Physical Processor Utilisation:",
    "3.6GHz[100%]",
];

/// Lines of words the tools use, in any order.
fn nearly_sound() -> impl Strategy<Value = String> {
    let word = prop::sample::select(WORDS.to_vec());
    let line = prop::collection::vec(word, 0..8).prop_map(|words| words.join(" "));
    prop::collection::vec(line, 0..14).prop_map(|lines| lines.join("\n"))
}

/// A sound interval table with any values.
fn intervals() -> impl Strategy<Value = String> {
    let row = prop::collection::vec((0u64..=u64::MAX, 0usize..4), 4);
    prop::collection::vec(row, 0..6).prop_map(|rows| {
        let value = |(digits, places): &(u64, usize)| {
            let text = format!("{digits:0>5}");
            let (whole, part) = text.split_at(text.len() - places);
            if part.is_empty() {
                whole.to_owned()
            } else {
                format!("{whole}.{part}")
            }
        };
        let line = |row: &Vec<(u64, usize)>| row.iter().map(value).collect::<Vec<_>>().join(" ");
        let rows: Vec<String> = rows.iter().map(line).collect();
        format!(
            "System configuration: lcpu=4\n%user %sys %wait %idle\n-- -- -- --\n{}\n",
            rows.join("\n")
        )
    })
}

/// Shares of virtual processors with any number of threads each.
fn threads() -> impl Strategy<Value = String> {
    prop::collection::vec((1usize..9, 0u32..20_000), 1..12).prop_map(|processors| {
        let mut text = "System configuration: lcpu=1\n".to_owned();
        let mut next = 0;
        for (index, (threads, share)) in processors.into_iter().enumerate() {
            let cpus: Vec<String> = (next..next + threads)
                .map(|cpu| format!("cpu{cpu}"))
                .collect();
            let shares = vec![format!("{}.{:02}%", share / 100, share % 100); threads];
            text += &format!(
                "Proc{index}\n100.00%\n{}\n{}\n",
                cpus.join(" "),
                shares.join(" ")
            );
            next += threads;
        }
        text
    })
}

type Parse = fn(&str) -> Result<Capture, CaptureError>;
type Format = fn(&Capture) -> String;

fn settles(text: &str) {
    let tools: [(Parse, Format); 2] = [
        (lparstat::parse, lparstat::format),
        (mpstat::parse, mpstat::format),
    ];
    for (parse, format) in tools {
        match parse(text) {
            Ok(capture) => {
                assert!(capture.to_json().starts_with('{'));
                assert_eq!(parse(&format(&capture)), Ok(capture));
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

const LISTINGS: [&str; 5] = [
    include_str!("../listings/vparstatus-v.txt"),
    include_str!("../listings/vparstatus-M.txt"),
    include_str!("../listings/vparstatus.txt"),
    include_str!("../listings/parstatus-C.txt"),
    include_str!("../listings/parstatus.txt"),
];
const SPLINTERS: [&str; 27] = [
    "",
    "\n",
    " ",
    ":",
    ";",
    ",",
    "/",
    "-",
    "0",
    "99999999999999999999",
    "0x",
    "<>",
    "<no path>",
    "(Floating",
    "(Floating 7)",
    "1,5",
    "2 GB",
    "é",
    "[CPU Details]",
    "[Memory Details]",
    "Name: x",
    "ILM Total (MB): 3",
    "*",
    "# vparstatus",
    "# ",
    "oak1$ exit\n",
    "%",
];

/// A sound listing with a few splinters in places of its own text.
fn broken_listing() -> impl Strategy<Value = String> {
    let splinter = (any::<prop::sample::Index>(), 0usize..40);
    let splinter = (splinter, prop::sample::select(SPLINTERS.to_vec()));
    let splinters = prop::collection::vec(splinter, 0..4);
    (prop::sample::select(LISTINGS.to_vec()), splinters).prop_map(|(listing, splinters)| {
        let mut text: Vec<char> = listing.chars().collect();
        for ((at, length), splinter) in splinters {
            let at = at.index(text.len() + 1);
            let end = (at + length).min(text.len());
            text.splice(at..end, splinter.chars());
        }
        text.into_iter().collect()
    })
}

/// What was read is read again, without remarks, from what is written.
fn listings_settle(text: &str) {
    match vparstatus::parse(text) {
        Ok(reading) => {
            let again = vparstatus::parse(&vparstatus::format(&reading.found));
            assert_eq!(again.map(|again| again.found), Ok(reading.found));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    match parstatus::parse(text) {
        Ok(reading) => {
            let again = parstatus::parse(&parstatus::format(&reading.found));
            assert_eq!(again.map(|again| again.found), Ok(reading.found));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_get_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        settles(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_text_gets_an_answer(text in any::<String>(), before in "[ -~\n]{0,80}") {
        settles(&text);
        settles(&format!("System configuration: {before}\n{text}"));
        settles(&format!("Node Name : {before}\n{text}"));
    }

    #[test]
    fn nearly_sound_text_gets_an_answer(text in nearly_sound()) {
        settles(&text);
        settles(&format!("System configuration: lcpu=4\n{text}"));
    }

    #[test]
    fn any_text_gets_an_answer_as_a_listing(text in any::<String>(), words in "[ -~\\n]{0,200}") {
        listings_settle(&text);
        listings_settle(&format!("[Virtual Partition Details]\nName: a\n{words}"));
        listings_settle(&format!("[Cell]\n===\n{words}"));
        listings_settle(&format!("a:Up::::1/2;;;;;0;0:{words}"));
    }

    #[test]
    fn broken_listings_get_an_answer(text in broken_listing()) {
        listings_settle(&text);
    }

    #[test]
    fn interval_tables_round_trip(text in intervals()) {
        prop_assert!(lparstat::parse(&text).is_ok());
        settles(&text);
    }

    #[test]
    fn threads_round_trip(text in threads()) {
        prop_assert!(mpstat::parse(&text).is_ok());
        settles(&text);
    }
}
