// What the pages do beyond the furo theme. Each page reads completely without it.
"use strict";

// A copy button on each block of code. It leaves out prompts, what a command answers, and line
// numbers. Browsers have a clipboard only on https, on this machine and in a local folder.
for (const pre of navigator.clipboard ? document.querySelectorAll("div.highlight pre") : []) {
  if (pre.closest(".sphx-glr-script-out, .attnlab-log")) continue;
  const button = document.createElement("button");
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const code = pre.cloneNode(true);
    const prompts = code.querySelector(".gp");
    for (const part of code.querySelectorAll(".gp, .go, .linenos")) part.remove();
    const text = code.textContent.trimEnd();
    await navigator.clipboard.writeText(prompts ? text.replace(/\n\s*\n/g, "\n") : text);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  pre.after(button);
}

// What scrolls inside itself can be reached by keyboard.
const scrollers = document.querySelectorAll("pre, div.math, .table-wrapper");
const reachable = () => {
  for (const box of scrollers) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
};
addEventListener("resize", reachable);
document.fonts.ready.then(reachable);

// The drawers of a narrow page open with buttons, which the keyboard reaches. Escape closes them,
// and so does a link in them to a place on the page.
const drawers = new Map();
for (const label of document.querySelectorAll("label.nav-overlay-icon, label.toc-overlay-icon")) {
  const drawer = document.getElementById(label.htmlFor);
  const button = document.createElement("button");
  button.className = label.className;
  button.ariaLabel = drawer.name === "__toc" ? "On this page" : "Pages";
  button.append(...label.childNodes);
  button.addEventListener("click", () => open(drawer, !drawer.checked));
  label.replaceWith(button);
  drawers.set(button, drawer);
}
function open(drawer, yes) {
  drawer.checked = yes;
  for (const [button, its] of drawers) button.ariaExpanded = its.checked;
}
const close = () => drawers.forEach((drawer) => open(drawer, false));
addEventListener("keydown", (event) => event.key === "Escape" && close());
addEventListener("hashchange", close);
close();

// Search results show an excerpt of each page, which no script may read from a local folder.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
