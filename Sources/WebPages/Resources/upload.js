// Sends files in parts. A file of the same name and size that was broken off goes on where it was: the server says how much of
// it has arrived.

const form = document.querySelector("form[data-upload]");
const field = form.querySelector("input[type=file]");
const list = document.getElementById("sending");
const partSize = 1 << 20;
// How often a part is tried again, and how long it is waited before.
const attempts = 10;
const pause = 2000;

async function post(path, body) {
  const answer = await fetch(path, { method: "POST", body, credentials: "same-origin" });
  if (answer.ok) return answer.json();
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const error = new Error(page.querySelector("[role=alert]")?.textContent ?? `status ${answer.status}`);
  // The same again would be refused again, unless only the place was wrong or the daemon can't just now.
  error.isFinal = answer.status < 500 && answer.status !== 409 && answer.status !== 429;
  throw error;
}

function begin(file) {
  return post("/upload", new URLSearchParams({ name: file.name, size: file.size }));
}

async function send(file, show) {
  let upload = await begin(file);
  for (let failures = 0; upload.received < file.size; ) {
    show(upload.received);
    const part = file.slice(upload.received, upload.received + partSize);
    try {
      upload = await post(`/upload/${upload.id}/part?offset=${upload.received}`, part);
      failures = 0;
    } catch (error) {
      failures += 1;
      if (error.isFinal || failures > attempts) throw error;
      await new Promise((done) => setTimeout(done, pause));
      upload = await begin(file).catch(() => upload);
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
    fail: (error) => {
      words.textContent = error.message;
    },
  };
}

async function sendAll(files) {
  const sent = [];
  let hasFailed = false;
  for (const file of files) {
    const { show, fail } = line(file);
    try {
      sent.push(await send(file, show));
    } catch (error) {
      hasFailed = true;
      fail(error);
    }
  }
  if (hasFailed) return;
  if (sent.length === 1) {
    location.assign(`/upload/${sent[0].id}`);
  } else if (sent.length > 1) {
    location.reload();
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  sendAll([...field.files]);
});
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  sendAll([...event.dataTransfer.files]);
});
