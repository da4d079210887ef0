use super::*;

const LPAR: &str = "\
FCX126      CPU 3906  SER .....  Interval 00:00:00 - 00:00:08    Perf. Monitor
LPAR (layout of homenode: only the names of the original's fields are known)
%Load is of all active cores of the machine.

Partition  Nr.  #Proc  Weight  TypeCap  %Busy
ZVM1         1     10     DED     ....  79.85
LINUX1       2      4     300     2.50  51.26
";
const DEVICES: &str = "\
Prose before it.

(From FCX108 DEVICE)

          <-- Device Descr. -->  Mdisk Pa- <-Rate/s-> <------- Time (msec) -------> Req. <Percent>
Run       Addr Type   Label/ID   Links ths  I/O Avoid Pend Disc Conn Serv Resp CUWt Qued Busy READ

B1        PAGING                  ....  ..  190    .0 .150 .500 .230 .880 1.60 .000  .14   16   96
B2        PAGING                  ....  .. 80.1    .0 .160 2.90 .280 3.34 6.70 .000  .31   27   92

Prose behind it.
";
const SYSTEM: &str = "\
FCX102      CPU 3906  SER 4E67  Interval 00:00:00 - 00:00:08    Perf. Monitor

Operation                     Count    Rate/s   Operation                     Count    Rate/s
Real SSCH                     60092    7511.5   Virtual CPU dispatches        62216    7777.0
Diag.X'9C'                      100      12.5
";

fn only(text: &str) -> Report {
    let read = read(text).expect("a report");
    assert_eq!(
        (read.dropped, read.remarks.len()),
        (0, 0),
        "{:?}",
        read.remarks
    );
    assert_eq!(read.found.reports.len(), 1);
    read.found.reports[0].clone()
}

#[test]
fn columns_two_blanks_apart() {
    let report = only(LPAR);
    assert_eq!(
        (report.number.as_str(), report.machine.as_str()),
        ("FCX126", "3906")
    );
    assert_eq!(report.interval, ["00:00:00", "00:00:08"]);
    assert_eq!(report.serial, "");
    assert_eq!(report.columns.len(), 6);
    assert_eq!(
        report.rows[0].cells,
        ["ZVM1", "1", "10", "DED", "", "79.85"]
    );
    assert_eq!(report.rows[1].line, 7);
}

#[test]
fn an_excerpt_stands_in_prose() {
    let read = read(DEVICES).expect("a report");
    assert_eq!((read.dropped, read.found.outside), (0, 2));
    let report = &read.found.reports[0];
    assert_eq!(report.columns.len(), report.rows[0].cells.len());
    let cells = &report.rows[1].cells;
    assert_eq!(
        (cells[0].as_str(), cells[1].as_str(), cells[6].as_str()),
        ("B2", "PAGING", "80.1")
    );
    assert_eq!((cells[4].as_str(), cells[16].as_str()), ("", "92"));
    let bare = DEVICES.replace("(From FCX108 DEVICE)\n", "");
    let found = super::read(&bare).expect("a report").found;
    assert_eq!(found.reports[0].rows.len(), 2);
}

#[test]
fn a_device_has_address_type_and_label() {
    let text = DEVICES
        .replace("Run       Addr", "Addr")
        .replace("B1        PAGING ", "5101 3390-9 VMPG01");
    let found = read(&text).expect("a report").found;
    assert_eq!(
        found.reports[0].rows[0].cells[..4],
        ["", "5101", "3390-9", "VMPG01"]
    );
}

#[test]
fn operations_stand_side_by_side() {
    let report = only(SYSTEM);
    assert_eq!(report.serial, "4E67");
    let cells: Vec<_> = report.rows.iter().map(|row| row.cells.join("|")).collect();
    assert_eq!(
        cells,
        [
            "Real SSCH|60092|7511.5",
            "Virtual CPU dispatches|62216|7777.0",
            "Diag.X'9C'|100|12.5"
        ]
    );
}

#[test]
fn reports_follow_each_other_with_or_without_a_blank_line() {
    for gap in ["", "\n"] {
        let found = read(&format!("{SYSTEM}{gap}{LPAR}{gap}{DEVICES}"))
            .expect("reports")
            .found;
        let numbers: Vec<_> = found
            .reports
            .iter()
            .map(|one| one.number.as_str())
            .collect();
        assert_eq!(numbers, ["FCX102", "FCX126", "FCX108"]);
        assert_eq!(found.reports[1].rows.len(), 2);
    }
}

#[test]
fn damage_is_counted_and_named() {
    let cut = LPAR.replace("     300     2.50  51.26\n", "");
    let read = read(&cut).expect("a report");
    assert_eq!((read.dropped, read.remarks[0].line), (1, 7));
    assert_eq!(read.remarks[0].text, "3 values under 6 headings");
    let spoilt = DEVICES.replace("80.1", "8?.1");
    assert_eq!(super::read(&spoilt).expect("a report").dropped, 1);
    let bare = LPAR.lines().take(3).collect::<Vec<_>>().join("\n") + "\n";
    let found = super::read(&bare).expect("a report");
    assert_eq!(found.remarks[0].text, "FCX126 shows no table");
}

#[test]
fn other_texts_are_refused() {
    for text in ["", "hello", "FCX1 CPU 3906\n", "FCX108 is a report\n"] {
        assert!(read(text).is_err(), "{text:?}");
    }
}
