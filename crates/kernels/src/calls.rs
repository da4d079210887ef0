//! What a system call costs: the emptiest one, reading and writing a byte, finding a file, opening
//! it, and asking many descriptors whether they are ready.

use std::os::fd::AsRawFd;

use rustix::fs::{Mode, OFlags};
use serde::Deserialize;
use serde_json::Value;

use crate::batches::{checked, timed};
use crate::fault::{parameters, Doing, Fault, Outcome};
use crate::system::Watched;

/// How long, and nothing else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Timed {
    /// About how long to measure [s].
    pub(crate) seconds: f64,
}

/// Times one call, given as what does it once.
fn call<T>(
    kernel: &str,
    seconds: f64,
    doing: &'static str,
    mut once: impl FnMut() -> rustix::io::Result<T>,
) -> Outcome {
    let timing = timed(checked(seconds)?, |count| {
        for _ in 0..count {
            std::hint::black_box(once().doing(doing)?);
        }
        Ok(())
    })?;
    Ok(timing.report(kernel, 1))
}

/// `getpid`: into the kernel and back.
pub(crate) fn getpid(json: &str) -> Outcome {
    let Timed { seconds } = parameters(json)?;
    call("getpid", seconds, "asking for the process id", || {
        Ok(rustix::process::getpid())
    })
}

/// A byte read from `/dev/zero`.
pub(crate) fn read(json: &str) -> Outcome {
    let Timed { seconds } = parameters(json)?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(c"/dev/zero", flags, Mode::empty()).doing("opening /dev/zero")?;
    let mut byte = [0_u8; 1];
    call("read", seconds, "reading a byte", || {
        rustix::io::read(&file, &mut byte).map(|_| ())
    })
}

/// A byte written to `/dev/null`.
pub(crate) fn write(json: &str) -> Outcome {
    let Timed { seconds } = parameters(json)?;
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(c"/dev/null", flags, Mode::empty()).doing("opening /dev/null")?;
    call("write", seconds, "writing a byte", || {
        rustix::io::write(&file, &[0])
    })
}

/// `stat` of `/dev/null`: a path of two steps.
pub(crate) fn stat(json: &str) -> Outcome {
    let Timed { seconds } = parameters(json)?;
    call("stat", seconds, "asking for a file's state", || {
        rustix::fs::stat(c"/dev/null")
    })
}

/// `open` and `close` of `/dev/null`.
pub(crate) fn open_close(json: &str) -> Outcome {
    let Timed { seconds } = parameters(json)?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let once = || rustix::fs::open(c"/dev/null", flags, Mode::empty()).map(drop);
    call("open-close", seconds, "opening a file", once)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Selected {
    seconds: f64,
    /// Descriptors asked at once.
    #[serde(default = "hundred")]
    descriptors: usize,
}

fn hundred() -> usize {
    100
}

/// `select` over many ends of pipes, none of them ready, without waiting.
pub(crate) fn select(json: &str) -> Outcome {
    let Selected {
        seconds,
        descriptors,
    } = parameters(json)?;
    if !(1..=900).contains(&descriptors) {
        let why = format!("descriptors is {descriptors}; select takes 1 to 900 of them");
        return Err(Fault::Wrong(why));
    }
    let (end, _other) = rustix::pipe::pipe().doing("making a pipe")?;
    let ends: Vec<_> = (0..descriptors)
        .map(|_| rustix::io::dup(&end))
        .collect::<Result<_, _>>()
        .doing("opening descriptors")?;
    let watched = Watched::new(ends.iter().map(AsRawFd::as_raw_fd))
        .ok_or_else(|| Fault::Wrong("too many files are open here for select".to_owned()))?;
    let timing = timed(checked(seconds)?, |count| {
        for _ in 0..count {
            std::hint::black_box(watched.ready().doing("asking descriptors")?);
        }
        Ok(())
    })?;
    let mut found = timing.report("select", 1);
    found["descriptors"] = Value::from(descriptors);
    Ok(found)
}
