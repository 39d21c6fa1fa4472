"use strict";

// The browser notifies users who look at something else when their images are done, if they have asked for it. The wish is
// stored in this browser. Permission is requested only when the button is pressed.

const wish = "imagegen-notify";
let permitted; // the browser's last answer: to ask it takes milliseconds in which nothing is drawn
const permission = () => permitted ??= Notification.permission;
const wanted = () => localStorage.getItem(wish) === "yes" && permission() === "granted";

// offer shows the buttons within an element, in their present state.
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

// What htmx inserts says with data-done what has ended.
document.addEventListener("htmx:load", (event) => {
  offer(event.detail.elt);
  const done = event.detail.elt.dataset?.done;
  if (!done || document.hasFocus() || !("Notification" in window) || !wanted()) return;
  try {
    new Notification(document.title, { body: done, tag: location.pathname });
  } catch { /* on phones only service workers may do this */ }
});
