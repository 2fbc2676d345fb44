// A click on a column's name sorts its table by it; another turns the order around.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement, table = head.closest("table"), body = table.tBodies[0];
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const number = head.classList.contains("number"), column = head.cellIndex;
    const value = (row) => {
      const text = row.cells[column].textContent;
      return number ? (text === "-" ? -Infinity : Number(text)) : text;
    };
    const order = (a, b) => (number ? value(a) - value(b) || 0 : value(a).localeCompare(value(b), undefined, { numeric: true }));
    body.append(...[...body.rows].sort((a, b) => (up ? order(a, b) : order(b, a))));
  });
}
