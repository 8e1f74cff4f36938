// answer-limit FOLDER SECONDS [SLICE-MILLISECONDS]
//
// What answers during imports are held against: one thread answers requests on a Unix socket with a fixed text while two
// threads at nice 5 load SQLite, each into a file of its own, 10,000 rows to a commit. A process of its own asks a hundred times
// a second, each time over a new connection, and prints the median and the 99th percentile in milliseconds. With a slice, the
// loading threads ask the kernel for time slices of that length (sched_setattr(2), Linux 6.12), so that a thread that wakes up
// needn't wait for their end.

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static const char *folder;
static double slice;

static void fail(const char *what) {
  fprintf(stderr, "answer-limit: %s: %s\n", what, strerror(errno));
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static void yield_to_answers(void) {
  if (setpriority(PRIO_PROCESS, 0, 5) != 0) fail("setpriority");
  if (slice <= 0) return;
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes = {.size = sizeof attributes, .nice = 5, .runtime = (uint64_t)(slice * 1e6)};
  if (syscall(SYS_sched_setattr, 0, &attributes, 0) != 0) fail("sched_setattr");
}

static void run(sqlite3 *db, const char *sql) {
  char *message;
  if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
    fprintf(stderr, "answer-limit: %s\n", message);
    exit(1);
  }
}

// Loads people until the process ends.
static void *load(void *number) {
  yield_to_answers();
  char path[4096];
  snprintf(path, sizeof path, "%s/load-%d.sqlite", folder, (int)(intptr_t)number);
  unlink(path);
  sqlite3 *db;
  sqlite3_stmt *insert;
  if (sqlite3_open(path, &db) != SQLITE_OK) fail(path);
  run(db, "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
          "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, email TEXT, age INTEGER, balance REAL, note TEXT);"
          "CREATE INDEX by_email ON person (email)");
  if (sqlite3_prepare_v2(db, "INSERT INTO person (name, email, age, balance, note) VALUES (?, ?, ?, ?, ?)", -1, &insert,
                         NULL) != SQLITE_OK)
    fail("prepare");
  unsigned state = 1;
  for (int64_t id = 1;; id++) {
    if (id % 10000 == 1) run(db, id == 1 ? "BEGIN" : "COMMIT; BEGIN");
    state = state * 1103515245 + 12345;
    char text[64];
    int length = snprintf(text, sizeof text, "%c%lld@example.org", 'a' + state % 26, (long long)id);
    sqlite3_bind_text(insert, 1, "A name of somebody", -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, text, length, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 3, state % 90);
    sqlite3_bind_double(insert, 4, state / 7.0);
    sqlite3_bind_text(insert, 5, "a note of some forty characters or so", -1, SQLITE_STATIC);
    if (sqlite3_step(insert) != SQLITE_DONE) fail("insert");
    sqlite3_reset(insert);
  }
  return NULL;
}

static void *answer(void *unused) {
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  unlink(address.sun_path);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 64) != 0) fail("listen");
  static const char text[] = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}";
  char request[4096];
  while (1) {
    int connection = accept(listener, NULL, NULL);
    if (connection < 0) fail("accept");
    if (recv(connection, request, sizeof request, 0) > 0) send(connection, text, sizeof text - 1, MSG_NOSIGNAL);
    close(connection);
  }
  return unused;
}

static int ascending(const void *a, const void *b) {
  double difference = *(const double *)a - *(const double *)b;
  return difference < 0 ? -1 : difference > 0;
}

static void ask(const char *name, double seconds) {
  static double times[1 << 20];
  int count = 0;
  double next = now(), end = next + seconds * 1e3;
  while (next < end && count < 1 << 20) {
    double begun = now();
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char text[4096];
    if (connect(connection, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
    if (send(connection, "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL) < 0) fail("send");
    while (recv(connection, text, sizeof text, 0) > 0) {}
    close(connection);
    times[count++] = now() - begun;
    next += 10;
    double pause = next - now();
    if (pause > 0) usleep((useconds_t)(pause * 1e3));
  }
  qsort(times, (size_t)count, sizeof times[0], ascending);
  printf("%-8s %5d answers, p50 %.2f ms, p99 %.2f ms, longest %.2f ms\n", name, count, times[count / 2],
         times[count * 99 / 100], times[count - 1]);
  fflush(stdout);
}

int main(int count, char **arguments) {
  if (count < 3) {
    fprintf(stderr, "usage: answer-limit FOLDER SECONDS [SLICE-MILLISECONDS]\n");
    return 64;
  }
  folder = arguments[1];
  double seconds = atof(arguments[2]);
  slice = count > 3 ? atof(arguments[3]) : 0;
  snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", folder);
  pthread_t thread;
  if (pthread_create(&thread, NULL, answer, NULL) != 0) fail("pthread_create");
  usleep(100000);
  for (int loads = 0; loads <= 2; loads += 2) {
    for (intptr_t number = 0; number < loads; number++)
      if (pthread_create(&thread, NULL, load, (void *)number) != 0) fail("pthread_create");
    pid_t client = fork();
    if (client == 0) {
      ask(loads == 0 ? "idle" : "loading", seconds);
      _exit(0);
    }
    int status;
    if (waitpid(client, &status, 0) < 0 || status != 0) fail("the client");
  }
  return 0;
}
