// limit DATABASE CSV [without-index|with-reference]
//
// The limit of an import into SQLite: the standard load into the table of Lade's store, by a C loop that knows the
// file's columns and does nothing else: no objects, no validation, no uniqueness checks of its own, no rejects, no
// checkpoint, no notifications. It is as durable as Lade's store (WAL, synchronous=NORMAL, a commit every 10,000 rows,
// and a sync at the end), with its page size, caches and log.
//
// One thread reads and parses, one binds and writes fifty rows per statement, and one copies the log into the file
// during the load. The writer never waits, so the log isn't bounded as the store's is: it grows with the load. The
// index is built at the end, or not at all.
//
// With a reference, each person also gets the row number of one of 100,000 clubs, at random: an eighth column, with an
// index of its own. Nothing is read or looked up for it, so what is lost is what SQLite needs to write it.

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "records.h"

enum { piece_size = 1 << 20, pieces = 4, rows_a_statement = 50, rows_a_commit = 10000 };
enum { commits_a_checkpoint = 15, clubs = 100000 };

static int with_reference;

// Pieces go round: `filled` have been parsed, and the rest is free. All is guarded by `lock`, but for the pieces'
// insides, which belong to the thread whose turn it is.
static struct piece ring[pieces];
static int filled, is_ended;
static int commits, is_written;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static int open_file(const char *path) {
  int file = open(path, O_RDONLY);
  if (file < 0) fail(path, strerror(errno));
  posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
  return file;
}

static size_t fill(int file, char *bytes, size_t length) {
  size_t done = 0;
  while (done < length) {
    ssize_t count = read(file, bytes + done, length - done);
    if (count < 0) fail("read", strerror(errno));
    if (count == 0) break;
    done += (size_t)count;
  }
  return done;
}

static void *parse(void *argument) {
  int file = *(int *)argument, is_first = 1;
  // What the piece before left over.
  char *rest = NULL;
  size_t rest_length = 0;
  for (int turn = 0;; turn = (turn + 1) % pieces) {
    pthread_mutex_lock(&lock);
    while (filled == pieces) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);

    struct piece *piece = &ring[turn];
    if (rest_length > 0) memcpy(piece->bytes, rest, rest_length);
    size_t count = fill(file, piece->bytes + rest_length, piece_size - rest_length);
    piece->length = rest_length + count;
    int is_last = piece->length < piece_size;
    if (is_first) {
      char *line = memchr(piece->bytes, '\n', piece->length);
      if (line == NULL) fail("the file", "has no header");
      piece->length -= (size_t)(line + 1 - piece->bytes);
      memmove(piece->bytes, line + 1, piece->length);
      is_first = 0;
    }
    size_t taken = take_records(piece, is_last);
    if (taken == 0 && !is_last) fail("a record", "is too long");
    rest = piece->bytes + taken;
    rest_length = piece->length - taken;

    pthread_mutex_lock(&lock);
    filled++;
    is_ended = is_last;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (is_last) return NULL;
  }
}

static void run(sqlite3 *db, const char *sql) {
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) fail(sql, sqlite3_errmsg(db));
}

static sqlite3 *open_database(const char *path) {
  sqlite3 *db;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK) fail(path, sqlite3_errmsg(db));
  return db;
}

static void *checkpoint(void *path) {
  sqlite3 *db = open_database(path);
  run(db, "PRAGMA synchronous = NORMAL");
  for (int done = 0, is_over = 0; !is_over;) {
    pthread_mutex_lock(&lock);
    while (commits < done + commits_a_checkpoint && !is_written) pthread_cond_wait(&changed, &lock);
    done = commits;
    is_over = is_written;
    pthread_mutex_unlock(&lock);
    int code = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (code != SQLITE_OK && code != SQLITE_BUSY) fail("checkpoint", sqlite3_errmsg(db));
  }
  sqlite3_close(db);
  return NULL;
}

static sqlite3_stmt *prepare(sqlite3 *db, int rows) {
  char sql[2000] = "INSERT OR FAIL INTO Person (id, name, email, age, balance, created, note";
  const char *values = with_reference ? ",(?,?,?,?,?,?,?,?)" : ",(?,?,?,?,?,?,?)";
  strcat(sql, with_reference ? ", club) VALUES " : ") VALUES ");
  for (int row = 0; row < rows; row++) strcat(sql, row == 0 ? values + 1 : values);
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK) {
    fail(sql, sqlite3_errmsg(db));
  }
  return statement;
}

static void bind_text(sqlite3_stmt *statement, int place, struct text text) {
  sqlite3_bind_text(statement, place, text.start, text.length, SQLITE_STATIC);
}

static void insert(sqlite3 *db, sqlite3_stmt *statement, const struct person *people, int count) {
  int place = 1, columns = with_reference ? 8 : 7;
  for (const struct person *person = people; person < people + count; person++, place += columns) {
    sqlite3_bind_int64(statement, place, person->id);
    bind_text(statement, place + 1, person->name);
    bind_text(statement, place + 2, person->email);
    sqlite3_bind_int64(statement, place + 3, person->age);
    sqlite3_bind_double(statement, place + 4, person->balance);
    bind_text(statement, place + 5, person->created);
    bind_text(statement, place + 6, person->note);
    if (with_reference) {
      // Far from the club of the person before.
      sqlite3_bind_int64(statement, place + 7, (sqlite3_int64)((unsigned)person->id * 2654435761u % clubs) + 1);
    }
  }
  if (sqlite3_step(statement) != SQLITE_DONE) fail("insert", sqlite3_errmsg(db));
  sqlite3_reset(statement);
}

static void commit(sqlite3 *db) {
  run(db, "COMMIT");
  pthread_mutex_lock(&lock);
  commits++;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static void write_people(sqlite3 *db) {
  sqlite3_stmt *many = prepare(db, rows_a_statement), *one = prepare(db, 1);
  int uncommitted = 0;
  for (int turn = 0;; turn = (turn + 1) % pieces) {
    pthread_mutex_lock(&lock);
    while (filled == 0 && !is_ended) pthread_cond_wait(&changed, &lock);
    int is_over = filled == 0;
    pthread_mutex_unlock(&lock);
    if (is_over) break;

    struct piece *piece = &ring[turn];
    for (int next = 0; next < piece->count;) {
      if (uncommitted == 0) run(db, "BEGIN IMMEDIATE");
      int rest = piece->count - next, room = rows_a_commit - uncommitted;
      int count = rest >= rows_a_statement && room >= rows_a_statement ? rows_a_statement : 1;
      insert(db, count == 1 ? one : many, piece->people + next, count);
      next += count;
      uncommitted += count;
      if (uncommitted == rows_a_commit) {
        commit(db);
        uncommitted = 0;
      }
    }

    pthread_mutex_lock(&lock);
    filled--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  if (uncommitted > 0) commit(db);
  sqlite3_finalize(many);
  sqlite3_finalize(one);
  pthread_mutex_lock(&lock);
  is_written = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv) {
  const char *mode = argc == 4 ? argv[3] : "";
  int is_indexed = strcmp(mode, "without-index") != 0;
  with_reference = strcmp(mode, "with-reference") == 0;
  if (argc < 3 || argc > 4 || (argc == 4 && is_indexed && !with_reference)) {
    fprintf(stderr, "usage: limit DATABASE CSV [without-index|with-reference]\n");
    return 64;
  }
  int file = open_file(argv[2]);
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite3 *db = open_database(argv[1]);
  run(db, "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
          "PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 0;"
          "CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT, email TEXT, age INTEGER, balance REAL,"
          " created TEXT, note TEXT)");
  if (with_reference) run(db, "ALTER TABLE Person ADD COLUMN club INTEGER");

  for (int place = 0; place < pieces; place++) {
    ring[place].bytes = malloc(piece_size);
    if (ring[place].bytes == NULL) fail("pieces", "no memory");
  }
  pthread_t parser, copier;
  if (pthread_create(&parser, NULL, parse, &file) != 0 || pthread_create(&copier, NULL, checkpoint, argv[1]) != 0) {
    fail("thread", "couldn't be started");
  }
  write_people(db);
  pthread_join(parser, NULL);
  pthread_join(copier, NULL);

  // Sorted in as little as the processor keeps near it, as Lade's store does.
  run(db, "PRAGMA wal_autocheckpoint = 1024; PRAGMA cache_size = -2048");
  if (is_indexed) run(db, "CREATE INDEX Person_email ON Person (email)");
  if (with_reference) run(db, "CREATE INDEX Person_club ON Person (club)");
  // A commit under FULL waits for the disk, and with it for every commit before.
  run(db, "PRAGMA synchronous = FULL; PRAGMA user_version = 1");
  return 0;
}
