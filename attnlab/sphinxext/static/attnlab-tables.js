// A table whose numbers show their arithmetic is one stop of the Tab key. Arrow keys lead from number
// to number, Escape leaves. Without this script, each number is a stop.
"use strict";

for (const table of document.querySelectorAll("table:has(td[aria-describedby])")) {
  const cells = table.querySelectorAll("td[aria-describedby]");
  const stop = (here) => cells.forEach((cell) => (cell.tabIndex = cell === here ? 0 : -1));
  table.role = "grid";
  stop(table.querySelector(".attnlab-shown") ?? cells[0]);
  table.addEventListener("focusin", (event) => stop(event.target));
  table.addEventListener("keydown", (event) => {
    const { cellIndex, parentNode } = event.target;
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const [down, right] = steps[event.key] ?? [0, 0];
    const next = table.rows[parentNode.rowIndex + down]?.cells[cellIndex + right];
    if (event.key === "Escape") event.target.blur();
    if (next && next !== event.target && next.matches("[aria-describedby]")) {
      event.preventDefault();
      next.focus();
    }
  });
}
