// Sends files in parts. A file that was broken off goes on where it was, if it has the same name, size and time: the server
// says how much of it has arrived.

const form = document.querySelector("form[data-upload]");
const field = form.querySelector("input[type=file]");
const list = document.getElementById("sending");
const result = document.getElementById("sent");
const partSize = 1 << 20;
// How often a part is tried again, and how long it is waited before.
const attempts = 10;
const pause = 2000;

// Files are sent one after the other, also those that are added meanwhile.
let queue = Promise.resolve();
let waiting = 0;
let sent = [];
let hasFailed = false;

async function ask(path, options) {
  const answer = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  if (answer.ok) return answer.json();
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const error = new Error(page.querySelector("[role=alert]")?.textContent ?? `status ${answer.status}`);
  // The same again would be refused again, unless only the place was wrong or the daemon can't just now.
  error.isFinal = answer.status < 500 && answer.status !== 409 && answer.status !== 429;
  throw error;
}

function begin(file) {
  const modified = Math.max(file.lastModified, 0);
  const body = new URLSearchParams({ name: file.name, size: file.size, modified });
  return ask("/upload", { method: "POST", body });
}

async function send(file, show) {
  let upload = await begin(file);
  let failures = 0;
  while (upload.received < file.size) {
    show(upload.received);
    try {
      const body = file.slice(upload.received, upload.received + partSize);
      upload = await ask(`/upload/${upload.id}/part?offset=${upload.received}`, { method: "POST", body });
      failures = 0;
    } catch (error) {
      failures += 1;
      if (error.isFinal || failures > attempts) throw error;
      await new Promise((done) => setTimeout(done, pause));
      // The part may have arrived, and only its answer not.
      try {
        upload = await ask(`/upload/${upload.id}/state`);
      } catch (problem) {
        if (problem.isFinal) throw problem;
      }
    }
  }
  show(file.size);
  return upload;
}

// A line with the file's name, a bar and what went wrong.
function line(file) {
  const item = document.createElement("li");
  const bar = document.createElement("progress");
  bar.max = file.size;
  bar.value = 0;
  bar.setAttribute("aria-label", file.name);
  const words = document.createElement("span");
  item.append(file.name, " ", bar, " ", words);
  list.append(item);
  return {
    show: (received) => {
      bar.value = received;
      words.textContent = `${Math.floor((100 * received) / file.size)} %`;
    },
    end: (upload) => {
      const link = document.createElement("a");
      link.href = `/upload/${upload.id}`;
      link.textContent = "Look at it";
      words.replaceChildren(link);
    },
    fail: (error) => {
      words.textContent = error.message;
      result.textContent = `${file.name}: ${error.message}`;
    },
  };
}

function add(files) {
  for (const file of files) {
    const shown = line(file);
    waiting += 1;
    queue = queue.then(async () => {
      try {
        const upload = await send(file, shown.show);
        sent.push(upload);
        shown.end(upload);
      } catch (error) {
        hasFailed = true;
        shown.fail(error);
      }
      waiting -= 1;
      if (waiting === 0) leave();
    });
  }
}

// Nothing is left that a new page would break off.
function leave() {
  if (hasFailed) return;
  if (sent.length === 1) {
    location.assign(`/upload/${sent[0].id}`);
  } else {
    location.reload();
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  add([...field.files]);
  field.value = "";
});
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  add([...event.dataTransfer.files]);
});
