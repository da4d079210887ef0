use super::*;

const TABLE: &str = "\
12:30:48 | cpu-t: IFL(18)  CP(3)  UN(3)                              ?=help
system #core   core  mgm  Core+ online
(str)    (#)    (%)  (%)   (hm)  (dhm)
LINUX1    10 461.14 0.18 1547:41 11:05:59
LINUX2     4  99.26    -  99:13 11:05:59
          14 560.40 0.18 1646:54 11:05:59
-------------------------------------------------------------------------------
12:30:58 | cpu-t: IFL(18)  CP(3)  UN(3)                              ?=help
system #core   core  mgm  Core+ online
(str)    (#)    (%)  (%)   (hm)  (dhm)
LINUX1    10   1.00 0.00 1547:41 11:05:59
          10   1.00 0.00 1547:41 11:05:59
-------------------------------------------------------------------------------
";
const OBJECTS: &str = r##"{
 "meta": {"api_level": 1, "host": "lnx", "tool_invocation": "hyptop -b --format json"},
 "hyptop": [
  {"iteration": 1, "time": "12:30:48", "cpu_types": {"IFL": 18, "CP": 3},
   "systems": [{"system": "LINUX1", "#core": 10, "core": 461.14, "core+": "1547:41"},
               {"system": "LINUX2", "#core": 4, "core": 99.26, "mgm": "-"}],
   "summary": {"#core": 14}},
  {"iteration": 2, "time": "12:30:58", "cpu_types": {"IFL": 18, "CP": 3},
   "systems": [{"system": "LINUX1", "#core": 10, "core": 1.0}], "summary": {"#core": 10}}
 ]
}
"##;
const ROWS: &str = "\"meta.host\",\"iteration\",\"time\",\"system\",\"#core\",\"core\",\"mgm\"
\"lnx\",\"1\",\"12:30:48\",\"LINUX1\",\"10\",\"461.14\",\"\"
\"lnx\",\"1\",\"12:30:48\",\"LINUX2\",\"4\",\"99.26\",\"\"
\"lnx\",\"1\",\"12:30:48\",\"\",\"14\",\"560.4\",\"\"
\"lnx\",\"2\",\"12:30:58\",\"LINUX1\",\"10\",\"1.00\",\"\"
";
const PAIRS: &str = "meta.host=\"lnx\"
hyptop[0].iteration.iteration=1
hyptop[0].iteration.time=\"12:30:48\"
hyptop[0].iteration.cpu_types.IFL=18
hyptop[0].iteration.systems[0].entry.system=\"LINUX1\"
hyptop[0].iteration.systems[0].entry.#core=\"10\"
hyptop[0].iteration.systems[0].entry.core=\"461.14\"
hyptop[0].iteration.systems[1].entry.system=\"LINUX2\"
hyptop[0].iteration.systems[1].entry.#core=\"4\"
hyptop[0].iteration.systems[1].entry.core=\"99.26\"
hyptop[0].iteration.summary.#core=\"14\"
hyptop[1].iteration.time=\"12:30:58\"
hyptop[1].iteration.systems[0].entry.system=\"LINUX1\"
hyptop[1].iteration.systems[0].entry.#core=\"10\"
hyptop[1].iteration.systems[0].entry.core=\"1.00\"
";

fn cores(recording: &Recording) -> Vec<(String, String, String, f64)> {
    let mut found = Vec::new();
    for look in &recording.looks {
        for one in &look.systems {
            let core = one.values["core"].parse().unwrap();
            found.push((
                look.time.clone(),
                one.name.clone(),
                one.values["#core"].clone(),
                core,
            ));
        }
    }
    found
}

#[test]
fn every_format_says_the_same() {
    let expected: Vec<(String, String, String, f64)> = [
        ("12:30:48", "LINUX1", "10", 461.14),
        ("12:30:48", "LINUX2", "4", 99.26),
        ("12:30:58", "LINUX1", "10", 1.0),
    ]
    .map(|(time, name, count, core)| (time.into(), name.into(), count.into(), core))
    .to_vec();
    let first = OBJECTS.lines().skip(3).take(4).collect::<String>();
    let second = OBJECTS.lines().skip(7).take(2).collect::<String>();
    let sequence = format!("\u{1e}{}\n\u{1e}{second}\n", first.trim_end_matches(','));
    for text in [TABLE, OBJECTS, ROWS, PAIRS, &sequence] {
        let read = read(text).unwrap();
        assert_eq!(cores(&read.found), expected, "{text}");
        assert_eq!((read.dropped, read.remarks), (0, vec![]), "{text}");
    }
    let table = read(TABLE).unwrap().found;
    assert_eq!(table.looks[0].units["core"], "%");
    assert_eq!(table.looks[0].cpu_types["IFL"], 18);
    assert_eq!(table.looks[0].systems[1].values.get("mgm"), None);
    assert_eq!(
        (table.looks[1].line, table.looks[1].systems[0].line),
        (8, 11)
    );
    assert_eq!(read(OBJECTS).unwrap().found.meta["host"], "lnx");
}

#[test]
fn what_is_cut_off_is_dropped_and_the_rest_kept() {
    let cut = &OBJECTS[..OBJECTS.rfind("LINUX1").unwrap()];
    let found = read(cut).unwrap();
    assert_eq!(found.found.looks.len(), 1);
    assert_eq!((found.dropped, found.remarks[0].line), (1, 8));

    let glued = format!("{cut}\n{OBJECTS}");
    assert_eq!(read(&glued).unwrap().found.looks.len(), 3);

    let stray = TABLE.replace("LINUX2     4", "what is this doing here\nLINUX2     4");
    let found = read(&stray).unwrap();
    assert_eq!(cores(&found.found).len(), 3);
    assert_eq!((found.dropped, found.remarks[0].line), (1, 5));

    let rows = ROWS.replace("\"99.26\",", "\"99.26\"");
    assert_eq!(read(&rows).unwrap().dropped, 1);
    let pairs = PAIRS.replace("[1].entry.core=", "[1].entry.core");
    assert_eq!(read(&pairs).unwrap().dropped, 1);
}

#[test]
fn what_is_no_look_is_refused() {
    for text in [
        "",
        "\n\n",
        "hello",
        "{}",
        "{\"hyptop\": []}",
        "12:30:48 | cpu-t: IFL(18)\n",
    ] {
        assert!(read(text).is_err(), "{text}");
    }
    let deep = "{\"a\":".repeat(100_000);
    assert!(read(&deep).is_err());
}
