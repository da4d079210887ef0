//! Signals sent to this process are all met: in a process of one thread, which this test's is, each
//! is handled before the next is sent.

use serde_json::Value;

fn main() {
    let found = homenode_kernels::run("signal-catch", r#"{"seconds": 0.02}"#).unwrap();
    let found: Value = serde_json::from_str(&found).unwrap();
    assert!(found["operations"].as_u64().unwrap() >= 1, "{found}");
    assert!(
        found["ns"].as_f64().unwrap() > 10.0,
        "no call into the kernel is so quick: {found}"
    );
}
