// Uploads files one after another as soon as they are selected or dropped, and shows the progress
// of each. Without this script, the form uploads them together.

const form = document.getElementById("drop");
const input = form?.querySelector("input[type=file]");
const texts = JSON.parse(document.getElementById("texts").textContent);
const sent = document.getElementById("sent");
const rows = document.getElementById("sent-files");
const said = document.getElementById("said");
const on = document.getElementById("on");

const MEGABYTE = 1048576;

const maps = [];
let refused = 0;
let sending = false;
const waiting = [];

function tell(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

class Row {
  constructor(file) {
    this.file = file;
    this.element = document.createElement("li");
    const words = document.createElement("div");
    const name = document.createElement("b");
    name.dir = "auto";
    name.textContent = file.name;
    this.state = document.createElement("span");
    this.state.className = "hint";
    this.state.dir = "auto";
    words.append(name, " ", this.state);
    this.bar = document.createElement("progress");
    this.bar.max = 1;
    this.bar.value = 0;
    this.bar.setAttribute("aria-label", file.name);
    this.element.append(words, this.bar);
    this.say(texts.waiting);
    rows.append(this.element);
  }

  say(text) {
    this.state.textContent = text;
  }

  end(text, kind) {
    this.bar.remove();
    this.element.classList.add(kind);
    this.say(text);
  }

  refuse(reason) {
    refused += 1;
    this.end(reason, "wrong");
  }
}

function send(row) {
  return new Promise((resolve) => {
    const body = new FormData();
    body.append("csrf_token", form.elements.csrf_token.value);
    body.append("map", row.file);
    const request = new XMLHttpRequest(); // fetch does not tell how much has been sent
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", (event) => {
      row.bar.value = event.loaded / event.total;
      row.say(texts.sending);
    });
    request.upload.addEventListener("load", () => {
      row.bar.removeAttribute("value");
      row.say(texts.reading);
    });
    request.addEventListener("load", () => resolve(request));
    request.addEventListener("error", () => resolve(null));
    request.send(body);
  });
}

async function take(row) {
  if (row.file.size > Number(form.dataset.largest)) {
    const megabytes = Math.floor(form.dataset.largest / MEGABYTE);
    return row.refuse(tell(texts.large, { megabytes }));
  }
  if (maps.length >= Number(form.dataset.most)) return row.refuse(texts.many);
  const request = await send(row);
  if (!request) return row.refuse(texts.failed);
  // The session has ended: the page itself asks to sign in, and leads back to here.
  if (request.responseURL.includes("/signin")) return location.assign(form.action);
  let answer;
  try {
    answer = JSON.parse(request.responseText);
  } catch {
    return row.refuse(texts.failed);
  }
  for (const one of answer.refused) row.refuse(one.reason);
  for (const id of answer.maps) if (!maps.includes(id)) maps.push(id);
  if (answer.maps.length) row.end(texts.ready, "ready");
}

async function takeAll() {
  if (sending) return;
  sending = true;
  while (waiting.length) await take(waiting.shift());
  sending = false;
  const address = `${form.dataset.preview}?maps=${maps.join(",")}`;
  if (maps.length && !refused) return location.assign(address);
  said.textContent = tell(texts.counted, { ready: maps.length, refused });
  on.hidden = !maps.length;
  const link = on.querySelector("a");
  link.href = address;
  link.textContent = texts.goOn;
}

function add(files) {
  if (!files.length) return;
  sent.hidden = false;
  for (const file of files) waiting.push(new Row(file));
  input.value = "";
  takeAll();
}

if (form) {
  document.documentElement.classList.add("scripted");
  // A finger drops nothing.
  const touched = matchMedia("(hover: none)").matches;
  form.querySelector("label").textContent = touched ? texts.choose : texts.drop;
  input.addEventListener("change", () => add([...input.files]));
  form.addEventListener("submit", (event) => event.preventDefault());
  let inside = 0;
  const over = (change) => {
    inside = Math.max(0, inside + change);
    form.classList.toggle("over", inside > 0);
  };
  document.addEventListener("dragenter", () => over(1));
  document.addEventListener("dragleave", () => over(-1));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    inside = 0;
    over(0);
    add([...event.dataTransfer.files]);
  });
}
