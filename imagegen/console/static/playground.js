"use strict";

// The comforts of the playground: files dropped and looked at before they are sent, how far the
// upload is, and a count of the prompt. Without this file the form works as any other.

// The files that are chosen. They outlive the page's content, which an answer may replace.
let chosen = [];
let pictures = []; // their addresses, to be released

const types = ["image/png", "image/jpeg", "image/webp"];

function begin() {
  const form = document.getElementById("play");
  if (!form) return;
  form.classList.add("scripted");
  form.querySelector("[data-lost]")?.remove();
  countPrompt(form);
  form.elements.prompt.addEventListener("input", () => countPrompt(form));
  form.querySelector("#f-model")?.addEventListener("change", () => form.requestSubmit(form.querySelector("button[name=show]")));
  form.addEventListener("submit", (event) => send(event, form));
  form.addEventListener("keydown", (event) => sendByKey(event, form));
  const drop = document.getElementById("drop");
  if (drop) beginDrop(form, drop);
}

// sendByKey sends the form with Ctrl+Enter, or Cmd+Enter, from wherever one types.
function sendByKey(event, form) {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit(form.querySelector("#generate"));
}

function countPrompt(form) {
  const note = document.getElementById("prompt-count");
  const most = Number(note.dataset.max);
  const length = [...form.elements.prompt.value.trim()].length; // code points, as the server counts
  note.textContent = `${length.toLocaleString()} of ${most.toLocaleString()} characters`;
  note.classList.toggle("over", length > most);
}

function beginDrop(form, drop) {
  const input = drop.querySelector("input");
  let within = 0; // elements that the pointer is in
  const over = (delta) => { within += delta; drop.classList.toggle("over", within > 0); };
  input.addEventListener("change", () => add(form, drop, input.files, []));
  drop.addEventListener("dragenter", (event) => { event.preventDefault(); over(1); });
  drop.addEventListener("dragleave", () => over(-1));
  drop.addEventListener("dragover", (event) => event.preventDefault());
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    over(-within);
    add(form, drop, event.dataTransfer.files, chosen);
  });
  if (chosen.length > 0) show(form, drop);
}

// add takes files over, after those that stay, as far as they are fit.
function add(form, drop, files, stay) {
  const most = Number(drop.dataset.max), bytes = Number(drop.dataset.bytes);
  const faults = [];
  const fit = [...stay];
  for (const file of files) {
    if (!types.includes(file.type)) faults.push(`${file.name} is no PNG, JPEG or WebP.`);
    else if (file.size > bytes) faults.push(`${file.name} is larger than ${Math.floor(bytes / 2 ** 20)} MiB.`);
    else if (file.size === 0) faults.push(`${file.name} is empty.`);
    else fit.push(file);
  }
  if (fit.length > most) faults.push(`${fit.length} images were chosen; ${most} are the most, and the rest is left out.`);
  chosen = fit.slice(0, most);
  blame(drop, faults.join(" "));
  show(form, drop);
}

function blame(drop, fault) {
  const input = drop.querySelector("input");
  drop.querySelector(".fault").textContent = fault;
  if (fault) {
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", "f-reference_image-fault f-reference_image-hint");
  } else input.removeAttribute("aria-invalid");
}

// show puts the chosen files into the form's own field, and shows them.
function show(form, drop) {
  const transfer = new DataTransfer();
  for (const file of chosen) transfer.items.add(file);
  drop.querySelector("input").files = transfer.files;
  for (const address of pictures) URL.revokeObjectURL(address);
  pictures = chosen.map((file) => URL.createObjectURL(file));
  const list = drop.querySelector(".previews");
  list.replaceChildren(...chosen.map((file, i) => item(form, drop, file, i)));
  list.hidden = chosen.length === 0;
  form.dispatchEvent(new Event("input")); // the cost and the code depend on it
}

function item(form, drop, file, i) {
  const li = document.createElement("li");
  const image = document.createElement("img");
  image.src = pictures[i];
  image.alt = "";
  const name = document.createElement("span");
  name.textContent = file.name;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "×";
  button.setAttribute("aria-label", `Remove ${file.name}`);
  button.addEventListener("click", () => {
    chosen.splice(i, 1);
    blame(drop, "");
    show(form, drop);
    drop.querySelector("input").focus();
  });
  li.append(image, name, button);
  return li;
}

// send sends the form, with what is left of an upload in view. What to show then is the server's word.
function send(event, form) {
  event.preventDefault();
  event.stopPropagation();
  if (form.dataset.sending) return;
  form.dataset.sending = "yes";
  const data = new FormData(form, event.submitter);
  if (event.submitter?.name === "show") data.delete("reference_image");
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.setRequestHeader("HX-Request", "true");
  request.setRequestHeader("HX-Current-URL", location.href);
  watchUpload(request, form);
  request.addEventListener("load", () => answered(request, form));
  request.addEventListener("error", () => failed(form, "The connection was lost. Send it again: it is made once, however often it is sent."));
  request.send(data);
}

function watchUpload(request, form) {
  const upload = form.querySelector(".upload");
  const bar = upload.querySelector("progress"), note = upload.querySelector("span");
  form.querySelector("#generate").setAttribute("aria-busy", "true");
  if (chosen.length === 0) return;
  upload.hidden = false;
  request.upload.addEventListener("progress", (event) => {
    bar.value = event.total ? event.loaded / event.total : 0;
    if (event.loaded === event.total) note.textContent = "The images are checked.";
  });
}

function answered(request, form) {
  const next = request.getResponseHeader("HX-Redirect");
  if (next) {
    location.assign(next);
    return;
  }
  if (request.status === 200 && !request.responseText.startsWith("<!doctype")) {
    made(request.responseText, form);
    return;
  }
  const page = new DOMParser().parseFromString(request.responseText, "text/html");
  const main = page.getElementById("main");
  if (!main) {
    failed(form, "The server did not answer as expected. Send it again: it is made once, however often it is sent.");
    return;
  }
  if (!page.getElementById("play")) { // in its place the form, and what was typed into it, would be lost
    failed(form, said(main));
    return;
  }
  const focus = document.activeElement?.id;
  for (const id of ["play", "samples"]) {
    const part = page.getElementById(id);
    document.getElementById(id).replaceWith(part);
    htmx.process(part);
  }
  for (const button of document.querySelectorAll("button[data-copy][hidden]")) button.hidden = false;
  begin();
  (document.querySelector("#play [aria-invalid=true]:not(fieldset), #play [aria-invalid=true] input:checked, #play > .flash.error")
    ?? document.getElementById(focus))?.focus();
}

// made puts a result beside the form, which stays as it is: one may go on, and ask for the next at once.
function made(parts, form) {
  rest(form);
  form.querySelector(":scope > .flash")?.remove();
  htmx.swap("#result", parts, { swapStyle: "outerHTML" });
  const result = document.getElementById("result");
  if (result.getBoundingClientRect().top > innerHeight / 2) result.scrollIntoView({ block: "start" });
}

// said is what a page without a form says: its title and its sentences, not its links.
function said(main) {
  const [title, ...sentences] = [...main.querySelectorAll("h1, p:not(:has(a))")].map((e) => e.textContent.trim());
  return `${title}: ${sentences.join(" ")}`;
}

// rest makes a form that was being sent one that can be sent.
function rest(form) {
  delete form.dataset.sending;
  form.querySelector("#generate").removeAttribute("aria-busy");
  form.querySelector(".upload").hidden = true;
}

function failed(form, message) {
  rest(form);
  const note = document.createElement("p");
  note.className = "flash error";
  note.setAttribute("role", "alert");
  note.textContent = message;
  form.querySelector(":scope > .flash")?.remove();
  form.prepend(note);
}

// The names of the files belong into the code that is shown; the files themselves are not sent for it.
document.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.elt.id !== "cost") return;
  for (const file of chosen) event.detail.formData.append("reference_name", file.name);
});

document.addEventListener("DOMContentLoaded", begin);

// A result that is shown no more is waited for no more: the answer would come for the place of another.
const waiting = new WeakMap();
document.addEventListener("htmx:beforeSend", ({ detail }) => waiting.set(detail.elt, detail.xhr));
document.addEventListener("htmx:beforeCleanupElement", ({ detail }) => {
  const request = waiting.get(detail.elt);
  if (!request || request.readyState === XMLHttpRequest.DONE) return;
  request.onabort = null; // htmx would call it an error
  request.abort();
});

// The time that has passed goes on between the server's words.
const begun = new WeakMap();
setInterval(() => {
  for (const clock of document.querySelectorAll("[data-elapsed]")) {
    if (!begun.has(clock)) begun.set(clock, performance.now() - Number(clock.dataset.elapsed));
    clock.textContent = inSeconds(performance.now() - begun.get(clock));
  }
}, 1000);

function inSeconds(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}

// Who comes back to the page as it was left wants images once more: with another token they are made.
window.addEventListener("pageshow", (event) => {
  const form = document.getElementById("play");
  if (!event.persisted || !form) return;
  rest(form);
  form.elements.token.value = `console-${crypto.getRandomValues(new BigUint64Array(2)).join("-")}`;
});
