//! Requests and answers over TCP, of any two sizes: `answer` is the server, `ask` the clients, on
//! loopback or at an `address` that reaches another host. A thread a connection on both sides, as
//! uperf does it; each asks again when it has its answer. Nagel's delay is off: a request is one
//! write.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Barrier};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{json, Value};

use crate::fault::{parameters, Doing, Fault, Outcome};

const STACK_BYTES: usize = 128 << 10;
const MOST_BYTES: usize = 16 << 20;
const MOST_CONNECTIONS: usize = 1000;
const MOST_SECONDS: f64 = 3600.0;
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answered {
    /// Where it listens.
    #[serde(default = "loopback")]
    address: IpAddr,
    port: u16,
    request: usize,
    response: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// Where the server listens.
    #[serde(default = "loopback")]
    address: IpAddr,
    port: u16,
    request: usize,
    response: usize,
    connections: usize,
    seconds: f64,
    /// A file to read to its end before the first request: a named pipe lets others say when.
    gate: Option<std::path::PathBuf>,
}

fn loopback() -> IpAddr {
    Ipv4Addr::LOCALHOST.into()
}

/// Serves until it is ended from outside.
pub(crate) fn answer(json: &str) -> Outcome {
    let Answered {
        address,
        port,
        request,
        response,
    } = parameters(json)?;
    check(port, request, response)?;
    let listener = TcpListener::bind((address, port)).doing("listening")?;
    loop {
        let (stream, _) = listener.accept().doing("accepting a connection")?;
        thread()
            .spawn(move || serve(stream, request, response))
            .doing("starting a thread")?;
    }
}

/// Asks over so many connections for so many seconds.
pub(crate) fn ask(json: &str) -> Outcome {
    let asked: Asked = parameters(json)?;
    check(asked.port, asked.request, asked.response)?;
    if asked.connections == 0 || asked.connections > MOST_CONNECTIONS {
        return Err(Fault::Wrong(format!(
            "connections is {}; give 1 to {MOST_CONNECTIONS}",
            asked.connections
        )));
    }
    if !(asked.seconds > 0.0 && asked.seconds <= MOST_SECONDS) {
        return Err(Fault::Wrong(format!(
            "seconds is {}; give more than 0, at most {MOST_SECONDS}",
            asked.seconds
        )));
    }
    let together = Arc::new(Barrier::new(asked.connections));
    let mut clients: Vec<JoinHandle<std::io::Result<Latencies>>> = Vec::new();
    let streams = connected(&asked)?;
    if let Some(gate) = &asked.gate {
        std::fs::read(gate).doing("waiting at the gate")?;
    }
    for stream in streams {
        let (request, response) = (asked.request, asked.response);
        let lasting = Duration::from_secs_f64(asked.seconds);
        let together = Arc::clone(&together);
        let client = move || {
            together.wait();
            exchange(stream, request, response, lasting)
        };
        clients.push(thread().spawn(client).doing("starting a thread")?);
    }
    let mut all = Latencies::new();
    for client in clients {
        let one = client
            .join()
            .map_err(|_| Fault::Wrong("a client thread failed".to_owned()))?;
        all.add(&one.doing("asking")?);
    }
    Ok(all.told())
}

fn check(port: u16, request: usize, response: usize) -> Result<(), Fault> {
    if port == 0 {
        return Err(Fault::Wrong("port is 0; give 1 to 65535".to_owned()));
    }
    for (name, bytes) in [("request", request), ("response", response)] {
        if bytes == 0 || bytes > MOST_BYTES {
            return Err(Fault::Wrong(format!(
                "{name} is {bytes} bytes; give 1 to {MOST_BYTES}"
            )));
        }
    }
    Ok(())
}

fn thread() -> Builder {
    Builder::new().stack_size(STACK_BYTES)
}

/// All connections, made one after the other before any time is taken. A connection that gets no
/// answer for long ends the run instead of hanging it.
fn connected(asked: &Asked) -> Result<Vec<TcpStream>, Fault> {
    let server = SocketAddr::from((asked.address, asked.port));
    (0..asked.connections)
        .map(|_| {
            let stream =
                TcpStream::connect_timeout(&server, PATIENCE).doing("connecting to the server")?;
            stream.set_nodelay(true).doing("setting up a connection")?;
            stream
                .set_read_timeout(Some(PATIENCE))
                .doing("setting up a connection")?;
            Ok(stream)
        })
        .collect()
}

fn serve(mut stream: TcpStream, request: usize, response: usize) {
    let (mut coming, going) = (vec![0_u8; request], vec![b'a'; response]);
    if stream.set_nodelay(true).is_err() {
        return;
    }
    // A client that has gone is the ordinary end.
    while stream.read_exact(&mut coming).is_ok() && stream.write_all(&going).is_ok() {}
}

fn exchange(
    mut stream: TcpStream,
    request: usize,
    response: usize,
    lasting: Duration,
) -> std::io::Result<Latencies> {
    let (going, mut coming) = (vec![b'q'; request], vec![0_u8; response]);
    let mut found = Latencies::new();
    let start = Instant::now();
    let mut before = start;
    while before.duration_since(start) < lasting {
        stream.write_all(&going)?;
        stream.read_exact(&mut coming).map_err(|fault| {
            if fault.kind() == ErrorKind::WouldBlock {
                std::io::Error::new(ErrorKind::TimedOut, "the server gives no answer")
            } else {
                fault
            }
        })?;
        let now = Instant::now();
        found.took(now.duration_since(before));
        before = now;
    }
    found.seconds = before.duration_since(start).as_secs_f64();
    Ok(found)
}

/// Buckets of 32 to each doubling: percentiles are off by a thirty-second at most.
const STEPS: usize = 32;
const STEP_BITS: u32 = STEPS.trailing_zeros();

struct Latencies {
    buckets: Vec<u64>,
    count: u64,
    sum_ns: u128,
    max_ns: u64,
    /// From the common start to the last answer.
    seconds: f64,
}

impl Latencies {
    fn new() -> Self {
        Self {
            buckets: vec![0; bucket(u64::MAX) + 1],
            count: 0,
            sum_ns: 0,
            max_ns: 0,
            seconds: 0.0,
        }
    }

    fn took(&mut self, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.buckets[bucket(ns)] += 1;
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
        self.seconds = self.seconds.max(other.seconds);
    }

    /// The upper end of the bucket in which this share of all lies, never above the longest [ns].
    fn percentile(&self, per_mille: u64) -> u64 {
        let wanted = (self.count * per_mille).div_ceil(1000).max(1);
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return upper(index).min(self.max_ns);
            }
        }
        self.max_ns
    }

    #[allow(clippy::cast_precision_loss)] // microseconds for people
    fn told(&self) -> Value {
        let us = |ns: u64| ns as f64 / 1e3;
        json!({
            "transactions": self.count,
            "seconds": self.seconds,
            "latency_us": {
                "mean": self.sum_ns as f64 / 1e3 / self.count.max(1) as f64,
                "p50": us(self.percentile(500)),
                "p95": us(self.percentile(950)),
                "p99": us(self.percentile(990)),
                "p99.9": us(self.percentile(999)),
                "max": us(self.max_ns),
            },
        })
    }
}

/// Below 64 a bucket a nanosecond; above, the doubling and the next five bits of the value.
fn bucket(ns: u64) -> usize {
    let bits = u64::BITS - ns.leading_zeros();
    let shift = bits.saturating_sub(STEP_BITS + 1);
    let within = usize::try_from(ns >> shift).unwrap_or(usize::MAX);
    shift as usize * STEPS + within
}

/// The largest value of a bucket.
fn upper(index: usize) -> u64 {
    let shift = (index / STEPS).saturating_sub(1);
    let within = (index - shift * STEPS) as u64;
    (within << shift) + ((1_u64 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::{bucket, upper, Latencies};
    use std::time::Duration;

    #[test]
    fn buckets_are_in_order_and_hold_their_values() {
        let mut last = 0;
        let values = (0..5000)
            .chain((0..64).map(|power| 1_u64 << power))
            .chain([u64::MAX]);
        let mut values: Vec<u64> = values.collect();
        values.sort_unstable();
        for ns in values {
            let at = bucket(ns);
            assert!(at >= last, "{ns}");
            assert!(upper(at) >= ns, "{ns}: {}", upper(at));
            assert!(upper(at) - ns <= ns / 32, "{ns}: {}", upper(at));
            last = at;
        }
    }

    #[test]
    fn percentiles_of_a_ramp() {
        let mut found = Latencies::new();
        for us in 1..=1000 {
            found.took(Duration::from_micros(us));
        }
        for (per_mille, exact_ns) in [(500, 500_000), (950, 950_000), (999, 999_000)] {
            let told = found.percentile(per_mille);
            assert!(
                (exact_ns..=exact_ns + exact_ns / 32).contains(&told),
                "{told}"
            );
        }
        assert_eq!(found.percentile(1000), 1_000_000);
        assert!((found.told()["latency_us"]["mean"].as_f64().unwrap() - 500.5).abs() < 1e-9);
    }
}
