// The client of the measurement: submits jobs and waits until they have ended. Written in C with one thread, so that on a
// small machine the queue has the processors. It is the same for every side, but writers of tickets wait for the disk.
//
// usage: queue-load http SOCKET CONNECTIONS JOBS         to laded's control socket: POST /v1/jobs
//        queue-load many SOCKET CONNECTIONS JOBS EACH    the same with EACH jobs per request: POST /v1/jobs/many
//        queue-load pause SOCKET                         pauses the lane
//        queue-load drain SOCKET JOBS                    resumes the lane until JOBS more have ended, and pauses it again
//        queue-load spool SOCKET SPOOL WRITERS JOBS      tickets, each synced in tmp/ and renamed into incoming/, by threads
//        queue-load beanstalk SOCKET CONNECTIONS JOBS WORKERS
//
// prints seconds until all jobs were submitted (and answered), and until all had ended, as JSON

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "connection.h"

static long wanted, sent, answered, ended;
static double enqueued;

static void report(double start, double completed, long count) {
  printf("{\"values\": {\"enqueue\": %.6f, \"completed\": %.6f}, \"sums\": {\"completed\": %ld}}\n", enqueued - start,
         completed - start, count);
}

// MARK: laded

static const char body[] = "{\"kind\": \"noop\", \"lane\": \"import\"}";
static char *submission;
// Jobs a request.
static long each = 1;
static const char pause_lane[] =
    "POST /v1/lanes/import/pause HTTP/1.1\r\nHost: lade\r\nContent-Length: 0\r\n\r\n";
static const char resume_lane[] =
    "POST /v1/lanes/import/resume HTTP/1.1\r\nHost: lade\r\nContent-Length: 0\r\n\r\n";
static const char status[] = "GET /v1/status HTTP/1.1\r\nHost: lade\r\nAccept: application/json\r\n\r\n";

static size_t whole_http(const char *bytes, size_t length) {
  const char *end = strstr(bytes, "\r\n\r\n");
  if (!end) return 0;
  const char *field = strcasestr(bytes, "\r\ncontent-length:");
  if (!field || field > end) {
    errno = 0;
    die("an answer without its length");
  }
  size_t all = end + 4 - bytes + strtoul(field + 17, NULL, 10);
  return all <= length ? all : 0;
}

static const char *next_submission(struct connection *connection, int number, const char *answer) {
  (void)connection, (void)number;
  if (answer) {
    if (strncmp(answer, "HTTP/1.1 2", 10) != 0) {
      fprintf(stderr, "%s\n", answer);
      errno = 0;
      die("a submission was refused");
    }
    if (each > 1) {
      long made = 0;
      for (const char *place = answer; (place = strstr(place, "\"id\":")); place++) made++;
      if (made != each) {
        fprintf(stderr, "%s\n", answer);
        errno = 0;
        die("some jobs were refused");
      }
    }
    if ((answered += each) == wanted) enqueued = now();
  }
  return sent < wanted ? sent += each, submission : NULL;
}

// How many jobs the daemon has completed since it has its queue.
static long completed(struct connection *connection) {
  const char *counts = strstr(ask(connection, status, whole_http), "\"counts\"");
  const char *number = counts ? strstr(counts, "\"completed\":") : NULL;
  if (!number) {
    errno = 0;
    die("a status without counts");
  }
  return atol(number + 12);
}

static double when_completed(struct connection *connection, long number) {
  while (completed(connection) < number) usleep(5000);
  return now();
}

static void write_submission(void) {
  size_t room = 512 + each * (sizeof body + 2);
  char *jobs = malloc(room);
  submission = malloc(room);
  if (!jobs || !submission) die("memory");
  char *end = stpcpy(jobs, each > 1 ? "{\"jobs\": [" : "");
  for (long job = 0; job < each; job++) end = stpcpy(stpcpy(end, job ? ", " : ""), body);
  strcpy(end, each > 1 ? "]}" : "");
  snprintf(submission, room,
           "POST /v1/jobs%s HTTP/1.1\r\nHost: lade\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
           each > 1 ? "/many" : "", strlen(jobs), jobs);
  free(jobs);
}

static void run_http(const char *path, int count) {
  struct connection watch, *connections = calloc(count, sizeof *connections);
  for (int place = 0; place < count; place++) connect_to(&connections[place], path);
  connect_to(&watch, path);
  write_submission();
  long before = completed(&watch);
  double start = now();
  converse(connections, count, whole_http, next_submission);
  double end = when_completed(&watch, before + wanted);
  report(start, end, completed(&watch) - before);
}

static void run_pause(const char *path) {
  struct connection watch;
  connect_to(&watch, path);
  if (strncmp(ask(&watch, pause_lane, whole_http), "HTTP/1.1 2", 10) != 0) die(watch.answer);
}

static void run_drain(const char *path) {
  struct connection watch;
  connect_to(&watch, path);
  long before = completed(&watch);
  double start = enqueued = now();
  if (strncmp(ask(&watch, resume_lane, whole_http), "HTTP/1.1 2", 10) != 0) die(watch.answer);
  double end = when_completed(&watch, before + wanted);
  run_pause(path);
  report(start, end, wanted);
}

static const char ticket[] = "kind: noop\nlane: import\n";

static const char *spool_path;
static _Atomic long next_ticket;

static void *write_tickets(void *unused) {
  (void)unused;
  char name[4096], target[4096], folder[4096];
  snprintf(folder, sizeof folder, "%s/incoming", spool_path);
  int incoming = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (incoming < 0) die(folder);
  long job;
  while ((job = next_ticket++) < wanted) {
    snprintf(name, sizeof name, "%s/tmp/%d-%ld.job", spool_path, getpid(), job);
    snprintf(target, sizeof target, "%s/incoming/%d-%ld.job", spool_path, getpid(), job);
    int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (file < 0 || write(file, ticket, strlen(ticket)) != (ssize_t)strlen(ticket) || fsync(file) < 0 || close(file) < 0)
      die(name);
    if (rename(name, target) < 0 || fsync(incoming) < 0) die(target);
  }
  close(incoming);
  return NULL;
}

static void run_spool(const char *path, const char *spool, int count) {
  struct connection watch;
  connect_to(&watch, path);
  spool_path = spool;
  pthread_t *writers = calloc(count, sizeof *writers);
  long before = completed(&watch);
  double start = now();
  for (int number = 0; number < count; number++) {
    if (pthread_create(&writers[number], NULL, write_tickets, NULL) != 0) die("a thread");
  }
  for (int number = 0; number < count; number++) pthread_join(writers[number], NULL);
  enqueued = now();
  double end = when_completed(&watch, before + wanted);
  report(start, end, completed(&watch) - before);
}

// MARK: beanstalkd

// The first connections put, the others reserve and delete.
static int putters;
static char *deletes;

static size_t whole_line(const char *bytes, size_t length) {
  const char *end = memmem(bytes, length, "\r\n", 2);
  if (!end) return 0;
  size_t all = end + 2 - bytes;
  unsigned long id, size;
  if (sscanf(bytes, "RESERVED %lu %lu\r\n", &id, &size) == 2) all += size + 2;
  return all <= length ? all : 0;
}

static const char *next_command(struct connection *connection, int number, const char *answer) {
  (void)connection;
  if (number < putters) {
    if (answer && strncmp(answer, "INSERTED ", 9) != 0) die(answer);
    if (answer && ++answered == wanted) enqueued = now();
    return sent < wanted ? sent++, "put 0 0 60 2\r\n{}\r\n" : NULL;
  }
  unsigned long id;
  if (answer && sscanf(answer, "RESERVED %lu", &id) == 1) {
    char *command = deletes + 64 * (number - putters);
    snprintf(command, 64, "delete %lu\r\n", id);
    return command;
  }
  if (answer && strncmp(answer, "DELETED", 7) == 0) ended++;
  else if (answer && strncmp(answer, "TIMED_OUT", 9) != 0) die(answer);
  return ended < wanted ? "reserve-with-timeout 1\r\n" : NULL;
}

static void run_beanstalk(const char *path, int count, int workers) {
  struct connection *connections = calloc(count + workers, sizeof *connections);
  for (int place = 0; place < count + workers; place++) connect_to(&connections[place], path);
  putters = count;
  deletes = calloc(workers, 64);
  double start = now();
  converse(connections, count + workers, whole_line, next_command);
  report(start, now(), ended);
}

int main(int count, char **arguments) {
  if (count == 5 && strcmp(arguments[1], "http") == 0) {
    wanted = atol(arguments[4]);
    run_http(arguments[2], atoi(arguments[3]));
  } else if (count == 6 && strcmp(arguments[1], "many") == 0 && atol(arguments[5]) > 1 &&
             atol(arguments[4]) % atol(arguments[5]) == 0) {
    wanted = atol(arguments[4]);
    each = atol(arguments[5]);
    run_http(arguments[2], atoi(arguments[3]));
  } else if (count == 3 && strcmp(arguments[1], "pause") == 0) {
    run_pause(arguments[2]);
  } else if (count == 4 && strcmp(arguments[1], "drain") == 0) {
    wanted = atol(arguments[3]);
    run_drain(arguments[2]);
  } else if (count == 6 && strcmp(arguments[1], "spool") == 0) {
    wanted = atol(arguments[5]);
    run_spool(arguments[2], arguments[3], atoi(arguments[4]));
  } else if (count == 6 && strcmp(arguments[1], "beanstalk") == 0) {
    wanted = atol(arguments[4]);
    run_beanstalk(arguments[2], atoi(arguments[3]), atoi(arguments[5]));
  } else {
    fprintf(stderr, "usage: queue-load http SOCKET CONNECTIONS JOBS\n"
                    "       queue-load many SOCKET CONNECTIONS JOBS EACH\n"
                    "       queue-load pause SOCKET\n"
                    "       queue-load drain SOCKET JOBS\n"
                    "       queue-load spool SOCKET SPOOL WRITERS JOBS\n"
                    "       queue-load beanstalk SOCKET CONNECTIONS JOBS WORKERS\n");
    return 2;
  }
  return 0;
}
