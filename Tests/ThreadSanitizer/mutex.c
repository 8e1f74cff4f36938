// What ThreadSanitizer can't see of Swift's Mutex on Linux: that a thread which had to wait for the lock comes after the
// one that let go of it.
//
// The uncontended way through a Mutex is inlined into the program and instrumented with it. The contended one lies in
// libswiftSynchronization.so, which isn't, so that every contended lock looks like a race. Preloaded, these functions
// stand before that library's and tell: nothing is suppressed, and a true race is still one.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// Weak: programs without the sanitizer are started by tests, too, and get this library from the environment.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

typedef SWIFT void (*Lock)(uint32_t thread, SELF);
typedef SWIFT void (*Unlock)(SELF);
typedef SWIFT bool (*TryLock)(SELF);

static void acquired(void *mutex) {
  if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void lockSlow(uint32_t thread, SELF) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT void lockSlow(uint32_t thread, SELF) {
  static Lock next;
  if (!next) next = (Lock)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
  next(thread, self);
  acquired(self);
}

SWIFT bool tryLockSlow(SELF) __asm__("$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
SWIFT bool tryLockSlow(SELF) {
  static TryLock next;
  if (!next) next = (TryLock)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
  bool isLocked = next(self);
  if (isLocked) acquired(self);
  return isLocked;
}

SWIFT void unlockSlow(SELF) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
SWIFT void unlockSlow(SELF) {
  static Unlock next;
  if (!next) next = (Unlock)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
  if (__tsan_release) __tsan_release(self);
  next(self);
}
