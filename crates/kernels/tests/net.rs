//! The two ends of a request: a real exchange over loopback, and what is refused.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use homenode_kernels::run;
use rustix::net::{bind, getsockname, socket, AddressFamily, SocketType};
use serde_json::{json, Value};

/// A server of such answers, on a port where it listens; it goes on until the process ends.
fn server(request: usize, response: usize) -> u16 {
    server_at(Ipv4Addr::LOCALHOST, request, response)
}

fn server_at(address: Ipv4Addr, request: usize, response: usize) -> u16 {
    for _ in 0..20 {
        // Free a moment ago; where somebody else was quicker, the server ends and another is
        // taken.
        let port = TcpListener::bind((address, 0))
            .and_then(|listener| listener.local_addr())
            .expect("loopback")
            .port();
        let given = json!({
            "address": address, "port": port, "request": request, "response": response,
        })
        .to_string();
        let serving = std::thread::spawn(move || run("answer", &given));
        while !serving.is_finished() {
            if TcpStream::connect((address, port)).is_ok() && !serving.is_finished() {
                return port;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    panic!("every port was taken by somebody else");
}

#[test]
fn asks_are_answered() {
    let asked = json!({
        "port": server(200, 30_000), "request": 200, "response": 30_000, "connections": 10,
        "seconds": 0.2,
    });
    let told = run("ask", &asked.to_string()).expect("answers");
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let (count, seconds) = (
        told["transactions"].as_f64().expect("a count"),
        told["seconds"].as_f64().expect("a time"),
    );
    assert!(count >= 10.0, "{told}");
    assert!(seconds >= 0.2, "{told}");
    let mean_s = told["latency_us"]["mean"].as_f64().expect("a mean") / 1e6;
    // Little's law: ten are under way all the time that was asked for, and never more. How long the
    // last answer takes is the host's affair.
    let inside_s = count * mean_s;
    assert!(inside_s >= 0.999 * 10.0 * 0.2, "{inside_s}: {told}");
    assert!(inside_s <= 1.001 * 10.0 * seconds, "{inside_s}: {told}");
    for (less, more) in [("p50", "p95"), ("p95", "p99"), ("p99", "max")] {
        assert!(
            told["latency_us"][less].as_f64() <= told["latency_us"][more].as_f64(),
            "{told}"
        );
    }
}

#[test]
fn a_server_listens_at_its_own_address_alone() {
    // Each address of 127.0.0.0/8 is this host's.
    let elsewhere = Ipv4Addr::new(127, 7, 0, 1);
    let mut asked = json!({
        "address": elsewhere, "port": server_at(elsewhere, 1, 1), "request": 1, "response": 1,
        "connections": 2, "seconds": 0.05,
    });
    run("ask", &asked.to_string()).expect("answers");
    asked["address"] = json!(Ipv4Addr::new(127, 7, 0, 2));
    let refused = run("ask", &asked.to_string()).expect_err("nobody listens there");
    assert!(refused.to_string().contains("connecting"), "{refused}");
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
    let asked = json!({
        "port": server(1, 1), "request": 1, "response": 1, "connections": 1, "seconds": 0.1,
        "gate": "/no/such/gate",
    });
    let refused = run("ask", &asked.to_string())
        .expect_err("no gate")
        .to_string();
    assert!(refused.contains("gate"), "{refused}");
}

#[test]
fn nobody_listening_is_said() {
    // Taken, and not listened on: nobody else can.
    let taken = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    bind(&taken, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a port");
    let place = SocketAddr::try_from(getsockname(&taken).expect("its place")).expect("of IPv4");
    let asked = json!({
        "port": place.port(), "request": 1, "response": 1, "connections": 1, "seconds": 0.1,
    });
    let refused = run("ask", &asked.to_string())
        .expect_err("nobody listens")
        .to_string();
    assert!(refused.contains("connecting"), "{refused}");
}
