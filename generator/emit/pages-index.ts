import type { Model, PrimitiveModel, Structure } from '../model/model.js';
import { block, joined, row, tableSection, type Inline, type PageData, type Row, type Section } from './pages-data.js';
import { canonicalLink, prose, type Linker } from './pages-inline.js';
import { operationLink, operationPageSections } from './pages-operations.js';
import { scopePageSections } from './pages-scopes.js';
import { unwiredMark } from './pages-wired.js';
import { correctionList } from './pages-type.js';

type Page = Omit<PageData, 'navigation'>;

/** The start page: types, operations of the whole system, corrections. */
export function indexPage(model: Model, linker: Linker): Page {
  const { structures } = model;
  const of = (kind: Structure['kind'], abstract: boolean): Structure[] =>
    structures.filter((structure) => structure.kind === kind && (structure.abstract === true) === abstract);
  const list = (id: string, heading: string, types: readonly Structure[]): Section[] =>
    tableSection(
      id,
      heading,
      ['Type', 'About'],
      types.map((type) => row([linker.type(type.name)], prose(type.short))),
    );
  return {
    title: 'Reference',
    lead: `What this server knows of FHIR ${model.fhirVersion}: every resource type with its elements, search parameters, operations and required scopes.`,
    facts: [
      { name: 'Packages', value: model.inputs.map(({ name, version }) => `${name}@${version}`).join(', ') },
      { name: 'Resource types', value: String(model.capabilities.length) },
    ],
    sections: [
      ...list('resources', 'Resource types', of('resource', false)),
      systemOperations(model),
      ...list('datatypes', 'Datatypes', of('datatype', false)),
      ...list('abstract', 'Abstract types', [...of('resource', true), ...of('datatype', true)]),
      ...correctionList(model.corrections, 'Definitions of the packages that are put right or left out, and why.'),
    ].filter(({ blocks }) => blocks.length > 0),
  };
}

function systemOperations(model: Model): Section {
  const rows = model.operations
    .filter(({ levels }) => levels.includes('system'))
    .map((operation) =>
      row(
        [operationLink(operation, `$${operation.name}`), ...unwiredMark(operation)],
        operation.methods.join(', '),
        operation.title,
        operation.own ? 'this server' : 'the specification',
      ),
    );
  const heading = 'Operations of the whole system';
  const columns = ['Operation', 'Methods', 'About', 'Defined by'];
  const blocks = rows.length === 0 ? [] : [block({ tables: [{ label: heading, columns, rows }] })];
  return { id: 'system-operations', heading, blocks };
}

/** The page of all operations. */
export function operationsPage(model: Model, linker: Linker): Page {
  return {
    title: 'Operations',
    lead: 'The operations of the specification and of this server: where and how each is called, what it takes and gives, and what a token must cover. Those that the server does not support yet are marked.',
    facts: [],
    sections: operationPageSections(model, linker),
  };
}

/** The page of the scope policy. */
export function scopesPage(model: Model, linker: Linker): Page {
  return {
    title: 'Scopes',
    lead: [
      'What each request needs of a token. Letters are those of SMART: ',
      { code: 'c' },
      ' create, ',
      { code: 'r' },
      ' read, ',
      { code: 'u' },
      ' update, ',
      { code: 'd' },
      ' delete, ',
      { code: 's' },
      ' search. ',
      { code: '[type].r' },
      ' is the letter on the type of the URL, granted as ',
      { code: 'system/[type].r' },
      ' or as ',
      { code: 'system/*.r' },
      '.',
    ],
    facts: [],
    sections: scopePageSections(model, linker),
  };
}

/** The page of the primitive types. */
export function primitivesPage(model: Model, linker: Linker): Page {
  const rows = model.primitives.map((primitive): Row => ({
    id: primitive.name,
    depth: 0,
    head: primitive.name,
    cells: [
      primitive.base === undefined ? '' : [linker.type(primitive.base)],
      primitive.json,
      limits(primitive),
      joined([prose(primitive.definition), [canonicalLink(primitive.url, false, 'Definition')]], ' '),
    ],
  }));
  const urls = new Set(model.primitives.map(({ url }) => url));
  return {
    title: 'Primitive types',
    lead: 'Types whose values are one string, number or boolean in JSON.',
    facts: [],
    sections: [
      ...tableSection('primitives', 'Primitive types', ['Type', 'Extends', 'JSON', 'Limits', 'About'], rows),
      ...correctionList(
        model.corrections.filter(({ target }) => urls.has(target)),
        'What the package says was put right here:',
      ),
    ],
  };
}

function limits({ pattern, min, max, maxLength }: PrimitiveModel): Inline {
  const parts: Inline[] = [
    ...(min === undefined && max === undefined ? [] : [`${min ?? ''} to ${max ?? ''}`]),
    ...(maxLength === undefined ? [] : [`at most ${String(maxLength)} characters`]),
    ...(pattern === undefined ? [] : [[{ code: pattern }]]),
  ];
  return joined(parts, { newLine: true });
}
