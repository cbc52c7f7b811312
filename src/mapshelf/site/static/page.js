// Access to the page elements around a map, and text normalisation for comparisons.

import { element } from "./svg.js";

export function html(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A button with a drawing of 20 by 20, and a name for those who do not see it. */
export function button(path, name, act) {
  const made = html("button", { type: "button", title: name, "aria-label": name });
  const icon = element("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" });
  icon.append(element("path", { d: path }));
  made.append(icon);
  made.addEventListener("click", act);
  return made;
}

export function plain(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Gives pictures their address when they come near to what is seen. */
export function lazily(stage) {
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      target.setAttribute("href", target.dataset.href);
    }
  }, { root: stage, rootMargin: "300px" });
  return (picture) => seen.observe(picture);
}
