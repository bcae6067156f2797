//! Requests that have to be refused, and what their errors have to say.
#![allow(dead_code, missing_docs, reason = "every test file uses a part of this")]

use hotband_engine::{Request, Run, RunError};

use crate::common::{catalog, closed, random_4k, request, workload};

pub const DRIVE: &str = "exos-15e900-512n";
pub const TWO: &str = "[drives.d]\nproduct = \"savvio-10k1\"\ncount = 2\n";
pub const SIX: &str = "[drives.d]\nproduct = \"savvio-10k1\"\ncount = 6\n";

pub fn good() -> String {
    workload(&random_4k(100), &closed(1), "", "ios = 1")
}

/// The error of a request, which must be one line.
#[track_caller]
pub fn refused(request: Request) -> String {
    let what = format!("{} {:?} {:?}", request.machine, request.machine_text, request.workload_text);
    match Run::new(&catalog(), request) {
        Ok(_) => panic!("accepted: {what}"),
        Err(RunError::Spec(error)) => {
            let text = error.to_string();
            assert!(!text.contains('\n') && !text.is_empty(), "one line: {text}");
            assert!(!error.file.is_empty() && !error.accepted.is_empty(), "{error:?}");
            text
        }
        Err(other) => panic!("not the user's mistake: {other}"),
    }
}

#[track_caller]
pub fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "\"{part}\" is missing in: {text}");
    }
}

#[track_caller]
pub fn machine_is_refused(machine: &str, parts: &[&str]) {
    says(&refused(request(machine, &good(), &[])), parts);
}

#[track_caller]
pub fn workload_is_refused(text: &str, parts: &[&str]) {
    let refused = refused(request(DRIVE, text, &[]));
    says(&refused, parts);
    says(&refused, &["workload.toml"]);
}

/// A workload with one line of the stream replaced or added.
#[track_caller]
pub fn stream_is_refused(line: &str, parts: &[&str]) {
    let key = line.split('=').next().expect("a line has a key").trim();
    let stream: Vec<String> = random_4k(100).lines().filter(|have| !have.starts_with(key)).map(str::to_owned).collect();
    workload_is_refused(&workload(&format!("{}\n{line}", stream.join("\n")), &closed(1), "", "ios = 1"), parts);
}

#[track_caller]
pub fn set_is_refused(machine: &str, key: &str, value: &str, parts: &[&str]) {
    says(&refused(request(machine, &good(), &[(key, value)])), parts);
    says(&refused(request(machine, &good(), &[(key, value)])), &["set"]);
}
