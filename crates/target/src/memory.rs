//! Memory shared with a target.
//!
//! Another process writes here at any time, so nothing is borrowed: bytes
//! are copied in and out, numbers are read and written whole.

use super::error::Error;
use super::sys;
use std::ffi::CStr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

/// A mapping, from a file in memory or from System V.
#[derive(Debug)]
pub struct Shared {
    start: *mut u8,
    length: usize,
    system_v: bool,
}

// SAFETY: it is memory; whoever has the owner may use it from any thread.
unsafe impl Send for Shared {}
// SAFETY: as above; the watchdog writes one number that nobody else does.
unsafe impl Sync for Shared {}

impl Shared {
    /// A new file in memory and its mapping. The file is sealed: no process
    /// can shorten it, which would end this one by SIGBUS, or lengthen it.
    pub fn new(name: &CStr, length: usize) -> Result<(Shared, OwnedFd), Error> {
        let failed = "map shared memory";
        let file = sys::sealed_memory_file(name, length).map_err(Error::system("make shared memory"))?;
        // SAFETY: a new mapping of a file that is as long and stays so.
        unsafe {
            let rights = libc::PROT_READ | libc::PROT_WRITE;
            let start = libc::mmap(ptr::null_mut(), length, rights, libc::MAP_SHARED, file.as_raw_fd(), 0);
            if start == libc::MAP_FAILED {
                return Err(Error::System { doing: failed, source: std::io::Error::last_os_error() });
            }
            Ok((Shared { start: start.cast(), length, system_v: false }, file))
        }
    }

    /// A segment of System V for a user, and its number. The system has no way
    /// to change its length. It is marked for
    /// removal at once: it can still be attached by number, and it is gone
    /// with the last process that has it.
    pub fn system_v(length: usize, owner: Option<u32>) -> Result<(Shared, i32), Error> {
        let failed = "make System V shared memory";
        // SAFETY: a new segment of this length, attached where the system likes.
        unsafe {
            let rights = libc::IPC_CREAT | libc::IPC_EXCL | 0o600;
            let id = sys::check(libc::shmget(libc::IPC_PRIVATE, length, rights).into())
                .map_err(Error::system(failed))?;
            let id = id as i32;
            let start = libc::shmat(id, ptr::null(), 0);
            let attached = start as isize != -1;
            let mut state: libc::shmid_ds = std::mem::zeroed();
            if let Some(owner) = owner
                && libc::shmctl(id, libc::IPC_STAT, &mut state) == 0
            {
                state.shm_perm.uid = owner;
                libc::shmctl(id, libc::IPC_SET, &mut state);
            }
            libc::shmctl(id, libc::IPC_RMID, ptr::null_mut());
            if !attached {
                return Err(Error::System { doing: failed, source: std::io::Error::last_os_error() });
            }
            Ok((Shared { start: start.cast(), length, system_v: true }, id))
        }
    }

    /// How long it is.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Where a byte is, for those who look for themselves.
    pub fn address(&self, at: usize) -> *const u8 {
        assert!(at < self.length);
        // SAFETY: in bounds.
        unsafe { self.start.add(at) }
    }

    /// Copies bytes in.
    pub fn put(&self, at: usize, bytes: &[u8]) {
        assert!(at <= self.length && bytes.len() <= self.length - at);
        // SAFETY: in bounds, as was just checked; no reference is made.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(at), bytes.len()) }
    }

    /// Copies bytes out.
    pub fn copy(&self, at: usize, to: &mut [u8]) {
        assert!(at <= self.length && to.len() <= self.length - at);
        // SAFETY: as above.
        unsafe { ptr::copy_nonoverlapping(self.start.add(at), to.as_mut_ptr(), to.len()) }
    }

    /// Sets bytes to 0.
    pub fn clear(&self, at: usize, length: usize) {
        assert!(at <= self.length && length <= self.length - at);
        // SAFETY: as above.
        unsafe { ptr::write_bytes(self.start.add(at), 0, length) }
    }

    /// Reads something plain.
    ///
    /// # Safety
    /// Every pattern of bytes must be a value of the type.
    pub unsafe fn read<T: Copy>(&self, at: usize) -> T {
        assert!(at <= self.length && size_of::<T>() <= self.length - at);
        // SAFETY: in bounds; the caller vouches for the type.
        unsafe { self.start.add(at).cast::<T>().read_volatile() }
    }

    /// Writes something plain, at a place that suits its alignment.
    pub fn write<T: Copy>(&self, at: usize, value: T) {
        assert!(
            at <= self.length && size_of::<T>() <= self.length - at && at.is_multiple_of(align_of::<T>())
        );
        // SAFETY: in bounds and aligned: mappings begin at a page.
        unsafe { self.start.add(at).cast::<T>().write_volatile(value) }
    }
}

/// An IPC namespace of a target that attaches memory by its number: this
/// process makes the memory there as well. All that the target leaves in it
/// is gone with the last of the two.
#[derive(Debug)]
pub struct IpcSpace {
    file: OwnedFd,
}

impl IpcSpace {
    /// A new one, if the system permits.
    pub fn new() -> std::io::Result<IpcSpace> {
        let make = || {
            // SAFETY: no memory is involved. Only this thread changes its
            // namespace, and it ends at once.
            sys::check(unsafe { libc::unshare(libc::CLONE_NEWIPC) }.into())?;
            let file = std::fs::File::open("/proc/thread-self/ns/ipc")?;
            Ok(IpcSpace { file: sys::raised(&file)? })
        };
        aside(make)?
    }

    /// Does something inside.
    pub fn within<T: Send>(&self, act: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        let failed = "enter an IPC namespace";
        let act = || {
            // SAFETY: as above.
            let entered =
                sys::check(unsafe { libc::setns(self.file.as_raw_fd(), libc::CLONE_NEWIPC) }.into());
            entered.map_err(Error::system(failed))?;
            act()
        };
        aside(act).map_err(Error::system(failed))?
    }

    /// For the warden.
    pub fn file(&self) -> Result<OwnedFd, Error> {
        sys::raised(&self.file).map_err(Error::system("copy a descriptor"))
    }
}

/// Does something in a thread that ends with it.
fn aside<T: Send>(act: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, act)?;
        thread.join().map_err(|_| std::io::Error::other("a thread panicked"))
    })
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: nothing borrows from the mapping.
        unsafe {
            if self.system_v {
                libc::shmdt(self.start.cast());
            } else {
                libc::munmap(self.start.cast(), self.length);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_system_v_vanish_with_their_last_user() {
        let (memory, id) = Shared::system_v(8192, None).expect("a segment");
        memory.put(8190, &[7, 8]);
        // SAFETY: attaching and detaching another view of the segment.
        unsafe {
            let other = libc::shmat(id, ptr::null(), 0);
            assert_ne!(other as isize, -1, "it can be attached although it is marked");
            assert_eq!(*other.cast::<u8>().add(8191), 8);
            libc::shmdt(other);
            drop(memory);
            assert_eq!(libc::shmat(id, ptr::null(), 0) as isize, -1, "it is gone");
        }
    }

    #[test]
    fn nobody_can_change_the_length_of_a_file_or_seal_it() {
        let (memory, file) = Shared::new(c"wug-test", 8192).expect("a mapping");
        let fd = file.as_raw_fd();
        for length in [0, 4096, 8191, 8193, 1 << 40] {
            // SAFETY: no memory is involved.
            assert_eq!(unsafe { libc::ftruncate(fd, length) }, -1, "{length}");
        }
        // SAFETY: as above.
        unsafe {
            assert_eq!(libc::fallocate(fd, 0, 8192, 4096), -1);
            for seal in [libc::F_SEAL_WRITE, libc::F_SEAL_FUTURE_WRITE] {
                assert_eq!(libc::fcntl(fd, libc::F_ADD_SEALS, seal), -1);
            }
            // A hole is filled with zeros when it is read.
            memory.put(8191, &[7]);
            let hole = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
            assert_eq!(libc::fallocate(fd, hole, 0, 8192), 0);
        }
        let mut byte = [1];
        memory.copy(8191, &mut byte);
        assert_eq!(byte, [0]);
    }

    #[test]
    #[should_panic]
    fn nothing_is_read_outside() {
        let (memory, _) = Shared::new(c"wug-test", 4096).expect("a mapping");
        memory.copy(4090, &mut [0; 7]);
    }
}
