//! A folder with one file per volume, served by FUSE. The kernel puts a loop device on such a file where a
//! program wants a block device.
//!
//! Files bypass the page cache, so that every read and write reaches the drive, and many are under way at once. Parts
//! of blocks, which the drive cannot address, are made of whole blocks here: a loop device never requests such.

mod files;
mod slow;

use std::ffi::CString;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fuser::{BackgroundSession, Config, Session, SessionACL};
use rustix::mount::{MountFlags, UnmountFlags};

use crate::holders::{self, naming};
use crate::model::VolumeTold;
use crate::service::Service;
use files::Files;

/// Threads that read requests: a second one continues while the first copies the data of a large one.
const THREADS: usize = 2;

/// Kernel name of this kind of file system.
const KIND: &str = "fuse.hotband";

/// A folder that is served.
#[derive(Debug)]
pub struct Mounted {
    folder: PathBuf,
    files: Vec<PathBuf>,
    session: Option<BackgroundSession>,
}

/// Serves the volumes of `service` as files of `folder`, which exists. Mounts left by a dead server are removed first.
///
/// # Errors
/// A volume whose name cannot be a file name, or the kernel's error: mounting needs the rights of an administrator.
pub fn mount(service: Arc<Service>, folder: &Path) -> io::Result<Mounted> {
    check_names(service.volumes())?;
    clear_dead(folder)?;
    let folder = folder.canonicalize().map_err(|error| naming(folder, &error))?;
    let device = OpenOptions::new().read(true).write(true).open("/dev/fuse");
    let device: OwnedFd = device.map_err(|error| naming(Path::new("/dev/fuse"), &error))?.into();
    let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    // A folder (octal 40000) whose permissions the kernel checks (Documentation/filesystems/fuse.rst).
    let options =
        format!("fd={},rootmode=40000,user_id={user},group_id={group},default_permissions", device.as_raw_fd());
    let options = CString::new(options).expect("no zero byte");
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOATIME;
    rustix::mount::mount("hotband", &folder, KIND, flags, options.as_c_str())
        .map_err(|error| naming(&folder, &error.into()))?;
    let files = service.volumes().iter().map(|volume| folder.join(&volume.name)).collect();
    let mut mounted = Mounted { folder, files, session: None };
    let mut config = Config::default();
    config.n_threads = Some(THREADS);
    let session = Session::from_fd(Files::new(service)?, device, SessionACL::Owner, config)?;
    mounted.session = Some(session.spawn()?);
    Ok(mounted)
}

/// A volume is a file of its name.
fn check_names(volumes: &[VolumeTold]) -> io::Result<()> {
    let is_no_file = |name: &str| name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']);
    match volumes.iter().find(|volume| is_no_file(&volume.name)) {
        Some(volume) => {
            let what = format!("volume {:?}: a file cannot have this name", volume.name);
            Err(io::Error::new(io::ErrorKind::InvalidInput, what))
        }
        None => Ok(()),
    }
}

/// Unmounts the mount of a server that has died, but not that of a running one.
fn clear_dead(folder: &Path) -> io::Result<()> {
    loop {
        // Asks the server: whether a folder is there the kernel may still remember of a dead one.
        match rustix::fs::statfs(folder) {
            Err(rustix::io::Errno::NOTCONN) => {
                rustix::mount::unmount(folder, UnmountFlags::DETACH).map_err(|error| naming(folder, &error.into()))?;
            }
            Err(error) => return Err(naming(folder, &error.into())),
            Ok(_) => break,
        }
    }
    let folder = folder.canonicalize().map_err(|error| naming(folder, &error))?;
    if holders::mounted_as(&folder).is_some_and(|kind| kind == KIND) {
        let what = format!("{}: another server serves this folder", folder.display());
        return Err(io::Error::new(io::ErrorKind::AddrInUse, what));
    }
    Ok(())
}

impl Mounted {
    /// The files, in the order of the volumes.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Unmounts the folder. If it is still in use, it stays, and this can be called again.
    ///
    /// # Errors
    /// Who uses it, or what the kernel says.
    pub fn unmount(&mut self) -> io::Result<()> {
        if self.session.is_none() {
            return Ok(());
        }
        match rustix::mount::unmount(&self.folder, UnmountFlags::empty()) {
            Err(rustix::io::Errno::BUSY) => {
                let by_nobody = || naming(&self.folder, &rustix::io::Errno::BUSY.into());
                return Err(holders::busy(&self.folder).unwrap_or_else(by_nobody));
            }
            // Not mounted any more: somebody else has done it.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(error) => return Err(naming(&self.folder, &error.into())),
        }
        self.end();
        Ok(())
    }

    /// Waits for the threads: the kernel has ended the connection.
    fn end(&mut self) {
        if let Some(session) = self.session.take() {
            // What a thread says in the end has no reader: everything was answered, or nobody asks.
            let _ = session.join();
        }
    }
}

impl Drop for Mounted {
    /// Programs that still use a file get errors from now on.
    fn drop(&mut self) {
        if self.unmount().is_err() {
            let _ = rustix::mount::unmount(&self.folder, UnmountFlags::FORCE | UnmountFlags::DETACH);
            self.end();
        }
    }
}
