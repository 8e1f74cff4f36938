// What a durable queue on SQLite costs at least, one process and no queue around it: each job is inserted by one commit and
// ended by another, in WAL with synchronous FULL, as the queue of laded is kept.
//
// usage: queue-floor FILE JOBS           prints seconds and the number of jobs that ended, as JSON

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static sqlite3 *db;

static void die(const char *what) {
  fprintf(stderr, "queue-floor: %s: %s\n", what, sqlite3_errmsg(db));
  exit(1);
}

static void run(const char *sql) {
  if (sqlite3_exec(db, sql, 0, 0, 0) != SQLITE_OK) die(sql);
}

static sqlite3_stmt *prepared(const char *sql) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, 0) != SQLITE_OK) die(sql);
  return statement;
}

static void step(sqlite3_stmt *statement) {
  int result = sqlite3_step(statement);
  if (result != SQLITE_DONE && result != SQLITE_ROW) die("a step");
  sqlite3_reset(statement);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: queue-floor FILE JOBS\n");
    return 2;
  }
  long jobs = atol(arguments[2]);
  if (sqlite3_open(arguments[1], &db) != SQLITE_OK) die(arguments[1]);
  run("PRAGMA journal_mode = WAL");
  run("PRAGMA synchronous = FULL");
  run("CREATE TABLE job (id INTEGER PRIMARY KEY, lane TEXT, state TEXT, priority INTEGER, kind TEXT, options TEXT)");
  run("CREATE INDEX claim ON job (lane, state, priority DESC)");
  sqlite3_stmt *begin = prepared("BEGIN IMMEDIATE"), *commit = prepared("COMMIT");
  sqlite3_stmt *insert = prepared("INSERT INTO job (lane, state, priority, kind, options) "
                                  "VALUES ('import', 'available', 0, 'noop', '{}')");
  sqlite3_stmt *claim = prepared("SELECT id FROM job WHERE lane = 'import' AND state = 'available' "
                                 "ORDER BY priority DESC, id LIMIT 1");
  sqlite3_stmt *end = prepared("UPDATE job SET state = 'completed' WHERE id = ?");
  double start = now();
  for (long job = 0; job < jobs; job++) {
    step(begin);
    step(insert);
    step(commit);
  }
  double enqueued = now();
  for (long job = 0; job < jobs; job++) {
    step(begin);
    if (sqlite3_step(claim) != SQLITE_ROW) die("a claim");
    sqlite3_bind_int64(end, 1, sqlite3_column_int64(claim, 0));
    sqlite3_reset(claim);
    step(end);
    step(commit);
  }
  double completed = now();
  sqlite3_stmt *done = prepared("SELECT count(*) FROM job WHERE state = 'completed'");
  if (sqlite3_step(done) != SQLITE_ROW) die("the count");
  printf("{\"values\": {\"enqueue\": %.6f, \"completed\": %.6f}, \"sums\": {\"completed\": %lld}}\n", enqueued - start,
         completed - start, sqlite3_column_int64(done, 0));
  return 0;
}
