// What this browser keeps: drafts, and submissions until somebody else has them. Everything is kept
// twice: Chromium may show a page that is opened from disk an empty localStorage on a busy machine.

const memory = (() => { try { return window.localStorage; } catch (e) { return null; } })();
const shelf = new Promise((found) => {
  setTimeout(() => found(null), 3000);
  try {
    const asked = indexedDB.open('factdrift', 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore('kept');
    asked.onsuccess = () => found(asked.result);
    asked.onerror = () => found(null);
  } catch (e) { found(null); }
});

// One request to IndexedDB; undefined where there is none.
async function shelved(mode, ask) {
  const db = await shelf;
  if (!db) return undefined;
  return new Promise((found) => {
    try {
      const change = db.transaction('kept', mode);
      const asked = ask(change.objectStore('kept'));
      change.oncomplete = () => found(asked.result);
      change.onerror = change.onabort = () => found(undefined);
    } catch (e) { found(undefined); }
  });
}

// Keeps a text, or forgets it (null); done when it is written.
function keep(key, text) {
  const entry = text === null ? null : JSON.stringify([Date.now(), text]);
  try {
    if (entry === null) memory.removeItem(key);
    else memory.setItem(key, entry);
  } catch (e) { /* no storage here, or a full one */ }
  return shelved('readwrite', (all) => (entry === null ? all.delete(key) : all.put(entry, key)));
}

// The text that was kept last; null for none.
async function kept(key) {
  let own = null;
  try { own = memory.getItem(key); } catch (e) { /* no storage here */ }
  const entries = [own, await shelved('readonly', (all) => all.get(key))].map((text) => {
    try { return JSON.parse(text || 'null'); } catch (e) { return null; }
  }).filter(Array.isArray);
  return entries.length ? entries.reduce((a, b) => (b[0] > a[0] ? b : a))[1] : null;
}
