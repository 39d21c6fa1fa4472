"use strict";

// A mask is drawn on the first reference: what is painted over is made anew. The drawing becomes the file in the mask's field,
// transparent where it is painted. Without this file, users choose a mask that was made elsewhere.

// A mark is a line of the brush { erase, size, points } or a box { erase, box }, in pixels of the reference. Marks are painted
// over each other in order, so that the last can be undone.
const ink = "#e6007a";
const field = () => document.getElementById("f-mask");
const easel = () => document.getElementById("easel");
const surface = () => easel().querySelector(".ink");

let drawn = null; // the mask in the form: { on: its reference, marks, file, preview }
let work = null; // while the easel is open: { on, picture, width, height, marks, erase, line: being drawn, box: of the keyboard }

// paint paints one mark over those already there.
function paint(context, mark) {
  context.globalCompositeOperation = mark.erase ? "destination-out" : "source-over";
  context.fillStyle = context.strokeStyle = ink;
  if (mark.box) {
    context.fillRect(mark.box.x, mark.box.y, mark.box.width, mark.box.height);
    return;
  }
  context.lineWidth = mark.size;
  context.lineCap = context.lineJoin = "round";
  context.beginPath();
  context.moveTo(mark.points[0].x + 0.01, mark.points[0].y); // a line without length would not be drawn
  for (const { x, y } of mark.points) context.lineTo(x, y);
  context.stroke();
}

// blank returns a new canvas of a size, and its context.
function blank(width, height) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  return [canvas, canvas.getContext("2d")];
}

// inked returns a new canvas with the marks of a drawing, and its context.
function inked({ width, height, marks }) {
  const [canvas, context] = blank(width, height);
  for (const mark of marks) paint(context, mark);
  return [canvas, context];
}

// maskOf returns the file of a mask, in which each pixel is either transparent or opaque; null if none is transparent.
async function maskOf(drawing) {
  const [canvas, context] = inked(drawing);
  const pixels = context.getImageData(0, 0, canvas.width, canvas.height), data = pixels.data;
  let anew = false;
  for (let i = 0; i < data.length; i += 4) {
    const painted = data[i + 3] >= 128;
    data[i] = data[i + 1] = data[i + 2] = 0;
    data[i + 3] = painted ? 0 : 255;
    anew ||= painted;
  }
  if (!anew) return null;
  context.putImageData(pixels, 0, 0);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  return new File([blob], "mask.png", { type: "image/png" });
}

// previewOf returns a small canvas with the picture and the painted area.
function previewOf(drawing) {
  const { picture, width, height } = drawing, scale = Math.min(1, 320 / Math.max(width, height));
  const [canvas, context] = blank(Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)));
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  context.globalAlpha = 0.6;
  context.drawImage(inked(drawing)[0], 0, 0, canvas.width, canvas.height);
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "Reference 1 with what is made anew painted over");
  return canvas;
}

// load reads a reference as it is displayed, which is how the service compares it with the mask.
async function load(reference) {
  const file = reference.file ?? await (await fetch(document.getElementById("drop").dataset.images + reference.id)).blob();
  return createImageBitmap(file); // rejects if the file is not an image
}

// openEasel opens the easel with the first reference, and with what was drawn on it before.
async function openEasel(button) {
  const on = chosen[0], most = Number(button.dataset.pixels);
  let picture;
  try {
    picture = await load(on);
  } catch {
    refuse("Reference 1 cannot be shown here. Remove it, or choose another.");
    return;
  }
  if (easel().open || chosen[0] !== on) return; // something else happened meanwhile
  const { width, height } = picture;
  if (width * height > most) {
    refuse(`Reference 1 has ${width} × ${height} pixels. A mask can have at most ${most.toLocaleString()}: choose a smaller image.`);
    return;
  }
  refuse("");
  work = { on, picture, width, height, marks: drawn?.on === on ? [...drawn.marks] : [], erase: false, line: null, box: null };
  for (const canvas of easel().querySelectorAll("canvas")) {
    canvas.width = width;
    canvas.height = height;
  }
  easel().querySelector(".picture").getContext("2d").drawImage(picture, 0, 0);
  say("");
  take(false);
  redraw();
  easel().showModal();
}

// refuse says next to the button why nothing can be drawn; "" removes the message.
function refuse(why) {
  document.getElementById("draw-fault").textContent = why;
}

function say(words) {
  easel().querySelector("[role=status]").textContent = words;
}

// take selects the brush or the eraser.
function take(eraser) {
  work.erase = eraser;
  easel().querySelector("[data-do=paint]").setAttribute("aria-pressed", !eraser);
  easel().querySelector("[data-do=erase]").setAttribute("aria-pressed", eraser);
}

function redraw() {
  const canvas = surface(), context = canvas.getContext("2d");
  context.clearRect(0, 0, canvas.width, canvas.height);
  for (const mark of work.marks) paint(context, mark);
  context.globalCompositeOperation = "source-over";
  if (work.box) outline(context, work.box);
}

// outline draws the keyboard's box, visible on light and on dark.
function outline(context, box) {
  const width = Math.max(2, Math.round(context.canvas.width / 200));
  context.lineWidth = width;
  for (const [colour, dash] of [["#000000", []], ["#ffffff", [3 * width]]]) {
    context.strokeStyle = colour;
    context.setLineDash(dash);
    context.strokeRect(box.x + width / 2, box.y + width / 2, box.width - width, box.height - width);
  }
  context.setLineDash([]);
}

// addMark adds a mark on top of the others.
function addMark(mark) {
  work.marks.push(mark);
  say("");
  redraw();
}

// where returns the pointer's position in pixels of the picture, which the canvas shows scaled to fit.
function where(event) {
  const room = surface().getBoundingClientRect(), scale = Math.min(room.width / work.width, room.height / work.height);
  return {
    x: (event.clientX - room.left - (room.width - work.width * scale) / 2) / scale,
    y: (event.clientY - room.top - (room.height - work.height * scale) / 2) / scale,
  };
}

function down(event) {
  if (!event.isPrimary || event.button !== 0) return;
  event.target.setPointerCapture(event.pointerId);
  work.box = null;
  const share = Number(document.getElementById("brush").value) / 100;
  work.line = { erase: work.erase, size: Math.max(1, Math.min(work.width, work.height) * share), points: [where(event)] };
  addMark(work.line);
}

function move(event) {
  if (!work?.line || !event.isPrimary) return;
  work.line.points.push(where(event));
  paint(surface().getContext("2d"), { ...work.line, points: work.line.points.slice(-2) });
}

// The keyboard's box: arrow keys move it; with Shift they move its far corner.
const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const within = (value, least, most) => Math.min(Math.max(value, least), most);

function shift(event) {
  const { width, height } = work, x = Math.ceil(width / 20), y = Math.ceil(height / 20);
  const [right, below] = arrows[event.key], box = work.box;
  if (!box) {
    const quarter = { x: Math.floor(width / 4), y: Math.floor(height / 4) };
    work.box = { ...quarter, width: width - 2 * quarter.x, height: height - 2 * quarter.y };
  } else if (event.shiftKey) {
    box.width = within(box.width + right * x, Math.min(x, width - box.x), width - box.x);
    box.height = within(box.height + below * y, Math.min(y, height - box.y), height - box.y);
  } else {
    box.x = within(box.x + right * x, 0, width - box.width);
    box.y = within(box.y + below * y, 0, height - box.height);
  }
  const b = work.box, share = (part, whole) => `${Math.round(part / whole * 100)} %`;
  say(`Rectangle: ${share(b.x, width)} from the left, ${share(b.y, height)} from the top, ${share(b.width, width)} wide, ${share(b.height, height)} high.`);
  redraw();
}

function key(event) {
  if ((event.ctrlKey || event.metaKey) && event.key === "z") doings.undo();
  else if (!event.target.matches(".stage") || event.ctrlKey || event.metaKey || event.altKey) return;
  else if (arrows[event.key]) shift(event);
  else if (event.key === "Enter" && work.box) {
    addMark({ erase: work.erase, box: { ...work.box } });
    say(work.erase ? "The rectangle is erased." : "The rectangle is painted.");
  } else return;
  event.preventDefault();
}

const doings = {
  paint: () => take(false),
  erase: () => take(true),
  undo() {
    say(work.marks.pop() ? "The last mark is undone." : "There is nothing to undo.");
    redraw();
  },
  clear() {
    addMark({ erase: true, box: { x: 0, y: 0, width: work.width, height: work.height } });
    say("Nothing is painted.");
  },
  async done() {
    const drawing = work, file = await maskOf(drawing);
    if (work !== drawing) return; // cancelled meanwhile
    if (!file) {
      say("Nothing is painted. Paint over what is to be made anew.");
      return;
    }
    drawn = { on: work.on, marks: work.marks, file, preview: previewOf(work) };
    easel().close();
    document.getElementById("play").dispatchEvent(new Event("input", { bubbles: true })); // the code depends on it
  },
  cancel: () => easel().close(),
};

// fit puts the drawn mask into the form as long as the reference that it was drawn on is the first.
function fit() {
  const input = field();
  if (!input) return;
  const fits = drawn !== null && drawn.on === chosen[0];
  const button = document.getElementById("draw");
  button.hidden = chosen.length === 0;
  button.textContent = fits ? "Change the mask" : "Draw a mask";
  document.getElementById("undraw").hidden = !fits;
  if (fits) button.closest("details").open = true;
  document.getElementById("drawn").replaceChildren(...fits ? [drawn.preview] : []);
  refuse(""); // the reason may be gone
  if (!drawn) return; // the field's file was not drawn here
  const transfer = new DataTransfer();
  if (fits) transfer.items.add(drawn.file);
  input.files = transfer.files;
}

// discard removes the drawn mask from the form.
function discard() {
  field().value = "";
  drawn = null;
  field().form.dispatchEvent(new Event("input", { bubbles: true }));
  field().focus();
}

document.addEventListener("input", (event) => {
  if (event.target === field()) drawn = null; // another was chosen
  if (event.target.closest("#play")) fit();
}, true); // capture: before other listeners read the form

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.id === "draw") openEasel(button);
  else if (button?.id === "undraw") discard();
  else if (button?.matches("#easel [data-do]")) doings[button.dataset.do]();
});

document.addEventListener("DOMContentLoaded", () => {
  const stage = easel()?.querySelector(".stage");
  if (!stage) return;
  stage.addEventListener("pointerdown", down);
  stage.addEventListener("pointermove", move);
  for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, () => { if (work) work.line = null; });
  easel().addEventListener("keydown", key);
  easel().addEventListener("close", () => { work = null; });
});
