//! Contents of preconditioned drives in a folder, shared by the processes of a user.
//!
//! A file is a zstd frame with its checksum: the build of the engine, the key (`contents`), both compared whole, and
//! the contents. Unreadable or foreign files are made again; contents that cannot be written are left out. A file
//! gets its name when it is complete, so processes may write and read at once. Folder and files are the user's alone;
//! nothing is read through a link, or from a folder in which others can write.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use rustix::fs::OFlags;
use rustix::process::geteuid;

use super::contents::MOST as MOST_CONTENTS;

/// Longest key that is read back.
const LONGEST_KEY: u64 = 1 << 24;
/// Mode of the folder, and rights of others in it.
const PRIVATE: u32 = 0o700;
const OTHERS: u32 = 0o077;
const OTHERS_WRITE: u32 = 0o022;
/// Random entries of maps do not get smaller at higher levels.
const LEVEL: i32 = 1;

/// Bytes that this process added to folders.
static ADDED: AtomicU64 = AtomicU64::new(0);
/// The engine's file that was read last, and its digest.
static BUILD: Mutex<Option<(PathBuf, u64)>> = Mutex::new(None);

/// A folder with contents of drives.
#[derive(Clone, Debug)]
pub struct ContentsCache {
    /// The folder, which is made when something is stored.
    pub folder: PathBuf,
    /// The file that the engine was loaded from: another build stores other contents.
    pub engine: PathBuf,
    /// Size limit of the folder in bytes. One process adds at most half of it, so that a search over many machines does
    /// not evict all that other commands stored.
    pub most: u64,
}

impl ContentsCache {
    /// Contents that a run of this key and build left.
    pub fn find(&self, key: &str) -> Option<Vec<u8>> {
        let key = self.key_of_build(key)?;
        let mut file = self.open(&key).ok()?;
        let contents = read(&mut file, &key).ok()?;
        // Used last: it makes room last. A folder that is only read from is as good.
        let _ = file.set_modified(SystemTime::now());
        Some(contents)
    }

    /// Stores contents for other processes, as far as that is possible; the least recently used ones make room.
    pub fn keep(&self, key: &str, contents: &[u8]) {
        if ADDED.load(Ordering::Relaxed) < self.most / 2
            && contents.len() <= MOST_CONTENTS
            && let Some(key) = self.key_of_build(key)
            && let Ok(added) = self.write(&key, contents)
        {
            ADDED.fetch_add(added, Ordering::Relaxed);
            let _ = make_room(&self.folder, self.most);
        }
    }

    fn write(&self, key: &str, contents: &[u8]) -> io::Result<u64> {
        fs::DirBuilder::new().recursive(true).mode(PRIVATE).create(&self.folder)?;
        self.expect_private()?;
        let mut packed = zstd::Encoder::new(tempfile::NamedTempFile::new_in(&self.folder)?, LEVEL)?;
        packed.include_checksum(true)?;
        packed.write_all(&(key.len() as u64).to_le_bytes())?;
        packed.write_all(key.as_bytes())?;
        packed.write_all(contents)?;
        let file = packed.finish()?;
        let bytes = file.as_file().metadata()?.len();
        if bytes > self.most / 2 {
            // It would make room by removing most of the others.
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        file.persist(self.path(key))?;
        Ok(bytes)
    }

    fn open(&self, key: &str) -> io::Result<File> {
        self.expect_private()?;
        let not_waiting = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = File::options().read(true).custom_flags(not_waiting.bits() as i32).open(self.path(key))?;
        let about = file.metadata()?;
        if about.is_file() && about.uid() == geteuid().as_raw() { Ok(file) } else { Err(foreign()) }
    }

    /// Checks that other users cannot write to the folder, and removes their right to read it.
    fn expect_private(&self) -> io::Result<()> {
        let about = fs::symlink_metadata(&self.folder)?;
        if !about.is_dir() || about.uid() != geteuid().as_raw() || about.mode() & OTHERS_WRITE != 0 {
            return Err(foreign());
        }
        if about.mode() & OTHERS != 0 {
            // As good where the file system has no modes, or can only be read.
            let _ = fs::set_permissions(&self.folder, fs::Permissions::from_mode(PRIVATE));
        }
        Ok(())
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{:016x}.zst", digest(key.as_bytes())))
    }

    /// `key` and the build of the engine; none if its file cannot be read.
    fn key_of_build(&self, key: &str) -> Option<String> {
        let mut known = BUILD.lock().unwrap_or_else(PoisonError::into_inner);
        let build = match &*known {
            Some((file, build)) if *file == self.engine => *build,
            _ => digest(&fs::read(&self.engine).ok()?),
        };
        *known = Some((self.engine.clone(), build));
        Some(format!("{build:016x}\n{key}"))
    }
}

/// Error for a file or folder that this user's engine did not write.
fn foreign() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

/// The contents in a file, which must have this key.
fn read(file: &mut File, key: &str) -> io::Result<Vec<u8>> {
    let mut packed = zstd::Decoder::new(file)?;
    let mut length = [0; 8];
    packed.read_exact(&mut length)?;
    if u64::from_le_bytes(length) != key.len() as u64 || key.len() as u64 > LONGEST_KEY {
        return Err(foreign());
    }
    let mut stored = vec![0; key.len()];
    packed.read_exact(&mut stored)?;
    if stored != key.as_bytes() {
        return Err(foreign());
    }
    let mut contents = Vec::new();
    // The end is read, too, where the checksum is.
    packed.take(MOST_CONTENTS as u64 + 1).read_to_end(&mut contents)?;
    if contents.len() > MOST_CONTENTS {
        return Err(foreign());
    }
    Ok(contents)
}

fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// Removes files that were not used for longest, until those of a folder have at most `most` bytes.
fn make_room(folder: &Path, most: u64) -> io::Result<()> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Another process may have removed it meanwhile.
        if let Ok(about) = entry.metadata()
            && about.is_file()
        {
            files.push((about.modified()?, about.len(), entry.path()));
        }
    }
    files.sort_unstable();
    let mut held: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
    for (_, bytes, path) in files {
        if held <= most {
            break;
        }
        let _ = fs::remove_file(path);
        held -= bytes;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(folder: &Path) -> ContentsCache {
        let engine = folder.join("engine");
        fs::write(&engine, "this build").expect("a folder of the test");
        ContentsCache { folder: folder.join("drives"), engine, most: 1 << 30 }
    }

    fn only_file(cache: &ContentsCache) -> PathBuf {
        let files: Vec<_> = fs::read_dir(&cache.folder).expect("it was made").collect();
        assert_eq!(files.len(), 1, "no part of a file is left");
        files[0].as_ref().expect("it can be read").path()
    }

    #[test]
    fn contents_come_back_by_key_and_by_the_build_of_the_engine() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = cache(folder.path());
        assert_eq!(cache.find("key"), None, "the folder is not there yet");
        cache.keep("key", b"contents");
        assert_eq!(cache.find("key").as_deref(), Some(&b"contents"[..]));
        assert_eq!(cache.find("another key"), None);
        let other = folder.path().join("other");
        fs::write(&other, "another build").expect("a folder of the test");
        assert_eq!(ContentsCache { engine: other, ..cache.clone() }.find("key"), None);
        assert_eq!(ContentsCache { engine: "/no/engine".into(), ..cache }.find("key"), None);
    }

    #[test]
    fn contents_of_more_than_half_of_the_folder_are_not_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = ContentsCache { most: 1000, ..cache(folder.path()) };
        let contents: Vec<u8> = (0..2000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        cache.keep("small", b"contents");
        cache.keep("large", &contents);
        assert_eq!((cache.find("small").is_some(), cache.find("large")), (true, None));
        only_file(&cache);
    }

    #[test]
    fn a_file_under_the_name_of_another_key_is_no_hit() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = cache(folder.path());
        cache.keep("key", b"contents");
        let key = cache.key_of_build("an equally long digest").expect("its file can be read");
        fs::rename(only_file(&cache), cache.path(&key)).expect("the same folder");
        assert_eq!(cache.find("an equally long digest"), None);
    }

    #[test]
    fn each_damaged_byte_and_each_cut_is_noticed_and_the_file_is_made_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = cache(folder.path());
        let contents: Vec<u8> = (0..500_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        cache.keep("key", &contents);
        let path = only_file(&cache);
        let whole = fs::read(&path).expect("it was written");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            fs::write(&path, &damaged).expect("a folder of the test");
            assert!(cache.find("key").is_none_or(|found| found == contents), "byte {at}");
            fs::write(&path, &whole[..at]).expect("a folder of the test");
            assert_eq!(cache.find("key"), None, "cut at {at}");
        }
        cache.keep("key", &contents);
        assert_eq!(cache.find("key"), Some(contents));
    }

    #[test]
    fn folder_and_files_are_the_users_alone_and_links_are_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = cache(folder.path());
        cache.keep("key", b"contents");
        let mode = |path: &Path| fs::symlink_metadata(path).expect("it is there").mode() & 0o777;
        let path = only_file(&cache);
        assert_eq!((mode(&cache.folder), mode(&path)), (0o700, 0o600));
        let permit = |mode| fs::set_permissions(&cache.folder, fs::Permissions::from_mode(mode)).expect("its owner");
        permit(0o755);
        assert!(cache.find("key").is_some() && mode(&cache.folder) == 0o700, "made by an earlier version");
        permit(0o770);
        assert_eq!(cache.find("key"), None, "others can write there");
        cache.keep("another", b"contents");
        permit(0o700);
        only_file(&cache);
        let elsewhere = folder.path().join("elsewhere");
        fs::rename(&path, &elsewhere).expect("the same folder");
        std::os::unix::fs::symlink(&elsewhere, &path).expect("a folder of the test");
        assert_eq!(cache.find("key"), None, "a link in the place of the file");
        fs::rename(&elsewhere, &path).expect("the same folder");
        fs::rename(&cache.folder, folder.path().join("moved")).expect("the same folder");
        std::os::unix::fs::symlink(folder.path().join("moved"), &cache.folder).expect("a folder of the test");
        assert_eq!(cache.find("key"), None, "a link in the place of the folder");
    }

    #[test]
    fn a_folder_that_cannot_be_made_stores_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = ContentsCache { folder: folder.path().join("engine").join("drives"), ..cache(folder.path()) };
        cache.keep("key", b"contents");
        assert_eq!(cache.find("key"), None);
    }

    #[test]
    fn files_that_were_not_used_for_longest_make_room() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |seconds| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        for (name, used) in [("a", 3), ("b", 1), ("c", 2)] {
            let path = folder.path().join(name);
            fs::write(&path, [0; 40]).expect("a folder of the test");
            File::options().write(true).open(&path).and_then(|file| file.set_modified(at(used))).expect("its own file");
        }
        make_room(folder.path(), 100).expect("a folder of the test");
        let left = |name| folder.path().join(name).exists();
        assert!(left("a") && !left("b") && left("c"));
    }

    #[test]
    fn processes_that_store_the_same_at_once_leave_it_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = cache(folder.path());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        cache.keep("key", &vec![7; 100_000]);
                        assert_eq!(cache.find("key").expect("a whole file lies there").len(), 100_000);
                    }
                });
            }
        });
        only_file(&cache);
    }
}
