import type { Model, ViewModel } from '../model/model.js';
import { byCodePoint, kebab } from '../model/names.js';
import type { Artefact, ImportLine } from './artefact.js';

type ViewColumn = ViewModel['columns'][number];

/** The type of a row of each view, as `ndjson` and `json` have it: `types/views.ts`; and of each a JSON Schema. */
export function emitViews(model: Model): Artefact[] {
  const { views } = model;
  if (views.length === 0) return [];
  const structures = new Set(model.structures.filter(({ kind }) => kind !== 'backbone').map(({ name }) => name));
  const complex = views.flatMap(({ columns }) =>
    columns.filter(({ kind, type }) => kind === 'object' && structures.has(type)).map(({ type }) => type),
  );
  const rows: Artefact = {
    kind: 'typescript',
    path: 'types/views.ts',
    source: 'definitions/views',
    imports: [...new Set(complex)].sort(byCodePoint).map((type) => ({ names: [type], from: `./${kebab(type)}.js` })),
    declarations: views.map((view) => ({
      kind: 'interface',
      name: rowName(view),
      doc: `Row of the view \`${view.name}\`. ${view.description}`.trim(),
      properties: view.columns.map((column) => ({
        ...{ name: column.name, type: typeOf(column, structures), optional: false },
        doc: [column.description, column.type].filter((part) => part !== '').join(' — '),
      })),
    })),
  };
  return [rows, ...views.map(schemaOf)];
}

/** The exports of `kiln/types` for views. */
export function viewExports({ views }: Model): ImportLine[] {
  return views.length === 0 ? [] : [{ names: views.map(rowName), from: './views.js' }];
}

/** `patient_demographics` -> `PatientDemographicsRow`. */
function rowName({ name }: ViewModel): string {
  const words = name.split('_').map((part) => part.charAt(0).toUpperCase() + part.slice(1));
  return `${words.join('')}Row`;
}

const KINDS: Readonly<Partial<Record<ViewColumn['kind'], { readonly typescript: string; readonly schema: string }>>> = {
  boolean: { typescript: 'boolean', schema: 'boolean' },
  integer: { typescript: 'number', schema: 'integer' },
  integer64: { typescript: 'number', schema: 'integer' },
  decimal: { typescript: 'number', schema: 'number' },
};

function typeOf({ kind, type, isCollection }: ViewColumn, structures: ReadonlySet<string>): string {
  const complex = structures.has(type) ? type : 'object';
  const one = KINDS[kind]?.typescript ?? (kind === 'object' ? complex : 'string');
  return isCollection ? `${one}[]` : `${one} | null`;
}

function schemaOf(view: ViewModel): Artefact {
  const { columns, name, description, file } = view;
  const properties = columns.map((column): [string, object] => {
    const type = KINDS[column.kind]?.schema ?? (column.kind === 'object' ? 'object' : 'string');
    const about = column.description === '' ? {} : { description: column.description };
    const values = column.isCollection ? { type: 'array', items: { type } } : { type: [type, 'null'] };
    return [column.name, { ...values, ...about }];
  });
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $comment: `Made from definitions/${file} by kiln; do not edit`,
    ...{ title: name, description, type: 'object' },
    properties: Object.fromEntries(properties),
    required: columns.map((column) => column.name),
    additionalProperties: false,
  };
  return { kind: 'json', path: `views/${name.toLowerCase().replaceAll('_', '-')}.schema.json`, value: schema };
}
