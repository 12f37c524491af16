
"use strict";
(() => {
  const input = document.getElementById("search");
  const found = document.getElementById("found");
  const nothing = document.getElementById("nothing");
  const links = new Map();
  for (const link of document.querySelectorAll("nav [data-for]")) {
    links.set(link.dataset.for, link);
  }
  const show = (element, isShown) => {
    element.hidden = !isShown;
    const link = links.get(element.id);
    if (link) link.hidden = !isShown;
  };
  const words = (element) =>
    [".head", ".purpose"]
      .map((part) => element.querySelector(part))
      .map((part) => (part ? part.textContent : ""))
      .join(" ")
      .toLowerCase();
  const categories = [...document.querySelectorAll(".category")].map((element) => ({
    element,
    name: element.querySelector("h2").textContent.toLowerCase(),
    tools: [...element.querySelectorAll(".tool")].map((tool) => ({ element: tool, words: words(tool) })),
  }));
  const total = categories.reduce((sum, category) => sum + category.tools.length, 0);
  const filter = () => {
    const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const category of categories) {
      let inCategory = 0;
      for (const tool of category.tools) {
        const fits = wanted.every((word) => tool.words.includes(word) || category.name.includes(word));
        show(tool.element, fits);
        if (fits) inCategory += 1;
      }
      show(category.element, inCategory > 0);
      count += inCategory;
    }
    found.textContent = wanted.length ? `${count} of ${total} tools` : "";
    nothing.hidden = !wanted.length || count > 0;
  };
  const clear = () => {
    input.value = "";
    filter();
  };
  input.addEventListener("input", filter);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target === input) clear();
    const isTyping = event.target instanceof HTMLInputElement && event.target.type === "search";
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
    }
  });
  // An address that leads to a tool the search hides shows all of them again.
  addEventListener("hashchange", () => {
    const target = document.querySelector(":target");
    if (target && target.closest("[hidden]")) {
      clear();
      target.scrollIntoView();
    }
  });
  document.getElementById("search-box").hidden = false;
  if (input.value) filter();
})();
