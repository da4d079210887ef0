//! Queueing theory: dedicated cores without overheads are a queue with as many servers.
//!
//! The band: 8 independent replications give a mean and its standard error `s / sqrt(8)`; the
//! formula must lie within 5.41 of them, the two-sided 99.9 % point of Student's t with 7 degrees
//! of freedom, and the band itself must be narrower than 5 % of the value, or it would show
//! nothing.

use crate::common::{
    dedicated, loops, machine, partition, run, shared, spec, transactions, users, Outcome, MS,
    SECOND,
};
use homenode_engine::spec::{Distribution, Spec, Workload};

const REPLICATIONS: u64 = 8;
const STUDENT_T: f64 = 5.408;
/// Service time [s]: a million instructions at a nanosecond each.
const SERVICE_S: f64 = 1e-3;

fn on_cores(count: u16, workload: Workload, seconds: f64) -> Spec {
    let one = partition("a", dedicated(0..count, false), workload);
    let mut spec = spec(machine(&format!("core:{count}")), vec![one]);
    spec.duration_ns = (seconds * 1e9) as u64;
    spec.interval_ns = spec.duration_ns;
    spec.warmup_ns = SECOND;
    spec
}

fn assert_in_band(spec: &Spec, what: &str, formula: f64, measure: impl Fn(&Outcome) -> f64) {
    let values: Vec<f64> = (0..REPLICATIONS).map(|r| measure(&run(spec, r))).collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let band = STUDENT_T * (variance / n).sqrt();
    assert!(
        (mean - formula).abs() <= band,
        "{what}: {mean} +- {band}, theory {formula}"
    );
    assert!(
        band < 0.05 * formula,
        "{what}: the band {band} is too wide for {formula}"
    );
}

/// Chance that an arrival waits in M/M/c (Erlang's C formula), by the recursion for his B formula.
fn erlang_c(servers: u32, offered: f64) -> f64 {
    let blocked = (1..=servers).fold(1.0, |b, k| offered * b / (f64::from(k) + offered * b));
    let load = offered / f64::from(servers);
    blocked / (1.0 - load * (1.0 - blocked))
}

#[test]
fn erlang_c_of_known_cases() {
    assert!((erlang_c(1, 0.7) - 0.7).abs() < 1e-12);
    // Two servers: C = 2 r^2 / (1 + r) with r the load of each.
    assert!((erlang_c(2, 1.0) - 2.0 * 0.25 / 1.5).abs() < 1e-12);
}

#[test]
fn response_of_poisson_arrivals_is_that_of_m_m_c() {
    for servers in [1u16, 4, 16] {
        let offered = 0.7 * f64::from(servers);
        let rate = offered / SERVICE_S;
        let spec = on_cores(
            servers,
            transactions(rate, Distribution::Exponential),
            30_000.0 / rate,
        );
        let servers = u32::from(servers);
        let wait = erlang_c(servers, offered) * SERVICE_S / (f64::from(servers) - offered);
        let response_ns = (SERVICE_S + wait) * 1e9;
        let what = format!("response with {servers} servers");
        assert_in_band(&spec, &what, response_ns, |o| o.of("a").response.mean);
    }
}

#[test]
fn constant_work_waits_half_as_long() {
    let load = 0.6;
    let spec = on_cores(
        1,
        transactions(load / SERVICE_S, Distribution::Constant),
        50.0,
    );
    let wait = load * SERVICE_S / (2.0 * (1.0 - load));
    let response_ns = (SERVICE_S + wait) * 1e9;
    assert_in_band(&spec, "M/D/1", response_ns, |o| o.of("a").response.mean);
}

/// Interactions a second of `population` users with mean think time `think_s` on `servers` (the
/// machine repairman's queue, M/M/c//N), from its birth and death equations.
fn repairman(population: u32, think_s: f64, servers: u32) -> f64 {
    let (mut weight, mut total, mut busy) = (1.0, 1.0, 0.0);
    for inside in 1..=population {
        let arrive = f64::from(population - inside + 1) / think_s;
        let serve = f64::from(inside.min(servers)) / SERVICE_S;
        weight *= arrive / serve;
        total += weight;
        busy += weight * serve;
    }
    busy / total
}

#[test]
fn users_get_the_throughput_of_the_machine_repairman() {
    for (count, servers) in [(10, 2), (40, 4), (5, 1)] {
        let spec = on_cores(servers, users(count, 8 * MS), 10.0);
        let rate = repairman(count, 8e-3, u32::from(servers));
        let what = format!("throughput of {count} users on {servers}");
        assert_in_band(&spec, &what, rate, |o| o.total("a", "tx_done") / 10.0);
    }
}

/// Little's law is an identity of one run: the time transactions spent inside is the integral of
/// their number, but for those inside at the start and at the end.
#[test]
fn number_inside_is_rate_times_response() {
    let workload = Workload::Transactions {
        rate_per_s: 900.0,
        bursts: 3.0,
        wait_ns: 2 * MS,
        burst_work: Distribution::Exponential,
    };
    let spec = on_cores(2, workload, 20.0);
    let outcome = run(&spec, 0);
    let integral = outcome.total("a", "runq_ns") + outcome.total("a", "blocked_ns");
    let response = outcome.total("a", "response_ns");
    let longest = outcome.of("a").response.max as f64;
    let edge = 2.0 * 100.0 * longest; // A hundred inside at either end is far more than there are.
    assert!(outcome.total("a", "tx_inside") < 100.0);
    assert!(
        (integral - response).abs() <= edge,
        "{integral} against {response} +- {edge}"
    );
    assert!(edge < 0.25 * response);
}

/// Threads that run, that wait in queues and that wait with their virtual processor for a core: the
/// run queues of all logical processors hold what the partition has runnable.
#[test]
fn run_queues_of_processors_add_up_to_the_partition_s() {
    let queued = |outcome: &Outcome| outcome.cpu.series("partition", 0, "runq_ns");
    let crowd = on_cores(2, loops(16), 4.0);
    let outcome = run(&crowd, 0);
    let all: i64 = queued(&outcome).iter().sum();
    assert_eq!(all, 16 * 4 * SECOND as i64);

    let work = transactions(600.0, Distribution::Exponential);
    let tenants = ["a", "b", "c"].map(|name| partition(name, shared(0.6, 2), work.clone()));
    let mut contended = spec(machine("core:2"), tenants.to_vec());
    contended.duration_ns = 4 * SECOND;
    let outcome = run(&contended, 0);
    let all = queued(&outcome).iter().sum::<i64>() as f64;
    let whole = outcome.total("a", "runq_ns");
    assert!((all - whole).abs() <= 1e-6 * whole, "{all} of {whole}");
    assert!(outcome.total("a", "ready_ns") > 0.05 * whole);
}
