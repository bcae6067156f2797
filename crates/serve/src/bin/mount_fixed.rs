//! Serves a drive on which every I/O takes the same time as a file and a loop device on it: what the server costs, and
//! tests. `mount_fixed FOLDER MIB MICROSECONDS [FILE]` keeps the bytes in memory or in FILE, prints the file and the
//! device, and goes when its input ends.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use hotband_serve::{File, Fixed, Memory, Model, Options, Service, Store, fuse, loopdev};
use hotband_units::Span;

fn main() -> io::Result<()> {
    let usage = || io::Error::new(io::ErrorKind::InvalidInput, "expected: FOLDER MIB MICROSECONDS [FILE]");
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or_else(usage)?);
    let mut number = || arguments.next().and_then(|text| text.parse::<u64>().ok()).ok_or_else(usage);
    let (size, latency) = (number()? << 20, Span(number()? * 1000));
    let model = Box::new(Fixed::new(size, latency));
    let store: Box<dyn Store> = match arguments.next() {
        Some(file) => Box::new(File::open(Path::new(&file), "fixed", &model.volumes(), None)?),
        None => Box::new(Memory::default()),
    };
    let service = Service::start(model, store, Options::default())?;
    let mut mounted = fuse::mount(std::sync::Arc::clone(&service), &folder)?;
    let mut device = loopdev::attach(&mounted.files()[0], &service.volumes()[0])?;
    println!("{} {}", mounted.files()[0].display(), device.device().display());
    io::stdout().flush()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    device.detach()?;
    mounted.unmount()
}
