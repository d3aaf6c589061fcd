import type { OperationParameterRow, OperationRow, PrimitiveRow } from '../../contract/index.js';
import { template } from '../engine.js';
import { framedPage, type Page } from '../framed.js';
import type { Paths, Site } from '../site.js';

/** Tables that forms of operations are made from. */
export interface OperationTables {
  readonly operations: readonly OperationRow[];
  readonly primitives: readonly PrimitiveRow[];
}

interface Input {
  readonly name: string;
  readonly type: string;
  readonly about: string;
  readonly isRequired: boolean;
  readonly isBoolean: boolean;
  /** Written as JSON into a larger field. */
  readonly isJson: boolean;
  /** The type of its value in a Parameters resource; `resource`: it is one. */
  readonly valueType: string;
}

interface Form {
  readonly level: string;
  readonly method: 'GET' | 'POST';
  readonly isPost: boolean;
  /** Of POST: where it goes, with `[type]` and `[id]`. */
  readonly target: string;
  /** Distinguishes the ids of its fields. */
  readonly key: string;
  readonly types: readonly { readonly name: string; readonly isChosen: boolean }[] | undefined;
  readonly hasId: boolean;
  readonly id: string;
  readonly inputs: readonly Input[];
}

interface OperationPage {
  readonly paths: Paths;
  readonly operation: OperationRow;
  readonly forms: readonly Form[];
}

const renderList = template<{
  paths: Paths;
  type: string | undefined;
  query: string;
  operations: readonly { id: string; name: string; title: string; levels: string; changes: boolean }[];
}>('operations');
const renderForms = template<OperationPage>('operation');

/** The resource that a form is about, where it comes from one. */
export interface Subject {
  readonly type: string | undefined;
  readonly id: string | undefined;
}

/** The page with the operations of the server, or of one type. @param operations those that are wired */
export function operationsPage(operations: readonly OperationRow[], subject: Subject, site: Site, paths: Paths): Page {
  const { type, id } = subject;
  const shown = operations.filter((row) => type === undefined || isOn(row, type));
  const query = new URLSearchParams({
    ...(type !== undefined && { type }),
    ...(id !== undefined && { id }),
  }).toString();
  const content = renderList({
    ...{ paths, type, query: query === '' ? '' : `?${query}` },
    operations: shown.map((row) => ({
      ...{ id: row.id, name: row.name, title: row.title },
      levels: row.levels.join(', '),
      changes: row.affectsState,
    })),
  });
  return framedPage(site, paths, 'Operations', content);
}

function isOn({ types, levels }: OperationRow, type: string): boolean {
  return types === undefined ? levels.some((level) => level !== 'system') : types.includes(type);
}

/** The page of an operation: a form for each of its levels, made from its parameters. */
export function operationPage(
  operation: OperationRow,
  subject: Subject,
  tables: OperationTables,
  site: Site,
  paths: Paths,
): Page {
  const forms = operation.levels
    .filter((level) => level !== 'version')
    .flatMap((level) => formsAt(operation, level, subject, tables, site, paths));
  return framedPage(site, paths, `$${operation.name}`, renderForms({ paths, operation, forms }));
}

function formsAt(
  operation: OperationRow,
  level: 'system' | 'type' | 'instance',
  subject: Subject,
  tables: OperationTables,
  site: Site,
  { fhir }: Paths,
): Form[] {
  const { methods, name } = operation;
  const inputs = operation.parameters
    .filter(({ use, scope }) => use === 'in' && (scope === undefined || scope.includes(level)))
    .map((each) => inputOf(each, tables, site));
  const simple = inputs.filter(({ isJson }) => !isJson);
  const needsPost = simple.length < inputs.length || !methods.includes('GET');
  const target = [fhir, ...{ system: [], type: ['[type]'], instance: ['[type]', '[id]'] }[level], `$${name}`].join('/');
  const names = operation.types ?? site.tables.resourceTypes;
  const types = names.map((each) => ({ name: each, isChosen: each === subject.type }));
  const place = {
    ...{ level, target },
    types: level === 'system' ? undefined : types,
    hasId: level === 'instance',
    id: subject.id ?? '',
  };
  const forms: Form[] = [];
  if (methods.includes('GET')) {
    forms.push({ ...place, method: 'GET', isPost: false, key: `${level}-get`, inputs: simple });
  }
  if (methods.includes('POST') && needsPost) {
    forms.push({ ...place, method: 'POST', isPost: true, key: `${level}-post`, inputs });
  }
  return forms;
}

function inputOf(
  { name, type = '', searchType, min, documentation = '' }: OperationParameterRow,
  { primitives }: OperationTables,
  { tables: { resourceTypes } }: Site,
): Input {
  const isResource = type === 'Resource' || resourceTypes.includes(type);
  const isPrimitive = searchType !== undefined || primitives.some((each) => each.name === type);
  return {
    ...{ name, about: documentation, isRequired: min > 0 },
    type: searchType ?? (type === '' ? 'parts' : type),
    isBoolean: type === 'boolean',
    isJson: !isPrimitive,
    valueType: isResource ? 'resource' : searchType === undefined ? type : 'string',
  };
}
