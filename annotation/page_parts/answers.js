// Answers: a view for each, with the value in `scope.values` and what is wrong with it.
// A scope is an item, or an entry of a group within one (`up`).

function look(scope, name) {
  for (let s = scope; s; s = s.up) {
    if (has(s.defs, name)) return asked(s, name) ? s.values[name] : undefined;
  }
  return scope.item.fields[name];
}

function asked(scope, name) {
  const def = scope.defs[name];
  const met = ([other, values]) => {
    const value = look(scope, other);
    return (Array.isArray(value) ? value : [value]).some((v) => v !== undefined && v !== null && values.includes(String(v)));
  };
  if (def.needs && !there(scope.item.fields[def.needs])) return false;
  if (Object.keys(def.unless || {}).some((other) => awaited(scope, other))) return false;
  return Object.entries(def.when || {}).every(met) && !Object.entries(def.unless || {}).some(met);
}

// Whether an answer that must be given is not yet.
function awaited(scope, name) {
  for (let s = scope; s; s = s.up) {
    if (has(s.defs, name)) return s.defs[name].required && s.values[name] === undefined && asked(s, name);
  }
  return false;
}

function there(value) {
  return value !== undefined && value !== null && value.length !== 0;
}

function makeAnswer(name, def, scope, views) {
  const Kind = { choice: Choice, choices: Choice, flag: Choice, text: Typed, span: Marked, spans: Marked, group: Group, search: Search }[def.kind];
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
    this.label = def.label + (def.required || def.kind === 'flag' || name === 'broken' ? '' : ' (optional)');
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
