// Forms of the pages that need a script: the console, GraphQL, and operations that are called with POST. This file comes before kiln.js,
// whose functions it calls once a form is sent.
/* global copyForms, headersFor, isOwn, visit */
'use strict';

document.addEventListener('submit', (event) => {
  const form = event.target;
  const handle =
    form.id === 'console' ? send : form.id === 'graphql' ? ask : form.hasAttribute('data-post') ? post : undefined;
  if (handle === undefined) return;
  event.preventDefault();
  void handle(form);
});

document.addEventListener('click', (event) => {
  const replay = event.target.closest('[data-replay]');
  if (replay !== null) fillConsole(requests[Number(replay.dataset.replay)]);
  const field = event.target.closest('[data-insert]');
  if (field !== null) insertField(field.dataset.insert);
  const type = event.target.closest('[data-schema-type]');
  if (type !== null) void showType(type.dataset.schemaType);
});

document.addEventListener('change', (event) => {
  if (event.target.id === 'graphql-type' && event.target.value !== '') void showType(event.target.value);
});

document.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  if (event.target.localName !== 'textarea') return;
  event.preventDefault();
  event.target.form?.requestSubmit();
});

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
  const sent = { url, method, accept, ...(hasBody && { body, contentType: type }) };
  document.getElementById('console-copy').replaceChildren(copyForms(sent));
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
  const url = new URL(place, location.href);
  await visit(url, { method: 'POST', body, headers: { 'Content-Type': 'application/fhir+json' } });
  for (const old of document.querySelectorAll('main > [data-request]')) old.remove();
  document.querySelector('main h1')?.after(copyForms({ url, method: 'POST', body }));
}

function typedValue(text, type) {
  if (type === 'resource') return { resource: JSON.parse(text) };
  const key = `value${type.charAt(0).toUpperCase()}${type.slice(1)}`;
  if (type === 'boolean') return { [key]: text === 'true' };
  if (/^(?:integer|positiveInt|unsignedInt|decimal)$/.test(type)) return { [key]: Number(text) };
  return { [key]: /^[A-Z]/.test(type) ? JSON.parse(text) : text };
}

// GraphQL.

/** The URL of GraphQL on the system, or on the resource that the form names. */
function graphqlUrl(form) {
  const place = form.elements.place.value.trim().replace(/^\/+|\/+$/g, '');
  const path = place === '' ? '' : `/${place.split('/').map(encodeURIComponent).join('/')}`;
  return new URL(`${form.dataset.base}${path}/$graphql`, location.href);
}

async function requestGraphql(url, request) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: headersFor({ Accept: 'application/json', 'Content-Type': 'application/json' }),
    body: JSON.stringify(request),
    credentials: 'omit',
    cache: 'no-store',
  });
  return { answer, text: await answer.text() };
}

async function ask(form) {
  const [out, state] = ['graphql-answer', 'graphql-state'].map((id) => document.getElementById(id));
  const { query, variables } = form.elements;
  let values;
  try {
    values = variables.value.trim() === '' ? undefined : JSON.parse(variables.value);
    variables.setCustomValidity('');
  } catch {
    variables.setCustomValidity('This is not JSON');
    variables.reportValidity();
    return;
  }
  state.textContent = 'waiting for the answer';
  const start = performance.now();
  try {
    const request = { query: query.value, ...(values !== undefined && { variables: values }) };
    const { answer, text } = await requestGraphql(graphqlUrl(form), request);
    out.textContent = indented(text);
    state.textContent = `${answer.status} ${answer.statusText}, ${Math.round(performance.now() - start)} ms`;
  } catch {
    state.textContent = 'The server did not answer.';
  }
}

/** Puts a field where the caret is. */
function insertField(name) {
  const { query } = document.getElementById('graphql').elements;
  query.setRangeText(`${name} `, query.selectionStart, query.selectionEnd, 'end');
  query.focus();
}

const TYPE_QUERY = `query($name: String!) { __type(name: $name) { name description
  fields { name args { name } type { ...T } } enumValues { name } } }
fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }`;

/** Lists the fields of a type of the schema, and what can be looked up from it. */
async function showType(name) {
  const form = document.getElementById('graphql');
  const list = document.getElementById('graphql-fields');
  document.getElementById('graphql-type').value = name;
  list.textContent = 'loading';
  try {
    const url = new URL(`${form.dataset.base}/$graphql`, location.href);
    const { answer, text } = await requestGraphql(url, { query: TYPE_QUERY, variables: { name } });
    const type = answer.ok ? JSON.parse(text).data.__type : undefined;
    if (type === undefined) list.textContent = `${answer.status} ${answer.statusText}`;
    else if (type === null) list.textContent = 'The schema has no type of this name.';
    else list.replaceChildren(...fieldsOf(type));
  } catch {
    list.textContent = 'The server did not answer.';
  }
}

function fieldsOf({ name, fields, enumValues }) {
  if (fields === null) return [paragraph(enumValues?.map((each) => each.name).join(', ') ?? 'A value without fields.')];
  const isLookUp = (each) => name !== 'Query' && each.args.some((arg) => arg.name === '_reference');
  const isExtension = (each) => each.name.startsWith('_');
  const [lookUps, extensions] = [fields.filter(isLookUp), fields.filter(isExtension)];
  return [
    fieldList(fields.filter((each) => !isLookUp(each) && !isExtension(each))),
    ...moreFields(extensions, 'for the extensions of simple values'),
    ...moreFields(lookUps, 'for what refers to it'),
  ];
}

function moreFields(fields, purpose) {
  if (fields.length === 0) return [];
  const more = document.createElement('details');
  const summary = document.createElement('summary');
  summary.textContent = `${fields.length} ${purpose}`;
  more.append(summary, fieldList(fields));
  return [more];
}

function paragraph(text) {
  const part = document.createElement('p');
  part.textContent = text;
  return part;
}

function fieldList(fields) {
  const list = document.createElement('ul');
  list.className = 'schema';
  list.append(...fields.map(fieldItem));
  return list;
}

function fieldItem({ name, args, type }) {
  const item = document.createElement('li');
  const field = smallButton(name, 'insert', name);
  field.title = args.length === 0 ? 'Insert' : `Insert; arguments: ${args.map((arg) => arg.name).join(', ')}`;
  let inner = type;
  while (inner.ofType) inner = inner.ofType;
  const [before, after] = typeText(type).split(inner.name);
  item.append(field, `: ${before}`);
  item.append(inner.kind === 'SCALAR' ? inner.name : smallButton(inner.name, 'schemaType', inner.name), after);
  return item;
}

function smallButton(text, key, value) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'link';
  button.textContent = text;
  button.dataset[key] = value;
  return button;
}

/** `[HumanName]`, `String!`. */
function typeText({ kind, name, ofType }) {
  if (kind === 'LIST') return `[${typeText(ofType)}]`;
  return kind === 'NON_NULL' ? `${typeText(ofType)}!` : name;
}
