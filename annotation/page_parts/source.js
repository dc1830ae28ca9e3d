// A text of an item, and marking in it by mouse, finger and keyboard.

class Source {
  constructor(name, label, shown, item, targets) {
    this.name = name;
    this.targets = targets;
    this.many = shown.kind === 'paragraphs';
    this.value = this.many ? withOpened(item, item.values, name) : item.fields[name];
    this.units = this.split();
    this.pending = this.cursor = this.query = null;
    this.dates = shown.dates;
    const given = (shown.marks && item.fields[shown.marks]) || [];
    for (const mark of Array.isArray(given) ? given : [given]) {
      const whole = this.whole(mark);
      for (const u of this.units) u.given.push(...this.inside(whole, u, mark.kind === 'date' ? 'date' : 'mention'));
    }
    if (shown.dates) for (const u of this.units) u.given.push(...found(DATES, u.text).map((d) => [...d, 'date']));
    const id = 'source' + (serial += 1);
    this.says = el('span', { id: id + 'hint' });
    this.back = el('button', { type: 'button', class: 'quiet small', text: 'To the answer', onclick: () => this.target(true).node.scrollIntoView({ block: 'center' }) });
    this.hint = el('div', { class: 'hint' }, this.says, this.back);
    const blocks = [];
    let heading = '';
    for (const u of this.units) {
      if (u.heading && u.heading !== heading) blocks.push(el('h4', { dir: 'auto', text: u.heading }));
      heading = u.heading || heading;
      u.head = heading && blocks.findLast((b) => b.localName === 'h4');
      blocks.push(u.node);
    }
    this.body = el('div', {
      class: 'passage', role: 'group', 'aria-labelledby': id, 'aria-describedby': id + 'hint', tabindex: '0',
      onclick: (e) => this.click(e), onkeydown: (e) => this.key(e),
      onblur: () => { this.cursor = null; this.paint(); },
    }, ...blocks);
    const head = el('div', { class: 'head' }, el('h3', { id, text: label }));
    if (this.units.some((u) => u.given.some((g) => g[2] === 'mention'))) {
      head.append(el('button', { type: 'button', class: 'quiet small', text: 'Go to the highlight', onclick: () => this.reveal('.mention') }));
    }
    this.node = el('section', { class: 'panel reading' }, head, this.units.length > 3 && this.many ? this.searching() : null, this.hint, this.body);
    this.paint();
  }

  // A passage that a search has found: read and marked like the others.
  show(passage) {
    let n = this.value.findIndex((v) => v.id === passage.id);
    if (n < 0) {
      n = this.value.push(passage) - 1;
      this.units.push(this.unit(passage.text, n, 0, passage));
      if (this.dates) this.units[n].given.push(...found(DATES, passage.text).map((d) => [...d, 'date']));
      this.body.append(this.units[n].node);
    }
    this.units[n].node.hidden = false;
    this.paint();
    this.units[n].node.scrollIntoView({ block: 'center' });
  }

  // Paragraphs, or the lines of one text, each with the offset it begins at.
  split() {
    if (this.many) {
      return this.value.map((v, index) => this.unit(textOf(v), index, 0, v));
    }
    const out = [];
    let base = 0;
    for (const line of String(this.value).split('\n')) {
      out.push(this.unit(line, out.length, base, null));
      base += line.length + 1;
    }
    return out;
  }

  unit(text, index, base, entry) {
    const kind = entry && ['list', 'table', 'infobox'].includes(entry.kind) ? entry.kind : 'plain';
    const heading = entry && typeof entry === 'object' ? entry.heading || entry.section || entry.title : null;
    return { text, index, base, heading, given: [], words: found(WORDS, text), node: el('p', { dir: 'auto', class: kind }), drawn: null };
  }

  // A span as [paragraph, start, end], in UTF-16 of its paragraph or of the whole text.
  whole(span) {
    const text = this.many ? textOf(this.value[span.paragraph || 0]) : this.value;
    return [this.many ? span.paragraph || 0 : null, toUnits(text, span.start), toUnits(text, span.end)];
  }

  // The part of it that lies in a unit, as a layer of that unit; [] for none.
  inside([paragraph, start, end], u, kind) {
    if (this.many && paragraph !== u.index) return [];
    const a = Math.max(start - u.base, 0);
    const b = Math.min(end - u.base, u.text.length);
    return a < b ? [[a, b, kind]] : [];
  }

  searching() {
    const count = el('span', { class: 'help', role: 'status' });
    const input = el('input', { type: 'search', placeholder: 'Search in this text', 'aria-label': 'Search in this text', spellcheck: 'false' });
    input.addEventListener('input', () => {
      const words = squashed(input.value).split(' ').filter(Boolean);
      this.query = words.length ? words : null;
      let hits = 0;
      for (const u of this.units) if (u.head) u.head.hidden = true;
      for (const u of this.units) {
        const lower = u.text.toLowerCase();
        const hit = !words.length || words.every((w) => lower.includes(w));
        u.node.hidden = !hit;
        if (hit && u.head) u.head.hidden = false;
        hits += hit ? 1 : 0;
      }
      this.body.scrollTop = 0;
      count.textContent = words.length ? hits + ' of ' + this.units.length : '';
      this.paint();
    });
    input.addEventListener('keydown', (e) => {
      if (e.key === 'Escape' && input.value) {
        input.value = '';
        input.dispatchEvent(new Event('input'));
        e.stopPropagation();
      }
    });
    return el('div', { class: 'search' }, input, count);
  }

  target(asked) {
    const views = this.targets();
    if (views.includes(marking)) return marking;
    const free = views.find((v) => v.def.kind === 'spans' || !v.get());
    return free || (asked ? views[views.length - 1] || null : null);
  }

  paint() {
    const views = this.targets();
    const target = this.target(false);
    const wanted = this.targets.any && views.length;
    this.node.classList.toggle('marking', Boolean(target));
    this.hint.hidden = !wanted;
    const offers = target ? this.offers() : [];
    if (wanted) {
      const touch = matchMedia('(pointer: coarse)').matches;
      this.says.textContent = this.pending
        ? touch ? 'Now tap the last word, or the same word again.' : 'Now click the last word, or the same word again. Esc cancels.'
        : target ? 'Marking: ' + target.def.label + '. ' + (offers.length ? (touch ? 'Tap' : 'Click') + ' what is framed, or mark other words: ' : '') + (touch ? 'Tap the first and the last word.' : 'Drag over the words, or click the first and the last one.')
          : 'Marked. To change it, press "Mark again" at the answer.';
    }
    const spans = views.flatMap((v) => v.spans().map((s) => this.whole(s)));
    for (const u of this.units) {
      const layers = u.given.concat(spans.flatMap((s) => this.inside(s, u, 'span')));
      for (const p of offers) if (p.unit === u) layers.push([p.start, p.end, 'offer']);
      if (this.query) {
        const lower = u.text.toLowerCase();
        if (lower.length === u.text.length) {
          for (const w of this.query) {
            for (let at = lower.indexOf(w); at >= 0; at = lower.indexOf(w, at + w.length)) layers.push([at, at + w.length, 'hit']);
          }
        }
      }
      if (this.pending && this.pending.unit === u) layers.push([this.pending.start, this.pending.end, 'pending']);
      layers.push(...this.underCursor(u));
      this.draw(u, layers);
    }
  }

  draw(u, layers) {
    const key = JSON.stringify(layers);
    if (u.drawn === key) return;
    u.drawn = key;
    const cuts = Array.from(new Set([0, u.text.length, ...layers.flatMap((l) => [l[0], l[1]])])).sort((a, b) => a - b);
    const nodes = [];
    for (let i = 0; i + 1 < cuts.length; i += 1) {
      const text = u.text.slice(cuts[i], cuts[i + 1]);
      const kinds = layers.filter((l) => l[0] <= cuts[i] && l[1] >= cuts[i + 1]).map((l) => l[2]);
      nodes.push(kinds.length ? el('mark', { class: Array.from(new Set(kinds)).join(' '), text }) : document.createTextNode(text));
    }
    u.node.replaceChildren(...nodes);
  }

  // Where the texts stand that one click marks.
  offers() {
    const target = this.target(false);
    const texts = target ? target.offered() : [];
    return this.units.flatMap((unit) => texts.flatMap((text) => wholes(unit.text, text).map(([start, end]) => ({ unit, start, end }))));
  }

  reveal(selector) {
    const mark = this.body.querySelector(selector);
    if (mark) mark.scrollIntoView({ block: 'center' });
  }

  // Where a point of the document lies: [unit, offset], null outside.
  place(node, offset) {
    const u = this.units.find((x) => x.node.contains(node));
    if (!u) return null;
    const range = document.createRange();
    range.setStart(u.node, 0);
    range.setEnd(node, offset);
    return [u, range.toString().length];
  }

  // The selection as [unit, start, unit, end], within this text.
  selection() {
    const sel = window.getSelection();
    if (!sel.rangeCount || sel.isCollapsed) return null;
    const range = sel.getRangeAt(0);
    if (!range.intersectsNode(this.body)) return null;
    const touched = this.units.filter((u) => !u.node.hidden && range.intersectsNode(u.node));
    if (!touched.length) return null;
    const first = touched[0], last = touched[touched.length - 1];
    const from = this.place(range.startContainer, range.startOffset) || [first, 0];
    const to = this.place(range.endContainer, range.endOffset) || [last, last.text.length];
    return [...from, ...to];
  }

  select() {
    const found = this.selection();
    if (!found || !this.target(false)) return false;
    this.commit(...found);
    window.getSelection().removeAllRanges();
    return true;
  }

  commit(from, start, to, end) {
    const target = this.target(true);
    this.pending = null;
    if (!target) return;
    let a, b, whole;
    if (this.many) {
      if (to !== from) end = from.text.length;
      [a, b] = snapped(from.text, from.words, start, end);
      whole = from.text;
    } else {
      [a, b] = [snapped(from.text, from.words, start, from.text.length)[0] + from.base, snapped(to.text, to.words, 0, end)[1] + to.base];
      [a, b] = snapped(this.value, [], a, b);
      whole = this.value;
    }
    if (a < b) {
      const span = { start: toCodePoints(whole, a), end: toCodePoints(whole, b), text: whole.slice(a, b) };
      if (this.many) span.paragraph = from.index;
      target.add(span, (s) => this.between(s));
      say('Marked: ' + span.text);
    }
    changed();
  }

  between(span) {
    const whole = this.many ? this.units[span.paragraph].text : this.value;
    return whole.slice(toUnits(whole, span.start), toUnits(whole, span.end));
  }

  click(e) {
    if (clicked || !window.getSelection().isCollapsed) {
      clicked = false;
      return;
    }
    if (!this.target(false)) return;
    const unit = this.units.find((u) => u.node.contains(e.target));
    const word = unit && wordAt(unit, e.clientX, e.clientY);
    if (!word) return;
    const here = { unit, start: word[0], end: word[1] };
    const offer = !this.pending && this.offers().find((p) => p.unit === unit && p.start <= word[0] && word[1] <= p.end);
    if (offer) {
      this.commit(unit, offer.start, unit, offer.end);
      return;
    }
    if (!this.pending || (this.many && this.pending.unit !== here.unit)) {
      this.pending = here;
      this.paint();
      return;
    }
    const ends = [this.pending, here].sort((x, y) => x.unit.index - y.unit.index || x.start - y.start);
    this.commit(ends[0].unit, ends[0].start, ends[1].unit, ends[1].end);
  }

  underCursor(u) {
    if (!this.cursor) return [];
    const [a, b] = this.range();
    if (u.index < a[0] || u.index > b[0]) return [];
    const from = u.index === a[0] ? u.words[a[1]][0] : 0;
    const to = u.index === b[0] ? u.words[b[1]][1] : u.text.length;
    return from < to ? [[from, to, 'cursor']] : [];
  }

  // First and last word under the keyboard's selection, as [unit index, word index].
  range() {
    const { at, anchor } = this.cursor;
    return [at, anchor].sort((x, y) => x[0] - y[0] || x[1] - y[1]);
  }

  step([unit, word], by) {
    const seen = this.units.filter((u) => u.words.length && !u.node.hidden);
    let n = seen.findIndex((u) => u.index >= unit);
    if (n < 0) return [unit, word];
    if (seen[n].index !== unit) return [seen[n].index, 0];
    if (by === 'start') return [unit, 0];
    if (by === 'end') return [unit, seen[n].words.length - 1];
    if (typeof by === 'number') {
      if (seen[n].words[word + by]) return [unit, word + by];
      const next = seen[n + by];
      return next ? [next.index, by > 0 ? 0 : next.words.length - 1] : [unit, word];
    }
    const starts = (u) => u.words.map((w, i) => i).filter((i) => i === 0 || /[.!?]["'\u2019\u201d)]*\s+\S*$/.test(u.text.slice(u.words[i - 1][1], u.words[i][0]) + 'x'));
    const own = starts(seen[n]);
    if (by === 'down') {
      const next = own.find((i) => i > word);
      if (next !== undefined) return [unit, next];
      return seen[n + 1] ? [seen[n + 1].index, 0] : this.step([unit, word], 'end');
    }
    const before = own.filter((i) => i < word).pop();
    if (before !== undefined) return [unit, before];
    return seen[n - 1] ? [seen[n - 1].index, starts(seen[n - 1]).pop()] : [unit, 0];
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || !this.targets().length) return;
    const right = getComputedStyle(this.cursor ? this.units[this.cursor.at[0]].node : this.body).direction === 'rtl';
    const move = {
      ArrowRight: right ? -1 : 1, ArrowLeft: right ? 1 : -1, ArrowUp: 'up', ArrowDown: 'down', Home: 'start', End: 'end',
    }[e.key];
    if (move !== undefined) {
      const old = this.cursor;
      const at = old ? this.step(old.at, move) : this.firstWord();
      if (!at) return;
      this.cursor = { at, anchor: e.shiftKey && old ? old.anchor : at };
      this.paint();
      const marks = this.body.querySelectorAll('mark.cursor');
      if (marks.length) marks[move === -1 || move === 'up' ? 0 : marks.length - 1].scrollIntoView({ block: 'nearest' });
      say(Array.from(marks, (m) => m.textContent).join(''));
    } else if ((e.key === 'Enter' || e.key === ' ') && this.cursor) {
      const [a, b] = this.range();
      const from = this.units[a[0]], to = this.units[b[0]];
      if (this.many && from !== to) return;
      this.commit(from, from.words[a[1]][0], to, to.words[b[1]][1]);
    } else if (e.key === 'Escape') {
      this.pending = this.cursor = null;
      this.paint();
    } else if (e.key === 'Delete' || e.key === 'Backspace') {
      const view = this.target(true);
      if (view) view.drop(view.spans().length - 1);
    } else return;
    e.preventDefault();
    e.stopPropagation();
  }

  firstWord() {
    const start = this.units.find((u) => u.words.length && !u.node.hidden && u.given.some((g) => g[2] === 'mention'))
      || this.units.find((u) => u.words.length && !u.node.hidden);
    return start ? [start.index, 0] : null;
  }
}

// The word of a unit that is drawn at a point, or next to it. A caret's position would not do: where
// the direction of writing turns, two of them are in one place.
function wordAt(u, x, y) {
  const nodes = [];
  const walk = document.createTreeWalker(u.node, NodeFilter.SHOW_TEXT);
  for (let base = 0; walk.nextNode(); base += walk.currentNode.length) nodes.push([walk.currentNode, base]);
  const range = document.createRange();
  let best = null, least = 8;
  for (const word of u.words) {
    for (const [node, base] of nodes) {
      const from = Math.max(word[0] - base, 0), to = Math.min(word[1] - base, node.length);
      if (from >= to) continue;
      range.setStart(node, from);
      range.setEnd(node, to);
      for (const box of range.getClientRects()) {
        const far = Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
        if (far < least) [best, least] = [word, far];
      }
    }
  }
  return best;
}

// The span answer that a button chose, and whether a drag has just used up the next click.
let marking = null, clicked = false;
