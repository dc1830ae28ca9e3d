// Answers: a view for each, with the value in `scope.values` and what is wrong with it.
// A scope is an item, or an entry of a group within one (`up`).

function look(scope, name) {
  for (let s = scope; s; s = s.up) {
    if (has(s.defs, name)) return asked(s, name) ? s.values[name] : undefined;
  }
  return scope.item.fields[name];
}

function asked(scope, name) {
  return Object.entries(scope.defs[name].when || {}).every(([other, values]) => {
    const value = look(scope, other);
    return (Array.isArray(value) ? value : [value]).some((v) => v !== undefined && v !== null && values.includes(String(v)));
  });
}

function makeAnswer(name, def, scope, views) {
  const Kind = { choice: Choice, choices: Choice, flag: Choice, text: Typed, span: Marked, spans: Marked, group: Group }[def.kind];
  const view = new Kind(name, def, scope, views);
  views.push(view);
  return view;
}

class View {
  constructor(name, def, scope, views) {
    Object.assign(this, { name, def, scope, views, touched: false, keys: new Map() });
    this.id = 'answer' + (serial += 1);
    this.message = el('p', { class: 'message', id: this.id + 'says', 'aria-live': 'polite' });
    this.help = def.help ? el('p', { class: 'help', id: this.id + 'help', text: def.help }) : null;
    this.described = (def.help ? this.id + 'help ' : '') + this.id + 'says';
    this.label = def.label + (def.required || def.kind === 'flag' ? '' : ' (optional)');
  }

  get() { return this.scope.values[this.name]; }

  set(value) {
    if (value === undefined) delete this.scope.values[this.name];
    else this.scope.values[this.name] = value;
    this.touched = true;
    changed();
  }

  shown() {
    for (let s = this.scope, n = this.name; s; n = s.name, s = s.up) if (!asked(s, n)) return false;
    return true;
  }

  spans() { return []; }

  // What the submission holds; undefined: nothing.
  result() { return this.get(); }

  refresh() {
    this.node.hidden = !asked(this.scope, this.name);
    if (this.node.hidden) return;
    this.update();
    const wrong = this.touched ? this.wrong() : '';
    if (this.message.textContent !== wrong) this.message.textContent = wrong;
    this.node.classList.toggle('wrong', Boolean(wrong));
    for (const node of this.node.querySelectorAll('[data-own="' + this.id + '"]')) {
      if (wrong) node.setAttribute('aria-invalid', 'true');
      else node.removeAttribute('aria-invalid');
    }
  }

  update() {}

  focus() {
    const node = this.node.querySelector('input:checked, input, textarea, button');
    if (node) node.focus();
  }

  set_(tag, ...children) {
    const label = el(tag === 'fieldset' ? 'legend' : 'h3', { id: this.id + 'label', text: this.label });
    this.node = el(tag, {
      class: 'answer ' + this.def.kind,
      role: tag === 'fieldset' ? null : 'group',
      'aria-labelledby': tag === 'fieldset' ? null : this.id + 'label',
      'aria-describedby': tag === 'fieldset' ? this.described : null,
    }, label, this.help, ...children, this.message);
  }
}

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
      this.set_('fieldset', this.options);
      if (!def.within) this.fill(this.entries());
    }
  }

  // A list of texts among what is read stays to be read while it is not asked.
  refresh() {
    super.refresh();
    if (!this.def.field || this.def.within || !this.node.closest('.source')) return;
    const on = asked(this.scope, this.name);
    this.node.hidden = false;
    this.node.disabled = !on;
    this.node.firstChild.textContent = on ? this.label : named(this.def.field);
    if (!on) for (const [input] of this.inputs) input.checked = false;
  }

  entries() {
    if (this.def.kind === 'flag') {
      return [{ value: true, label: 'Yes', key: 'y' }, { value: false, label: 'No', key: 'n' }];
    }
    if (this.def.choices && this.def.choices.length) return this.def.choices;
    const list = this.scope.item.fields[this.def.field] || [];
    return Array.from(new Set(list.map(textOf))).map((t) => ({ value: t, label: t, outside: true }));
  }

  fill(entries) {
    this.keys.clear();
    this.inputs = [];
    entries.forEach((entry, i) => {
      const key = entry.key || (i < 9 ? String(i + 1) : '');
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
      for (let at = text.indexOf(value); value && at >= 0; at = text.indexOf(value, at + 1)) {
        const end = at + value.length;
        const whole = !/[\p{L}\p{N}]/u.test((text[at - 1] || '') + (text[end] || ''));
        if (whole) parts.push({ at, end, value });
      }
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

class Typed extends View {
  constructor(name, def, scope, views) {
    super(name, def, scope, views);
    this.rules = rules(def.check, (other) => look(scope, other));
    const many = def.check.max_length > 600;
    this.input = el('textarea', {
      id: this.id, rows: many ? 3 : def.check.max_length > 120 ? 2 : 1, dir: 'auto', spellcheck: 'true',
      'aria-describedby': this.described + ' ' + this.id + 'rules', 'aria-required': String(def.required), 'data-own': this.id,
      oninput: () => this.typed(),
      onkeydown: (e) => { if (e.key === 'Enter' && !many && !e.ctrlKey && !e.metaKey && !e.isComposing) e.preventDefault(); },
      onblur: () => { if (this.get()) { this.touched = true; this.refresh(); } },
    });
    this.single = !many;
    const before = this.get();
    if (def.initial && before && before !== textOf(look(scope, def.initial))) scope.edited.add(name);
    this.list = el('ul', { class: 'rules', id: this.id + 'rules' },
      ...this.rules.map((r) => (r.node = el('li', {}, el('span', { class: 'sign', 'aria-hidden': 'true' }), el('span', { text: r.says })))));
    this.left = el('span', { class: 'left', 'aria-hidden': 'true' });
    const tools = el('div', { class: 'tools' });
    if (def.check.contains_once) tools.append(el('button', { type: 'button', class: 'quiet small', text: 'Insert ' + def.check.contains_once, onclick: () => this.insert(def.check.contains_once) }));
    tools.append(this.left);
    this.node = el('div', { class: 'answer text' }, el('label', { class: 'title', for: this.id, text: this.label }),
      this.help, this.input, tools, this.rules.length ? this.list : null, this.message);
  }

  typed() {
    const clear = this.single ? this.input.value.replace(/[\r\n]+/g, ' ') : this.input.value;
    if (clear !== this.input.value) this.input.value = clear;
    this.scope.values[this.name] = clear;
    if (clear.trim().length > 2) this.touched = true;
    this.scope.edited.add(this.name);
    changed();
  }

  insert(text) {
    this.input.setRangeText(text, this.input.selectionStart, this.input.selectionEnd, 'end');
    this.input.focus();
    this.typed();
  }

  update() {
    if (this.def.initial && !this.scope.edited.has(this.name)) {
      const start = textOf(look(this.scope, this.def.initial));
      if (start) this.scope.values[this.name] = start;
      else delete this.scope.values[this.name];
    }
    const value = this.get() || '';
    if (this.input.value !== value) this.input.value = value;
    const text = clean(value);
    for (const r of this.rules) {
      r.node.className = !text ? '' : r.wrong(text) ? 'no' : 'yes';
      r.node.firstChild.textContent = !text ? '\u2022' : r.wrong(text) ? '\u00d7' : '\u2713';
    }
    const left = this.def.check.max_length - toCodePoints(text, text.length);
    this.left.textContent = left < Math.min(60, this.def.check.max_length / 5) ? left + ' characters left' : '';
    this.input.style.height = 'auto';
    if (this.input.scrollHeight) this.input.style.height = this.input.scrollHeight + 2 + 'px';
  }

  wrong() {
    const text = clean(this.get() || '');
    const check = this.def.check;
    if (!text) return this.def.required && check.min_length > 0 ? 'Write something here.' : '';
    const over = toCodePoints(text, text.length) - check.max_length;
    if (over > 0) return 'Too long by ' + over + ' characters.';
    const broken = this.rules.map((r) => r.wrong(text)).filter(Boolean);
    return broken.length ? check.message || broken[0] + '.' : '';
  }

  result() {
    const text = clean(this.get() || '');
    return text || this.def.required ? text : undefined;
  }

  focus() { this.input.focus(); }
}

class Marked extends View {
  constructor(name, def, scope, views) {
    super(name, def, scope, views);
    this.many = def.kind === 'spans';
    this.chips = el('ul', { class: 'chips' });
    this.button = el('button', { type: 'button', class: 'small', 'aria-describedby': this.described, 'data-own': this.id, onclick: () => this.begin() });
    this.set_('div', this.chips, this.button);
  }

  source() { return this.scope.item.sources.find((s) => s.name === this.def.field && s.body); }

  spans() {
    const value = this.get();
    return !value ? [] : this.many ? value : [value];
  }

  begin() {
    marking = this;
    changed();
    const source = this.source();
    if (!source) return;
    if (source.body.getBoundingClientRect().top < 0 || source.body.getBoundingClientRect().top > innerHeight - 120) source.node.scrollIntoView({ block: 'start' });
    source.body.focus({ preventScroll: true });
  }

  // Adds a span; one of several takes in those it overlaps.
  add(span, text) {
    if (!this.many) {
      if (marking === this) this.node.scrollIntoView({ block: 'nearest' });
      marking = null;
      return this.set(span);
    }
    const same = (s) => s.paragraph === span.paragraph && s.start < span.end && span.start < s.end;
    for (const s of this.spans().filter(same)) {
      span.start = Math.min(span.start, s.start);
      span.end = Math.max(span.end, s.end);
    }
    span.text = text(span);
    const all = [...this.spans().filter((s) => !same(s)), span];
    return this.set(all.sort((x, y) => (x.paragraph || 0) - (y.paragraph || 0) || x.start - y.start));
  }

  drop(i) {
    const rest = this.spans().filter((s, n) => n !== i);
    this.set(this.many && rest.length ? rest : undefined);
  }

  update() {
    const key = JSON.stringify(this.spans());
    if (this.drawn !== key) {
      this.drawn = key;
      this.chips.replaceChildren(...this.spans().map((s, i) => el('li', {},
        el('q', { dir: 'auto', text: s.text }),
        el('button', { type: 'button', class: 'drop', 'aria-label': 'Remove the mark: ' + s.text, text: '\u00d7', onclick: () => { this.drop(i); this.button.focus(); } }))));
    }
    const source = this.source();
    const target = source && source.target(false) === this;
    this.node.classList.toggle('target', Boolean(target));
    this.button.textContent = target ? 'Marking in the text \u2026' : this.spans().length ? (this.many ? 'Mark more' : 'Mark again') : 'Mark in the text';
    this.button.setAttribute('aria-pressed', String(Boolean(target)));
  }

  wrong() { return this.def.required && !this.spans().length ? 'Mark it in "' + named(this.def.field) + '".' : ''; }

  result() { return this.get() === undefined && this.many && this.def.required ? [] : this.get(); }

  focus() { this.button.focus(); }
}

class Group extends View {
  constructor(name, def, scope, views) {
    super(name, def, scope, views);
    this.inner = [];
    this.list = el('ol', { class: 'entries' });
    this.more = el('button', { type: 'button', class: 'small', 'data-own': this.id, onclick: () => this.grow() });
    this.set_('div', this.list, this.more);
    if (!Array.isArray(this.get())) scope.values[name] = [];
    while (this.get().length < Math.max(def.min_items, 1)) this.get().push({});
    this.build();
  }

  grow() {
    this.get().push({});
    this.build();
    changed();
    const own = this.inner.filter((v) => v.scope.values === this.get()[this.get().length - 1]);
    if (own.length) own[0].focus();
  }

  build() {
    for (const v of this.inner) this.views.splice(this.views.indexOf(v), 1);
    this.inner = [];
    const entries = this.get();
    this.list.replaceChildren(...entries.map((values, i) => {
      const scope = { defs: this.def.answers, values, up: this.scope, item: this.scope.item, name: this.name, edited: editedIn(values) };
      const views = [];
      const nodes = Object.entries(this.def.answers).map(([n, d]) => makeAnswer(n, d, scope, views).node);
      this.inner.push(...views);
      const remove = el('button', {
        type: 'button', class: 'quiet small', text: 'Remove', 'aria-label': 'Remove entry ' + (i + 1),
        onclick: () => { entries.splice(i, 1); this.build(); changed(); this.more.focus(); },
      });
      const head = el('div', { class: 'head' }, el('span', { class: 'number', text: String(i + 1) }), entries.length > Math.max(this.def.min_items, 1) ? remove : null);
      return el('li', {}, head, ...nodes);
    }));
    this.views.push(...this.inner);
    for (const v of this.inner) v.refresh();
  }

  update() {
    const n = this.get().length;
    this.more.hidden = this.def.max_items <= Math.max(this.def.min_items, 1);
    this.more.disabled = n >= this.def.max_items;
    this.more.textContent = n >= this.def.max_items ? 'That is all: ' + n + ' at most' : 'Add another (' + n + ' of up to ' + this.def.max_items + ')';
  }

  filled() {
    const empty = (v) => v === undefined || v === false || v === '' || (Array.isArray(v) && !v.length) || (typeof v === 'string' && !v.trim());
    return this.get().filter((values) => Object.entries(values).some(([n, v]) => !empty(v) && !(this.def.answers[n].initial && !editedIn(values).has(n))));
  }

  // Entries beyond the least that nobody touched are no answers, and nothing is wrong with them.
  counts(values) {
    const filled = this.filled();
    return filled.includes(values) || this.get().indexOf(values) < Math.max(this.def.min_items, this.def.required ? 1 : 0);
  }

  // Its entries say what is wrong with them.
  wrong() { return ''; }

  result() {
    const out = this.get().filter((values) => this.counts(values)).map((values) => results(this.inner.filter((v) => v.scope.values === values)));
    return out.length || this.def.required ? out : undefined;
  }
}

// Which answers of an entry were typed in: those do not follow `initial` any more.
const edits = new WeakMap();
function editedIn(values) {
  if (!edits.has(values)) edits.set(values, new Set());
  return edits.get(values);
}

// The answers of views of one scope.
function results(views) {
  const out = {};
  for (const v of views) {
    const value = asked(v.scope, v.name) ? v.result() : undefined;
    if (value !== undefined) out[v.name] = value;
  }
  return out;
}

// What is wrong in the views of an item: the views with something to mend, in order of the page.
function broken(views) {
  return views.filter((v) => {
    if (!v.shown()) return false;
    for (let s = v.scope; s.up; s = s.up) {
      const group = views.find((g) => g.def.kind === 'group' && g.scope === s.up && g.name === s.name);
      if (group && !group.counts(s.values)) return false;
    }
    return v.wrong() !== '';
  });
}
