// The editor of a resource, and the upload of a file. This file comes before kiln.js, whose functions it calls once a page is shown.
/* global element, headersFor, PAGE_MARK, token, visit */
'use strict';

document.addEventListener('kiln-shown', () => {
  const form = document.getElementById('edit');
  if (form !== null) void openEditor(form);
});

document.addEventListener('submit', (event) => {
  const handle = event.target.id === 'edit' ? save : event.target.id === 'upload' ? upload : undefined;
  if (handle === undefined) return;
  event.preventDefault();
  void handle(event.target);
});

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-edit]');
  if (button === null) return;
  const form = document.getElementById('edit');
  const action = { check, delete: remove, reload: openEditor, over: saveOver, line: () => showLine(button) };
  void action[button.dataset.edit](form);
});

document.addEventListener('input', (event) => {
  if (event.target.id === 'edit-text') numberLines();
});

// It does not bubble.
document.addEventListener('toggle', ({ target }) => target.id === 'edit-outline' && showOutline(), true);

/** Sends a request below the base. @returns undefined: no answer came */
async function sendFhir(method, path, body, headers = {}) {
  try {
    return await fetch(new URL(path, location.href), {
      method,
      headers: headersFor({
        Accept: 'application/fhir+json',
        ...(body !== undefined && { 'Content-Type': 'application/fhir+json' }),
        ...headers,
      }),
      ...(body !== undefined && { body }),
      credentials: 'omit',
      cache: 'no-store',
    });
  } catch {
    return undefined;
  }
}

function go(path) {
  const url = new URL(path, location.href);
  if (token === '') location.assign(url);
  else void visit(url);
}

// The editor.

/** The version that is edited, as an entity tag; it goes with the form, which a visit replaces. */
const tags = new WeakMap();

const editText = () => document.getElementById('edit-text');

function tell(text) {
  document.getElementById('edit-state').textContent = text;
}

/** Fills the editor with the resource that it is about. */
async function openEditor(form) {
  const { source, id } = form.dataset;
  const text = editText();
  text.addEventListener('scroll', () => (document.getElementById('edit-lines').scrollTop = text.scrollTop));
  numberLines();
  if (source === '') return;
  tell('loading');
  const answer = await sendFhir('GET', `${source}?_pretty=true`);
  if (answer === undefined || !answer.ok) return tell(answer === undefined ? NO_ANSWER : await refusalOf(answer));
  const read = await answer.text();
  // A copy is a resource of its own.
  text.value = id === '' ? withoutIdentity(read) : read;
  tags.set(form, answer.headers.get('ETag') ?? '');
  document.getElementById('edit-issues').replaceChildren();
  numberLines();
  tell('');
}

const NO_ANSWER = 'The server did not answer.';
const NOT_READ =
  'Nothing was sent: the version that this would replace has not been read. Wait for it, or load the page again.';

/** Whether it is known which version a form would replace or delete; a creation replaces none. */
function isRead(form) {
  if (form.dataset.id === '' || tags.get(form)) return true;
  tell(NOT_READ);
  return false;
}

/** Indented JSON without the id and the facts that the server adds. Decimals stay as they are, since the text is not parsed. */
function withoutIdentity(text) {
  return text
    .replace(/^ {2}"id": ".*",?\n/m, '')
    .replace(/^ {4}"(?:versionId|lastUpdated)": ".*",?\n/gm, '')
    .replace(/^ {2}"meta": \{\s*\},?\n/m, '');
}

async function refusalOf(answer) {
  if (answer.status === 401) return 'This needs an access token: paste one above.';
  const issues = await issuesIn(answer);
  return `${answer.status} ${answer.statusText}: ${issues.map(({ text }) => text).join('; ')}`;
}

/** The issues of an answer, each with its line in the editor where that is known. */
async function issuesIn(answer) {
  let issue;
  try {
    ({ issue } = await answer.clone().json());
  } catch {
    issue = undefined;
  }
  const lines = linesOfPaths(editText()?.value ?? '');
  return (issue ?? []).map(({ severity, details, diagnostics = '', expression: [path = ''] = [] }) => {
    const [, line] = /\(line (\d+), column \d+\)/.exec(diagnostics) ?? [];
    const words = details?.text ?? diagnostics;
    return { severity, text: words, path, line: line === undefined ? lineOf(path, lines) : Number(line) };
  });
}

/** The line of a path, or of the nearest that holds it. */
function lineOf(path, lines) {
  let at = path.replace(/\.(?:where|ofType|extension)\(.*$/, '');
  while (at !== '') {
    const line = lines.get(at) ?? lines.get(`${at}[0]`) ?? lines.get(at.replace(/\[0\]/g, ''));
    if (line !== undefined) return line;
    const end = Math.max(at.lastIndexOf('.'), at.lastIndexOf('['));
    at = end < 0 ? '' : at.slice(0, end);
  }
  return undefined;
}

/** The lines of all elements of a JSON text, by their FHIRPath: `Patient.name[0].family`. A text that is no JSON is read as far as it goes. */
function linesOfPaths(text) {
  const found = new Map();
  const [, type = ''] = /"resourceType"\s*:\s*"(\w+)"/.exec(text) ?? [];
  found.set(type, 1);
  const stack = [];
  let line = 1;
  let key = '';
  const here = () => {
    const top = stack.at(-1);
    if (top === undefined) return type;
    return top.index === undefined ? `${top.path}.${key}` : `${top.path}[${top.index}]`;
  };
  for (const { 0: part } of text.matchAll(/\n|"(?:[^"\\\n]|\\.)*"(?:\s*:)?|[{}[\],]|[^\s{}[\],"]+/g)) {
    if (part === '\n') line++;
    else if (part.endsWith(':')) {
      key = part.slice(1, part.lastIndexOf('"')).replace(/^_/, '');
      if (!found.has(here())) found.set(here(), line);
    } else if (part === '{' || part === '[') {
      const path = here();
      if (!found.has(path)) found.set(path, line);
      stack.push(part === '[' ? { path, index: 0 } : { path });
    } else if (part === '}' || part === ']') stack.pop();
    else if (part === ',' && stack.at(-1)?.index !== undefined) stack.at(-1).index++;
    else if (stack.at(-1)?.index !== undefined) found.set(here(), line);
  }
  return found;
}

/** Numbers the lines of the editor, and marks those with issues. */
function numberLines(marked = new Map()) {
  const count = editText().value.split('\n').length;
  const numbers = Array.from({ length: count }, (_, at) => {
    const texts = marked.get(at + 1);
    if (texts === undefined) return `${at + 1}\n`;
    return element('span', `${at + 1}\n`, { className: 'bad', title: texts.join('\n') });
  });
  const gutter = document.getElementById('edit-lines');
  gutter.replaceChildren(...numbers);
  gutter.scrollTop = editText().scrollTop;
  showOutline();
}

function showIssues(issues, heading) {
  const marked = new Map();
  for (const { line, text } of issues) if (line !== undefined) marked.set(line, [...(marked.get(line) ?? []), text]);
  numberLines(marked);
  const list = element('ul', '', { className: 'issues' });
  for (const { severity, text, path, line } of issues) {
    const item = element('li', '', {});
    item.append(element('span', severity, { className: `badge ${severity}` }), ' ');
    if (line !== undefined) {
      const button = element('button', `line ${line}`, { type: 'button', className: 'link' });
      Object.assign(button.dataset, { edit: 'line', line: String(line) });
      item.append(button, ' ');
    }
    item.append(text, ...(text.includes(path) ? [] : [' ', element('code', path, {})]));
    list.append(item);
  }
  document
    .getElementById('edit-issues')
    .replaceChildren(...(issues.length === 0 ? [] : [element('h2', heading, {}), list]));
}

/** Elements of an outline. */
const OUTLINED = 300;

/** Lists the elements of the resource and the items of its lists, each with its line. */
function showOutline() {
  const box = document.getElementById('edit-outline');
  if (!box.open) return;
  const found = [...linesOfPaths(editText().value)].filter(([path]) => /^\w+\.\w+(?:\[\d+\])?$/.test(path));
  const items = found.slice(0, OUTLINED).map(([path, line]) => {
    const item = element('li', '', {});
    const button = element('button', path.slice(path.indexOf('.') + 1), { type: 'button', className: 'link' });
    Object.assign(button.dataset, { edit: 'line', line: String(line) });
    item.append(button, ` ${line}`);
    return item;
  });
  box.querySelector('ul').replaceChildren(...items);
}

/** Selects a line in the editor. */
function showLine({ dataset }) {
  const text = editText();
  const lines = text.value.split('\n');
  const start = lines.slice(0, Number(dataset.line) - 1).reduce((sum, { length }) => sum + length + 1, 0);
  text.focus();
  text.setSelectionRange(start, start + (lines[Number(dataset.line) - 1]?.length ?? 0));
  text.scrollTop = (text.scrollHeight / lines.length) * Math.max(0, Number(dataset.line) - 5);
}

/** Has the server validate the text. @returns whether it may be written */
async function check(form) {
  const { base, type, id } = form.dataset;
  tell('checking');
  try {
    JSON.parse(editText().value);
  } catch (error) {
    tell('This is not JSON.');
    const [, at] = /position (\d+)/.exec(error.message) ?? [];
    const line = at === undefined ? undefined : editText().value.slice(0, Number(at)).split('\n').length;
    showIssues([{ severity: 'error', text: error.message, path: '', line }], 'What is wrong');
    return false;
  }
  const path = id === '' ? `${base}/${type}/$validate?mode=create` : `${base}/${type}/${id}/$validate?mode=update`;
  const answer = await sendFhir('POST', path, editText().value);
  if (answer === undefined) {
    tell(NO_ANSWER);
    return false;
  }
  // Who may not validate may still write, and is refused then.
  if (answer.status === 401 || answer.status === 403) return true;
  const issues = await issuesIn(answer);
  const faults = issues.filter(({ severity }) => severity === 'error' || severity === 'fatal');
  const shown = issues.filter(({ severity }) => severity !== 'information' && severity !== 'success');
  showIssues(shown, faults.length > 0 ? 'What is wrong' : 'Warnings');
  tell(faults.length > 0 ? `Errors: ${faults.length}. It would be refused.` : 'Valid.');
  return faults.length === 0;
}

async function save(form) {
  if (isRead(form) && (await check(form))) await write(form, tags.get(form));
}

async function write(form, tag) {
  const { base, type, id } = form.dataset;
  tell('saving');
  const prefer = { Prefer: 'return=minimal' };
  const answer =
    id === ''
      ? await sendFhir('POST', `${base}/${type}`, editText().value, prefer)
      : await sendFhir('PUT', `${base}/${type}/${id}`, editText().value, {
          ...prefer,
          'If-Match': tag,
        });
  if (answer === undefined) return tell(NO_ANSWER);
  if (answer.status === 412) return showConflict(form, tag);
  if (!answer.ok) {
    const issues = await issuesIn(answer);
    tell(answer.status === 401 ? await refusalOf(answer) : `${answer.status} ${answer.statusText}`);
    return showIssues(issues, 'What is wrong');
  }
  const [, made = id] = new RegExp(`/${type}/([^/]+)`).exec(answer.headers.get('Location') ?? '') ?? [];
  go(`${base}/${type}/${made}`);
}

/** Shows what another writer has changed since the resource was read. */
async function showConflict(form, tag) {
  const { base, type, id } = form.dataset;
  tell('Someone else has changed it.');
  const answer = await sendFhir('GET', `${base}/${type}/${id}`);
  const now = answer?.headers.get('ETag') ?? '';
  const out = document.getElementById('edit-issues');
  const actions = element('p', '', { className: 'run' });
  if (now !== '' && answer.ok) {
    for (const [text, edit] of [
      ['Take theirs', 'reload'],
      ['Save mine over it', 'over'],
    ]) {
      const button = element('button', text, { type: 'button' });
      Object.assign(button.dataset, { edit, tag: now });
      actions.append(button, ' ');
    }
  }
  const versionOf = (each) => each.replace(/\D/g, '');
  const from = `${type}/${id}/_history/${versionOf(tag)}`;
  const page = await sendFhir('GET', `${base}/$diff?from=${from}&to=${type}/${id}`, undefined, { Accept: 'text/html' });
  const changes = page?.headers.get(PAGE_MARK) ? await tableOf(page) : undefined;
  const heading = element('h2', `What has changed since version ${versionOf(tag)}`, {});
  out.replaceChildren(heading, changes ?? element('p', 'It was deleted, or may not be read.', {}), actions);
  out.focus();
}

/** The table of a page of this server. */
async function tableOf(answer) {
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const table = page.querySelector('.diff');
  return table === null ? undefined : document.importNode(table.parentElement, true);
}

/** Replaces the version that another writer made, now that it has been seen. */
async function saveOver(form) {
  await write(form, document.querySelector('[data-edit=over]').dataset.tag);
}

async function remove(form) {
  if (!isRead(form)) return;
  const { base, type, id } = form.dataset;
  const tag = tags.get(form);
  tell('deleting');
  const answer = await sendFhir('DELETE', `${base}/${type}/${id}`, undefined, { 'If-Match': tag });
  if (answer === undefined) tell(NO_ANSWER);
  else if (answer.status === 412) await showConflict(form, tag);
  else if (answer.ok) go(`${base}/${type}/${id}/_history`);
  else tell(await refusalOf(answer));
}

// The upload.

/** Resources of one batch. */
const BATCH = 100;

async function upload(form) {
  const { base } = form.dataset;
  const [state, progress, out] = ['state', 'progress', 'faults'].map((name) =>
    document.getElementById(`upload-${name}`),
  );
  const faults = [];
  const show = (text, done, all) => {
    state.textContent = text;
    Object.assign(progress, { hidden: false, max: all, value: done });
  };
  out.replaceChildren();
  let bundles;
  try {
    bundles = bundlesOf(await document.getElementById('upload-file').files[0].text());
  } catch (error) {
    state.textContent = `The file cannot be read: ${error.message}`;
    return;
  }
  const all = bundles.reduce((sum, { texts }) => sum + texts.length, 0);
  let done = 0;
  for (const { type, texts } of bundles) {
    show(`${done} of ${all} resources`, done, all);
    const answer = await sendFhir(
      'POST',
      base,
      `{"resourceType":"Bundle","type":"${type}","entry":[${texts.join(',')}]}`,
    );
    if (answer === undefined || !answer.ok) {
      state.textContent = `Stopped after ${done} of ${all} resources. ${answer === undefined ? NO_ANSWER : await refusalOf(answer)}`;
      return;
    }
    const { entry = [] } = await answer.json();
    for (const [at, { response }] of entry.entries()) {
      if (/^2/.test(response?.status ?? '')) continue;
      const issues = response?.outcome?.issue ?? [];
      faults.push(
        `Resource ${done + at + 1}: ${response?.status}: ${issues.map(({ details }) => details?.text).join('; ')}`,
      );
    }
    done += texts.length;
  }
  show(
    faults.length === 0 ? `${all} resources are stored.` : `${all - faults.length} of ${all} resources are stored.`,
    all,
    all,
  );
  if (faults.length === 0) return;
  const list = element('ul', '', { className: 'issues' });
  list.append(...faults.slice(0, 100).map((text) => element('li', text, {})));
  out.replaceChildren(element('h2', `${faults.length} were refused`, {}), list);
  out.focus();
}

/** Bundles for the content of a file. Entries are slices of it, so that decimals stay as they are. @throws Error which says where it is wrong */
function bundlesOf(text) {
  let whole;
  try {
    whole = JSON.parse(text);
  } catch (error) {
    return batchesOf(entriesOfLines(text, error));
  }
  if (whole?.resourceType !== 'Bundle') return batchesOf([entryOf(text, 'the file')]);
  const { type, entry = [] } = whole;
  if (!Array.isArray(entry)) throw new Error('entry of the Bundle is no list');
  const entries = entry.length === 0 ? [] : itemsOf(membersOf(text).get('entry'));
  if (type === 'transaction' || type === 'batch') return [{ type, texts: entries }];
  return batchesOf(
    entries.map((source, at) => {
      const { resource, request } = entry[at] ?? {};
      const place = `entry ${at + 1}`;
      if (resource !== undefined) return entryOf(membersOf(source).get('resource'), `the resource of ${place}`);
      const asked = request?.method === undefined ? '' : `; its request is ${request.method} ${request.url}`;
      throw new Error(`${place} of the Bundle has no resource${asked}`);
    }),
  );
}

function batchesOf(entries) {
  const starts = Array.from({ length: Math.ceil(entries.length / BATCH) }, (_, at) => at * BATCH);
  return starts.map((start) => ({ type: 'batch', texts: entries.slice(start, start + BATCH) }));
}

/** Entries for the lines of NDJSON. @throws the error of the whole text where its first line is no JSON either */
function entriesOfLines(text, error) {
  const lines = [...text.split('\n').entries()].filter(([, line]) => line.trim() !== '');
  if (lines.length < 2) throw error;
  return lines.map(([at, line], nth) => {
    try {
      JSON.parse(line);
    } catch (fault) {
      throw nth === 0 ? error : new Error(`line ${at + 1}: ${fault.message}`, { cause: fault });
    }
    return entryOf(line, `line ${at + 1}`);
  });
}

/** An entry of a batch that stores a resource. @param place says which resource it is */
function entryOf(text, place) {
  const { resourceType, id } = JSON.parse(text) ?? {};
  if (typeof resourceType !== 'string') throw new Error(`${place} has no resourceType`);
  const request =
    id === undefined ? { method: 'POST', url: resourceType } : { method: 'PUT', url: `${resourceType}/${id}` };
  return `{"request":${JSON.stringify(request)},"resource":${text}}`;
}

/** The texts of the values of a JSON object, by name. @param text has been parsed */
function membersOf(text) {
  const named = itemsOf(text).map((item) => {
    const end = endOfString(item, item.indexOf('"')) + 1;
    return [JSON.parse(item.slice(0, end)), item.slice(item.indexOf(':', end) + 1)];
  });
  return new Map(named);
}

/** The texts between the commas of a JSON object or list. @param text has been parsed */
function itemsOf(text) {
  const items = [];
  const marks = /["{}[\],]/g;
  let depth = 0;
  let start = 0;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    const { 0: found, index } = mark;
    if (found === '"') marks.lastIndex = endOfString(text, index) + 1;
    else if (found === '{' || found === '[') {
      if (depth++ === 0) start = index + 1;
    } else {
      if (depth === 1) {
        items.push(text.slice(start, index));
        start = index + 1;
      }
      if (found !== ',') depth--;
    }
  }
  return items.filter((item) => item.trim() !== '');
}

/** Where a JSON string ends. @param start of its first quotation mark */
function endOfString(text, start) {
  const marks = /["\\]/g;
  marks.lastIndex = start + 1;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (mark[0] === '"') return mark.index;
    marks.lastIndex++;
  }
  return text.length;
}
