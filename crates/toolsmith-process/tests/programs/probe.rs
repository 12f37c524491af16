//! Tries out what a sandbox is to refuse, for tests: one line for each attempt.
//!
//! `sandbox-probe tcp write:/etc/x` prints `tcp=EPERM` and `write:/etc/x=EROFS`, or `done`
//! for what was not refused. Nothing it does lasts where it is refused, and little where not.

#![expect(
    unsafe_code,
    reason = "most attempts are system calls that no library offers"
)]
#![expect(clippy::print_stdout, reason = "what it prints is what it is for")]

use std::ffi::{CString, c_long};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::ptr;
use std::thread;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use toolsmith_process::{Launch, Support, use_helper};

fn main() {
    for attempt in std::env::args().skip(1) {
        let (what, on) = attempt.split_once(':').unwrap_or((&attempt, ""));
        let outcome = match try_out(what, on) {
            Ok(()) => "done".to_owned(),
            Err(error) => name(&error),
        };
        println!("{attempt}={outcome}");
    }
}

fn try_out(what: &str, on: &str) -> io::Result<()> {
    let pair = || on.split_once(',').unwrap_or((on, ""));
    let id = || on.parse().unwrap_or(-1_i64);
    match what {
        "write" => append(on),
        // For what must not be written even if it can be.
        "open" => OpenOptions::new().append(true).open(on).map(drop),
        "create" => File::create_new(on).map(drop),
        "truncate" => truncate(on),
        "remove" => fs::remove_file(on),
        "remove-folder" => fs::remove_dir_all(on),
        "folder" => fs::create_dir(on),
        "rename" => fs::rename(pair().0, pair().1),
        "link" => fs::hard_link(pair().0, pair().1),
        "link-and-write" => fs::hard_link(pair().0, pair().1).and_then(|()| append(pair().1)),
        "symlink-and-write" => symlink(pair().0, pair().1).and_then(|()| append(pair().1)),
        "symlink-and-read" => symlink(pair().0, pair().1).and_then(|()| read(pair().1)),
        "mode" => fs::set_permissions(on, Permissions::from_mode(0o600)),
        "times" => touch(on),
        "read" => read(on),
        "read-link" => fs::read_link(on).map(drop),
        "list" => fs::read_dir(on)
            .map(|entries| entries.count())
            .and_then(|count| {
                // An empty folder shows nothing of the one it covers.
                if count == 0 {
                    Err(io::ErrorKind::NotFound.into())
                } else {
                    Ok(())
                }
            }),
        "device" => device(on),
        "tcp" => socket(libc::AF_INET, libc::SOCK_STREAM),
        "tcp6" => socket(libc::AF_INET6, libc::SOCK_STREAM),
        "udp" => socket(libc::AF_INET, libc::SOCK_DGRAM),
        "raw" => socket(libc::AF_INET, libc::SOCK_RAW),
        "packet" => socket(libc::AF_PACKET, libc::SOCK_RAW),
        "netlink" => socket(libc::AF_NETLINK, libc::SOCK_RAW),
        "vsock" => socket(libc::AF_VSOCK, libc::SOCK_STREAM),
        "alg" => socket(libc::AF_ALG, libc::SOCK_SEQPACKET),
        "unix" => UnixDatagram::pair().map(drop),
        "unix-path" => {
            UnixListener::bind(on).and_then(|_listener| UnixStream::connect(on).map(drop))
        }
        "unix-connect" => UnixStream::connect(on).map(drop),
        "connect" => std::net::TcpStream::connect(on).map(drop),
        "abstract" => SocketAddr::from_abstract_name(on)
            .and_then(|address| UnixStream::connect_addr(&address))
            .map(drop),
        "signal" => call(libc::SYS_kill, [id(), 0, 0, 0, 0]),
        "kill" => call(libc::SYS_kill, [id(), libc::SIGKILL.into(), 0, 0, 0]),
        "namespaces-by-clone" => clone(),
        "privileged" => privileged(),
        "execute" => std::process::Command::new(on).output().map(drop),
        "find-out-again" => find_out_again(on),
        "leave-to-a-thread" => leave_to_a_thread(),
        "drop-without-descriptors" => drop_without_descriptors(),
        other => by_number(other, id()),
    }
}

/// Attempts that are a system call with small numbers.
fn by_number(what: &str, id: c_long) -> io::Result<()> {
    let tmpfs = c"tmpfs".as_ptr() as c_long;
    let here = c"/dev/shm".as_ptr() as c_long;
    let (number, arguments) = match what {
        "ptrace" => (libc::SYS_ptrace, [16, id, 0, 0, 0]),
        "ptrace-me" => (libc::SYS_ptrace, [0, 0, 0, 0, 0]),
        "peek" => (libc::SYS_process_vm_readv, [id, 0, 0, 0, 0]),
        "poke" => (libc::SYS_process_vm_writev, [id, 0, 0, 0, 0]),
        "pidfd-getfd" => (libc::SYS_pidfd_getfd, [-1, 0, 0, 0, 0]),
        "mount" => (libc::SYS_mount, [tmpfs, here, tmpfs, 0, 0]),
        "umount" => (libc::SYS_umount2, [here, libc::MNT_DETACH.into(), 0, 0, 0]),
        "pivot-root" => (libc::SYS_pivot_root, [here, here, 0, 0, 0]),
        "chroot" => (libc::SYS_chroot, [here, 0, 0, 0, 0]),
        "fsopen" => (libc::SYS_fsopen, [tmpfs, 0, 0, 0, 0]),
        "open-tree" => (libc::SYS_open_tree, [libc::AT_FDCWD.into(), here, 1, 0, 0]),
        "mount-setattr" => (libc::SYS_mount_setattr, [-1, here, 0, 0, 0]),
        "new-user" => (libc::SYS_unshare, [libc::CLONE_NEWUSER.into(), 0, 0, 0, 0]),
        "new-mounts" => (libc::SYS_unshare, [libc::CLONE_NEWNS.into(), 0, 0, 0, 0]),
        "new-network" => (libc::SYS_unshare, [libc::CLONE_NEWNET.into(), 0, 0, 0, 0]),
        "new-time" => (libc::SYS_unshare, [0x80, 0, 0, 0, 0]),
        "unshare-files" => (libc::SYS_unshare, [libc::CLONE_FILES.into(), 0, 0, 0, 0]),
        "clone3" => (libc::SYS_clone3, [0, 0, 0, 0, 0]),
        "setns" => (libc::SYS_setns, [-1, 0, 0, 0, 0]),
        "io-uring" => (libc::SYS_io_uring_setup, [1, 0, 0, 0, 0]),
        "bpf" => (libc::SYS_bpf, [0, 0, 0, 0, 0]),
        "perf" => (libc::SYS_perf_event_open, [0, 0, 0, 0, 0]),
        "keyctl" => (libc::SYS_keyctl, [0, -3, 1, 0, 0]),
        "add-key" => (libc::SYS_add_key, [0, 0, 0, 0, 0]),
        "request-key" => (libc::SYS_request_key, [0, 0, 0, 0, 0]),
        "userfaultfd" => (libc::SYS_userfaultfd, [0, 0, 0, 0, 0]),
        "kexec" => (libc::SYS_kexec_load, [0, -1, 0, -1, 0]),
        "module" => (libc::SYS_init_module, [0, 0, 0, 0, 0]),
        "module-file" => (libc::SYS_finit_module, [-1, 0, 0, 0, 0]),
        // Without its two keys it does nothing anywhere.
        "reboot" => (libc::SYS_reboot, [0, 0, 0, 0, 0]),
        "swap" => (libc::SYS_swapon, [0, 0, 0, 0, 0]),
        "account" => (libc::SYS_acct, [here, 0, 0, 0, 0]),
        "quota" => (libc::SYS_quotactl, [-1, 0, 0, 0, 0]),
        "by-handle" => (libc::SYS_open_by_handle_at, [-1, 0, 0, 0, 0]),
        "type-for-others" => (libc::SYS_ioctl, [0, 0x5412, 0, 0, 0]),
        "type-with-high-bits" => (libc::SYS_ioctl, [0, 0x1_0000_5412, 0, 0, 0]),
        "console" => (libc::SYS_ioctl, [0, 0x541c, 0, 0, 0]),
        "x32" => (0x4000_0000 | libc::SYS_getpid, [0; 5]),
        _ => return Err(io::ErrorKind::Unsupported.into()),
    };
    call(number, arguments)
}

fn append(path: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).open(path)?;
    file.write_all(b"x")
}

fn read(path: &str) -> io::Result<()> {
    let mut byte = [0];
    File::open(path)?.read_exact(&mut byte)
}

fn truncate(path: &str) -> io::Result<()> {
    let path = CString::new(path)?;
    // SAFETY: the text lives through the call.
    check(unsafe { libc::truncate(path.as_ptr(), 0) }.into())
}

fn touch(path: &str) -> io::Result<()> {
    let path = CString::new(path)?;
    // SAFETY: the text lives through the call; without times it is now.
    check(unsafe { libc::utimensat(libc::AT_FDCWD, path.as_ptr(), ptr::null(), 0) }.into())
}

fn device(path: &str) -> io::Result<()> {
    let path = CString::new(path)?;
    // SAFETY: the text lives through the call.
    check(unsafe { libc::mknod(path.as_ptr(), libc::S_IFCHR | 0o600, libc::makedev(1, 3)) }.into())
}

fn socket(family: i32, kind: i32) -> io::Result<()> {
    // SAFETY: the call takes three numbers.
    let descriptor = unsafe { libc::socket(family, kind, 0) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just opened, and is used nowhere else.
    check(unsafe { libc::close(descriptor) }.into())
}

fn clone() -> io::Result<()> {
    let flags = c_long::from(libc::CLONE_NEWUSER | libc::SIGCHLD);
    // SAFETY: without a new stack this is `fork`, in a process with one thread.
    match unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: the child does nothing and ends.
        0 => unsafe { libc::_exit(0) },
        _ => Ok(()),
    }
}

/// Is done when a helper that could not be started once does not count for good.
fn find_out_again(helper: &str) -> io::Result<()> {
    use_helper("/no/such/helper");
    let before = Support::of_this_machine().namespaces;
    use_helper(helper);
    match (before, Support::of_this_machine().namespaces) {
        (Err(_), Ok(())) => Ok(()),
        (_, after) => Err(io::Error::other(format!("{after:?}"))),
    }
}

/// Says its number and ends its first thread, so that it is listed as if it were dead.
fn leave_to_a_thread() -> io::Result<()> {
    println!("{}", std::process::id());
    io::stdout().flush()?;
    thread::spawn(|| thread::sleep(Duration::from_secs(60)));
    call(libc::SYS_exit, [0; 5])
}

/// Is done when a child's descendant dies with it, although `/proc` cannot be read at first.
fn drop_without_descriptors() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let _inside = runtime.enter();
    let mut running = Launch::new("/bin/sh")
        .arguments(["-c", "setsid sleep 60 >/dev/null 2>&1 & echo $!; cat"])
        .environment([("PATH", "/usr/bin:/bin")])
        .start()
        .map_err(io::Error::other)?;
    let mut output = running.take_stdout().ok_or(io::ErrorKind::BrokenPipe)?;
    let mut text = [0; 16];
    let length = runtime.block_on(output.read(&mut text))?;
    let id = String::from_utf8_lossy(&text[..length]).trim().to_owned();
    let mut taken = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        taken.push(file);
    }
    let freeing = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        drop(taken);
    });
    drop(running);
    let _ = freeing.join();
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    if stat.is_empty() || stat.contains(") Z ") {
        return Ok(());
    }
    Err(io::Error::other("it lives on"))
}

/// Is done when this process may do something that its user may not.
fn privileged() -> io::Result<()> {
    let status = fs::read_to_string("/proc/self/status")?;
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_once('\t'))
            .map(|(_, value)| value.to_owned())
    };
    // Files of others, and giving files to others: what programs of root count on.
    const HARMLESS: u64 = 0b1101_1011;
    let held = field("CapEff:").and_then(|text| u64::from_str_radix(&text, 16).ok());
    let may_gain = field("NoNewPrivs:").as_deref() != Some("1");
    // SAFETY: these calls take nothing and cannot fail.
    let is_another = unsafe { libc::getuid() != libc::geteuid() };
    if may_gain || is_another || held.is_none_or(|held| held & !HARMLESS != 0) {
        return Ok(());
    }
    Err(io::ErrorKind::PermissionDenied.into())
}

fn call(number: c_long, arguments: [c_long; 5]) -> io::Result<()> {
    let [a, b, c, d, e] = arguments;
    // SAFETY: numbers, null, or texts that live as long as the program.
    check(unsafe { libc::syscall(number, a, b, c, d, e) })
}

fn check(result: c_long) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

fn name(error: &io::Error) -> String {
    let names = [
        (libc::EPERM, "EPERM"),
        (libc::EACCES, "EACCES"),
        (libc::EROFS, "EROFS"),
        (libc::ENOENT, "ENOENT"),
        (libc::ESRCH, "ESRCH"),
        (libc::EXDEV, "EXDEV"),
        (libc::EBUSY, "EBUSY"),
        (libc::ENOSYS, "ENOSYS"),
        (libc::EINVAL, "EINVAL"),
        (libc::ECONNREFUSED, "ECONNREFUSED"),
    ];
    let known = names
        .iter()
        .find(|(number, _)| error.raw_os_error() == Some(*number));
    known.map_or_else(|| error.to_string(), |(_, name)| (*name).to_owned())
}
