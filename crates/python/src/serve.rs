//! A machine that is served, for Python.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hotband_serve::fuse::{Mounted, mount};
use hotband_serve::loopdev::{Loop, attach};
use hotband_serve::nbd::{self, Limits, Listen, TlsFiles};
use hotband_serve::{File, Memory, Model, Nothing, OfMachine, Options, Service, Store, WithHistory, speed};
use hotband_units::Span;
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;

use crate::run::{PyOutput, PyRun, run_error};
use crate::tables::tables;

/// Access of programs to the machine.
#[derive(Default)]
struct Fronts {
    nbd: Vec<nbd::Server>,
    loops: Vec<Loop>,
    mounted: Option<Mounted>,
}

/// A machine on the clock of the wall.
#[pyclass(name = "Server", frozen)]
pub struct PyServer {
    service: Arc<Service>,
    fronts: Mutex<Fronts>,
}

/// Storage of the bytes: a file, memory, or nothing; with earlier versions if power may go off.
fn kept(file: Option<&Path>, base: Option<&Path>, model: &OfMachine) -> PyResult<Box<dyn Store>> {
    let of_file = |error: io::Error| os_error(&error, file.unwrap_or(Path::new("store")));
    let store: Box<dyn Store> = match file {
        Some(path) if path == Path::new("none") => Box::new(Nothing::default()),
        Some(path) => Box::new(File::open(path, model.machine(), &model.volumes(), base).map_err(of_file)?),
        None => Box::new(Memory::default()),
    };
    if !model.may_be_cut() {
        return Ok(store);
    }
    let folder = file.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.map_or_else(std::env::temp_dir, Path::to_path_buf);
    Ok(Box::new(WithHistory::new(store, &folder).map_err(of_file)?))
}

/// Error of the host, with its file.
fn os_error(error: &io::Error, file: &Path) -> PyErr {
    let message = error.to_string();
    let message = message.split(" (os error").next().unwrap_or_default();
    let message = message.strip_prefix(&format!("{}: ", file.display())).unwrap_or(message);
    let code = error.raw_os_error().unwrap_or(match error.kind() {
        io::ErrorKind::PermissionDenied => EACCES,
        io::ErrorKind::NotFound => ENOENT,
        io::ErrorKind::AddrInUse | io::ErrorKind::ResourceBusy | io::ErrorKind::WouldBlock => EBUSY,
        _ => EINVAL,
    });
    PyOSError::new_err((code, message.to_owned(), file.to_path_buf()))
}

/// Numbers of errors, as in Linux (errno(3)).
const ENOENT: i32 = 2;
const EACCES: i32 = 13;
const EBUSY: i32 = 16;
const EINVAL: i32 = 22;

impl PyServer {
    fn fronts(&self) -> MutexGuard<'_, Fronts> {
        self.fronts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(&self, py: Python<'_>, listen: Listen, file: &Path, limits: Limits) -> PyResult<Option<u16>> {
        let served = py.detach(|| nbd::serve(Arc::clone(&self.service), listen, limits));
        let served = served.map_err(|error| os_error(&error, file))?;
        let port = served.address().map(|address| address.port());
        self.fronts().nbd.push(served);
        Ok(port)
    }

    fn named(&self, paths: impl Iterator<Item = PathBuf>) -> Vec<(String, PathBuf)> {
        self.service.volumes().iter().map(|volume| volume.name.clone()).zip(paths).collect()
    }
}

#[pymethods]
impl PyServer {
    /// Begins to serve the machine of `run`, whose load is `clients`; its time begins.
    #[new]
    #[pyo3(signature = (run, *, store=None, base=None, spin_ns, priority, awake, way_ns))]
    #[allow(
        clippy::needless_pass_by_value,
        clippy::too_many_arguments,
        reason = "keyword arguments of one Python call"
    )]
    fn new(
        py: Python<'_>,
        run: &PyRun,
        store: Option<PathBuf>,
        base: Option<PathBuf>,
        spin_ns: u64,
        priority: bool,
        awake: bool,
        way_ns: u64,
    ) -> PyResult<Self> {
        let made = run.take()?;
        let options = Options { spin: Span(spin_ns), priority, awake, way: Span(way_ns) };
        let start = || {
            let live = made.live(run.control()).map_err(run_error)?;
            let model = OfMachine::new(live);
            let store = kept(store.as_deref(), base.as_deref(), &model)?;
            let started = Service::start(Box::new(model), store, options);
            started.map_err(|error| os_error(&error, Path::new("the clock's thread")))
        };
        Ok(Self { service: py.detach(start)?, fronts: Mutex::default() })
    }

    /// NBD clients find every volume at this unix socket; with `skips_repeated_flushes` they are fio.
    #[pyo3(signature = (socket, *, skips_repeated_flushes=false))]
    #[allow(clippy::needless_pass_by_value, reason = "what Python hands over")]
    fn serve_nbd(&self, py: Python<'_>, socket: PathBuf, skips_repeated_flushes: bool) -> PyResult<()> {
        let limits = Limits { skips_repeated_flushes, ..Limits::default() };
        self.listen(py, Listen::Unix(socket.clone()), &socket, limits).map(|_| ())
    }

    /// NBD clients find every volume at this TCP address; the port that it has got. Without certificates it must be one
    /// of the host itself.
    #[pyo3(signature = (address, port, certificate=None, key=None, clients=None))]
    fn serve_nbd_tcp(
        &self,
        py: Python<'_>,
        address: std::net::IpAddr,
        port: u16,
        certificate: Option<PathBuf>,
        key: Option<PathBuf>,
        clients: Option<PathBuf>,
    ) -> PyResult<Option<u16>> {
        let tls = certificate.zip(key).map(|(certificate, key)| TlsFiles { certificate, key, clients });
        let addr = std::net::SocketAddr::new(address, port);
        self.listen(py, Listen::Tcp { addr, tls }, Path::new(&addr.to_string()), Limits::default())
    }

    /// Every volume is a file in this folder; names of volumes and paths of files.
    #[allow(clippy::needless_pass_by_value, reason = "what Python hands over")]
    fn mount(&self, py: Python<'_>, folder: PathBuf) -> PyResult<Vec<(String, PathBuf)>> {
        let mounted =
            py.detach(|| mount(Arc::clone(&self.service), &folder)).map_err(|error| os_error(&error, &folder))?;
        let files = self.named(mounted.files().iter().cloned());
        self.fronts().mounted = Some(mounted);
        Ok(files)
    }

    /// Every file is a block device, too; names of volumes and paths of devices.
    fn attach_loop(&self, py: Python<'_>) -> PyResult<Vec<(String, PathBuf)>> {
        let files: Vec<PathBuf> = self.fronts().mounted.iter().flat_map(|mounted| mounted.files().to_vec()).collect();
        for (file, volume) in files.iter().zip(self.service.volumes()) {
            let attached = py.detach(|| attach(file, volume)).map_err(|error| os_error(&error, file))?;
            attached.differences(volume).into_iter().for_each(|difference| self.service.remark(difference));
            self.fronts().loops.push(attached);
        }
        Ok(self.named(self.fronts().loops.iter().map(|attached| attached.device().to_path_buf())))
    }

    /// Detaches devices from their files and unmounts the folder; returns the users of those still in use.
    fn close(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| {
            let mut fronts = self.fronts();
            let mut busy: Vec<String> = Vec::new();
            for attached in &mut fronts.loops {
                busy.extend(attached.detach().err().map(|error| error.to_string()));
            }
            if busy.is_empty()
                && let Some(mounted) = &mut fronts.mounted
            {
                busy.extend(mounted.unmount().err().map(|error| error.to_string()));
            }
            busy
        })
    }

    /// Name, bytes and smallest unit of an I/O of every volume.
    fn volumes(&self) -> Vec<(String, u64, u32)> {
        self.service.volumes().iter().map(|volume| (volume.name.clone(), volume.size, volume.block)).collect()
    }

    /// Counts so far, as JSON: the section "serving" of its record.
    fn serving(&self) -> PyResult<String> {
        serde_json::to_string(&self.service.tally().told()).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Whether it has ended, because power went off or it was stopped.
    fn is_stopped(&self) -> bool {
        self.service.is_stopped()
    }

    /// Ends it: clients get no more answers.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.service.stop());
    }

    /// Its results; ends it if it has not ended.
    fn finish(&self, py: Python<'_>) -> PyResult<PyOutput> {
        let outcome = py
            .detach(|| {
                self.service.stop();
                *self.fronts() = Fronts::default();
                Ok(self.service.finish()?.map(|outcome| (outcome.record.to_json(), outcome)))
            })
            .map_err(run_error)?;
        let (record, outcome) = outcome.ok_or_else(|| PyRuntimeError::new_err("a served machine leaves one record"))?;
        Ok(PyOutput { record, tables: tables(py, &outcome.tables)?.unbind(), ios: outcome.ios })
    }
}

/// A drive of 64 MiB in memory that takes the same time for every I/O, behind a socket until it is stopped.
#[pyclass(name = "FixedServer")]
pub struct PyFixedServer {
    served: Mutex<Option<speed::Steady>>,
}

#[pymethods]
impl PyFixedServer {
    /// Begins to serve it.
    #[new]
    #[allow(clippy::needless_pass_by_value, reason = "what Python hands over")]
    fn new(py: Python<'_>, path: PathBuf, latency_ns: u64) -> PyResult<Self> {
        let served = py.detach(|| speed::Steady::serve(&path, Span(latency_ns)));
        Ok(Self { served: Mutex::new(Some(served.map_err(|error| os_error(&error, &path))?)) })
    }

    /// Ends it; does nothing if it has ended.
    fn stop(&self, py: Python<'_>) {
        let served = self.served.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| drop(served));
    }
}

/// Mean latency in nanoseconds with one 4 KiB read outstanding, and reads a second with 32, that this host can serve;
/// measured behind a socket at `path`, which does not exist yet.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "what Python hands over")]
pub fn serve_speed(py: Python<'_>, path: PathBuf, seconds: f64) -> PyResult<(f64, f64)> {
    let time = std::time::Duration::from_secs_f64(seconds);
    let speed = py.detach(|| speed::measure(&path, time)).map_err(|error| os_error(&error, &path))?;
    Ok((speed.latency_ns, speed.iops))
}

/// Shortest round trip to the server, in nanoseconds; measured behind a socket at `path`, which does not exist yet.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "what Python hands over")]
pub fn serve_way(py: Python<'_>, path: PathBuf, seconds: f64) -> PyResult<u64> {
    let time = std::time::Duration::from_secs_f64(seconds);
    py.detach(|| speed::way(&path, time)).map_err(|error| os_error(&error, &path))
}
