"use strict";

// A draft of the playground's form survives a reload, the end of the sign-in and a restart of the service. It is stored in this
// browser, separately for each user, until they sign out: in sessionStorage for the tab, and in localStorage for tabs that are
// opened later. Without this file, a form that is sent after the sign-in has ended comes back filled in; see kept.html.

const draftName = (form) => `imagegend draft of ${form.dataset.user}`;

// The draft that the last page left, read before this page writes its own.
const former = (() => {
  const form = document.getElementById("play");
  if (!form || !("fresh" in form.dataset)) return [];
  const name = draftName(form);
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? localStorage.getItem(name)) ?? [];
  } catch {
    return []; // the browser stores nothing
  }
})();

function saveDraft(form) {
  const typed = [...new FormData(form)].filter(([name, value]) => name !== "token" && name !== "max_credits" && typeof value === "string");
  try {
    for (const storage of [sessionStorage, localStorage]) storage.setItem(draftName(form), JSON.stringify(typed));
  } catch {
    // the storage is full or not available: the page itself still holds the draft
  }
}

// restoreDraft fills in the form. Values that this page does not offer are skipped.
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
