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
    let summed = only(&(LPAR.to_owned() + ">>Total>>    .     14       .        .  65.00\n"));
    assert_eq!(summed.rows.len(), 3);
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

const LISTING: &str = "\
1FCX225  Run 2020/02/03 14:00:28         SYSSUMLG
                                         System Performance Summary by Time             Page  1
From 2020/02/03 09:07:00                                                                 VMLAB
To   2020/02/03 09:37:00                                          CPU 3906-715   SN 4E67
For   1800 Secs 00:30:00                 For a test
____________________________________________________________________________________________

            <------- CPU -------->  <---I/O---->  <-Paging-->
                  <-Ratio->         SSCH   DASD   <-Rate/s-->
Interval     Pct       Cap-   On-  +RSCH   Resp   PGIN+  Read+
End Time    Busy   T/V ture  line     /s   msec   PGOUT  Write
>>Mean>>    50.0  1.10 .950   4.0    500    1.2      .0   12.0
09:12:00    48.0  1.11 .951   4.0 123456     .1      .0   11.0
09:17:00         1.09         4.0    490             .0

1FCX225  Run 2020/02/03 14:00:28         SYSSUMLG
                                         System Performance Summary by Time             Page  2
From 2020/02/03 09:07:00                                                                 VMLAB
To   2020/02/03 09:37:00                                          CPU 3906-715   SN 4E67
____________________________________________________________________________________________

            <------- CPU -------->  <---I/O---->  <-Paging-->
                  <-Ratio->         SSCH   DASD   <-Rate/s-->
Interval     Pct       Cap-   On-  +RSCH   Resp   PGIN+  Read+
End Time    Busy   T/V ture  line     /s   msec   PGOUT  Write
09:22:00    52.0  1.10 .949   4.0    510    1.2      .0   13.0
";

#[test]
fn columns_under_several_lines_and_pages_that_go_on() {
    let report = only(LISTING);
    let told = [&report.machine, &report.serial, &report.interval[1]];
    assert_eq!(told, ["3906", "4E67", "2020/02/03 09:37:00"]);
    let names = [
        "Interval End Time",
        "Pct Busy",
        "T/V",
        "Cap-ture",
        "On-line",
        "SSCH +RSCH /s",
        "DASD Resp msec",
        "PGIN+PGOUT",
        "Read+Write",
    ];
    assert_eq!(report.columns, names);
    let cells: Vec<_> = report.rows.iter().map(|row| row.cells.join("|")).collect();
    let second = "09:17:00||1.09||4.0|490||.0|";
    assert_eq!(cells[0], "09:12:00|48.0|1.11|.951|4.0|123456|.1|.0|11.0");
    assert_eq!((cells[1].as_str(), cells.len()), (second, 3));
    assert_eq!(report.rows[2].line, 26);
}

#[test]
fn other_widths_fewer_columns_and_a_screen_are_read_too() {
    // Two columns more on the left, as a level with dates has them.
    let dated = LISTING
        .replace("09:", "20200203 09:")
        .replace("End Time", "Day      End Time");
    let dated = dated
        .replace("Interval ", "         Interval ")
        .replace(">>Mean>>", ">>Mean>>         ");
    let dated = dated
        .replace("      <-", "               <-")
        .replace("1FCX225", "\u{c}FCX225");
    let dated = only(&dated);
    assert_eq!(dated.columns[..3], ["Day", "Interval End Time", "Pct Busy"]);
    assert_eq!(dated.rows[1].cells[..3], ["20200203", "09:17:00", ""]);
    let cut: String = LISTING
        .lines()
        .map(|line| format!("{}\n", &line[..line.len().min(33)]))
        .collect();
    let fewer = read(&cut).expect("a report").found.reports[0].clone();
    assert_eq!(fewer.columns.last().map(String::as_str), Some("On-line"));
    assert_eq!(fewer.rows.len(), 3);
    let (_, table) = LISTING.split_once("\n\n").expect("a blank line");
    let screen = format!("FCX225      CPU 3906  SER 4E67  Interval 09:07:00 - 09:37:00\n\n{table}");
    assert_eq!(
        read(&screen).expect("a report").found.reports[0].rows.len(),
        2
    );
}

#[test]
fn damaged_lines_of_a_listing_are_named() {
    for (from, to, why) in [
        ("52.0  1.10", "52.0 7 1.10", "two values under"),
        (
            ".0   13.0",
            ".0   13.0           99",
            "\"99\" stands under no heading",
        ),
        (
            "09:17:00         1.09         4.0    490             .0",
            "spoilt line",
            "has no figure",
        ),
    ] {
        let read = read(&LISTING.replace(from, to)).expect("a report");
        assert_eq!(read.dropped, 1, "{to}");
        assert!(read.remarks[0].text.contains(why), "{:?}", read.remarks);
        let lost = [read.remarks[0].line];
        let figures = if to == "spoilt line" { &[] } else { &lost[..] };
        assert_eq!(read.found.reports[0].lost, figures);
    }
}

#[test]
fn devices_of_other_levels_have_more_figures_or_fewer() {
    let more = DEVICES
        .replace("Busy READ", "Busy READ Cyls")
        .replace("   16   96", "   16   96  120")
        .replace("   27   92", "   27   92 ....");
    let report = &read(&more).expect("a report").found.reports[0];
    assert_eq!(report.columns.last().map(String::as_str), Some("Cyls"));
    assert_eq!(report.rows[0].cells.last().map(String::as_str), Some("120"));
    let fewer = DEVICES.replace(" Avoid", "").replace("    .0 .1", " .1");
    let report = &read(&fewer).expect("a report").found.reports[0];
    assert_eq!((report.columns.len(), report.rows.len()), (16, 2));
    assert_eq!(report.rows[1].cells[7], ".160");
}

#[test]
fn a_heading_has_so_many_lines_and_like_columns_are_numbered() {
    let line = "           <- A -> <- B ->\n";
    let again = LISTING.replace("Interval  ", &format!("{}Interval  ", line.repeat(20)));
    let read = read(&again).expect("a report");
    assert!(read.remarks[0].text.contains("at most 12 lines"));
    let heading = ["  Busy   Busy  Busy", "                        Busy"];
    let columns = listing::Columns::of(&heading.map(str::to_owned));
    assert_eq!(columns.names, ["Busy", "Busy 2", "Busy 3", "Busy 4"]);
    let grouped = ["<-- CPU -> <I/O-->", "Rate  Busy  Rate"].map(str::to_owned);
    let columns = listing::Columns::of(&grouped);
    assert_eq!(columns.names, ["CPU Rate", "Busy", "I/O Rate"]);
}

const CPU: &str = "\
FCX100      CPU 3906  SER 4E67  Interval 23:59:13 - 00:00:13    VMLAB

CPU Load                                        Vector Facility     Status or
PROC TYPE  %CPU  %CP  %EMU  %WT  %SYS  %SP  %SIC %LOGLD %VTOT %VEMU REST ded. User
P00  IFL     41    3    38   59     1    0    98     41   ..    ..  ...   Master
P01  IFL     35    2         65     1    0   ...     35   ..    ..  ...   With a name that is long
";

#[test]
fn values_of_processors_stand_under_their_headings() {
    let report = only(CPU);
    assert_eq!(
        report.columns.join(" "),
        "PROC TYPE %CPU %CP %EMU %WT %SYS %SP %SIC %LOGLD %VTOT %VEMU"
    );
    let cells: Vec<_> = report.rows.iter().map(|row| row.cells.join("|")).collect();
    assert_eq!(cells[0], "P00|IFL|41|3|38|59|1|0|98|41||");
    assert_eq!(cells[1], "P01|IFL|35|2||65|1|0||35||");
    let spoilt = read(&CPU.replace("   35    2", "   35 4  2")).expect("a report");
    let cells = &spoilt.found.reports[0].rows[1].cells;
    assert_eq!(
        (spoilt.dropped, cells[0].as_str(), cells[2].as_str()),
        (1, "P01", "")
    );
    assert_eq!(cells.len(), report.columns.len());
}

#[test]
fn a_second_heading_of_processors_changes_no_columns() {
    let heading = CPU.lines().nth(3).expect("a heading");
    for (again, dropped) in [("PROC TYPE  %CPU", 1), (heading, 0)] {
        let text = CPU.replace("\nP01", &format!("\n{again}\nP01"));
        let read = read(&text).expect("a report");
        let report = &read.found.reports[0];
        assert_eq!((read.dropped, report.rows.len()), (dropped, 2));
        let widths: Vec<_> = report.rows.iter().map(|row| row.cells.len()).collect();
        assert_eq!(widths, [report.columns.len(); 2]);
    }
}
