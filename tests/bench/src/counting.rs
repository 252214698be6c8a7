//! An allocator that counts what is held, when asked to.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

#[cfg(not(target_os = "linux"))]
use std::alloc::System as Allocator;
#[cfg(target_os = "linux")]
use tikv_jemallocator::Jemalloc as Allocator;

/// The program's allocator; it counts only between [`start`] and the end of the process.
pub struct Counting;

static COUNTS: AtomicBool = AtomicBool::new(false);
static HELD: AtomicIsize = AtomicIsize::new(0);

/// Counts from now on. What was taken before and is given back later would count as negative: start early.
pub fn start() {
    COUNTS.store(true, Ordering::Relaxed);
}

/// Bytes that are held.
pub fn held() -> isize {
    HELD.load(Ordering::Relaxed)
}

fn count(bytes: isize) {
    if COUNTS.load(Ordering::Relaxed) {
        HELD.fetch_add(bytes, Ordering::Relaxed);
    }
}

fn signed(bytes: usize) -> isize {
    isize::try_from(bytes).unwrap_or(isize::MAX)
}

// SAFETY: every call is handed to the program's allocator unchanged; counting touches two atomics only.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(signed(layout.size()));
        // SAFETY: as the caller promises.
        unsafe { Allocator.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(signed(layout.size()));
        // SAFETY: as the caller promises.
        unsafe { Allocator.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-signed(layout.size()));
        // SAFETY: as the caller promises.
        unsafe { Allocator.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(signed(size) - signed(layout.size()));
        // SAFETY: as the caller promises.
        unsafe { Allocator.realloc(at, layout, size) }
    }
}
