//! The files, as the kernel requests them.

use std::cell::Cell;
use std::ffi::OsStr;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig,
    LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry,
    ReplyLseek, ReplyOpen, ReplyWrite, Request as Asking, TimeOrNow, WriteFlags,
};
use hotband_machine::Op;
use rustix::fs::{FallocateFlags, OFlags};

use super::slow::{self, Slow};
use crate::service::{Failure, Payload, Request, Service};

/// Requests of readers and writers that do not wait themselves, which the kernel hands on at once: more than any drive
/// queues but a NVMe one. The kernel's own limit is 12, and queues longer than that wait in front of it.
const BACKGROUND: u16 = 256;
/// Bytes of the longest read and write that the kernel sends by default (256 pages, fs/fuse: fuse_max_pages_limit).
const LONGEST: u32 = 1 << 20;
/// Time for which the kernel may cache names and sizes, which never change.
const REMEMBERED: Duration = Duration::from_secs(3600);
/// lseek(2).
const SEEK_DATA: i32 = 3;
const SEEK_HOLE: i32 = 4;

thread_local! {
    /// Whether this thread has its priority.
    static IS_PREPARED: Cell<bool> = const { Cell::new(false) };
}

/// Files of one folder, one a volume; volume 0 is inode 2.
pub struct Files {
    service: Arc<Service>,
    since: SystemTime,
    owner: (u32, u32),
    slow: Slow,
    /// Locks of the volumes: writers of whole blocks share one, a writer of part of a block holds it alone.
    writes: Vec<Arc<RwLock<()>>>,
}

impl Files {
    /// Serve the files of a service.
    pub fn new(service: Arc<Service>) -> io::Result<Self> {
        let owner = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        let slow = Slow::start(Arc::clone(&service))?;
        let writes = service.volumes().iter().map(|_| Arc::default()).collect();
        Ok(Self { service, since: SystemTime::now(), owner, slow, writes })
    }

    /// The volume of a file; none of the folder.
    fn volume(&self, file: INodeNo) -> Option<u16> {
        let index = file.0.checked_sub(2)?;
        (index < self.service.volumes().len() as u64).then_some(index as u16)
    }

    fn attributes(&self, file: INodeNo) -> Option<FileAttr> {
        let volume = self.volume(file).map(|index| &self.service.volumes()[usize::from(index)]);
        if volume.is_none() && file != INodeNo::ROOT {
            return None;
        }
        let size = volume.map_or(0, |volume| volume.size);
        Some(FileAttr {
            ino: file,
            size,
            blocks: size / 512,
            atime: self.since,
            mtime: self.since,
            ctime: self.since,
            crtime: self.since,
            kind: if volume.is_some() { FileType::RegularFile } else { FileType::Directory },
            perm: if volume.is_some() { 0o600 } else { 0o500 },
            nlink: if volume.is_some() { 1 } else { 2 },
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: volume.map_or(4096, |volume| volume.block),
            flags: 0,
        })
    }

    /// Return the length of a range within the volume.
    fn within(&self, volume: u16, offset: u64, len: u64) -> u64 {
        self.service.volumes()[usize::from(volume)].size.saturating_sub(offset).min(len)
    }

    fn block(&self, volume: u16) -> u64 {
        u64::from(self.service.volumes()[usize::from(volume)].block)
    }

    /// Threads of this kind are started elsewhere: the first request finds them without priority.
    fn prepare(&self) {
        if !IS_PREPARED.replace(true) {
            self.service.prepare_thread();
        }
    }
}

/// Return the error number of a failure.
fn errno(failure: &Failure) -> Errno {
    match failure {
        Failure::OutOfRange => Errno::EINVAL,
        Failure::Store(error) => {
            let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded, io::ErrorKind::FileTooLarge];
            if full.contains(&error.kind()) { Errno::ENOSPC } else { Errno::EIO }
        }
        Failure::Drive(_) | Failure::Gone => Errno::EIO,
    }
}

fn answer(outcome: Result<(), Failure>, reply: ReplyEmpty) {
    match outcome {
        Ok(()) => reply.ok(),
        Err(failure) => reply.error(errno(&failure)),
    }
}

impl Filesystem for Files {
    fn init(&mut self, _: &Asking, config: &mut KernelConfig) -> io::Result<()> {
        let wanted = InitFlags::FUSE_ASYNC_DIO;
        config.add_capabilities(wanted).map_err(|_| io::Error::other("this kernel has no FUSE_ASYNC_DIO"))?;
        let refused = |nearest| io::Error::other(format!("FUSE: at most {nearest}"));
        config.set_max_background(BACKGROUND).map_err(|nearest| refused(u32::from(nearest)))?;
        config.set_max_write(LONGEST).map_err(refused)?;
        Ok(())
    }

    fn lookup(&self, _: &Asking, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let volumes = self.service.volumes();
        let index = volumes.iter().position(|volume| parent == INodeNo::ROOT && OsStr::new(&volume.name) == name);
        match index.and_then(|index| self.attributes(INodeNo(index as u64 + 2))) {
            Some(attributes) => reply.entry(&REMEMBERED, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Asking, file: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(file) {
            Some(attributes) => reply.attr(&REMEMBERED, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    /// Times are taken and forgotten; nothing else changes.
    fn setattr(
        &self,
        _: &Asking,
        file: INodeNo,
        mode: Option<u32>,
        user: Option<u32>,
        group: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let Some(attributes) = self.attributes(file) else { return reply.error(Errno::ENOENT) };
        let resized = size.is_some_and(|size| size != attributes.size);
        if resized || mode.is_some() || user.is_some() || group.is_some() {
            return reply.error(Errno::EPERM);
        }
        reply.attr(&REMEMBERED, &attributes);
    }

    fn readdir(&self, _: &Asking, folder: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let entries = [".", ".."].map(|name| (INodeNo::ROOT, FileType::Directory, name));
        let volumes = self.service.volumes().iter().enumerate();
        let files = volumes.map(|(at, volume)| (INodeNo(at as u64 + 2), FileType::RegularFile, volume.name.as_str()));
        if folder != INodeNo::ROOT {
            return reply.error(Errno::ENOTDIR);
        }
        for (at, (file, kind, name)) in entries.into_iter().chain(files).enumerate().skip(offset as usize) {
            if reply.add(file, at as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn open(&self, _: &Asking, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES | FopenFlags::FOPEN_NOFLUSH;
        reply.opened(FileHandle(0), flags);
    }

    /// The bytes are read at once, while the drive takes its time: a write to them meanwhile is under way together with
    /// the read, which may therefore return old or new data.
    fn read(
        &self,
        _: &Asking,
        file: INodeNo,
        _: FileHandle,
        offset: u64,
        len: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.prepare();
        let arrived = self.service.now();
        let Some(volume) = self.volume(file) else { return reply.error(Errno::EISDIR) };
        let len = self.within(volume, offset, u64::from(len.min(LONGEST)));
        if len == 0 {
            return reply.data(&[]);
        }
        let (start, end) = slow::widened(offset, len, self.block(volume));
        let mut whole = vec![0; (end - start) as usize];
        if let Err(error) = self.service.read(volume, start, &mut whole) {
            return reply.error(errno(&Failure::Store(error)));
        }
        let request = Request { volume, op: Op::Read, offset: start, len: whole.len() as u32, fua: false, arrived };
        let wanted = (offset - start) as usize..(offset - start + len) as usize;
        let done = move |outcome| match outcome {
            Ok(()) => reply.data(&whole[wanted]),
            Err(failure) => reply.error(errno(&failure)),
        };
        self.service.submit(request, Payload::None, Box::new(done));
    }

    fn write(
        &self,
        _: &Asking,
        file: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        self.prepare();
        let arrived = self.service.now();
        let Some(volume) = self.volume(file) else { return reply.error(Errno::EISDIR) };
        let len = self.within(volume, offset, data.len() as u64);
        if len == 0 {
            return reply.error(Errno::ENOSPC);
        }
        let data = &data[..len as usize];
        // The kernel adds this flag for every write that is to be on the medium (fs/fuse/file.c: fuse_write_flags).
        let fua = OFlags::from_bits_retain(flags.0 as u32).contains(OFlags::DSYNC);
        let done = move |outcome| match outcome {
            Ok(()) => reply.written(len as u32),
            Err(failure) => reply.error(errno(&failure)),
        };
        let writes = &self.writes[usize::from(volume)];
        if slow::widened(offset, len, self.block(volume)) == (offset, offset + len) {
            let request = Request { volume, op: Op::Write, offset, len: len as u32, fua, arrived };
            let _beside = writes.read().unwrap_or_else(PoisonError::into_inner);
            return self.service.submit(request, Payload::Data(data), Box::new(done));
        }
        let (data, writes) = (data.to_vec(), Arc::clone(writes));
        self.slow.run(move |service| done(slow::write_part(service, (volume, offset), &data, fua, &writes)));
    }

    fn fsync(&self, _: &Asking, file: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let Some(volume) = self.volume(file) else { return reply.ok() };
        let arrived = self.service.now();
        let request = Request { volume, op: Op::Flush, offset: 0, len: 0, fua: false, arrived };
        self.service.submit(request, Payload::None, Box::new(move |outcome| answer(outcome, reply)));
    }

    /// A hole is a trim: a volume that does not pass on trims refuses it, and a loop device then reports no support.
    /// Zeros are written.
    fn fallocate(&self, _: &Asking, file: INodeNo, _: FileHandle, offset: u64, len: u64, mode: i32, reply: ReplyEmpty) {
        let Some(volume) = self.volume(file) else { return reply.error(Errno::EISDIR) };
        let modes = FallocateFlags::from_bits_retain(mode as u32) - FallocateFlags::KEEP_SIZE;
        let trims = self.service.volumes()[usize::from(volume)].trims;
        let trim = match modes {
            FallocateFlags::PUNCH_HOLE if trims => true,
            FallocateFlags::ZERO_RANGE => false,
            _ => return reply.error(Errno::EOPNOTSUPP),
        };
        let len = self.within(volume, offset, len);
        let writes = Arc::clone(&self.writes[usize::from(volume)]);
        self.slow.run(move |service| answer(slow::clear(service, (volume, offset, len), trim, &writes), reply));
    }

    fn lseek(&self, _: &Asking, file: INodeNo, _: FileHandle, offset: i64, whence: i32, reply: ReplyLseek) {
        let Some(volume) = self.volume(file) else { return reply.error(Errno::EISDIR) };
        let size = self.service.volumes()[usize::from(volume)].size;
        let hole = whence == SEEK_HOLE;
        let Some(offset) = u64::try_from(offset).ok().filter(|offset| *offset < size) else {
            return reply.error(Errno::ENXIO);
        };
        if !hole && whence != SEEK_DATA {
            return reply.error(Errno::EINVAL);
        }
        self.slow.run(move |service| match slow::seek(service, volume, offset, hole) {
            Ok(Some(at)) => reply.offset(at as i64),
            Ok(None) => reply.error(Errno::ENXIO),
            Err(error) => reply.error(errno(&Failure::Store(error))),
        });
    }

    fn statfs(&self, _: &Asking, _: INodeNo, reply: fuser::ReplyStatfs) {
        let bytes: u64 = self.service.volumes().iter().map(|volume| volume.size).sum();
        let files = self.service.volumes().len() as u64;
        reply.statfs(bytes / 512, 0, 0, files, 0, 512, 255, 512);
    }

    fn create(&self, _: &Asking, _: INodeNo, _: &OsStr, _: u32, _: u32, _: i32, reply: ReplyCreate) {
        reply.error(Errno::EPERM);
    }

    fn mknod(&self, _: &Asking, _: INodeNo, _: &OsStr, _: u32, _: u32, _: u32, reply: ReplyEntry) {
        reply.error(Errno::EPERM);
    }

    fn mkdir(&self, _: &Asking, _: INodeNo, _: &OsStr, _: u32, _: u32, reply: ReplyEntry) {
        reply.error(Errno::EPERM);
    }

    fn unlink(&self, _: &Asking, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        reply.error(Errno::EPERM);
    }

    fn rename(&self, _: &Asking, _: INodeNo, _: &OsStr, _: INodeNo, _: &OsStr, _: RenameFlags, reply: ReplyEmpty) {
        reply.error(Errno::EPERM);
    }
}
