use super::*;

fn sound(text: &str) -> Recording {
    let read = read(text).expect("a report");
    assert_eq!(read.dropped, 0, "{:?}", read.remarks);
    read.found
}

fn column<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    let index = table.columns.iter().position(|column| column == name);
    &table.values[index.expect(name)]
}

const SHARED: &str = "\
# lparstat 5 2

System configuration: type=Shared mode=Uncapped smt=4 lcpu=8 mem=4096MB psize=16 ent=0,50

%user  %sys  %wait  %idle physc %entc  lbusy  vcsw phint  %nsp  %utcyc
----- ----- ------ ------ ----- ----- ------ ----- ----- -----  ------
 83,7   3,3    0,0   13,0  1,00 199,6   66,4  1014627468     0   149  32,96
 10.0   5.0    0.0   85.0  0.25  50.0   12.5   99     0   149  32.96
";

#[test]
fn intervals_of_lparstat_with_commas_and_wide_numbers() {
    let found = sound(SHARED);
    let table = &found.tables[0];
    assert_eq!(
        (table.report, table.line, table.intervals),
        ("lparstat", 5, 2)
    );
    assert_eq!(column(table, "physc"), [1.0, 0.25]);
    assert_eq!(column(table, "vcsw"), [1_014_627_468.0, 99.0]);
    assert_eq!(table.lines, [7, 8]);
    assert!(table.times.iter().all(|time| time.is_nan()));
    assert_eq!(found.commands[0].interval, Some(5));
    assert_eq!(table.command, Some(0));
    assert_eq!(
        found.configurations[0].values[6],
        ("ent".to_owned(), "0,50".to_owned())
    );
}

#[test]
fn lparstat_of_linux_and_its_e() {
    let found = sound(
        "\nSystem Configuration\ntype=Shared mode=Uncapped smt=8 lcpu=4 mem=8250048 kB cpus=8 \
         ent=1.00 \n\n%user  %sys %wait    %idle    physc %entc lbusy  vcsw phint\n-----  ----- \
         -----    -----    ----- ----- ----- ----- -----\n 0.00   0.10  0.00    99.90     0.01  \
         1.00   0.10  5678     0\n",
    );
    assert_eq!(column(&found.tables[0], "physc"), [0.01]);
    let values = &found.configurations[0].values;
    assert_eq!(values[4], ("mem".to_owned(), "8250048 kB".to_owned()));
    let found = sound(
        "System configuration: type=Shared mode=Capped smt=4 lcpu=8 mem=1MB ent=0.20 \
         Power=Disabled\n\nPhysical Processor Utilisation:\n\n --------Actual--------              \
         ------Normalised------\n user   sys  wait  idle      freq    user   sys  wait  idle\n \
         ----  \
         ----  ----  ----   ---------  ----  ----  ----  ----\n0.008 0.012 0.000 0.180 3.6GHz[ \
         97%] \
         0.008 0.012 0.000 0.180\n",
    );
    assert_eq!(column(&found.tables[0], "freq"), [3.6]);
    assert_eq!(column(&found.tables[0], "nidle"), [0.18]);
}

const MPSTAT: &str = "\
System configuration: lcpu=2 ent=0.5 mode=Uncapped

cpu  min  maj  mpc  int   cs  ics   rq  mig lpa sysc us sy wt id   pc  %ec  lcs
  0    0    0    0  718 1529  460    1   15 100 17043 74 24  0  2 0.15 29.6  491
  1    0    0    0   39   62   32    0    5 100 1139 23  8  3 66 0.02  4.6  484
  U    -    -    -    -    -    -    -    -   -    -  -  -  2 63 0.33 65.7    -
ALL    0    0    0  757 1591  492    1   20 100 18182 24 8  2 66 0.17 34.3  975
--------------------------------------------------------------------------------
cpu  min  maj  mpc  int   cs  ics   rq  mig lpa sysc us sy wt id   pc  %ec  lcs
  0    0    0    0  718 1529  460    1   15 100 17043 74 24  0  2 0.15 29.6  491
  1    0    0    0   39   62   32    0    5 100 1139 23  8  3 66 0.02  4.6  484
ALL    0    0    0  757 1591  492    1   20 100 18182 24 8  2 66 0.17 34.3  975
";

#[test]
fn mpstat_keeps_the_whole_over_time_and_the_last_processors() {
    let found = sound(MPSTAT);
    let table = &found.tables[0];
    assert_eq!((table.report, table.intervals), ("mpstat", 2));
    assert_eq!(column(table, "pc"), [0.17, 0.17]);
    let names: Vec<&str> = table.parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["0", "1"]);
}

#[test]
fn an_interval_that_is_cut_off_is_left_out() {
    let cut = MPSTAT.rfind("ALL").expect("a last row");
    let read = read(&MPSTAT[..cut]).expect("one interval");
    assert_eq!(column(&read.found.tables[0], "pc"), [0.17]);
    assert_eq!(read.dropped, 1);
    assert!(read.remarks[0].text.contains("no row for the whole system"));
}

#[test]
fn shares_of_threads_and_of_virtual_processors_are_summed() {
    let found = sound(
        "System configuration: lcpu=4 ent=1.0 mode=Uncapped\n\n      Proc0             Proc2\n     \
         100.00%            50.50%\ncpu0     cpu1     cpu2     cpu3\n93.74%    6.26%   50.00%   \
         0.50%\n",
    );
    let table = &found.tables[0];
    assert_eq!(column(table, "%"), [150.5]);
    assert_eq!(table.parts.len(), 6);
    let found = sound(
        "vcpu lcpu us sy wa id pbusy pc VTB(ms)\n---- ---- ---- ---- ----- ----- ----- ----- \
         -----\n\
         0   12.26 10.89 0.11 76.74 0.10[ 23.1%] 0.40[  0.0%] 121967\n    0 10.58 8.53 0.04 5.71 \
         0.00[ 19.1%] 0.10[ 24.9%] -\n1   12.26 10.89 0.11 76.74 0.10[ 23.1%] 0.25[  0.0%] \
         121967\n    \
         1 10.58 8.53 0.04 5.71 0.00[ 19.1%] 0.10[ 24.9%] -\n",
    );
    assert_eq!(column(&found.tables[0], "pc"), [0.65]);
}

#[test]
fn vmstat_of_aix_has_its_time_behind() {
    let found = sound(
        "System configuration: lcpu=8 mem=18432MB ent=0.70\n\nkthr    memory page faults cpu time\n\
         ----- ----------- ------\n r b avm fre re pi po fr sr cy in sy cs us sy id wa pc ec hr \
         mi se\n\
         1 0 5 6 0 0 0 0 0 0 7 8 9 10 5 85 0 0.20 28.6 23:59:55\n\
         1 0 5 6 0 0 0 0 0 0 7 8 9 10 5 85 0 0.30 42.9 00:00:05\n",
    );
    let table = &found.tables[0];
    assert_eq!(column(table, "sy"), [8.0, 8.0]);
    assert_eq!(column(table, "sy#2"), [5.0, 5.0]);
    assert_eq!(table.times, [86_395.0, 86_405.0]);
    assert!(!table.dated);
}

#[test]
fn vmstat_of_linux_begins_with_a_mean_that_is_no_interval() {
    let read = read(
        "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- \
         -----timestamp-----\n \
         r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa \
         st                 CET\n \
         1 0 0 1 2 3 0 0 5 6 7 8 9 1 90 0 0 2020-11-10 12:00:00\n \
         1 0 0 1 2 3 0 0 5 6 7 8 19 1 80 0 0 2020-11-10 12:00:05\n",
    )
    .expect("a report");
    let table = &read.found.tables[0];
    assert_eq!(column(table, "us"), [19.0]);
    assert_eq!(table.times, [18_576.0 * 86_400.0 + 43_205.0]);
    assert!(read.remarks[0].text.contains("first row"));
}

const SAR: &str = "
AIX db2 1 7 00F6A5D24C00    11/10/20

System configuration: lcpu=2 ent=1.00 mode=Uncapped

23:59:00 cpu    %usr    %sys    %wio   %idle   physc   %entc
00:00:00  0      100       0       0       0    1.00   100.0
          1        0       0       0     100    0.00     0.0
          U        -       -       0      50    0.50    50.0
          -       50       0       0      50    1.00   100.0
00:01:00  0      100       0       0       0    0.50    50.0
          1        0       0       0     100    0.00     0.0
          -       50       0       0      50    0.50    50.0

Average   0      100       0       0       0    0.75    75.0
          1        0       0       0     100    0.00     0.0
          -       75       0       0      25    0.75    75.0
";

#[test]
fn sar_of_aix_tells_the_day_and_the_beginning() {
    let found = sound(SAR);
    let table = &found.tables[0];
    let midnight = 18_577.0 * 86_400.0;
    assert!(table.dated);
    assert_eq!(table.start, Some(midnight - 60.0));
    assert_eq!(table.times, [midnight, midnight + 60.0]);
    assert_eq!(column(table, "physc"), [1.0, 0.5]);
    assert_eq!(table.intervals, 2);
}

#[test]
fn sar_of_sysstat_has_the_whole_first_and_restarts() {
    let read = read(
        "Linux 5.4.0 (db2) \t2020-11-10 \t_ppc64le_\t(2 CPU)\n\n\
         11:50:01 PM     CPU     %user     %nice   %system   %iowait    %steal     %idle\n\
         11:59:59 PM     all      1.00      0.00      1.00      0.00      0.00     98.00\n\
         11:59:59 PM       0      1.00      0.00      1.00      0.00      0.00     98.00\n\
         11:59:59 PM       1      1.00      0.00      1.00      0.00      0.00     98.00\n\
         12:10:01 AM     all      2.00      0.00      1.00      0.00      0.00     97.00\n\
         12:10:01 AM       0      1.00      0.00      1.00      0.00      0.00     98.00\n\
         12:10:01 AM       1      1.00      0.00      1.00      0.00      0.00     98.00\n\
         Average:        all      1.50      0.00      1.00      0.00      0.00     97.50\n\
         Average:          0      1.50      0.00      1.00      0.00      0.00     97.50\n\n\
         01:00:00 AM  LINUX RESTART\t(2 CPU)\n",
    )
    .expect("a report");
    assert_eq!(read.dropped, 0, "{:?}", read.remarks);
    let table = &read.found.tables[0];
    assert_eq!(column(table, "%user"), [1.0, 2.0]);
    assert_eq!(table.times[1] - table.times[0], 602.0);
}

#[test]
fn sar_counts_switches_of_threads() {
    let counts = "\n23:59:00 cswch/s\n00:00:00    1500\n00:01:00    1620\n\nAverage     1560\n";
    let found = sound(&format!("{SAR}{counts}"));
    let reports: Vec<&str> = found.tables.iter().map(|table| table.report).collect();
    assert_eq!(reports, ["sar", "sar -w"]);
    assert_eq!(column(&found.tables[1], "cswch/s"), [1500.0, 1620.0]);
    let found = sound(
        "Linux 5.4.0 (db2) \t2020-11-10 \t_ppc64le_\t(2 CPU)\n\n\
         11:50:01 PM    proc/s   cswch/s\n\
         11:59:59 PM      1.20    2150.70\n\
         12:10:01 AM      0.40    1980.10\n\
         Average:         0.80    2065.40\n",
    );
    assert_eq!(column(&found.tables[0], "cswch/s"), [2150.7, 1980.1]);
}

#[test]
fn a_clock_that_goes_back_begins_a_recording_of_its_own() {
    let text = SAR
        .replace("00:01:00", "00:00:30")
        .replace("00:00:00", "00:00:40");
    let read = read(&text).expect("a report");
    assert_eq!(read.found.tables.len(), 2);
    assert!(read.remarks[0].text.contains("clock goes back"));
    assert_eq!(read.found.tables[1].start, None);
}

#[test]
fn glued_sessions_are_taken_apart_and_strays_named() {
    let listing = "Node  Name   : db2\nPartition Name : prod\nType : Shared-SMT-4\nNew Thing : 7\n";
    let srads =
        "REF1   SRAD        MEM      CPU\n0\n          0   38260.19      0-27\n1\n          1    \
                 3219.50     \n              28-31\n";
    let read = read(&format!(
        "{listing}hello world 5\n{SHARED}{srads}{listing}{SAR}"
    ))
    .expect("all");
    let found = &read.found;
    assert_eq!(found.information.len(), 2);
    assert_eq!(found.information[0].facts.len(), 4);
    assert_eq!(found.tables.len(), 2);
    let domains = &found.affinity[0].domains;
    assert_eq!(
        (domains[0].ref1, domains[0].processors.clone()),
        (Some(0), vec![(0, 27)])
    );
    assert_eq!(
        (domains[1].ref1, domains[1].processors.clone()),
        (Some(1), vec![(28, 31)])
    );
    assert_eq!(read.dropped, 1);
    assert_eq!(read.remarks[0].line, 5);
    assert_eq!(recognise(listing), Some("lparstat"));
    assert_eq!(recognise(SAR), Some("sar"));
    assert_eq!(recognise(srads), Some("lssrad"));
    assert_eq!(recognise(MPSTAT), Some("mpstat"));
    assert_eq!(recognise("a,b\n1,2\n"), None);
}

#[test]
fn a_word_with_a_colon_is_no_mean() {
    let read = read(&format!("login: x\n{SAR}Last login: today\n")).expect("a report");
    assert_eq!(read.dropped, 2, "{:?}", read.remarks);
    let lines: Vec<usize> = read.remarks.iter().map(|remark| remark.line).collect();
    assert_eq!(lines, [1, 19]);
}

#[test]
fn tunables_and_counters() {
    let found = sound(
        "NAME                      CUR    DEF    BOOT   MIN    MAX    UNIT           TYPE\n     \
         DEPENDENCIES\nn----------\naffinity_lim              7      7      7      0      100    \
         dispatches        D\n     other_one\nvpm_xvcpus = 2\n",
    );
    assert_eq!(found.tunables.len(), 2);
    assert_eq!(found.tunables[0].default.as_deref(), Some("7"));
    let found = sound("System configuration: lcpu=4\n 4980736 memory pages\n 12 lruable pages\n");
    assert!(found.tables.is_empty());
}

#[test]
fn text_without_any_report_is_refused() {
    for text in ["", "hello\n", "1 2 3\n"] {
        assert!(read(text).is_err(), "{text:?}");
    }
}

#[test]
fn rows_of_another_width_and_words_are_dropped_with_their_line() {
    let text = SHARED.replace(" 10.0   5.0", " 10.0   x").to_owned() + " 1.0 2.0\n";
    let read = read(&text).expect("a report");
    assert_eq!(read.dropped, 2);
    assert_eq!(read.remarks[0].line, 8);
    assert!(read.remarks[0].text.contains("\"x\" under %sys"));
    assert!(read.remarks[1].text.contains("2 values under 11 headings"));
}

#[test]
fn tables_of_sysstat_that_are_not_taken_are_no_damage() {
    let text = include_str!("../../../../fuzz/seeds/reports/sar-all.txt");
    let read = read(text).expect("a report");
    assert_eq!(read.dropped, 0, "{:?}", read.remarks);
    let told: Vec<(&str, usize)> = read
        .found
        .tables
        .iter()
        .map(|table| (table.report, table.lines.len()))
        .collect();
    // Two columns of numbers are no switches because switches have two.
    assert_eq!(told, [("sar", 2), ("sar -w", 2)]);
    let texts: Vec<(usize, &str)> = read
        .remarks
        .iter()
        .map(|remark| (remark.line, remark.text.as_str()))
        .collect();
    let first = "4 other tables are not taken, first \"INTR all CPU0 CPU1 CPU2 CPU3\"";
    assert_eq!(texts, [(16, first)]);
    let banner = &read.found.banners[0];
    assert_eq!(banner.architecture.as_deref(), Some("x86_64"));
}

#[test]
fn shares_of_iostat_have_the_time_above_them() {
    let text = include_str!("../../../../fuzz/seeds/reports/iostat.txt");
    let read = read(text).expect("a report");
    assert_eq!(read.dropped, 0, "{:?}", read.remarks);
    let table = &read.found.tables[0];
    // The first report is the mean since the start of the system.
    assert_eq!((table.report, &table.lines[..]), ("iostat", &[12, 19][..]));
    assert_eq!(table.times[1] - table.times[0], 10.0);
    assert_eq!(table.values[0], [20.0, 10.0]);
}

#[test]
fn what_sadf_prints_is_what_sar_prints() {
    let rows = |text: &str| {
        let read = read(text).expect("a report");
        assert_eq!(read.dropped, 0, "{:?}", read.remarks);
        assert_eq!(read.found.banners[0].host, "build3");
        let table = read
            .found
            .tables
            .into_iter()
            .find(|table| table.report == "sar");
        let table = table.expect("shares of time");
        assert_eq!(table.parts.len(), 2);
        (table.times, table.columns, table.values)
    };
    let form = include_str!("../../../../fuzz/seeds/reports/sadf-d.txt");
    let (times, columns, values) = rows(form);
    assert_eq!(times[1] - times[0], 600.0);
    assert_eq!((columns[0].as_str(), columns.len()), ("%user", 6));
    assert_eq!(values[0], [12.5, 2.5]);
    for other in [
        include_str!("../../../../fuzz/seeds/reports/sadf-dh.txt"),
        include_str!("../../../../fuzz/seeds/reports/sadf-p.txt"),
    ] {
        assert_eq!(
            rows(other),
            (times.clone(), columns.clone(), values.clone())
        );
    }
    let restart = "build3;-1;2026-05-11 10:05:00 UTC;LINUX-RESTART\t(2 CPU)\n";
    let cut = form.replacen(
        "build3;600;2026-05-11 10:20",
        &format!("{restart}build3;600;2026-05-11 10:20"),
        1,
    );
    let read = read(&cut).expect("a report");
    assert_eq!(read.found.banners[1].processors, Some(2));
    let counts: Vec<usize> = read
        .found
        .tables
        .iter()
        .map(|table| table.lines.len())
        .collect();
    assert_eq!(counts, [1, 1, 2], "{:?}", read.remarks);
}
