//! Does a walk meet everything once, in order and in constant memory?

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use hotband_entropy::{Found, Limits, Walk};
use tempfile::TempDir;

fn tree() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn paths(walk: &mut Walk, root: &Path) -> Vec<String> {
    let files = walk.by_ref().filter_map(|found| match found {
        Found::File(file) => Some(file.path),
        _ => None,
    });
    files.map(|path| path.strip_prefix(root).unwrap().to_string_lossy().into_owned()).collect()
}

/// Folders in folders, more names than the limits of the tests hold.
fn many(root: &Path) -> Vec<String> {
    let mut expected = Vec::new();
    for outer in 0..20 {
        for inner in 0..20 {
            let folder = root.join(format!("outer-{outer:02}/inner-{inner:02}"));
            fs::create_dir_all(&folder).unwrap();
            for file in 0..20 {
                fs::write(folder.join(format!("file-{file:02}")), b"x").unwrap();
                expected.push(format!("outer-{outer:02}/inner-{inner:02}/file-{file:02}"));
            }
        }
    }
    expected
}

#[test]
fn files_come_in_the_order_of_names() {
    let tree = tree();
    for name in ["b", "a/z", "a.c", "a/y/x", "é", "B"] {
        let path = tree.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"x").unwrap();
    }
    let mut walk = Walk::new(vec![tree.path().to_owned()], false, Limits::default());
    assert_eq!(paths(&mut walk, tree.path()), ["B", "a/y/x", "a/z", "a.c", "b", "é"]);
}

#[test]
fn what_it_holds_is_limited_and_nothing_is_lost_by_it() {
    let tree = tree();
    let expected = many(tree.path());
    // A name of seven bytes costs 47: five of twenty fit into a scan, not even three scans into all.
    let limits = Limits { scan: 250, names: 600, links: 8 };
    let mut walk = Walk::new(vec![tree.path().to_owned()], false, limits);
    assert_eq!(paths(&mut walk, tree.path()), expected);
    assert!(walk.most_held() <= limits.names, "{}", walk.most_held());
    let mut free = Walk::new(vec![tree.path().to_owned()], false, Limits::default());
    assert_eq!(paths(&mut free, tree.path()), expected);
    assert!(free.most_held() > limits.names, "the limits would not matter: {}", free.most_held());
}

#[test]
fn names_of_one_file_count_once() {
    let tree = tree();
    fs::write(tree.path().join("a"), b"x").unwrap();
    for name in ["b", "c"] {
        fs::hard_link(tree.path().join("a"), tree.path().join(name)).unwrap();
    }
    let mut walk = Walk::new(vec![tree.path().to_owned()], false, Limits::default());
    assert!(matches!(walk.next(), Some(Found::File(_))));
    assert!(matches!(walk.next(), Some(Found::HardLink)));
    assert!(matches!(walk.next(), Some(Found::HardLink)));
    assert!(walk.next().is_none());
    assert_eq!(walk.links_forgotten(), 0);
}

#[test]
fn names_beyond_what_is_remembered_are_counted_as_such() {
    let tree = tree();
    for (name, other) in [("a", "y"), ("b", "z")] {
        fs::write(tree.path().join(name), b"x").unwrap();
        fs::hard_link(tree.path().join(name), tree.path().join(other)).unwrap();
    }
    let limits = Limits { links: 1, ..Limits::default() };
    let mut walk = Walk::new(vec![tree.path().to_owned()], false, limits);
    // b is forgotten, so z is a file again; y is not.
    assert_eq!(paths(&mut walk, tree.path()), ["a", "b", "z"]);
    assert!(walk.links_forgotten() > 0);
}

#[test]
fn links_are_not_followed_and_special_files_not_opened() {
    let tree = tree();
    fs::create_dir(tree.path().join("folder")).unwrap();
    symlink("..", tree.path().join("folder/up")).unwrap();
    symlink("nowhere", tree.path().join("dangling")).unwrap();
    let _listener = UnixListener::bind(tree.path().join("socket")).unwrap();
    let kinds: Vec<_> = Walk::new(vec![tree.path().to_owned()], false, Limits::default()).collect();
    assert!(matches!(kinds[..], [Found::SymbolicLink, Found::SymbolicLink, Found::Special]), "{kinds:?}");
}

#[test]
fn a_folder_that_vanished_is_counted() {
    let tree = tree();
    let gone = tree.path().join("gone");
    fs::create_dir(&gone).unwrap();
    fs::write(tree.path().join("a"), b"x").unwrap();
    let mut walk = Walk::new(vec![tree.path().to_owned()], false, Limits::default());
    assert!(matches!(walk.next(), Some(Found::File(_))));
    fs::remove_dir(&gone).unwrap();
    let found = walk.next();
    assert!(matches!(&found, Some(Found::Unreadable(path, _)) if *path == gone), "{found:?}");
    assert!(walk.next().is_none());
}

#[cfg(target_os = "linux")]
#[test]
fn the_kernels_file_systems_are_left_out() {
    let mounted = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let expected = usize::from(mounted.lines().any(|line| line.split(' ').nth(4) == Some("/dev/pts")));
    let mounts = |one_file_system| {
        let walk = Walk::new(vec!["/dev".into()], one_file_system, Limits::default());
        walk.filter(|found| matches!(found, Found::Mount)).count()
    };
    assert!(mounts(false) >= expected);
    assert!(mounts(true) >= mounts(false));
    let inside = Walk::new(vec!["/dev/pts".into()], false, Limits::default());
    assert!(inside.count() >= expected, "a path that is named is gone into");
}
