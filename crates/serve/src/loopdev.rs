//! Loop devices: block devices of the kernel on a file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::holders::{self, naming};
use crate::model::VolumeTold;

/// Kernel names of the cache modes of a device: of one that receives flushes, and of one that needs none.
const SENDS_FLUSHES: &str = "write back";
const NEEDS_NONE: &str = "write through";

/// A loop device on a file.
#[derive(Debug)]
pub struct Loop {
    device: PathBuf,
    attached: bool,
    /// Kernel files with their previous contents, which outlive the loop device.
    before: Vec<(PathBuf, String)>,
}

/// Puts a loop device of `volume` on its `file`. It bypasses the page cache: I/Os of the device reach the file one for
/// one, flushes too. Programs read from it whether it rotates, and whether it needs flushes.
///
/// # Errors
/// What losetup says, or that the file has no direct I/O, or that its cache cannot be set.
pub fn attach(file: &Path, volume: &VolumeTold) -> io::Result<Loop> {
    let block = volume.block.to_string();
    let mut command = Command::new("losetup");
    command.args(["--direct-io=on", "--sector-size", &block, "--find", "--show"]).arg(file);
    let device = PathBuf::from(run(&mut command)?);
    let mut made = Loop { device, attached: true, before: Vec::new() };
    let is_direct = fs::read_to_string(made.sys().join("loop/dio")).is_ok_and(|text| text.trim_end() == "1");
    if !is_direct {
        return Err(io::Error::other(format!("{}: a loop device on it has no direct I/O", file.display())));
    }
    made.set_queue("write_cache", if volume.volatile { SENDS_FLUSHES } else { NEEDS_NONE })?;
    // A kernel may keep these: `differences` reports what was not set.
    let _ = made.set_queue("rotational", if volume.rotates { "1" } else { "0" });
    // Not its discards: Linux 6.18 takes no other value after a zero, for whoever has the device next either.
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

    fn queue(&self, name: &str) -> PathBuf {
        self.sys().join("queue").join(name)
    }

    /// Sets the kernel's attributes of the device, and checks them. An earlier user of the device may have set them,
    /// and the setting stays with the device (Documentation/ABI/stable/sysfs-block).
    fn set_queue(&mut self, name: &str, value: &str) -> io::Result<()> {
        let file = self.queue(name);
        let read = || fs::read_to_string(&file).map(|text| text.trim_end().to_owned());
        let before = read()?;
        if before == value {
            return Ok(());
        }
        fs::write(&file, value).map_err(|error| naming(&file, &error))?;
        if read()? != value {
            return Err(io::Error::other(format!("{}: expected {value}", file.display())));
        }
        self.before.push((file, before));
        Ok(())
    }

    /// Return what programs read from the device that is not so on the drives, in words: a loop device's physical block
    /// is its logical one (drivers/block/loop.c), and cannot be set.
    pub fn differences(&self, volume: &VolumeTold) -> Vec<String> {
        let mut drive = vec![
            ("rotational", u32::from(volume.rotates).to_string()),
            ("physical_block_size", volume.physical_block.to_string()),
        ];
        if !volume.trims {
            drive.push(("discard_max_bytes", "0".to_owned()));
        }
        let differs = |(name, expected): (&str, String)| {
            let text = fs::read_to_string(self.queue(name)).unwrap_or_default();
            let shown = text.trim_end();
            let device = self.device.display();
            (shown != expected).then(|| format!("{device} has {name} {shown}, the drive {expected}: it cannot be set"))
        };
        drive.into_iter().filter_map(differs).collect()
    }

    /// Takes the device off its file. If it is still in use, it stays, and this can be called again.
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
        for (file, before) in self.before.drain(..) {
            // What cannot be set back, the next server sets as it needs it.
            let _ = fs::write(file, before);
        }
        run(Command::new("losetup").arg("--detach").arg(&self.device)).map(|_| ())
    }
}

impl Drop for Loop {
    /// If the device is still in use, the kernel detaches it when the last user closes it.
    fn drop(&mut self) {
        if self.attached {
            let _ = self.force();
        }
    }
}
