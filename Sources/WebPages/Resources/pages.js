// Keeps the open page up to date. The server says that something has changed, by an event stream; the page is fetched again,
// and every element that is marked with data-live takes over its new content. Without this file the pages are the same,
// except that they are reloaded by hand.

const main = document.querySelector("[data-worker]");
let worker = sharedWorker();
// How often the page is fetched where events don't come, and where they do, for what has no events.
const pollingInterval = 5000;
const slowInterval = 30000;

let source = null;
let timer = null;
let isFetching = false;
let isStale = false;
let isBroken = false;

async function refresh() {
  if (isFetching) {
    isStale = true;
    return;
  }
  isFetching = true;
  try {
    const answer = await fetch(location.href, { credentials: "same-origin", cache: "no-store" });
    // Signed out, or the job was removed: the browser shows it.
    if (answer.status === 403 || answer.status === 404) return location.reload();
    if (answer.ok) take(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch {
    // The daemon restarts: the next attempt comes by the timer.
  } finally {
    isFetching = false;
    if (isStale) {
      isStale = false;
      refresh();
    }
  }
}

function take(fresh) {
  for (const old of document.querySelectorAll("[data-live]")) {
    const changed = fresh.getElementById(old.id);
    if (!changed || changed.innerHTML === old.innerHTML) continue;
    // Whoever is about to press something in it keeps it until the next time.
    if (old.contains(document.activeElement)) continue;
    const rows = new Map([...old.querySelectorAll("tr[id]")].map((row) => [row.id, row.innerHTML]));
    old.replaceChildren(...changed.childNodes);
    for (const row of old.querySelectorAll("tr[id]")) {
      if (rows.get(row.id) !== row.innerHTML) row.classList.add("changed");
    }
  }
}

function heard(what) {
  // While there was no stream, nobody said what has changed.
  if (what === "changed" || (what === "open" && isBroken)) refresh();
  if (what === "changed") return;
  isBroken = what === "error";
  // A query is more work than a list of jobs.
  poll(isBroken && !main.dataset.stream ? pollingInterval : slowInterval);
}

function start() {
  if (source || document.hidden) return;
  poll(slowInterval);
  source = worker ? viaWorker() : directly();
}

// None where the browser has none, or forbids them.
function sharedWorker() {
  try {
    const shared = window.SharedWorker ? new SharedWorker(main.dataset.worker) : null;
    // An old page may name a script that a newer daemon hasn't got.
    if (shared) shared.onerror = () => {
      stop();
      worker = null;
      start();
    };
    return shared;
  } catch {
    return null;
  }
}

// All open pages share one stream.
function viaWorker() {
  worker.port.onmessage = ({ data }) => heard(data);
  worker.port.postMessage({ job: main.dataset.job ?? null, stream: main.dataset.stream ?? "/events" });
  return { close: () => worker.port.postMessage("gone") };
}

// Browsers without shared workers have a stream for each page.
function directly() {
  const job = main.dataset.job;
  const stream = new EventSource(main.dataset.stream ?? (job ? `/events?job=${job}` : "/events"));
  // The browser connects again by itself, unless the answer was an error.
  for (const what of ["open", "changed", "error"]) stream.addEventListener(what, () => heard(what));
  return stream;
}

function stop() {
  source?.close();
  source = null;
  clearInterval(timer);
  timer = null;
}

function poll(interval) {
  clearInterval(timer);
  timer = setInterval(refresh, interval);
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    stop();
  } else {
    start();
    refresh();
  }
});
// A page that the browser keeps for its Back button holds no connection.
addEventListener("pagehide", stop);
addEventListener("pageshow", start);
start();
