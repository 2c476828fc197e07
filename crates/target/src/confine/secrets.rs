//! What is hidden of `/etc`: what not everybody may read, and files known to
//! hold keys or passwords.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Names in `/etc` that are hidden whatever their rights are.
const NAMES: [&str; 24] = [
    "shadow",
    "shadow-",
    "gshadow",
    "gshadow-",
    "sudoers",
    "sudoers.d",
    "ssh",
    "ssl/private",
    "pki/tls/private",
    "krb5.keytab",
    "security/opasswd",
    "wireguard",
    "openvpn",
    "ipsec.secrets",
    "ppp",
    "NetworkManager",
    "docker",
    "kubernetes",
    "rancher",
    "letsencrypt",
    "apt/auth.conf",
    "apt/auth.conf.d",
    "machine-id",
    "fstab",
];
/// Entries that are looked at, and folders in each other.
const MOST: usize = 20_000;
const DEEPEST: usize = 4;

/// The secrets in `/etc`, and whether each is a folder. They are looked for
/// once, since that takes some milliseconds.
pub fn of_system() -> &'static [(PathBuf, bool)] {
    static FOUND: OnceLock<Vec<(PathBuf, bool)>> = OnceLock::new();
    FOUND.get_or_init(|| below(Path::new("/etc")))
}

/// The secrets below a folder, and whether each is a folder.
fn below(folder: &Path) -> Vec<(PathBuf, bool)> {
    let mut found = Vec::new();
    let mut left = MOST;
    let mut open = vec![(folder.to_path_buf(), 0)];
    while let Some((inner, depth)) = open.pop() {
        for entry in fs::read_dir(&inner).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(data) = fs::symlink_metadata(&path) else { continue };
            left = left.saturating_sub(1);
            let named =
                path.strip_prefix(folder).is_ok_and(|path| NAMES.iter().any(|name| path == Path::new(name)));
            let (is_folder, is_file) = (data.is_dir(), data.is_file());
            let needed = if is_folder { 0o5 } else { 0o4 };
            if (named || data.mode() & needed != needed || left == 0) && (is_folder || is_file) {
                found.push((path, is_folder));
            } else if is_folder && depth + 1 < DEEPEST {
                open.push((path, depth + 1));
            }
        }
    }
    found
}
