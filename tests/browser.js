// What tests ask a page, or have it do: `Browser.ask` calls one of these.

// A page for workers says when it has its items and what was kept; other pages need no wait.
const ready = () => document.readyState === 'complete'
  && (!document.getElementById('settings') || document.body.dataset.ready !== undefined);

const text = (selector) => {
  const node = document.querySelector(selector);
  return node && [node.textContent];
};

const shown = (selector) => [...document.querySelectorAll(selector)]
  .filter((n) => n.checkVisibility({visibilityProperty: true}) && n.getClientRects().length);

const button = (label) => [...document.querySelectorAll('button')]
  .filter((b) => b.checkVisibility() && b.innerText.trim().startsWith(label));

const focused = (node, group) => {
  const now = document.activeElement;
  return node === now || (group && now.type === 'radio' && now.name === node.name);
};

// The key that brings the cursor of a text nearer to some words.
const steer = (words) => {
  const all = [...document.activeElement.querySelectorAll('p')];
  const there = all.findIndex((p) => p.textContent.includes(words));
  const mark = document.activeElement.querySelector('mark.cursor');
  const own = mark.closest('p'), here = all.indexOf(own);
  if (here !== there) return here < there ? 'DOWN' : 'UP';
  const before = document.createRange();
  before.setStart(own, 0);
  before.setEndBefore(mark);
  const gap = own.textContent.indexOf(words) - before.toString().length;
  return gap ? (gap > 0 ? 'RIGHT' : 'LEFT') : 'there';
};

// Left end of the first and right end of the last of some words, on the screen.
const find = (words, inside) => {
  for (const box of document.querySelectorAll(inside)) {
    if (!box.offsetParent) continue;
    const walk = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
    const nodes = [];
    let text = '';
    while (walk.nextNode()) {
      nodes.push([walk.currentNode, text.length]);
      text += walk.currentNode.data;
    }
    const at = text.indexOf(words);
    if (at < 0) continue;
    const letter = (i) => {
      const [node, base] = nodes.filter((n) => n[1] <= i).pop();
      const range = document.createRange();
      range.setStart(node, i - base);
      range.setEnd(node, i - base + 1);
      return range;
    };
    letter(at).startContainer.parentElement.scrollIntoView({block: 'center', behavior: 'instant'});
    const a = letter(at).getBoundingClientRect();
    const b = letter(at + words.length - 1).getBoundingClientRect();
    return [[a.left + 1, a.top + a.height / 2], [b.right - 1, b.top + b.height / 2]];
  }
  return null;
};

// Whether some words are marked in a text.
const marked = (words) => [...document.querySelectorAll('.passage mark')]
  .map((mark) => mark.textContent).join('').includes(words);

// How many times the arrow key is pressed to get from the focus to another of its options.
const away = (box) => {
  const all = [...document.getElementsByName(box.name)];
  return (all.indexOf(box) - all.indexOf(document.activeElement) + all.length) % all.length;
};

// Answer items as a worker may: a choice and a note for each.
const answer = (items, note) => {
  for (let n = 0; n < items; n += 1) {
    document.querySelectorAll('.answer.choice input')[n % 2].click();
    const box = document.querySelector('textarea');
    box.value = note;
    box.dispatchEvent(new Event('input'));
    document.getElementById('next').click();
  }
};

// Type texts, [number of the box, text, whether it is the last]: whether the page refuses each,
// which rules it names, and what assistive technology is told.
const typed = (texts) => texts.map(([number, text, last]) => {
  const box = document.querySelectorAll('.answer.text')[number];
  const area = box.querySelector('textarea');
  area.value = text;
  area.dispatchEvent(new Event('input'));
  area.dispatchEvent(new Event('blur'));
  const says = box.querySelector('.message').textContent;
  const no = [...box.querySelectorAll('.rules .no')].map((r) => r.dataset.rule);
  if (says.startsWith('Too long')) no.push('max_length');
  if (says.startsWith('Write something')) no.push('min_length');
  const found = [Boolean(says), no, area.getAttribute('aria-invalid')];
  area.value = '';
  area.dispatchEvent(new Event('input'));
  if (!last) document.getElementById('next').click();
  return found;
});

// Let time pass: 20 seconds in sight, 500 out of it, and 7 in sight again.
const look_away = () => {
  let shift = 0; const real = performance.now.bind(performance);
  performance.now = () => real() + shift;
  let seen = 'visible';
  Object.defineProperty(document, 'visibilityState', { get: () => seen });
  const turn = (to) => { seen = to; document.dispatchEvent(new Event('visibilitychange')); };
  shift += 20000; turn('hidden'); shift += 500000; turn('visible'); shift += 7000;
};

// Whether what an item is about and its first choice or box are on the screen, above the bar at the
// bottom, and how many pixels of each text are.
const onScreen = () => {
  for (const box of document.querySelectorAll('.definition')) box.open = false;
  window.scrollTo(0, 0);
  const bottom = document.getElementById('footer').getBoundingClientRect().top;
  const top = document.querySelector('.top').getBoundingClientRect().bottom;
  const inside = (node) => node.getBoundingClientRect().bottom <= bottom;
  const height = (node) => {
    const box = node.getBoundingClientRect();
    return Math.min(box.bottom, bottom) - Math.max(box.top, top);
  };
  const brief = shown('#item .brief')[0];
  return {
    brief: !brief || inside(brief),
    first: shown('.work .option, .work textarea').slice(0, 1).some(inside),
    read: shown('#item .passage, .source .ask .lines').map(height),
  };
};
