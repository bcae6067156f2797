//! Contents of preconditioned drives, shared by the runs of a process.
//!
//! A key contains all that preconditioning reads: the state that untimed writes read, how often which volume is filled
//! with which data, and the streams that write. It is text and compared whole: two runs share contents only if
//! preconditioning would write the same.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use hotband_machine::{Carrier, Machine};
use hotband_workloads::Stream;

/// Most bytes stored for later runs: eight machines at the scale that `in_use` tries first, or one at the largest size
/// that it accepts (`in_use::LARGEST`).
pub const MOST: usize = 640 << 20;
/// Bytes of contents of each page that a drive holds: its entry in the map and that in the log of its block, and a part
/// for what lies beyond the capacity.
const PAGE_BYTES: (u64, u64) = (4096, 10);

/// Contents of the drives of a machine after preconditioning, and the streams as it left them.
pub struct Contents {
    drives: Vec<u8>,
    streams: Vec<(usize, Stream)>,
}

impl Contents {
    /// Contents of drives as bytes, with the streams that wrote.
    pub fn new(drives: Vec<u8>, streams: &[Stream], wrote: impl Iterator<Item = usize>) -> Self {
        Self { drives, streams: wrote.map(|index| (index, streams[index].clone())).collect() }
    }

    /// Gives them to a machine and to streams of the same key.
    pub fn give_to(&self, machine: &mut Machine, streams: &mut [Stream]) {
        machine.carry_contents(&mut Carrier::In(&self.drives));
        for (index, stream) in &self.streams {
            streams[*index] = stream.clone();
        }
    }
}

/// Contents of the drives of a machine, as bytes.
pub fn of_drives(machine: &mut Machine) -> Vec<u8> {
    let mut drives = Vec::new();
    machine.carry_contents(&mut Carrier::Out(&mut drives));
    drives
}

/// Whether contents of this machine are small enough to store.
pub fn is_small(machine: &Machine) -> bool {
    are_small(held(machine))
}

/// Bytes that are stored of this machine after preconditioning; zero if that is too much.
pub fn stored(machine: &Machine) -> u64 {
    let held = held(machine);
    if are_small(held) { bytes(held) } else { 0 }
}

/// Whether contents of drives that hold `held` bytes in total are small enough to store.
pub const fn are_small(held: u64) -> bool {
    bytes(held) <= MOST as u64
}

/// Bytes of the contents of drives that hold `held`.
const fn bytes(held: u64) -> u64 {
    let (page, bytes) = PAGE_BYTES;
    held / page * bytes
}

fn held(machine: &Machine) -> u64 {
    machine.drives().iter().map(|view| view.drive.capacity().0).sum()
}

/// Contents by key, the ones used last at the end.
struct Shelf {
    most: usize,
    contents: Vec<(String, Arc<Contents>)>,
}

impl Shelf {
    fn take(&mut self, key: &str) -> Option<Arc<Contents>> {
        let at = self.contents.iter().position(|(have, _)| have == key)?;
        let hit = self.contents.remove(at);
        let contents = Arc::clone(&hit.1);
        self.contents.push(hit);
        Some(contents)
    }

    fn put(&mut self, key: String, contents: Contents) {
        let bytes = |entry: &(String, Arc<Contents>)| entry.0.len() + entry.1.drives.len();
        let entry = (key, Arc::new(contents));
        // Another run may have made them meanwhile.
        if bytes(&entry) > self.most || self.take(&entry.0).is_some() {
            return;
        }
        self.contents.push(entry);
        let mut held: usize = self.contents.iter().map(bytes).sum();
        while held > self.most {
            held -= bytes(&self.contents.remove(0));
        }
    }
}

static SHELF: Mutex<Shelf> = Mutex::new(Shelf { most: MOST, contents: Vec::new() });

/// Contents that a run of this key left.
pub fn find(key: &str) -> Option<Arc<Contents>> {
    SHELF.lock().unwrap_or_else(PoisonError::into_inner).take(key)
}

/// Stores contents for runs of this key; the least recently used ones make room.
pub fn keep(key: String, contents: Contents) {
    SHELF.lock().unwrap_or_else(PoisonError::into_inner).put(key, contents);
}

/// Appends a value to a key.
pub fn append(key: &mut String, value: &dyn std::fmt::Debug) {
    writeln!(key, "{value:?}").expect("memory takes every text");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::catalog::Catalog;
    use crate::request::Request;
    use crate::run::Run;

    #[test]
    fn memory_of_a_run_includes_the_contents_that_it_stores() {
        let memory = |workload: &str| {
            let catalog = Catalog::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hotband/data/catalog"));
            let request = Request {
                machine: "7450-pro-3840".to_owned(),
                workload: "w.toml".to_owned(),
                workload_text: Some(workload.to_owned()),
                set: vec![("scale".to_owned(), "512".to_owned())],
                ..Request::default()
            };
            Run::new(&catalog, request).unwrap().memory().0
        };
        let new = WORKLOAD.replace("[precondition]\nsequential = 1.0\nworkload = 0.5\n", "");
        // Four bytes a page in the log of its block, and ten of the contents.
        let pages = 3_840_755_982_336 / 512 / 4096;
        assert!(memory(WORKLOAD) - memory(&new) >= 14 * pages, "{} {}", memory(WORKLOAD), memory(&new));
    }

    const MACHINE: &str = "[drives.d]\nproduct = \"7450-pro-3840\"\ncount = 4\n[layouts.data]\n\
        raid5 = { members = \"d*\", chunk = \"64 KiB\" }\n[volumes.v]\non = \"data\"\nfrom = \"0 B\"\n";
    const WORKLOAD: &str = "[load]\nclosed = { threads = 1, depth = 4 }\n[precondition]\nsequential = 1.0\nworkload = 0.5\n\
        [[streams]]\nread_pct = 60\nrandom_pct = 100\nsize = \"8 KiB\"\n[[phases]]\nios = 9\nmeasure = true\n";

    fn key(machine: &str, workload: &str, set: &[(&str, &str)], seed: u64) -> String {
        let catalog = Catalog::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hotband/data/catalog"));
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let set = [("scale", "512")].iter().filter(|(key, _)| set.iter().all(|(have, _)| have != key)).chain(set);
        let request = Request {
            machine: "m.toml".to_owned(),
            machine_text: Some(machine.to_owned()),
            workload: "w.toml".to_owned(),
            workload_text: Some(workload.to_owned()),
            set: set.map(owned).collect(),
            seed,
            ..Request::default()
        };
        let run = Run::new(&catalog, request).unwrap_or_else(|error| panic!("{machine}\n{workload}: {error}"));
        run.contents_key().expect("contents of these drives can be carried")
    }

    #[test]
    fn whatever_preconditioning_reads_is_in_the_key_and_what_it_does_not_read_is_not() {
        let changed = |machine: (&str, &str), workload: (&str, &str), set: &[(&str, &str)], seed| {
            key(&MACHINE.replace(machine.0, machine.1), &WORKLOAD.replace(workload.0, workload.1), set, seed)
        };
        let same = ("", "");
        let base = changed(same, same, &[], 1);
        for workload in [("depth = 4", "depth = 9"), ("ios = 9", "ios = 99")] {
            assert_eq!(changed(same, workload, &[], 1), base, "{workload:?}");
        }
        for set in [("read_time", "70 us"), ("queue_tags", "64")] {
            assert_eq!(changed(same, same, &[set], 1), base, "{set:?}");
        }
        let mut others = vec![base, changed(same, same, &[], 2)];
        for machine in [
            ("7450-pro-3840", "s4500-960"),
            ("count = 4", "count = 5"),
            ("raid5", "raid6"),
            ("64 KiB", "128 KiB"),
            ("d*\"", "d*\", size = \"1 GB\""),
            ("from = \"0 B\"", "from = \"1 MiB\""),
        ] {
            others.push(changed(machine, same, &[], 1));
        }
        for workload in [
            ("sequential = 1.0", "sequential = 2.0"),
            ("workload = 0.5", "workload = 0.6"),
            ("workload = 0.5", "workload = 0.5\nrandom = 0.1"),
            ("8 KiB", "16 KiB"),
            ("read_pct = 60", "read_pct = 61"),
            ("random_pct = 100", "random_pct = 90\nrandom_mode = \"coin\""),
            ("size =", "range = [\"0 %\", \"50 %\"]\nsize ="),
            ("size =", "data = 0.5\nsize ="),
            ("threads = 1", "threads = 2"),
            ("sequential = 1.0\nworkload = 0.5", "sequential = 1.0\nworkload = 0.5\ndata = 0.5"),
            ("sequential = 1.0\nworkload = 0.5", "state = \"preconditioned\""),
        ] {
            others.push(changed(same, workload, &[], 1));
        }
        for set in [
            ("scale", "400"),
            ("over_provisioning", "20 %"),
            ("write_buffer", "1 GiB"),
            ("gc_free_low", "5"),
            ("gc_victims", "cost-benefit"),
            ("wear_gap", "77"),
            ("compression", "on"),
            ("rated_cycles", "77"),
        ] {
            others.push(changed(same, same, &[set], 1));
        }
        let count = others.len();
        others.sort_unstable();
        others.dedup();
        assert_eq!(others.len(), count, "each change alone is another key");
    }

    #[test]
    fn contents_of_a_sequential_fill_do_not_depend_on_the_seed() {
        let text = WORKLOAD.replace("workload = 0.5\n", "");
        assert_eq!(key(MACHINE, &text, &[], 1), key(MACHINE, &text, &[], 2));
    }

    #[test]
    fn contents_that_were_not_used_for_longest_make_room() {
        let contents = || Contents { drives: vec![0; 40], streams: Vec::new() };
        let mut shelf = Shelf { most: 100, contents: Vec::new() };
        for key in ["a", "b"] {
            shelf.put(key.to_owned(), contents());
        }
        assert!(shelf.take("a").is_some());
        shelf.put("c".to_owned(), contents());
        assert!(shelf.take("b").is_none() && shelf.take("a").is_some() && shelf.take("c").is_some());
        shelf.put("large".to_owned(), Contents { drives: vec![0; 200], streams: Vec::new() });
        assert_eq!(shelf.contents.len(), 2, "what is too large is not kept");
    }
}
