//! What a user has that a target would like to reach, and a look at whether
//! anything of it was touched.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A private folder of this user, some sockets, and a process.
pub struct Scene {
    home: PathBuf,
    /// The target: a private file in the private folder.
    pub program: PathBuf,
    pub secret: PathBuf,
    pub folder: PathBuf,
    /// Does not exist.
    pub fresh: PathBuf,
    pub stream: PathBuf,
    pub message: PathBuf,
    pub abstract_name: String,
    pub tcp: u16,
    pub udp: u16,
    listeners: (UnixListener, UnixListener, TcpListener),
    messages: (UnixDatagram, UdpSocket),
    bystander: Child,
    before: Vec<String>,
}

impl Scene {
    pub fn new(program: &Path) -> Scene {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let home = std::env::temp_dir().join(format!("wug-home-{}-{number}", std::process::id()));
        let folder = home.join("folder");
        fs::create_dir_all(folder.join("empty")).expect("a folder");
        let private =
            |path: &Path, mode| fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("rights");
        private(&home, 0o700);
        let secret = home.join("secret");
        fs::write(&secret, "a key").expect("a file");
        private(&secret, 0o600);
        fs::write(folder.join("file"), "of the user").expect("a file");
        let own = home.join("program");
        fs::copy(program, &own).expect("the program");
        private(&own, 0o700);
        let (stream, message) = (home.join("stream"), home.join("message"));
        let abstract_name = format!("wug-abstract-{}-{number}", std::process::id());
        let address = SocketAddr::from_abstract_name(&abstract_name).expect("a name");
        let listeners = (
            UnixListener::bind(&stream).expect("a socket"),
            UnixListener::bind_addr(&address).expect("a socket"),
            TcpListener::bind("127.0.0.1:0").expect("a port"),
        );
        let messages = (
            UnixDatagram::bind(&message).expect("a socket"),
            UdpSocket::bind("127.0.0.1:0").expect("a port"),
        );
        listeners.0.set_nonblocking(true).expect("a socket");
        listeners.1.set_nonblocking(true).expect("a socket");
        listeners.2.set_nonblocking(true).expect("a socket");
        messages.0.set_nonblocking(true).expect("a socket");
        messages.1.set_nonblocking(true).expect("a socket");
        let bystander = Command::new("sleep").arg("10000").stdin(Stdio::null()).spawn().expect("sleep");
        let mut scene = Scene {
            program: own,
            fresh: home.join("fresh"),
            tcp: listeners.2.local_addr().expect("an address").port(),
            udp: messages.1.local_addr().expect("an address").port(),
            home,
            secret,
            folder,
            stream,
            message,
            abstract_name,
            listeners,
            messages,
            bystander,
            before: Vec::new(),
        };
        scene.before = scene.look();
        scene
    }

    /// A process of this user.
    pub fn bystander(&self) -> u32 {
        self.bystander.id()
    }

    /// What is not as it was.
    pub fn change(&self) -> Option<String> {
        let now = self.look();
        let differs = now.iter().find(|line| !self.before.contains(line));
        differs.or_else(|| self.before.iter().find(|line| !now.contains(line))).cloned()
    }

    /// All that can be seen of it, as lines.
    fn look(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut open = vec![self.home.clone()];
        while let Some(path) = open.pop() {
            let data = fs::symlink_metadata(&path).expect("its data");
            let what = (data.mode(), data.uid(), data.gid(), data.mtime(), data.mtime_nsec(), data.nlink());
            lines.push(format!("{} {what:?} {}", path.display(), data.ctime_nsec()));
            if data.is_dir() {
                let mut names: Vec<_> =
                    fs::read_dir(&path).expect("a folder").flatten().map(|e| e.path()).collect();
                names.sort();
                open.extend(names);
            } else if data.is_file() && data.len() < 1000 {
                lines.push(format!("{:?}", fs::read(&path)));
            }
        }
        let mut byte = [0; 8];
        lines.push(format!("stream {}", self.listeners.0.accept().is_ok()));
        lines.push(format!("abstract {}", self.listeners.1.accept().is_ok()));
        lines.push(format!("tcp {}", self.listeners.2.accept().is_ok()));
        lines.push(format!("message {}", self.messages.0.recv(&mut byte).is_ok()));
        lines.push(format!("udp {}", self.messages.1.recv(&mut byte).is_ok()));
        let id = self.bystander.id();
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        lines.push(format!(
            "bystander {:?} nice {:?}",
            fields.first().map(|s| *s != "Z" && *s != "T"),
            fields.get(16)
        ));
        lines.push(fs::read_to_string(format!("/proc/{id}/limits")).unwrap_or_default());
        let own = format!("-{}", std::process::id());
        for place in ["/dev/shm", "/tmp", "/var/tmp", "."] {
            let left = fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.file_name());
            let left: Vec<_> = left
                .map(|name| name.to_string_lossy().into_owned())
                .filter(|name| {
                    name.starts_with("left-") || (name.starts_with("wug-left") && name.ends_with(&own))
                })
                .collect();
            lines.push(format!("{place} {left:?}"));
        }
        for kind in ["sem", "msg"] {
            let all = fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
            lines.push(format!("{kind} {}", all.contains(&0x777567.to_string())));
        }
        lines
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.bystander.kill();
        let _ = self.bystander.wait();
        let _ = fs::remove_dir_all(&self.home);
    }
}
