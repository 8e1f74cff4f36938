// measure REPORT PROGRAM [ARGUMENT...]
//
// Runs PROGRAM, found by PATH, with this process's standard streams, and writes one line of JSON to the
// file REPORT: {"seconds": wall clock, "peakKiB": peak resident memory, "status": exit status, or 128 and
// the signal}. Ends with 0 if PROGRAM could be started, whatever its own status; otherwise with 127.
//
// Why a process in between: Linux hands the peak of the memory that a process had before execve(2) on to
// what it becomes, so that the child of a program of 40 MiB never seems to need less. This one has 1 MiB.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int failed(const char *what) {
  fprintf(stderr, "measure: %s: %s\n", what, strerror(errno));
  return 127;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: measure REPORT PROGRAM [ARGUMENT...]\n");
    return 127;
  }
  // execve(2) closes the writing end: reading from the pipe tells whether, and why, it failed.
  int ends[2];
  if (pipe(ends) != 0 || fcntl(ends[1], F_SETFD, FD_CLOEXEC) != 0) return failed("pipe");

  double start = now();
  pid_t child = fork();
  if (child < 0) return failed("fork");
  if (child == 0) {
    close(ends[0]);
    execvp(argv[2], argv + 2);
    int code = errno;
    ssize_t written = write(ends[1], &code, sizeof code);
    _exit(written == sizeof code ? 127 : 126);
  }
  close(ends[1]);

  int code;
  if (read(ends[0], &code, sizeof code) == (ssize_t)sizeof code) {
    waitpid(child, NULL, 0);
    errno = code;
    return failed(argv[2]);
  }

  int status;
  struct rusage usage;
  while (wait4(child, &status, 0, &usage) < 0) {
    if (errno != EINTR) return failed("wait4");
  }
  double seconds = now() - start;
  int result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);

  FILE *report = fopen(argv[1], "w");
  if (report == NULL) return failed(argv[1]);
  fprintf(report, "{\"seconds\": %.6f, \"peakKiB\": %ld, \"status\": %d}\n", seconds, usage.ru_maxrss, result);
  if (fclose(report) != 0) return failed(argv[1]);
  return 0;
}
