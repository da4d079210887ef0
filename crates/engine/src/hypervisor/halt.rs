//! Halt polling: for how long KVM looks for work before it lets a halted virtual processor sleep.
//!
//! The length adapts to how long halts last, counted until the virtual processor runs again
//! (Linux, Documentation/virt/kvm/halt-polling.rst, and the comments in virt/kvm/kvm_main.c):
//!
//! ```text
//! halt <= length                        it was found while polling: keep
//! halt >  longest allowed, length > 0   polling was in vain: divide by `shrink`, below start 0
//! halt <  longest, length < longest     it nearly was: multiply by `grow`, start at least
//! ```

use crate::spec::{Kvm, Virtualized};

/// How long a guest that idles takes to its host's scheduler, and from there until it goes on: its
/// kernel stops its tick, and sets it anew when it is back, each by exits of its own [ns].
pub fn idle_ways_ns(kvm: &Kvm, by: Option<&Virtualized>) -> [u64; 2] {
    let tick_ns = by.map_or(0, |by| u64::from(kvm.idle_exits) * by.exit_ns);
    [kvm.exit_ns + tick_ns, kvm.entry_ns + tick_ns]
}

/// Length of polling after a halt of `halt_ns` [ns].
pub fn next_poll_ns(kvm: &Kvm, poll_ns: u64, halt_ns: u64) -> u64 {
    let most = kvm.halt_poll_ns;
    if most == 0 {
        0
    } else if halt_ns <= poll_ns {
        poll_ns
    } else if poll_ns > 0 && halt_ns > most {
        shrunk(kvm, poll_ns)
    } else if poll_ns < most && halt_ns < most && kvm.halt_poll_grow > 0 {
        let grown = poll_ns.saturating_mul(u64::from(kvm.halt_poll_grow));
        grown.max(kvm.halt_poll_grow_start_ns).min(most)
    } else {
        poll_ns
    }
}

fn shrunk(kvm: &Kvm, poll_ns: u64) -> u64 {
    let divided = match kvm.halt_poll_shrink {
        0 => 0,
        by => poll_ns / u64::from(by),
    };
    if divided < kvm.halt_poll_grow_start_ns {
        0
    } else {
        divided
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(kvm: &Kvm, halts_us: &[u64]) -> u64 {
        let step = |poll, halt: &u64| next_poll_ns(kvm, poll, halt * 1000);
        halts_us.iter().fold(0, step) / 1000
    }

    #[test]
    fn short_halts_make_it_longer_up_to_the_limit() {
        let kvm = Kvm::default();
        assert_eq!(after(&kvm, &[150]), 10);
        assert_eq!(after(&kvm, &[150; 4]), 80);
        assert_eq!(after(&kvm, &[150; 5]), 160);
        assert_eq!(after(&kvm, &[150; 50]), 160);
        assert_eq!(after(&kvm, &[199; 50]), 200);
    }

    #[test]
    fn long_halts_make_it_shorter_down_to_nothing() {
        let kvm = Kvm::default();
        let grown = [199; 6];
        assert_eq!(after(&kvm, &[&grown[..], &[5000]].concat()), 100);
        assert_eq!(after(&kvm, &[&grown[..], &[5000; 4]].concat()), 12);
        assert_eq!(after(&kvm, &[&grown[..], &[5000; 5]].concat()), 0);
        let at_once = Kvm {
            halt_poll_shrink: 0,
            ..Kvm::default()
        };
        assert_eq!(after(&at_once, &[&grown[..], &[5000]].concat()), 0);
    }

    #[test]
    fn zero_switches_it_off() {
        let off = Kvm {
            halt_poll_ns: 0,
            ..Kvm::default()
        };
        assert_eq!(after(&off, &[1; 9]), 0);
    }
}
