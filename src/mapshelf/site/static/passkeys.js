// Passkeys: requests a challenge, has the authenticator sign it, and submits the result in a form.
// The browsers' own conversions from and to JSON (parseCreationOptionsFromJSON, toJSON) are younger
// than passkeys, so these few fields are converted here.

const bytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));

const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");

function prepared(options) {
  const known = (options.excludeCredentials || options.allowCredentials || []).map((one) => ({
    ...one,
    id: bytes(one.id),
  }));
  const ready = { ...options, challenge: bytes(options.challenge) };
  if (options.user) {
    return { ...ready, user: { ...options.user, id: bytes(options.user.id) }, excludeCredentials: known };
  }
  return { ...ready, allowCredentials: known };
}

function described(credential) {
  const said = credential.response;
  const response = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (said[name]) response[name] = text(said[name]);
  }
  return JSON.stringify({
    id: credential.id,
    rawId: text(credential.rawId),
    type: credential.type,
    response,
  });
}

async function use(form) {
  const begun = new URLSearchParams({ csrf_token: form.elements.csrf_token.value });
  const answer = await fetch(form.action, { method: "POST", body: begun });
  if (!answer.ok || !answer.headers.get("content-type").startsWith("application/json")) {
    throw new Error(`${answer.status}`);
  }
  const publicKey = prepared(await answer.json());
  const made = publicKey.user
    ? await navigator.credentials.create({ publicKey })
    : await navigator.credentials.get({ publicKey });
  form.elements.credential.value = described(made);
  form.submit();
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential) continue;
  form.hidden = false;
  const told = form.querySelector("[role=alert]");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    told.hidden = true;
    use(form).catch(() => {
      told.hidden = false;
    });
  });
}
