// Answers that are marked in a text.

class Marked extends View {
  constructor(name, def, scope, views) {
    super(name, def, scope, views);
    this.many = def.kind === 'spans';
    this.chips = el('ul', { class: 'chips' });
    this.button = el('button', { type: 'button', class: 'small', 'aria-describedby': this.described, 'data-own': this.id, onclick: () => this.begin() });
    this.offer = el('button', { type: 'button', class: 'small', hidden: true, onclick: () => this.take() });
    this.set_('div', this.chips, el('p', { class: 'buttons' }, this.offer, this.button));
  }

  // Texts that one click marks: all that a field lists, or the one beside a choice from a list.
  offered() {
    if (!this.def.offers) return [];
    const fields = this.scope.item.fields, texts = fields[this.def.offers] || [];
    const choice = Object.entries(this.scope.defs).find(([, d]) => d.hints === this.def.offers);
    if (!choice) return texts.map(textOf);
    const place = (fields[choice[1].field] || []).map(textOf).indexOf(this.scope.values[choice[0]]);
    return place < 0 || !texts[place] ? [] : [textOf(texts[place])];
  }

  // Marks the first place of an offered text, behind the headline if it stands there, too.
  take() {
    const source = this.source(), places = source.offers();
    const place = places.find((p) => p.unit.index > 0) || places[0];
    if (place) source.commit(place.unit, place.start, place.unit, place.end);
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
    const offers = source && !this.spans().length ? source.offers().map((p) => p.unit.text.slice(p.start, p.end)) : [];
    this.offer.hidden = new Set(offers).size !== 1;
    this.offer.textContent = 'Mark \u201c' + offers[0] + '\u201d';
    this.button.textContent = target ? 'Marking in the text \u2026' : this.spans().length ? (this.many ? 'Mark more' : 'Mark again') : 'Mark in the text';
    this.button.setAttribute('aria-pressed', String(Boolean(target)));
  }

  wrong() { return this.def.required && !this.spans().length ? 'Mark it in "' + named(this.def.field) + '".' : ''; }

  result() { return this.get() === undefined && this.many && this.def.required ? [] : this.get(); }

  focus() { this.button.focus(); }
}
