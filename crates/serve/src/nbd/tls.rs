//! Encryption of a connection (rustls).

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hotband_machine::read_typed_bytes;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};

use super::wire::{Wire, send_all};

/// Certificate of the server, and the clients that it accepts.
pub type Config = ServerConfig;

/// Bytes of the largest file in PEM that is read: the bundle of all public authorities has 250,000.
const LARGEST: u64 = 16 << 20;

/// Files in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate, and those between it and one that clients know.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Certificates that sign those of clients: only clients that show one of them are let in.
    pub clients: Option<PathBuf>,
}

fn refused(path: &Path, why: &dyn std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{}: {why}", path.display()))
}

fn certificates(path: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let text = read_typed_bytes(path, LARGEST).map_err(|error| refused(path, &error))?;
    let all = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    let all = all.map_err(|error| refused(path, &error))?;
    if all.is_empty() { Err(refused(path, &"no certificate in PEM")) } else { Ok(all) }
}

impl TlsFiles {
    /// Reads them.
    ///
    /// # Errors
    /// A file cannot be read, or is not what it should be; the error names it.
    pub fn config(&self) -> io::Result<Config> {
        let key = read_typed_bytes(&self.key, LARGEST).map_err(|error| refused(&self.key, &error))?;
        let key = PrivateKeyDer::from_pem_slice(&key).map_err(|error| refused(&self.key, &error))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
        let builder = builder.expect("the provider has ciphers of every version");
        let builder = match &self.clients {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(path)? {
                    roots.add(certificate).map_err(|error| refused(path, &error))?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
                builder.with_client_cert_verifier(verifier.map_err(|error| refused(path, &error))?)
            }
        };
        let chain = certificates(&self.certificate)?;
        builder.with_single_cert(chain, key).map_err(|error| refused(&self.certificate, &error))
    }
}

/// Encrypted bytes that were received and not examined yet.
#[derive(Default)]
struct Sealed {
    bytes: Vec<u8>,
    begin: usize,
    end: usize,
}

/// Encrypted bytes that are received at once: more than one record (RFC 8446: 16 KiB and its frame).
const SEALED: usize = 32 << 10;

/// A socket with encryption.
pub struct Tls {
    inner: Arc<dyn Wire>,
    session: Mutex<ServerConnection>,
    /// Only the thread that receives uses it.
    sealed: Mutex<Sealed>,
    /// Held while records are sent: they are numbered in the order in which they were made.
    sending: Mutex<()>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn broken(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

impl Tls {
    /// Over a socket; the client speaks first.
    ///
    /// # Errors
    /// The configuration cannot be used.
    pub fn accept(inner: Arc<dyn Wire>, config: &Arc<Config>) -> io::Result<Self> {
        let session = ServerConnection::new(Arc::clone(config)).map_err(broken)?;
        Ok(Self { inner, session: Mutex::new(session), sealed: Mutex::default(), sending: Mutex::default() })
    }

    /// Sends the records that the session produced.
    fn send_records(&self) -> io::Result<()> {
        let mut records = Vec::new();
        let mut session = lock(&self.session);
        while session.wants_write() {
            session.write_tls(&mut records)?;
        }
        drop(session);
        send_all(&*self.inner, &records)
    }

    /// Passes received data to the session; returns whether the session has a reply.
    fn open(&self, sealed: &mut Sealed) -> io::Result<bool> {
        let mut session = lock(&self.session);
        let mut bytes = &sealed.bytes[sealed.begin..sealed.end];
        session.read_tls(&mut bytes)?;
        sealed.begin = sealed.end - bytes.len();
        let outcome = session.process_new_packets().map_err(broken);
        let speaks = session.wants_write();
        drop(session);
        if outcome.is_err() && speaks {
            // The client is told why, if it still listens.
            let _guard = lock(&self.sending);
            let _ = self.send_records();
        }
        outcome.map(|_| speaks)
    }
}

impl Wire for Tls {
    fn receive(&self, buffer: &mut [u8], waits: bool) -> io::Result<usize> {
        match lock(&self.session).reader().read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // A client that closes without saying so in TLS has closed all the same: it says what it has to say in NBD.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
            outcome => return outcome,
        }
        let mut sealed = lock(&self.sealed);
        if sealed.begin == sealed.end {
            sealed.bytes.resize(SEALED, 0);
            let count = self.inner.receive(&mut sealed.bytes, waits)?;
            if count == 0 {
                return Ok(0);
            }
            (sealed.begin, sealed.end) = (0, count);
        }
        if self.open(&mut sealed)? {
            let _guard = lock(&self.sending);
            self.send_records()?;
        }
        match lock(&self.session).reader().read(buffer) {
            // Perhaps half a record: the caller looks at the time, and asks again.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            outcome => outcome,
        }
    }

    fn send(&self, bytes: &[u8], _: bool) -> io::Result<usize> {
        let _guard = lock(&self.sending);
        let count = lock(&self.session).writer().write(bytes)?;
        self.send_records()?;
        Ok(count)
    }

    /// Encrypting takes time, which the completing thread may not have.
    fn sends_at_once(&self) -> bool {
        false
    }

    fn close(&self) {
        // The client is told that this is the end, where that can be done without waiting for anybody.
        if let (Ok(_guard), Ok(mut session)) = (self.sending.try_lock(), self.session.try_lock()) {
            session.send_close_notify();
            let mut records = Vec::new();
            if session.write_tls(&mut records).is_ok() {
                let _ = self.inner.send(&records, false);
            }
        }
        self.inner.close();
    }
}
