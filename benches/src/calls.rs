//! Single calls of the kernel in a loop: the queue at several sizes, draws, the histogram.

use std::hint::black_box;
use std::time::Instant;

use homenode_engine::kernel::{self, Histogram, Priority, Queue, Stream, Time};

use crate::bare::heap::{key, unpack, Heap};
use crate::bare::random::Random;
use crate::case::{Case, Sample};

const GROUP: &str = "Calls of the kernel";
/// Pending events of the smaller queues: as many as W2 has.
const FEW: usize = 120;
const MEAN: Time = Time::from_ms(1);

/// Name of the queues' yardstick.
const BARE_HEAP: &str = "bare heap: take one of 120, put it back later";
/// Name of the draws' yardstick.
const BARE_DRAW: &str = "bare generator: an exponential";

/// All cases of this group.
pub fn all() -> Vec<Case> {
    vec![
        case(BARE_HEAP, BARE_HEAP, 3_000_000, bare_hold),
        case("Queue: the same", BARE_HEAP, 3_000_000, |n| hold(n, FEW)),
        case("Queue: the same with 1,000", BARE_HEAP, 2_000_000, |n| {
            hold(n, 1_000)
        }),
        case("Queue: the same with 10,000", BARE_HEAP, 1_000_000, |n| {
            hold(n, 10_000)
        }),
        case(
            "Queue: the same with 1,000,000",
            BARE_HEAP,
            1_000_000,
            |n| hold(n, 1_000_000),
        ),
        case(
            "Queue: 60 timers moved beside 1,500",
            BARE_HEAP,
            1_000_000,
            timers,
        ),
        case(BARE_DRAW, BARE_DRAW, 10_000_000, bare_draw),
        case("Stream: an exponential time", BARE_DRAW, 10_000_000, draw),
        case(
            "Stream and Histogram: draw and record",
            BARE_DRAW,
            10_000_000,
            record,
        ),
    ]
}

fn case(name: &'static str, yardstick: &'static str, calls: u64, work: fn(u64)) -> Case {
    let run = move |_| {
        let start = Instant::now();
        work(calls);
        Sample::new(calls, start.elapsed())
    };
    Case::new(GROUP, name, yardstick, run)
}

fn bare_hold(calls: u64) {
    let mut random = Random::new(1);
    let mut heap = Heap::new();
    let mut draw = || (random.exponential() * MEAN.as_ns() as f64) as u64;
    (0..FEW).for_each(|id| heap.push(key(draw(), id)));
    for _ in 0..calls {
        let (now, id) = unpack(heap.top());
        heap.replace_top(key(now + draw(), id));
    }
    black_box(heap.top());
}

fn hold(calls: u64, pending: usize) {
    let mut stream = Stream::new(1, 0, "hold");
    let mut queue = Queue::new();
    for id in 0..pending as u32 {
        queue.schedule(stream.exponential_time(MEAN), Priority::FIRST, id);
    }
    for _ in 0..calls {
        if let Some((now, _, id)) = kernel::step(&mut queue, Time::MAX) {
            queue.schedule(now + stream.exponential_time(MEAN), Priority::FIRST, id);
        }
    }
    black_box(queue.now());
}

/// Cores that plan their next event again and again, beside waits that are planned once.
fn timers(calls: u64) {
    const CORES: u32 = 60;
    const WAITS: u32 = 1_500;
    let mut stream = Stream::new(1, 0, "timers");
    let mut queue = Queue::new();
    let cores: Vec<_> = (0..CORES).map(|core| queue.timer(core)).collect();
    let burst = Time::from_us(100);
    for core in &cores {
        queue.set_timer(*core, stream.exponential_time(burst), Priority::FIRST);
    }
    for wait in 0..WAITS {
        queue.schedule(
            stream.exponential_time(MEAN * 5),
            Priority::LAST,
            CORES + wait,
        );
    }
    for call in 0..calls {
        let Some((now, _, id)) = kernel::step(&mut queue, Time::MAX) else {
            return;
        };
        match cores.get(id as usize) {
            Some(&core) => {
                queue.set_timer(core, now + stream.exponential_time(burst), Priority::FIRST);
            }
            None => {
                queue.schedule(now + stream.exponential_time(MEAN * 5), Priority::LAST, id);
            }
        }
        // Others are moved too, three times after two events.
        for _ in 0..1 + call % 2 {
            let other = cores[stream.below(CORES.into()) as usize];
            queue.set_timer(other, now + stream.exponential_time(burst), Priority::FIRST);
        }
    }
    black_box(queue.now());
}

fn bare_draw(calls: u64) {
    let mut random = Random::new(1);
    black_box((0..calls).map(|_| random.exponential()).sum::<f64>());
}

fn draw(calls: u64) {
    let mut stream = Stream::new(1, 0, "draw");
    black_box(
        (0..calls)
            .map(|_| stream.exponential_time(MEAN))
            .sum::<Time>(),
    );
}

fn record(calls: u64) {
    let mut stream = Stream::new(1, 0, "record");
    let mut histogram = Histogram::new();
    (0..calls).for_each(|_| histogram.record(stream.exponential_time(MEAN)));
    black_box(histogram.count());
}
