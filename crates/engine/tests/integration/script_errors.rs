//! Does every mistake in scripts, files and networks get one line that names file, key, value and what is accepted?

use crate::common::refused::{DRIVE, good, refused, says, workload_is_refused};
use crate::common::{catalog, request};
use hotband_engine::Run;

/// A script of two steps over a stream, and a script that reads files.
const SCRIPTS: &str = "
[network]
rate = \"10 Gb/s\"
efficiency = \"94 %\"
carries = [\"pages\"]
[[streams]]
name = \"disk\"
read_pct = 100
random_pct = 100
size = \"4 KiB\"
per_client = \"10 GB\"
[[streams]]
name = \"files\"
read_pct = 100
size = \"64 KiB\"
files = { count = 100, smallest = \"15 KB\", largest = \"4 MB\", mean = \"1.67 MB\", hot = \"18 %\", hot_requests = \"80 %\", layout = \"mixed\" }
[[scripts]]
name = \"boot\"
clients = 60
repeat = false
[[scripts.steps]]
name = \"loader\"
stream = \"disk\"
ios = 9
[[scripts.steps]]
name = \"logon\"
streams = [\"disk\"]
ios = [2, 4]
cpu = \"1 ms\"
after = [\"loader\"]
[[scripts.steps]]
name = \"lazy\"
stream = \"disk\"
ios = 1
detached = true
[[scripts]]
name = \"pages\"
clients = 20
repeat = true
[[scripts.steps]]
name = \"page\"
stream = \"files\"
files = 1
[[phases]]
duration = \"1 s\"
measure = true
clients = 5
until_done = true
";

/// The scripts with one text replaced.
#[track_caller]
fn script_is_refused(from: &str, to: &str, parts: &[&str]) {
    assert!(SCRIPTS.contains(from), "{from}");
    workload_is_refused(&SCRIPTS.replacen(from, to, 1), parts);
}

#[test]
fn scripts_that_cannot_run_are_refused() {
    assert!(Run::new(&catalog(), request(DRIVE, SCRIPTS, &[])).is_ok());
    for (from, to, parts) in [
        (
            "stream = \"disk\"\nios = 9",
            "stream = \"disk\"\nios = 9\nafter = [\"logon\"]",
            ["loader -> logon -> loader", "a cycle"],
        ),
        ("after = [\"loader\"]", "after = [\"logon\"]", ["logon -> logon", "scripts[0].steps[1].after"]),
        ("after = [\"loader\"]", "after = [\"loder\"]", ["scripts[0].steps[1].after", "did you mean \"loader\""]),
        ("after = [\"loader\"]", "after = \"loader\"", ["scripts[0].steps[1].after", "expected names"]),
        ("after = [\"loader\"]", "after = [\"loader\", \"loader\"]", ["scripts[0].steps[1].after", "named twice"]),
        ("name = \"logon\"", "name = \"loader\"", ["scripts[0].steps[1].name", "two steps"]),
        ("name = \"logon\"", "", ["scripts[0].steps[1].name", "missing"]),
        ("repeat = true", "repeat = true\nrate = 5", ["scripts[1].arrival", "missing: fixed or poisson"]),
        ("repeat = true", "repeat = true\narrival = \"fixed\"", ["scripts[1].arrival", "only a script with a rate"]),
        ("repeat = true", "repeat = true\nrate = 0\narrival = \"fixed\"", ["scripts[1].rate", "0.001"]),
        (
            "repeat = true",
            "repeat = true\nrate = 5\narrival = \"fixed\"\nthink = \"0 s\"",
            ["scripts[1].think", "runs begin as they arrive"],
        ),
        (
            "repeat = false",
            "repeat = false\nrate = 5\narrival = \"fixed\"",
            ["scripts[0].rate", "runs once has no rate"],
        ),
        ("name = \"pages\"\nclients", "name = \"boot\"\nclients", ["scripts[1].name", "two scripts"]),
        ("clients = 60", "clients = 0", ["scripts[0].clients", "from 1 to"]),
        ("clients = 60", "", ["scripts[0].clients", "missing"]),
        ("repeat = false", "", ["scripts[0].repeat", "missing"]),
        ("repeat = false", "repeat = false\nthink = \"1 s\"", ["scripts[0].think", "runs once"]),
        ("streams = [\"disk\"]", "", ["scripts[0].steps[1].stream", "disk, files"]),
        ("streams = [\"disk\"]", "streams = []", ["scripts[0].steps[1].stream", "disk, files"]),
        ("streams = [\"disk\"]", "streams = [\"disc\"]", ["scripts[0].steps[1].streams", "did you mean \"disk\""]),
        ("ios = 9", "", ["scripts[0].steps[0].ios", "files = N"]),
        ("ios = 9", "ios = 0", ["scripts[0].steps[0].ios", "from 1 to"]),
        ("ios = [2, 4]", "ios = [4, 2]", ["scripts[0].steps[1].ios", "[20, 40]"]),
        ("ios = 9", "files = 9", ["scripts[0].steps[0].files", "\"disk\" has no files"]),
        ("files = 1\n", "ios = 1\n", ["scripts[1].steps[0].ios", "\"files\" is a stream of files"]),
        ("cpu = \"1 ms\"", "cpu = \"1 ms\"\ncpu_exponential = \"1 ms\"", ["scripts[0].steps[1].cpu", "either"]),
        ("cpu = \"1 ms\"", "cpu = 1", ["scripts[0].steps[1].cpu", "a time with its unit"]),
        ("detached = true", "detached = true\ndepth = 4", ["scripts[0].steps[2].depth", "detached_limit"]),
        ("ios = 9", "ios = 9\ndetached_limit = 4", ["scripts[0].steps[0].detached_limit", "detached = true"]),
        ("ios = 9", "ios = 9\ndepht = 4", ["scripts[0].steps[0].depht", "did you mean \"depth\""]),
        ("clients = 20", "client = 20\nclients = 20", ["scripts[1].client", "did you mean \"clients\""]),
    ] {
        script_is_refused(from, to, &parts);
    }
    let first = SCRIPTS.replacen("detached = true", "detached = true\nafter = []", 1);
    let first = first.replacen("after = [\"loader\"]", "after = [\"lazy\"]", 1);
    workload_is_refused(&first, &["scripts[0].steps[1].after", "\"lazy\"", "detached = true"]);
    let lazy = "[[scripts]]\nname = \"l\"\nclients = 1\nrepeat = true\n[[scripts.steps]]\nname = \"a\"\nstream = \"disk\"\nios = 1\ndetached = true\n";
    script_is_refused("[[phases]]", &format!("{lazy}[[phases]]"), &["scripts[2].steps", "every step is detached"]);
    let empty = "[[scripts]]\nname = \"l\"\nclients = 1\nrepeat = true\n";
    script_is_refused("[[phases]]", &format!("{empty}[[phases]]"), &["scripts[2].steps", "1 to 256"]);
}

#[test]
fn streams_files_and_networks_that_scripts_cannot_use_are_refused() {
    let load = "per_client = \"10 GB\"\nload = { closed = { threads = 1 } }";
    for (from, to, parts) in [
        ("per_client = \"10 GB\"", load, ["streams[0].load", "has no load of its own"]),
        ("per_client = \"10 GB\"", "per_client = \"20 GB\"", ["60 clients with 20000000000 B each", "target of 900"]),
        (
            "per_client = \"10 GB\"",
            "per_client = \"4 KiB\"\nrange = [\"0 %\", \"50 %\"]",
            ["streams[0].range", "ends where it begins"],
        ),
        ("count = 100", "count = 10", ["streams[1].files.count", "more users than files: 20 clients, 10 files"]),
        ("count = 100", "count = 1000000", ["streams[1].files", "do not fit into the 900"]),
        ("mean = \"1.67 MB\"", "mean = \"5 MB\"", ["streams[1].files.mean", "4 MB"]),
        ("mean = \"1.67 MB\"", "mean = \"4 MB\"", ["streams[1].files.mean", "4 MB"]),
        ("smallest = \"15 KB\"", "smallest = \"5 MB\"", ["streams[1].files.smallest", "4 MB"]),
        ("hot = \"18 %\"", "hot = \"100 %\"", ["streams[1].files.hot", "below 100 %"]),
        ("hot = \"18 %\", ", "", ["streams[1].files.hot", "neither"]),
        (", layout = \"mixed\"", "", ["streams[1].files.layout", "hot-first"]),
        ("layout = \"mixed\"", "layout = \"mixt\"", ["streams[1].files.layout", "did you mean \"mixed\""]),
        ("size = \"64 KiB\"", "size = \"64 KiB\"\nrandom_pct = 100", ["streams[1].random_pct", "front to back"]),
        ("read_pct = 100\nsize", "read_pct = 50\nsize", ["streams[1].read_pct", "100"]),
        ("[[scripts]]", "[load]\nclosed = { threads = 1 }\n[[scripts]]", ["load", "no stream uses it"]),
        ("rate = \"10 Gb/s\"", "rate = \"0 Gb/s\"", ["network.rate", "below 1 B/s"]),
        ("rate = \"10 Gb/s\"", "rate = 10", ["network.rate", "Gb/s"]),
        ("efficiency = \"94 %\"", "", ["network.efficiency", "missing"]),
        ("carries = [\"pages\"]", "carries = [\"page\"]", ["network.carries", "did you mean \"pages\""]),
        ("carries = [\"pages\"]", "", ["network.carries", "missing"]),
        ("clients = 5", "clients = 21", ["phases[0].clients", "\"pages\" has 20 clients"]),
        ("clients = 5", "scripts = [\"boot\"]\nclients = 5", ["phases[0].clients", "no repeating script"]),
        ("clients = 5", "scripts = [\"boots\"]", ["phases[0].scripts", "did you mean \"boot\""]),
        ("clients = 5", "scripts = [\"pages\"]", ["phases[0].until_done", "runs once"]),
        ("duration = \"1 s\"", "ios = 5", ["phases[0].until_done", "duration"]),
    ] {
        script_is_refused(from, to, &parts);
    }
    let unused = "[[streams]]\nname = \"x\"\nread_pct = 100\nrandom_pct = 100\nsize = \"4 KiB\"\n";
    script_is_refused("[[scripts]]", &format!("{unused}[[scripts]]"), &["streams[2].load", "missing"]);
    let alone = format!("{unused}per_client = \"1 GB\"\nload = {{ closed = {{ threads = 1 }} }}\n[[scripts]]");
    script_is_refused("[[scripts]]", &alone, &["streams[2].per_client", "no script uses this stream"]);
    for (text, value, part) in [(good().as_str(), "4", "exactly one script"), (SCRIPTS, "4", "exactly one script")] {
        says(&refused(request(DRIVE, text, &[("clients", value)])), &["set", "clients", part]);
    }
    let boot = SCRIPTS.replace("clients = 5\n", "");
    let (boots, pages) = (boot.find("[[scripts]]\nname = \"pages\"").unwrap(), boot.find("[[phases]]").unwrap());
    let boot = format!("{}{}", &boot[..boots], &boot[pages..]);
    let (network, files) = (boot.find("[[streams]]").unwrap(), boot.find("[[streams]]\nname = \"files\"").unwrap());
    let boot = format!("{}{}", &boot[network..files], &boot[boot.find("[[scripts]]").unwrap()..]);
    assert!(Run::new(&catalog(), request(DRIVE, &boot, &[("clients", "90")])).is_ok());
    says(&refused(request(DRIVE, &boot, &[("clients", "91")])), &["91 clients with 10000000000 B each"]);
    says(&refused(request(DRIVE, &boot, &[("clients", "0")])), &["set", "clients", "from 1 to"]);
}
