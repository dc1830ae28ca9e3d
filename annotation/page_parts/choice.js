// Answers that are chosen: one, several, yes or no, or a word of an earlier answer.

class Choice extends View {
  constructor(name, def, scope, views) {
    super(name, def, scope, views);
    this.many = def.kind === 'choices';
    this.tick = def.kind === 'flag' && !def.required;
    this.options = el('div', { class: 'options' + (def.kind === 'flag' ? ' pair' : def.field ? ' lines' : '') });
    if (this.tick) {
      if (this.get() === undefined) scope.values[name] = false;
      this.input = el('input', { type: 'checkbox', id: this.id, 'aria-describedby': this.described, 'data-own': this.id, onchange: () => this.set(this.input.checked) });
      this.node = el('div', { class: 'answer tick' },
        el('label', { class: 'option', for: this.id }, this.input, el('span', { class: 'what', text: def.label })), this.help, this.message);
    } else {
      if (def.kind === 'flag' && this.help) this.folded();
      this.set_('fieldset', this.options);
      if (!def.within) this.fill(this.entries());
    }
  }

  // A definition, folded once it was read: many of them leave no room for what they are about.
  folded() {
    const box = el('details', { class: 'definition' }, el('summary', { text: 'What counts' }), this.help);
    box.open = byId('instructions').open;
    this.help = box;
  }

  // A list of texts among what is read stays to be read while it is not asked.
  refresh() {
    super.refresh();
    if (!this.def.field || this.def.within || !this.node.closest('.source')) return;
    const on = asked(this.scope, this.name);
    this.node.hidden = false;
    this.node.classList.toggle('unasked', !on);
    for (const [input] of this.inputs) input.disabled = !on;
    // what scrolls takes the focus, so that keys can move it; once asked, its choices do
    if (on) this.options.removeAttribute('tabindex');
    else this.options.tabIndex = 0;
    this.node.firstChild.textContent = on ? this.label : named(this.def.field);
    if (!on) for (const [input] of this.inputs) input.checked = false;
  }

  entries() {
    if (this.def.kind === 'flag') {
      return [{ value: true, label: 'Yes', key: 'y' }, { value: false, label: 'No', key: 'n' }];
    }
    const fields = this.scope.item.fields;
    const own = (this.def.choices || []).filter((c) => !c.needs || there(fields[c.needs]));
    if (!this.def.field) return own;
    const listed = Array.from(new Set((fields[this.def.field] || []).map(textOf)));
    const hints = (this.def.hints && fields[this.def.hints]) || [];
    const hint = (t) => {
      const text = hints[(fields[this.def.field] || []).map(textOf).indexOf(t)];
      return text ? named(this.def.hints) + ': ' + text : null;
    };
    return [...listed.map((t) => ({ value: t, label: t, help: hint(t), outside: true })), ...own];
  }

  fill(entries) {
    this.keys.clear();
    this.inputs = [];
    entries.forEach((entry, i) => {
      const key = this.name === 'broken' ? '' : entry.key || (i < 9 ? String(i + 1) : '');
      const input = el('input', {
        type: this.many ? 'checkbox' : 'radio', name: this.id, 'data-own': this.id,
        onchange: () => this.pick(entry.value, input.checked),
      });
      if (key) this.keys.set(key, () => this.pick(entry.value, this.many ? !input.checked : true, input));
      this.inputs.push([input, entry.value]);
      this.options.append(el('label', { class: 'option' }, input,
        el('span', { class: 'what' },
          el('span', { dir: entry.outside ? 'auto' : null, text: entry.label }),
          entry.help ? el('small', { text: entry.help }) : null),
        key ? el('kbd', { 'aria-hidden': 'true', text: key }) : null));
    });
  }

  pick(value, on, input) {
    if (input) input.checked = on;
    if (!this.many) return this.set(value);
    const order = this.entries().map((e) => e.value);
    const now = new Set(this.get() || []);
    if (on) now.add(value);
    else now.delete(value);
    return this.set(order.filter((v) => now.has(v)));
  }

  update() {
    if (this.tick) this.input.checked = Boolean(this.get());
    else if (this.def.within) this.words();
    else for (const [input, value] of this.inputs) input.checked = this.many ? (this.get() || []).includes(value) : this.get() === value;
  }

  // The entries as words to click in the text of an earlier answer.
  words() {
    const text = textOf(look(this.scope, this.def.within));
    const key = JSON.stringify([text, this.get()]);
    if (this.drawn === key) return;
    this.drawn = key;
    const parts = [];
    for (const { value } of this.entries().sort((x, y) => y.value.length - x.value.length)) {
      for (const [at, end] of wholes(text, value)) parts.push({ at, end, value });
    }
    const free = parts.filter((p, i) => !parts.slice(0, i).some((q) => q.at < p.end && p.at < q.end)).sort((x, y) => x.at - y.at);
    const rest = Array.from(new Set(parts.map((p) => p.value).filter((v) => !free.some((p) => p.value === v))));
    const line = el('p', { class: 'words', dir: 'auto' });
    let from = 0;
    const mine = document.activeElement && this.node.contains(document.activeElement) ? this.get() : null;
    for (const p of free) {
      line.append(text.slice(from, p.at), this.word(p.value));
      from = p.end;
    }
    line.append(text.slice(from));
    const more = rest.length ? el('p', { class: 'words' }, 'Also: ', ...rest.map((v) => this.word(v))) : null;
    this.options.replaceChildren(line, ...(more ? [more] : []));
    if (!text) {
      const other = this.views.find((v) => v.name === this.def.within && v.scope === this.scope);
      const go = other && el('button', { type: 'button', class: 'small', text: 'Go there', onclick: () => other.focus() });
      this.options.replaceChildren(el('p', { class: 'help first' }, 'First: ' + named(this.def.within), ...(go ? [' ', go] : [])));
    }
    if (text && !free.length) this.options.append(el('p', { class: 'help', text: 'Nothing in it can be chosen. Choose another one above.' }));
    if (!free.some((p) => p.value === this.get()) && !rest.includes(this.get())) delete this.scope.values[this.name];
    const again = mine && Array.from(this.options.querySelectorAll('button')).find((b) => b.textContent === mine);
    if (again) again.focus();
  }

  word(value) {
    return el('button', { type: 'button', class: 'word', dir: 'auto', 'aria-pressed': String(this.get() === value), text: value, onclick: () => this.set(value) });
  }

  wrong() {
    const value = this.get();
    if (this.def.within) this.words();
    if (!this.def.required) return '';
    if (this.many ? !(value && value.length) : this.get() === undefined) return this.many ? 'Choose at least one.' : 'Choose one.';
    return '';
  }

  result() {
    const value = this.get();
    return this.many && !(value && value.length) && !this.def.required ? undefined : value;
  }
}
