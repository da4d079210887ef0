//! What signals cost: to install a handler, and to send oneself a signal and have it handled.

use rustix::process::Signal;

use crate::batches::{checked, timed};
use crate::calls::Timed;
use crate::fault::{parameters, Doing, Fault, Outcome};
use crate::system;

/// A handler installed, the same one each time.
pub(crate) fn install(json: &str) -> Outcome {
    let Timed { seconds } = parameters(json)?;
    let timing = timed(checked(seconds)?, |count| {
        for _ in 0..count {
            system::install().doing("installing a signal handler")?;
        }
        Ok(())
    })?;
    Ok(timing.report("signal-install", 1))
}

/// A signal sent to this process and handled by it.
pub(crate) fn catch(json: &str) -> Outcome {
    let Timed { seconds } = parameters(json)?;
    system::install().doing("installing a signal handler")?;
    let this = rustix::process::getpid();
    let before = system::caught();
    let timing = timed(checked(seconds)?, |count| {
        for _ in 0..count {
            rustix::process::kill_process(this, Signal::USR1).doing("sending a signal")?;
        }
        Ok(())
    })?;
    let caught = system::caught() - before;
    if caught < timing.operations {
        let why = format!(
            "{caught} of {} signals were met: another thread runs here, or signals \
             merge",
            timing.operations
        );
        return Err(Fault::Wrong(why));
    }
    Ok(timing.report("signal-catch", 1))
}
