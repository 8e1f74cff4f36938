// One event stream for all open pages of a browser, and one for each table that is seen: a browser has six connections to a
// server, over all tabs. Runs as a SharedWorker. A page that can be seen says which job it shows, or null for all, and the
// address of its stream; one that can't says "gone".

const pages = new Map();
const streams = new Map();
// Milliseconds until it is tried again after an answer that was an error.
const retryInterval = 30000;

self.addEventListener("connect", ({ ports: [port] }) => {
  port.addEventListener("message", ({ data }) => {
    if (data === "gone") {
      pages.delete(port);
    } else {
      pages.set(port, data);
    }
    update();
  });
  port.start();
});

function update() {
  const wanted = new Set([...pages.values()].map(({ stream }) => stream));
  for (const [address, stream] of streams) {
    if (wanted.has(address)) continue;
    stream.close();
    streams.delete(address);
  }
  for (const address of wanted) {
    if (!streams.has(address)) open(address);
  }
}

function open(address) {
  const stream = new EventSource(address);
  streams.set(address, stream);
  stream.addEventListener("open", () => tell(address, "open"));
  stream.addEventListener("changed", ({ data }) => {
    // Numbers are texts, for they have 64 bits. There are none where too many have changed to name them.
    const { jobs } = JSON.parse(data);
    tell(address, "changed", (job) => job === null || !jobs || jobs.includes(job));
  });
  stream.addEventListener("error", () => {
    // It connects again by itself, unless the answer was an error.
    if (stream.readyState === EventSource.CLOSED && streams.get(address) === stream) {
      streams.delete(address);
      setTimeout(update, retryInterval);
    }
    tell(address, "error");
  });
}

function tell(address, what, concerns = () => true) {
  for (const [port, { job, stream }] of pages) {
    if (stream === address && concerns(job)) port.postMessage(what);
  }
}
