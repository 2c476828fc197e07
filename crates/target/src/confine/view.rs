//! The file system that a target sees: its own, with what the program needs.
//!
//! In:  the program, its libraries, and what the user allows besides.
//! Out: a [`View`]: steps that the warden carries out in a mount namespace of
//!      its own, and the names in the scratch folder that are not the
//!      target's.
//!
//! | place | what is there |
//! | --- | --- |
//! | `/usr`, `/lib*`, `/bin`, `/sbin`, `/nix/store`, `/gnu/store` | as outside, read-only |
//! | `/etc` | the same, but what not everybody may read is empty |
//! | the program, its libraries, the working folder's path | read-only; the folder is empty |
//! | `/tmp`, `/var/tmp`, `/dev/shm` | the scratch folder: memory, writable, emptied after each run |
//! | `/dev` | null, zero, full, random, urandom |
//! | `/proc` | the target's own processes |
//! | `/wug/input` | the input |
//!
//! Nothing else exists there: no home, no `/run`, so no keys and no sockets.
//! A list of what is hidden would have to name every secret; this one names
//! what a program needs, and a user adds to it.

use super::secrets;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, OsString};
use std::fmt;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// The input, inside.
pub const INPUT: &str = "/wug/input";
/// The scratch folder, inside.
pub const SCRATCH: &str = "/tmp";
/// Where the scratch folder is mounted first.
const HOLD: &str = "/wug/scratch";
/// What stands in the place of secrets.
const NO_FILE: &str = "/wug/no-file";
const NO_FOLDER: &str = "/wug/no-folder";

/// Folders of the system, which hold programs and what these share.
pub const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];
/// Devices that keep nothing and tell nothing.
pub const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// What is shown of the machine.
#[derive(Debug, Default)]
pub struct Shown {
    /// The program, with no link in its path.
    pub program: PathBuf,
    /// Libraries that are in no folder of the system.
    pub libraries: Vec<PathBuf>,
    /// The working folder.
    pub folder: PathBuf,
    /// What the user allows to read.
    pub read: Vec<PathBuf>,
    /// What the user allows to write.
    pub write: Vec<PathBuf>,
    /// Whether the target runs as somebody to whom files of this user are
    /// those of a stranger.
    pub as_stranger: bool,
}

/// How a view comes about.
#[derive(Debug)]
pub struct View {
    /// In this order.
    pub steps: Vec<Step>,
    /// Names in the scratch folder that belong to the view.
    pub fixed: Vec<OsString>,
    /// The working folder.
    pub folder: CString,
}

/// A step on the way to a view. Places are relative to its root, sources
/// are paths outside unless they are relative, too.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Makes a folder.
    Folder(CString),
    /// Makes an empty file.
    File(CString),
    /// Makes a symbolic link.
    Link { to: CString, at: CString },
    /// Shows a file or a folder.
    Bind { from: CString, at: CString, rights: Rights },
    /// Copies a file, with rights for everybody.
    Copy { from: CString, at: CString },
    /// The scratch folder.
    Scratch(CString),
    /// The list of processes.
    Processes(CString),
}

/// What may be done with what is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Reading and executing.
    Read,
    /// Writing as well.
    Write,
    /// A device: written to, although nothing is changed.
    Device,
    /// A folder of the view itself: reading; what is mounted in it keeps its
    /// rights.
    Top,
    /// As it is.
    Same,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (doing, at) = match self {
            Step::Folder(at) => ("make", at),
            Step::File(at) => ("make", at),
            Step::Link { at, .. } => ("link", at),
            Step::Bind { at, .. } => ("show", at),
            Step::Copy { at, .. } => ("copy", at),
            Step::Scratch(at) | Step::Processes(at) => ("mount", at),
        };
        write!(f, "cannot {doing} /{}", at.to_string_lossy())
    }
}

enum Node {
    Bind { from: PathBuf, rights: Rights },
    Copy,
    Empty,
    Hidden { is_folder: bool },
    Link(PathBuf),
}

impl View {
    /// Plans a view; the input is a file outside.
    pub fn of(shown: &Shown, input: &Path) -> View {
        let mut nodes: BTreeMap<PathBuf, Node> = BTreeMap::new();
        let show = |from: &Path, rights| Node::Bind { from: from.into(), rights };
        for place in SYSTEM {
            match fs::symlink_metadata(place) {
                Ok(data) if data.is_symlink() => {
                    if let Ok(to) = fs::read_link(place) {
                        nodes.insert(place.into(), Node::Link(to));
                    }
                }
                Ok(data) if data.is_dir() => {
                    nodes.insert(place.into(), show(Path::new(place), Rights::Read));
                }
                _ => {}
            }
        }
        if Path::new("/etc").is_dir() {
            nodes.insert("/etc".into(), show(Path::new("/etc"), Rights::Read));
            for (secret, is_folder) in secrets::of_system() {
                nodes.insert(secret.clone(), Node::Hidden { is_folder: *is_folder });
            }
        }
        for device in DEVICES {
            if Path::new(device).exists() {
                nodes.insert(device.into(), show(Path::new(device), Rights::Device));
            }
        }
        let links = [("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")];
        for (name, to) in links {
            nodes.insert(Path::new("/dev").join(name), Node::Link(to.into()));
        }
        if input.exists() {
            nodes.insert(INPUT.into(), show(input, Rights::Read));
        }
        for place in [SCRATCH, HOLD, "/var/tmp", "/dev/shm", "/proc"] {
            nodes.entry(place.into()).or_insert(Node::Empty);
        }
        nodes.entry(shown.folder.clone()).or_insert(Node::Empty);
        for file in shown.libraries.iter().chain([&shown.program]) {
            // A private file of root's is shown to another user as a copy.
            let open = |data: fs::Metadata| {
                data.mode() & 0o5 == 0o5 || (data.mode() & 0o4 != 0 && file != &shown.program)
            };
            let private = shown.as_stranger && !fs::metadata(file).is_ok_and(open);
            let node = if private { Node::Copy } else { show(file, Rights::Read) };
            nodes.insert(file.clone(), node);
        }
        for (paths, rights) in [(&shown.read, Rights::Read), (&shown.write, Rights::Write)] {
            for path in paths {
                nodes.insert(path.clone(), show(path, rights));
            }
        }
        let mut plan = Plan { steps: Vec::new(), made: BTreeSet::new() };
        plan.folder(NO_FOLDER.as_ref());
        plan.file(NO_FILE.as_ref());
        plan.carry_out(&nodes);
        plan.steps.push(Step::Processes(place("/proc".as_ref())));
        let fixed = plan.scratch();
        View { steps: plan.steps, fixed, folder: c(&shown.folder) }
    }
}

/// What may be read without a view: much the same, as a list of paths.
pub fn readable(shown: &Shown) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    // A rule holds for all that is in a folder, so the folders of secrets are
    // left out, and what is beside these is named.
    let secrets: Vec<&PathBuf> = secrets::of_system().iter().map(|(path, _)| path).collect();
    let mut open = vec![PathBuf::from("/etc")];
    while let Some(path) = open.pop() {
        if secrets.contains(&&path) {
            continue;
        }
        if secrets.iter().any(|secret| secret.starts_with(&path)) {
            open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else {
            paths.push(path);
        }
    }
    paths.push("/proc".into());
    paths.push(shown.program.clone());
    paths.extend([&shown.libraries, &shown.read].into_iter().flatten().cloned());
    paths
}

struct Plan {
    steps: Vec<Step>,
    /// Folders and files of the view's own.
    made: BTreeSet<PathBuf>,
}

impl Plan {
    /// Parents come before what is in them: such is the order of paths.
    fn carry_out(&mut self, nodes: &BTreeMap<PathBuf, Node>) {
        for (path, node) in nodes {
            let shown = |outer: &Path| match nodes.get(outer) {
                Some(Node::Bind { rights, .. }) => Some(*rights),
                // What a link leads to is shown there.
                Some(Node::Link(_)) => Some(Rights::Read),
                _ => None,
            };
            let cover = path.ancestors().skip(1).find_map(shown);
            match (node, cover) {
                // It is there already.
                (
                    Node::Empty | Node::Copy | Node::Link(_) | Node::Bind { rights: Rights::Read, .. },
                    Some(_),
                ) => {}
                (Node::Bind { rights: Rights::Write, .. }, Some(Rights::Write)) => {}
                (Node::Hidden { is_folder }, _) => {
                    let from = place(if *is_folder { NO_FOLDER } else { NO_FILE }.as_ref());
                    self.steps.push(Step::Bind { from, at: place(path), rights: Rights::Top });
                }
                (Node::Bind { from, rights }, Some(_)) => self.bind(from, path, *rights),
                (Node::Bind { from, rights }, None) => {
                    if fs::metadata(from).is_ok_and(|data| data.is_dir()) {
                        self.folder(path);
                    } else {
                        self.file(path);
                    }
                    self.bind(from, path, *rights);
                }
                (Node::Copy, None) => {
                    self.parents(path);
                    self.made.insert(path.clone());
                    self.steps.push(Step::Copy { from: c(path), at: place(path) });
                }
                (Node::Empty, None) => self.folder(path),
                (Node::Link(to), None) => {
                    self.parents(path);
                    self.made.insert(path.clone());
                    self.steps.push(Step::Link { to: c(to), at: place(path) });
                }
            }
        }
    }

    /// Mounts the scratch folder where temporary files go. What else is shown
    /// below `/tmp` is put into it; its names are returned.
    fn scratch(&mut self) -> Vec<OsString> {
        self.steps.push(Step::Scratch(place(HOLD.as_ref())));
        let below = |place: &str| -> BTreeSet<PathBuf> {
            let inner = self.made.iter().filter_map(|path| path.strip_prefix(place).ok());
            inner.filter_map(|path| path.components().next()).map(|first| first.as_os_str().into()).collect()
        };
        let (own, elsewhere) = (below(SCRATCH), ["/var/tmp", "/dev/shm"].map(|place| (place, below(place))));
        let mut fixed = Vec::new();
        for name in own {
            let inner = Path::new(SCRATCH).join(&name);
            let held = Path::new(HOLD).join(&name);
            let parent = self.made.iter().any(|path| path != &inner && path.starts_with(&inner));
            let is_folder = parent || self.steps.contains(&Step::Folder(place(&inner)));
            let bound = |step: &Step| matches!(step, Step::Bind { at, .. } if *at == place(&inner));
            let rights = if self.steps.iter().any(bound) { Rights::Same } else { Rights::Top };
            self.steps.push(if is_folder { Step::Folder(place(&held)) } else { Step::File(place(&held)) });
            self.steps.push(Step::Bind { from: place(&inner), at: place(&held), rights });
            fixed.push(name.into_os_string());
        }
        self.steps.push(Step::Bind {
            from: place(HOLD.as_ref()),
            at: place(SCRATCH.as_ref()),
            rights: Rights::Same,
        });
        for (outer, inner) in elsewhere {
            if inner.is_empty() {
                self.steps.push(Step::Bind {
                    from: place(HOLD.as_ref()),
                    at: place(outer.as_ref()),
                    rights: Rights::Same,
                });
            }
        }
        fixed
    }

    fn bind(&mut self, from: &Path, at: &Path, rights: Rights) {
        self.steps.push(Step::Bind { from: c(from), at: place(at), rights });
    }

    fn parents(&mut self, path: &Path) {
        if let Some(parent) = path.parent() {
            self.folder(parent);
        }
    }

    fn folder(&mut self, path: &Path) {
        if path.parent().is_none() || self.made.contains(path) {
            return;
        }
        self.parents(path);
        self.made.insert(path.into());
        self.steps.push(Step::Folder(place(path)));
    }

    fn file(&mut self, path: &Path) {
        self.parents(path);
        self.made.insert(path.into());
        self.steps.push(Step::File(place(path)));
    }
}

/// A path without `.` and `..`, from the root; links stay.
pub fn absolute(path: &Path) -> PathBuf {
    let mut whole = std::env::current_dir().unwrap_or_else(|_| "/".into());
    for part in path.components() {
        match part {
            Component::RootDir => whole = "/".into(),
            Component::ParentDir => {
                whole.pop();
            }
            Component::Normal(name) => whole.push(name),
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
    whole
}

/// Whether a file is in a folder that every view has.
pub fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// Relative to the root of the view.
fn place(path: &Path) -> CString {
    c(path.strip_prefix("/").unwrap_or(path))
}

/// Paths hold no NUL.
fn c(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}
