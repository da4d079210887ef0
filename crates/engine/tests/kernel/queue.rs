//! The event queue against its plain twin.

use homenode_engine::kernel::plain::PlainQueue;
use homenode_engine::kernel::{self, Key, Priority, Queue, Stream, Time, Timer};
use proptest::prelude::*;

/// What a model does with the queue.
#[derive(Clone, Debug)]
enum Call {
    Schedule {
        wait_ns: u64,
        rank: u8,
    },
    Timer,
    Set {
        timer: usize,
        wait_ns: u64,
        rank: u8,
    },
    Stop {
        timer: usize,
    },
    Pop,
    Peek,
    Step {
        ahead_ns: u64,
    },
}

/// Short ones most often, so that many events share a time; and lengths up to hours.
fn wait() -> impl Strategy<Value = u64> {
    prop_oneof![
        6 => 0..4u64,
        2 => 0..300u64,
        2 => 0..1_000_000u64,
        1 => 0..100_000_000_000_000u64,
    ]
}

/// Few priorities, so that many events share one.
fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        6 => (wait(), 0..3u8).prop_map(|(wait_ns, rank)| Call::Schedule { wait_ns, rank }),
        2 => (wait(), 0..16u8).prop_map(|(wait_ns, rank)| Call::Schedule { wait_ns, rank }),
        1 => Just(Call::Timer),
        4 => (0..8usize, wait(), 0..3u8)
            .prop_map(|(timer, wait_ns, rank)| Call::Set { timer, wait_ns, rank }),
        1 => (0..8usize).prop_map(|timer| Call::Stop { timer }),
        3 => Just(Call::Pop),
        1 => Just(Call::Peek),
        3 => (0..6u64).prop_map(|ahead_ns| Call::Step { ahead_ns }),
    ]
}

/// What a call was answered: a key, an event or a time.
type Answer = (Option<Key>, Option<(Time, Key, usize)>, Option<Time>);

/// A queue, its plain twin, and the timers of both.
struct Twins {
    fast: Queue<usize>,
    plain: PlainQueue<usize>,
    timers: Vec<[Timer; 2]>,
}

/// Does the same with both queues; what they answered.
fn both(call: &Call, number: usize, twins: &mut Twins) -> [Answer; 2] {
    let Twins {
        fast,
        plain,
        timers,
    } = twins;
    let now = plain.now();
    match *call {
        Call::Timer => {
            timers.push([fast.timer(number), plain.timer(number)]);
            [(None, None, None); 2]
        }
        Call::Set {
            timer,
            wait_ns,
            rank,
        } => {
            let Some(&[left, right]) = timers.get(timer) else {
                return [(None, None, None); 2];
            };
            let (time, priority) = (now + Time::from_ns(wait_ns), Priority::new(rank));
            let keys = [
                fast.set_timer(left, time, priority),
                plain.set_timer(right, time, priority),
            ];
            keys.map(|key| (Some(key), None, None))
        }
        Call::Stop { timer } => {
            if let Some(&[left, right]) = timers.get(timer) {
                fast.stop_timer(left);
                plain.stop_timer(right);
            }
            [(None, None, None); 2]
        }
        Call::Schedule { wait_ns, rank } => {
            let (time, priority) = (now + Time::from_ns(wait_ns), Priority::new(rank));
            let keys = [
                fast.schedule(time, priority, number),
                plain.schedule(time, priority, number),
            ];
            keys.map(|key| (Some(key), None, None))
        }
        Call::Pop => [fast.pop(), plain.pop()].map(|event| (None, event, None)),
        Call::Peek => [fast.peek_time(), plain.peek_time()].map(|time| (None, None, time)),
        Call::Step { ahead_ns } => {
            let limit = now + Time::from_ns(ahead_ns);
            [kernel::step(fast, limit), plain.step(limit)].map(|event| (None, event, None))
        }
    }
}

proptest! {
    #[test]
    fn any_mix_of_calls_gives_what_the_plain_queue_gives(
        calls in prop::collection::vec(call(), 0..400),
    ) {
        let mut twins = Twins {
            fast: Queue::new(),
            plain: PlainQueue::new(),
            timers: Vec::new(),
        };
        for (number, call) in calls.iter().enumerate() {
            let [left, right] = both(call, number, &mut twins);
            let Twins { fast, plain, .. } = &twins;
            prop_assert_eq!(left, right, "call {} {:?}", number, call);
            prop_assert_eq!((fast.len(), fast.now()), (plain.len(), plain.now()));
            prop_assert_eq!(fast.is_empty(), plain.is_empty());
        }
        prop_assert_eq!(twins.fast.scheduled(), twins.plain.scheduled());
    }

    #[test]
    fn events_leave_by_time_priority_and_sequence(
        events in prop::collection::vec((0..50u64, 0..4u8), 0..3_000),
    ) {
        let mut queue = Queue::new();
        for (number, &(ns, rank)) in events.iter().enumerate() {
            queue.schedule(Time::from_ns(ns), Priority::new(rank), number);
        }
        let mut expected: Vec<usize> = (0..events.len()).collect();
        // The sort is stable: what is equal stays in the order in which it was scheduled.
        expected.sort_by_key(|&number| events[number]);
        let order: Vec<usize> = std::iter::from_fn(|| queue.pop()).map(|event| event.2).collect();
        prop_assert_eq!(order, expected);
    }
}

/// What the seeded run does next: mostly what keeps the number of pending events, at times what
/// fills or empties the queue.
fn next_call(random: &mut Stream, filling: bool) -> Call {
    let wait_ns = match random.below(8) {
        0 => 0,
        1 | 2 => random.below(4),
        // Many at exactly one time.
        3 => 1_000 - random.below(1_000) / 999,
        4 | 5 => random.below(100_000),
        6 => random.below(10_000_000),
        _ => random.below(10_000_000_000_000),
    };
    let rank = random.below(3) as u8;
    let timer = random.below(40) as usize;
    match random.below(20) {
        0..=2 => Call::Set {
            timer,
            wait_ns,
            rank,
        },
        3 => Call::Stop { timer },
        4 => Call::Peek,
        5 => Call::Step {
            ahead_ns: wait_ns / 2,
        },
        6 => Call::Timer,
        7..=15 if filling => Call::Schedule { wait_ns, rank },
        7..=9 => Call::Schedule { wait_ns, rank },
        _ => Call::Pop,
    }
}

#[test]
fn long_runs_give_what_the_plain_queue_gives() {
    for seed in 0..4 {
        let mut random = Stream::new(seed, 0, "calls");
        let mut twins = Twins {
            fast: Queue::new(),
            plain: PlainQueue::new(),
            timers: Vec::new(),
        };
        let most = [20, 100, 300, 1_000][seed as usize];
        let (mut filling, mut fullest) = (true, 0);
        for number in 0..250_000 {
            let pending = twins.plain.len();
            fullest = pending.max(fullest);
            filling = pending < if filling { most } else { most / 2 };
            let mut call = next_call(&mut random, filling);
            if matches!(call, Call::Timer) && twins.timers.len() == 40 {
                call = Call::Peek;
            }
            let [left, right] = both(&call, number, &mut twins);
            assert_eq!(left, right, "seed {seed}, call {number} {call:?}");
            assert_eq!(twins.fast.len(), twins.plain.len());
        }
        assert_eq!(twins.fast.scheduled(), twins.plain.scheduled());
        assert!(fullest >= most);
    }
}

#[test]
fn keys_are_the_numbers_of_the_calls() {
    let mut queue = Queue::new();
    for number in 1..=1_000 {
        let key = queue.schedule(
            queue.now() + Time::from_ns(number % 7),
            Priority::FIRST,
            number,
        );
        assert_eq!(key.number(), number);
        if number % 3 == 0 {
            let (_, key, payload) = queue.pop().unwrap();
            assert_eq!(key.number(), payload);
        }
    }
    assert_ne!(Key::NONE, queue.pop().unwrap().1);
}

#[test]
fn a_timer_has_one_event_which_can_be_moved() {
    let mut queue = Queue::new();
    let timer = queue.timer('t');
    let at = |ms| (Time::from_ms(ms), Priority::FIRST);
    queue.set_timer(timer, at(4).0, at(4).1);
    queue.schedule(at(5).0, at(5).1, 'a');
    let moved = queue.set_timer(timer, at(5).0, at(5).1);
    assert_eq!((queue.len(), queue.scheduled()), (2, 3));
    // Set after `a` was scheduled, it comes after it.
    assert_eq!(queue.pop().map(|event| event.2), Some('a'));
    assert_eq!(queue.pop(), Some((at(5).0, moved, 't')));
    queue.set_timer(timer, at(6).0, at(6).1);
    queue.stop_timer(timer);
    queue.stop_timer(timer);
    assert_eq!((queue.len(), queue.pop()), (0, None));
    queue.set_timer(timer, at(7).0, at(7).1);
    assert_eq!(queue.pop().map(|event| event.0), Some(at(7).0));
}

#[test]
fn a_stale_event_is_known_by_its_key() {
    let mut queue = Queue::new();
    queue.schedule(Time::from_ms(4), Priority::FIRST, 'x');
    let awaited = queue.schedule(Time::from_ms(7), Priority::FIRST, 'x');
    let served: Vec<Time> = std::iter::from_fn(|| kernel::step(&mut queue, Time::from_s(1)))
        .filter(|&(_, key, _)| key == awaited)
        .map(|(now, ..)| now)
        .collect();
    assert_eq!(served, [Time::from_ms(7)]);
}
