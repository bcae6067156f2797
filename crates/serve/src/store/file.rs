//! Bytes in sparse files, which outlive the server.
//!
//! FILE is a raw image of the one address space of a machine; of several each has its own, FILE.NAME by its first
//! volume. Next to it FILE.hotband.json says whose it is, and over a base image FILE.bitmap which blocks show it no
//! more. A write that was completed is in the page cache of the host: it outlives the server however that ends, but not
//! a host without power, which is not what a served machine is about.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

use super::contract::{Extent, Place, Store};
use super::image::Image;
use super::overlay::Overlay;
use super::sidecar::{BaseTold, FileTold, Sidecar};
use crate::holders::{self, naming};
use crate::model::VolumeTold;

/// Sparse files.
#[derive(Debug)]
pub struct File {
    images: Vec<Image>,
    /// File of the base image, which stays locked against writers.
    _base: Option<fs::File>,
}

impl File {
    /// Opens or makes what keeps the `volumes` of `machine` in `path`, over the raw image `base`.
    ///
    /// # Errors
    /// It belongs to another machine, another server has it, or what the file system says.
    pub fn open(path: &Path, machine: &str, volumes: &[VolumeTold], base: Option<&Path>) -> io::Result<Self> {
        let files = FileTold::of(path, volumes);
        if base.is_some() && files.len() > 1 {
            let what = format!("{}: a base image is one volume, and the machine has several", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let (base, base_told) = base.map(open_base).transpose()?.unzip();
        let sidecar = Sidecar { format: 1, machine: machine.to_owned(), files, base: base_told };
        let is_old = sidecar.check(path)?;
        let opened =
            sidecar.files.iter().map(|image| open_image(&path.with_file_name(&image.file), image.size, is_old));
        let opened = opened.collect::<io::Result<Vec<fs::File>>>()?;
        let mut overlay = None;
        if let (Some(base), Some(image)) = (&base, &sidecar.base) {
            let bitmap = Sidecar::beside(path, "bitmap");
            if is_old && !bitmap.exists() {
                return Err(missing(&bitmap, path));
            }
            overlay = Some(Overlay::open(base.try_clone()?, image.size, &bitmap, sidecar.files[0].size)?);
        }
        if !is_old {
            sidecar.write(path)?;
        }
        let images = opened.into_iter().zip(&sidecar.files);
        let images = images.map(|(file, image)| Image::new(file, image.size, overlay.take())).collect();
        Ok(Self { images, _base: base })
    }

    fn image(&self, address: Place) -> &Image {
        &self.images[address.space as usize]
    }
}

fn missing(path: &Path, image: &Path) -> io::Error {
    let sidecar = Sidecar::beside(image, "hotband.json");
    let what = format!("{} is missing, although {} lists it", path.display(), sidecar.display());
    io::Error::new(io::ErrorKind::NotFound, what)
}

/// Takes a file against others: for one server, or for all that only read.
fn lock(file: &fs::File, path: &Path, operation: FlockOperation) -> io::Result<()> {
    match rustix::fs::flock(file, operation) {
        Err(rustix::io::Errno::WOULDBLOCK) => {
            let by_somebody = || {
                let what = format!("{} is in use: another server has it", path.display());
                io::Error::new(io::ErrorKind::ResourceBusy, what)
            };
            let path = path.canonicalize()?;
            Err(holders::busy(&path).unwrap_or_else(by_somebody))
        }
        outcome => outcome.map_err(|error| naming(path, &error.into())),
    }
}

/// A base image, and its recorded state: it must not change.
fn open_base(path: &Path) -> io::Result<(fs::File, BaseTold)> {
    let file = fs::File::open(path).map_err(|error| naming(path, &error))?;
    lock(&file, path, FlockOperation::NonBlockingLockShared)?;
    let metadata = file.metadata()?;
    let modified_ns = metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec();
    let path: PathBuf = path.canonicalize()?;
    Ok((file, BaseTold { file: path, size: metadata.len(), modified_ns }))
}

/// A sparse file of `size` bytes: one that is there, also a raw image from elsewhere, or a new one.
fn open_image(path: &Path, size: u64, is_old: bool) -> io::Result<fs::File> {
    let file = OpenOptions::new().read(true).write(true).create(!is_old).truncate(false).open(path);
    let file = file.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if is_old => missing(path, path),
        _ => naming(path, &error),
    })?;
    lock(&file, path, FlockOperation::NonBlockingLockExclusive)?;
    match file.metadata()?.len() {
        0 if !is_old => file.set_len(size).map_err(|error| naming(path, &error))?,
        have if have != size => {
            let what = format!("{} has {have} bytes, and the volume {size}", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        _ => {}
    }
    Ok(file)
}

impl Store for File {
    fn read(&self, address: Place, buffer: &mut [u8]) -> io::Result<()> {
        self.image(address).read(address.offset, buffer)
    }

    fn write(&self, address: Place, data: &[u8]) -> io::Result<u64> {
        self.image(address).write(address.offset, data).map(|()| 0)
    }

    fn zero(&self, address: Place, len: u64) -> io::Result<u64> {
        self.image(address).zero(address.offset, len).map(|()| 0)
    }

    fn extents(&self, address: Place, len: u64) -> io::Result<Vec<Extent>> {
        self.image(address).extents(address.offset, len)
    }
}
