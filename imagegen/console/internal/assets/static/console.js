"use strict";

// Pages work without this file; it only adds convenience.

// The server writes times in UTC; here they are shown in the reader's time zone.
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]:not([data-local])")) {
    const at = new Date(time.dateTime), short = time.classList.contains("day");
    time.dataset.local = "";
    time.title = short ? moment.format(at) : time.textContent;
    time.textContent = (short ? day : moment).format(at);
  }
}

// A button with data-copy copies the text of the element with that id.
async function copy(button) {
  if (button.dataset.copied) return; // until it shows its own label again
  button.dataset.copied = "yes";
  const source = document.getElementById(button.dataset.copy);
  const label = [...button.childNodes];
  try {
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(source);
    button.textContent = "Press Ctrl+C";
  }
  setTimeout(() => {
    button.replaceChildren(...label);
    delete button.dataset.copied;
  }, 2000);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copy]");
  if (button) copy(button);
});

// A form is sent once, even if its button is pressed several times within five seconds.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
  setTimeout(() => { delete form.dataset.sent; }, 5000);
});

document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("button[data-copy][hidden]")) button.hidden = false;
  localTimes(document);
  document.querySelector(".sections [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  // The first field with a fault gets the focus, so that screen readers begin there.
  document.querySelector("[aria-invalid=true]")?.focus();
});

document.addEventListener("htmx:load", (event) => localTimes(event.detail.elt));
