//! The system calls that no safe library offers: fork, exec, signal handlers, select, rusage.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::io;
use std::os::fd::RawFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal, WaitOptions};

/// Context switches of this process so far.
#[derive(Clone, Copy)]
pub(crate) struct Switches {
    pub(crate) voluntary: u64,
    pub(crate) involuntary: u64,
}

/// Context switches of this process so far, all its threads.
pub(crate) fn switches() -> Switches {
    // SAFETY: the structure holds integers only, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid, exclusively borrowed structure of the type that is filled in; the
    // call fails only for another first argument.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    Switches {
        voluntary: usage.ru_nvcsw.unsigned_abs(),
        involuntary: usage.ru_nivcsw.unsigned_abs(),
    }
}

/// A forked process; killed and reaped when dropped before `wait`.
pub(crate) struct Child {
    pid: Pid,
    waited: bool,
}

/// Forks a child that does `work` and exits with the code that it returns.
///
/// `work` must be arithmetic and system calls only: no allocation and no lock, which another
/// thread of the parent might have held when it was forked. The child dies with its parent.
pub(crate) fn fork(work: impl FnOnce() -> i32) -> io::Result<Child> {
    let parent = rustix::process::getpid();
    // SAFETY: the child runs `work`, which as required above touches no lock of the parent's, and
    // ends by `_exit` below, so that it returns into no code of the parent's.
    match unsafe { libc::fork() } {
        0 => {
            let code = catch_unwind(AssertUnwindSafe(
                || {
                    if die_with(parent) {
                        work()
                    } else {
                        1
                    }
                },
            ));
            leave(code.unwrap_or(101))
        }
        pid => match Pid::from_raw(pid) {
            Some(pid) if pid.as_raw_nonzero().get() > 0 => Ok(Child { pid, waited: false }),
            _ => Err(io::Error::last_os_error()),
        },
    }
}

/// Asks to be killed when the parent ends; false if it has ended before.
fn die_with(parent: Pid) -> bool {
    let asked = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    asked.is_ok() && rustix::process::getppid() == Some(parent)
}

/// Ends this process at once, running no handler of the parent's it was forked from.
fn leave(code: i32) -> ! {
    // SAFETY: has no precondition; nothing runs after it.
    unsafe { libc::_exit(code) }
}

/// Becomes the program at `path`, without arguments; returns only if that fails, as 127.
pub(crate) fn exec(path: &CStr) -> i32 {
    let arguments = [path.as_ptr(), std::ptr::null()];
    // SAFETY: `path` and each argument end with a zero byte, the list with a null pointer, and all
    // of them outlive the call.
    unsafe { libc::execv(path.as_ptr(), arguments.as_ptr()) };
    127
}

impl Child {
    /// Waits for its end; an error unless it exits with 0.
    pub(crate) fn wait(mut self) -> io::Result<()> {
        let status = rustix::io::retry_on_intr(|| {
            rustix::process::waitpid(Some(self.pid), WaitOptions::empty())
        })?;
        self.waited = true;
        match status.and_then(|(_, status)| status.exit_status()) {
            Some(0) => Ok(()),
            code => Err(io::Error::other(format!(
                "a child process ended with {code:?}"
            ))),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.waited {
            let _ = rustix::process::kill_process(self.pid, Signal::KILL);
            let _ = rustix::process::waitpid(Some(self.pid), WaitOptions::empty());
        }
    }
}

/// `struct sched_attr` in its first size (sched_setattr(2)).
#[repr(C)]
#[derive(Default)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

const ATTRIBUTES_SIZE: u32 = size_of::<Attributes>() as u32;

/// Asks for a nice value and a slice [ns] for this thread, which stays in the ordinary class; a
/// slice of 0 is the base slice.
pub(crate) fn set_scheduling(nice: i32, slice_ns: u64) -> io::Result<()> {
    let wanted = Attributes {
        size: ATTRIBUTES_SIZE,
        nice,
        runtime: slice_ns,
        ..Attributes::default()
    };
    // SAFETY: `wanted` is a valid structure of the size that it names, and is only read.
    match unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const wanted, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The slice of this thread [ns], as kernels tell it that give threads slices of their own; 0 by
/// others.
pub(crate) fn slice() -> io::Result<u64> {
    let mut found = Attributes::default();
    let into = &raw mut found;
    // SAFETY: `found` is valid, exclusively borrowed, and of the size that is named; all its fields
    // are integers, for which whatever the kernel writes is a value.
    match unsafe { libc::syscall(libc::SYS_sched_getattr, 0, into, ATTRIBUTES_SIZE, 0) } {
        0 => Ok(found.runtime),
        _ => Err(io::Error::last_os_error()),
    }
}

static CAUGHT: AtomicU64 = AtomicU64::new(0);

extern "C" fn count(_signal: libc::c_int) {
    CAUGHT.fetch_add(1, Ordering::Relaxed);
}

/// How many signals the handler of `install` has met.
pub(crate) fn caught() -> u64 {
    CAUGHT.load(Ordering::Relaxed)
}

/// Installs a handler that counts `SIGUSR1`.
pub(crate) fn install() -> io::Result<()> {
    // SAFETY: the structure holds integers and addresses, for which all zeros is a value: no flags,
    // an empty mask, the default handler.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = count as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: `action` is initialised, and its handler does nothing but an atomic addition, which a
    // signal may interrupt anywhere.
    match unsafe { libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Which of the descriptors are ready to be read, without waiting; each is below `FD_SETSIZE`.
pub(crate) struct Watched {
    set: libc::fd_set,
    highest: RawFd,
}

impl Watched {
    /// A set of descriptors; none if one is out of the range that `select` takes.
    pub(crate) fn new(descriptors: impl IntoIterator<Item = RawFd>) -> Option<Self> {
        // SAFETY: the structure is an array of integers, for which all zeros is a value.
        let set = unsafe { std::mem::zeroed() };
        let mut watched = Self { set, highest: -1 };
        for descriptor in descriptors {
            if !(0..libc::FD_SETSIZE as RawFd).contains(&descriptor) {
                return None;
            }
            // SAFETY: the descriptor lies within the array, as was checked.
            unsafe { libc::FD_SET(descriptor, &mut watched.set) };
            watched.highest = watched.highest.max(descriptor);
        }
        Some(watched)
    }

    /// How many are ready now.
    pub(crate) fn ready(&self) -> io::Result<i32> {
        let mut set = self.set;
        let mut at_once = libc::timeval {
            tv_sec: 0,
            tv_usec: 0,
        };
        let none = std::ptr::null_mut();
        // SAFETY: `set` and `at_once` are valid and exclusively borrowed for the call, and the
        // descriptors named lie within the set.
        match unsafe { libc::select(self.highest + 1, &mut set, none, none, &mut at_once) } {
            -1 => Err(io::Error::last_os_error()),
            count => Ok(count),
        }
    }
}
