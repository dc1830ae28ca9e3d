// A free search, asked of the server; passages that are opened join the text that is marked in.

class Search extends View {
  constructor(name, def, scope, views) {
    super(name, def, scope, views);
    this.input = el('input', { type: 'search', id: this.id, maxlength: '300', autocomplete: 'off', placeholder: 'Words to search for', 'aria-describedby': this.described, onkeydown: (e) => { if (e.key === 'Enter') { e.preventDefault(); this.search(); } } });
    this.button = el('button', { type: 'button', class: 'small', text: 'Search', onclick: () => this.search() });
    this.found = el('ul', { class: 'found' });
    this.status = el('p', { class: 'help', role: 'status' });
    this.node = el('div', { class: 'answer text' }, el('label', { class: 'title', for: this.id, text: this.label }), this.help,
      el('div', { class: 'search' }, this.input, this.button), this.status, this.found, this.message);
  }

  refresh() {
    super.refresh();
    if (!settings.search) this.node.hidden = true;
  }

  source() { return this.scope.item.sources.find((s) => s.name === this.def.field && s.body); }

  async search() {
    const query = this.input.value.trim();
    if (!query || this.button.disabled) return;
    this.button.disabled = true;
    this.status.textContent = 'Searching \u2026';
    try {
      const answer = await fetch('search', { method: 'POST', headers: headers(), body: JSON.stringify({ worker, assignment, query }), referrerPolicy: 'no-referrer', credentials: 'omit' });
      const reply = await answer.json().catch(() => ({}));
      if (!answer.ok) throw new Error(reply.says || String(answer.status));
      const made = { query, found: reply.passages.map((p) => p.id), opened: [] };
      this.scope.values[this.name] = [...(this.get() || []), made];
      changed();
      this.status.textContent = reply.passages.length ? reply.passages.length + ' passages. Open one to read it and to mark in it.' : 'Nothing was found.';
      this.found.replaceChildren(...reply.passages.map((p) => this.entry(p, made)));
    } catch (e) {
      this.status.textContent = 'The search did not work (' + (e.message || 'no connection') + '). Try again.';
    }
    this.button.disabled = false;
  }

  entry(passage, made) {
    const open = el('button', { type: 'button', class: 'small quiet', text: 'Open', 'aria-label': 'Open: ' + passage.text.slice(0, 60), onclick: () => {
      const source = this.source();
      if (!made.opened.some((p) => p.id === passage.id)) made.opened.push({ id: passage.id, text: passage.text });
      source.show(passage);
      open.disabled = true;
      changed();
    } });
    return el('li', {}, el('span', { dir: 'auto', text: passage.text.slice(0, 140) + ' \u2026' }), ' ', open);
  }

  wrong() { return ''; }

  focus() { this.input.focus(); }
}

// The passages of a field, with those that were opened in searches, each once.
function withOpened(item, values, name) {
  const shown = Array.isArray(item.fields[name]) ? [...item.fields[name]] : [];
  for (const [answer, def] of Object.entries(settings.answers)) {
    if (def.kind !== 'search' || def.field !== name) continue;
    for (const made of values[answer] || []) {
      for (const p of made.opened) if (!shown.some((q) => q.id === p.id)) shown.push(p);
    }
  }
  return shown;
}
