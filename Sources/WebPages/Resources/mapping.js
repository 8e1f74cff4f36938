// Shows what the form of the mapping editor would do, while it is changed. The same page is fetched with the form as its
// address, and its preview takes the place of the old one. One request at a time: each tries the file in the store.

const form = document.querySelector("form[data-mapping]");
const preview = document.getElementById("preview");
const pause = 400;

let timer = null;
// The address whose preview is shown; null where the form has been changed since the page came.
let shown = [...form.elements].some(isChanged) ? null : address();
let isFetching = false;
let isStale = false;

function isChanged(field) {
  if (field instanceof HTMLSelectElement) {
    return field.selectedIndex !== Math.max(0, [...field.options].findIndex((option) => option.defaultSelected));
  }
  return field instanceof HTMLInputElement && field.type !== "hidden" && field.value !== field.defaultValue;
}

// Fields that say nothing aren't in the address.
function address() {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value !== "") query.append(name, value);
  return `${form.action}?${query}`;
}

async function show() {
  if (isFetching) {
    isStale = true;
    return;
  }
  isFetching = true;
  preview.setAttribute("aria-busy", "true");
  const link = address();
  shown = link;
  try {
    const answer = await fetch(link, { credentials: "same-origin", cache: "no-store" });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const part = fresh.getElementById("preview") ?? fresh.querySelector("[role=alert]");
    if (part?.id === "preview") {
      preview.replaceChildren(...part.childNodes);
    } else {
      preview.replaceChildren(part ?? document.createTextNode(`The preview can't be made: status ${answer.status}.`));
    }
    history.replaceState(null, "", link);
  } catch {
    preview.replaceChildren(document.createTextNode("The daemon doesn't answer. Press “Preview” to try again."));
  } finally {
    isFetching = false;
    preview.removeAttribute("aria-busy");
    if (isStale) {
      isStale = false;
      show();
    }
  }
}

// Assistive programs and others that choose for somebody may send only the second.
for (const name of ["input", "change"]) {
  form.addEventListener(name, () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (address() !== shown) show();
    }, pause);
  });
}
form.addEventListener("submit", (event) => {
  // The button that saves sends the form.
  if (event.submitter?.formMethod === "post") return;
  event.preventDefault();
  clearTimeout(timer);
  show();
});

// What was changed before this ran is shown, too.
if (shown === null) show();
