"use strict";

// What is typed into the playground outlives the page: a reload, the end of the sign-in, a restart of the service. It lies in
// this browser, for each user apart, until they sign out: once for the tab, and once for tabs that are opened later. Without this file the server keeps what a form has sent; see kept.html.

const draftName = (form) => `imagegend draft of ${form.dataset.user}`;

// The draft as the last page left it, read before this page writes its own.
const former = (() => {
  const form = document.getElementById("play");
  if (!form || !("fresh" in form.dataset)) return [];
  const name = draftName(form);
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? localStorage.getItem(name)) ?? [];
  } catch {
    return []; // a browser that keeps nothing
  }
})();

function saveDraft(form) {
  const typed = [...new FormData(form)].filter(([name, value]) => name !== "token" && typeof value === "string");
  try {
    for (const storage of [sessionStorage, localStorage]) storage.setItem(draftName(form), JSON.stringify(typed));
  } catch {
    // it is full, or kept by no means: the page itself still holds what was typed
  }
}

// restoreDraft fills the form in. What this page does not offer is left as it is.
function restoreDraft(form) {
  for (const [name, value] of former) {
    const field = form.elements[name];
    if (name === "reference" || !field) continue;
    if (field instanceof HTMLSelectElement && ![...field.options].some((o) => o.value === value)) continue;
    field.value = value;
  }
  const drop = document.getElementById("drop");
  if (drop) for (const [name, value] of former) if (name === "reference") addMade(form, drop, value);
  const model = form.elements.model;
  if (model instanceof HTMLSelectElement && !model.selectedOptions[0]?.defaultSelected) form.requestSubmit(form.querySelector(".model button"));
  else if (former.length > 0) form.elements.prompt.dispatchEvent(new Event("input", { bubbles: true }));
}

document.addEventListener("input", (event) => {
  const form = event.target.closest("#play");
  if (form) saveDraft(form);
});

document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("play");
  if (form) restoreDraft(form);
});
