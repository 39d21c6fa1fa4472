"use strict";

// Each link with data-picture opens its image in a dialog over the page. There, arrow keys lead to the other images, + and −
// zoom, and the image or its address can be copied. Without this file the link opens the image by itself.

const zooms = [0, 0.5, 1, 2, 4]; // of the image's own size; 0: it fits the window
let at = null; // the link whose image is shown
let zoom = 0; // an index of zooms

const lightbox = () => document.getElementById("lightbox");
const links = () => [...document.querySelectorAll("a[data-picture]")];

// current is the link of the image that is shown. An update of the page may have replaced the one that was opened.
const current = () => links().find((l) => l.href === at.href);

function look(link) {
  const box = lightbox(), all = links(), picture = link.querySelector("img");
  const stage = box.querySelector(".stage");
  const image = stage.querySelector("img") ?? stage.appendChild(document.createElement("img"));
  at = link;
  image.src = link.href;
  image.alt = picture.alt;
  box.querySelector(".which").textContent = `${all.indexOf(link) + 1} of ${all.length} · ${picture.getAttribute("width")} × ${picture.getAttribute("height")}`;
  const save = box.querySelector("a[download]");
  save.href = link.href;
  save.download = link.dataset.picture;
  for (const step of box.querySelectorAll("[data-do=back], [data-do=on]")) step.hidden = all.length < 2;
  magnify(zoom);
  if (!box.open) box.showModal();
}

// step shows the next image (1) or the previous one (-1). After the last comes the first.
function step(by) {
  const all = links(), n = all.indexOf(current());
  if (all.length > 0) look(all[(n + by + all.length) % all.length]);
}

// magnify sets the zoom to an index of zooms, within their range.
function magnify(to) {
  const box = lightbox(), image = box.querySelector(".stage img"), stage = box.querySelector(".stage");
  const x = (stage.scrollLeft + stage.clientWidth / 2) / stage.scrollWidth, y = (stage.scrollTop + stage.clientHeight / 2) / stage.scrollHeight;
  zoom = Math.min(Math.max(to, 0), zooms.length - 1);
  box.classList.toggle("zoomed", zoom > 0);
  image.style.width = zoom ? `${at.querySelector("img").getAttribute("width") * zooms[zoom]}px` : "";
  stage.scrollTo(x * stage.scrollWidth - stage.clientWidth / 2, y * stage.scrollHeight - stage.clientHeight / 2); // keep the middle in the middle
  box.querySelector("[data-do=fit]").textContent = zoom ? `${zooms[zoom] * 100} %` : "Fit";
}

// asPNG returns the image in the one format that every clipboard accepts.
async function asPNG(address) {
  const blob = await (await fetch(address)).blob();
  if (blob.type === "image/png") return blob;
  const bitmap = await createImageBitmap(blob);
  const canvas = document.createElement("canvas");
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  canvas.getContext("2d").drawImage(bitmap, 0, 0);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

// showResult runs what a button does, and shows the result on it for two seconds.
async function showResult(button, work) {
  button.dataset.label ??= button.textContent;
  try {
    await work();
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => { button.textContent = button.dataset.label; }, 2000);
}

const acts = {
  back: () => step(-1),
  on: () => step(1),
  smaller: () => magnify(zoom - 1),
  fit: () => magnify(0),
  larger: () => magnify(zoom + 1),
  link: (button) => showResult(button, () => navigator.clipboard.writeText(at.href)),
  copy: (button) => showResult(button, () => navigator.clipboard.write([new ClipboardItem({ "image/png": asPNG(at.href) })])),
  use: () => {
    lightbox().close();
    current()?.closest("figure").querySelector(".use").click();
  },
  close: () => lightbox().close(),
};

const keys = { ArrowLeft: "back", ArrowRight: "on", "-": "smaller", "0": "fit", "+": "larger", "=": "larger" };

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-picture]"), button = event.target.closest("#lightbox [data-do]");
  if (link && !(event.ctrlKey || event.metaKey || event.shiftKey || event.button)) {
    event.preventDefault();
    zoom = 0;
    look(link);
  } else if (button) acts[button.dataset.do](button);
  else if (event.target === lightbox()) lightbox().close();
});

document.addEventListener("dblclick", (event) => {
  if (event.target.closest("#lightbox .stage")) magnify(zoom ? 0 : 2);
});

document.addEventListener("keydown", (event) => {
  const act = keys[event.key];
  const scrolls = zoom > 0 && event.target.closest(".stage") && event.key.startsWith("Arrow"); // the image is larger than the window
  if (!act || scrolls || !lightbox()?.open || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  acts[act]();
});

// After the dialog is closed, the focus is on the image that was shown last.
document.addEventListener("close", (event) => {
  if (event.target === lightbox()) current()?.focus();
}, true);
