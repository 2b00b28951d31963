// A running session: new messages arrive as server-sent events. Earlier ones are loaded when the link to them comes into view.
const log = document.getElementById("messages");
if (log) {
  const earlier = document.getElementById("earlier");
  const load = async (link) => {
    link.setAttribute("aria-busy", "true");
    const response = await fetch(link.dataset.part);
    if (!response.ok) return;
    const holder = document.createElement("template");
    holder.innerHTML = await response.text();
    const first = log.firstElementChild;
    const top = first?.getBoundingClientRect().top ?? 0;
    const next = holder.content.querySelector("a[data-part]");
    earlier.replaceChildren(...(next ? [next] : []));
    holder.content.querySelectorAll("nav").forEach((nav) => nav.remove());
    log.prepend(holder.content);
    // What is being read stays where it is, at once: the style scrolls smoothly.
    window.scrollBy({ top: (first?.getBoundingClientRect().top ?? 0) - top, behavior: "instant" });
    if (next) watch(next);
  };
  const observe = (link) => {
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) { observer.disconnect(); load(link); }
    }, { rootMargin: "400px" });
    observer.observe(link);
  };
  // A page opens at its top, where the link is: only who scrolls asks for more.
  let moved = false;
  const watch = (link) => {
    link.addEventListener("click", (event) => { event.preventDefault(); load(link); });
    if (moved) observe(link);
  };
  window.addEventListener("scroll", () => {
    moved = true;
    const link = earlier?.querySelector("a[data-part]");
    if (link) observe(link);
  }, { once: true });
  const link = earlier?.querySelector("a[data-part]");
  if (link) watch(link);
  if (log.dataset.follow) {
    const events = new EventSource(log.dataset.follow);
    events.addEventListener("messages", (event) => {
      const atEnd = window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 80;
      const holder = document.createElement("template");
      holder.innerHTML = event.data;
      log.append(holder.content);
      if (atEnd) window.scrollTo(0, document.documentElement.scrollHeight);
    });
  }
}
