// Tables of the class "sortable" sort by a column: a click on its head, and a second one turns the
// order. Numbers begin with the highest, texts with the first; empty cells come last either way.
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const keyOf = (row, place) => (row.cells[place].dataset.sort || row.cells[place].textContent).trim();
  const numberOf = (key) => Number(key.replace(/,/g, ""));
  heads.forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const rows = [...body.rows];
      const keys = new Map(rows.map((row) => [row, keyOf(row, place)]));
      const areNumbers = rows.every((row) => !Number.isNaN(numberOf(keys.get(row))));
      const order = head.getAttribute("aria-sort")
        ? (head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending")
        : (areNumbers ? "descending" : "ascending");
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      rows.sort((first, second) => {
        const a = keys.get(first);
        const b = keys.get(second);
        if (!a || !b) {
          return !a - !b;
        }
        return sign * (areNumbers ? numberOf(a) - numberOf(b) : a.localeCompare(b, "en", { numeric: true }));
      });
      rows.forEach((row) => row.classList.remove("first"));
      body.append(...rows);
    });
  });
}
