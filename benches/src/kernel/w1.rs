//! W1 on the kernel.

use std::collections::VecDeque;

use homenode_engine::kernel::{self, Priority, Queue, Stream, Time};

use crate::load::{Waits, ARRIVAL_NS, SERVERS, SERVICE_NS};

const P: Priority = Priority::FIRST;
const ARRIVAL: Time = Time::from_ns(ARRIVAL_NS);
const SERVICE: Time = Time::from_ns(SERVICE_NS);

#[derive(Clone, Copy)]
enum Event {
    Arrival,
    Done { server: u8 },
}

/// Runs `events` arrivals and completions.
pub fn run(events: u64, seed: u64) -> Waits {
    let mut arrivals = Stream::new(seed, 0, "arrivals");
    let mut service = Stream::new(seed, 0, "service");
    let mut queue = Queue::new();
    let mut free: Vec<u8> = (0..SERVERS as u8).rev().collect();
    let mut waiting = VecDeque::with_capacity(1 << 12);
    let mut seen = Waits::default();
    let mut done = 0;
    queue.schedule(arrivals.exponential_time(ARRIVAL), P, Event::Arrival);
    while let Some((now, _, event)) = kernel::step(&mut queue, Time::MAX) {
        match event {
            Event::Arrival => {
                let next = now + arrivals.exponential_time(ARRIVAL);
                queue.schedule(next, P, Event::Arrival);
                if let Some(server) = free.pop() {
                    seen.customers += 1;
                    let end = now + service.exponential_time(SERVICE);
                    queue.schedule(end, P, Event::Done { server });
                } else {
                    waiting.push_back(now);
                }
            }
            Event::Done { server } => {
                if let Some(arrived) = waiting.pop_front() {
                    seen.customers += 1;
                    seen.wait_ns += (now - arrived).as_ns();
                    let end = now + service.exponential_time(SERVICE);
                    queue.schedule(end, P, Event::Done { server });
                } else {
                    free.push(server);
                }
            }
        }
        done += 1;
        if done == events {
            break;
        }
    }
    seen
}
