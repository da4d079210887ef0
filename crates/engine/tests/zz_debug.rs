mod common;
use common::*;
#[test]
fn debug() {
    let seed: u64 = std::env::var("ONLY").unwrap().parse().unwrap();
    let who: usize = std::env::var("WHO").unwrap().parse().unwrap();
    let mut s = homenode_engine::kernel::Stream::new(seed, 0, "x");
    let dice: Vec<u16> = (0..DICE).map(|_| s.next_u64() as u16).collect();
    let mut spec = sound(&dice);
    spec.record_dispatches = true;
    let o = run(&spec, 0);
    let w = spec.machine.hypervisor.window_ns as i64;
    let busy = o.partition.series("partition", who, "busy_ns");
    let least: i64 = std::env::var("GOT").unwrap().parse().unwrap();
    let k = busy.iter().position(|b| *b == least).unwrap() as i64;
    println!(
        "interval {k} busy {least} window {w} interval {}",
        spec.interval_ns
    );
    let i = spec.interval_ns as i64;
    for r in o.dispatches.rows() {
        if r[0] < (k + 1) * i && r[1] > k * i {
            println!(
                "{:?} p{} vp{} core{} kind{} reason{}",
                (r[0] - k * i, r[1] - k * i),
                r[2],
                r[3],
                r[4],
                r[6],
                r[7]
            );
        }
    }
}
