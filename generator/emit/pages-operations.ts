import type { ExchangeAnswer, ExchangeRow, OperationParameterRow, ScopeRow } from '../../runtime/contract/index.js';
import type { Model, OperationModel } from '../model/model.js';
import {
  block,
  joined,
  lines,
  spans,
  type Block,
  type Fact,
  type Inline,
  type Row,
  type Section,
  type Table,
} from './pages-data.js';
import { canonicalLink, prose, type Linker } from './pages-inline.js';
import { rowsFor, type Noted } from './pages-scopes.js';
import { isWired, unwiredMark } from './pages-wired.js';
import { conditionWords, rowWords } from './pages-scope-words.js';

const COLUMNS = ['Parameter', 'Use', 'Card.', 'Type'];

/** Operations on a type or its resources: first those of the type, then those of every type. */
export function operationsOn(type: string, model: Model): OperationModel[] {
  const callable = model.operations.filter(
    ({ levels, types }) => (types === undefined || types.includes(type)) && levels.some((level) => level !== 'system'),
  );
  return [
    ...callable.filter(({ types }) => types !== undefined),
    ...callable.filter(({ types }) => types === undefined),
  ];
}

/** The operations of a type: those of the type with their parameters, those of every type by name. */
export function operationSection(operations: readonly OperationModel[], linker: Linker): Section[] {
  if (operations.length === 0) return [];
  const own = operations.filter(({ types }) => types !== undefined);
  const everywhere = operations.filter(({ types }) => types === undefined);
  const blocks = own.map((operation) =>
    block({
      id: operation.id,
      heading: `$${operation.name}`,
      paragraphs: [[operationLink(operation, operation.title), ': ', callWords(operation), ...unwiredMark(operation)]],
      facts: [{ name: 'Definition', value: [canonicalLink(operation.url, operation.own)] }],
      tables: parameterTables(operation, linker, false),
    }),
  );
  const links = everywhere.map((operation): Inline => [
    operationLink(operation, `$${operation.name}`),
    ...unwiredMark(operation),
  ]);
  const shared =
    links.length === 0
      ? []
      : [
          block({
            id: 'shared-operations',
            heading: 'Operations of every type',
            paragraphs: [[...joined(links, ', '), '.']],
          }),
        ];
  return [{ id: 'operations', heading: 'Operations', blocks: [...blocks, ...shared] }];
}

/** The sections of the page of operations: custom ones in full, then those of the specification. */
export function operationPageSections(model: Model, linker: Linker): Section[] {
  const section = (id: string, heading: string, own: boolean): Section[] => {
    const blocks = model.operations
      .filter((operation) => operation.own === own)
      .map((operation) => operationBlock(operation, model, linker));
    return blocks.length === 0 ? [] : [{ id, heading, blocks }];
  };
  return [
    ...section('own-operations', 'Operations of this server', true),
    ...section('specification-operations', 'Operations of the specification', false),
  ];
}

function operationBlock(operation: OperationModel, model: Model, linker: Linker): Block {
  const { types } = operation;
  const on =
    types !== undefined
      ? linker.types(types)
      : operation.levels.every((level) => level === 'system')
        ? ''
        : 'every type';
  const scopes = lines(...rowsFor(operation, model).map((scope) => scopeWords(scope, types)));
  const facts: Fact[] = [
    ...(isWired(operation) ? [] : [{ name: 'Not supported yet', value: 'the server answers 501 Not Implemented' }]),
    { name: 'Called', value: callWords(operation) },
    ...(on === '' ? [] : [{ name: 'On', value: on }]),
    { name: 'Changes anything', value: operation.affectsState ? 'yes' : 'no' },
    ...exchangeFacts(operation, model),
    ...(scopes.length === 0 ? [] : [{ name: 'Scopes', value: scopes }]),
    { name: 'Definition', value: [canonicalLink(operation.url, operation.own)] },
  ];
  return block({
    id: operation.id,
    heading: `$${operation.name}${types === undefined || types.length > 1 ? '' : ` (${types.join(', ')})`}`,
    // The specification's texts on its operations are long, so the page links to them.
    paragraphs: operation.own ? [`${operation.title}.`, prose(operation.description)] : [operation.title],
    facts,
    tables: parameterTables(operation, linker, true),
  });
}

/** How an operation is called and answered, where that is not as for most: Parameters, 200, and the result. */
function exchangeFacts({ id }: OperationModel, { exchanges }: Model): Fact[] {
  const rows = exchanges.rows.filter(({ operations }) => operations?.includes(id));
  const required = rows.flatMap(({ headers }) => headers.filter((name) => name.endsWith('!')));
  const types = rows.flatMap(({ request = [] }) => request.filter((body) => body.includes('/')));
  const answers = rows.flatMap((row) => row.answers.map((answer) => answerWords(answer, row)));
  return [
    ...(required.length === 0 ? [] : [{ name: 'Needs the header', value: required.join(', ').replaceAll('!', '') }]),
    ...(types.length === 0 ? [] : [{ name: 'Takes, beside Parameters', value: types.join(', ') }]),
    ...(answers.length === 0 ? [] : [{ name: 'Answered', value: lines(...answers) }]),
  ];
}

function answerWords(
  { status, text, body = ['no body'], headers = [] }: ExchangeAnswer,
  { methods }: ExchangeRow,
): string {
  const to = methods === undefined ? '' : `${methods.join(', ')}: `;
  const carried = headers.length === 0 ? '' : `, with ${headers.join(', ')}`;
  return `${to}${String(status)}, ${body.join(' or ')}${carried}. ${text}.`;
}

function scopeWords(scope: ScopeRow & Noted, types: readonly string[] | undefined): Inline {
  const always = scope.needs.filter(({ when }) => when === undefined);
  const words = rowWords(scope, always, types?.length === 1 ? types[0] : undefined);
  const some = conditionWords(scope);
  return [
    ...(scope.levels === undefined ? [] : [`${scope.levels.join(', ')}: `]),
    ...spans(words),
    ...(some === '' ? [] : ['; see ', { page: 'scopes', anchor: 'operations', text: 'scopes' }, ` for: ${some}`]),
    ...(scope.anyToken === true && scope.note !== undefined ? ['. ', ...spans(prose(scope.note))] : []),
  ];
}

/** A link to the description of an operation. */
export function operationLink({ id }: OperationModel, text: string): { page: string; anchor: string; text: string } {
  return { page: 'operations', anchor: id, text };
}

function callWords({ levels, methods }: OperationModel): string {
  return `${methods.join(' or ')} on ${levels.join(', ')}`;
}

function parameterTables(operation: OperationModel, linker: Linker, documented: boolean): Table[] {
  const rows = operation.parameters.flatMap((parameter) => parameterRows(parameter, '', 0, linker, documented));
  if (rows.length === 0) return [];
  return [{ label: `Parameters of $${operation.name}`, columns: [...COLUMNS, ...(documented ? ['About'] : [])], rows }];
}

function parameterRows(
  parameter: OperationParameterRow,
  path: string,
  depth: number,
  linker: Linker,
  documented: boolean,
): Row[] {
  const name = `${path}${parameter.name}`;
  const cells: Inline[] = [
    lines(parameter.use, parameter.scope === undefined ? '' : [{ mark: `at ${parameter.scope.join(', ')}` }]),
    `${String(parameter.min)}..${String(parameter.max)}`,
    parameterType(parameter, linker),
    ...(documented ? [prose(parameter.documentation ?? '')] : []),
  ];
  const parts = parameter.parts ?? [];
  return [
    { id: '', depth, head: name, cells },
    ...parts.flatMap((part) => parameterRows(part, `${name}.`, depth + 1, linker, documented)),
  ];
}

function parameterType(
  { type, allowedTypes, searchType, targets, binding }: OperationParameterRow,
  linker: Linker,
): Inline {
  if (type === undefined) return 'parts below';
  return lines(
    allowedTypes === undefined ? [linker.type(type)] : linker.types(allowedTypes),
    targets === undefined ? '' : ['to ', ...spans(linker.types(targets))],
    searchType === undefined ? '' : `written as a search ${searchType}`,
    binding === undefined ? '' : [`${binding.strength}: `, canonicalLink(binding.valueSet)],
  );
}
