"use strict";
const getText = (cell) => cell.textContent.trim();
const getNumber = (cell) => (cell.dataset.value === undefined ? NaN : Number(cell.dataset.value));

function sortRows(table, place, head) {
  const order = head.getAttribute("aria-sort");
  const isDescending = order === "descending" ? false
    : order === "ascending" || !head.classList.contains("text") && place > 0;
  const sign = isDescending ? -1 : 1;
  const rows = [...table.tBodies[0].rows];
  const isNumeric = rows.some((row) => !Number.isNaN(getNumber(row.cells[place])));
  rows.sort((first, second) => {
    const cells = [first.cells[place], second.cells[place]];
    if (!isNumeric) return getText(cells[0]).localeCompare(getText(cells[1])) * sign;
    const [a, b] = cells.map(getNumber);
    // Cells without a number come last in both orders.
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
    return (a - b) * sign;
  });
  for (const header of table.tHead.querySelectorAll("th")) header.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
  table.tBodies[0].append(...rows);
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows].at(-1).querySelectorAll("th").forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortRows(table, place, head));
    head.append(button);
  });
}

const unfoldButton = document.createElement("button");
unfoldButton.className = "unfold";
unfoldButton.type = "button";
unfoldButton.append("Unfold everything");
unfoldButton.addEventListener("click", () => {
  for (const section of document.querySelectorAll("details")) section.open = true;
});
document.querySelector("nav").append(unfoldButton);

// Unfold the section that a link points to.
function unfoldTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
}
addEventListener("hashchange", unfoldTarget);
unfoldTarget();
