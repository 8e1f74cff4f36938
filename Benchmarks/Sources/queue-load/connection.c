#define _GNU_SOURCE
#include "connection.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

void die(const char *what) {
  fprintf(stderr, "queue-load: %s: %s\n", what, errno ? strerror(errno) : "not as expected");
  exit(1);
}

void connect_to(struct connection *connection, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) die(path);
  strcpy(address.sun_path, path);
  memset(connection, 0, sizeof *connection);
  connection->descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection->descriptor < 0 || connect(connection->descriptor, (void *)&address, sizeof address) < 0) die(path);
  if (fcntl(connection->descriptor, F_SETFL, O_NONBLOCK) < 0) die(path);
  connection->room = 1 << 16;
  connection->answer = malloc(connection->room + 1);
  if (!connection->answer) die("memory");
}

static void start(struct connection *connection, const char *request) {
  connection->request = request;
  connection->left = strlen(request);
  connection->busy = true;
}

// Sends what can be sent at once; the requests are small.
static void push(struct connection *connection) {
  while (connection->left > 0) {
    ssize_t sent = send(connection->descriptor, connection->request, connection->left, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) die("send");
    connection->request += sent;
    connection->left -= sent;
  }
}

// Takes in what has come; true if there was something.
static bool pull(struct connection *connection) {
  if (connection->length == connection->room) {
    connection->room *= 2;
    connection->answer = realloc(connection->answer, connection->room + 1);
    if (!connection->answer) die("memory");
  }
  ssize_t count =
      recv(connection->descriptor, connection->answer + connection->length, connection->room - connection->length, 0);
  if (count < 0 && errno == EAGAIN) return false;
  if (count < 0) die("recv");
  if (count == 0) {
    errno = 0;
    die("the other side hung up");
  }
  connection->length += count;
  return true;
}

static void forget(struct connection *connection, size_t length) {
  memmove(connection->answer, connection->answer + length, connection->length - length);
  connection->length -= length;
}

void converse(struct connection *connections, int count, whole_answer whole, next_request next) {
  int poller = epoll_create1(EPOLL_CLOEXEC);
  if (poller < 0) die("epoll");
  int busy = 0;
  for (int number = 0; number < count; number++) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.u32 = number};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, connections[number].descriptor, &event) < 0) die("epoll");
    const char *request = next(&connections[number], number, NULL);
    if (!request) continue;
    busy++;
    start(&connections[number], request);
    push(&connections[number]);
  }
  struct epoll_event events[256];
  while (busy > 0) {
    int ready = epoll_wait(poller, events, 256, 60000);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) die("waiting for answers");
    for (int place = 0; place < ready; place++) {
      int number = events[place].data.u32;
      struct connection *connection = &connections[number];
      push(connection);
      while (connection->busy && pull(connection)) {
        connection->answer[connection->length] = 0;
        size_t length;
        while (connection->busy && (length = whole(connection->answer, connection->length)) > 0) {
          const char *request = next(connection, number, connection->answer);
          forget(connection, length);
          connection->answer[connection->length] = 0;
          if (request) {
            start(connection, request);
            push(connection);
          } else {
            connection->busy = false;
            busy--;
          }
        }
      }
    }
  }
  close(poller);
}

const char *ask(struct connection *connection, const char *request, whole_answer whole) {
  connection->length = 0;
  start(connection, request);
  for (;;) {
    push(connection);
    struct pollfd wait = {.fd = connection->descriptor, .events = POLLIN | (connection->left > 0 ? POLLOUT : 0)};
    if (poll(&wait, 1, 60000) <= 0) die("waiting for an answer");
    pull(connection);
    connection->answer[connection->length] = 0;
    if (whole(connection->answer, connection->length) > 0) return connection->answer;
  }
}
