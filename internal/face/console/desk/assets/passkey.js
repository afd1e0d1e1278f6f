// Passkeys: a form with data-passkey asks the service for a challenge, has the browser answer it, and sends the answer.
// Where this does not run, or the browser knows no passkeys, the form is hidden, and people sign in with a password.
const known = window.PublicKeyCredential && PublicKeyCredential.parseRequestOptionsFromJSON && navigator.credentials;

async function answerOf(form) {
  const asked = await fetch(`${form.action}/options`, { method: "POST" });
  if (asked.redirected) {
    location.assign(asked.url);
    return null;
  }
  if (!asked.ok) throw new Error(`status ${asked.status}`);
  const { publicKey } = await asked.json();
  return form.dataset.passkey === "create"
    ? navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) })
    : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) });
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const failed = form.querySelector("[role=alert]");
  form.hidden = !known;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    failed.hidden = true;
    try {
      const credential = await answerOf(form);
      if (!credential) return;
      form.elements.credential.value = JSON.stringify(credential.toJSON());
      form.submit();
    } catch {
      failed.hidden = false;
    }
  });
}
