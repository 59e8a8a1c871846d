// Before the page is painted: the light or dark theme that the reader chose, if any, and whether the
// page comes from a server or from a folder.
"use strict";
document.documentElement.classList.remove("no-js");
document.documentElement.classList.toggle("from-a-folder", location.protocol === "file:");
let theme = null;
try {
  theme = localStorage.getItem("theme");
} catch {} // a browser may refuse storage
document.body.dataset.theme = theme || "auto";
