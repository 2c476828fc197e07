//! One core for a campaign and all it starts.

use wug_target::cores;

/// Keeps this process, and what it starts, on one core that nobody else
/// keeps to, as afl-fuzz does: then a run is handed over without waking
/// another core. AFL_NO_AFFINITY leaves it to the system. `number` is that of
/// a worker.
pub fn pin(number: u32) -> Option<usize> {
    if std::env::var_os("AFL_NO_AFFINITY").is_some() {
        return None;
    }
    let all = cores::allowed().ok()?;
    // On one core already, by whoever started this.
    if all.len() == 1 {
        return all.first().copied();
    }
    let free = cores::free().ok()?;
    // Workers start at the same moment: each looks from its own place on.
    let mut order = all.iter().cycle().skip(number as usize % all.len().max(1)).take(all.len());
    // None is left: let the system share them out.
    let core = *order.find(|core| free.contains(core))?;
    cores::bind(core).ok()?;
    Some(core)
}
