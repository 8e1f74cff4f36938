// Sets the clock of the process that it is preloaded into, and of no other, while the process runs.
//
// The file $CLOCK_SHIM, shared with the test, has one number of 8 bytes: the nanoseconds by which CLOCK_REALTIME is ahead. Other
// clocks and timers on them stay as they are, as if an operator had set the system's clock. libfaketime shifts the timers of
// CLOCK_MONOTONIC and CLOCK_BOOTTIME, too, once they have an absolute time, as Dispatch's have: none of them fires then.
//
// What the kernel does by its own clock isn't concerned: times of files, and timers that run already. Dispatch looks at the
// clock when such a timer fires, and sets it again.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000000, DESCRIPTORS = 65536, YEAR = 365 * 86400 };

static _Atomic int64_t *offset;
// The timers of CLOCK_REALTIME, by their descriptors.
static _Atomic bool is_realtime[DESCRIPTORS];

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("CLOCK_SHIM");
  if (!path) return;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) abort();
  void *memory = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) abort();
  offset = memory;
}

static struct timespec moved(struct timespec time, int64_t by) {
  int64_t all = (int64_t)time.tv_sec * SECOND + time.tv_nsec + by;
  return (struct timespec){.tv_sec = all / SECOND, .tv_nsec = all % SECOND};
}

static int64_t ahead(void) { return offset ? atomic_load(offset) : 0; }

// The real time at which the clock that was set shows another.
static struct timespec real(const struct timespec *shown) {
  struct timespec time = moved(*shown, -ahead());
  return time.tv_sec < 1 ? (struct timespec){.tv_sec = 1} : time;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int clock_gettime(clockid_t clock, struct timespec *time) {
  static __typeof__(&clock_gettime) next;
  if (!next) next = NEXT(clock_gettime);
  int result = next(clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) *time = moved(*time, ahead());
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t *result) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0) return -1;
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}

int timerfd_create(clockid_t clock, int flags) {
  static __typeof__(&timerfd_create) next;
  if (!next) next = NEXT(timerfd_create);
  int file = next(clock, flags);
  if (file >= 0 && file < DESCRIPTORS) atomic_store(&is_realtime[file], clock == CLOCK_REALTIME);
  return file;
}

int timerfd_settime(int file, int flags, const struct itimerspec *value, struct itimerspec *old) {
  static __typeof__(&timerfd_settime) next;
  if (!next) next = NEXT(timerfd_settime);
  bool isArmed = value->it_value.tv_sec != 0 || value->it_value.tv_nsec != 0;
  bool isRealtime = file >= 0 && file < DESCRIPTORS && atomic_load(&is_realtime[file]);
  if (!(flags & TFD_TIMER_ABSTIME) || !isArmed || !isRealtime) return next(file, flags, value, old);
  struct itimerspec set = {.it_interval = value->it_interval, .it_value = real(&value->it_value)};
  return next(file, flags, &set, old);
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
  static __typeof__(&sem_timedwait) next;
  if (!next) next = NEXT(sem_timedwait);
  struct timespec time = real(until);
  return next(semaphore, &time);
}

// A condition may wait by CLOCK_MONOTONIC, whose times are those since the machine's start.
int pthread_cond_timedwait(
  pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict until) {
  static __typeof__(&pthread_cond_timedwait) next;
  if (!next) {
    // Without a version, dlsym finds the one of an older form of conditions.
    const char *versions[] = {"GLIBC_2.3.2", "GLIBC_2.17", "GLIBC_2.27"};
    for (int i = 0; i < 3 && !next; i++) {
      next = (__typeof__(&pthread_cond_timedwait))dlvsym(RTLD_NEXT, "pthread_cond_timedwait", versions[i]);
    }
    if (!next) abort();
  }
  struct timespec time = until->tv_sec > 10 * (time_t)YEAR ? real(until) : *until;
  return next(condition, mutex, &time);
}
