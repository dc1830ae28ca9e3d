// Answers that are typed, with the rules of their check.

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
      ...this.rules.map((r) => (r.node = el('li', { 'data-rule': r.name }, el('span', { class: 'sign', 'aria-hidden': 'true' }), el('span', { text: r.says })))));
    this.left = el('span', { class: 'left', 'aria-hidden': 'true' });
    const tools = el('div', { class: 'tools' });
    if (def.check.contains_once) tools.append(el('button', { type: 'button', class: 'small', text: 'Insert ' + def.check.contains_once, onclick: () => this.insert(def.check.contains_once) }));
    tools.append(this.left);
    const gaps = def.check.gap.length ? el('div', { class: 'gaps', role: 'group', 'aria-label': 'Put a gap for' }, el('span', { class: 'help', text: 'Put a gap for:' }),
      ...def.check.gap.map((kind) => el('button', { type: 'button', class: 'small', text: kind.charAt(0) + kind.slice(1).toLowerCase(), onclick: () => this.gap('[BLANK-' + kind + ']') }))) : null;
    this.node = el('div', { class: 'answer text' }, el('label', { class: 'title', for: this.id, text: this.label }),
      this.help, this.input, gaps, tools, this.rules.length ? this.list : null, this.message);
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

  // A typed gap in place of the one that is there, of the words that are selected, or at the cursor.
  gap(text) {
    const old = /\[BLANK(?:-[A-Z]*)?\]?/.exec(this.input.value);
    if (old) this.input.setSelectionRange(old.index, old.index + old[0].length);
    this.insert(text);
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
    const fresh = this.def.initial && !this.touched && !this.scope.edited.has(this.name);
    for (const r of this.rules) {
      r.node.className = !text ? '' : !r.wrong(text) ? 'yes' : fresh ? '' : 'no';
      r.node.firstChild.textContent = { yes: '\u2713', no: '\u00d7' }[r.node.className] || '\u2022';
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
    return broken.length ? broken[0] + '.' : '';
  }

  result() {
    const text = clean(this.get() || '');
    return text || this.def.required ? text : undefined;
  }

  focus() { this.input.focus(); }
}
