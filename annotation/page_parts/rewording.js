// Whether a question says what a statement says, in its own words: `annotation/rewording.py` has the
// same rules, and says why; its word lists are in `settings.words`.

// What a question adds to a statement or leaves out; '' for nothing. `day` is the article's.
function rewordingProblem(statement, question, day) {
  const dotless = (text) => text.replace(/(?:[A-Z]\.){2,}/g, (dotted) => dotted.replace(/\./g, ''));
  const gap = /\[[^\]]*\]/.exec(statement);
  const behind = gap ? wordsOf(statement.slice(gap.index + gap[0].length), new Set())[0] : null;
  statement = dotless(statement.replace(/\[[^\]]*\]/g, ' '));
  question = dotless(question);
  const written = new Set(tokens(statement).map((t) => t[0]));
  const acronyms = new Set([statement, question].flatMap((t) => t.match(/[A-Z]{2,6}/g) || []).filter((t) => written.has(t)));
  const allSaid = wordsOf(statement, acronyms), allAsked = wordsOf(question, acronyms);
  const lost = unexplained(allSaid, allAsked).filter((w) => !allAsked.some((o) => isSame(w, o)));
  let added = unexplained(allAsked, allSaid).filter((w) => !allSaid.some((o) => isSame(w, o)));
  const dated = dateWords(question, day), free = categoryWords(allAsked, added, behind ? behind.key : '');
  added = added.filter((w) => !dated.has(w.written) && !free.includes(w));
  const lostFacts = lost.filter((w) => w.telling), addedFacts = added.filter((w) => w.telling);
  const listing = (says, words) => says + ': ' + Array.from(new Set(words.map((w) => w.written))).join(', ');
  if (lostFacts.length) return listing('Missing', lostFacts);
  if (addedFacts.length) return listing('Not in the statement', addedFacts);
  if (lost.length && (!added.length || lost.length > 2)) return listing('Missing', lost);
  if (added.length > lost.length + (lost.length ? 1 : 0)) return listing('Not in the statement', added);
  return '';
}

function wordsOf(text, acronyms) {
  const lists = settings.words;
  return tokens(text).map(([written, lower], place) => {
    const number = lists.numbers.indexOf(lower);
    let key = number < 0 ? lower : String(number + 2);
    const ordinal = /^([0-9]+)(?:st|nd|rd|th)$/.exec(key);
    key = ordinal ? ordinal[1] : (lists.verbs.find((forms) => forms.includes(key)) || [key])[0];
    const small = lists.small.includes(lower) && !acronyms.has(written);
    const capital = /^\p{Lu}/u.test(written) && (place > 0 || acronyms.has(written));
    return { written, key, small, telling: !small && (capital || /\p{N}/u.test(key)) };
  });
}

// Whether two words are one, or forms of one: a name or a number has to be the same.
function isSame(word, other) {
  if (word.key === other.key) return true;
  if (word.telling || other.telling) return false;
  let alike = 0;
  while (alike < word.key.length && word.key[alike] === other.key[alike]) alike += 1;
  const shorter = Math.min(word.key.length, other.key.length);
  return (alike >= 4 && alike >= shorter - 2) || (alike === shorter && shorter === 3);
}

// The words that count, without acronyms that the other text writes out, or the reverse.
function unexplained(words, others) {
  const acronyms = (list) => list.map((w) => w.written).filter((w) => /^[A-Z]{2,6}$/.test(w));
  const writtenOut = acronyms(words).filter((a) => expansion(a, others).length);
  const expanded = new Set(acronyms(others).flatMap((a) => expansion(a, words)));
  return words.filter((w, place) => !w.small && !expanded.has(place) && !writtenOut.includes(w.written));
}

// The places of the words whose first letters are an acronym; small ones between are free.
function expansion(acronym, words) {
  for (let start = 0; start < words.length; start += 1) {
    const places = [];
    for (let place = start; place < words.length; place += 1) {
      if (words[place].written[0] === acronym[places.length]) places.push(place);
      else if (!words[place].small || !places.length) break;
      if (places.length === acronym.length) return places;
    }
  }
  return [];
}

// New words right behind a question word, which say what is asked for.
function categoryWords(asked, added, noun) {
  const out = [];
  asked.forEach((word, place) => {
    if (!['what', 'which', 'whose', 'many', 'much'].includes(word.key)) return;
    const fresh = [];
    let modified = false;
    for (const next of asked.slice(place + 1)) {
      if (added.includes(next) && !next.telling) fresh.push(next);
      else if (!(next.small && ['kind', 'type', 'sort', 'of', 'many', 'much'].includes(next.key))) {
        const isNoun = next.key === noun;
        modified = ['many', 'much'].includes(word.key) ? isNoun : !(next.small || isNoun || owns(fresh));
        break;
      }
    }
    if (!modified) out.push(...fresh.slice(0, 2));
  });
  return out;
}

// Whether the last of some words owns what follows: "which company's order".
function owns(words) {
  return words.length > 0 && /['\u2019]s?$/.test(words[words.length - 1].written);
}

// The words of a question's dates that fit the article's day, as written.
function dateWords(question, day) {
  const months = settings.words.months, out = new Set();
  const last = Date.parse(String(day).slice(0, 10) + 'T00:00:00Z');
  if (isNaN(last)) return out;
  const days = Array.from({ length: 8 }, (_, back) => new Date(last - back * 86400000));
  const month = '(' + months.join('|') + ')';
  const dates = new RegExp('(?:\\b([0-9]{1,2})(?:st|nd|rd|th)? )?\\b' + month + '\\b(?: ([0-9]{1,2})(?:st|nd|rd|th)?\\b)?(?:,? ([12][0-9]{3})\\b)?|\\b([12][0-9]{3})\\b', 'g');
  for (const [whole, front, name, back, year, lone] of question.matchAll(dates)) {
    const number = Number(front || back || 0), inYear = Number(year || lone || 0);
    const fits = (d) => (!number || number === d.getUTCDate()) && (!name || name === months[d.getUTCMonth()]) && (!inYear || inYear === d.getUTCFullYear());
    if (days.some(fits)) for (const [word] of tokens(whole)) out.add(word);
  }
  return out;
}
