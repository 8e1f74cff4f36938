// Completes the words of a field: a combobox with a listbox (https://www.w3.org/WAI/ARIA/apg/patterns/combobox/). The field says
// where suggestions come from, in data-complete. Without this file the browser offers the field's datalist.

// The last keys' suggestions are enough: nothing is asked while somebody types on.
const pause = 120;

for (const field of document.querySelectorAll("input[data-complete]")) complete(field);

function complete(field) {
  const list = document.createElement("ul");
  list.id = field.id + "-suggestions";
  list.className = "suggestions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  list.hidden = true;
  const said = document.createElement("span");
  said.className = "said";
  said.setAttribute("role", "status");
  const around = document.createElement("span");
  around.className = "combobox";
  field.replaceWith(around);
  around.append(field, list, said);
  field.removeAttribute("list");
  for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-expanded", "false"],
    ["aria-controls", list.id]]) field.setAttribute(name, value);

  let chosen = -1;
  let asking = null;
  let timer = null;

  function close() {
    clearTimeout(timer);
    asking?.abort();
    list.hidden = true;
    list.replaceChildren();
    chosen = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  }

  function mark(place) {
    const options = list.children;
    options[chosen]?.setAttribute("aria-selected", "false");
    chosen = (place + options.length) % options.length;
    options[chosen].setAttribute("aria-selected", "true");
    options[chosen].scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", options[chosen].id);
  }

  function take(option) {
    field.value = option.dataset.text;
    field.setSelectionRange(field.value.length, field.value.length);
    field.focus();
    close();
    // A name wants its value.
    if (/[:=]$/.test(field.value)) ask();
  }

  function show(suggestions) {
    list.replaceChildren(...suggestions.map((suggestion, place) => {
      const option = document.createElement("li");
      option.id = `${list.id}-${place}`;
      option.dataset.text = suggestion.text;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      const label = document.createElement("bdi");
      label.textContent = suggestion.label;
      const note = document.createElement("span");
      note.className = "note";
      note.textContent = suggestion.note;
      option.append(label, " ", note);
      return option;
    }));
    chosen = -1;
    field.removeAttribute("aria-activedescendant");
    list.hidden = suggestions.length === 0;
    field.setAttribute("aria-expanded", String(!list.hidden));
    said.textContent = list.hidden ? "" : `${suggestions.length} suggestions`;
  }

  async function ask() {
    asking?.abort();
    // What stands behind the caret isn't completed.
    if (field.selectionStart !== field.value.length) return close();
    const asked = asking = new AbortController();
    try {
      const query = new URLSearchParams({ q: field.value });
      const answer = await fetch(`${field.dataset.complete}?${query}`,
        { credentials: "same-origin", cache: "no-store", signal: asked.signal });
      if (!answer.ok) return close();
      const { suggestions } = await answer.json();
      if (asked === asking && document.activeElement === field) show(suggestions);
    } catch {
      // Typed on, or the daemon restarts: the field works without suggestions.
    }
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, pause);
  });
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey) return;
    switch (event.key) {
      case "ArrowDown":
      case "ArrowUp":
        event.preventDefault();
        if (list.hidden) ask();
        else mark(event.key === "ArrowDown" ? chosen + 1 : chosen < 0 ? -1 : chosen - 1);
        break;
      case "Enter":
        if (chosen < 0 || list.hidden) return close();
        event.preventDefault();
        take(list.children[chosen]);
        break;
      case "Escape":
        if (list.hidden) return;
        event.preventDefault();
        close();
        break;
      case "Tab":
        close();
    }
  });
  // Before the field loses the focus.
  list.addEventListener("pointerdown", (event) => {
    const option = event.target.closest("[role=option]");
    event.preventDefault();
    if (option) take(option);
  });
  field.addEventListener("blur", close);
}
