//! Text written after the tools' layouts: what is read from it, and the same bytes back.

use homenode_captures::{lparstat, mpstat, Capture, Report, Table, Value};

const SHARED: &str = "
System configuration: type=Shared mode=Uncapped smt=4 lcpu=4 mem=47104MB psize=60 ent=0.50

%user  %sys  %wait  %idle physc %entc  lbusy   app  vcsw phint  %nsp  %utcyc
----- ----- ------ ------ ----- ----- ------   --- ----- ----- -----  ------
 11.3  15.0    0.0   73.7  0.22  44.5    6.1 45.26   919     0   101   1.39
  0.2   0.8    0.0   99.0  0.01   1.8    2.3 45.80 1014627468     0   101   1.39
";

const DONATING: &str = "
System configuration: type=Dedicated mode=Donating smt=8 lcpu=16 mem=4096MB

%user  %sys  %wait  %idle physc  vcsw   %nsp  %utcyc
----- ----- ------ ------ ----- ----- ----- ------
  0.1   0.2    0.0   99.7  0.07 1014627468   132  24.21
";

const CAPPED: &str = "
System configuration: type=Dedicated mode=Capped smt=4 lcpu=4 mem=4096MB

%user  %sys  %wait  %idle
----- ----- ------ ------
  5.6   5.0    0.5   88.9

System configuration: type=Dedicated mode=Capped smt=On lcpu=2 mem=4096MB

%user  %sys  %wait  %idle
----- ----- ------ ------
  5.6   5.0    0.5   88.9
";

const HYPERVISOR: &str = "
System configuration: type=Shared mode=Uncapped smt=4 lcpu=28 mem=43008MB psize=16 ent=1.30

           Detailed information on Hypervisor Calls

Hypervisor        \t    Number of    %Total Time   %Hypervisor   Avg Call    Max Call
  Call              \t      Calls         Spent      Time Spent    Time(ns)    Time(ns)

cede                           125            0.0          68.9     109873     1591250
h_nmmu_allocate_resource         0            0.0           0.0          0           0
--------------------------------------------------------------------------------
";

const NORMALISED: &str = "
System configuration: type=Shared mode=Uncapped smt=On lcpu=4 mem=7936MB ent=0.20 Power=Disabled

Physical Processor Utilisation:

 --------Actual--------              ------Normalised------
 user   sys  wait  idle      freq    user   sys  wait  idle
 ----  ----  ----  ----   ---------  ----  ----  ----  ----
0.008 0.012 0.000 0.180 3.6GHz[100%] 0.008 0.012 0.000 0.180
0.008 0.012 0.000 0.180 3.5GHz[ 97%] 0.008 0.012 0.000 0.180
";

const DISPATCH: &str = "
System configuration: lcpu=2 ent=1.3 mode=Uncapped

cpu     cs    ics  bound     rq   push S3pull  S3grd  S0rd  S1rd  S2rd  S3rd  S4rd  S5rd   \
ilcs   vlcs S3hrd S4hrd S5hrd  %nsp
  0 2820821380 537803893      1      1     23      0      0  97.7   0.7   0.0   1.6   0.0   0.0 \
46361281 1538788150  99.1   0.0   0.9     0
  1      0      0      0      0      0      0      0     -     -     -     -     -     -      \
0     11     -     -     -     0
ALL 2820821380 537803893      1      1     23      0      0  97.7   0.7   0.0   1.6   0.0   0.0 \
46361281 1538788161  99.1   0.0   0.9     0
";

const DEFAULT: &str = "
System configuration: lcpu=2 ent=1.0 mode=Uncapped

cpu  min  maj  mpc  int   cs  ics   rq  mig lpa sysc us sy wa id   pc  %ec  lcs
  0    8    0    0  182  336  102    0    0 100 1434 38 51  0 12 0.02  1.8  185
  1    0    0    0    1    0    0    0    0   -    0  0 42  0 58 0.00  0.0    0
  U    -    -    -    -    -    -    -    -   -    -  -  -  0 98 0.98 98.2    -
ALL    8    0    0  183  336  102    0    0 100 1434  0  0  0 99 0.02  1.8  185
";

const THREADS: &str = "
System configuration: lcpu=4 ent=0.5 mode=Uncapped

      Proc0             Proc2
      0.27%             49.63%
     cpu0     cpu1     cpu2     cpu3
    0.17%    0.10%    3.14%   46.49%
";

fn the_table(capture: &Capture) -> &Table {
    assert_eq!(capture.sections.len(), 1);
    assert_eq!(capture.sections[0].tables.len(), 1);
    &capture.sections[0].tables[0]
}

fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::Text(text)) => text.clone(),
        Some(value) => value
            .number()
            .map_or("-".to_owned(), |number| number.to_string()),
        None => "no such value".to_owned(),
    }
}

#[test]
fn lparstat_comes_back_byte_for_byte() {
    for sample in [SHARED, DONATING, CAPPED, HYPERVISOR, NORMALISED] {
        assert_eq!(
            lparstat::format(&lparstat::parse(sample).expect(sample)),
            sample
        );
    }
}

#[test]
fn mpstat_comes_back_byte_for_byte() {
    for sample in [DISPATCH, DEFAULT, THREADS] {
        assert_eq!(
            mpstat::format(&mpstat::parse(sample).expect(sample)),
            sample
        );
    }
}

#[test]
fn interval_rows_stand_under_the_tool_s_headings() {
    let capture = lparstat::parse(SHARED).expect("sound");
    assert_eq!(capture.report, Report::LparstatIntervals);
    let table = the_table(&capture);
    assert_eq!(table.rows.len(), 2);
    assert_eq!(text(table.value(0, "app")), "45.26");
    assert_eq!(text(table.value(1, "vcsw")), "1014627468");
    let facts: Vec<String> = capture.sections[0]
        .configuration
        .iter()
        .map(|(key, value)| format!("{key} {}", text(Some(value))))
        .collect();
    let expected = [
        "type Shared",
        "mode Uncapped",
        "smt 4",
        "lcpu 4",
        "mem 47104",
        "psize 60",
        "ent 0.50",
    ];
    assert_eq!(facts, expected);
}

#[test]
fn a_changed_configuration_begins_a_section() {
    let capture = lparstat::parse(CAPPED).expect("sound");
    assert_eq!(capture.sections.len(), 2);
    assert_eq!(
        capture.sections[1].configuration[2],
        ("smt".into(), Value::Text("On".into()))
    );
}

#[test]
fn trailing_blanks_and_repeated_headings_are_the_tool_s_own() {
    let older = SHARED.replace('\n', " \n");
    assert_eq!(lparstat::parse(&older), lparstat::parse(SHARED));
    let headings: String = SHARED
        .lines()
        .skip(3)
        .take(2)
        .map(|line| format!("{line}\n"))
        .collect();
    let repeated = SHARED.replace("  0.2   0.8", &format!("\n{headings}  0.2   0.8"));
    assert_eq!(lparstat::parse(&repeated), lparstat::parse(SHARED));
}

#[test]
fn calls_and_clocks_are_read() {
    let calls = lparstat::parse(HYPERVISOR).expect("sound");
    assert_eq!(text(the_table(&calls).value(0, "Hypervisor Call")), "cede");
    assert_eq!(
        text(the_table(&calls).value(0, "Max Call Time(ns)")),
        "1591250"
    );
    let clocks = lparstat::parse(NORMALISED).expect("sound");
    assert_eq!(text(the_table(&clocks).value(1, "freq")), "3.5GHz[97%]");
    assert_eq!(text(the_table(&clocks).value(1, "nidle")), "0.180");
}

#[test]
fn mpstat_tables_are_read() {
    let dispatch = mpstat::parse(DISPATCH).expect("sound");
    assert_eq!(text(the_table(&dispatch).value(2, "vlcs")), "1538788161");
    assert_eq!(the_table(&dispatch).value(1, "S0rd"), Some(&Value::Missing));
    let threads = mpstat::parse(THREADS).expect("sound");
    let rows: Vec<[String; 3]> = the_table(&threads)
        .rows
        .iter()
        .map(|row| {
            [
                text(Some(&row[0])),
                text(Some(&row[1])),
                text(Some(&row[2])),
            ]
        })
        .collect();
    assert_eq!(rows[0], ["Proc0", "-", "0.27"]);
    assert_eq!(rows[5], ["Proc2", "cpu3", "46.49"]);
}

#[test]
fn a_heading_printed_twice_counts_once() {
    let (first, _) = DISPATCH.split_once("  %nsp").expect("there");
    let heading = first.lines().last().expect("there");
    let doubled = DISPATCH.replacen("cpu  ", &format!("{heading}\ncpu  "), 1);
    assert_eq!(mpstat::parse(&doubled), mpstat::parse(DISPATCH));
}

#[test]
fn reports_are_parted_by_dashes_or_by_headings() {
    let body = DEFAULT.split_once("mode=Uncapped\n\n").expect("there").1;
    let dashes = "-".repeat(80);
    let twice = format!("{DEFAULT}{dashes}\n{body}");
    let capture = mpstat::parse(&twice).expect("sound");
    assert_eq!(capture.sections[0].tables.len(), 2);
    assert_eq!(mpstat::format(&capture), twice);
    assert_eq!(mpstat::parse(&format!("{DEFAULT}\n{body}")), Ok(capture));
}

#[test]
fn processors_with_different_threads_do_not_share_a_line() {
    let blocks =
        "System configuration: lcpu=3 mode=Capped\nProc0\n1.00%\ncpu0\n1.00%\nProc1\n2,00%\n\
                  cpu1 cpu2\n1.50% 0.50%\n";
    let capture = mpstat::parse(blocks).expect("sound");
    assert_eq!(the_table(&capture).rows.len(), 5);
    assert_eq!(mpstat::parse(&mpstat::format(&capture)), Ok(capture));
}

#[test]
fn errors_name_the_line() {
    let cases = [
        (
            String::new(),
            "there is no text; give the output of lparstat",
        ),
        (
            SHARED.replace("----- ----- ------ ", ""),
            "line 5: a ruler with a piece under each heading expected",
        ),
        (
            SHARED.replace(" 0.22 ", " "),
            "line 6: 11 values under 12 headings",
        ),
        (
            SHARED.replace("0.22", "O.22"),
            "line 6: \"O.22\" under physc is no number",
        ),
        (
            SHARED.replace("lbusy", "lazy "),
            "line 4: a heading of lparstat expected, found \"lazy\"",
        ),
        (
            SHARED.replace(" app", "%sys"),
            "line 4: \"%sys\" occurs twice",
        ),
        (
            SHARED.replace("lcpu=4", "lcpu"),
            "line 2: key=value expected, found \"lcpu\"",
        ),
        (
            SHARED.replace("psize=60", "lcpu=60"),
            "line 2: \"lcpu\" occurs twice",
        ),
        (
            SHARED.to_owned() + "# exit\n",
            "line 8: 2 values under 12 headings",
        ),
        (SHARED.to_owned() + DONATING, "no error"),
        (
            SHARED.to_owned() + HYPERVISOR,
            "a report of the same kind as before expected",
        ),
        (
            SHARED.replace("%user", "%usr"),
            "line 4: headings that begin with %user expected",
        ),
        (
            SHARED[..91].to_owned(),
            "ends after line 2, where headings that begin with %user was still to come",
        ),
    ];
    for (text, message) in cases {
        let found = lparstat::parse(&text)
            .map_or_else(|error| error.to_string(), |_| "no error".to_owned());
        assert!(found.contains(message), "{found:?} in place of {message:?}");
    }
}

#[test]
fn errors_of_calls_and_listings_name_the_line() {
    let cases = [
        (
            HYPERVISOR.replace("h_nmmu_allocate_resource   ", ""),
            "line 10: 4 values under 5 headings",
        ),
        (
            HYPERVISOR[..HYPERVISOR.len() - 82].to_owned(),
            "was still to come; copy all of it",
        ),
        (
            "bash: lparstat: not found".to_owned(),
            "line 1: a System configuration line or the Node Name expected",
        ),
        (
            "Node Name : a\nMode Capped\n".to_owned(),
            "line 2: a label, a colon and a value expected",
        ),
        (
            "Node Name : a\nMode : Capped\nMode: -\n".to_owned(),
            "line 3: \"Mode\" occurs twice",
        ),
    ];
    for (text, message) in cases {
        let found = lparstat::parse(&text)
            .map_or_else(|error| error.to_string(), |_| "no error".to_owned());
        assert!(found.contains(message), "{found:?} in place of {message:?}");
    }
}

#[test]
fn errors_of_mpstat_name_the_line() {
    let cases = [
        (
            "\n\n".to_owned(),
            "there is no text; give the output of mpstat",
        ),
        (
            DEFAULT.replace("ALL", "A L"),
            "line 8: 19 values under 18 headings",
        ),
        (
            DEFAULT.split("  U").next().unwrap_or_default().to_owned(),
            "the text ends after line 6",
        ),
        (
            DEFAULT.replace(" lcs", " lsc"),
            "line 4: a heading of mpstat expected, found \"lsc\"",
        ),
        (
            DEFAULT.replace("  0    8", "  x    8"),
            "line 5: \"x\" under cpu is no number",
        ),
        (
            DEFAULT.to_owned() + "done\n",
            "headings that begin with cpu expected, found \"done\"",
        ),
        (
            DEFAULT.to_owned() + THREADS,
            "a report of the same kind as before expected",
        ),
        (
            THREADS.replace(" cpu1 ", " "),
            "line 6: 3 values under 2 headings",
        ),
        (
            THREADS.replace("0.10%", "0.10 "),
            "line 7: \"0.10\" under % is no number",
        ),
        (
            THREADS.replace("Proc2", "Proc0"),
            "line 7: \"Proc0\" occurs twice",
        ),
        (
            THREADS.replace("cpu3", "gpu3"),
            "line 6: a line of logical processors (cpu0 ...) expected",
        ),
    ];
    for (text, message) in cases {
        let found =
            mpstat::parse(&text).map_or_else(|error| error.to_string(), |_| "no error".to_owned());
        assert!(found.contains(message), "{found:?} in place of {message:?}");
    }
}
