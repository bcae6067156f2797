//! Where it listens, and how it ends.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use hotband_serve::nbd::proto::command;
use hotband_serve::nbd::{Limits, Listen, TlsFiles, serve};
use hotband_units::Span;

use crate::client::{Client, MIB, request, served, served_with};

#[test]
fn only_its_owner_may_use_the_socket_and_it_is_gone_afterwards() {
    let mut served = served(MIB);
    let mode = std::fs::metadata(&served.socket).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut client = Client::ready(&served.socket, false);
    served.server.stop();
    assert!(client.is_hung_up());
    assert!(!served.socket.exists());
    assert_eq!(served.server.connections(), 0);
}

#[test]
fn a_stale_socket_is_replaced_and_anything_else_is_not() {
    let served = served(MIB);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s");
    let listen = || serve(Arc::clone(&served.service), Listen::Unix(path.clone()), Limits::default());
    let why = |error: std::io::Error| error.to_string();
    std::fs::write(&path, "precious").expect("written");
    assert_eq!(why(listen().err().expect("refused")), format!("{}: exists and is not a socket", path.display()));
    assert_eq!(std::fs::read(&path).expect("still there"), b"precious");
    std::fs::remove_file(&path).expect("removed");
    let live = UnixListener::bind(&path).expect("bound");
    assert_eq!(why(listen().err().expect("refused")), format!("{}: another server listens there", path.display()));
    drop(live);
    let server = listen().expect("nobody listens there any more");
    // Somebody else's file of the same name outlives us.
    std::fs::remove_file(&path).expect("removed");
    std::fs::write(&path, "other").expect("written");
    drop(server);
    assert!(path.exists());
    let long = folder.path().join("x".repeat(200));
    let error = serve(Arc::clone(&served.service), Listen::Unix(long.clone()), Limits::default()).err();
    assert!(why(error.expect("refused")).starts_with(&long.display().to_string()));
}

#[test]
fn when_the_service_stops_nothing_more_is_answered() {
    let served = served_with(MIB, Span(3_600_000_000_000), Limits::default());
    let mut client = Client::ready(&served.socket, true);
    client.say(&request(command::READ, 0, 1, 0, 4096, &[]));
    served.service.stop();
    assert!(client.is_hung_up());
    while served.socket.exists() {
        std::thread::yield_now();
    }
}

#[test]
fn tcp_in_the_clear_stays_on_this_host() {
    let served = served(MIB);
    let tcp = |addr: &str, tls| {
        let addr = addr.parse().expect("an address");
        serve(Arc::clone(&served.service), Listen::Tcp { addr, tls }, Limits::default())
    };
    let error = tcp("0.0.0.0:0", None).err().expect("refused").to_string();
    assert_eq!(error, "0.0.0.0:0: without certificates only a loopback address is accepted");
    let files = |at: &str| Some(TlsFiles { certificate: at.into(), key: at.into(), clients: None });
    let error = tcp("127.0.0.1:0", files("/nowhere/cert.pem")).err().expect("refused").to_string();
    assert!(error.starts_with("/nowhere/cert.pem: "), "{error}");
    let folder = tempfile::tempdir().expect("a folder");
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "").expect("written");
    let error = tcp("127.0.0.1:0", files(&empty.display().to_string())).err().expect("refused").to_string();
    assert!(error.starts_with(&empty.display().to_string()), "{error}");
    let error = tcp("127.0.0.1:0", files("/dev/zero")).err().expect("refused").to_string();
    assert!(error.starts_with("/dev/zero: is a device, not a regular file"), "{error}");
    let server = tcp("127.0.0.1:0", None).expect("it listens");
    let mut stream = std::net::TcpStream::connect(server.address().expect("TCP has one")).expect("it listens");
    let mut magic = [0; 8];
    std::io::Read::read_exact(&mut stream, &mut magic).expect("greeted");
    assert_eq!(&magic, b"NBDMAGIC");
}
