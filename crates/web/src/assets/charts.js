// Charts by keyboard: the arrow keys move between the columns of a chart, and the text of the column is shown below it.
for (const chart of document.querySelectorAll(".chart")) {
  const columns = [...chart.querySelectorAll("g[data-label]")];
  const note = chart.querySelector("output");
  const show = (column) => { note.textContent = column.dataset.label; };
  columns.forEach((column, index) => {
    column.setAttribute("tabindex", index === 0 ? "0" : "-1");
    column.addEventListener("focus", () => show(column));
    column.addEventListener("mouseenter", () => show(column));
    column.addEventListener("keydown", (event) => {
      const target = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: columns.length - 1 }[event.key];
      if (target === undefined || !columns[target]) return;
      event.preventDefault();
      column.setAttribute("tabindex", "-1");
      columns[target].setAttribute("tabindex", "0");
      columns[target].focus();
    });
  });
}
