// Keys that follow the links of every page: those that are marked with data-key. They do nothing while somebody types, and
// nothing at all where the reader has switched them off, since programs that are spoken to may press keys by mistake
// (WCAG 2.1.4).

const setting = "lade-keys";
// How long G waits for the next key, in milliseconds.
const patience = 1500;
// When G was pressed.
let prefix = -Infinity;

function areOn() {
  try {
    return localStorage.getItem(setting) !== "off";
  } catch {
    return true;
  }
}

function isTyping(element) {
  return element instanceof HTMLElement && (element.isContentEditable || element.matches("input, textarea, select"));
}

function link(key, place) {
  return document.querySelector(`${place} [data-key="${CSS.escape(key)}"]`);
}

function search() {
  const field = document.querySelector("main input[type=search]");
  if (field) {
    field.focus();
    field.select();
    return;
  }
  const jobs = link("j", "header");
  if (jobs) location.assign(`${jobs.href}#q`);
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented || event.repeat) return;
  if (isTyping(event.target) || !areOn()) return;
  const isSecond = event.timeStamp - prefix < patience;
  prefix = -Infinity;
  let found = null;
  if (isSecond) {
    found = link(event.key.toLowerCase(), "header");
  } else if (event.key.toLowerCase() === "g") {
    prefix = event.timeStamp;
  } else if (event.key === "?") {
    found = link("?", "footer");
  } else if (event.key === "/") {
    event.preventDefault();
    search();
  }
  if (!found) return;
  event.preventDefault();
  found.click();
}

// The switch on the page that lists the keys.
function showSwitch(button) {
  const show = () => {
    button.textContent = areOn() ? "Switch the keys off in this browser" : "Switch the keys on in this browser";
  };
  button.addEventListener("click", () => {
    try {
      if (areOn()) localStorage.setItem(setting, "off");
      else localStorage.removeItem(setting);
    } catch {
      // Without a memory they stay on.
    }
    show();
  });
  show();
  button.hidden = false;
}

document.addEventListener("keydown", press);
if (location.hash === "#q") document.getElementById("q")?.focus();
const button = document.getElementById("keys");
if (button) showSwitch(button);
