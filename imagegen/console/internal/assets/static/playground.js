"use strict";

// The conveniences of the playground: dropping files, previews of them, the progress of the upload, and the length of the
// prompt. Without this file the form works like any other.

// The chosen references, in order: { file, address } for a file, with an address that shows it, or { id, address } for an image
// that was made before. They outlive the form, which an answer may replace.
let chosen = [];

const types = ["image/png", "image/jpeg", "image/webp"];

function begin() {
  const form = document.getElementById("play");
  if (!form) return;
  form.classList.add("scripted");
  form.querySelector("[data-lost]")?.remove();
  countPrompt(form);
  form.elements.prompt.addEventListener("input", () => countPrompt(form));
  form.querySelector("#f-model")?.addEventListener("change", () => form.requestSubmit(form.querySelector(".model button")));
  form.addEventListener("submit", (event) => send(event, form));
  form.addEventListener("keydown", (event) => sendByKey(event, form));
  const drop = document.getElementById("drop");
  if (drop) beginDrop(form, drop);
}

// sendByKey sends the form with Ctrl+Enter or Cmd+Enter, whichever field has the focus.
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
  const input = drop.querySelector("input[type=file]");
  let within = 0; // how many nested elements the pointer is in
  const over = (delta) => { within += delta; drop.classList.toggle("over", within > 0); };
  input.addEventListener("change", () => add(form, drop, input.files, chosen.filter((c) => c.id)));
  drop.addEventListener("dragenter", (event) => { event.preventDefault(); over(1); });
  drop.addEventListener("dragleave", () => over(-1));
  drop.addEventListener("dragover", (event) => event.preventDefault());
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    over(-within);
    const made = /\/(?:images|thumbnails)\/(image_\w+)$/.exec(event.dataTransfer.getData("text/uri-list"));
    if (made) addMade(form, drop, made[1]);
    else add(form, drop, event.dataTransfer.files, chosen);
  });
  const there = [...drop.querySelectorAll("[data-image]")].map((li) => ({ id: li.dataset.image, address: li.querySelector("img").src }));
  keep(chosen.filter((c) => c.file || there.some((t) => t.id === c.id)));
  keep([...chosen, ...there.filter((t) => !chosen.some((c) => c.id === t.id))]);
  if (chosen.length > 0) show(form, drop);
}

// keep replaces the chosen references.
function keep(these) {
  for (const c of chosen) if (c.file && !these.includes(c)) URL.revokeObjectURL(c.address);
  chosen = these;
}

// add adds files to the references that stay, as far as they can be used, and says what is wrong with the others.
function add(form, drop, files, stay) {
  const most = Number(drop.dataset.max), bytes = Number(drop.dataset.bytes);
  const faults = [];
  const fit = [...stay];
  for (const file of files) {
    if (!types.includes(file.type)) faults.push(`${file.name} is not a PNG, JPEG or WebP image.`);
    else if (file.size > bytes) faults.push(`${file.name} is larger than ${Math.floor(bytes / 2 ** 20)} MiB.`);
    else if (file.size === 0) faults.push(`${file.name} is empty.`);
    else fit.push({ file, address: URL.createObjectURL(file) });
  }
  if (fit.length > most) faults.push(`${fit.length} images were chosen; ${most} are the most, and the rest is left out.`);
  keep(fit.slice(0, most));
  blame(drop, faults.join(" "));
  show(form, drop);
}

// addMade adds an image that was made before.
function addMade(form, drop, id) {
  const most = Number(drop.dataset.max);
  if (chosen.some((c) => c.id === id)) return;
  if (chosen.length >= most) {
    blame(drop, `${most} images are the most.`);
    return;
  }
  keep([...chosen, { id, address: `${drop.dataset.thumbnails}${id}` }]);
  blame(drop, "");
  show(form, drop);
}

// Images pasted anywhere on the page become references.
document.addEventListener("paste", (event) => {
  const form = document.getElementById("play"), drop = document.getElementById("drop");
  if (!drop || event.clipboardData.files.length === 0) return;
  event.preventDefault();
  add(form, drop, event.clipboardData.files, chosen);
});

function blame(drop, fault) {
  const input = drop.querySelector("input[type=file]");
  drop.querySelector(".fault").textContent = fault;
  if (fault) {
    drop.open = true;
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", "f-reference_image-fault f-reference_image-hint");
  } else input.removeAttribute("aria-invalid");
}

// show shows the chosen references, and puts them into the form.
function show(form, drop) {
  const transfer = new DataTransfer();
  for (const c of chosen) if (c.file) transfer.items.add(c.file);
  drop.querySelector("input[type=file]").files = transfer.files;
  const list = drop.querySelector(".previews");
  list.replaceChildren(...chosen.map((c, i) => item(form, drop, c, i)));
  list.hidden = chosen.length === 0;
  if (chosen.length > 0) drop.open = true;
  form.dispatchEvent(new Event("input", { bubbles: true })); // the cost, the code and the draft depend on it
}

function item(form, drop, one, i) {
  const li = document.createElement("li");
  const image = document.createElement("img");
  image.src = one.address;
  image.alt = `Reference ${i + 1}`;
  li.append(image);
  if (one.id) {
    const id = document.createElement("input");
    id.type = "hidden";
    id.name = "reference";
    id.value = li.dataset.image = one.id;
    li.append(id);
  } else {
    const name = document.createElement("span");
    name.className = "name";
    name.textContent = one.file.name;
    li.append(name);
  }
  const tools = document.createElement("span");
  tools.className = "tools";
  if (i > 0) {
    tools.append(tool("←", `Move reference ${i + 1} forward`, () => {
      [chosen[i - 1], chosen[i]] = [chosen[i], chosen[i - 1]];
      show(form, drop);
      drop.querySelectorAll(".previews li")[i - 1].querySelector("button").focus();
    }));
  }
  tools.append(tool("×", `Remove reference ${i + 1}`, () => {
    keep(chosen.filter((c) => c !== one));
    blame(drop, "");
    show(form, drop);
    drop.querySelector("input[type=file]").focus();
  }));
  li.append(tools);
  return li;
}

function tool(face, label, press) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "small outline";
  button.textContent = face;
  button.setAttribute("aria-label", label);
  button.addEventListener("click", press);
  return button;
}

// send sends the form and shows the progress of the upload. The server decides what is shown then.
function send(event, form) {
  event.preventDefault();
  event.stopPropagation();
  const drop = document.getElementById("drop"), pressed = event.submitter;
  if (pressed?.name === "use" && drop) {
    addMade(form, drop, pressed.value);
    for (const part of [drop, form.elements.prompt]) part.scrollIntoView({ block: "nearest" }); // the prompt last: it is changed next
    return;
  }
  if (form.dataset.sending) return;
  form.dataset.sending = "yes";
  const again = pressed?.name === "show" ? "Choose again." : "Press Generate again: you pay once.";
  post(form, entered(form, pressed), again, answered);
}

// post sends data to the form's address, and passes the answer to a function. again says what to do if none comes.
function post(form, data, again, answered) {
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.setRequestHeader("HX-Request", "true");
  request.setRequestHeader("HX-Current-URL", location.href);
  watchUpload(request, form);
  request.addEventListener("load", () => answered(request, form));
  request.addEventListener("error", () => {
    rest(form);
    doubt(0, `The connection was lost. ${again}`);
  });
  request.send(data);
}

// entered returns the form's data, with the references in order. Files are left out if the form is only to be shown again.
function entered(form, pressed) {
  const data = new FormData(form, pressed);
  data.delete("reference");
  data.delete("reference_image");
  for (const c of chosen) {
    if (c.id) data.append("reference", c.id);
    else if (pressed?.name !== "show") data.append("reference_image", c.file);
  }
  return data;
}

function watchUpload(request, form) {
  const upload = form.querySelector(".upload");
  const bar = upload.querySelector("progress"), note = upload.querySelector("span");
  form.querySelector("#generate").setAttribute("aria-busy", "true");
  if (!chosen.some((c) => c.file)) return;
  upload.hidden = false;
  request.upload.addEventListener("progress", (event) => {
    bar.value = event.total ? event.loaded / event.total : 0;
    if (event.loaded === event.total) note.textContent = "The images are checked.";
  });
}

// taken handles an answer that is not a page, and returns whether it was one of those.
function taken(request, form) {
  const next = request.getResponseHeader("HX-Redirect");
  if (next) location.assign(next);
  else if (request.status === 200 && !request.responseText.startsWith("<!doctype")) made(request.responseText, form);
  else return false;
  return true;
}

const pageOf = (request) => new DOMParser().parseFromString(request.responseText, "text/html");

function answered(request, form) {
  if (taken(request, form)) {
    forgive(form);
    return;
  }
  const page = pageOf(request);
  const main = page.getElementById("main");
  if (!main) {
    failed(form, "The server did not answer as expected. Press Generate again: you pay once.");
    return;
  }
  if (!page.getElementById("play")) { // to show this page would lose the form and what was typed into it
    failed(form, said(main));
    return;
  }
  const focus = document.activeElement?.id;
  const priced = page.querySelector("#cost > .price"); // otherwise the code of before stays, which is whole
  for (const id of priced ? ["play", "samples"] : ["play"]) {
    const part = page.getElementById(id);
    document.getElementById(id).replaceWith(part);
    htmx.process(part);
  }
  for (const button of document.querySelectorAll("button[data-copy][hidden]")) button.hidden = false;
  begin();
  (document.querySelector("#play [aria-invalid=true]:not(fieldset), #play [aria-invalid=true] input:checked")
    ?? document.getElementById(focus))?.focus();
}

// A variation is sent like the form, and its result appears in the same place. If it is refused, the form is not replaced: the
// form in the answer has the settings of the variation.
document.addEventListener("submit", (event) => {
  const form = document.getElementById("play");
  if (!form || !event.target.matches(".vary") || form.dataset.sending) return;
  event.preventDefault();
  event.stopPropagation();
  form.dataset.sending = "yes";
  post(form, new FormData(event.target), "Press the button again: you pay once.", (request) => {
    if (taken(request, form)) return;
    const page = pageOf(request);
    const faults = [...page.querySelectorAll("#play .flash.error, #play .fault")].map((e) => e.textContent.trim()).filter(Boolean);
    failed(form, faults.join(" ") || said(page));
  });
}, true);

// made puts a result beside the form. The form stays as it is, so that users can ask for the next images at once.
function made(parts, form) {
  rest(form);
  form.querySelector(".send > .flash")?.remove();
  htmx.swap("#result", parts, { swapStyle: "outerHTML" });
  requestAnimationFrame(() => { // when the layout is computed anyway
    const result = document.getElementById("result");
    const { top } = result.getBoundingClientRect();
    if (top < 0 || top > innerHeight / 2) result.scrollIntoView({ block: "start" });
  });
}

// forgive takes away what an earlier answer said of the fields: the form was accepted now.
function forgive(form) {
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  for (const fault of form.querySelectorAll(".fault")) fault.textContent = "";
}

// said returns the text of a page without a form: its title and its sentences, without links.
function said(main) {
  const [title, ...sentences] = [...main.querySelectorAll("h1, p:not(:has(a))")].map((e) => e.textContent.trim());
  return `${title}: ${sentences.join(" ")}`;
}

// rest makes a form that was being sent ready to be sent again.
function rest(form) {
  delete form.dataset.sending;
  form.querySelector("#generate").removeAttribute("aria-busy");
  form.querySelector(".upload").hidden = true;
}

// failed says in the bar, which is in view, that the form was not accepted.
function failed(form, message) {
  rest(form);
  const note = document.createElement("p");
  note.className = "flash error";
  note.setAttribute("role", "alert");
  note.textContent = message;
  form.querySelector(".send > .flash")?.remove();
  form.querySelector(".send").prepend(note);
  bring(note);
}

// bring brings what the bar says into view: a variation is asked for elsewhere.
function bring(note) {
  const { top, bottom } = note.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) note.scrollIntoView({ block: "center" });
}

// doubt takes the price away that the bar shows, since it may be another by now, and asks for it again where that may help.
// status is that of the answer to the page; 0: there was none. unsent says that the form did not arrive: it stays, as the one
// message, until there is a price.
function doubt(status, unsent) {
  const lost = status === 0 || status >= 500, cost = document.getElementById("cost");
  if (unsent || !cost.querySelector("[role=alert]")) {
    for (const said of document.querySelectorAll(unsent ? "#cost p, .send > .flash" : "#cost p")) said.remove();
    cost.insertAdjacentHTML("beforeend", `<p class="price"><strong>–</strong></p>
<p class="problem">The price is not known: the service ${lost ? "cannot be reached" : "did not answer as expected"}.</p>`);
    if (unsent) {
      cost.lastChild.setAttribute("role", "alert");
      cost.lastChild.textContent = unsent;
      bring(cost.lastChild);
    }
  }
  clearTimeout(asking);
  if (lost) asking = setTimeout(() => htmx.trigger("#cost", "again"), 3000);
}

let asking; // for the price, again

for (const event of ["htmx:sendError", "htmx:responseError"]) {
  document.addEventListener(event, ({ detail }) => { if (detail.elt.id === "cost") doubt(detail.xhr.status); });
}

// When the service answers again, the images are loaded that could not be while it was away.
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.elt.id !== "cost" || !detail.successful) return;
  for (const image of document.querySelectorAll(".bench img")) if (image.complete && !image.naturalWidth) image.src = image.src;
});

// The code shown needs the names of the files, so those are sent instead of the files.
document.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.elt.id !== "cost") return;
  event.detail.formData.delete("reference");
  for (const c of chosen) event.detail.formData.append("reference_name", c.file?.name ?? `${c.id}.png`);
  const mask = document.getElementById("f-mask")?.files[0];
  if (mask) event.detail.formData.append("mask_name", mask.name);
});

document.addEventListener("DOMContentLoaded", begin);

// A request for a result that is no longer shown is aborted: its answer would replace another result.
const waiting = new WeakMap();
document.addEventListener("htmx:beforeSend", ({ detail }) => waiting.set(detail.elt, detail.xhr));
document.addEventListener("htmx:beforeCleanupElement", ({ detail }) => {
  const request = waiting.get(detail.elt);
  if (!request || request.readyState === XMLHttpRequest.DONE) return;
  request.onabort = null; // htmx would call it an error
  request.abort();
});

// A page in the background polls, and does not let the server hold back answers: a browser opens six connections to a host for
// all its pages together.
document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (document.hidden) detail.path = detail.path.replace(/&wait=\d+/, "&wait=0");
});

// The elapsed time is counted here between the server's answers.
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

// When the browser restores the page from its cache, the form gets a new token, so that sending it makes new images.
window.addEventListener("pageshow", (event) => {
  const form = document.getElementById("play");
  if (!event.persisted || !form) return;
  rest(form);
  form.elements.token.value = `console-${crypto.getRandomValues(new BigUint64Array(2)).join("-")}`;
});
