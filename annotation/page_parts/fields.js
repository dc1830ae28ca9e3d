// Elements, names, and the fields of an item.

const byId = (id) => document.getElementById(id);
const has = (object, name) => Object.prototype.hasOwnProperty.call(object, name);
let settings, serial = 0;

// An element; `text` and children are only ever text nodes or elements.
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === 'text') node.textContent = value;
    else if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((c) => c !== null && c !== undefined));
  return node;
}

// `verified_facts` as `Verified facts`, where a layout gives no label.
function named(name) {
  const known = settings.fields[name] || settings.answers[name];
  return (known && known.label) || name.charAt(0).toUpperCase() + name.slice(1).replace(/_/g, ' ');
}

function say(text) {
  byId('live').textContent = text;
}

// A field of an item. `targets()` gives the span answers that mark in it and are asked now.
function makeField(name, title, item, targets) {
  const shown = settings.fields[name];
  const value = item.fields[name];
  const label = title || named(name);
  const searched = settings.search && Object.values(settings.answers).some((d) => d.kind === 'search' && d.field === name);
  if (!searched && (value === undefined || value === null || value === '' || (Array.isArray(value) && !value.length))) {
    return { name, node: shown.optional && !shown.empty ? el('div') : fact(label, shown.empty || 'none'), paint() {} };
  }
  if (shown.kind === 'date') return { name, node: fact(label, longDay(value)), paint() {} };
  if (shown.kind === 'partial_date') return { name, node: fact(label, partialDay(value)), paint() {} };
  if (shown.kind === 'number') return { name, node: fact(label, String(value)), paint() {} };
  if (shown.kind === 'list') {
    if (value.length === 1) return { name, node: fact(label, textOf(value[0])), paint() {} };
    const items = value.map((v) => el('li', { dir: 'auto', text: textOf(v) }));
    return { name, node: el('div', { class: 'fact' }, el('h3', { text: label }), el('ul', {}, ...items)), paint() {} };
  }
  const long = shown.kind === 'paragraphs' || shown.join || shown.marks || shown.dates || targets.any;
  if (!long && !/\n/.test(value)) return { name, node: fact(label, textOf(value)), paint() {} };
  return new Source(name, label, shown, item, targets);
}

function fact(label, text) {
  return el('div', { class: 'fact' }, el('h3', { text: label }), el('p', { dir: 'auto', text }));
}
