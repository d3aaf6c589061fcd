// The page of views of SQL on FHIR. This file comes before kiln.js, whose functions it calls once a page is shown.
/* global csvRows, element, fetchJson, headersFor, tableRow */
'use strict';

document.addEventListener('kiln-shown', () => {
  const form = document.getElementById('views');
  if (form !== null) void listViews(form);
});

document.addEventListener('submit', (event) => {
  if (event.target.id !== 'views') return;
  event.preventDefault();
  void showRows(event.target);
});

document.addEventListener('change', (event) => {
  if (event.target.id === 'views-pick' && event.target.value !== '') void pickView(event.target);
});

document.addEventListener('click', (event) => {
  const { table } = event.target.dataset;
  const form = event.target.closest('form#views');
  if (form !== null && table !== undefined && form.reportValidity()) void downloadTable(form, table);
});

/** Stored views that are listed. */
const MOST_VIEWS = 200;

/** Lists the stored views; without the type, or a token that shows them, there is no list. */
async function listViews(form) {
  const url = new URL(`${form.dataset.base}/ViewDefinition?_count=${MOST_VIEWS}&_elements=name,title,resource`, location.href); // prettier-ignore
  const { entry = [] } = (await fetchJson(url)) ?? {};
  const options = entry.map(({ resource: { id, name, title, resource } }) =>
    element('option', `${title ?? name ?? id} (${resource})`, { value: id }),
  );
  if (options.length === 0) return;
  const pick = document.getElementById('views-pick');
  pick.replaceChildren(pick.options[0], ...options);
  document.getElementById('views-stored').hidden = false;
}

async function pickView({ value, form }) {
  const view = await fetchJson(
    new URL(`${form.dataset.base}/ViewDefinition/${encodeURIComponent(value)}`, location.href),
  );
  if (view === undefined) return;
  // What the server adds to it is not edited here.
  delete view.meta;
  delete view.text;
  form.elements.view.value = JSON.stringify(view, null, 2);
}

/** The view in the form; undefined: it is no JSON object, which the form says. */
function viewOf({ elements: { view } }) {
  try {
    const parsed = JSON.parse(view.value);
    if (typeof parsed !== 'object' || parsed === null) throw new Error('no object');
    view.setCustomValidity('');
    return parsed;
  } catch {
    view.setCustomValidity('This is not JSON of a view');
    view.reportValidity();
    view.setCustomValidity('');
    return undefined;
  }
}

/** Asks for a table. Says in the form why there is none, and returns undefined then. */
async function askTable(form, view, parameters) {
  const state = document.getElementById('views-state');
  state.textContent = 'waiting for the answer';
  const parameter = [{ name: 'subjectResource', resource: view }, ...parameters];
  try {
    const answer = await fetch(new URL(`${form.dataset.base}/$sql-run`, location.href), {
      method: 'POST',
      headers: headersFor({ Accept: '*/*', 'Content-Type': 'application/fhir+json' }),
      body: JSON.stringify({ resourceType: 'Parameters', parameter }),
      credentials: 'omit',
      cache: 'no-store',
    });
    if (answer.ok) return answer;
    state.textContent = `${answer.status} ${answer.statusText}: ${await faultsOf(answer)}`;
  } catch {
    state.textContent = 'The server did not answer.';
  }
  return undefined;
}

async function faultsOf(answer) {
  try {
    const { issue } = await answer.json();
    return issue.map(({ details, diagnostics }) => details?.text ?? diagnostics).join('; ');
  } catch {
    return 'no reason was given';
  }
}

async function showRows(form) {
  const view = viewOf(form);
  if (view === undefined) return;
  const limit = { name: '_limit', valueInteger: Number(form.elements.limit.value) };
  const start = performance.now();
  const answer = await askTable(form, view, [{ name: '_format', valueCode: 'csv' }, limit]);
  if (answer === undefined) return;
  const state = document.getElementById('views-state');
  try {
    const [names = [], ...rows] = csvRows(await answer.text());
    const head = tableRow('th', names);
    const types = typesIn(view);
    for (const cell of head.cells) {
      cell.scope = 'col';
      const type = types.get(cell.textContent);
      if (type !== undefined) cell.append(' ', element('small', type, {}));
    }
    const table = element('table', '', {});
    table.createTHead().append(head);
    table.createTBody().append(...rows.map((row) => tableRow('td', row)));
    document.getElementById('views-rows').replaceChildren(table);
    state.textContent = `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}, ${Math.round(performance.now() - start)} ms`;
  } catch {
    state.textContent = 'The table broke off: a resource has values that the view does not hold.';
  }
}

/** Types that the columns of a view declare, by their names. */
function typesIn(node, found = new Map()) {
  for (const { name, type, collection } of node.column ?? []) {
    if (type !== undefined) found.set(name, collection === true ? `${type}, list` : type);
  }
  for (const inner of [...(node.select ?? []), ...(node.unionAll ?? [])]) typesIn(inner, found);
  return found;
}

async function downloadTable(form, format) {
  const view = viewOf(form);
  if (view === undefined) return;
  const answer = await askTable(form, view, [{ name: '_format', valueCode: format }]);
  if (answer === undefined) return;
  const state = document.getElementById('views-state');
  try {
    const link = element('a', '', { href: URL.createObjectURL(await answer.blob()) });
    link.download = `${/^\w+$/.test(view.name ?? '') ? view.name : 'view'}.${format}`;
    link.click();
    URL.revokeObjectURL(link.href);
    state.textContent = `downloaded as ${link.download}`;
  } catch {
    state.textContent = 'The table broke off: nothing was downloaded.';
  }
}
