//! Loops on rayon's threads that are compiled once per type, whatever they do.
//!
//! rayon compiles a pipeline of iterators for every closure. In code that is generic over the number of dimensions it does so eight
//! times, which is 20,000 to 60,000 lines of LLVM IR for one loop. Here a loop calls its body through a pointer. The body should
//! therefore be worth a call: a piece of a table, or a slab of cells.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rayon::prelude::*;
use rayon::{Scope, Yield};

use crate::memory::{Refused, reserve};
use crate::threads::start_scoped;

/// Calls `task(0)` to `task(tasks - 1)`, in any order.
pub(crate) fn each(tasks: usize, task: &(dyn Fn(usize) + Sync)) {
    (0..tasks).into_par_iter().for_each(task);
}

/// The same for tasks that can fail. After a failure no more are started.
///
/// # Errors
/// The first in time.
pub(crate) fn try_each<E: Send>(tasks: usize, task: &(dyn Fn(usize) -> Result<(), E> + Sync)) -> Result<(), E> {
    let (failed, failure) = (AtomicBool::new(false), Mutex::new(None));
    each(tasks, &|i| {
        if failed.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = task(i) {
            failed.store(true, Ordering::Relaxed);
            failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    });
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// What every task returns, in the order of their numbers.
pub fn map<T: Send>(tasks: usize, task: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let Ok(found) = try_map(tasks, &|i| Ok::<_, Infallible>(task(i)));
    found
}

/// The same for tasks that can fail. After a failure no more are started.
///
/// # Errors
/// The first in time.
pub fn try_map<T: Send, E: Send>(tasks: usize, task: &(dyn Fn(usize) -> Result<T, E> + Sync)) -> Result<Vec<T>, E> {
    let places = Places::new(tasks);
    try_each(tasks, &|i| {
        places.put(i, task(i)?);
        Ok(())
    })?;
    Ok(places.all())
}

/// What each task returned. Nobody waits for a lock: a place has one task.
///
/// rayon's own collection is compiled for every T, and so is what is here: loops are a third of the code that iterators are.
struct Places<T>(Vec<Mutex<Option<T>>>);

impl<T> Places<T> {
    fn new(tasks: usize) -> Self {
        let mut places = Vec::with_capacity(tasks);
        for _ in 0..tasks {
            places.push(Mutex::new(None));
        }
        Self(places)
    }

    fn put(&self, task: usize, found: T) {
        *self.0[task].lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
    }

    /// In the order of the tasks, all of which were done.
    fn all(self) -> Vec<T> {
        let mut all = Vec::with_capacity(self.0.len());
        for place in self.0 {
            all.push(place.into_inner().unwrap_or_else(PoisonError::into_inner).expect("every task was done"));
        }
        all
    }
}

/// Threads beside rayon's that wait for somebody else, in this process.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// The most of them.
const MOST_WAITING: usize = 32;

/// The same for tasks that wait for somebody else and compute little: up to `most` of them at once, on threads of their own.
///
/// # Errors
/// The first in time.
pub(crate) fn try_map_waiting<T: Send, E: Send>(
    tasks: usize,
    most: usize,
    task: &(dyn Fn(usize) -> Result<T, E> + Sync),
) -> Result<Vec<T>, E> {
    let places = Places::new(tasks);
    try_each_waiting(tasks, most, &|i| {
        places.put(i, task(i)?);
        Ok(())
    })?;
    Ok(places.all())
}

/// The same for tasks that return nothing.
fn try_each_waiting<E: Send>(
    tasks: usize,
    most: usize,
    task: &(dyn Fn(usize) -> Result<(), E> + Sync),
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let lock_failure = || failure.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= tasks || lock_failure().is_some() {
                return;
            }
            if let Err(error) = task(i) {
                lock_failure().get_or_insert(error);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..tasks.min(most) {
            let room = WAITING.fetch_add(1, Ordering::Relaxed) < MOST_WAITING;
            let started = room
                && start_scoped(scope, || {
                    work();
                    WAITING.fetch_sub(1, Ordering::Relaxed);
                })
                .is_ok();
            // This thread works, too; and alone where the system gives no other.
            if !started {
                WAITING.fetch_sub(1, Ordering::Relaxed);
                break;
            }
        }
        work();
    });
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Calls `body` with a scope in which tasks start others, and waits for all of them.
pub(crate) fn scope<'scope>(body: &(dyn Fn(&Scope<'scope>) + Sync)) {
    rayon::scope(|scope| body(scope));
}

/// What a pipeline has begun and not ended.
struct UnderWay {
    state: Mutex<UnderWayState>,
    ended: Condvar,
}

struct UnderWayState {
    tasks: usize,
    /// False if nobody wants more.
    more: bool,
}

impl UnderWay {
    fn lock(&self) -> MutexGuard<'_, UnderWayState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there are fewer than `most` tasks, and does some of their work meanwhile if this is a thread of the pool. True if one
    /// more is wanted, which is counted.
    fn begins(&self, most: usize) -> bool {
        loop {
            let mut state = self.lock();
            if !state.more || state.tasks < most {
                state.tasks += usize::from(state.more);
                return state.more;
            }
            drop(state);
            if rayon::yield_now() != Some(Yield::Executed) {
                let state = self.lock();
                if state.tasks >= most {
                    drop(self.ended.wait_timeout(state, LOOK_AGAIN));
                }
            }
        }
    }
}

/// Counts a task that ends, however it does.
struct EndsTask<'u>(&'u UnderWay);

impl Drop for EndsTask<'_> {
    fn drop(&mut self) {
        self.0.lock().tasks -= 1;
        self.0.ended.notify_all();
    }
}

/// How long a thread waits before it looks whether others left work for it.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Makes items one after the other on the caller's thread, and has the threads of its pool work on those that are made: on `most` of them
/// at once, so that one more is in memory. `work` answers whether it wants more items.
///
/// # Errors
/// That of `next`, which then is not called again. What was made before is worked on to its end.
pub(crate) fn pipeline<T: Send, E>(
    most: usize,
    next: &mut dyn FnMut() -> Result<Option<T>, E>,
    work: &(dyn Fn(T) -> bool + Sync),
) -> Result<(), E> {
    let under_way = UnderWay { state: Mutex::new(UnderWayState { tasks: 0, more: true }), ended: Condvar::new() };
    let under_way = &under_way;
    rayon::in_place_scope(|scope| {
        while under_way.lock().more {
            let Some(item) = next()? else { break };
            if !under_way.begins(most) {
                break;
            }
            scope.spawn(move |_| {
                let _ends = EndsTask(under_way);
                if !work(item) {
                    under_way.lock().more = false;
                }
            });
        }
        Ok(())
    })
}

/// Number `i` of the pieces into which `len` items are cut, `each` items long but for the last.
pub fn piece(len: usize, each: usize, i: usize) -> Range<usize> {
    i * each..len.min((i + 1) * each)
}

/// What is done with a piece of items, which has a number.
pub type OfPiece<'t, T, R> = dyn Fn(usize, &mut [T]) -> R + Sync + 't;

/// Calls `task` with the number of each piece of `each` items, and with the piece.
pub fn pieces_mut<T: Send>(items: &mut [T], each: usize, task: &OfPiece<'_, T, ()>) {
    let Ok(()) = try_pieces_mut(items, each, &|i, piece| {
        task(i, piece);
        Ok::<_, Infallible>(())
    });
}

/// The same for tasks that can fail.
///
/// # Errors
/// As [`try_each`].
pub(crate) fn try_pieces_mut<T: Send, E: Send>(
    items: &mut [T],
    each: usize,
    task: &OfPiece<'_, T, Result<(), E>>,
) -> Result<(), E> {
    // Nobody waits for a lock: a piece has one task.
    let pieces: Vec<Mutex<&mut [T]>> = items.chunks_mut(each).map(Mutex::new).collect();
    try_each(pieces.len(), &|i| task(i, &mut pieces[i].lock().unwrap_or_else(PoisonError::into_inner)))
}

/// Appends lists, one after the other. Threads share the copying, and with it the first touch of fresh memory, which takes longer.
///
/// # Errors
/// If there is no memory for them.
pub(crate) fn append<T: Copy + Send + Sync>(list: &mut Vec<T>, more: &[impl AsRef<[T]> + Sync]) -> Result<(), Refused> {
    let more: Vec<&[T]> = more.iter().map(AsRef::as_ref).collect();
    let added = more.iter().map(|items| items.len()).sum();
    reserve(list, added)?;
    let mut room = &mut list.spare_capacity_mut()[..added];
    let mut places = Vec::with_capacity(more.len());
    for items in &more {
        let (here, rest) = room.split_at_mut(items.len());
        places.push(Mutex::new(here));
        room = rest;
    }
    each(more.len(), &|i| {
        let mut place = places[i].lock().unwrap_or_else(PoisonError::into_inner);
        place.iter_mut().zip(more[i]).for_each(|(place, &item)| {
            place.write(item);
        });
    });
    drop(places);
    // SAFETY: the room behind the list is cut into as many places as there are items, and each was just written.
    #[allow(unsafe_code)]
    unsafe {
        list.set_len(list.len() + added);
    }
    Ok(())
}

/// Buffers that tasks take and give back, so that a later task reuses the memory of an earlier one.
pub(crate) struct Spare<T>(Mutex<Vec<T>>);

impl<T> Spare<T> {
    /// No buffer yet.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The buffer that was given back last; None if all are taken.
    pub(crate) fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Gives a buffer back.
    pub(crate) fn give(&self, buffer: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_all_items_once_and_in_order() {
        let mut items: Vec<usize> = vec![0; 1000];
        let write = |i: usize, part: &mut [usize]| {
            part.iter_mut().enumerate().for_each(|(j, item)| *item += i * 64 + j);
            Ok::<_, ()>(())
        };
        try_pieces_mut(&mut items, 64, &write).unwrap();
        assert_eq!(items, (0..1000).collect::<Vec<_>>());
        assert_eq!((piece(1000, 64, 0), piece(1000, 64, 15)), (0..64, 960..1000));
        assert_eq!(map(300, &|i| 2 * i), (0..300).map(|i| 2 * i).collect::<Vec<_>>());
    }

    #[test]
    fn tasks_that_wait_do_so_at_once() {
        let barrier = std::sync::Barrier::new(8);
        // Fewer than eight threads would never get past it.
        let found = try_map_waiting(8, 8, &|i| {
            barrier.wait();
            Ok::<_, ()>(i)
        });
        assert_eq!(found, Ok((0..8).collect()));
    }

    /// Whoever calls: a thread of its own, one of the pool, and the only one of a pool.
    #[test]
    fn pipelines_have_few_items_at_once() {
        let run = || {
            let (made, done, most) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
            let sum = AtomicUsize::new(0);
            let mut items = 0..50;
            let next = &mut || {
                let item = items.next();
                made.fetch_add(usize::from(item.is_some()), Ordering::SeqCst);
                Ok::<_, ()>(item)
            };
            pipeline(2, next, &|item| {
                most.fetch_max(made.load(Ordering::SeqCst) - done.load(Ordering::SeqCst), Ordering::SeqCst);
                each(10, &|_| _ = sum.fetch_add(item, Ordering::Relaxed));
                done.fetch_add(1, Ordering::SeqCst);
                true
            })
            .unwrap();
            assert_eq!((sum.into_inner(), done.into_inner()), (10 * 49 * 50 / 2, 50));
            // Two that are worked on, and the next.
            assert!(most.into_inner() <= 3);
        };
        run();
        for threads in [1, 2] {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run);
        }
    }

    #[test]
    fn pipelines_end_early() {
        let (done, mut items) = (AtomicUsize::new(0), 0..50);
        let count = |_| done.fetch_add(1, Ordering::SeqCst) < 100;
        let failed = pipeline(2, &mut || if items.start == 7 { Err("seven") } else { Ok(items.next()) }, &count);
        // What was made is worked on.
        assert_eq!((failed, done.into_inner()), (Err("seven"), 7));
        let (made, mut items) = (AtomicUsize::new(0), 0..50);
        let next = &mut || {
            made.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ()>(items.next())
        };
        assert_eq!(pipeline(1, next, &|item| item < 3), Ok(()));
        // Item 3, the one that was made meanwhile, and no other.
        assert!((4..=5).contains(&made.into_inner()));
    }

    #[test]
    fn lists_are_appended_in_their_order() {
        let lists: Vec<Vec<usize>> = (0..50).map(|i| vec![i; i % 7]).collect();
        let mut all = vec![77];
        append(&mut all, &lists).unwrap();
        append(&mut all, &[[]; 0]).unwrap();
        assert_eq!(all, [vec![77], lists.concat()].concat());
    }

    #[test]
    fn a_failure_is_reported_and_ends_the_loop() {
        let tasks = |i: usize| if i == 7 { Err(i) } else { Ok(i) };
        assert_eq!(try_each(100, &|i| tasks(i).map(drop)), Err(7));
        assert_eq!(try_map(100, &tasks), Err(7));
        assert_eq!(try_map(7, &tasks), Ok((0..7).collect()));
        assert_eq!(try_map_waiting(100, 8, &tasks), Err(7));
        assert_eq!(try_map_waiting(7, 8, &tasks), Ok((0..7).collect()));
        assert_eq!(try_map_waiting(0, 8, &tasks), Ok(Vec::new()));
    }
}
