mod bare;
mod kernel;
mod load;
fn main() {
    for round in 0..7u64 {
        let mut line = String::new();
        let n = 10_000_000;
        macro_rules! t { ($e:expr) => {{ let s = std::time::Instant::now(); let r = std::hint::black_box($e); (n as f64 / s.elapsed().as_secs_f64() / 1e6, r) }} }
        let (a, ra) = t!(bare::w1::run(n, round));
        let (b, rb) = t!(kernel::w1::run(n, round));
        let (c, rc) = t!(bare::w2::run(n, round));
        let (d, rd) = t!(kernel::w2::run(n, round));
        line += &format!("W1 bare {a:.1} kernel {b:.1} {:.2} | W2 bare {c:.1} kernel {d:.1} {:.2}", b / a, d / c);
        println!("{line}");
        if round == 0 { println!("{:?}\n{:?}\n{:?}\n{:?}", ra.answers(), rb.answers(), rc.answers(), rd.answers()); }
    }
}
