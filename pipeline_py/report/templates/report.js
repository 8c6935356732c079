"use strict";
const text = (cell) => cell.textContent.trim();
const number = (cell) => (cell.dataset.value === undefined ? NaN : Number(cell.dataset.value));

function sort(table, place, head) {
  const falling = head.getAttribute("aria-sort") === "descending" ? false
    : head.getAttribute("aria-sort") === "ascending" || !head.classList.contains("text") && place > 0;
  const rows = [...table.tBodies[0].rows];
  const numeric = rows.some((row) => !Number.isNaN(number(row.cells[place])));
  rows.sort((one, other) => {
    const [a, b] = [one.cells[place], other.cells[place]];
    if (!numeric) return text(a).localeCompare(text(b)) * (falling ? -1 : 1);
    // What is no number stands last in either order.
    if (Number.isNaN(number(a)) || Number.isNaN(number(b))) return Number.isNaN(number(a)) - Number.isNaN(number(b));
    return (number(a) - number(b)) * (falling ? -1 : 1);
  });
  for (const other of table.tHead.querySelectorAll("th")) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", falling ? "descending" : "ascending");
  table.tBodies[0].append(...rows);
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows].at(-1).querySelectorAll("th").forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, place, head));
    head.append(button);
  });
}

const unfold = document.createElement("button");
unfold.className = "unfold";
unfold.type = "button";
unfold.append("Unfold everything");
unfold.addEventListener("click", () => document.querySelectorAll("details").forEach((each) => { each.open = true; }));
document.querySelector("nav").append(unfold);

// A link to what is folded unfolds it.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
}
addEventListener("hashchange", reveal);
reveal();
