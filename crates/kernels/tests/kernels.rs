//! Every kernel runs for a moment and tells figures that hang together.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use homenode_kernels::{run, KernelError, NAMES};
use serde_json::{json, Value};

fn found(name: &str, json: &str) -> Value {
    serde_json::from_str(&run(name, json).unwrap()).unwrap()
}

fn number(found: &Value, key: &str) -> f64 {
    found[key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key} is missing: {found}"))
}

#[test]
fn kernels_of_the_system_time_their_operations() {
    let ring = r#"{"seconds": 0.02, "processes": 3}"#;
    let short = r#"{"seconds": 0.02}"#;
    let simple = [
        "getpid",
        "read",
        "write",
        "stat",
        "open-close",
        "select",
        "signal-install",
        "fork-exit",
        "fork-exec",
        "pipe",
        "unix",
    ];
    for (name, json) in simple
        .map(|name| (name, short))
        .into_iter()
        .chain([("context", ring)])
    {
        let found = found(name, json);
        let (operations, ns) = (number(&found, "operations"), number(&found, "ns"));
        let seconds = number(&found, "seconds");
        assert!(operations >= 1.0 && seconds >= 0.02, "{found}");
        assert!(number(&found, "ns_min") <= ns, "{found}");
        // No operation of the system is below a nanosecond or beyond a second.
        assert!((1.0..1e9).contains(&ns), "{found}");
        // Each batch is an operation at least, and none was quicker than the quickest.
        let batches = found["batches_ns"].as_array().unwrap().len() as f64;
        assert!(
            batches * number(&found, "ns_min") <= seconds * 1e9,
            "{found}"
        );
    }
}

#[test]
fn a_ring_begins_at_its_start_and_the_pipe_alone_is_measured_before() {
    // The kernel's clock, which no other kernel needs half a second to read.
    let now = found("getpid", r#"{"seconds": 0.001}"#)["start_ns"]
        .as_u64()
        .unwrap();
    let start = now + 500_000_000;
    let json = format!(r#"{{"seconds": 0.02, "processes": 2, "start_ns": {start}}}"#);
    let found = found("context", &json);
    assert!(found["start_ns"].as_u64().unwrap() >= start, "{found}");
    assert!(number(&found, "pipe_ns") > 0.0, "{found}");
    assert!(number(&found, "seconds") >= 0.02, "{found}");
}

#[test]
fn memory_moves_what_it_says() {
    for operation in [
        "read",
        "write",
        "copy",
        "zero",
        "partial-read",
        "partial-write",
        "partial-read-write",
        "unrolled-copy",
        "partial-copy",
    ] {
        for threads in [1, 2] {
            let json = format!(
                r#"{{"seconds": 0.01, "operation": "{operation}", "bytes": 65536,
                     "threads": {threads}}}"#
            );
            let found = found("memory", &json);
            assert!(number(&found, "moved_bytes") >= 32768.0, "{found}");
            let each = found["mb_per_s_by_thread"].as_array().unwrap();
            assert_eq!(each.len(), threads);
            let sum: f64 = each.iter().filter_map(Value::as_f64).sum();
            assert!(
                (sum - number(&found, "mb_per_s")).abs() < 1e-6 * sum,
                "{found}"
            );
        }
    }
}

#[test]
fn a_copy_off_the_line_leaves_out_what_its_target_is_off() {
    let json = r#"{"seconds": 0.01, "operation": "copy", "bytes": 65536, "offset": 8}"#;
    let found = found("memory", json);
    let (moved, passes) = (found["moved_bytes"].as_u64().unwrap(), 32768 - 8);
    assert!(moved > 0 && moved.is_multiple_of(passes), "{found}");
}

/// A file of so many bytes, gone at the end.
fn file_of(name: &str, bytes: usize) -> PathBuf {
    let path = std::env::temp_dir().join(format!("homenode-{}-{name}", std::process::id()));
    std::fs::write(&path, vec![1_u8; bytes]).unwrap();
    path
}

#[test]
fn a_file_is_gone_through_whole_whichever_way() {
    let path = file_of("reread", 100_000);
    for way in ["read", "map"] {
        for opened in ["once", "each"] {
            let given = json!({
                "seconds": 0.01, "path": path, "bytes": 100_000, "way": way, "opened": opened,
            });
            let found = found("file", &given.to_string());
            let moved = found["moved_bytes"].as_u64().unwrap();
            assert!(moved > 0 && moved.is_multiple_of(100_000), "{found}");
            assert!(number(&found, "mb_per_s") > 0.0, "{found}");
        }
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_tenth_of_a_mapping_is_written_to() {
    let path = file_of("mapping", 1 << 20);
    let given = json!({"seconds": 0.01, "path": path, "bytes": 1 << 20});
    let found = found("mapping", &given.to_string());
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    // The last turn's number, below 2^32, stands where a page begins, and nowhere else.
    let changed: Vec<usize> = (0..1 << 20).filter(|&at| bytes[at] != 1).collect();
    let last = changed.last().unwrap();
    assert!(changed.iter().all(|at| at % 4096 < 8), "{changed:?}");
    assert!((90 << 10..=103 << 10).contains(last), "{last}");
    assert!(
        number(&found, "pages") >= 2.0 && number(&found, "ns") > 0.0,
        "{found}"
    );
}

#[test]
fn files_that_are_too_short_or_not_there_are_refused() {
    let path = file_of("short", 2000);
    let given = json!({"seconds": 0.01, "path": path, "bytes": 4096});
    let fault = run("mapping", &given.to_string()).unwrap_err();
    std::fs::remove_file(&path).unwrap();
    assert!(fault.to_string().contains("2000 bytes"), "{fault}");
    let fault = run("mapping", &given.to_string()).unwrap_err();
    assert!(matches!(fault, KernelError::Host { .. }), "{fault}");
}

#[test]
fn a_chase_through_memory_is_slower_than_one_through_a_cache() {
    let near = found("chase", r#"{"seconds": 0.1, "bytes": 8192}"#);
    let far = found("chase", r#"{"seconds": 0.3, "bytes": 268435456}"#);
    assert!(
        number(&far, "ns") > 3.0 * number(&near, "ns"),
        "{near} {far}"
    );
}

#[test]
fn loops_start_together_and_each_does_all_its_turns() {
    let found = found("loops", r#"{"count": 3, "iterations": 3000000}"#);
    let start = found["start_ns"].as_u64().unwrap();
    let loops = found["loops"].as_array().unwrap();
    assert_eq!(loops.len(), 3);
    for each in loops {
        assert_eq!(each["iterations"], 3_000_000);
        assert!(each["start_ns"].as_u64().unwrap() >= start, "{each}");
        assert!(number(each, "cpu_ns") > 0.0, "{each}");
        assert!(
            number(each, "end_ns") - start as f64 <= number(&found, "elapsed_ns"),
            "{each}"
        );
    }
}

#[test]
fn a_loop_of_some_time_ends_by_then() {
    let began = Instant::now();
    let found = found("loop", r#"{"seconds": 0.05}"#);
    assert!(began.elapsed() >= Duration::from_millis(50));
    // One that is put aside as it begins may find its time over.
    assert!(
        number(&found, "iterations") >= 32768.0 || number(&found, "nivcsw") > 0.0,
        "{found}"
    );
    assert!(
        number(&found, "end_ns") - number(&found, "start_ns") >= 5e7,
        "{found}"
    );
}

#[test]
fn bursts_and_sleeps_take_turns() {
    let json = r#"{"seconds": 0.5, "iterations": 10000, "sleep_ns": 2000000}"#;
    let found = found("onoff", json);
    let bursts = found["burst_ns"].as_array().unwrap();
    let lates = found["wakeup_late_ns"].as_array().unwrap();
    assert_eq!(bursts.len(), lates.len());
    assert_eq!(number(&found, "bursts"), bursts.len() as f64);
    // At most one burst for every 2 ms of sleep before it.
    assert!((1..=250).contains(&bursts.len()), "{found}");
    assert_eq!(number(&found, "iterations"), 10_000.0 * bursts.len() as f64);
    let sum = |values: &[Value]| values.iter().filter_map(Value::as_f64).sum::<f64>();
    let length = number(&found, "end_ns") - number(&found, "start_ns");
    assert!(
        sum(bursts) + sum(lates) + 2e6 * bursts.len() as f64 <= length,
        "{found}"
    );
}

#[test]
fn parameters_are_checked() {
    for (name, json, part) in [
        ("getpid", r#"{"seconds": 0}"#, "0.001"),
        ("getpid", r#"{"second": 1}"#, "unknown field"),
        ("context", r#"{"seconds": 1, "processes": 1}"#, "2 to 256"),
        (
            "select",
            r#"{"seconds": 1, "descriptors": 5000}"#,
            "1 to 900",
        ),
        (
            "memory",
            r#"{"seconds": 1, "operation": "read", "bytes": 1}"#,
            "from 1024",
        ),
        (
            "memory",
            r#"{"seconds": 1, "operation": "red", "bytes": 4096}"#,
            "unknown variant",
        ),
        (
            "chase",
            r#"{"seconds": 1, "bytes": 4096, "chains": 3}"#,
            "1, 2, 4, 8 and 12",
        ),
        (
            "chase",
            r#"{"seconds": 1, "bytes": 4096, "threads": 0}"#,
            "from 1 to",
        ),
        ("loop", "{}", "either iterations or seconds"),
        (
            "loop",
            r#"{"iterations": 5, "seconds": 1}"#,
            "either iterations or seconds",
        ),
        ("loops", r#"{"count": 0, "iterations": 5}"#, "count is 0"),
        (
            "loop",
            r#"{"seconds": 1, "scheduling": {"nice": 20}}"#,
            "nice is 20",
        ),
        (
            "onoff",
            r#"{"seconds": 1, "iterations": 1, "sleep_ns": 1, "scheduling": {"slice_ns": 5}}"#,
            "slice_ns is 5",
        ),
        (
            "onoff",
            r#"{"seconds": 1, "iterations": 0, "sleep_ns": 1}"#,
            "at least 1",
        ),
        (
            "fork-exec",
            r#"{"seconds": 0.01, "program": "/no/such/program"}"#,
            "127",
        ),
    ] {
        let fault = run(name, json).unwrap_err();
        assert!(fault.to_string().starts_with(name), "{fault}");
        assert!(fault.to_string().contains(part), "{fault}");
    }
}

#[test]
fn an_offset_is_a_copy_s_and_whole_words() {
    for (operation, offset, part) in [
        ("copy", 12, "a multiple of 8 below 64"),
        ("partial-copy", 64, "a multiple of 8 below 64"),
        ("zero", 8, "copies nothing"),
    ] {
        let given = json!({"seconds": 1, "operation": operation, "bytes": 4096, "offset": offset});
        let fault = run("memory", &given.to_string()).unwrap_err();
        assert!(fault.to_string().contains(part), "{fault}");
    }
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    let fault = run("nothing", "{}").unwrap_err();
    assert!(matches!(fault, KernelError::Unknown { .. }));
    assert!(
        NAMES.iter().all(|name| fault.to_string().contains(name)),
        "{fault}"
    );
}
