"use strict";

// Who looks at something else is told by the browser when images are done, if they want to be. The wish stays in this browser;
// whether it may is asked only when the button is pressed.

const wish = "imagegen-notify";
const wanted = () => localStorage.getItem(wish) === "yes" && Notification.permission === "granted";

// offer shows the buttons as they stand.
function offer() {
  if (!("Notification" in window)) return;
  for (const place of document.querySelectorAll("[data-notify]")) {
    place.hidden = false;
    place.querySelector("button").setAttribute("aria-pressed", wanted());
    place.querySelector(".hint").textContent = Notification.permission === "denied" ? "Your browser does not allow it for this site." : "";
  }
}

async function choose() {
  const yes = !wanted() && await Notification.requestPermission() === "granted";
  localStorage.setItem(wish, yes ? "yes" : "no");
  offer();
}

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-notify] button")) choose();
});

document.addEventListener("DOMContentLoaded", offer);

// What a script puts in place says with data-done what has come to its end.
document.addEventListener("htmx:load", (event) => {
  offer();
  const done = event.detail.elt.dataset?.done;
  if (!done || document.hasFocus() || !("Notification" in window) || !wanted()) return;
  try {
    new Notification(document.title, { body: done, tag: location.pathname });
  } catch { /* telephones allow it to service workers alone */ }
});
