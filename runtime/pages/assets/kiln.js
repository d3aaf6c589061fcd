// The script of the pages. Without authorization it only copies. With authorization it holds the access token in memory, sends it with
// each request for a page, and puts the answer in place of the present page. Forms that need a script are in tools.js.
'use strict';

const PAGE_MARK = 'Kiln-Page';
const isGuarded = document.body.hasAttribute('data-guarded');

/** The access token; it is never stored. */
let token = '';

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

/** Shows what works with the script alone. */
function prepare() {
  for (const button of document.querySelectorAll('[data-copy]')) button.hidden = false;
  for (const part of document.querySelectorAll('[data-needs-script]')) part.hidden = false;
  for (const part of document.querySelectorAll('[data-without-script]')) part.hidden = true;
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

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-copy]');
  if (button !== null) void copy(button);
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
    void visit(location.href, {}, true);
  } else if (token !== '' && !event.defaultPrevented) {
    event.preventDefault();
    const url = new URL(form.action);
    for (const [name, value] of new FormData(form)) if (value !== '') url.searchParams.append(name, value);
    if (isOwn(url)) void visit(url);
  }
});

if (isGuarded) addEventListener('popstate', () => void visit(location.href, {}, true));

prepare();
