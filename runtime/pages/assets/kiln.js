// The script of the pages. Without authorization it only copies, and runs the console and the forms that POST. With authorization it
// holds the access token in memory, sends it with each request for a page, and puts the answer in place of the present page.
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
  const replay = event.target.closest('[data-replay]');
  if (replay !== null) fillConsole(requests[Number(replay.dataset.replay)]);
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
  } else if (form.id === 'console') {
    event.preventDefault();
    void send(form);
  } else if (form.hasAttribute('data-post')) {
    event.preventDefault();
    void post(form);
  } else if (token !== '') {
    event.preventDefault();
    const url = new URL(form.action);
    for (const [name, value] of new FormData(form)) if (value !== '') url.searchParams.append(name, value);
    if (isOwn(url)) void visit(url);
  }
});

if (isGuarded) addEventListener('popstate', () => void visit(location.href, {}, true));

// The console.

/** What was sent since the page was opened, the oldest first. */
const requests = [];

function fillConsole({ method, path, accept, body }) {
  const form = document.getElementById('console');
  Object.assign(form.elements.method, { value: method });
  Object.assign(form.elements.path, { value: path });
  Object.assign(form.elements.accept, { value: accept });
  Object.assign(form.elements.body, { value: body });
  form.elements.path.focus();
}

async function send(form) {
  const [method, path, accept, body] = ['method', 'path', 'accept', 'body'].map((name) => form.elements[name].value);
  const url = new URL(`${form.dataset.base}/${path.replace(/^\//, '')}`, location.href);
  if (!isOwn(url)) return;
  const hasBody = body !== '' && method !== 'GET' && method !== 'HEAD' && method !== 'DELETE';
  const type =
    method === 'PATCH' && body.trimStart().startsWith('[') ? 'application/json-patch+json' : 'application/fhir+json';
  const start = performance.now();
  const out = document.getElementById('console-answer');
  out.textContent = 'waiting for the answer';
  let line;
  try {
    const answer = await fetch(url, {
      method,
      headers: headersFor({ Accept: accept, ...(hasBody && { 'Content-Type': type }) }),
      ...(hasBody && { body }),
      credentials: 'omit',
      cache: 'no-store',
    });
    const text = await answer.text();
    const shown = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    out.textContent = `${answer.status} ${answer.statusText}\n${shown}\n\n${indented(text)}`;
    line = `${answer.status}, ${Math.round(performance.now() - start)} ms`;
  } catch {
    out.textContent = 'The server did not answer.';
    line = 'no answer';
  }
  requests.push({ method, path, accept, body });
  const item = document.createElement('li');
  const button = document.createElement('button');
  button.type = 'button';
  button.dataset.replay = String(requests.length - 1);
  button.textContent = `${method} ${path}`;
  item.append(button, ` ${line}`);
  document.getElementById('console-history').prepend(item);
}

function indented(text) {
  // Parsed and written, a decimal would lose its trailing zeros, so that only texts without one are.
  if (/\d\.\d*0\b|\d{16}/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// Operations that are called with POST: the fields become a Parameters resource.

async function post(form) {
  const place = ['id', 'type'].reduce(
    (path, name) => path.replace(`[${name}]`, encodeURIComponent(form.elements[`_${name}`]?.value ?? '')),
    form.dataset.post,
  );
  const parameter = [];
  for (const field of form.querySelectorAll('[data-parameter]')) {
    if (field.value === '') continue;
    const { parameter: name, type } = field.dataset;
    try {
      parameter.push({ name, ...typedValue(field.value, type) });
      field.setCustomValidity('');
    } catch {
      field.setCustomValidity('This is not JSON');
      field.reportValidity();
      return;
    }
  }
  const body = JSON.stringify({ resourceType: 'Parameters', ...(parameter.length > 0 && { parameter }) });
  await visit(new URL(place, location.href), {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/fhir+json' },
  });
}

function typedValue(text, type) {
  if (type === 'resource') return { resource: JSON.parse(text) };
  const key = `value${type.charAt(0).toUpperCase()}${type.slice(1)}`;
  if (type === 'boolean') return { [key]: text === 'true' };
  if (/^(?:integer|positiveInt|unsignedInt|decimal)$/.test(type)) return { [key]: Number(text) };
  return { [key]: /^[A-Z]/.test(type) ? JSON.parse(text) : text };
}

prepare();
