//! Delta debugging: a list without the elements that are not needed.
//!
//! In:  the number of elements, and a test of which may be kept.
//! Out: those that must be kept; no single one of them can be left out.
//!
//! Chunks are left out, half of the list at first, then half of that. They
//! are tried from the end, since what comes later rarely is needed by what
//! comes before. Zeller and Hildebrandt's ddmin also tries each chunk alone;
//! that is rarely of use when the chunks beside it are tried as well.

use super::trial::Stop;

/// Leaves out as many of `count` elements as the test permits, but `least`.
/// The test is given the elements that are kept, in order.
pub(super) fn ddmin(
    count: usize,
    least: usize,
    test: &mut dyn FnMut(&[usize]) -> Result<bool, Stop>,
) -> Result<Vec<usize>, Stop> {
    let mut kept: Vec<usize> = (0..count).collect();
    if count <= least {
        return Ok(kept);
    }
    if least == 0 && test(&[])? {
        return Ok(Vec::new());
    }
    let mut chunk = count.div_ceil(2);
    let mut candidate = Vec::with_capacity(count);
    loop {
        let removed = sweep(&mut kept, chunk, least, &mut candidate, test)?;
        if chunk > 1 {
            chunk = chunk.min(kept.len()).div_ceil(2).max(1);
        } else if !removed || kept.len() <= least {
            return Ok(kept);
        }
    }
}

/// Tries to leave out each chunk once.
fn sweep(
    kept: &mut Vec<usize>,
    chunk: usize,
    least: usize,
    candidate: &mut Vec<usize>,
    test: &mut dyn FnMut(&[usize]) -> Result<bool, Stop>,
) -> Result<bool, Stop> {
    let mut removed = false;
    let mut end = kept.len();
    while end > 0 {
        // Not the whole list: that was tried, or is not permitted.
        let from = end.saturating_sub(chunk);
        let size = (end - from).min(kept.len().saturating_sub(least.max(1)));
        if size == 0 {
            break;
        }
        let from = end - size;
        candidate.clear();
        candidate.extend_from_slice(&kept[..from]);
        candidate.extend_from_slice(&kept[end..]);
        if test(candidate)? {
            std::mem::swap(kept, candidate);
            removed = true;
        }
        end = from;
    }
    Ok(removed)
}
