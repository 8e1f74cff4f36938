// What a durable queue on SQLite costs at least, one process and no queue around it: each job is inserted by one commit and
// ended by another, in WAL with synchronous FULL, as the queue of laded is kept.
//
// usage: queue-floor FILE JOBS           prints seconds and the number of jobs that ended, as JSON
//        queue-floor FILE JOBS TOGETHER  writes what laded keeps of a job: a row with its columns and indexes, changed when it
//                                        begins and when it has ended, and a row of history for each of the three. As many
//                                        jobs as TOGETHER share a transaction, as those of clients that wait together do.

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

static void report(double start, double enqueued, double completed) {
  sqlite3_stmt *done = prepared("SELECT count(*) FROM job WHERE state = 'completed'");
  if (sqlite3_step(done) != SQLITE_ROW) die("the count");
  printf("{\"values\": {\"enqueue\": %.6f, \"completed\": %.6f}, \"sums\": {\"completed\": %lld}}\n", enqueued - start,
         completed - start, sqlite3_column_int64(done, 0));
}

static void step_for(sqlite3_stmt *statement, long job) {
  sqlite3_bind_int64(statement, 1, job);
  step(statement);
}

static void keep_history(long jobs, long together) {
  run("CREATE TABLE job (id INTEGER PRIMARY KEY, kind TEXT, lane TEXT, state TEXT, priority INTEGER, store TEXT, entity TEXT, "
      "mode TEXT, recipe TEXT, source TEXT, activeName TEXT, format TEXT, options TEXT, tags TEXT, submittedBy TEXT, "
      "uniqueKey TEXT, origin TEXT, submittedAt TEXT, notBefore TEXT, availableAt TEXT, startedAt TEXT, endedAt TEXT, "
      "attempt INTEGER, maxAttempts INTEGER, rescues INTEGER, isHeld INTEGER, isAwaitingFile INTEGER, "
      "isCancelRequested INTEGER, reason TEXT, failureCode TEXT, note TEXT, records INTEGER, inserted INTEGER)");
  run("CREATE INDEX claim ON job (lane, state, priority DESC)");
  run("CREATE INDEX state ON job (state, endedAt)");
  run("CREATE TABLE history (id INTEGER PRIMARY KEY, at TEXT, fromState TEXT, toState TEXT, reason TEXT, requestedBy TEXT, "
      "job INTEGER)");
  run("CREATE INDEX job_of_history ON history (job)");
  sqlite3_stmt *begin = prepared("BEGIN IMMEDIATE"), *commit = prepared("COMMIT");
  sqlite3_stmt *insert = prepared(
      "INSERT INTO job (id, kind, lane, state, priority, store, options, submittedBy, submittedAt, attempt, maxAttempts, "
      "rescues, isHeld, isAwaitingFile, isCancelRequested, reason, records, inserted) VALUES (?, 'noop', 'import', "
      "'available', 0, 'main', '{}', 'user 0', '2026-03-01 12:00:00.000', 0, 3, 0, 0, 0, 0, 'submitted', 0, 0)");
  sqlite3_stmt *claim = prepared("UPDATE job SET state = 'running', startedAt = '2026-03-01 12:00:00.000', attempt = 1, "
                                 "reason = 'attempt 1 of 3' WHERE id = ?");
  sqlite3_stmt *end = prepared("UPDATE job SET state = 'completed', endedAt = '2026-03-01 12:00:00.000', reason = 'done' "
                               "WHERE id = ?");
  const char *note = "INSERT INTO history (at, fromState, toState, reason, requestedBy, job) VALUES "
                     "('2026-03-01 12:00:00.000', 'available', 'running', 'attempt 1 of 3', 'user 0', ?)";
  sqlite3_stmt *history = prepared(note);
  double start = now();
  // The ends of some jobs are written with the next that are handed in.
  for (long first = 1; first <= jobs + together; first += together) {
    step(begin);
    for (long job = first; job < first + together && job <= jobs; job++) {
      step_for(insert, job);
      step_for(history, job);
    }
    for (long job = first - together; job < first && job <= jobs; job++) {
      if (job < 1) continue;
      step_for(claim, job);
      step_for(history, job);
      step_for(end, job);
      step_for(history, job);
    }
    step(commit);
  }
  double completed = now();
  report(start, completed, completed);
}

int main(int count, char **arguments) {
  if (count != 3 && count != 4) {
    fprintf(stderr, "usage: queue-floor FILE JOBS [TOGETHER]\n");
    return 2;
  }
  long jobs = atol(arguments[2]), together = count == 4 ? atol(arguments[3]) : 0;
  if (sqlite3_open(arguments[1], &db) != SQLITE_OK) die(arguments[1]);
  run("PRAGMA journal_mode = WAL");
  run("PRAGMA synchronous = FULL");
  if (together > 0) {
    keep_history(jobs, together);
    return 0;
  }
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
  report(start, enqueued, completed);
  return 0;
}
