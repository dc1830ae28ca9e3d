// The flow: which HIT and worker, items, drafts, time.

let hits, hit, batch, worker = '', assignment = '', study = '', at = 0, item, idle = false;
let answers = {}, seconds = {}, since = null, saving = null;
// What was agreed to, and the time on consent, instructions and practice: it is work, too.
let agreed = null, readingTime = 0, timed = false;
const address = new URLSearchParams(location.search);
let link = location.search;

function fail(text) {
  byId('notice').textContent = text;
  byId('notice').hidden = false;
}

function parameter(names) {
  // What a recruiting site was to fill in, and has not, is no id.
  return names.map((n) => address.get(n)).find((v) => v && v.trim() && !/^\{\{.*\}\}$/.test(v.trim())) || '';
}

// Calls once a frame is drawn. Before, on a busy machine, Chromium may show a page an empty
// localStorage: its draft would be gone, and written over.
function drawn(call) {
  requestAnimationFrame(() => requestAnimationFrame(async () => {
    await call();
    document.body.dataset.ready = '';
  }));
}

async function start() {
  settings = JSON.parse(byId('settings').textContent);
  byId('help').addEventListener('click', help);
  byId('instructions').addEventListener('toggle', () => {
    byId('help').setAttribute('aria-expanded', String(byId('instructions').open));
    if (!byId('instructions').open && document.activeElement === document.body) byId('help').focus({ preventScroll: true });
  });
  document.addEventListener('visibilitychange', () => { if (timed) clock(); });
  if (byId('examples')) byId('examples').open = innerWidth >= 960;
  try {
    const text = byId('data').textContent.trim();
    hits = settings.mode === 'mturk' ? [decoded(text)] : JSON.parse(text);
  } catch (e) {
    fail('This page has come without its items. Nothing was lost: please return the task, and tell us.');
    return;
  }
  batch = settings.mode === 'mturk' ? hits[0].batch : settings.batch;
  assignment = parameter(settings.assignment);
  study = parameter(settings.study);
  worker = parameter(settings.worker).trim().slice(0, 200);
  idle = settings.mode === 'mturk' && (!assignment || assignment === 'ASSIGNMENT_ID_NOT_AVAILABLE');
  if (settings.mode === 'preview') worker = worker || 'preview';
  if (settings.mode === 'static' && !worker) {
    await askWho();
    return;
  }
  await begin();
}

function decoded(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  if (!value.items.length) throw new Error('no items');
  return value;
}

function encoded(text) {
  let out = '';
  for (const byte of new TextEncoder().encode(text)) out += String.fromCharCode(byte);
  return btoa(out);
}

async function askWho() {
  const form = byId('who');
  byId('worker').value = (await kept('factdrift:worker')) || '';
  form.hidden = false;
  form.addEventListener('submit', (e) => {
    e.preventDefault();
    worker = clean(byId('worker').value);
    if (!worker) return;
    keep('factdrift:worker', worker);
    form.hidden = true;
    begin();
  });
}

// The HIT of this worker: of those in the page, or the file beside it that the address names.
async function theirs() {
  const wanted = address.get('hit');
  const number = /^\d{1,9}$/.test(wanted || '') ? Number(wanted) - 1 : -1;
  if (settings.served) {
    const next = location.hash === '#next';
    if (next) history.replaceState(null, '', location.pathname + location.search);
    const answer = await asks('hit', { hit: wanted, next });
    const reply = await answer.json().catch(() => ({}));
    if (!answer.ok && !reply.says) throw new Error(String(answer.status));
    return reply.hit || reply;
  }
  if (!settings.files) {
    if (wanted !== null) return hits.find((h) => h.id === wanted) || hits[number];
    return hits[settings.mode === 'static' ? spread(worker) % hits.length : 0];
  }
  const own = wanted === null ? spread(worker) % settings.files : number;
  if (own < 0 || own >= settings.files) return undefined;
  const answer = await fetch('hits/' + String(own + 1).padStart(4, '0') + '.json', { credentials: 'omit' });
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
}

// Asks the server that the page comes from, as this worker.
function asks(what, more) {
  const body = JSON.stringify({ worker, assignment, study, ...more });
  return fetch(what, { method: 'POST', headers: headers(), body, credentials: 'omit' });
}

// What each request says: to the server that the page is from also the link, which is signed.
function headers() {
  const type = { 'Content-Type': 'application/json' };
  return settings.served ? { ...type, 'X-Factdrift-Link': link } : type;
}

// Whether the worker takes part; asked once for a text.
async function consented() {
  const box = byId('consent');
  const key = 'factdrift:consent:' + settings.consent + ':' + worker;
  if (!box || idle) return true;
  const day = await kept(key);
  if (day) {
    agreed = { text: settings.consent, day };
    return true;
  }
  box.hidden = false;
  byId('instructions').hidden = byId('help').hidden = true;
  document.body.dataset.ready = '';
  clock();
  const agrees = await new Promise((found) => {
    byId('agree').addEventListener('click', () => found(true));
    byId('decline').addEventListener('click', () => found(false));
  });
  box.hidden = true;
  byId('instructions').hidden = byId('help').hidden = false;
  window.scrollTo(0, 0);
  if (agrees) {
    agreed = { text: settings.consent, day: new Date().toISOString().slice(0, 10) };
    if (settings.mode !== 'preview') keep(key, agreed.day);
  } else ending('You do not take part', [el('p', { text: 'Nothing was sent. Please return the task where you found it.' })]);
  return agrees;
}

// Whoever has done the task before finds its instructions folded: `?` opens them.
function readKey() {
  return 'factdrift:read:' + settings.layout + ':' + worker;
}

// The instructions, before the first task of a worker who has just agreed to take part.
async function instructed() {
  if (idle) return;
  if (settings.mode !== 'preview' && (await kept(readKey()))) {
    byId('instructions').open = false;
    return;
  }
  if (!byId('consent')) return;
  byId('footer').hidden = false;
  byId('back').hidden = true;
  byId('next').textContent = 'Begin';
  document.body.dataset.ready = '';
  clock();
  await new Promise((found) => {
    const enter = (e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) begun(); };
    const begun = () => {
      document.removeEventListener('keydown', enter);
      byId('next').removeEventListener('click', begun);
      found();
    };
    byId('next').addEventListener('click', begun);
    document.addEventListener('keydown', enter);
  });
  clock();
  byId('instructions').open = false;
  hasRead();
}

function hasRead() {
  if (!idle && settings.mode !== 'preview') keep(readKey(), 'yes');
}

async function begin() {
  if (!hits.length && !settings.files && !settings.served) return fail('There is nothing to do here: this page has no items.');
  if (!(await consented())) return undefined;
  const waiting = settings.served && await kept(unsent());
  if (waiting) {
    // What has not arrived goes first, whichever HIT is to come, and by the link that it was made with.
    const unsentOne = JSON.parse(waiting);
    const made = unsentOne.made || unsentOne;
    link = unsentOne.link || link;
    hit = { id: made.hit, items: [] };
    return handOver(made);
  }
  try {
    hit = await theirs();
  } catch (e) {
    const disk = location.protocol === 'file:' ? ' This page has to come from a web server; pages that open from disk are made with --split-pages.' : ' Please load the page again.';
    return fail('Your set of items could not be loaded.' + disk);
  }
  if (!hit) return fail('This page has no such set of items. Please use the link that you were given.');
  if (hit.done) return thanks(hit.done, null, true);
  if (hit.says) return fail(hit.says);
  for (const it of hit.items) for (const [name, n] of Object.entries(it.same)) it.fields[name] = hit.texts[n];
  const [done, made] = settings.mode === 'static' ? [await kept(place('done')), await kept(place('made'))] : [null, null];
  const trained = 'factdrift:trained:' + settings.layout + ':' + worker;
  if (settings.practice.length && !idle && !made && !(await kept(trained))) {
    hit.items.unshift(...settings.practice.map((p, n) => ({ id: 'practice-' + n, fields: p.fields, practice: p })));
  }
  await restore();
  window.addEventListener('beforeunload', (e) => { if (unsaved) e.preventDefault(); });
  if (done) return thanks(JSON.parse(done), made && JSON.parse(made), true);
  if (!made) await instructed();
  if (location.protocol === 'file:' && settings.mode === 'static' && !settings.post) {
    fail('This page is opened from a file: your answers are sent nowhere by themselves. At the end, save the results file and hand it in.');
  }
  listen();
  return made ? handOver(JSON.parse(made)) : work();
}

function listen() {
  byId('next').addEventListener('click', next);
  byId('back').addEventListener('click', () => go(at - 1));
  window.addEventListener('pagehide', () => { if (!byId('item').hidden) { clock(); save(); } });
  document.addEventListener('pointerdown', (e) => {
    clicked = false;
    if (e.target.closest('.options input, .options label')) byKey = null;
  });
  document.addEventListener('mouseup', () => setTimeout(() => {
    clicked = Boolean(item) && item.sources.some((s) => s.select && s.select());
  }));
  document.addEventListener('selectionchange', floating);
  byId('mark').addEventListener('pointerdown', (e) => e.preventDefault());
  byId('mark').addEventListener('click', () => { item.sources.some((s) => s.select && s.select()); floating(); });
}

function work() {
  byId('footer').hidden = false;
  document.addEventListener('keydown', keys);
  if (idle) fail('This is a preview. Accept the task to work on it.');
  go(Math.min(at, hit.items.length - 1), true);
}

// A number for a worker, the same on every visit.
function spread(text) {
  let sum = 2166136261;
  for (let i = 0; i < text.length; i += 1) sum = Math.imul(sum ^ text.charCodeAt(i), 16777619) >>> 0;
  return sum >>> 8;
}

// On touch screens a selection is marked by a button: there is no end of a drag to see.
function floating() {
  const touch = matchMedia('(pointer: coarse)').matches;
  byId('mark').hidden = !touch || !item || !item.sources.some((s) => s.selection && s.target(false) && s.selection());
}

function place(what) {
  return 'factdrift:' + what + ':' + batch + ':' + hit.id + ':' + worker;
}

function unsent() {
  return 'factdrift:unsent:' + batch + ':' + worker;
}

async function restore() {
  for (const it of hit.items) {
    answers[it.id] = {};
    seconds[it.id] = 0;
  }
  if (idle) return;
  try {
    const draft = JSON.parse((await kept(place('draft'))) || '{}');
    for (const it of hit.items) {
      if (draft.answers && has(draft.answers, it.id)) answers[it.id] = draft.answers[it.id];
      if (draft.seconds && draft.seconds[it.id] > 0) seconds[it.id] = draft.seconds[it.id];
    }
    if (draft.reading > 0) readingTime += draft.reading;
    at = Math.max(0, hit.items.findIndex((it) => it.id === draft.at));
  } catch (e) { keep(place('draft'), null); }
}

function save() {
  clearTimeout(saving);
  saving = null;
  if (!idle && hit && hit.items && hit.items.length) keep(place('draft'), JSON.stringify({ at: hit.items[at].id, answers, seconds, reading: readingTime }));
}

// Adds the time since the last look to the item, while the page can be seen.
function clock() {
  const now = performance.now();
  const passed = since === null ? 0 : (now - since) / 1000;
  if (item && !item.practice) seconds[item.id] += passed;
  else readingTime += passed;
  timed = true;
  since = document.visibilityState === 'visible' ? now : null;
}

function open(index) {
  const it = hit.items[index];
  const next = { id: it.id, fields: it.fields, values: answers[it.id], practice: it.practice, sources: [], views: [] };
  const root = byId('task').content.cloneNode(true);
  const scope = { defs: settings.answers, values: answers[it.id], up: null, item: next, name: null, edited: editedIn(answers[it.id]) };
  const nested = (defs) => Object.values(defs).flatMap((d) => [d.field, ...nested(d.answers)]);
  const read = nested(Object.fromEntries(Object.entries(settings.answers).map(([n, d]) => [n, reading(d)])));
  for (const slot of root.querySelectorAll('[data-show]')) {
    const name = slot.dataset.show;
    const targets = () => next.views.filter((v) => (v.def.kind === 'span' || v.def.kind === 'spans') && v.def.field === name && v.shown());
    targets.any = read.includes(name);
    const field = makeField(name, slot.dataset.label, next, targets);
    next.sources.push(field);
    slot.append(field.node);
  }
  for (const slot of root.querySelectorAll('[data-answer]')) {
    const name = slot.dataset.answer;
    slot.append(makeAnswer(name, settings.answers[name], scope, next.views).node);
  }
  const ways = ['broken', 'comment'].filter((n) => has(settings.answers, n) && !it.practice);
  if (ways.length) {
    const views = ways.map((n) => makeAnswer(n, settings.answers[n], scope, next.views));
    const box = el('details', { class: 'ways' }, el('summary', { text: 'Something is wrong, or you want to tell us something' }), ...views.map((v) => v.node));
    box.open = views.some((v) => v.get() !== undefined && v.get().length !== 0);
    (root.querySelector('.work') || root).append(box);
  }
  next.scope = scope;
  next.rest = el('button', { type: 'button', class: 'small rest', onclick: noToTheRest }, 'No to the rest ', el('kbd', { 'aria-hidden': 'true', text: '0' }));
  const flags = next.views.filter((v) => v.def.kind === 'flag' && v.def.required);
  if (flags.length > 2) flags[flags.length - 1].node.after(next.rest);
  return [next, root];
}

// What of an answer says where spans are marked.
function reading(def) {
  const inner = Object.fromEntries(Object.entries(def.answers || {}).map(([n, d]) => [n, reading(d)]));
  return { field: def.kind === 'span' || def.kind === 'spans' ? def.field : null, answers: inner };
}

function go(index, first) {
  if (index < 0) return;
  clock();
  at = index;
  marking = null;
  byKey = null;
  checked = false;
  let root;
  [item, root] = open(at);
  const n = hit.items.filter((it) => !it.practice).length, before = hit.items.length - n;
  const title = item.practice ? 'Practice ' + (at + 1) + ' of ' + before : n > 1 ? 'Item ' + (at + 1 - before) + ' of ' + n : '';
  byId('item').replaceChildren(el('h2', { class: 'sr', text: title || 'The item' }), root);
  if (idle) for (const node of byId('item').querySelectorAll('input, textarea, .answer button')) node.disabled = true;
  changed();
  const last = at + 1 === hit.items.length;
  byId('count').textContent = title;
  byId('bar').style.width = (100 * at) / hit.items.length + '%';
  byId('back').hidden = at === 0;
  byId('next').textContent = item.practice ? 'Check' : !last ? 'Next' : idle ? 'End of the preview' : settings.mode === 'preview' || settings.mode === 'mturk' || settings.post ? 'Submit' : 'Finish';
  byId('next').disabled = idle && last;
  byId('says').textContent = '';
  if (!first) {
    byId('instructions').open = false;
    hasRead();
    window.scrollTo(0, 0);
    byId('item').focus({ preventScroll: true });
  }
  for (const s of item.sources) {
    const mark = s.body && s.body.scrollHeight > s.body.clientHeight + 20 && s.body.querySelector('.mention');
    if (mark) s.body.scrollTop = mark.offsetTop - s.body.clientHeight / 3;
  }
}

// Something was answered: every view and text follows.
function changed() {
  if (!item) return;
  for (const v of item.views) if (v.refresh) v.refresh();
  for (const s of item.sources) s.paint();
  for (const v of item.views) if (v instanceof Marked && !v.node.hidden) v.update();
  if (item.rest) item.rest.hidden = !open_().some((v) => v.def.kind === 'flag');
  if (checked) saysWrong();
  for (const b of document.querySelectorAll('.current')) b.classList.remove('current');
  const view = keyed();
  if (view) view.node.classList.add('current');
  if (!saving) saving = setTimeout(save, 300);
}

function next() {
  if (idle) {
    if (at + 1 < hit.items.length) go(at + 1);
    return;
  }
  if (!check()) return;
  if (item.practice && !item.told) {
    tell();
    return;
  }
  if (item.practice && at + 1 === settings.practice.length) keep('factdrift:trained:' + settings.layout + ':' + worker, 'yes');
  if (at + 1 < hit.items.length) {
    go(at + 1);
    save();
    return;
  }
  for (let i = 0; i < hit.items.length - 1; i += 1) {
    if (!hit.items[i].practice && broken(open(i)[0].views).length) {
      go(i);
      check();
      return;
    }
  }
  submit();
}

// What was right in a practice item, and why.
function tell() {
  const given = results(item.views.filter((v) => !v.scope.up));
  const listed = (v) => JSON.stringify(Array.isArray(v) ? v.slice().sort() : v);
  const words = (def, v) => (Array.isArray(v) ? v : [v]).map((one) => {
    const known = (def.choices || []).find((c) => c.value === one);
    return known ? known.label : one === true ? 'Yes' : one === false ? 'No' : textOf(one);
  }).join('; ');
  const plain = (def) => ['choice', 'choices', 'flag'].includes(def.kind);
  const other = Object.entries(item.practice.answers).filter(([name, v]) => !plain(settings.answers[name]) || listed(given[name]) !== listed(v));
  const wrong = other.some(([name]) => plain(settings.answers[name]));
  const box = el('section', { class: 'feedback', tabindex: '-1', role: 'status' },
    el('h3', { text: wrong ? 'Not quite' : 'That is right' }),
    ...other.map(([name, v]) => el('p', { text: (plain(settings.answers[name]) ? 'Expected' : 'A good answer') + ', ' + settings.answers[name].label + ' ' + words(settings.answers[name], v) })),
    el('p', { text: item.practice.why }));
  item.told = true;
  (byId('item').querySelector('.work') || byId('item')).append(box);
  box.scrollIntoView({ block: 'center' });
  box.focus({ preventScroll: true });
  byId('next').textContent = 'Go on';
}

// Whether the item is whole; says what is not, and goes there.
function check() {
  for (const v of item.views) v.touched = true;
  checked = true;
  changed();
  const wrong = inOrder(broken(item.views));
  if (!wrong.length) return true;
  wrong[0].node.scrollIntoView({ block: 'center' });
  wrong[0].focus();
  return false;
}

function saysWrong() {
  const n = broken(item.views).length;
  byId('says').textContent = !n ? '' : n === 1 ? 'One thing is missing or needs a change.' : n + ' things are missing or need a change.';
}
