//! The two ends of a request: a real exchange over loopback, and what is refused.

use std::net::TcpListener;

use homenode_kernels::run;
use serde_json::{json, Value};

/// A port that was free a moment ago.
fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("loopback")
        .port()
}

#[test]
fn asks_are_answered() {
    let port = port();
    let server = json!({"port": port, "request": 200, "response": 30_000}).to_string();
    // Ends with the process: a server goes on until then.
    std::thread::spawn(move || run("answer", &server));
    let asked = json!({
        "port": port, "request": 200, "response": 30_000, "connections": 10, "seconds": 0.2,
    });
    let told = (0..200)
        .find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            run("ask", &asked.to_string()).ok()
        })
        .expect("a server that listens within two seconds");
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let (count, seconds) = (
        told["transactions"].as_f64().expect("a count"),
        told["seconds"].as_f64().expect("a time"),
    );
    assert!(count >= 10.0, "{told}");
    assert!((0.2..2.0).contains(&seconds), "{told}");
    let mean_s = told["latency_us"]["mean"].as_f64().expect("a mean") / 1e6;
    // Little's law: ten are under way all the time, but for the last answers of each.
    let inside = count * mean_s / seconds;
    assert!((5.0..=10.001).contains(&inside), "{inside}: {told}");
    for (less, more) in [("p50", "p95"), ("p95", "p99"), ("p99", "max")] {
        assert!(
            told["latency_us"][less].as_f64() <= told["latency_us"][more].as_f64(),
            "{told}"
        );
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (name, wrong, word) in [
        (
            "ask",
            json!({"port": 0, "request": 1, "response": 1, "connections": 1, "seconds": 1.0}),
            "port",
        ),
        (
            "ask",
            json!({"port": 9, "request": 0, "response": 1, "connections": 1, "seconds": 1.0}),
            "request",
        ),
        (
            "ask",
            json!({"port": 9, "request": 1, "response": 1, "connections": 0, "seconds": 1.0}),
            "connections",
        ),
        (
            "ask",
            json!({"port": 9, "request": 1, "response": 1, "connections": 1, "seconds": -1.0}),
            "seconds",
        ),
        (
            "ask",
            json!({"port": 9, "request": 1, "response": 1, "connection": 1, "seconds": 1.0}),
            "connection",
        ),
        (
            "answer",
            json!({"port": 9, "request": 1, "response": 999_999_999}),
            "response",
        ),
        ("answer", json!({"port": 9, "request": 1}), "response"),
    ] {
        let refused = run(name, &wrong.to_string())
            .expect_err("refused")
            .to_string();
        assert!(refused.contains(word), "{wrong}: {refused}");
    }
}

#[test]
fn a_gate_that_is_not_there_is_said() {
    let port = port();
    let server = json!({"port": port, "request": 1, "response": 1}).to_string();
    std::thread::spawn(move || run("answer", &server));
    let asked = json!({
        "port": port, "request": 1, "response": 1, "connections": 1, "seconds": 0.1,
        "gate": "/no/such/gate",
    });
    let said = |refused: &String| refused.contains("gate");
    let refused = (0..200).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        let refused = run("ask", &asked.to_string())
            .expect_err("no gate")
            .to_string();
        Some(refused).filter(said)
    });
    assert!(refused.is_some());
}

#[test]
fn nobody_listening_is_said() {
    let asked = json!({
        "port": port(), "request": 1, "response": 1, "connections": 1, "seconds": 0.1,
    });
    let refused = run("ask", &asked.to_string())
        .expect_err("nobody listens")
        .to_string();
    assert!(refused.contains("connecting"), "{refused}");
}
