// Fills the tables in docs/ that come from the code: `npm run generate` writes them, `npm run check` compares them
// (--check: exit code 1 if one is not current). Reads dist/.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

import { tables } from '../dist/generated/tables.js';
import { ALL_SETTINGS, optionOf } from '../dist/runtime/config/settings.js';
import { WIRED_OPERATIONS } from '../dist/runtime/contract/wired.js';

/** Where the description of an operation is, as seen from docs/. */
const REFERENCE = '../generated/docs/operations.md';

/** A page below docs/, and what is between its marks `<!-- begin NAME … -->` and `<!-- end NAME -->`. */
const PAGES = {
  'operations.md': {
    'wired-operations': operationTable((id) => WIRED_OPERATIONS.includes(id)),
    'missing-operations': operationTable((id) => !WIRED_OPERATIONS.includes(id)),
  },
  'configuration.md': { settings: settingTables() },
};

for (const [page, parts] of Object.entries(PAGES)) {
  const path = fileURLToPath(new URL(`../docs/${page}`, import.meta.url));
  const present = readFileSync(path, 'utf8');
  let wanted = present;
  for (const [name, text] of Object.entries(parts)) wanted = fill(wanted, name, text, page);
  wanted = await format(wanted, { ...(await resolveConfig(path)), filepath: path });
  if (wanted === present) continue;
  if (process.argv.includes('--check')) {
    process.stderr.write(`docs/${page} is not current; run: npm run generate\n`);
    process.exitCode = 1;
  } else writeFileSync(path, wanted);
}

function fill(text, name, part, page) {
  const marks = new RegExp(`(<!-- begin ${name}\\b[^>]*-->\n)[^]*?(<!-- end ${name} -->)`);
  if (!marks.test(text)) throw new Error(`docs/${page} has no part "${name}"`);
  return text.replace(marks, (_, begin, end) => `${begin}\n${part}\n\n${end}`);
}

function operationTable(isShown) {
  const rows = tables.operations
    .filter(({ id }) => isShown(id))
    .sort((a, b) => compare(a.name, b.name) || compare(a.id, b.id))
    .map(({ id, name, title, levels, types, methods }) => [
      `[\`$${name}\`](${REFERENCE}#${id})`,
      levels.join() === 'system' ? '' : typesOf(types),
      levels.join(', '),
      methods.join(', '),
      title,
    ]);
  return markdownTable(['operation', 'types', 'levels', 'methods', 'what it does'], rows);
}

function compare(a, b) {
  return a < b ? -1 : Number(a > b);
}

function typesOf(types = ['all']) {
  return types.length > 3 ? `${types.length} types` : types.join(', ');
}

/** A table for each first word of the keys, in the order of the settings. */
function settingTables() {
  const groups = {};
  for (const setting of ALL_SETTINGS) (groups[groupOf(setting[0])] ??= []).push(setting);
  const sections = Object.entries(groups).map(([group, settings]) => {
    const rows = settings.map(([key, { help, initial, initialText, placeholder }]) => [
      `\`${key}\``,
      `\`--${optionOf(key)} ${placeholder}\``,
      initialText ?? (String(initial ?? '') || 'none'),
      help,
    ]);
    return `## \`${group}\`\n\n${markdownTable(['key', 'option', 'default', 'meaning'], rows)}`;
  });
  return sections.join('\n\n');
}

/** `limits.body` is one of `limits`, `tls-cert` of `tls`; single words and the base URL are about the server. */
function groupOf(key) {
  return key === 'base-url' ? 'server' : (/^[a-z]+(?=[.-])/.exec(key)?.[0] ?? (key === 'auth' ? key : 'server'));
}

function markdownTable(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
