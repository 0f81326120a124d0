for (const head of document.querySelectorAll(".sorted th")) {
  const button = document.createElement("button"), table = head.closest("table");
  button.append(head.textContent);
  head.replaceChildren(button);
  button.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") !== "descending";
    for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = row => {
      const cell = row.cells[head.cellIndex], number = cell.dataset.value;
      return number === undefined ? cell.textContent : Number(number);
    };
    const rows = [...table.tBodies[0].rows].sort((a, b) => {
      const x = value(a), y = value(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
    table.tBodies[0].append(...rows);
  });
}
