// A write-ahead log as a layer over a database: which pages its committed transactions hold, and where. Nothing is written,
// locked or mapped. The log comes from outside: sizes are bounded by those of the files, and reading ends, as SQLite's own
// recovery does, at the first frame that isn't part of the log (https://www.sqlite.org/fileformat.html#walformat).

#include "source.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { header_size = 32, frame_header_size = 24 };

static uint32_t big(const unsigned char *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static uint32_t little(const unsigned char *bytes) {
  return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

static void add_checksum(const unsigned char *bytes, size_t count, int is_big, uint32_t sum[2]) {
  for (size_t place = 0; place + 8 <= count; place += 8) {
    sum[0] += (is_big ? big(bytes + place) : little(bytes + place)) + sum[1];
    sum[1] += (is_big ? big(bytes + place + 4) : little(bytes + place + 4)) + sum[0];
  }
}

int lade_pread_all(int descriptor, void *target, size_t count, sqlite3_int64 offset, size_t *done) {
  *done = 0;
  while (*done < count) {
    ssize_t got = pread(descriptor, (char *)target + *done, count - *done, (off_t)(offset + (sqlite3_int64)*done));
    if (got < 0) {
      if (errno == EINTR) continue;
      return SQLITE_IOERR_READ;
    }
    if (got == 0) break;
    *done += (size_t)got;
  }
  return SQLITE_OK;
}

static sqlite3_int64 frame_offset(const lade_log *log, uint32_t frame) {
  return header_size + (sqlite3_int64)frame * (frame_header_size + log->page_size);
}

// Reads the frames up to the last commit. The first pass finds it, with all checksums; the second one notes the pages.
static int read_frames(lade_log *log, const unsigned char *header, sqlite3_int64 database_size, sqlite3_int64 log_size) {
  int is_big = (int)(big(header) & 1);
  uint32_t sum[2] = {0, 0};
  add_checksum(header, 24, is_big, sum);
  if (sum[0] != big(header + 24) || sum[1] != big(header + 28)) return SQLITE_OK;
  sqlite3_int64 most = (database_size + log_size) / log->page_size + 1;
  size_t size = frame_header_size + log->page_size;
  unsigned char *frame = malloc(size);
  if (frame == NULL) return SQLITE_NOMEM;
  uint32_t committed = 0;
  size_t done;
  int result = SQLITE_OK;
  for (uint32_t number = 0; number < UINT32_MAX - 1; number++) {
    result = lade_pread_all(log->descriptor, frame, size, frame_offset(log, number), &done);
    if (result != SQLITE_OK || done < size) break;
    if (memcmp(frame + 8, header + 16, 8) != 0) break;
    add_checksum(frame, 8, is_big, sum);
    add_checksum(frame + frame_header_size, log->page_size, is_big, sum);
    if (sum[0] != big(frame + 16) || sum[1] != big(frame + 20)) break;
    uint32_t page = big(frame);
    if (page == 0 || page > most) break;
    if (big(frame + 4) != 0) {
      committed = number + 1;
      log->pages = big(frame + 4);
    }
  }
  if (result == SQLITE_OK && committed > 0) {
    // The database has grown by no more pages than the log has.
    sqlite3_int64 grown = database_size / log->page_size + 1 + committed;
    if (grown < most) most = grown;
    if (log->pages > most) log->pages = (uint32_t)most;
    log->frames = calloc(log->pages, sizeof *log->frames);
    if (log->frames == NULL) result = SQLITE_NOMEM;
  }
  for (uint32_t number = 0; number < committed && result == SQLITE_OK; number++) {
    result = lade_pread_all(log->descriptor, frame, 4, frame_offset(log, number), &done);
    uint32_t page = done == 4 ? big(frame) : 0;
    if (page > 0 && page <= log->pages) log->frames[page - 1] = number + 1;
  }
  free(frame);
  return result;
}

int lade_log_open(lade_log *log, int database, int descriptor) {
  memset(log, 0, sizeof *log);
  log->descriptor = descriptor;
  if (descriptor < 0) return SQLITE_OK;
  struct stat of_database, of_log;
  if (fstat(database, &of_database) != 0 || fstat(descriptor, &of_log) != 0) return SQLITE_IOERR_FSTAT;
  unsigned char header[header_size];
  size_t done;
  int result = lade_pread_all(descriptor, header, sizeof header, 0, &done);
  // A log that has no header yet, or none that is valid, holds nothing.
  if (result != SQLITE_OK || done < sizeof header) return result;
  uint32_t size = big(header + 8);
  if ((big(header) & 0xFFFFFFFE) != 0x377F0682 || big(header + 4) != 3007000) return SQLITE_OK;
  if (size < 512 || size > 65536 || (size & (size - 1)) != 0) return SQLITE_OK;
  log->page_size = size;
  return read_frames(log, header, of_database.st_size, of_log.st_size);
}

void lade_log_close(lade_log *log) {
  free(log->frames);
  log->frames = NULL;
}

int lade_log_frame(const lade_log *log, sqlite3_int64 offset, sqlite3_int64 *place, int *left) {
  sqlite3_int64 page = offset / log->page_size;
  int within = (int)(offset % log->page_size);
  *left = (int)log->page_size - within;
  if (page >= log->pages || log->frames[page] == 0) return 0;
  *place = frame_offset(log, log->frames[page] - 1) + frame_header_size + within;
  return 1;
}

static int write_all(int descriptor, const void *bytes, size_t count, sqlite3_int64 offset) {
  size_t done = 0;
  while (done < count) {
    ssize_t put = pwrite(descriptor, (const char *)bytes + done, count - done, (off_t)(offset + (sqlite3_int64)done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    done += (size_t)put;
  }
  return SQLITE_OK;
}

int lade_log_apply(int database, int descriptor, int copy) {
  lade_log log;
  int result = lade_log_open(&log, database, descriptor);
  unsigned char *page = NULL;
  if (result == SQLITE_OK && log.frames != NULL) {
    page = malloc(log.page_size);
    if (page == NULL) result = SQLITE_NOMEM;
    for (sqlite3_int64 number = 0; number < log.pages && result == SQLITE_OK; number++) {
      if (log.frames[number] == 0) continue;
      size_t got;
      sqlite3_int64 place = frame_offset(&log, log.frames[number] - 1) + frame_header_size;
      result = lade_pread_all(descriptor, page, log.page_size, place, &got);
      if (result == SQLITE_OK && got < log.page_size) result = SQLITE_IOERR_SHORT_READ;
      if (result == SQLITE_OK) result = write_all(copy, page, log.page_size, number * log.page_size);
    }
    if (result == SQLITE_OK && ftruncate(copy, (off_t)log.pages * log.page_size) != 0) result = SQLITE_IOERR_TRUNCATE;
  }
  // A database that needs no log says so in bytes 18 and 19 of its header.
  if (result == SQLITE_OK) result = write_all(copy, "\x01\x01", 2, 18);
  free(page);
  lade_log_close(&log);
  return result;
}
