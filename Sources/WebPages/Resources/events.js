// One event stream for all open pages of a browser: a browser has six connections to a server, over all tabs. Runs as a
// SharedWorker. A page that can be seen says which job it shows, or null for all; one that can't says "gone".

const pages = new Map();
// Milliseconds until it is tried again after an answer that was an error.
const retryInterval = 30000;
let stream = null;

self.addEventListener("connect", ({ ports: [port] }) => {
  port.addEventListener("message", ({ data }) => {
    if (data === "gone") {
      pages.delete(port);
    } else {
      pages.set(port, data.job);
    }
    update();
  });
  port.start();
});

function update() {
  if (pages.size === 0) {
    stream?.close();
    stream = null;
  } else if (!stream) {
    open();
  }
}

function open() {
  stream = new EventSource("/events");
  stream.addEventListener("open", () => tell("open"));
  stream.addEventListener("changed", ({ data }) => {
    // Numbers are texts, for they have 64 bits. There are none where too many have changed to name them.
    const { jobs } = JSON.parse(data);
    tell("changed", (job) => job === null || !jobs || jobs.includes(job));
  });
  stream.addEventListener("error", () => {
    // It connects again by itself, unless the answer was an error.
    if (stream?.readyState === EventSource.CLOSED) {
      stream = null;
      setTimeout(update, retryInterval);
    }
    tell("error");
  });
}

function tell(what, concerns = () => true) {
  for (const [port, job] of pages) {
    if (concerns(job)) port.postMessage(what);
  }
}
