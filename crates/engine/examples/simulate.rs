//! Runs a frozen spec (JSON, as a run keeps it in `spec.json`) and prints what each partition used.
//!
//! `cargo run --release -p homenode-engine --example simulate -- spec.json`

use homenode_engine::{sim, spec::Spec};

fn main() {
    let path = std::env::args().nth(1).expect("usage: simulate SPEC.json");
    let text = std::fs::read_to_string(&path).expect("the spec can be read");
    let spec: Spec = serde_json::from_str(&text).expect("the spec is sound JSON");
    let start = std::time::Instant::now();
    let summary = sim::run(&spec, 0, |_| true).unwrap_or_else(|fault| panic!("{fault}"));
    let wall = start.elapsed().as_secs_f64();
    let names = sim::columns::partition();
    let seconds = spec.duration_ns as f64 * 1e-9;
    for partition in &summary.partitions {
        println!("{} steady {:?}", partition.name, partition.steady);
        for (name, total) in names
            .iter()
            .zip(&partition.totals)
            .skip(2)
            .filter(|(_, total)| **total != 0)
        {
            let scale = if name.ends_with("_ns") || name.starts_with("book_") {
                1e-9
            } else {
                1.0
            };
            println!("  {name:20} {:14.4}", *total as f64 * scale / seconds);
        }
        println!("  response {:?}", partition.response);
        println!("  dispatch wait {:?}", partition.dispatch_wait);
    }
    println!(
        "{} events in {wall:.2} s: {:.2} M events/s, {:.1} x real time",
        summary.events,
        summary.events as f64 / wall * 1e-6,
        summary.sim_ns as f64 * 1e-9 / wall
    );
}
