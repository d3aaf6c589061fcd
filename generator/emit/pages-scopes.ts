import type { ScopeNeed, ScopeRow } from '../../runtime/contract/index.js';
import type { Model, OperationModel } from '../model/model.js';
import {
  block,
  joined,
  lines,
  row,
  spans,
  tableSection,
  type Inline,
  type Row,
  type Section,
  type Span,
} from './pages-data.js';
import { prose, type Linker } from './pages-inline.js';
import { unwiredMark } from './pages-wired.js';
import { CONDITION_TYPES, CONDITIONS, merged, needWords, rowWords } from './pages-scope-words.js';

/** Rows with their reasons, which are not in the generated tables: the contract has no such property. */
export interface Noted {
  readonly note?: string;
}

const ELSEWHERE = new Set(['capabilities', 'bundle', 'search-system', 'history-system', 'operation']);

/** The scopes that requests on a type need. */
export function scopeSection(type: string, operations: readonly OperationModel[], model: Model): Section[] {
  const inCompartments = model.compartments.some((row) => row.type === type || row.members[type] !== undefined);
  const interactions = model.scopes.rows
    .filter(
      ({ interaction }) => !ELSEWHERE.has(interaction) && (interaction !== 'search-compartment' || inCompartments),
    )
    .map((row) => ({ name: [row.interaction], cells: typeCells(row, type) }));
  const own = operations.filter(({ types }) => types !== undefined);
  const called = own.flatMap((operation) =>
    rowsFor(operation, model).flatMap((row) => {
      const levels = operation.levels.filter((level) => level !== 'system' && row.levels?.includes(level) !== false);
      if (levels.length === 0) return [];
      const all = operation.levels.every((level) => level === 'system' || levels.includes(level));
      const name: Inline = [
        { code: `$${operation.name}` },
        ...(all ? [] : [' ', { mark: levels.join(', ') }]),
        ...unwiredMark(operation),
      ];
      return [{ name, cells: typeCells(row, type) }];
    }),
  );
  const rows = [...grouped(interactions), ...grouped(called)];
  const table = { label: 'Required scopes', columns: ['Request', 'Scope', 'Some requests also'], rows };
  const paragraphs: Inline[] = [
    [
      'Scopes are written without their context: ',
      { code: `${type}.r` },
      ' is granted as ',
      { code: `system/${type}.r` },
      '. The words in the last column are explained on the page of ',
      { page: 'scopes', text: 'scopes' },
      '.',
    ],
    ...(own.length === operations.length
      ? []
      : [
          [
            'What operations of every type need is ',
            { page: 'scopes', anchor: 'operations', text: 'there' },
            ', too.',
          ] satisfies Inline,
        ]),
    ...special(type, model),
  ];
  return [{ id: 'scopes', heading: 'Required scopes', blocks: [block({ paragraphs, tables: [table] })] }];
}

/** The scope rows of an operation. */
export function rowsFor(operation: OperationModel, model: Model): ScopeRow[] {
  return model.scopes.rows.filter((row) => row.operation === operation.id);
}

/** Groups requests with the same needs into one row. */
function grouped(requests: readonly { readonly name: Inline; readonly cells: readonly Inline[] }[]): Row[] {
  const groups = new Map<string, { names: Inline[]; cells: readonly Inline[] }>();
  for (const { name, cells } of requests) {
    const key = JSON.stringify(cells);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { names: [name], cells });
    else group.names.push(name);
  }
  return [...groups.values()].map(({ names, cells }) => row(joined(names, ', '), ...cells));
}

/** The needs of requests whose URL names the type. */
function typeCells(row: ScopeRow, type: string): readonly [Inline, Inline] {
  const named = row.interaction === 'search-compartment';
  const isFixed = ({ when }: ScopeNeed): boolean => when === undefined || (named && when === 'types-named');
  const some = row.needs.filter((need) => {
    if (isFixed(need) || (named && need.when === 'types-unnamed')) return false;
    const only = need.when === undefined ? undefined : CONDITION_TYPES[need.when];
    return only === undefined || only === type;
  });
  return [rowWords(row, row.needs.filter(isFixed), type), conditional(some, type)];
}

function conditional(needs: readonly ScopeNeed[], type: string): Inline {
  const exact = needs
    .filter(({ on }) => on === 'type')
    .map((need): Inline => [...needWords(need, type), ' with ', conditionLink(need)]);
  const others = new Map(needs.filter(({ on }) => on !== 'type').map((need) => [need.when, conditionLink(need)]));
  return lines(
    ...exact,
    joined(
      [...others.values()].map((link): Inline => [link]),
      ', ',
    ),
  );
}

function conditionLink({ when }: ScopeNeed): Span {
  return when === undefined ? '' : { page: 'scopes', anchor: when, text: CONDITIONS[when][0] };
}

function special(type: string, model: Model): Inline[] {
  const withheld: readonly (Model['scopes']['withheld'][number] & Noted)[] = model.scopes.withheld;
  const chains: readonly (Model['scopes']['ownChains'][number] & Noted)[] = model.scopes.ownChains;
  return [
    ...withheld
      .filter((rule) => rule.type === type)
      .map((rule): Inline => [...withheldWords(rule.type, rule.letters), ` ${rule.note ?? ''}`]),
    ...chains
      .filter((rule) => rule.type === type)
      .map((rule): Inline => [...chainWords(rule.parameters), ` ${rule.note ?? ''}`]),
  ];
}

function withheldWords(type: string, letters: string): Span[] {
  return ['A scope on all types (', { code: `*.${letters}` }, ') does not do; it must name ', { code: type }, '.'];
}

function chainWords(parameters: readonly string[]): Span[] {
  return [
    'Chains that need no scope on the types they reach: ',
    ...joined(
      parameters.map((code): Inline => [{ code }]),
      ', ',
    ),
    '.',
  ];
}

/** The sections of the page of scopes: the whole policy. */
export function scopePageSections(model: Model, linker: Linker): Section[] {
  const { rows, custom, withheld, ownChains } = model.scopes;
  const operations = new Map(model.operations.map((operation) => [operation.id, operation]));
  const columns = ['Request', 'Scope', 'Some requests also', 'Why'];
  const interactions = rows
    .filter(({ operation }) => operation === undefined)
    .map((entry) => row(entry.interaction, ...policyCells(entry)));
  const called = rows.flatMap((entry): Row[] => {
    const operation = operations.get(entry.operation ?? '');
    return operation === undefined ? [] : [row(operationHead(operation, entry, linker), ...policyCells(entry))];
  });
  return [
    ...tableSection('interactions', 'Interactions', columns, interactions),
    ...tableSection('operations', 'Operations', columns, called),
    ...tableSection('conditions', 'Some requests', ['Word', 'When, and which types are concerned'], conditionRows()),
    ...tableSection('custom', 'Scopes of this server', ['Scope', 'Covers', 'About'], custom.map(customRow)),
    ...exceptions([...withheld.map(({ type }) => type), ...ownChains.map(({ type }) => type)], model, linker),
  ];
}

function operationHead(operation: OperationModel, entry: ScopeRow, linker: Linker): Inline {
  return lines(
    [{ page: 'operations', anchor: operation.id, text: `$${operation.name}` }, ...unwiredMark(operation)],
    operation.types === undefined || operation.types.length > 1 ? '' : linker.types(operation.types),
    entry.levels === undefined ? '' : [{ mark: entry.levels.join(', ') }],
  );
}

function policyCells(entry: ScopeRow & Noted): Inline[] {
  const always = entry.needs.filter(({ when }) => when === undefined);
  // Conditions with the same need share a line.
  const same = new Map<string, { links: Inline[]; words: Inline }>();
  for (const need of merged(entry.needs.filter(({ when }) => when !== undefined))) {
    const words = needWords(need);
    const key = JSON.stringify(words);
    same.set(key, { links: [...(same.get(key)?.links ?? []), [conditionLink(need)]], words });
  }
  const some = [...same.values()].map(({ links, words }): Inline => [...joined(links, ', '), ': ', ...spans(words)]);
  return [rowWords(entry, always), lines(...some), prose(entry.note ?? '')];
}

function customRow(entry: Model['scopes']['custom'][number] & Noted): Row {
  const covers = (entry.covers ?? []).map((code): Inline => [{ code }]);
  return row([{ code: entry.scope }], joined(covers, ', '), prose(entry.note ?? ''));
}

function conditionRows(): Row[] {
  return Object.entries(CONDITIONS).map(([id, [label, meaning]]) => ({ ...row(label, prose(meaning)), id }));
}

function exceptions(types: readonly string[], model: Model, linker: Linker): Section[] {
  const rows = [...new Set(types)].map((type) => row([linker.type(type)], lines(...special(type, model))));
  return tableSection('exceptions', 'Exceptions', ['Type', 'What holds for it'], rows);
}
