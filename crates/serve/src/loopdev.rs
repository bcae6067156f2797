//! Loop devices: block devices of the kernel on a file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::holders::{self, naming};

/// Kernel name of the cache mode of a device that receives flushes.
const SENDS_FLUSHES: &str = "write back";

/// A loop device on a file.
#[derive(Debug)]
pub struct Loop {
    device: PathBuf,
    attached: bool,
}

/// Puts a loop device with blocks of `block` bytes on `file`. It bypasses the page cache: I/Os of the device reach the
/// file one for one, flushes too.
///
/// # Errors
/// What losetup says, or that the file has no direct I/O, or that no flushes would be sent to it.
pub fn attach(file: &Path, block: u32) -> io::Result<Loop> {
    let block = block.to_string();
    let mut command = Command::new("losetup");
    command.args(["--direct-io=on", "--sector-size", &block, "--find", "--show"]).arg(file);
    let device = PathBuf::from(run(&mut command)?);
    let made = Loop { device, attached: true };
    let is_direct = fs::read_to_string(made.sys().join("loop/dio")).is_ok_and(|text| text.trim_end() == "1");
    if !is_direct {
        return Err(io::Error::other(format!("{}: a loop device on it has no direct I/O", file.display())));
    }
    made.send_flushes()?;
    Ok(made)
}

/// Run a command; return its output or its error.
fn run(command: &mut Command) -> io::Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(stderr.lines().next().unwrap_or("losetup failed").to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

impl Loop {
    /// The device, such as /dev/loop0.
    pub fn device(&self) -> &Path {
        &self.device
    }

    fn sys(&self) -> PathBuf {
        Path::new("/sys/block").join(self.device.file_name().unwrap_or_default())
    }

    /// Sees to it that the kernel sends flushes. Whoever had the device before may have told it not to, and that stays
    /// with the device (Documentation/ABI/stable/sysfs-block: `write_cache`).
    fn send_flushes(&self) -> io::Result<()> {
        let cache = self.sys().join("queue/write_cache");
        let is_sending = || fs::read_to_string(&cache).is_ok_and(|text| text.trim_end() == SENDS_FLUSHES);
        if is_sending() {
            return Ok(());
        }
        fs::write(&cache, SENDS_FLUSHES).map_err(|error| naming(&cache, &error))?;
        if is_sending() { Ok(()) } else { Err(io::Error::other(format!("{}: no flushes", cache.display()))) }
    }

    /// Takes the device off its file. Where somebody still uses it, it stays, and this can be called again.
    ///
    /// # Errors
    /// Who uses it, or what losetup says.
    pub fn detach(&mut self) -> io::Result<()> {
        if !self.attached {
            return Ok(());
        }
        // losetup says nothing of a device in use: it only goes once nobody uses it any more.
        match holders::busy(&self.device) {
            Some(busy) => Err(busy),
            None => self.force(),
        }
    }

    fn force(&mut self) -> io::Result<()> {
        self.attached = false;
        run(Command::new("losetup").arg("--detach").arg(&self.device)).map(|_| ())
    }
}

impl Drop for Loop {
    /// Where somebody still uses the device, the kernel takes it off as soon as nobody does.
    fn drop(&mut self) {
        if self.attached {
            let _ = self.force();
        }
    }
}
