//! Listeners to which clients connect.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::fs::Mode;
use rustix::net::{AddressFamily, Shutdown, SocketAddrUnix, SocketFlags, SocketType};

use super::budget::Budget;
use super::connection::Connection;
use super::exports::Export;
use super::handshake::choose;
use super::tls::{Config, TlsFiles};
use super::wire::{Socket, Wire};
use crate::service::Service;

/// Address to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// A unix socket that only its owner may use. A socket without a listener is replaced.
    Unix(PathBuf),
    /// TCP. Without certificates only this host may connect, and the caller had to confirm that.
    Tcp {
        /// Address and port; port zero is one that is free.
        addr: SocketAddr,
        /// Certificates; nothing is sent before the connection is encrypted.
        tls: Option<TlsFiles>,
    },
}

/// Limits of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once; more are closed as soon as they are made.
    pub connections: usize,
    /// Requests of a connection that are under way.
    pub requests: usize,
    /// Bytes of its reads and writes that are under way; one is always taken.
    pub bytes: u64,
    /// Bytes of long writes that arrive, of all connections together; further ones wait until there is room.
    pub arriving: u64,
    /// A flush of a connection that wrote nothing since its last flush is completed at once, without the machine. fio's
    /// engine for NBD fills every free slot with flushes until the first has completed (io_u.c, `should_fsync`; tried:
    /// 3.33), though one was requested.
    pub skips_repeated_flushes: bool,
    /// Time for a client to choose an export.
    pub handshake: Duration,
    /// A request has to be complete this long after its first byte, and a second later for each MiB that it announces.
    pub request: Duration,
    /// A client that takes no byte of its replies for this long is dropped.
    pub answers: Duration,
}

impl Default for Limits {
    /// Four connections for each of 16 programs; 256 requests each, as many as eight jobs at a depth of 32 have; two
    /// writes of the longest kind; eight of these arrive at once. 10 s is what qemu gives a handshake
    /// (NBD_DEFAULT_HANDSHAKE_MAX_SECS); a minute is longer than any pause that a live client makes (chosen).
    fn default() -> Self {
        Self {
            connections: 64,
            requests: 256,
            bytes: 64 << 20,
            arriving: 256 << 20,
            skips_repeated_flushes: false,
            handshake: Duration::from_secs(10),
            request: Duration::from_secs(10),
            answers: Duration::from_secs(60),
        }
    }
}

/// Clients that are connected, by number.
type Clients = HashMap<u64, Arc<Socket>>;

struct Shared {
    service: Arc<Service>,
    exports: Vec<Export>,
    tls: Option<Arc<Config>>,
    is_tcp: bool,
    limits: Limits,
    budget: Arc<Budget>,
    listener: OwnedFd,
    is_closing: AtomicBool,
    clients: Mutex<Clients>,
    /// Somebody left.
    left: Condvar,
}

/// A front end that listens. It ends when it is stopped or dropped, and when the service stops.
pub struct Server {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    address: Option<SocketAddr>,
}

/// Serves the volumes of `service` to clients of NBD.
///
/// # Errors
/// The socket cannot be made there, the certificates cannot be used, or the address is not of this host and has none.
pub fn serve(service: Arc<Service>, listen: Listen, limits: Limits) -> io::Result<Server> {
    let exports = Export::of(service.volumes());
    let (listener, tls, address, file) = match listen {
        Listen::Unix(path) => {
            let (listener, file) = listen_unix(&path)?;
            (listener, None, None, Some(file))
        }
        Listen::Tcp { addr, tls } => {
            let tls = tls.map(|files| files.config()).transpose()?;
            if tls.is_none() && !addr.ip().is_loopback() {
                let why = format!("{addr}: without certificates only a loopback address is accepted");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
            }
            let listener = TcpListener::bind(addr).map_err(|error| at(&addr, &error))?;
            let address = listener.local_addr()?;
            (OwnedFd::from(listener), tls.map(Arc::new), Some(address), None)
        }
    };
    let shared = Arc::new(Shared {
        service,
        exports,
        tls,
        is_tcp: address.is_some(),
        limits,
        budget: Budget::new(limits.arriving),
        listener,
        is_closing: AtomicBool::new(false),
        clients: Mutex::default(),
        left: Condvar::new(),
    });
    let accepting = Arc::clone(&shared);
    let accept = move || {
        accepting.accept_all();
        if let Some(file) = file {
            file.remove();
        }
    };
    let thread = std::thread::Builder::new().name("nbd listener".to_owned()).spawn(accept)?;
    let watcher = Arc::downgrade(&shared);
    shared.service.when_stopped(move || {
        if let Some(shared) = watcher.upgrade() {
            shared.close();
        }
    });
    Ok(Server { shared, thread: Some(thread), address })
}

impl Server {
    /// Address and port of TCP.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Clients that are connected now.
    pub fn connections(&self) -> usize {
        self.shared.lock().len()
    }

    /// Closes every connection and removes the socket; returns when no client is served any more.
    pub fn stop(&mut self) {
        self.shared.close();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the listener does not panic");
        }
        let mut clients = self.shared.lock();
        while !clients.is_empty() {
            clients = self.shared.left.wait(clients).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Clients> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends waiting connections without waiting itself.
    fn close(&self) {
        self.is_closing.store(true, Ordering::Release);
        let _ = rustix::net::shutdown(&self.listener, Shutdown::Both);
        for socket in self.lock().values() {
            socket.close();
        }
    }

    fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Acquire)
    }

    fn accept_all(self: &Arc<Self>) {
        let mut number = 0;
        while !self.is_closing() {
            match rustix::net::accept_with(&self.listener, SocketFlags::CLOEXEC) {
                Ok(fd) => self.take(fd, number),
                // The client is gone already, or the host has no descriptor left: others may leave.
                Err(_) if !self.is_closing() => std::thread::sleep(Duration::from_millis(10)),
                Err(_) => {}
            }
            number += 1;
        }
    }

    /// Takes a client, or closes the connection if there are too many.
    fn take(self: &Arc<Self>, fd: OwnedFd, number: u64) {
        let answers = self.limits.answers;
        let socket = if self.is_tcp { Socket::of_tcp(fd, answers) } else { Socket::of(fd, answers) };
        let Ok(socket) = socket else { return };
        let socket = Arc::new(socket);
        let mut clients = self.lock();
        if clients.len() >= self.limits.connections || self.is_closing() {
            return;
        }
        clients.insert(number, Arc::clone(&socket));
        drop(clients);
        let shared = Arc::clone(self);
        let serve = move || {
            shared.serve_client(&socket);
            shared.forget(number);
        };
        if std::thread::Builder::new().name("nbd client".to_owned()).spawn(serve).is_err() {
            self.forget(number);
        }
    }

    fn forget(&self, number: u64) {
        self.lock().remove(&number);
        self.left.notify_all();
    }

    fn serve_client(&self, socket: &Arc<Socket>) {
        let chosen =
            choose(Arc::clone(socket) as Arc<dyn Wire>, &self.exports, self.tls.as_ref(), self.limits.handshake);
        if let Ok(Some((wire, incoming, chosen))) = chosen {
            let export = self.exports[usize::from(chosen.export)].clone();
            let (service, budget) = (Arc::clone(&self.service), Arc::clone(&self.budget));
            Arc::new(Connection::new(service, wire, (chosen, export), self.limits, budget)).serve(incoming);
        }
        socket.close();
    }
}

fn at(address: &dyn std::fmt::Display, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{address}: {error}"))
}

/// The file of a unix socket, so that no other is removed that has its name.
struct SocketFile {
    path: PathBuf,
    id: (u64, u64),
}

impl SocketFile {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = std::fs::symlink_metadata(path)?;
        Ok(Self { path: path.to_owned(), id: (metadata.dev(), metadata.ino()) })
    }

    fn remove(&self) {
        if Self::of(&self.path).is_ok_and(|socket| socket.id == self.id) {
            // Gone already, then.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn listen_unix(path: &Path) -> io::Result<(OwnedFd, SocketFile)> {
    let here = |error: &io::Error| at(&path.display(), error);
    make_way(path)?;
    let address = SocketAddrUnix::new(path).map_err(|error| here(&error.into()))?;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // Linux gives the file the mode of the socket (net/unix/af_unix.c, unix_bind_bsd), so that it is never wider.
    rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    rustix::net::bind(&socket, &address).map_err(|error| here(&error.into()))?;
    let file = SocketFile::of(path)?;
    // As many as may wait while one is taken: the usual limit of hosts.
    rustix::net::listen(&socket, 128)?;
    Ok((socket, file))
}

/// Removes a socket without a listener.
fn make_way(path: &Path) -> io::Result<()> {
    let refused = |why: &str| {
        let why = format!("{}: {why}", path.display());
        Err(io::Error::new(io::ErrorKind::AlreadyExists, why))
    };
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(at(&path.display(), &error)),
        Ok(found) if !found.file_type().is_socket() => refused("exists and is not a socket"),
        Ok(_) => match UnixStream::connect(path) {
            Ok(_) => refused("another server listens there"),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                std::fs::remove_file(path).map_err(|error| at(&path.display(), &error))
            }
            Err(error) => Err(at(&path.display(), &error)),
        },
    }
}
