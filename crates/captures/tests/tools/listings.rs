//! Listings of hard and virtual partitions: the same bytes back, what is read, what is remarked,
//! what is refused.

use homenode_captures::{parstatus, vparstatus, Reading, Remark};
use vparstatus::{CellMemory, Listing, VirtualPartition};

const DETAILS: &str = include_str!("../listings/vparstatus-v.txt");
const MACHINE: &str = include_str!("../listings/vparstatus-M.txt");
const SUMMARY: &str = include_str!("../listings/vparstatus.txt");
const CELLS: &str = include_str!("../listings/parstatus-C.txt");
const SERVER: &str = include_str!("../listings/parstatus.txt");

fn read(text: &str) -> Reading<Listing> {
    vparstatus::parse(text).expect("a sound listing")
}

fn partitions(listing: &Listing) -> &[VirtualPartition] {
    match listing {
        Listing::Details { partitions } | Listing::Machine { partitions } => partitions,
        Listing::Summary { .. } => panic!("the summary holds no partitions"),
    }
}

fn remarks(remarks: &[Remark]) -> Vec<String> {
    let told = |remark: &Remark| format!("line {}: {}", remark.line, remark.text);
    remarks.iter().map(told).collect()
}

fn refusal(text: &str) -> String {
    vparstatus::parse(text).expect_err(text).to_string()
}

#[test]
fn listings_come_back_byte_for_byte() {
    for sample in [DETAILS, MACHINE, SUMMARY] {
        let reading = read(sample);
        assert_eq!(vparstatus::format(&reading.found), sample);
        assert_eq!(reading.remarks, []);
    }
    for sample in [CELLS, SERVER] {
        let reading = parstatus::parse(sample).expect(sample);
        assert_eq!(parstatus::format(&reading.found), sample);
        assert_eq!(reading.remarks, []);
    }
}

#[test]
fn detailed_and_machine_readable_say_the_same() {
    let (long, short) = (read(DETAILS).found, read(MACHINE).found);
    for (long, short) in partitions(&long).iter().zip(partitions(&short)) {
        assert_eq!(long.name, short.name);
        assert_eq!(long.processors, short.processors);
        assert_eq!(long.memory.local.by_cell, short.memory.local.by_cell);
        assert_eq!(long.memory.interleaved, short.memory.interleaved);
        assert_eq!(
            long.online.clone().unwrap_or_default(),
            short.online.clone().unwrap()
        );
    }
}

#[test]
fn processors_memory_and_io_are_told_apart() {
    let listing = read(DETAILS).found;
    let oak1 = &partitions(&listing)[0];
    assert_eq!((oak1.processors.minimum, oak1.processors.maximum), (1, 12));
    assert_eq!(oak1.processors.boot.as_deref(), Some("1.12"));
    assert_eq!(oak1.processors.monitor.len(), 3);
    assert_eq!(oak1.io[2].role, "BOOT");
    assert_eq!(
        (
            oak1.memory.interleaved.megabytes,
            oak1.memory.interleaved.floating
        ),
        (2048, 512)
    );
    let first = CellMemory {
        cell: 0,
        megabytes: 1280,
        floating: 512,
    };
    assert_eq!(oak1.memory.local.by_cell[0], first);
    assert!(oak1.memory.local.monitor[1].floating);
    let oak2 = &partitions(&listing)[1];
    assert_eq!(oak2.processors.monitor, [None, None]);
    assert_eq!(oak2.processors.by_cell[0].count, 2);
}

#[test]
fn facts_have_their_lines() {
    let places = read(DETAILS).places;
    let line = |of: &str, field: &str| {
        let found = places
            .iter()
            .find(|place| place.of == of && place.field == field);
        found.map(|place| place.line)
    };
    assert_eq!(line("oak1", "name"), Some(2));
    assert_eq!(line("oak1", "memory.local"), Some(41));
    assert_eq!(line("oak2", "processors.limits"), Some(59));
    assert_eq!(line("oak2", "io"), Some(70));
    assert!(read(MACHINE)
        .places
        .iter()
        .any(|place| place.of == "oak2" && place.line == 2));
}

#[test]
fn copies_lose_blanks_and_gain_page_breaks() {
    let squeezed = DETAILS
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\r\n")
        .collect::<String>();
    assert_eq!(read(&squeezed).found, read(DETAILS).found);
    let paged = DETAILS.replace("[IO Details]", "\u{c}\n--More--(12%)\n[IO  Details]");
    assert_eq!(read(&paged).found, read(DETAILS).found);
    let session = format!(
        "root@oak1# /usr/sbin/vparstatus -v\n{DETAILS}\noak1# parstatus -C\n{CELLS}oak1# exit\n"
    );
    let reading = read(&session);
    assert_eq!(reading.found, read(DETAILS).found);
    assert_eq!(reading.remarks, []);
    let cells = parstatus::parse(&session).expect("the cells behind the details");
    assert_eq!(
        cells.found,
        parstatus::parse(CELLS).expect("the cells").found
    );
}

#[test]
fn a_value_may_stand_on_the_next_line() {
    let broken = DETAILS.replace("Attributes:   Dynamic", "Attributes:\nDynamic");
    assert_eq!(read(&broken).found, read(DETAILS).found);
}

#[test]
fn what_is_not_known_is_remarked() {
    let newer = DETAILS
        .replacen(
            "CLM Granularity",
            "SLM Total (MB):  7\n0 7\nCLM Granularity",
            1,
        )
        .replacen(
            "[OL* Details]",
            "[Vswitch Details]\nport : 3\n[OL* Details]",
            1,
        );
    let reading = read(&format!("copied on a Monday\n{newer}"));
    assert_eq!(reading.found, read(DETAILS).found);
    assert_eq!(
        remarks(&reading.remarks),
        [
            "line 1: \"copied on a Monday\" is left out",
            "line 45: \"SLM Total (MB):  7\" is left out",
            "line 46: \"0 7\" is left out",
            "line 49: section [Vswitch Details] is left out",
        ]
    );
}

#[test]
fn other_units_and_decimal_commas_are_remarked() {
    let foreign = DETAILS
        .replace("ILM Total (MB):  2048", "ILM Total (MB):  2 GiB")
        .replace("ILM Total (MB):  1024", "ILM Total (GB):  1,0")
        .replacen(
            "ILM Granularity (MB):  512",
            "ILM Granularity (MB):  512,00",
            1,
        );
    let reading = read(&foreign);
    assert_eq!(reading.found, read(DETAILS).found);
    assert_eq!(
        remarks(&reading.remarks),
        [
            "line 32: \"2 GiB\" is read as 2048 MB",
            "line 34: \"512,00\" has a decimal comma; it is read as 512.00",
            "line 78: \"1,0\" has a decimal comma; it is read as 1.0",
            "line 78: \"1.0 GB\" is read as 1024 MB",
        ]
    );
    let commas = CELLS.replace("32.0/ 0.0", "32,0/ 0,0");
    let reading = parstatus::parse(&commas).expect("decimal commas");
    assert_eq!(parstatus::format(&reading.found), CELLS);
    assert_eq!(reading.remarks.len(), 4);
}

#[test]
fn thousands_are_not_guessed() {
    for (written, found) in [("1,280", "1,280"), ("1.5", "1.5"), ("12 pages", "12 pages")] {
        let text = DETAILS.replace(
            "ILM Total (MB):  1024",
            &format!("ILM Total (MB):  {written}"),
        );
        let expected = format!("line 78: {found:?} under ILM Total is no number");
        assert_eq!(refusal(&text), expected);
    }
}

#[test]
fn older_listings_are_read() {
    let old = "\
[Virtual Partition Details]
Name: elm
State: Up
Attributes: Dynamic,Autoboot
Kernel Path: /stand/vmunix
Boot Opts:
[CPU Details]
Min/Max: 2/4
Bound by User [Path]: 33
Bound by Monitor [Path]: 37
Unbound [Path]: 41
[IO Details]
0.0
[Memory Details]
Specified [Base /Range]:
(bytes) (MB)
Total Memory (MB): 1024
";
    let reading = read(old);
    let elm = &partitions(&reading.found)[0];
    assert_eq!(elm.processors.user, [Some("33".to_owned())]);
    assert_eq!(elm.processors.monitor.len(), 2);
    assert_eq!(elm.memory.interleaved.megabytes, 1024);
    assert_eq!(
        remarks(&reading.remarks),
        ["line 11: unbound processors count as monitor assigned"]
    );
    let line = "elm:Up:Dynamic,Autoboot:/stand/vmunix::2/4;33;33;37;;1;1:0.0 BOOT:;1024:N\n";
    let reading = read(line);
    assert_eq!(partitions(&reading.found)[0].online, None);
    assert_eq!(
        remarks(&reading.remarks),
        ["line 1: elm: all memory counts as interleaved"]
    );
}

#[test]
fn totals_are_held_against_the_ranges() {
    let short = DETAILS.replace("ILM Total (MB):  2048", "ILM Total (MB):  1536");
    let reading = read(&short);
    assert_eq!(reading.found, read(DETAILS).found);
    assert_eq!(
        remarks(&reading.remarks),
        ["line 32: oak1: interleaved memory: 1536 MB is taken to be without the 512 MB floating"]
    );
    let wrong = DETAILS.replace("1  1024\n", "1  999\n");
    assert_eq!(
        remarks(&read(&wrong).remarks),
        ["line 32: oak1: memory of cell 1: the ranges add up to 1024 MB; the total, 999 MB, counts"]
    );
}

#[test]
fn what_is_missing_is_named() {
    let cut = |at: &str| &DETAILS[..DETAILS.rfind(at).expect(at)];
    let copy = "copy all that the tool printed";
    assert_eq!(
        refusal(cut("[Memory Details]")),
        format!("line 51: oak2 has no \"Memory Details\"; {copy}")
    );
    assert_eq!(
        refusal(cut("CLM (CellID")),
        format!("line 73: oak2 has no \"CLM (CellID MB)\"; {copy}")
    );
    assert_eq!(
        refusal(&DETAILS.replace("Min/Max:  2/4\n", "")),
        format!("line 58: oak2 has no \"Min/Max\"; {copy}")
    );
    let no_io = DETAILS.replace("[IO Details]\n   0.0.0\n", "");
    assert_eq!(
        remarks(&read(&no_io).remarks),
        ["line 51: oak2 has no [IO Details]: where its I/O hangs is not known"]
    );
}

#[test]
fn wrong_text_is_refused_with_its_line() {
    assert_eq!(
        refusal(""),
        "there is no text; give the output of vparstatus"
    );
    let known = "[Virtual Partition Details], or a line of vparstatus -M with 9 or 10 fields";
    assert_eq!(
        refusal("\nhello\n"),
        format!("line 2: {known} expected, found \"hello\"")
    );
    assert_eq!(
        refusal(&(DETAILS.to_owned() + DETAILS)),
        "line 90: \"oak1\" occurs twice"
    );
    assert_eq!(
        refusal(&MACHINE.replace(":N\noak2", ":\noak2").replacen(":N", "", 1)),
        "line 2: 9 values under 10 headings"
    );
    assert_eq!(
        refusal(&MACHINE.replace("2/4;", "2;")),
        "line 2: the least and the most processors, such as 1/12 expected, found \"2\""
    );
    assert_eq!(
        refusal(&SUMMARY[..SUMMARY.rfind("oak2").expect("oak2")]),
        "line 8: oak2 has no \"its row of resources\"; copy all that the tool printed"
    );
    let cells = |text: &str| parstatus::parse(text).expect_err(text).to_string();
    assert_eq!(
        cells(&CELLS[..CELLS.find("=====").expect("a ruler")]),
        "the text ends after line 5, where the ruler beneath the headings of the cells was still \
         to come; copy all of it"
    );
    let row = "a cell: location, usage, CPU, memory, chassis, core, next boot, partition";
    assert_eq!(
        cells(&CELLS[..CELLS.find(" yes     yes  0\ncab0,cell1").expect("a row")]),
        format!(
            "line 7: {row} expected, found \"cab0,cell0 Active Core  8/0/8   32.0/ 0.0 \
             cab0,bay0,chassis0\""
        )
    );
    assert_eq!(
        cells("[Cell]\n==\ncab0,cell0 a x/0/8 1/0 - y y 0"),
        "line 3: \"x\" under CPU is no number"
    );
}
