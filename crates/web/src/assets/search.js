// Search as you type: the results of the form replace those on the page. Without scripts the form works by its button.
const form = document.querySelector("form[data-live]");
if (form) {
  const results = document.getElementById("results");
  let timer = 0;
  let request = null;
  const address = (path) => {
    const fields = new URLSearchParams(new FormData(form));
    for (const [name, value] of [...fields]) if (value === "") fields.delete(name);
    const query = fields.toString();
    return query ? `${path}?${query}` : path;
  };
  const update = async () => {
    request?.abort();
    const current = new AbortController();
    request = current;
    try {
      const response = await fetch(address(form.dataset.live), { signal: current.signal });
      if (!response.ok) { form.submit(); return; }
      results.innerHTML = await response.text();
      history.replaceState(null, "", address(form.getAttribute("action")));
    } catch (error) {
      if (error.name !== "AbortError") form.submit();
    }
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(update, 60);
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); update(); });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select");
    if (event.key === "/" && !typing) { event.preventDefault(); form.querySelector("input[type=search]").focus(); }
  });
}
