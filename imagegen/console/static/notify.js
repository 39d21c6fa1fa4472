"use strict";

// Who looks at something else is told by the browser when images are done, if they want to be. The wish stays in this browser;
// whether it may is asked only when the button is pressed.

const wish = "imagegen-notify";
let permitted; // what the browser said last: asking it takes it some milliseconds, in which nothing is drawn
const permission = () => permitted ??= Notification.permission;
const wanted = () => localStorage.getItem(wish) === "yes" && permission() === "granted";

// offer shows the buttons in an element as they stand.
function offer(within) {
  if (!("Notification" in window)) return;
  for (const place of within.querySelectorAll("[data-notify]")) {
    place.hidden = false;
    place.querySelector("button").setAttribute("aria-pressed", wanted());
    place.querySelector(".hint").textContent = permission() === "denied" ? "Your browser does not allow it for this site." : "";
  }
}

async function choose() {
  const yes = !wanted() && (permitted = await Notification.requestPermission()) === "granted";
  localStorage.setItem(wish, yes ? "yes" : "no");
  offer(document);
}

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-notify] button")) choose();
});

document.addEventListener("DOMContentLoaded", () => offer(document));

// What a script puts in place says with data-done what has come to its end.
document.addEventListener("htmx:load", (event) => {
  offer(event.detail.elt);
  const done = event.detail.elt.dataset?.done;
  if (!done || document.hasFocus() || !("Notification" in window) || !wanted()) return;
  try {
    new Notification(document.title, { body: done, tag: location.pathname });
  } catch { /* telephones allow it to service workers alone */ }
});
