// Makes one system call of the process that it is preloaded into fail, or kills the process there; and records every change of
// the disk, so that a test can build what a loss of power would have left.
//
// Unlike strace, which counts per thread, it has one counter for all threads. It sees what glibc's functions are called for:
// by Swift (`open`), by SQLite (`open64`, `pwrite64`, …) and by libraries that were compiled with checks (`__open_2`, …). What
// glibc calls inside itself, such as fopen's open, it doesn't see, nor what is asked for by a bare syscall().
//
//   FAULT          a file shared with the test, see `Control`
//   FAULT_WATCH    texts with a comma between: only calls count that have one of them in "CALL PATH", or at its end, if $
//                  follows. The path of a stream's connection begins with "socket:", that of an inotify instance ends
//                  with "inotify".
//   FAULT_ERROR    the error's number; without it, one that is likely for the call
//   FAULT_LOG      gets a line for each call that counts: number, thread, call, path, and what was done
//   FAULT_JOURNAL  gets what changes in the folder $FAULT_ROOT, see `Kind`, and what is sent on streams

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// What a test sets, and what it reads.
typedef struct {
  _Atomic int64_t count;     // calls so far
  _Atomic int64_t chosen;    // the one that fails; 0: none
  _Atomic int64_t verb;      // how, see `Verb`
  _Atomic int64_t more;      // how many after it fail, too
  _Atomic int64_t hits;      // how many have failed
} Control;

typedef enum { NONE, ERROR, SHORT, TORN, BEFORE, AFTER } Verb;

static Control *control;
static char watched[512], root[PATH_MAX];
static int log_file = -1, journal = -1, chosen_error;

// What the shim itself calls isn't counted: it calls the kernel, or the next library.
__attribute__((constructor)) static void begin(void) {
  const char *watch = getenv("FAULT_WATCH"), *path;
  if (watch) {
    if (strlen(watch) >= sizeof watched) abort();
    strcpy(watched, watch);
  }
  if ((path = getenv("FAULT_ERROR"))) chosen_error = atoi(path);
  if ((path = getenv("FAULT_LOG"))) {
    log_file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }
  if ((path = getenv("FAULT_ROOT"))) snprintf(root, sizeof root, "%s/", path);
  if ((path = getenv("FAULT_JOURNAL"))) {
    journal = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (journal < 0) abort();
  }
  if (!(path = getenv("FAULT"))) return;
  int file = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
  if (file < 0) abort();
  void *memory = (void *)syscall(SYS_mmap, NULL, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  syscall(SYS_close, file);
  if (memory == MAP_FAILED) abort();
  control = memory;
}

static void die(void) {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

// Paths

static bool path_of(int file, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  int code = errno;
  ssize_t length = syscall(SYS_readlink, link, path, PATH_MAX - 1);
  errno = code;
  if (length <= 0) return false;
  path[length] = 0;
  return true;
}

static bool path_in(int directory, const char *name, char *path) {
  size_t length = 0;
  if (*name != '/') {
    if (directory == AT_FDCWD) {
      if (syscall(SYS_getcwd, path, PATH_MAX) < 0) return false;
    } else if (!path_of(directory, path)) {
      return false;
    }
    length = strlen(path);
    if (!strcmp(name, ".") || !*name) return true;
    if (path[length - 1] != '/') path[length++] = '/';
  }
  // A path through /proc names what is open.
  if (!strncmp(name, "/proc/self/fd/", 14)) return path_of(atoi(name + 14), path);
  snprintf(path + length, PATH_MAX - length, "%s", name);
  return true;
}

static bool is_stream(int file) {
  int type = 0, code = errno;
  socklen_t size = sizeof type;
  bool result = getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
  errno = code;
  return result;
}

static bool is_watched(const char *call, int file, const char *path) {
  if (!strncmp(path, "socket:", 7) && !is_stream(file)) return false;
  char texts[sizeof watched], *rest = texts, *text, whole[PATH_MAX + 64];
  snprintf(whole, sizeof whole, "%s %s", call, path);
  strcpy(texts, watched);
  while ((text = strsep(&rest, ","))) {
    size_t length = strlen(text), end = strlen(whole);
    if (length > 1 && text[length - 1] == '$') {
      if (end >= --length && !strncmp(whole + end - length, text, length)) return true;
    } else if (*text && strstr(whole, text)) {
      return true;
    }
  }
  return false;
}

// Failing

static void note(int64_t number, const char *call, const char *path, Verb verb) {
  static const char *const done[] = {"", " error", " short", " torn", " killed-before", " killed-after"};
  if (log_file < 0) return;
  char line[PATH_MAX + 128];
  int length = snprintf(line, sizeof line, "%lld %ld %s %s%s\n", (long long)number, syscall(SYS_gettid), call, path,
                        done[verb]);
  int code = errno;
  syscall(SYS_write, log_file, line, length);
  errno = code;
}

static Verb verb_for(const char *call, int file, const char *path) {
  if (!control || !is_watched(call, file, path)) return NONE;
  int64_t number = atomic_fetch_add(&control->count, 1) + 1, chosen = atomic_load(&control->chosen);
  bool hit = chosen && number >= chosen && number <= chosen + atomic_load(&control->more);
  Verb verb = hit ? (Verb)atomic_load(&control->verb) : NONE;
  if (hit) atomic_fetch_add(&control->hits, 1);
  note(number, call, path, verb);
  if (verb == BEFORE) die();
  return verb;
}

static Verb verb_of(const char *call, int file) {
  char path[PATH_MAX];
  return control && path_of(file, path) ? verb_for(call, file, path) : NONE;
}

static Verb verb_in(const char *call, int directory, const char *name) {
  char path[PATH_MAX];
  return control && path_in(directory, name, path) ? verb_for(call, -1, path) : NONE;
}

// What can't be done by half fails, or is done before the process is killed.
#define FAILS(verb) ((verb) == ERROR || (verb) == SHORT)
#define DIES(verb) ((verb) == TORN || (verb) == AFTER)

// Recording

typedef enum {
  CREATE = 1,  // id, path: a file that wasn't there
  MKDIR,       // path
  WRITE,       // id, offset, bytes
  TRUNCATE,    // id, length
  SYNC,        // id, how many records there were when it began
  SYNC_FOLDER, // path, the same
  SYNC_ALL,    // the same
  RENAME,      // path, path
  LINK,        // path, path
  UNLINK,      // path
  RMDIR,       // path
  ANSWER,      // bytes sent on a stream
} Kind;

typedef struct {
  uint32_t kind, first, second, bytes;  // lengths
  uint64_t id, number;
} Record;

static pthread_mutex_t recording = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t records;

static void record(Kind kind, uint64_t id, uint64_t number, const char *a, const char *b, const void *bytes, size_t count) {
  Record head = {kind, a ? strlen(a) : 0, b ? strlen(b) : 0, count, id, number};
  struct iovec parts[] = {{&head, sizeof head}, {(void *)a, head.first}, {(void *)b, head.second}, {(void *)bytes, count}};
  int code = errno;
  pthread_mutex_lock(&recording);
  ssize_t size = sizeof head + head.first + head.second + count;
  if (syscall(SYS_writev, journal, parts, 4) != size) abort();
  atomic_fetch_add(&records, 1);
  pthread_mutex_unlock(&recording);
  errno = code;
}

static bool is_below_root(const char *path) { return journal >= 0 && *root && !strncmp(path, root, strlen(root)); }

/// The number of a regular file below the root; 0 for any other.
static uint64_t recorded(int file) {
  char path[PATH_MAX];
  struct stat status;
  if (journal < 0 || !path_of(file, path) || !is_below_root(path)) return 0;
  int code = errno;
  bool is = syscall(SYS_fstat, file, &status) == 0 && S_ISREG(status.st_mode);
  errno = code;
  return is ? status.st_ino : 0;
}

static void record_write(int file, const void *bytes, ssize_t count, off64_t offset) {
  uint64_t id = count > 0 ? recorded(file) : 0;
  if (id) record(WRITE, id, offset, NULL, NULL, bytes, count);
}

static void record_path(Kind kind, int directory, const char *name) {
  char path[PATH_MAX];
  if (journal >= 0 && path_in(directory, name, path) && is_below_root(path)) record(kind, 0, 0, path, NULL, NULL, 0);
}

static void record_paths(Kind kind, int d1, const char *n1, int d2, const char *n2) {
  char from[PATH_MAX], to[PATH_MAX];
  if (journal < 0 || !path_in(d1, n1, from) || !path_in(d2, n2, to)) return;
  if (is_below_root(from) || is_below_root(to)) record(kind, 0, 0, from, to, NULL, 0);
}

static void record_sync(int file, uint64_t begin) {
  char path[PATH_MAX];
  struct stat status;
  if (journal < 0 || !path_of(file, path)) return;
  strcat(path, "/");
  bool below = is_below_root(path);
  path[strlen(path) - 1] = 0;
  if (!below || syscall(SYS_fstat, file, &status) != 0) return;
  record(S_ISDIR(status.st_mode) ? SYNC_FOLDER : SYNC, status.st_ino, begin, path, NULL, NULL, 0);
}

#define NEXT(name)                 \
  static __typeof__(&name) next;   \
  if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int failed(int error) {
  errno = chosen_error ? chosen_error : error;
  return -1;
}

// Opening

static int open_error(int flags) { return flags & O_CREAT ? ENOSPC : EMFILE; }

#define OPEN(name, parameters, directory, path, flags, arguments)                                         \
  int name parameters {                                                                                   \
    static int(*next) parameters;                                                                         \
    if (!next) next = (__typeof__(next))dlsym(RTLD_NEXT, #name);                                          \
    mode_t mode = 0;                                                                                      \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                                                \
      va_list list;                                                                                       \
      va_start(list, flags);                                                                              \
      mode = va_arg(list, mode_t);                                                                        \
      va_end(list);                                                                                       \
    }                                                                                                     \
    Verb verb = verb_in(#name, directory, path);                                                          \
    if (FAILS(verb)) return failed(open_error(flags));                                                    \
    int result = opened(directory, path, flags, mode);                                                    \
    if (DIES(verb)) die();                                                                                \
    return result;                                                                                        \
  }

static int opened(int directory, const char *path, int flags, mode_t mode) {
  bool is_new = false;
  if (journal >= 0 && flags & O_CREAT) {
    struct stat status;
    int code = errno;
    is_new = syscall(SYS_newfstatat, directory, path, &status, AT_SYMLINK_NOFOLLOW) != 0;
    errno = code;
  }
  int result = syscall(SYS_openat, directory, path, flags, mode);
  uint64_t id = result >= 0 && flags & (O_CREAT | O_TRUNC) ? recorded(result) : 0;
  if (id && is_new) {
    char whole[PATH_MAX];
    if (path_in(directory, path, whole)) record(CREATE, id, 0, whole, NULL, NULL, 0);
  } else if (id && flags & O_TRUNC) {
    record(TRUNCATE, id, 0, NULL, NULL, NULL, 0);
  }
  return result;
}

OPEN(open, (const char *path, int flags, ...), AT_FDCWD, path, flags, )
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD, path, flags, )
OPEN(openat, (int directory, const char *path, int flags, ...), directory, path, flags, )
OPEN(openat64, (int directory, const char *path, int flags, ...), directory, path, flags, )

#define CHECKED_OPEN(name, parameters, directory)             \
  int name parameters;                                        \
  int name parameters {                                       \
    Verb verb = verb_in(#name, directory, path);              \
    if (FAILS(verb)) return failed(open_error(flags));        \
    int result = opened(directory, path, flags, 0);           \
    if (DIES(verb)) die();                                    \
    return result;                                            \
  }

CHECKED_OPEN(__open_2, (const char *path, int flags), AT_FDCWD)
CHECKED_OPEN(__open64_2, (const char *path, int flags), AT_FDCWD)
CHECKED_OPEN(__openat_2, (int directory, const char *path, int flags), directory)
CHECKED_OPEN(__openat64_2, (int directory, const char *path, int flags), directory)

DIR *opendir(const char *path) {
  NEXT(opendir);
  Verb verb = verb_in("opendir", AT_FDCWD, path);
  if (FAILS(verb)) return failed(EMFILE), NULL;
  DIR *result = next(path);
  if (DIES(verb)) die();
  return result;
}

#define READDIR(name, type)                              \
  struct type *name(DIR *directory) {                    \
    NEXT(name);                                          \
    Verb verb = verb_of(#name, dirfd(directory));        \
    if (FAILS(verb)) return failed(EIO), NULL;           \
    struct type *result = next(directory);               \
    if (DIES(verb)) die();                               \
    return result;                                       \
  }

READDIR(readdir, dirent)
READDIR(readdir64, dirent64)

// Reading

#define CALL(type, name, parameters, arguments, error, when)  \
  type name parameters {                                      \
    NEXT(name);                                               \
    Verb verb = when;                                         \
    if (FAILS(verb)) return (type)(intptr_t)failed(error);    \
    type result = next arguments;                             \
    if (DIES(verb)) die();                                    \
    return result;                                            \
  }

static int reading_error(int file) { return is_stream(file) ? ECONNRESET : EIO; }

CALL(ssize_t, read, (int file, void *bytes, size_t count), (file, bytes, count), reading_error(file), verb_of("read", file))
CALL(ssize_t, pread, (int file, void *bytes, size_t count, off_t offset), (file, bytes, count, offset), EIO,
     verb_of("pread", file))
CALL(ssize_t, pread64, (int file, void *bytes, size_t count, off64_t offset), (file, bytes, count, offset), EIO,
     verb_of("pread64", file))
CALL(ssize_t, recv, (int file, void *bytes, size_t count, int flags), (file, bytes, count, flags), ECONNRESET,
     verb_of("recv", file))
CALL(void *, mmap, (void *place, size_t size, int protection, int flags, int file, off_t offset),
     (place, size, protection, flags, file, offset), ENOMEM, file < 0 ? NONE : verb_of("mmap", file))
CALL(void *, mmap64, (void *place, size_t size, int protection, int flags, int file, off64_t offset),
     (place, size, protection, flags, file, offset), ENOMEM, file < 0 ? NONE : verb_of("mmap64", file))

// Writing

/// Where a write() begins.
static off64_t position(int file) {
  int code = errno;
  struct stat status;
  off64_t offset = syscall(SYS_lseek, file, 0, SEEK_CUR);
  if (fcntl(file, F_GETFL) & O_APPEND && syscall(SYS_fstat, file, &status) == 0) offset = status.st_size;
  errno = code;
  return offset;
}

static void record_sent(int file, const void *bytes, ssize_t count) {
  if (journal >= 0 && count > 0 && is_stream(file)) record(ANSWER, file, 0, NULL, NULL, bytes, count);
}

#define WRITING(type, name, parameters, call_short, call, written)                   \
  type name parameters {                                                             \
    NEXT(name);                                                                      \
    Verb verb = verb_of(#name, file);                                                \
    if (verb == ERROR) return failed(is_stream(file) ? EPIPE : ENOSPC);              \
    off64_t start = journal >= 0 ? position(file) : 0;                               \
    (void)start;                                                                     \
    type result = verb == SHORT || verb == TORN ? call_short : call;                 \
    if (result > 0) { written; }                                                     \
    if (DIES(verb)) die();                                                           \
    return result;                                                                   \
  }

static size_t half(size_t count) { return (count + 1) / 2; }

WRITING(ssize_t, write, (int file, const void *bytes, size_t count), next(file, bytes, half(count)),
        next(file, bytes, count), (record_write(file, bytes, result, start), record_sent(file, bytes, result)))
WRITING(ssize_t, pwrite, (int file, const void *bytes, size_t count, off_t offset), next(file, bytes, half(count), offset),
        next(file, bytes, count, offset), record_write(file, bytes, result, offset))
WRITING(ssize_t, pwrite64, (int file, const void *bytes, size_t count, off64_t offset),
        next(file, bytes, half(count), offset), next(file, bytes, count, offset),
        record_write(file, bytes, result, offset))
WRITING(ssize_t, send, (int file, const void *bytes, size_t count, int flags), next(file, bytes, half(count), flags),
        next(file, bytes, count, flags), record_sent(file, bytes, result))

static ssize_t write_first(int file, const struct iovec *parts) {
  return syscall(SYS_write, file, parts[0].iov_base, half(parts[0].iov_len));
}

static void record_parts(int file, const struct iovec *parts, int count, ssize_t left, off64_t offset) {
  for (int i = 0; i < count && left > 0; i++) {
    ssize_t length = (ssize_t)parts[i].iov_len < left ? (ssize_t)parts[i].iov_len : left;
    record_write(file, parts[i].iov_base, length, offset);
    record_sent(file, parts[i].iov_base, length);
    offset += length, left -= length;
  }
}

WRITING(ssize_t, writev, (int file, const struct iovec *parts, int count), write_first(file, parts),
        next(file, parts, count), record_parts(file, parts, count, result, start))
WRITING(ssize_t, sendmsg, (int file, const struct msghdr *message, int flags), next(file, message, flags),
        next(file, message, flags), (void)0)

static int truncated(int result, int file, off64_t length) {
  uint64_t id = result == 0 ? recorded(file) : 0;
  if (id) record(TRUNCATE, id, length, NULL, NULL, NULL, 0);
  return result;
}

#define CHANGE(name, parameters, error, when, change)  \
  int name parameters {                                \
    NEXT(name);                                        \
    Verb verb = when;                                  \
    if (FAILS(verb)) return failed(error);             \
    int result = change;                               \
    if (DIES(verb)) die();                             \
    return result;                                     \
  }

CHANGE(ftruncate, (int file, off_t length), EIO, verb_of("ftruncate", file), truncated(next(file, length), file, length))
CHANGE(ftruncate64, (int file, off64_t length), EIO, verb_of("ftruncate64", file),
       truncated(next(file, length), file, length))

// Syncing

static int synced(int (*next)(int), int file) {
  uint64_t begin = atomic_load(&records);
  int result = next(file);
  if (result == 0) record_sync(file, begin);
  return result;
}

static int synced_all(int (*next)(int), int file) {
  uint64_t begin = atomic_load(&records);
  int result = next(file);
  if (result == 0 && journal >= 0) record(SYNC_ALL, 0, begin, NULL, NULL, NULL, 0);
  return result;
}

CHANGE(fsync, (int file), EIO, verb_of("fsync", file), synced(next, file))
CHANGE(fdatasync, (int file), EIO, verb_of("fdatasync", file), synced(next, file))
CHANGE(syncfs, (int file), EIO, verb_of("syncfs", file), synced_all(next, file))

// Names

static int named(int result, Kind kind, int directory, const char *name) {
  if (result == 0) record_path(kind, directory, name);
  return result;
}

static int renamed(int result, Kind kind, int d1, const char *n1, int d2, const char *n2) {
  if (result == 0) record_paths(kind, d1, n1, d2, n2);
  return result;
}

CHANGE(mkdir, (const char *path, mode_t mode), ENOSPC, verb_in("mkdir", AT_FDCWD, path),
       named(next(path, mode), MKDIR, AT_FDCWD, path))
CHANGE(mkdirat, (int directory, const char *path, mode_t mode), ENOSPC, verb_in("mkdirat", directory, path),
       named(next(directory, path, mode), MKDIR, directory, path))
CHANGE(rmdir, (const char *path), EIO, verb_in("rmdir", AT_FDCWD, path), named(next(path), RMDIR, AT_FDCWD, path))
CHANGE(unlink, (const char *path), EIO, verb_in("unlink", AT_FDCWD, path), named(next(path), UNLINK, AT_FDCWD, path))
CHANGE(unlinkat, (int directory, const char *path, int flags), EIO, verb_in("unlinkat", directory, path),
       named(next(directory, path, flags), flags & AT_REMOVEDIR ? RMDIR : UNLINK, directory, path))
CHANGE(rename, (const char *from, const char *to), EIO, verb_in("rename", AT_FDCWD, from),
       renamed(next(from, to), RENAME, AT_FDCWD, from, AT_FDCWD, to))
CHANGE(renameat, (int d1, const char *from, int d2, const char *to), EIO, verb_in("renameat", d1, from),
       renamed(next(d1, from, d2, to), RENAME, d1, from, d2, to))
CHANGE(renameat2, (int d1, const char *from, int d2, const char *to, unsigned flags), EIO, verb_in("renameat2", d1, from),
       renamed(next(d1, from, d2, to, flags), RENAME, d1, from, d2, to))
CHANGE(link, (const char *from, const char *to), EIO, verb_in("link", AT_FDCWD, from),
       renamed(next(from, to), LINK, AT_FDCWD, from, AT_FDCWD, to))
CHANGE(linkat, (int d1, const char *from, int d2, const char *to, int flags), EIO, verb_in("linkat", d2, to),
       renamed(next(d1, from, d2, to, flags), LINK, d1, from, d2, to))

// Events and connections

CHANGE(inotify_init1, (int flags), EMFILE, verb_for("inotify_init1", -1, "inotify"), next(flags))
CHANGE(inotify_add_watch, (int file, const char *path, uint32_t mask), ENOSPC, verb_of("inotify_add_watch", file),
       next(file, path, mask))
CHANGE(accept, (int file, struct sockaddr *address, socklen_t *size), ENFILE, verb_of("accept", file),
       next(file, address, size))
CHANGE(accept4, (int file, struct sockaddr *address, socklen_t *size, int flags), ENFILE, verb_of("accept4", file),
       next(file, address, size, flags))
