//! Recordings of nmon: sound ones, damaged ones, any bytes.

use homenode_captures::nmon::{read, Batch, Block, Reader, Summary};
use homenode_captures::{CaptureError, Lenient};
use proptest::prelude::*;

const AIX: &str = include_str!("../recordings/aix.nmon");
const X86: &str = include_str!("../recordings/linux-x86.nmon");
const POWER: &str = include_str!("../recordings/linux-power.nmon");

type Found = (Vec<Batch>, Lenient<Summary>);

fn of(text: &str) -> Found {
    read(text.as_bytes()).expect("a recording")
}

/// All values of a column, of all batches of a table.
fn column(found: &Found, table: &str, name: &str) -> Vec<f64> {
    let batches = found.0.iter().filter(|batch| batch.table == table);
    batches
        .flat_map(|batch| {
            let index = batch.columns.iter().position(|column| column == name);
            let index = index.unwrap_or_else(|| panic!("{table} has no {name}"));
            batch.column(index).collect::<Vec<f64>>()
        })
        .collect()
}

fn remarks(found: &Found) -> Vec<(usize, &str)> {
    let remarks = found.1.remarks.iter();
    remarks.map(|it| (it.line, it.text.as_str())).collect()
}

/// What a command printed.
fn block<'a>(found: &'a Found, command: &str) -> &'a Block {
    let mut blocks = found.1.found.recordings[0].blocks.iter();
    blocks
        .find(|it| it.command == command)
        .expect("it was called")
}

/// The text with one line changed; lines count from 1.
fn with_line(text: &str, number: usize, change: impl Fn(&str) -> String) -> String {
    let lines = text.lines().enumerate();
    let changed = lines.map(|(index, line)| {
        let line = if index + 1 == number {
            change(line)
        } else {
            line.to_owned()
        };
        line + "\n"
    });
    changed.collect()
}

fn line_of(text: &str, start: &str) -> usize {
    let at = text.lines().position(|line| line.starts_with(start));
    at.expect("there is such a line") + 1
}

#[test]
fn a_sound_recording_is_read_whole() {
    let found = of(AIX);
    assert_eq!((found.1.dropped, remarks(&found)), (0, vec![]));
    let [recording] = &found.1.found.recordings[..] else {
        panic!("one recording");
    };
    assert_eq!(
        (recording.line, recording.snapshots, recording.sorted),
        (1, 8, false)
    );
    let physc = [0.12, 0.15, 0.31, 0.62, 0.97, 0.55, 0.2, 0.1];
    assert_eq!(column(&found, "LPAR", "PhysicalCPU"), physc);
    assert_eq!(column(&found, "LPAR", "Folded").iter().sum::<f64>(), 5.0);
    assert_eq!(column(&found, "PCPU", "User").len(), 64);
    let command = block(&found, "lparstat -i");
    assert_eq!(
        (&*command.command, command.lines.len()),
        ("lparstat -i", 32)
    );
    assert_eq!(
        command.lines[3].1.trim_end(),
        "Type                                       : Shared-SMT-4"
    );
    let minutes = column(&found, "ZZZZ", "time");
    assert!(minutes.windows(2).all(|pair| pair[1] - pair[0] == 60.0));
    // By `date -u -d '2025-03-03 09:01' +%s`.
    assert_eq!(minutes[0], 1_740_992_460.0);
}

#[test]
fn processors_are_one_table() {
    let found = of(AIX);
    let batch = found.0.iter().find(|batch| batch.table == "SCPU").unwrap();
    let first: Vec<i64> = batch.processors.as_ref().unwrap()[..9].to_vec();
    assert_eq!(first, [1, 2, 3, 4, 5, 6, 7, 8, 1]);
    assert_eq!(batch.snapshots[..9], [1, 1, 1, 1, 1, 1, 1, 1, 2]);
    assert_eq!(batch.columns, ["User", "Sys", "Wait", "Idle"]);
}

#[test]
fn commands_may_hold_commas() {
    let found = of(AIX);
    let top = found.0.iter().find(|batch| batch.table == "TOP").unwrap();
    let [(command, commands), (class, classes)] = &top.words[..] else {
        panic!("two columns of words");
    };
    assert_eq!((command.as_str(), class.as_str()), ("Command", "WLMclass"));
    let commands: Vec<&str> = commands.iter().take(2).collect();
    assert_eq!(commands, ["java -cp a,b", "gil = TCP/IP"]);
    assert!(classes.iter().all(|class| class == "Unclassified"));
    assert_eq!(top.columns[..2], ["PID", "%CPU"]);
    assert_eq!(
        column(&found, "TOP", "PID")[..2],
        [5_439_910.0, 1_835_068.0]
    );
}

#[test]
fn the_identities_hold_and_a_wrong_figure_is_told() {
    let rules = &of(AIX).1.found.recordings[0].identities;
    assert_eq!(rules.len(), 8);
    assert!(rules
        .iter()
        .all(|rule| rule.checked == 8 && rule.violated == 0));
    let number = line_of(AIX, "LPAR,T0005");
    let damaged = with_line(AIX, number, |line| line.replace("0.970", "0.950"));
    let found = of(&damaged);
    let rules = &found.1.found.recordings[0].identities;
    let violated: Vec<u64> = rules.iter().map(|rule| rule.violated).collect();
    // Shares of itself, of the virtual processors and of both pools; all else has coarser digits.
    assert_eq!(violated, [0, 1, 1, 1, 0, 0, 0, 0]);
    assert_eq!(rules[2].line, line_of(AIX, "ZZZZ,T0005"));
    assert_eq!(found.1.dropped, 0);
    assert!(remarks(&found)[0]
        .1
        .starts_with("an identity does not hold in 1 of 8"));
}

#[test]
fn linux_names_its_own_columns() {
    let found = of(X86);
    assert_eq!(column(&found, "CPU_ALL", "CPUs"), [4.0; 6]);
    // Headings without a name are left out; a heading may stand between the rows of a snapshot.
    assert_eq!(column(&found, "NETPACKET", "eth0-write/s")[1], 2.0);
    assert_eq!(
        column(&found, "VM", "nr_dirty"),
        [44.0, 45.0, 46.0, 47.0, 48.0, 49.0]
    );
    assert!(column(&found, "DISKBUSY", "vdb")
        .iter()
        .all(|value| value.is_nan()));
    let tables = &found.1.found.tables;
    let busy = tables.iter().find(|it| it.table == "DISKBUSY").unwrap();
    assert_eq!((busy.rows, busy.unread), (6, 6));
    assert_eq!(remarks(&found).len(), 1);
    let found = of(POWER);
    assert_eq!(
        column(&found, "LPAR", "partition_entitled_capacity"),
        [150.0; 4]
    );
}

#[test]
fn chunks_may_break_anywhere() {
    let whole = of(AIX);
    for size in [1, 7, 100] {
        let mut reader = Reader::new();
        let mut batches = Vec::new();
        for chunk in AIX.as_bytes().chunks(size) {
            reader.feed(chunk);
            if reader.waiting() > 300 {
                batches.extend(reader.take());
            }
        }
        let (last, summary) = reader.finish().unwrap();
        batches.extend(last);
        assert_eq!(summary, whole.1);
        let found = (batches, summary);
        for name in ["PhysicalCPU", "EC_User%"] {
            assert_eq!(column(&found, "LPAR", name), column(&whole, "LPAR", name));
        }
        assert!(found.0.len() > whole.0.len());
    }
}

#[test]
fn other_ends_of_line_and_marks_make_no_difference() {
    let whole = of(AIX);
    let crlf = format!("\u{feff}{}", AIX.replace('\n', "\r\n"));
    let found = of(&crlf);
    assert_eq!(found.1, whole.1);
    assert_eq!(
        column(&found, "MEM", "Real free(MB)"),
        column(&whole, "MEM", "Real free(MB)")
    );
}

#[test]
fn a_cut_file_loses_its_last_line_only() {
    let end = line_of(AIX, "LPAR,T0006");
    let cut: String = AIX.lines().take(end).collect::<Vec<_>>().join("\n");
    let found = of(&cut[..cut.len() - 2]);
    assert_eq!(column(&found, "LPAR", "PhysicalCPU").len(), 5);
    assert_eq!(
        remarks(&found),
        [(end, "the last line has no end: it is cut off")]
    );
    assert_eq!(found.1.dropped, 1);
}

#[test]
fn stray_and_damaged_lines_are_dropped_and_named() {
    let row = line_of(AIX, "LPAR,T0003");
    let cases = [
        ("garbage", "\"garbage\" is no line of nmon"),
        ("LPAR,T0003,0.3", "1 values of LPAR under 21 headings"),
        ("LPAR,0.31,2,8,12,0.5", "neither a row nor a heading"),
        ("ZZZZ,T0003,25:00:00,03-MAR-2025", "is no time"),
        (
            "ZZZZ,T0003,09:03:00,03-MAR-2025",
            "T0003 has a time already",
        ),
        ("lpar,T0003,0.3", "is no line of nmon"),
        ("\u{1}\u{2},\u{3}", "is no line of nmon"),
    ];
    for (line, told) in cases {
        let found = of(&with_line(AIX, row, |_| line.to_owned()));
        assert_eq!(found.1.dropped, 1, "{line}");
        let [(number, text)] = remarks(&found)[..] else {
            panic!("one remark of {line}");
        };
        assert!(number == row && text.contains(told), "{line}: {text}");
        assert_eq!(column(&found, "LPAR", "PhysicalCPU").len(), 7, "{line}");
    }
}

#[test]
fn zeros_before_a_line_and_words_for_numbers_lose_nothing_else() {
    let row = line_of(AIX, "LPAR,T0003");
    let found = of(&with_line(AIX, row, |line| format!("\0\0\0{line}")));
    assert_eq!(column(&found, "LPAR", "PhysicalCPU").len(), 8);
    assert_eq!(
        remarks(&found),
        [(row, "bytes of zero before the line are left out")]
    );
    let found = of(&with_line(AIX, row, |line| line.replace("0.310", "?")));
    assert!(column(&found, "LPAR", "PhysicalCPU")[2].is_nan());
    assert_eq!(
        remarks(&found),
        [(row, "values of LPAR that are no numbers are left out")]
    );
}

#[test]
fn rows_of_another_width_are_the_rule_if_all_are_so() {
    let wide = AIX.replace(
        "DISKREAD,Disk Read KB/s web1,hdisk0,hdisk1",
        "DISKREAD,Disk Read KB/s web1,hdisk0",
    );
    let found = of(&wide);
    assert_eq!(column(&found, "DISKREAD", "unnamed 2"), [0.0; 8]);
    assert_eq!(column(&found, "DISKREAD", "hdisk0").len(), 8);
    assert_eq!(
        remarks(&found)[0].1,
        "rows of DISKREAD have 2 values under 1 headings: they are taken from the left"
    );
    let narrow = AIX.replace(",hdisk0,hdisk1", ",hdisk0,hdisk1,hdisk2");
    let found = of(&narrow);
    assert_eq!(column(&found, "DISKREAD", "hdisk1").len(), 8);
    assert_eq!(found.1.dropped, 0);
}

#[test]
fn what_is_no_heading_does_not_take_the_place_of_one() {
    let at = line_of(AIX, "LPAR,T0003");
    let found = of(&with_line(AIX, at, |line| {
        format!("LPAR,Logical Partition web1,Physi\n{line}")
    }));
    assert_eq!(column(&found, "LPAR", "PhysicalCPU").len(), 8);
    let told: Vec<&str> = remarks(&found).into_iter().map(|(_, text)| text).collect();
    assert_eq!(
        told,
        [
            "LPAR gets another heading here, of 1 columns instead of 21",
            "the heading of LPAR before this line does not fit; the former is used"
        ]
    );
}

#[test]
fn columns_may_change() {
    let at = line_of(AIX, "DISKREAD,T0005");
    let added = AIX
        .lines()
        .enumerate()
        .map(|(index, line)| match line.strip_prefix("DISKREAD,T000") {
            Some(_) if index + 1 == at => {
                format!("DISKREAD,Disk Read KB/s web1,hdisk0,hdisk1,hdisk2\n{line},7\n")
            }
            Some(_) if index + 1 > at => format!("{line},7\n"),
            _ => format!("{line}\n"),
        })
        .collect::<String>();
    let found = of(&added);
    let batches: Vec<&Batch> = found.0.iter().filter(|it| it.table == "DISKREAD").collect();
    let shapes: Vec<(u32, usize, usize)> = batches
        .iter()
        .map(|batch| (batch.heading, batch.columns.len(), batch.rows()))
        .collect();
    assert_eq!(shapes, [(1, 2, 4), (2, 3, 4)]);
    assert_eq!(found.1.dropped, 0);
}

#[test]
fn recordings_may_be_glued() {
    let found = of(&format!("{AIX}{AIX}"));
    let starts: Vec<(usize, u64)> = found
        .1
        .found
        .recordings
        .iter()
        .map(|it| (it.line, it.snapshots))
        .collect();
    assert_eq!(starts, [(1, 8), (AIX.lines().count() + 1, 8)]);
    assert_eq!((found.1.dropped, remarks(&found)), (0, vec![]));
    let both = |batch: &&Batch| batch.table == "LPAR";
    let recordings: Vec<usize> = found.0.iter().filter(both).map(|it| it.recording).collect();
    assert_eq!(recordings, [0, 1]);
    // Without the second head, the first one's columns hold on.
    let samples = &AIX[AIX.find("ZZZZ,T0001").unwrap()..];
    let found = of(&format!("{AIX}{samples}"));
    assert_eq!(found.1.found.recordings.len(), 2);
    assert_eq!(column(&found, "LPAR", "PhysicalCPU").len(), 16);
    assert_eq!(
        remarks(&found)[0].1,
        "snapshots are counted from the beginning again: another recording"
    );
}

#[test]
fn a_recording_without_its_beginning_has_the_usual_columns() {
    let samples = &AIX[AIX.find("CPU_ALL,T0003").unwrap()..];
    let found = of(samples);
    assert_eq!(column(&found, "LPAR", "PhysicalCPU").len(), 6);
    assert_eq!(column(&found, "LPAR", "Folded").iter().sum::<f64>(), 3.0);
    let told = remarks(&found);
    assert!(told.iter().any(|(_, text)| text
        .starts_with("no line names the columns of LPAR; they are taken to be the usual")));
    assert!(told.iter().any(|(_, text)| text
        .starts_with("no line names the columns of DISKBUSY; its rows are left out")));
    assert!(found.1.dropped > 0);
}

#[test]
fn a_sorted_file_is_read() {
    let mut lines: Vec<&str> = AIX.lines().collect();
    lines.sort_unstable();
    let found = of(&(lines.join("\n") + "\n"));
    assert!(found.1.found.recordings[0].sorted);
    assert_eq!(
        column(&found, "LPAR", "PhysicalCPU"),
        column(&of(AIX), "LPAR", "PhysicalCPU")
    );
    assert_eq!(found.1.dropped, 0);
    assert_eq!(block(&found, "lparstat -i").lines.len(), 32);
}

#[test]
fn times_may_have_no_date() {
    let old = AIX.replace(",03-MAR-2025\n", "\n");
    let found = of(&old.replace("AAA,date\n", "AAA,date,03-MAR-2025\n"));
    assert_eq!(
        column(&found, "ZZZZ", "time"),
        column(&of(AIX), "ZZZZ", "time")
    );
    assert_eq!(
        remarks(&found)[0].1,
        "times have no date: they follow the one at the top"
    );
}

#[test]
fn what_is_no_recording_is_refused() {
    assert_eq!(read(b"").unwrap_err(), CaptureError::Empty { tool: "nmon" });
    assert_eq!(
        read(b"\n \r\n").unwrap_err(),
        CaptureError::Empty { tool: "nmon" }
    );
    let told = read(b"\n%user %sys\n1 2\n").unwrap_err().to_string();
    assert_eq!(
        told,
        "line 2: a line of nmon, such as AAA,progname,... expected, found \"%user %sys\""
    );
}

/// Lines of a recording and of nothing, in any order.
fn nearly_sound() -> impl Strategy<Value = Vec<u8>> {
    let lines: Vec<&str> = AIX.lines().chain(X86.lines()).collect();
    let line = prop_oneof![
        8 => prop::sample::select(lines).prop_map(|line| line.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
        1 => "[A-Z]{1,4}(,[T0-9.x]{0,5}){0,5}".prop_map(String::into_bytes),
    ];
    prop::collection::vec(line, 0..60).prop_map(|lines| lines.join(&b'\n'))
}

proptest! {
    /// An answer, never a panic; the same however it is cut; columns of one length; no line twice.
    #[test]
    fn any_lines_have_an_answer(bytes in nearly_sound(), size in 1usize..200) {
        let whole = read(&bytes);
        let mut reader = Reader::new();
        for chunk in bytes.chunks(size) {
            reader.feed(chunk);
        }
        match (whole, reader.finish()) {
            (Ok((batches, summary)), Ok((_, cut))) => {
                let same = format!("{:?}", summary) == format!("{:?}", cut);
                prop_assert!(same);
                let mut rows = 0;
                for batch in &batches {
                    rows += batch.rows();
                    prop_assert_eq!(batch.lines.len(), batch.rows());
                    prop_assert_eq!(batch.values.len(), batch.rows() * batch.columns.len());
                    prop_assert!(batch.words.iter().all(|(_, it)| it.ends().len() == batch.rows()));
                }
                let counted: u64 = summary.found.tables.iter().map(|table| table.rows).sum();
                prop_assert_eq!(rows as u64, counted);
                let lines = bytes.split(|b| *b == b'\n').count() as u64;
                prop_assert!(rows as u64 + summary.dropped <= lines);
            }
            (Err(whole), Err(cut)) => prop_assert_eq!(whole, cut),
            (whole, cut) => prop_assert!(false, "{:?} and {:?}", whole.err(), cut.err()),
        }
    }

    /// Tables that nobody wants change nothing of those that are wanted: the same rows, the same
    /// lines dropped.
    #[test]
    fn tables_left_out_leave_the_others_as_they_are(bytes in nearly_sound()) {
        let wanted = ["LPAR", "CPU_ALL", "ZZZZ"];
        let mut few = Reader::of(wanted.map(str::to_owned).into());
        few.feed(&bytes);
        let (few, all) = (few.finish(), read(&bytes));
        match (few, all) {
            (Ok((few, counted)), Ok((all, summary))) => {
                let of_interest = |it: &&Batch| wanted.contains(&it.table.as_str());
                let rows = |batches: &[Batch]| {
                    let kept = batches.iter().filter(of_interest);
                    let text = kept.map(|it| format!("{:?}", (&it.table, &it.lines, &it.values)));
                    text.collect::<Vec<String>>()
                };
                prop_assert_eq!(rows(&few), rows(&all));
                prop_assert!(few.iter().all(|it| wanted.contains(&it.table.as_str())));
                prop_assert_eq!(counted.dropped, summary.dropped);
                let tables = |it: &Lenient<Summary>| {
                    let rows = it.found.tables.iter().map(|it| (it.table.clone(), it.rows));
                    rows.collect::<Vec<_>>()
                };
                prop_assert_eq!(tables(&counted), tables(&summary));
            }
            (Err(few), Err(all)) => prop_assert_eq!(few, all),
            (few, all) => prop_assert!(false, "{:?} and {:?}", few.err(), all.err()),
        }
    }
}
