// Text: code points, words, dates, checks. Inside the page offsets are UTF-16; in answers they
// count code points.

const WORDS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}\p{M}]+(?:['\u2019.][\p{L}\p{N}\p{M}]+)*/gu;
// White space as Python has it, and the byte order mark.
const SPACE = /[\s\x1c-\x1f\x85]+/g;
const AROUND = /^[\s\x1c-\x1f\x85]+|[\s\x1c-\x1f\x85]+$/g;
const MONTH = '(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\\.?';
const DATES = new RegExp(
  '(?<![\\w+])(?:\\d{1,2}(?:st|nd|rd|th)? ' + MONTH + '(?:,? \\d{4})?|' + MONTH +
  ' \\d{1,2}(?:st|nd|rd|th)?(?:,? \\d{4})?|' + MONTH + ' \\d{4}|\\d{4}-\\d{2}-\\d{2}|' +
  '(?:1[0-9]|20)\\d{2}s?)(?![\\d\\w])', 'g');
const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

function toCodePoints(text, end) {
  let count = 0;
  for (let i = 0; i < end; i += text.codePointAt(i) > 0xffff ? 2 : 1) count += 1;
  return count;
}

function toUnits(text, count) {
  let i = 0;
  for (; count > 0 && i < text.length; count -= 1) i += text.codePointAt(i) > 0xffff ? 2 : 1;
  return i;
}

// Text as it is handed in: trimmed, no half of a surrogate pair.
function clean(text) {
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd').replace(AROUND, '');
}

function found(pattern, text) {
  return Array.from(text.matchAll(pattern), (m) => [m.index, m.index + m[0].length]);
}

// [start, end) without blanks at its ends, and with the whole of the words it cuts.
function snapped(text, words, start, end) {
  while (start < end && /\s/.test(text[start])) start += 1;
  while (end > start && /\s/.test(text[end - 1])) end -= 1;
  for (const [from, to] of words) {
    if (from < start && start < to) start = from;
    if (from < end && end < to) end = to;
  }
  if (start > 0 && isLow(text, start)) start -= 1;
  if (isLow(text, end)) end += 1;
  return [start, end];
}

function isLow(text, i) {
  const unit = text.charCodeAt(i);
  return unit >= 0xdc00 && unit < 0xe000;
}

// 2020-05-06, or UTC seconds, in words.
function longDay(value) {
  const day = typeof value === 'number' ? new Date(value * 1000) : new Date(String(value) + 'T00:00:00Z');
  if (isNaN(day)) return String(value);
  return DAYS[day.getUTCDay()] + ', ' + day.getUTCDate() + ' ' + MONTHS[day.getUTCMonth()] + ' ' + day.getUTCFullYear();
}

// A date of a release at its precision: 2019-07, 2019, 201X, or two days with a stroke between.
function partialDay(value) {
  const text = String(value);
  if (text.includes('/')) return 'between ' + text.split('/').map(partialDay).join(' and ');
  if (/^\d{3}X$/.test(text)) return 'the ' + text.slice(0, 3) + '0s';
  const [, year, month, day] = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$/.exec(text) || [];
  if (!year) return text;
  return [day && Number(day), month && MONTHS[month - 1], Number(year)].filter(Boolean).join(' ');
}

// The text of whatever a field or an answer holds.
function textOf(value) {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(textOf).join('\n');
  if (typeof value === 'object') return String(value.text === undefined ? '' : value.text);
  return String(value);
}

function squashed(text) {
  return text.toLowerCase().replace(SPACE, ' ').trim();
}

// Words for comparison: [as written, lower case without a final 's or apostrophe, offset].
function tokens(text) {
  return Array.from(text.matchAll(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'\u2019]*/gu), (m) => [
    m[0], m[0].toLowerCase().replace(/['\u2019]s?$/, ''), m.index]);
}

// Where whole words of a text are some other words, as written: [start, end) each.
function wholes(text, words) {
  const out = [];
  const own = tokens(text).map(([w, , at]) => [at, at + w.length]);
  for (let at = text.indexOf(words); words && at >= 0; at = text.indexOf(words, at + 1)) {
    const end = at + words.length;
    const met = own.filter(([a, b]) => a < end && b > at);
    if (met.length && met.every(([a, b]) => a >= at && b <= end)) out.push([at, end]);
  }
  return out;
}

function telling(pairs) {
  return pairs.filter((p) => /^\p{Lu}|\p{N}/u.test(p[0]));
}

function lacking(wanted, text) {
  const have = new Set(tokens(text).map((p) => p[1]));
  return Array.from(new Set(wanted.filter((p) => !have.has(p[1])).map((p) => p[0])));
}

function listed(words, last) {
  return words.length < 2 ? words.join('') : words.slice(0, -1).join(', ') + ' ' + last + ' ' + words[words.length - 1];
}

// The rules of a check, by name: what each says, and what is wrong with a text ('' for nothing).
// `annotation/checks.py` has the same ones; tests/annotation_checks.json holds the two together.
function rules(check, look) {
  const out = [];
  const add = (name, says, wrong) => out.push({ name, says, wrong });
  if (check.starts_with.length) {
    const says = 'Starts with ' + listed(check.starts_with, 'or');
    add('starts_with', says, (t) => check.starts_with.some((w) => {
      const rest = t.slice(w.length);
      return t.slice(0, w.length).toLowerCase() === w.toLowerCase() && !/^[\p{L}\p{N}]/u.test(rest);
    }) ? '' : says);
  }
  if (check.has_word.length) {
    const says = 'Has ' + listed(check.has_word, 'or') + ' in it';
    add('has_word', says, (t) => (tokens(t).some((p) => check.has_word.includes(p[1])) ? '' : says));
  }
  if (check.ends_with) {
    const says = 'Ends with "' + check.ends_with + '"';
    add('ends_with', says, (t) => (t.endsWith(check.ends_with) ? '' : says));
  }
  if (check.contains_once) {
    const says = 'Has ' + check.contains_once + ' once';
    add('contains_once', says, (t) => (t.split(check.contains_once).length === 2 ? '' : says));
  }
  if (check.excludes.length) {
    const says = 'Does not say ' + listed(check.excludes.map((w) => '"' + w + '"'), 'or');
    const holds = (t, w) => (w === w.toLowerCase() ? t.toLowerCase() : t).includes(w);
    add('excludes', says, (t) => (check.excludes.some((w) => holds(t, w)) ? says : ''));
  }
  if (check.not_field) {
    const says = 'Is not the same as "' + named(check.not_field) + '"';
    add('not_field', says, (t) => {
      const other = squashed(textOf(look(check.not_field)));
      return other && squashed(t).includes(other) ? says : '';
    });
  }
  if (check.has_field) {
    const says = 'Has "' + named(check.has_field) + '" in it';
    add('has_field', says, (t) => (squashed(t).includes(squashed(textOf(look(check.has_field)))) ? '' : says));
  }
  if (check.words_from) {
    add('words_from', 'Adds no name or number', (t) => {
      const more = lacking(telling(tokens(t).slice(1)), textOf(look(check.words_from)));
      return more.length ? 'Not in "' + named(check.words_from) + '": ' + more.join(', ') : '';
    });
  }
  if (check.keeps_words) {
    add('keeps_words', 'Keeps every name and number', (t) => {
      const from = textOf(look(check.keeps_words));
      const first = /^[^\p{L}\p{N}_]*[\p{L}\p{N}]/u.test(from) ? 1 : 0;
      const less = lacking(telling(tokens(from.replace(/\[[^\]]*\]/g, ' ')).slice(first)), t);
      return less.length ? 'Missing: ' + less.join(', ') : '';
    });
  }
  if (check.rewords) {
    add('rewords', 'Says what "' + named(check.rewords) + '" says, no less and no more', (t) => (
      rewordingProblem(textOf(look(check.rewords)), t, check.dated_by ? textOf(look(check.dated_by)) : '')));
  }
  if (check.gap.length) {
    const says = 'Has one gap, such as [BLANK-' + check.gap[0] + ']';
    add('gap', says, (t) => ((t.match(/\[BLANK(?:-[A-Z]*)?\]?/g) || []).length === 1 && check.gap.some((k) => t.includes('[BLANK-' + k + ']')) ? '' : says));
  }
  if (check.keeps_numbers) {
    add('keeps_numbers', 'Keeps every number and year', (t) => {
      const less = lacking(tokens(textOf(look(check.keeps_numbers))).filter((p) => /\p{N}/u.test(p[0])), t);
      return less.length ? 'Missing: ' + less.join(', ') : '';
    });
  }
  if (check.min_length > 1) {
    const says = 'At least ' + check.min_length + ' characters';
    add('min_length', says, (t) => (toCodePoints(t, t.length) < check.min_length ? says : ''));
  }
  return out;
}
