"use strict";

// A form with data-passkey is sent together with the answer of a passkey. data-passkey says whether to make or to use one.

function whyNot(error) {
  if (error.name === "InvalidStateError") return "There is a passkey of yours here already.";
  if (error.name === "NotAllowedError") return "Nothing was done: it was cancelled, or took too long. Try again.";
  return "This browser cannot do it here: " + error.message;
}

async function prove(form, button) {
  const fault = form.querySelector("[data-fault]"), knows = window.PublicKeyCredential;
  fault.hidden = button.disabled = true;
  try {
    const options = JSON.parse(form.dataset.options);
    const proof = form.dataset.passkey === "make"
      ? await navigator.credentials.create({ publicKey: knows.parseCreationOptionsFromJSON(options) })
      : await navigator.credentials.get({ publicKey: knows.parseRequestOptionsFromJSON(options) });
    form.elements.passkey_answer.value = JSON.stringify(proof.toJSON());
    form.submit();
  } catch (error) {
    fault.textContent = whyNot(error);
    fault.hidden = button.disabled = false;
  }
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const button = form.querySelector("[data-prove]");
  button.hidden = false;
  button.addEventListener("click", () => prove(form, button));
}
