//! Makes the file system that a target sees, and enters it. Safe after a
//! fork, as all of the warden.

use super::super::confine::{Rights, Step, View};
use super::calls::errno;
use libc::{c_char, c_int, c_ulong, c_void};
use std::ffi::CStr;
use std::ptr;

/// Enough for the few folders and mount points of a view.
const ROOT: &CStr = c"size=1g,nr_inodes=65536,mode=0755";

/// What became of a view.
pub enum Made {
    Whole,
    /// Without a list of processes of its own.
    WithoutProcesses,
    /// Which step failed, and the reason.
    Failed(usize, c_int),
}

/// Mounts a view at a folder and makes it the root.
///
/// # Safety
/// In a process just made, in a mount namespace of its own.
pub unsafe fn enter(view: &View, at: &CStr, scratch: &CStr, pid_namespace: bool) -> Made {
    let mut whole = true;
    // SAFETY: all texts end in NUL.
    unsafe {
        let private = libc::MS_REC | libc::MS_PRIVATE;
        let flags = libc::MS_NOSUID | libc::MS_NODEV;
        if !mount(None, c"/", None, private, None)
            || !mount(Some(c"tmpfs"), at, Some(c"tmpfs"), flags, Some(ROOT))
            || libc::chdir(at.as_ptr()) != 0
        {
            return Made::Failed(0, errno());
        }
        libc::umask(0);
        for (i, step) in view.steps.iter().enumerate() {
            let done = match step {
                Step::Folder(path) => libc::mkdir(path.as_ptr(), 0o755) == 0,
                Step::File(path) => file(path, 0o644).is_some_and(|fd| libc::close(fd) == 0),
                Step::Link { to, at } => libc::symlink(to.as_ptr(), at.as_ptr()) == 0,
                Step::Copy { from, at } => copy(from, at),
                Step::Bind { from, at, rights } => bind(from, at, *rights),
                Step::Scratch(path) => mount(Some(c"tmpfs"), path, Some(c"tmpfs"), flags, Some(scratch)),
                Step::Processes(path) => match processes(path, pid_namespace) {
                    None => false,
                    Some(own) => {
                        whole &= own;
                        true
                    }
                },
            };
            if !done {
                return Made::Failed(i + 1, errno());
            }
        }
        let folder = view.folder.as_ptr();
        if !restrict(c".", Rights::Top) || !pivot() || libc::chdir(folder) != 0 {
            return Made::Failed(view.steps.len() + 1, errno());
        }
    }
    if whole { Made::Whole } else { Made::WithoutProcesses }
}

/// Makes the working folder the root, and lets go of the old one.
unsafe fn pivot() -> bool {
    // SAFETY: see `enter`.
    unsafe {
        // The old root is put over the new one, and is gone with a call.
        if libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr()) == 0 {
            return libc::umount2(c".".as_ptr(), libc::MNT_DETACH) == 0;
        }
        // A root that the kernel started with cannot be exchanged.
        mount(Some(c"."), c"/", None, libc::MS_MOVE, None) && libc::chroot(c".".as_ptr()) == 0
    }
}

unsafe fn bind(from: &CStr, at: &CStr, rights: Rights) -> bool {
    // SAFETY: see `enter`.
    unsafe { mount(Some(from), at, None, libc::MS_BIND | libc::MS_REC, None) && restrict(at, rights) }
}

/// Takes rights from a mount.
unsafe fn restrict(at: &CStr, rights: Rights) -> bool {
    const BELOW: c_int = 0x8000;
    let always = libc::MOUNT_ATTR_NOSUID;
    let (set, flags) = match rights {
        Rights::Same => return true,
        Rights::Read => (always | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_RDONLY, BELOW),
        Rights::Write => (always | libc::MOUNT_ATTR_NODEV, BELOW),
        Rights::Device => (always | libc::MOUNT_ATTR_NOEXEC | libc::MOUNT_ATTR_RDONLY, 0),
        Rights::Top => (always | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_RDONLY, 0),
    };
    // SAFETY: the kernel only reads the attributes, whose size it is told.
    unsafe {
        let mut attributes: libc::mount_attr = std::mem::zeroed();
        attributes.attr_set = set;
        let size = size_of::<libc::mount_attr>();
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            at.as_ptr(),
            flags,
            &raw const attributes,
            size,
        ) == 0
    }
}

/// The processes of the namespace; false: those of all the machine, which
/// is all that some containers permit.
unsafe fn processes(at: &CStr, pid_namespace: bool) -> Option<bool> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    // SAFETY: see `enter`.
    unsafe {
        // Without what tells of the machine; older kernels cannot.
        let own = pid_namespace
            && (mount(Some(c"proc"), at, Some(c"proc"), flags, Some(c"subset=pid"))
                || mount(Some(c"proc"), at, Some(c"proc"), flags, None));
        if own {
            return Some(true);
        }
        bind(c"/proc", at, Rights::Read).then_some(false)
    }
}

unsafe fn file(path: &CStr, mode: u32) -> Option<c_int> {
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
    // SAFETY: see `enter`.
    let fd = unsafe { libc::open(path.as_ptr(), flags, mode) };
    (fd >= 0).then_some(fd)
}

unsafe fn copy(from: &CStr, at: &CStr) -> bool {
    // SAFETY: see `enter`.
    unsafe {
        let source = libc::open(from.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK);
        let Some(target) = file(at, 0o755) else { return false };
        loop {
            let sent = libc::sendfile(target, source, ptr::null_mut(), 1 << 24);
            if sent <= 0 {
                libc::close(source);
                libc::close(target);
                return sent == 0;
            }
        }
    }
}

unsafe fn mount(
    from: Option<&CStr>,
    at: &CStr,
    kind: Option<&CStr>,
    flags: c_ulong,
    data: Option<&CStr>,
) -> bool {
    let text = |text: Option<&CStr>| text.map_or(ptr::null(), CStr::as_ptr) as *const c_char;
    // SAFETY: see `enter`.
    unsafe { libc::mount(text(from), at.as_ptr(), text(kind), flags, text(data).cast::<c_void>()) == 0 }
}
