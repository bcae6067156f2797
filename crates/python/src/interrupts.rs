//! Interrupts (SIGINT) that native code cannot be late for.
//!
//! Python runs its handler of a signal between two of its own instructions: while a library draws or a file is read, a
//! first interrupt waits, and a second one changes nothing. Long work of ours looks at signals ([`look`]); for all
//! other code, a thread of its own ends the process at the second one.

use std::io::{IsTerminal, Read, Write};
use std::thread;

use hotband_machine::Stopped;
use pyo3::prelude::*;
use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;
use signal_hook::low_level::exit;

/// Exit code after SIGINT: 128 plus the number of the signal.
const INTERRUPTED: i32 = 130;
/// Bytes between two checks for signals.
const LOOK_EVERY: usize = 1 << 20;

/// Runs Python's signal handlers, so that an interrupt stops the work that the main thread waits for. Has no effect on
/// other threads.
pub fn look() -> Result<(), Stopped> {
    let check = |py: Python<'_>| py.check_signals();
    Python::attach(check).map_err(|_| Stopped)
}

/// From now on a second SIGINT ends the process at once with exit code 130, whatever it does; the first goes to Python.
#[pyfunction]
pub fn end_on_second_interrupt() -> PyResult<()> {
    let mut signals = Signals::new([SIGINT])?;
    let wait = move || {
        if signals.forever().nth(1).is_some() {
            let mut stderr = std::io::stderr();
            // A progress bar has hidden the cursor.
            let show = if stderr.is_terminal() { "\x1b[?25h\n" } else { "" };
            // Nobody reads it, perhaps; the process ends all the same.
            let _ = writeln!(stderr, "{show}hotband: interrupted again; ended at once");
            exit(INTERRUPTED);
        }
    };
    thread::Builder::new().name("interrupts".to_owned()).spawn(wait)?;
    Ok(())
}

/// A file that is not read on after an interrupt.
pub struct Watched<R> {
    inner: R,
    read: usize,
}

impl<R> Watched<R> {
    pub fn new(inner: R) -> Self {
        Self { inner, read: 0 }
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = self.inner.read(buffer)?;
        self.read += size;
        if self.read >= LOOK_EVERY {
            self.read = 0;
            look().map_err(std::io::Error::other)?;
        }
        Ok(size)
    }
}
