//! The program `simulate`: what it is given wrongly is a message and exit code 2, never a panic.
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::process::{Command, Output};

fn simulate<S: AsRef<OsStr>>(args: &[S]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_simulate")).args(args).output().expect("cargo has built it")
}

#[test]
fn help_is_printed() {
    for args in [&["--help"][..], &["-h"], &["ent-10k", "--help"]] {
        let output = simulate(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(output.stdout.starts_with(b"usage: simulate MACHINE WORKLOAD-FILE"));
    }
}

#[test]
fn mistakes_are_said_with_exit_code_2() {
    let not_text = OsString::from_vec(vec![0xff]);
    let cases = [
        (vec![], "usage: "),
        (vec!["ent-10k".into()], "usage: "),
        (vec!["nosuch".into(), "fio-randread".into()], "nosuch"),
        (vec!["ent-10k".into(), "nosuch".into()], "nosuch"),
        (vec!["ent-10k".into(), "fio-randread".into(), "qd".into()], "qd: expected KEY=VALUE"),
        (vec!["ent-10k".into(), "fio-randread".into(), "qd=x".into()], "qd"),
        (vec![not_text, "fio-randread".into()], "expected UTF-8"),
    ];
    for (args, said) in cases {
        let output = simulate(&args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
        assert!(error.contains(said) && !error.contains("panicked"), "{args:?}: {error}");
        assert!(output.stdout.is_empty());
    }
}
