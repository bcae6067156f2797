//! The way to a client: a socket, encrypted or not.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::net::{RecvFlags, SendFlags, Shutdown, sockopt};

/// Both ways. One thread receives, others send, one at a time.
pub trait Wire: Send + Sync {
    /// Puts bytes that came into `buffer`; zero if the client has closed. `waits` until there are some.
    ///
    /// # Errors
    /// `WouldBlock` if there are none, also now and then while it waits, so that the caller can check the time;
    /// others are final.
    fn receive(&self, buffer: &mut [u8], waits: bool) -> io::Result<usize>;

    /// Sends the front of `bytes`, and says how much of it; `waits` until some of it can be sent.
    ///
    /// # Errors
    /// `WouldBlock` if nothing can be sent without waiting, or the client takes nothing for a long time.
    fn send(&self, bytes: &[u8], waits: bool) -> io::Result<usize>;

    /// Whether the completing thread sends a short reply at once; else a thread of the connection does.
    fn sends_at_once(&self) -> bool;

    /// Socket to wait for `receive`; none if it may buffer bytes itself.
    fn ready(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Closes both directions and wakes waiting threads. Sent data still arrives.
    fn close(&self);
}

/// Longest wait of a read, which bounds how late a connection notices anything else.
const RECEIVE_TIME: Duration = Duration::from_secs(1);
/// A silent host is probed after this time.
const SILENCE: Duration = Duration::from_secs(60);

/// A stream socket of any kind.
pub struct Socket {
    fd: OwnedFd,
}

impl Socket {
    /// Wraps an accepted socket; a client that takes no byte of its replies for this long is dropped.
    ///
    /// # Errors
    /// The host does not know its times.
    pub fn of(fd: OwnedFd, answers: Duration) -> io::Result<Self> {
        sockopt::set_socket_timeout(&fd, sockopt::Timeout::Recv, Some(RECEIVE_TIME))?;
        sockopt::set_socket_timeout(&fd, sockopt::Timeout::Send, Some(answers))?;
        Ok(Self { fd })
    }

    /// Like the above, over TCP: replies are not delayed to be sent together, and a host that is gone is noticed.
    ///
    /// # Errors
    /// The host does not know its options.
    pub fn of_tcp(fd: OwnedFd, answers: Duration) -> io::Result<Self> {
        sockopt::set_tcp_nodelay(&fd, true)?;
        sockopt::set_socket_keepalive(&fd, true)?;
        sockopt::set_tcp_keepidle(&fd, SILENCE)?;
        Self::of(fd, answers)
    }
}

impl Wire for Socket {
    fn receive(&self, buffer: &mut [u8], waits: bool) -> io::Result<usize> {
        let flags = if waits { RecvFlags::empty() } else { RecvFlags::DONTWAIT };
        loop {
            match rustix::net::recv(self.fd.as_fd(), &mut *buffer, flags) {
                Ok((count, _)) => return Ok(count),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn send(&self, bytes: &[u8], waits: bool) -> io::Result<usize> {
        let flags = if waits { SendFlags::NOSIGNAL } else { SendFlags::NOSIGNAL | SendFlags::DONTWAIT };
        loop {
            match rustix::net::send(self.fd.as_fd(), bytes, flags) {
                Err(rustix::io::Errno::INTR) => {}
                outcome => return Ok(outcome?),
            }
        }
    }

    fn sends_at_once(&self) -> bool {
        true
    }

    fn ready(&self) -> Option<BorrowedFd<'_>> {
        Some(self.fd.as_fd())
    }

    fn close(&self) {
        // Fails only where the client has closed already.
        let _ = rustix::net::shutdown(&self.fd, Shutdown::Both);
    }
}

/// Sends all of it.
///
/// # Errors
/// The client is gone, or takes nothing.
pub fn send_all(wire: &dyn Wire, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = wire.send(bytes, true)?;
        bytes = &bytes[count..];
    }
    Ok(())
}
