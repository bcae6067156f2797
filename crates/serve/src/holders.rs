//! Holders of a file, a folder or a block device that is to be removed, and errors that name them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Most holders that are named: enough to find the others.
const NAMED: usize = 4;

/// An error with the path that it is about.
pub fn naming(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// The error where `path`, or a file below it, is still in use: by mounted file systems, loop devices, or programs with
/// open files. None if nobody is found, such as without the permission to look.
pub fn busy(path: &Path) -> Option<io::Error> {
    let mut holders = mounts_of(path);
    holders.extend(loops_of(path));
    holders.extend(programs_of(path));
    if holders.is_empty() {
        return None;
    }
    let more = holders.len().saturating_sub(NAMED);
    holders.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let what = format!("{} is in use: {}{more}", path.display(), holders.join(", "));
    Some(io::Error::new(io::ErrorKind::ResourceBusy, what))
}

/// Topmost mount on a folder.
pub fn mounted_as(folder: &Path) -> Option<String> {
    let table = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let of_folder = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let is_here = before.split(' ').nth(4).is_some_and(|point| Path::new(point) == folder);
        is_here.then(|| after.split(' ').next().unwrap_or_default().to_owned())
    };
    table.lines().filter_map(of_folder).next_back()
}

/// Mount points of a device, and mounts below a folder.
fn mounts_of(path: &Path) -> Vec<String> {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let of_line = |line: &str| {
        // proc_pid_mountinfo(5): the mount point is the fifth field, the source the second after the dash.
        let (before, after) = line.split_once(" - ")?;
        let point = before.split(' ').nth(4)?;
        let source = after.split(' ').nth(1)?;
        let is_below = Path::new(point).starts_with(path) && Path::new(point) != path;
        (is_below || Path::new(source) == path).then(|| format!("mounted at {point}"))
    };
    table.lines().filter_map(of_line).collect()
}

/// Loop devices whose file is `path` or below it.
fn loops_of(path: &Path) -> Vec<String> {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let of_device = |device: fs::DirEntry| {
        let file = fs::read_to_string(device.path().join("loop/backing_file")).ok()?;
        let name = device.file_name();
        Path::new(file.trim_end()).starts_with(path).then(|| format!("/dev/{}", name.to_string_lossy()))
    };
    devices.filter_map(of_device).collect()
}

/// Programs with an open file, this one among them.
fn programs_of(path: &Path) -> Vec<String> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let of_process = |process: fs::DirEntry| {
        let id = process.file_name().to_string_lossy().into_owned();
        if !id.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let links = fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten().map(|link| link.path());
        let targets = links.chain([process.path().join("cwd")]).filter_map(|link| fs::read_link(link).ok());
        targets.into_iter().any(|target: PathBuf| target.starts_with(path)).then(|| {
            let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            format!("{} (process {id})", name.trim_end())
        })
    };
    processes.filter_map(of_process).collect()
}
