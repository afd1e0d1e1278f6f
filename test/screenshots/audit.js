// What a reader who cannot see well, holds a small phone or has no mouse would stumble over. The value is a list of complaints.
(() => {
  const complaints = [];
  const complain = (what, e) => complaints.push(e ? `${what}: <${e.localName} class="${e.getAttribute("class") || ""}"> ${e.textContent.trim().slice(0, 40)}` : what);
  const style = e => getComputedStyle(e);
  const seen = e => e.checkVisibility() && e.getClientRects().length > 0;

  // 3.1.1 language, 2.4.2 title, 1.3.1 structure
  if (!["en", "de", "fr", "es", "ja"].includes(document.documentElement.lang)) complain("no language");
  if (!document.title.trim()) complain("no title");
  if (document.querySelectorAll("main").length !== 1) complain("not one main");
  if (document.querySelectorAll("h1").length !== 1) complain("not one h1");
  let level = 0;
  for (const h of document.querySelectorAll("h1,h2,h3,h4,h5,h6")) {
    const now = Number(h.localName[1]);
    if (now > level + 1) complain(`h${now} after h${level}`, h);
    if (!h.textContent.trim()) complain("an empty heading", h);
    level = now;
  }
  const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
  if (new Set(ids).size !== ids.length) complain("an id twice");
  for (const e of document.querySelectorAll("ul, ol"))
    for (const child of e.children) if (child.localName !== "li") complain("not an item of its list", child);

  // 1.4.10 reflow
  if (document.documentElement.scrollWidth > innerWidth) complain(`scrolls sideways: ${document.documentElement.scrollWidth} of ${innerWidth}`);
  for (const e of document.body.querySelectorAll("*")) {
    const r = e.getBoundingClientRect();
    const scrolled = e.parentElement.closest("pre[tabindex]"); // code, which also a keyboard scrolls in its box
    if (seen(e) && !e.closest(".card, svg") && !scrolled && (r.left < -0.5 || r.right > innerWidth + 0.5)) complain("stands out of the screen", e);
    if (["hidden", "clip"].includes(style(e).overflowX) && e.scrollWidth > e.clientWidth + 1 && !e.matches(".card, svg, svg *")) complain("is cut off", e);
  }

  // 4.1.2 names, 1.1.1 pictures
  const name = e => (e.getAttribute("aria-label") || (e.labels && [...e.labels].map(l => l.textContent).join(" ")) || e.getAttribute("title") ||
    e.textContent || (e.querySelector("img") || {}).alt || "").trim();
  for (const e of document.querySelectorAll("a, button, input, select, textarea, iframe, [role=region]"))
    if (!e.hidden && e.type !== "hidden" && !name(e) && !e.getAttribute("aria-labelledby")) complain("has no name", e);
  for (const e of document.querySelectorAll("img")) {
    if (!e.hasAttribute("alt")) complain("has no alt", e);
    if (!e.complete || e.naturalWidth === 0) complain("was not loaded", e);
  }
  for (const e of document.querySelectorAll("svg")) if (e.getAttribute("role") !== "img" || !e.querySelector("title")) complain("has no name", e);

  // 2.5.8 targets, at least 24 by 24; links within a sentence are exempt
  for (const e of document.querySelectorAll("a, button, input, select")) {
    const r = e.getBoundingClientRect();
    const within = style(e).display === "inline" && e.parentElement.textContent.trim() !== e.textContent.trim();
    if (seen(e) && !within && (r.width < 24 || r.height < 24)) complain(`a target of ${r.width} by ${r.height}`, e);
  }

  // 1.4.3 contrast of each text with what is behind it
  const parse = c => {
    const [r, g, b, a = 1] = c.match(/[\d.]+/g).map(Number);
    return {rgb: [r, g, b], a};
  };
  const luminance = rgb => rgb.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = e => {
    for (; e; e = e.parentElement) {
      const c = parse(style(e).backgroundColor);
      if (c.a === 1) return c.rgb;
      if (c.a > 0) complain("a ground that shines through", e);
    }
    return null;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.textContent.trim() || !seen(e) || e.closest("svg, script, option, select")) continue;
    if (!e.closest("main, header, footer, nav")) complain("stands outside of every landmark", e);
    const s = style(e), front = parse(s.color), back = ground(e);
    if (!back) { complain("has no ground", e); continue; }
    if (front.a !== 1 || Number(s.opacity) !== 1) complain("a text that shines through", e);
    const [a, b] = [luminance(front.rgb), luminance(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(s.fontSize), large = size >= 24 || size >= 18.66 && Number(s.fontWeight) >= 700;
    if (ratio < (large ? 3 : 4.5)) complain(`contrast ${ratio.toFixed(2)}`, e);
    if (size < 12) complain(`a text of ${size} pixels`, e);
  }

  // 2.4.7, 2.4.13 focus is seen; 1.4.11 and differs from its ground
  for (const e of document.querySelectorAll("a, button, input, select, [tabindex]")) {
    if (!seen(e)) continue;
    e.focus({focusVisible: true, preventScroll: true});
    const s = style(e), back = ground(e.parentElement), [a, b] = [luminance(parse(s.outlineColor).rgb), luminance(back || [0, 0, 0])];
    if (document.activeElement !== e) complain("cannot have the focus", e);
    else if (s.outlineStyle === "none" || parseFloat(s.outlineWidth) < 2) complain("does not show its focus", e);
    else if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 3) complain("hardly shows its focus", e);
    e.blur();
  }

  // 2.3.3 nothing moves for whoever asked for that
  if (matchMedia("(prefers-reduced-motion: reduce)").matches)
    for (const e of document.body.querySelectorAll("*"))
      if (parseFloat(style(e).transitionDuration) > 0 || style(e).animationName !== "none") complain("moves", e);
  return complaints;
})()
