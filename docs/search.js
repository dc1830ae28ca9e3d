// The search of these pages. It works by a server and from a folder alike: a browser lets no page of
// a folder fetch a file, so the index is a script (docs/hooks.py writes it), read by the page of results.
"use strict";
(function () {
  const box = document.getElementById("mkdocs-search-query");
  const list = document.getElementById("mkdocs-search-results");
  if (!box || !list) {
    return;
  }
  // Results beyond these are of words that stand nearly everywhere.
  const MOST = 30;
  // Letters of a text that a result shows, and those of them before the word that was looked for.
  const SHOWN = 240;
  const BEFORE = 60;

  function load(name, then) {
    const script = document.createElement("script");
    script.src = "search/" + name;
    script.onload = then;
    script.onerror = () => { list.textContent = "The search is not complete: build the pages again with make docs."; };
    document.head.append(script);
  }

  // "as-of" is a word, and so are its parts: "of" alone says nothing, "as-of" does.
  function withParts(token) {
    const parts = token.toString().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
    return parts.length < 2 ? token : [token, ...parts.map((part) => token.clone(() => part))];
  }

  function build() {
    lunr.tokenizer.separator = /\s/;
    lunr.Pipeline.registerFunction(withParts, "withParts");
    const entries = new Map(searchIndex.docs.map((entry) => [entry.location, entry]));
    const index = lunr(function () {
      this.pipeline.after(lunr.trimmer, withParts);
      this.ref("location");
      this.field("title", { boost: 10 });
      this.field("text");
      entries.forEach((entry) => this.add(entry));
    });
    box.addEventListener("input", () => show(index, entries));
    show(index, entries);
  }

  function wordsOf(text) {
    const words = text.toLowerCase().split(/\s+/).map((word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ""));
    return words.filter(Boolean);
  }

  function show(index, entries) {
    const words = wordsOf(box.value);
    const hits = index.query((query) => {
      words.forEach((word, place) => {
        query.term(word, { boost: 10 });
        if (word.length > 2) {
          query.term(word, { wildcard: lunr.Query.wildcard.TRAILING, usePipeline: false });
        }
        if (place) {  // who writes "as of" may mean "as-of"
          query.term(words[place - 1] + "-" + word, { boost: 20 });
        }
      });
    });
    // The entry of a page holds all of its sections: it is shown where none of them is found.
    const sections = new Set(hits.map((hit) => hit.ref).filter((ref) => ref.includes("#")).map(pageOf));
    const shown = hits.filter((hit) => !sections.has(hit.ref)).slice(0, MOST);
    list.replaceChildren(...shown.map((hit) => result(entries, hit.ref, words)));
    if (words.length && !hits.length) {
      list.textContent = list.dataset.noResultsText || "No results found";
    }
  }

  function pageOf(location) {
    return location.split("#")[0];
  }

  function result(entries, location, words) {
    const entry = entries.get(location);
    const page = entries.get(pageOf(location)) || entry;
    const article = document.createElement("article");
    const title = article.appendChild(document.createElement("h3"));
    const link = title.appendChild(document.createElement("a"));
    link.href = location;
    link.textContent = page.title !== entry.title ? page.title + ": " + entry.title : entry.title;
    const text = entry.text.replace(/\s+/g, " ");
    const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0);
    const start = Math.max(0, Math.min(...places, text.length) - BEFORE);
    const from = places.length && start ? text.indexOf(" ", start) + 1 : 0;
    const shown = article.appendChild(document.createElement("p"));
    shown.textContent = (from ? "… " : "") + text.slice(from, from + SHOWN) + (text.length > from + SHOWN ? " …" : "");
    return article;
  }

  box.value = new URLSearchParams(window.location.search).get("q") || "";
  load("lunr.js", () => load("index.js", build));
})();
