// The submission: made, kept until the server or a file has it, and the end.

let unsaved = false;

function submission() {
  clock();
  const round = (x) => Math.round(x * 10) / 10;
  const out = { format: 'factdrift-submission/1', batch, hit: hit.id, worker, assignment, seconds: 0, answers: {}, item_seconds: {} };
  hit.items.forEach((it, i) => {
    if (it.practice) return;
    const made = open(i)[0];
    for (const v of made.views) v.refresh();
    out.answers[it.id] = results(made.views.filter((v) => !v.scope.up));
    out.item_seconds[it.id] = round(seconds[it.id]);
    out.seconds += seconds[it.id];
  });
  out.seconds = round(out.seconds);
  if (study) out.study = study;
  if (agreed) out.consent = agreed;
  if (round(readingTime)) out.reading_seconds = round(readingTime);
  return out;
}

async function submit() {
  const made = submission();
  save();
  hasRead();
  if (settings.mode === 'mturk') {
    const form = byId('form');
    form.elements.assignmentId.value = assignment;
    form.elements.hitId.value = address.get('hitId') || '';
    form.elements.workerId.value = address.get('workerId') || '';
    form.elements.submission.value = encoded(JSON.stringify(made));
    byId('next').disabled = true;
    hit = null;
    form.submit();
    return;
  }
  if (settings.mode === 'preview') {
    ending('What would be submitted', [el('pre', { id: 'submission', text: JSON.stringify(made, null, 2) })]);
    return;
  }
  byId('next').disabled = true;
  await keep(place('made'), JSON.stringify(made));
  if (settings.served) await keep(unsent(), JSON.stringify({ made, link }));
  handOver(made);
}

// A submission that nobody has yet: to the server, or into a file.
function handOver(made) {
  unsaved = true;
  if (settings.post) send(made);
  else toBeSaved(made);
}

async function send(made) {
  ending('Sending your answers \u2026', [el('p', { text: 'Please leave this page open.' })]);
  let reply;
  try {
    const answer = await fetch(settings.post, { method: 'POST', headers: headers(), body: JSON.stringify(made), referrerPolicy: 'no-referrer', credentials: 'omit' });
    reply = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(reply.says || String(answer.status));
  } catch (e) {
    ending('Not sent yet', [
      el('p', { text: 'Your answers could not be sent (' + (e.message || 'no connection') + '). They are kept in this browser: try again, now or later. If it goes on, save them as a file and tell us.' }),
      el('p', { class: 'buttons' }, el('button', { type: 'button', class: 'main', text: 'Send again', onclick: () => send(made) }), download(made), back()),
    ]);
    return;
  }
  closed({ how: 'sent', code: reply.code || settings.code, complete: reply.complete || settings.complete, more: reply.more }, null);
}

// The file is the only copy: the code comes when the worker says that it is there.
function toBeSaved(made) {
  const sure = el('button', { type: 'button', text: 'The file is saved', hidden: true, onclick: () => closed({ how: 'saved', code: settings.code, complete: settings.complete }, made) });
  const link = download(made, () => { sure.hidden = false; });
  link.classList.add('main');
  ending('One more step: save your answers', [
    el('p', { text: 'Your answers are complete, and so far only in this browser. Save the results file and send it back as you were told.' }),
    el('p', { class: 'buttons' }, link, sure, back()),
  ]);
}

function download(made, then) {
  const blob = new Blob([JSON.stringify(made)], { type: 'application/json' });
  return el('a', { class: 'button', href: URL.createObjectURL(blob), download: (batch + '-' + made.hit + '-' + made.worker).replace(/[^\w.-]+/g, '_') + '.json', text: 'Save the results file', onclick: then || (() => {}) });
}

function back() {
  return el('button', { type: 'button', class: 'quiet', text: 'Back to my answers', onclick: async () => {
    unsaved = false;
    if (settings.served) await keep(unsent(), null);
    if (!hit.items.length) return location.reload();
    byId('end').hidden = true;
    for (const id of ['item', 'footer', 'instructions', 'help']) byId(id).hidden = false;
    return work();
  } });
}

// The server has it, or a file: the draft is done with, and what became of it is remembered.
async function closed(done, made) {
  clearTimeout(saving);
  unsaved = false;
  await keep(place('done'), JSON.stringify(done));
  keep(place('draft'), null);
  if (!made) keep(place('made'), null);
  if (settings.served) await keep(unsent(), null);
  thanks(done, made, false);
}

function thanks(done, made, again) {
  const parts = [];
  if (!again) parts.push(el('p', { text: done.how === 'sent' ? 'Your answers have arrived.' : 'Send the file back as you were told.' }));
  if (made) parts.push(el('p', {}, download(made)));
  if (done.code) {
    const copy = el('button', { type: 'button', text: 'Copy', onclick: () => navigator.clipboard.writeText(done.code).then(() => { copy.textContent = 'Copied'; }, () => {}) });
    parts.push(el('p', { text: 'Your completion code:' }), el('p', { class: 'code' }, el('code', { id: 'code', text: done.code }), copy));
  }
  if (done.complete) parts.push(el('p', {}, el('a', { class: 'button', href: done.complete, rel: 'noreferrer', text: 'Back to where you came from' })));
  if (done.more) parts.push(el('p', {}, el('button', { type: 'button', class: 'main', text: 'Next set of items', onclick: () => { location.hash = 'next'; location.reload(); } })));
  ending(again ? 'You have submitted this already' : 'Thank you', parts);
}

function ending(title, parts) {
  since = null;
  timed = false;
  document.removeEventListener('keydown', keys);
  const end = byId('end');
  end.replaceChildren(el('h2', { text: title }), ...parts);
  end.hidden = false;
  for (const id of ['item', 'footer', 'instructions', 'help', 'mark']) byId(id).hidden = true;
  byId('count').textContent = '';
  byId('bar').style.width = '100%';
  window.scrollTo(0, 0);
  end.focus({ preventScroll: true });
}
