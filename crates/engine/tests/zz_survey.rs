mod common;
use common::*;
use std::collections::BTreeMap;
#[test]
fn survey() {
    let n: u64 = std::env::var("N").map_or(300, |n| n.parse().unwrap());
    let only: Option<u64> = std::env::var("ONLY").ok().map(|n| n.parse().unwrap());
    let mut tally: BTreeMap<String, (u64, u64, usize)> = BTreeMap::new();
    if only.is_none() {
        std::panic::set_hook(Box::new(|info| {
            let m = info
                .payload()
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| info.payload().downcast_ref::<&str>().map(|s| s.to_string()))
                .unwrap_or_default();
            let m: String = m
                .chars()
                .take(150)
                .map(|c| if c.is_ascii_digit() { '#' } else { c })
                .collect();
            LAST.with(|l| *l.borrow_mut() = format!("{} {}", info.location().unwrap(), m));
        }));
    }
    for seed in only.map_or(0..n, |s| s..s + 1) {
        let mut s = homenode_engine::kernel::Stream::new(seed, 0, "x");
        let dice: Vec<u16> = (0..DICE).map(|_| s.next_u64() as u16).collect();
        let t = std::time::Instant::now();
        let r = std::panic::catch_unwind(|| {
            let spec = sound(&dice);
            if only.is_some() {
                println!("{spec:#?}");
            }
            let o = run_some(&spec, 0, 3_000_000)
                .map_err(|e| format!("{e}"))
                .unwrap();
            assert_all(&spec, &o);
            (spec.partitions.len(), o.summary.events)
        });
        let el = t.elapsed().as_millis();
        match r {
            Err(_) => {
                let k = LAST.with(|l| l.borrow().clone());
                let e = tally.entry(k).or_insert((0, seed, usize::MAX));
                e.0 += 1;
                let size = usize::from(dice[0]);
                if size < e.2 {
                    e.2 = size;
                    e.1 = seed;
                }
            }
            Ok((p, ev)) => {
                if el > 500 {
                    println!("slow {seed} {el} ms {p} partitions {ev} events");
                }
            }
        }
    }
    for (k, v) in tally {
        println!("{v:?} {k}");
    }
}
thread_local! { static LAST: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) }; }
