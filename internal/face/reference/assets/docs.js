// What the pages do beyond being read: search, copying code, the theme, the language of the samples. Only these two choices are kept.
"use strict";
const at = document.body.dataset.root, html = document.documentElement;
const keep = (name, value) => { try { localStorage.setItem("docs-" + name, value); } catch { /* not allowed to */ } };
const kept = name => { try { return localStorage.getItem("docs-" + name); } catch { return null; } };

const theme = document.querySelector("button.theme"), system = matchMedia("(prefers-color-scheme: dark)");
const dark = () => (html.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
const name = () => { theme.textContent = dark() ? "Light" : "Dark"; };
if (["light", "dark"].includes(kept("theme"))) html.dataset.theme = kept("theme");
theme.hidden = false;
theme.addEventListener("click", () => { html.dataset.theme = dark() ? "light" : "dark"; keep("theme", html.dataset.theme); name(); });
system.addEventListener("change", name);
name();

for (const radio of document.querySelectorAll("[name=language]")) {
  if (radio.value === kept("language")) radio.checked = true;
  radio.addEventListener("change", () => keep("language", radio.value));
}

// Each piece of code has a button that copies it. Without the right to copy, the code is marked, ready for Ctrl+C.
for (const pre of document.querySelectorAll("pre")) {
  const box = document.createElement("div"), button = document.createElement("button"), rest = () => { button.textContent = "Copy"; };
  box.className = "copied";
  button.className = "copy";
  button.type = "button";
  button.setAttribute("aria-live", "polite");
  rest();
  pre.replaceWith(box);
  box.append(pre, button);
  button.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(pre.textContent); button.textContent = "Copied"; } catch {
      getSelection().selectAllChildren(pre.firstElementChild);
      button.textContent = "Marked";
    }
    setTimeout(rest, 2000);
  });
}

const sections = document.querySelector(".sections details");
if (sections && matchMedia("(max-width: 60rem)").matches) sections.open = false;

const menu = document.querySelector(".menu details"), narrow = matchMedia("(max-width: 60rem)");
const fold = () => { menu.open = !narrow.matches; };
narrow.addEventListener("change", fold);
fold();
const current = menu.querySelector("[aria-current]");
if (current && !narrow.matches) menu.querySelector("div").scrollTop = current.offsetTop - 200;

// An address that ends in a member's name opens what it stands in.
const show = () => {
  const field = [...document.querySelectorAll("[data-field], .fields > div")].find(e => "#" + e.querySelector("code").textContent === location.hash);
  if (!field) return;
  for (let e = field; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
  field.scrollIntoView({block: "center"});
};
addEventListener("hashchange", show);
show();

const search = document.querySelector(".search"), input = search.querySelector("input"), list = search.querySelector("ul"),
  told = search.querySelector("[role=status]");
let index;
const close = () => { list.hidden = true; told.textContent = ""; told.classList.remove("nothing"); };
const look = async () => {
  const plain = text => text.toLowerCase().replaceAll("-", "");
  const words = plain(input.value).split(/\s+/).filter(Boolean);
  if (!words.length) return close();
  index ??= fetch(at + "docs/search.json").then(r => r.json());
  let entries;
  try { entries = await index; } catch { index = undefined; list.hidden = true; told.textContent = "The search is out of reach."; told.classList.add("nothing"); return; }
  const within = text => words.every(w => text.includes(w));
  const rank = e => { const t = plain(e.t); return t === words.join(" ") ? 0 : t.startsWith(words[0]) ? 1 : within(plain(e.t + " " + e.i)) ? 2 : 3; };
  const hits = entries.filter(e => within(plain(e.t + " " + e.i) + " " + (e.w || ""))).sort((a, b) => rank(a) - rank(b)).slice(0, 30);
  list.replaceChildren(...hits.map(e => {
    const item = document.createElement("li"), link = document.createElement("a"), where = document.createElement("small");
    link.href = at + e.p;
    link.textContent = e.t;
    where.textContent = e.i;
    link.append(where);
    item.append(link);
    return item;
  }));
  list.hidden = !hits.length;
  told.textContent = hits.length ? hits.length + " found" : "Nothing found for “" + input.value.trim() + "”";
  told.classList.toggle("nothing", !hits.length);
};
search.hidden = false;
input.addEventListener("input", look);
list.addEventListener("click", close);
search.addEventListener("keydown", e => {
  const links = [...list.querySelectorAll("a")], on = links.indexOf(document.activeElement);
  if (e.key === "Escape") { close(); input.focus(); }
  else if (e.key === "ArrowDown" || e.key === "ArrowUp") (links[on + (e.key === "ArrowDown" ? 1 : -1)] || input).focus();
  else if (e.key === "Enter" && on < 0 && links[0]) links[0].click();
  else return;
  e.preventDefault();
});
addEventListener("keydown", e => {
  if (e.key === "/" && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) { e.preventDefault(); input.focus(); }
});
