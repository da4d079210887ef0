//! A byte that goes round among processes: what a pipe, a socket and a context switch cost.
//!
//! Free to be placed, the processes of a ring may lie on several processors, and a hop is then a
//! wake-up of another processor rather than a switch; pinned to one, it is a switch.

use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType};
use serde::Deserialize;
use serde_json::Value;

use crate::batches::{checked, timed, Timing};
use crate::calls::Timed;
use crate::clock::sleep_until;
use crate::fault::{parameters, Doing, Fault, Outcome};
use crate::system::{fork, Child};

/// Where a process reads the byte and where it passes it on.
struct Station {
    from: OwnedFd,
    to: OwnedFd,
}

impl Station {
    fn send(&self) -> Result<(), Fault> {
        rustix::io::write(&self.to, &[1])
            .doing("passing the byte on")
            .map(|_| ())
    }

    fn receive(&self) -> Result<(), Fault> {
        match rustix::io::read(&self.from, &mut [0]).doing("waiting for the byte")? {
            0 => Err(Fault::Host(
                "waiting for the byte",
                std::io::ErrorKind::BrokenPipe.into(),
            )),
            _ => Ok(()),
        }
    }

    /// Passes the byte on for as long as it comes.
    fn relay(&self) -> i32 {
        let mut byte = [0_u8; 1];
        while matches!(rustix::io::read(&self.from, &mut byte), Ok(1)) {
            if rustix::io::write(&self.to, &byte).is_err() {
                return 1;
            }
        }
        0
    }
}

/// This process's station and the others', which end with it.
struct Ring {
    own: Station,
    others: Vec<Child>,
}

impl Ring {
    /// So many processes joined by pipes, this one among them.
    fn new(count: usize) -> Result<Self, Fault> {
        let pipes: Vec<_> = (0..count)
            .map(|_| rustix::pipe::pipe())
            .collect::<Result<_, _>>()
            .doing("making pipes")?;
        let (mut ends, starts): (Vec<_>, Vec<_>) = pipes.into_iter().unzip();
        ends.rotate_right(1); // what the station before writes, this one reads
        let mut stations = ends
            .into_iter()
            .zip(starts)
            .map(|(from, to)| Station { from, to });
        let own = stations
            .next()
            .ok_or_else(|| Fault::Wrong("a ring of none".to_owned()))?;
        let others = stations
            .map(|station| fork(|| station.relay()))
            .collect::<Result<_, _>>()
            .doing("forking")?;
        Ok(Self { own, others })
    }

    /// Two processes joined by a pair of local stream sockets.
    fn sockets() -> Result<Self, Fault> {
        let (here, there) = rustix::net::socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::empty(),
            None,
        )
        .doing("making sockets")?;
        let both = |end: OwnedFd| -> Result<Station, Fault> {
            let from = end.try_clone().doing("opening a descriptor")?;
            Ok(Station { from, to: end })
        };
        let (own, other) = (both(here)?, both(there)?);
        let child = fork(|| other.relay()).doing("forking")?;
        Ok(Self {
            own,
            others: vec![child],
        })
    }

    /// Times rounds of the byte.
    fn rounds(&self, seconds: f64) -> Result<Timing, Fault> {
        timed(seconds, |count| {
            for _ in 0..count {
                self.own.send()?;
                self.own.receive()?;
            }
            Ok(())
        })
    }
}

/// A byte through a pipe to another process and back through a second one.
pub(crate) fn pipe(json: &str) -> Outcome {
    let Timed { seconds } = parameters(json)?;
    Ok(Ring::new(2)?.rounds(checked(seconds)?)?.report("pipe", 1))
}

/// A byte through a local stream socket to another process and back.
pub(crate) fn unix(json: &str) -> Outcome {
    let Timed { seconds } = parameters(json)?;
    Ok(Ring::sockets()?
        .rounds(checked(seconds)?)?
        .report("unix", 1))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Context {
    seconds: f64,
    /// Processes of the ring.
    processes: usize,
    /// `CLOCK_MONOTONIC` before which the ring does not begin [ns].
    #[serde(default)]
    start_ns: u64,
}

/// The byte round a ring of processes joined by pipes: time per hop, and what of it the pipe alone
/// costs, which a process passing the byte to itself shows.
///
/// The latter is measured first, for a tenth as long, and the ring begins at `start_ns`: whoever
/// counts processor time from then on counts the ring's alone.
pub(crate) fn context(json: &str) -> Outcome {
    let Context {
        seconds,
        processes,
        start_ns,
    } = parameters(json)?;
    if !(2..=256).contains(&processes) {
        let why = format!("processes is {processes}; a ring has 2 to 256 of them");
        return Err(Fault::Wrong(why));
    }
    let seconds = checked(seconds)?;
    let alone = Ring::new(1)?.rounds((seconds / 10.0).max(0.001))?;
    let ring = Ring::new(processes)?;
    sleep_until(start_ns);
    let hops = ring.rounds(seconds)?;
    let others = ring.others.len();
    let mut found = hops.report("context", processes as u64);
    found["processes"] = Value::from(others + 1);
    found["pipe_ns"] = Value::from(alone.median());
    Ok(found)
}
