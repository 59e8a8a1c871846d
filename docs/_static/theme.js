// Before the page is painted: the light or dark theme that the reader chose, if any.
"use strict";
document.documentElement.classList.remove("no-js");
let theme = null;
try {
  theme = localStorage.getItem("theme");
} catch {} // a browser may refuse storage
document.body.dataset.theme = theme || "auto";
