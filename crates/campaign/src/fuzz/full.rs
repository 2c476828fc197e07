//! A full disk: what it refused is done again once there is room.

use super::{Event, Watch};
use std::time::Duration;
use wug_folder::Folder;
use wug_target::End;

/// How long to wait for room on the disk.
const PAUSE: Duration = Duration::from_millis(500);

/// Does again what a full disk refused, until there is room, whoever watches
/// wants it to end, or the end has come.
pub(crate) fn insist<T>(
    folder: &mut Folder,
    watch: &mut dyn Watch,
    end: &End,
    mut act: impl FnMut(&mut Folder) -> Result<T, wug_folder::Error>,
) -> Result<T, wug_folder::Error> {
    let mut told = false;
    loop {
        match act(folder) {
            Err(error) if error.is_full() && !watch.stops() && !end.has_come() => {
                if !told {
                    watch.event(Event::Paused(&error));
                    told = true;
                }
                end.sleep(PAUSE);
            }
            done => {
                if told && done.is_ok() {
                    watch.event(Event::Notice("there is room on the disk again".into()));
                }
                return done;
            }
        }
    }
}
