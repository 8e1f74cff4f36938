// SQLite's unix VFS calls the system through a table (`xSetSystemCall`), and memory through another (SQLITE_CONFIG_MALLOC):
// both get functions that count and then do what they stand for, or fail. Its fsync isn't in the table, so the program's own
// fsync and fdatasync stand before the C library's, for the whole process.
//
// One counter for each kind and for all threads: which thread makes the Nth call makes no difference.

#define _GNU_SOURCE
#include "CSQLiteFaults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  kind_open, kind_directory, kind_close, kind_access, kind_stat, kind_fstat, kind_truncate, kind_lock, kind_read,
  kind_write, kind_full, kind_short, kind_allocate, kind_unlink, kind_map, kind_sync, kind_memory, kind_count
};

static const char *const names[kind_count] = {
    "open:EMFILE", "openDirectory:EIO", "close:EIO",  "access:EIO",       "stat:EIO",      "fstat:EIO",
    "ftruncate:EIO", "lock:EIO",        "read:EIO",   "write:EIO",        "write:ENOSPC",  "write:short",
    "fallocate:ENOSPC", "unlink:EIO",   "mmap:ENOMEM", "fsync:EIO",       "malloc",
};

static atomic_int is_installed, is_armed, failing_kind;
static atomic_long failing_number, hits, counts[kind_count];
static atomic_int is_lasting;

int lade_faults_kinds(void) { return kind_count; }
const char *lade_faults_name(int kind) { return names[kind]; }
long lade_faults_count(int kind) { return atomic_load(&counts[kind]); }
long lade_faults_hits(void) { return atomic_load(&hits); }

void lade_faults_arm(int kind, long number, int lasts) {
  for (int index = 0; index < kind_count; index++) atomic_store(&counts[index], 0);
  atomic_store(&hits, 0);
  atomic_store(&failing_kind, kind);
  atomic_store(&failing_number, number);
  atomic_store(&is_lasting, lasts);
  atomic_store(&is_armed, 1);
}

void lade_faults_disarm(void) { atomic_store(&is_armed, 0); }

// Counts a call, and says whether it is to fail.
static int fails(int kind) {
  if (!atomic_load(&is_armed)) return 0;
  long number = atomic_fetch_add(&counts[kind], 1) + 1;
  if (kind != atomic_load(&failing_kind)) return 0;
  long chosen = atomic_load(&failing_number);
  if (number != chosen && !(number > chosen && atomic_load(&is_lasting))) return 0;
  atomic_fetch_add(&hits, 1);
  return 1;
}

static int failure(int code) {
  errno = code;
  return -1;
}

// MARK: The system

static int (*next_open)(const char *, int, int);
static int (*next_directory)(const char *, int *);
static int (*next_close)(int);
static int (*next_access)(const char *, int);
static int (*next_stat)(const char *, struct stat *);
static int (*next_fstat)(int, struct stat *);
static int (*next_truncate)(int, off_t);
static int (*next_lock)(int, int, ...);
static ssize_t (*next_read)(int, void *, size_t);
static ssize_t (*next_pread)(int, void *, size_t, off_t);
static ssize_t (*next_pread64)(int, void *, size_t, off_t);
static ssize_t (*next_write)(int, const void *, size_t);
static ssize_t (*next_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*next_pwrite64)(int, const void *, size_t, off_t);
static int (*next_allocate)(int, off_t, off_t);
static int (*next_unlink)(const char *);
static void *(*next_map)(void *, size_t, int, int, int, off_t);

static int counted_open(const char *path, int flags, int mode) {
  return fails(kind_open) ? failure(EMFILE) : next_open(path, flags, mode);
}

// SQLite's own function, which answers by a result code.
static int counted_directory(const char *path, int *descriptor) {
  return fails(kind_directory) ? SQLITE_CANTOPEN : next_directory(path, descriptor);
}

// Linux closes the descriptor also when it reports an error.
static int counted_close(int descriptor) {
  int result = next_close(descriptor);
  return fails(kind_close) ? failure(EIO) : result;
}

static int counted_access(const char *path, int mode) {
  return fails(kind_access) ? failure(EIO) : next_access(path, mode);
}

static int counted_stat(const char *path, struct stat *status) {
  return fails(kind_stat) ? failure(EIO) : next_stat(path, status);
}

static int counted_fstat(int descriptor, struct stat *status) {
  return fails(kind_fstat) ? failure(EIO) : next_fstat(descriptor, status);
}

static int counted_truncate(int descriptor, off_t size) {
  return fails(kind_truncate) ? failure(EIO) : next_truncate(descriptor, size);
}

static int counted_lock(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  // Letting go of a lock always succeeds.
  int is_lock = (command == F_SETLK || command == F_SETLKW) && ((struct flock *)argument)->l_type != F_UNLCK;
  return (is_lock || command == F_GETLK) && fails(kind_lock) ? failure(EIO) : next_lock(descriptor, command, argument);
}

static ssize_t counted_read(int descriptor, void *target, size_t count) {
  return fails(kind_read) ? failure(EIO) : next_read(descriptor, target, count);
}

static ssize_t counted_pread(int descriptor, void *target, size_t count, off_t offset) {
  return fails(kind_read) ? failure(EIO) : next_pread(descriptor, target, count, offset);
}

static ssize_t counted_pread64(int descriptor, void *target, size_t count, off_t offset) {
  return fails(kind_read) ? failure(EIO) : next_pread64(descriptor, target, count, offset);
}

// What a write of so many bytes is to be: all of them, half of them, or an error, for which it answers negatively.
static ssize_t allowed(size_t count) {
  if (fails(kind_write)) return failure(EIO);
  if (fails(kind_full)) return failure(ENOSPC);
  return fails(kind_short) && count > 1 ? (ssize_t)(count / 2) : (ssize_t)count;
}

static ssize_t counted_write(int descriptor, const void *bytes, size_t count) {
  ssize_t part = allowed(count);
  return part < 0 ? part : next_write(descriptor, bytes, (size_t)part);
}

static ssize_t counted_pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  ssize_t part = allowed(count);
  return part < 0 ? part : next_pwrite(descriptor, bytes, (size_t)part, offset);
}

static ssize_t counted_pwrite64(int descriptor, const void *bytes, size_t count, off_t offset) {
  ssize_t part = allowed(count);
  return part < 0 ? part : next_pwrite64(descriptor, bytes, (size_t)part, offset);
}

// posix_fallocate answers by the error.
static int counted_allocate(int descriptor, off_t offset, off_t size) {
  return fails(kind_allocate) ? ENOSPC : next_allocate(descriptor, offset, size);
}

static int counted_unlink(const char *path) {
  return fails(kind_unlink) ? failure(EIO) : next_unlink(path);
}

static void *counted_map(void *place, size_t size, int protection, int flags, int descriptor, off_t offset) {
  if (fails(kind_map)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return next_map(place, size, protection, flags, descriptor, offset);
}

// The disk isn't waited for. Threads look the call up at the same time, and find the same one.
static int synchronized(_Atomic(uintptr_t) *next, const char *name, int descriptor) {
  if (atomic_load(&is_installed)) return fails(kind_sync) ? failure(EIO) : 0;
  if (atomic_load(next) == 0) atomic_store(next, (uintptr_t)dlsym(RTLD_NEXT, name));
  return ((int (*)(int))atomic_load(next))(descriptor);
}

int fsync(int descriptor) {
  static _Atomic(uintptr_t) next;
  return synchronized(&next, "fsync", descriptor);
}

int fdatasync(int descriptor) {
  static _Atomic(uintptr_t) next;
  return synchronized(&next, "fdatasync", descriptor);
}

static sqlite3_vfs *vfs;

static int replace(const char *name, sqlite3_syscall_ptr function, void *next) {
  sqlite3_syscall_ptr now = vfs->xGetSystemCall(vfs, name);
  // This build of SQLite has no such call.
  if (now == NULL) return SQLITE_OK;
  *(sqlite3_syscall_ptr *)next = now;
  return vfs->xSetSystemCall(vfs, name, function);
}

static int (*next_sleep)(sqlite3_vfs *, int);

static int short_sleep(sqlite3_vfs *of, int microseconds) {
  next_sleep(of, microseconds / 100);
  return microseconds;
}

// MARK: Memory

static sqlite3_mem_methods memory;

static void *counted_malloc(int size) { return fails(kind_memory) ? NULL : memory.xMalloc(size); }

static void *counted_realloc(void *block, int size) {
  return fails(kind_memory) ? NULL : memory.xRealloc(block, size);
}

int lade_faults_install(void) {
  int result = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory);
  if (result != SQLITE_OK) return result;
  sqlite3_mem_methods counted = memory;
  counted.xMalloc = counted_malloc;
  counted.xRealloc = counted_realloc;
  result = sqlite3_config(SQLITE_CONFIG_MALLOC, &counted);
  if (result == SQLITE_OK) result = sqlite3_initialize();
  vfs = sqlite3_vfs_find(NULL);
  if (result != SQLITE_OK || vfs == NULL || vfs->iVersion < 3) return result != SQLITE_OK ? result : SQLITE_ERROR;
  const struct {
    const char *name;
    sqlite3_syscall_ptr function;
    void *next;
  } calls[] = {
      {"open", (sqlite3_syscall_ptr)counted_open, &next_open},
      {"openDirectory", (sqlite3_syscall_ptr)counted_directory, &next_directory},
      {"close", (sqlite3_syscall_ptr)counted_close, &next_close},
      {"access", (sqlite3_syscall_ptr)counted_access, &next_access},
      {"stat", (sqlite3_syscall_ptr)counted_stat, &next_stat},
      {"fstat", (sqlite3_syscall_ptr)counted_fstat, &next_fstat},
      {"ftruncate", (sqlite3_syscall_ptr)counted_truncate, &next_truncate},
      {"fcntl", (sqlite3_syscall_ptr)counted_lock, &next_lock},
      {"read", (sqlite3_syscall_ptr)counted_read, &next_read},
      {"pread", (sqlite3_syscall_ptr)counted_pread, &next_pread},
      {"pread64", (sqlite3_syscall_ptr)counted_pread64, &next_pread64},
      {"write", (sqlite3_syscall_ptr)counted_write, &next_write},
      {"pwrite", (sqlite3_syscall_ptr)counted_pwrite, &next_pwrite},
      {"pwrite64", (sqlite3_syscall_ptr)counted_pwrite64, &next_pwrite64},
      {"fallocate", (sqlite3_syscall_ptr)counted_allocate, &next_allocate},
      {"unlink", (sqlite3_syscall_ptr)counted_unlink, &next_unlink},
      {"mmap", (sqlite3_syscall_ptr)counted_map, &next_map},
  };
  for (size_t index = 0; index < sizeof calls / sizeof *calls; index++) {
    result = replace(calls[index].name, calls[index].function, calls[index].next);
    if (result != SQLITE_OK) return result;
  }
  next_sleep = vfs->xSleep;
  vfs->xSleep = short_sleep;
  atomic_store(&is_installed, 1);
  return SQLITE_OK;
}

// MARK: Processes

struct call {
  void (*body)(void *);
  void *context;
};

static void *run(void *argument) {
  struct call *call = argument;
  call->body(call->context);
  return NULL;
}

int lade_faults_fork(unsigned seconds, void (*body)(void *), void *context) {
  pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    alarm(seconds);
    struct call call = {body, context};
    pthread_attr_t attributes;
    pthread_t thread;
    // As large as that of a process's first thread.
    if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, 8 << 20) != 0) _exit(70);
    if (pthread_create(&thread, &attributes, run, &call) != 0 || pthread_join(thread, NULL) != 0) _exit(70);
    _exit(0);
  }
  int status;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}
