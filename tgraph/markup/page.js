"use strict";
// Without this script the page shows the same; with it tables are sorted by a click on a heading, and marks of charts
// say at once what they are.
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  if (body.rows.length < 2) continue;
  for (const heading of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const column = heading.cellIndex, numbers = heading.classList.contains("number");
      const descending = numbers ? heading.getAttribute("aria-sort") !== "descending"
                                 : heading.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const value = (row) => {
        const cell = row.cells[column];
        return numbers ? parseFloat(cell.dataset.value) : cell.textContent;
      };
      const order = (a, b) => {
        const [x, y] = [value(a), value(b)];
        if (!numbers) return x.localeCompare(y, undefined, { numeric: true });
        return Number.isNaN(x) ? 1 : Number.isNaN(y) ? -1 : x - y;
      };
      const rows = [...body.rows].sort(order);
      body.append(...(descending ? rows.reverse() : rows));
    });
  }
}
const tip = document.getElementById("tip");
let titled = null, title = null;
const forget = () => {
  if (titled) titled.append(title);
  titled = title = null;
  tip.hidden = true;
};
document.addEventListener("pointermove", (event) => {
  const mark = event.target.closest("svg :not(title)");
  const own = mark && mark.querySelector(":scope > title");
  if (mark !== titled) {
    forget();
    if (own) {  // taken out, so that the browser shows none of its own
      [titled, title] = [mark, own];
      own.remove();
      tip.textContent = title.textContent;
      tip.hidden = false;
    }
  }
  if (titled) {
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 4))}px`;
    tip.style.top = `${event.clientY + 18 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18}px`;
  }
});
document.addEventListener("pointerleave", forget);
