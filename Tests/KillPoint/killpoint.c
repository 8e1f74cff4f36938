// Kills the process that it is preloaded into by SIGKILL, at a change of the files on the disk that a test has chosen:
// before it, after it, or in the middle of what is written.
//
// The file $KILL_POINT, shared with the test, has two numbers of 8 bytes: how many changes there were so far, and the
// one at which to die, 0 for none. A negative number is that of one that fails instead: a write for lack of space, anything else by
// an error of the device. Changes count whose path has one of the texts of $KILL_WATCH in it, which stand with
// a colon between. So the same changes are met on every machine, however busy it is.
//
// A folder whose path has the text $KILL_HOLD in it can't be listed before the pipe $KILL_HOLD_PIPE has a writer; who waits
// counts as a change. With $KILL_WAITS, the chosen change waits for the same, and nothing is killed. With $KILL_LOCKS, so does each lock of a file that is taken; it fails as if a signal had come.

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic int64_t *numbers;
static char watched[256];

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("KILL_POINT"), *watch = getenv("KILL_WATCH");
  if (!path || !watch) return;
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) abort();
  void *memory = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED || strlen(watch) >= sizeof watched) abort();
  strcpy(watched, watch);
  numbers = memory;
}

static bool is_watched(const char *path) {
  char texts[sizeof watched], *rest = texts, *text;
  strcpy(texts, watched);
  while ((text = strsep(&rest, ":"))) {
    if (*text && strstr(path, text)) return true;
  }
  return false;
}

typedef enum { NOT, BEFORE, WITHIN, AFTER, FAILING } Moment;

static Moment moment_of(const char *path) {
  if (!numbers || !is_watched(path)) return NOT;
  int64_t number = atomic_fetch_add(&numbers[0], 1) + 1;
  int64_t chosen = atomic_load(&numbers[1]);
  if (number == chosen && getenv("KILL_WAITS")) {
    const char *pipe = getenv("KILL_HOLD_PIPE");
    int file = pipe ? (int)syscall(SYS_openat, AT_FDCWD, pipe, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) syscall(SYS_close, file);
    return NOT;
  }
  return number == chosen ? BEFORE + number % 3 : number == -chosen ? FAILING : NOT;
}

static Moment moment(int file) {
  if (!numbers) return NOT;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return NOT;
  path[length] = 0;
  return moment_of(path);
}

/// Of a name relative to a directory's descriptor.
static Moment moment_in(int directory, const char *name) {
  if (!numbers) return NOT;
  if (*name == '/' || directory == AT_FDCWD) return moment_of(name);
  char link[64], path[4096 + 260];
  snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
  ssize_t length = readlink(link, path, 4096);
  if (length <= 0) return NOT;
  snprintf(path + length, 260, "/%s", name);
  return moment_of(path);
}

static int fail(int error) {
  errno = error;
  return -1;
}

static void die(void) {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// What can't be half done is done.
#define CHANGE(name, when, call)      \
  static __typeof__(&name) next;      \
  if (!next) next = NEXT(name);       \
  Moment now = when;                  \
  if (now == FAILING) return fail(EIO); \
  if (now == BEFORE) die();           \
  __typeof__(next call) result = next call; \
  if (now != NOT) die();              \
  return result;

#define WRITE(name, offset_type)                                                          \
  ssize_t name(int file, const void *bytes, size_t count, offset_type offset) {           \
    static __typeof__(&name) next;                                                        \
    if (!next) next = NEXT(name);                                                         \
    Moment now = moment(file);                                                            \
    if (now == FAILING) return fail(ENOSPC);                                              \
    if (now == BEFORE) die();                                                             \
    ssize_t result = next(file, bytes, now == WITHIN ? count / 2 : count, offset);        \
    if (now != NOT) die();                                                                \
    return result;                                                                        \
  }

WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)

int ftruncate(int file, off_t length) { CHANGE(ftruncate, moment(file), (file, length)) }
int ftruncate64(int file, off64_t length) { CHANGE(ftruncate64, moment(file), (file, length)) }
int fdatasync(int file) { CHANGE(fdatasync, moment(file), (file)) }
int fsync(int file) { CHANGE(fsync, moment(file), (file)) }
int unlink(const char *path) { CHANGE(unlink, moment_of(path), (path)) }
int rmdir(const char *path) { CHANGE(rmdir, moment_of(path), (path)) }
int rename(const char *from, const char *to) { CHANGE(rename, moment_of(from), (from, to)) }
int renameat(int from_directory, const char *from, int to_directory, const char *to) {
  CHANGE(renameat, moment_in(from_directory, from), (from_directory, from, to_directory, to))
}
int renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned flags) {
  CHANGE(renameat2, moment_in(from_directory, from), (from_directory, from, to_directory, to, flags))
}
int unlinkat(int directory, const char *name, int flags) {
  CHANGE(unlinkat, moment_in(directory, name), (directory, name, flags))
}
int syncfs(int file) { CHANGE(syncfs, moment(file), (file)) }

DIR *opendir(const char *path) {
  static __typeof__(&opendir) next;
  if (!next) next = NEXT(opendir);
  const char *hold = getenv("KILL_HOLD"), *pipe = getenv("KILL_HOLD_PIPE");
  if (hold && pipe && strstr(path, hold)) {
    if (numbers) atomic_fetch_add(&numbers[0], 1);
    int file = open(pipe, O_RDONLY | O_CLOEXEC);
    if (file >= 0) close(file);
  }
  return next(path);
}

// One pointer at most stands behind the command, or a number, which has a register of its own, too.
#define FCNTL(name)                                                             \
  int name(int file, int command, ...) {                                        \
    static int (*next)(int, int, ...);                                          \
    if (!next) next = (int (*)(int, int, ...))dlsym(RTLD_NEXT, #name);          \
    va_list list;                                                               \
    va_start(list, command);                                                    \
    void *argument = va_arg(list, void *);                                      \
    va_end(list);                                                               \
    bool takes = command == F_SETLK && ((struct flock *)argument)->l_type != F_UNLCK; \
    if (takes && getenv("KILL_LOCKS") && moment(file) == FAILING) return fail(EINTR); \
    return next(file, command, argument);                                       \
  }

FCNTL(fcntl)
FCNTL(fcntl64)
