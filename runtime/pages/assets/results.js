// What makes work with results shorter: requests to copy, counts, what refers to a resource, filters of lists, the URL of a search while it
// is put together. This file comes before kiln.js, whose functions it calls once a page is shown.
/* global element, headersFor, isGuarded, isOwn, token */
'use strict';

document.addEventListener('kiln-shown', () => {
  markPresent();
  for (const place of document.querySelectorAll('[data-request]')) {
    place.replaceChildren(copyForms({ url: new URL(place.dataset.request, location.href), ...place.dataset }));
  }
  for (const list of document.querySelectorAll('ul.types, [data-long]')) addFilter(list);
  const search = document.querySelector('form[data-search]');
  if (search !== null) addFilter(search.querySelector('.fields'));
  for (const field of document.querySelectorAll('[data-date]')) addDatePicker(field);
  const counts = document.querySelector('[data-counts]');
  if (counts !== null) void showCounts(counts);
  if (search !== null) {
    for (const field of search.querySelectorAll('.parameter')) addAnother(field);
    showUrl(search);
  }
  void nameReferences();
});

document.addEventListener('input', (event) => {
  const { target } = event;
  const form = target.closest('form[data-search]');
  if (form !== null) showUrl(form);
  if (target.dataset.filter !== undefined) filterList(target);
});

document.addEventListener('change', (event) => {
  const form = event.target.closest('form[data-search]');
  if (form !== null) showUrl(form);
  const { pick } = event.target.dataset;
  if (pick === undefined || event.target.value === '') return;
  // The last of several fields of one parameter.
  [...form.querySelectorAll(`[name="${pick}"]`)].at(-1).value = event.target.value;
  showUrl(form);
});

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-referrers]');
  if (button !== null) void showReferrers(button);
  const another = event.target.closest('[data-another]');
  if (another !== null) repeat(another);
});

async function fetchJson(url, options = {}) {
  try {
    const headers = headersFor({ Accept: 'application/fhir+json', ...options.headers });
    const answer = await fetch(url, { ...options, headers, credentials: 'omit', cache: 'no-store' });
    return answer.ok ? await answer.json() : undefined;
  } catch {
    return undefined;
  }
}

/** Marks the link of the bar that leads to the present page. */
function markPresent() {
  const links = [...document.querySelectorAll('.bar nav a')];
  const here = links.filter(
    (link) => isOwn(new URL(link.href)) && location.pathname.startsWith(new URL(link.href).pathname),
  );
  for (const link of links) link.removeAttribute('aria-current');
  here[0]?.setAttribute('aria-current', 'page');
}

// Requests to copy.

let copies = 0;

/** The forms of a request: for a shell, for fetch, and for the typed client. None of them has the token. */
function copyForms({
  url,
  method = 'GET',
  body = '',
  contentType = 'application/fhir+json',
  accept = 'application/fhir+json',
}) {
  const parts = { url, method, body, contentType, accept };
  const forms = { curl: curlOf(parts), fetch: fetchOf(parts), 'kiln/client': clientOf(parts) };
  const box = element('details', '', { className: 'copy-as' });
  box.append(element('summary', 'Copy as curl, fetch or kiln/client', {}));
  for (const [name, text] of Object.entries(forms)) {
    const id = `copy-${++copies}`;
    const row = element('div', '', { className: 'copy' });
    const code = element('pre', text, { className: 'code', id, tabIndex: 0 });
    code.setAttribute('aria-label', `As ${name}`);
    const button = element('button', `Copy ${name}`, { type: 'button' });
    button.dataset.copy = id;
    row.append(code, button);
    box.append(row);
  }
  return box;
}

/** A word of a POSIX shell. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function curlOf({ url, method, body, contentType, accept }) {
  return [
    'curl',
    ...(method === 'GET' ? [] : method === 'HEAD' ? ['--head'] : ['-X', method]),
    '-H',
    quoted(`Accept: ${accept}`),
    ...(isGuarded ? ['-H', '"Authorization: Bearer $TOKEN"'] : []),
    ...(body === '' ? [] : ['-H', quoted(`Content-Type: ${contentType}`), '--data-binary', quoted(body)]),
    quoted(url.href),
  ].join(' ');
}

function fetchOf({ url, method, body, contentType, accept }) {
  const headers = [
    `Accept: ${JSON.stringify(accept)}`,
    ...(isGuarded ? ['Authorization: `Bearer ${token}`'] : []),
    ...(body === '' ? [] : [`'Content-Type': ${JSON.stringify(contentType)}`]),
  ];
  const lines = [
    ...(method === 'GET' ? [] : [`  method: ${JSON.stringify(method)},`]),
    `  headers: { ${headers.join(', ')} },`,
    ...(body === '' ? [] : [`  body: ${JSON.stringify(body)},`]),
  ];
  return `const response = await fetch(${JSON.stringify(url.href)}, {\n${lines.join('\n')}\n});`;
}

function clientOf({ url, method, body, contentType }) {
  const { fhir } = document.body.dataset;
  const rest = url.pathname.slice(fhir.length + 1);
  const read = /^([A-Z][A-Za-z]+)\/([A-Za-z0-9\-.]{1,64})$/.exec(rest);
  if (method === 'GET' && read !== null && url.search === '') return `await client.read('${read[1]}', '${read[2]}');`;
  if (method === 'GET' && /^[A-Z][A-Za-z]+$/.test(rest)) {
    const criteria = new Map();
    for (const [name, value] of url.searchParams) criteria.set(name, [...(criteria.get(name) ?? []), value]);
    const members = [...criteria].map(
      ([name, values]) => `${JSON.stringify(name)}: ${JSON.stringify(values.length === 1 ? values[0] : values)}`,
    );
    return `for await (const resource of client.search('${rest}', { ${members.join(', ')} })) console.log(resource.id);`;
  }
  const members = [
    ...(method === 'GET' ? [] : [`method: ${JSON.stringify(method)}`]),
    `path: ${JSON.stringify(rest + url.search)}`,
    ...(body === '' ? [] : [`body: ${JSON.stringify(body)}`, `contentType: ${JSON.stringify(contentType)}`]),
  ];
  return `const { body } = await client.request({ ${members.join(', ')} });`;
}

// Lists.

/** Lists of fewer items are seen at a glance. */
const LONG = 8;

/** A field that hides the items of a list, or the rows of a table, that do not have its text. */
function addFilter(list) {
  if (itemsIn(list).length < LONG) return;
  if (list.previousElementSibling?.querySelector('[data-filter]')) return;
  const field = element('label', 'Filter ', { className: 'filter' });
  const input = element('input', '', { type: 'search', autocomplete: 'off', spellcheck: false });
  input.dataset.filter = '';
  field.append(input);
  const around = element('p', '', {});
  around.append(field);
  list.before(around);
}

const itemsIn = (list) => [...(list.querySelector('tbody') ?? list).children];

function filterList(input) {
  const text = input.value.trim().toLowerCase();
  for (const item of itemsIn(input.closest('p').nextElementSibling)) {
    // Modifiers and codes that may be picked are no text of a field.
    const parts = item.localName === 'fieldset' ? item.querySelectorAll('legend, .about') : [item];
    const words = [...parts].map((part) => part.textContent).join(' ');
    item.hidden = !words.toLowerCase().includes(text);
  }
}

/** How many resources there are of each type, on the start page. */
async function showCounts(place) {
  if (isGuarded && token === '') return;
  const found = await fetchJson(new URL(`${place.dataset.counts}/$get-resource-counts`, location.href));
  const counts = (found?.parameter ?? [])
    .map(({ name, valueInteger, valueUnsignedInt, valueInteger64 }) => [
      name,
      Number(valueInteger ?? valueUnsignedInt ?? valueInteger64),
    ])
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a);
  if (counts.length === 0) return;
  const list = element('ul', '', { className: 'types' });
  for (const [type, count] of counts) {
    const item = element('li', '', {});
    item.append(element('a', type, { href: `${place.dataset.counts}/${type}` }), ` ${count.toLocaleString('en')}`);
    list.append(item);
  }
  place.replaceChildren(element('h2', 'Resources', {}), list);
  addFilter(list);
}

/** Counts what refers to a resource, by type and parameter: one batch of counts. */
async function showReferrers(button) {
  const { base, referrers, target } = button.dataset;
  const place = button.closest('section');
  button.disabled = true;
  const parameters = referrers.split(' ').map((each) => each.split(':'));
  const urlOf = ([type, code]) => `${type}?${code}=${target}`;
  const entry = parameters.map((each) => ({ request: { method: 'GET', url: `${urlOf(each)}&_summary=count` } }));
  const found = await fetchJson(new URL(base, location.href), {
    method: 'POST',
    headers: { 'Content-Type': 'application/fhir+json' },
    body: JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry }),
  });
  button.disabled = false;
  const list = element('ul', '', {});
  for (const [at, { resource }] of (found?.entry ?? []).entries()) {
    if (!(resource?.total > 0)) continue;
    const item = element('li', '', {});
    const [type, code] = parameters[at];
    item.append(element('a', type, { href: `${base}/${urlOf(parameters[at])}` }), ` by ${code}: ${resource.total}`);
    list.append(item);
  }
  const none =
    found === undefined ? 'The server did not answer, or refused it.' : 'Nothing refers to it that you may read.';
  place.querySelector('.referrers').replaceChildren(list.children.length > 0 ? list : element('p', none, {}));
}

/** Names that are asked for on one page. */
const NAMED = 50;

const REFERENCE = /^([A-Z][A-Za-z]+)\/([A-Za-z0-9\-.]{1,64})$/;

/** Shows what bare references of a table lead to by name: one batch of searches, one for each type. */
async function nameReferences() {
  const cells = [...document.querySelectorAll('main td a')].filter((link) => REFERENCE.test(link.textContent));
  const byType = new Map();
  for (const reference of [...new Set(cells.map((link) => link.textContent))].slice(0, NAMED)) {
    const [, type, id] = REFERENCE.exec(reference);
    byType.set(type, [...(byType.get(type) ?? []), id]);
  }
  if (byType.size === 0) return;
  const entry = [...byType].map(([type, ids]) => ({
    request: { method: 'GET', url: `${type}?_id=${ids.join(',')}&_summary=true&_count=${ids.length}` },
  }));
  const found = await fetchJson(new URL(document.body.dataset.fhir || '/', location.href), {
    method: 'POST',
    headers: { 'Content-Type': 'application/fhir+json' },
    body: JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry }),
  });
  const names = new Map();
  for (const { resource } of (found?.entry ?? []).flatMap((each) => each.resource?.entry ?? [])) {
    names.set(`${resource.resourceType}/${resource.id}`, nameIn(resource));
  }
  for (const link of cells) {
    const name = names.get(link.textContent);
    if (name === undefined) continue;
    link.title = link.textContent;
    link.textContent = name;
    // A name may be long where its reference was not.
    link.closest('td').classList.remove('short');
  }
}

/** What people call a resource; undefined: it has no name. */
function nameIn({ title, name, code }) {
  const first = title ?? (Array.isArray(name) ? name[0] : name);
  if (typeof first === 'string') return first;
  if (first !== undefined) return first.text ?? [...(first.given ?? []), first.family].filter(Boolean).join(' ');
  return code?.text ?? code?.coding?.[0]?.display;
}

// The form of a search.

/** A button for one more value of a parameter: all values have to match. */
function addAnother(field) {
  if (field.querySelector('[data-another]') !== null) return;
  const button = element('button', 'and', { type: 'button', className: 'link' });
  button.dataset.another = '';
  button.setAttribute('aria-label', `and another value of ${field.querySelector('input').name.slice(2)}`);
  field.querySelector('.inline').append(button);
}

function repeat(button) {
  const input = button.closest('.inline').querySelector('input[name^="v."]').cloneNode();
  input.value = '';
  button.before(input);
  input.focus();
}

/** The address of the search as it is now. */
function showUrl(form) {
  const query = [];
  for (const [name, value] of new FormData(form)) {
    if (!name.startsWith('v.') || value.trim() === '') continue;
    const code = name.slice(2);
    const modifier = form.elements[`m.${code}`]?.value ?? '';
    const prefix = form.elements[`p.${code}`]?.value ?? '';
    query.push(`${modifier === '' ? code : `${code}:${modifier}`}=${encodeURIComponent(prefix + value.trim())}`);
  }
  const more = form.elements.more.value;
  const all = [...query, ...(more === '' ? [] : [more])].join('&');
  const url = new URL(form.dataset.search, location.href).href;
  document.getElementById('search-url').textContent = all === '' ? url : `${url}?${all}`;
}

/** A calendar beside a field that takes dates of any precision. */
function addDatePicker(field) {
  const picker = element('input', '', { type: 'date' });
  picker.setAttribute('aria-label', `Pick a date for ${field.name.slice(2)}`);
  picker.dataset.pick = field.name;
  if (field.nextElementSibling === null) field.after(picker);
}
