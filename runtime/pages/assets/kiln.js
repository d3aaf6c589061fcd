// The script of the pages. Without authorization it only copies. With authorization it holds the access token, sends it with
// each request for a page, and puts the answer in place of the present page. Forms that need a script are in tools.js.
'use strict';

const PAGE_MARK = 'Kiln-Page';
const isGuarded = document.body.hasAttribute('data-guarded');

/** The access token. It is stored only where the page offers that, and for this tab alone. */
let token = '';

const KEPT = 'kiln-token';

/** Whether a token may be kept: the server allows it, and it is this machine. */
const mayKeep =
  document.querySelector('[data-forget]') !== null && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(location.hostname);

/** Absent where the browser is set to store nothing. */
function storage() {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

/** What a tab kept while it was allowed goes as soon as it is not. */
function restoreToken() {
  if (!mayKeep) return storage()?.removeItem(KEPT);
  token = storage()?.getItem(KEPT) ?? '';
  const form = document.getElementById('token-form');
  form.elements.keep.checked = token !== '';
  for (const part of form.querySelectorAll('[data-token-kept]')) part.hidden = false;
}

function forgetToken() {
  token = '';
  storage()?.removeItem(KEPT);
  location.reload();
}

function headersFor(more) {
  return token === '' ? more : { ...more, Authorization: `Bearer ${token}` };
}

/** Only this server gets the token. */
function isOwn(url) {
  return url.origin === location.origin;
}

/** Requests a page and shows it. */
async function visit(url, options = {}, isBack = false) {
  const state = document.getElementById('token-state');
  if (state !== null) state.textContent = 'loading';
  try {
    const answer = await fetch(url, {
      ...options,
      headers: headersFor({ Accept: 'text/html', ...options.headers }),
      credentials: 'omit',
      cache: 'no-store',
    });
    await show(answer);
    if (!isBack && (options.method ?? 'GET') === 'GET') history.pushState({}, '', answer.url);
    if (state !== null) state.textContent = answer.status === 401 ? 'not accepted' : token === '' ? '' : 'in use';
  } catch {
    if (state !== null) state.textContent = 'no answer';
  }
}

/** Only pages of this server are shown as such: content that was uploaded is not, whatever it says it is. */
async function show(answer) {
  const main = document.getElementById('main');
  if (answer.headers.get(PAGE_MARK) !== null) {
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    document.title = page.title;
    main.replaceChildren(...document.importNode(page.getElementById('main'), true).childNodes);
  } else if (answer.status === 202) {
    // Its state is a request of its own; the list of jobs shows it too.
    const state = answer.headers.get('Content-Location');
    const words = element('p', 'The server works on it. ', {});
    if (state !== null) words.append(element('a', 'Its state', { href: new URL(state, location.href).href }), ', ');
    words.append(element('a', 'all jobs', { href: document.querySelector('.bar a[href$="/jobs"]').href }));
    main.replaceChildren(element('h1', 'Started', {}), words);
  } else if (/^text\/csv\b/.test(answer.headers.get('Content-Type') ?? '')) {
    main.replaceChildren(element('h1', 'Rows', {}), csvTable(await answer.text()));
  } else if ((answer.headers.get('Content-Disposition') ?? '').startsWith('attachment')) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(await answer.blob());
    link.download = 'content';
    link.textContent = 'Save the content';
    main.replaceChildren(link);
  } else {
    const text = document.createElement('pre');
    text.className = 'code';
    text.textContent = await answer.text();
    main.replaceChildren(text);
  }
  prepare();
  main.focus();
  scrollTo(0, 0);
}

/** Shows what works with the script alone, and tells the other scripts that there is another page. */
function prepare() {
  for (const button of document.querySelectorAll('[data-copy]')) button.hidden = false;
  for (const part of document.querySelectorAll('[data-needs-script]')) part.hidden = false;
  for (const part of document.querySelectorAll('[data-without-script]')) part.hidden = true;
  document.dispatchEvent(new Event('kiln-shown'));
}

/** A table of comma-separated values, whose lines all end with LF. https://www.rfc-editor.org/rfc/rfc4180 */
function csvTable(text) {
  const table = element('table', '', {});
  table.append(...csvRows(text).map((fields) => tableRow('td', fields)));
  const around = element('div', '', { className: 'scroll', tabIndex: 0, role: 'region', ariaLabel: 'Rows' });
  around.append(table);
  return around;
}

function csvRows(text) {
  return (text.match(/(?:"(?:[^"]|"")*"|[^"\n])*\n/g) ?? []).map((line) =>
    [...`,${line.slice(0, -1)}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
      ([, inner, plain]) => inner?.replaceAll('""', '"') ?? plain,
    ),
  );
}

function tableRow(cell, fields) {
  const row = element('tr', '', {});
  row.append(...fields.map((field) => element(cell, field, {})));
  return row;
}

async function copy(button) {
  const text = document.getElementById(button.dataset.copy).textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    getSelection().selectAllChildren(document.getElementById(button.dataset.copy));
    button.textContent = 'Press Ctrl+C';
  }
}

// The rest of a large resource.

/** Fetches the JSON of a resource of which the page has the beginning, and shows all of it with its narrative. */
async function showAll(button) {
  button.textContent = 'loading';
  let text;
  try {
    const url = new URL(button.dataset.showAll, location.href);
    const headers = headersFor({ Accept: 'application/fhir+json' });
    const answer = await fetch(url, { headers, credentials: 'omit', cache: 'no-store' });
    if (!answer.ok) throw new Error(String(answer.status));
    text = await answer.text();
  } catch {
    button.textContent = 'No answer. Try again';
    return;
  }
  const code = document.querySelector('main pre.code code');
  code.replaceChildren(...jsonNodes(text, button.dataset.base));
  const div = JSON.parse(text).text?.div;
  const note = button.closest('.cut');
  if (div !== undefined && document.querySelector('iframe.narrative') === null) note.before(...narrativeNodes(div));
  note.remove();
  code.tabIndex = -1;
  code.focus();
}

/** Names are marked in texts up to this length: each mark is a node. */
const MARKED = 300_000;

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const LOCAL = /^"([A-Z][A-Za-z]{1,63}\/[A-Za-z0-9\-.]{1,64}(?:\/_history\/[A-Za-z0-9\-.]{1,64})?)"$/;

/** Indented JSON as nodes, with references as links. Tokens are shown as they came: numbers keep their zeros. */
function jsonNodes(text, base) {
  const nodes = [];
  let plain = '';
  const add = (node) => {
    nodes.push(plain, node);
    plain = '';
  };
  const tokens = text.match(TOKEN) ?? [];
  let indent = '\n';
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    if (token === '{' || token === '[') {
      indent += '  ';
      plain += token + indent;
    } else if (token === '}' || token === ']') {
      indent = indent.slice(0, -2);
      plain += indent + token;
    } else if (token === ',') plain += token + indent;
    else if (token === ':') plain += ': ';
    else if (tokens[i + 1] === ':' && text.length <= MARKED) add(element('span', token, { className: 'k' }));
    else {
      const [, local] = (tokens[i - 2] === '"reference"' && tokens[i - 1] === ':' && LOCAL.exec(token)) || [];
      if (local === undefined) plain += token;
      else add(element('a', token, { href: `${base}/${local}` }));
    }
  }
  return [...nodes, plain];
}

/** The frame is as the server makes it: without any right. */
function narrativeNodes(div) {
  const style = document
    .querySelector('link[rel=stylesheet]')
    .getAttribute('href')
    .replace('kiln.css', 'narrative.css');
  const frame = element('iframe', '', { className: 'narrative long', title: 'Narrative' });
  frame.setAttribute('sandbox', '');
  frame.srcdoc = `<!doctype html><html lang="en"><head><title>Narrative</title><link rel="stylesheet" href="${style}"></head><body>${div}</body></html>`;
  return [element('h2', 'Narrative', {}), frame];
}

function element(name, text, properties) {
  const node = Object.assign(document.createElement(name), properties);
  node.textContent = text;
  return node;
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-copy]');
  if (button !== null) void copy(button);
  if (event.target.closest('[data-forget]') !== null) forgetToken();
  const more = event.target.closest('[data-show-all]');
  if (more !== null) void showAll(more);
  const link = event.target.closest('a[href]');
  if (link === null || token === '' || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const url = new URL(link.href);
  const isElsewhere =
    link.target === '_blank' || link.getAttribute('href').startsWith('#') || link.hasAttribute('download');
  if (!isOwn(url) || isElsewhere) return;
  event.preventDefault();
  void visit(url);
});

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (form.id === 'token-form') {
    event.preventDefault();
    const field = document.getElementById('token');
    token = field.value.trim();
    field.value = '';
    if (mayKeep && form.elements.keep.checked) storage()?.setItem(KEPT, token);
    else storage()?.removeItem(KEPT);
    void visit(location.href, {}, true);
  } else if (token !== '' && !event.defaultPrevented) {
    event.preventDefault();
    const url = new URL(form.action);
    for (const [name, value] of new FormData(form)) if (value !== '') url.searchParams.append(name, value);
    if (isOwn(url)) void visit(url);
  }
});

if (isGuarded) addEventListener('popstate', () => void visit(location.href, {}, true));

if (isGuarded) restoreToken();
prepare();
// What a browser opens by itself comes without the token.
if (token !== '' && document.querySelector('[data-needs-token]') !== null) void visit(location.href, {}, true);
