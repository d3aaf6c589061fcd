import type { CompartmentRow, PathRow } from '../../runtime/contract/index.js';
import type { Model, SearchParameterModel, SearchTableModel } from '../model/model.js';
import { block, joined, lines, row, tableSection, spans, type Inline, type Row, type Section } from './pages-data.js';
import { canonicalLink, prose, type Linker } from './pages-inline.js';

const COLUMNS = ['Parameter', 'Type', 'Where it looks', 'About'];

/** The search parameters that a type adds, and those that it inherits. https://hl7.org/fhir/R5/search.html */
export function searchSections(type: string, model: Model, linker: Linker): Section[] {
  const [own, ...bases] = searchTables(type, model);
  if (own === undefined) return [];
  const rows = own.parameters.map((parameter) => searchRow(parameter, type, linker));
  const seen = new Set(own.parameters.map(({ code }) => code));
  const inherited = bases.flatMap((table): Inline[] => {
    // A parameter of a type replaces one of its bases with the same code.
    const codes = table.parameters
      .filter(({ code }) => seen.size !== seen.add(code).size)
      .map(({ code }): Inline => [{ code }]);
    return codes.length === 0 ? [] : [['From ', linker.type(table.type), ': ', ...joined(codes, ', '), '.']];
  });
  const aliases = (own.aliases ?? []).map(({ name, code, reason }) => row(name, [{ code }], reason));
  return [
    ...tableSection('search', 'Search parameters', COLUMNS, rows),
    ...tableSection('search-aliases', 'Other names of search parameters', ['Name', 'Parameter', 'Why'], aliases),
    ...(inherited.length === 0
      ? []
      : [
          {
            id: 'inherited-search',
            heading: 'Inherited search parameters',
            blocks: [block({ paragraphs: inherited })],
          },
        ]),
  ];
}

/** The parameters of a type, then those of its bases, the nearest first. */
export function searchTables(type: string, model: Model): SearchTableModel[] {
  const table = model.search.find((candidate) => candidate.type === type);
  if (table === undefined) return [];
  return [table, ...(table.base === undefined ? [] : searchTables(table.base, model))];
}

function searchRow(parameter: SearchParameterModel, type: string, linker: Linker): Row {
  return row(
    parameter.code,
    parameter.type,
    lines(branches(parameter.paths), components(parameter)),
    lines(
      prose(descriptionFor(type, parameter.description)),
      parameter.targets === undefined ? '' : ['targets: ', ...spans(linker.types(parameter.targets))],
      [canonicalLink(parameter.url, false, parameter.id)],
    ),
  );
}

function branches(paths: readonly PathRow[]): Inline {
  return lines(...paths.map(({ text }): Inline => [{ code: text }]));
}

function components(parameter: SearchParameterModel): Inline {
  return lines(
    ...(parameter.components ?? []).map(({ code, type, paths }): Inline => [
      `${code} (${type}): `,
      ...joined(
        paths.map(({ text }): Inline => [{ code: text }]),
        ' | ',
      ),
    ]),
  );
}

/** A text that serves several types has a line for each: `* [Patient](patient.html): …`. */
export function descriptionFor(type: string, description: string): string {
  if (!/^Multiple Resources:/i.test(description)) return description;
  const line = description.split(/\r?\n/).find((candidate) => candidate.startsWith(`* [${type}](`));
  return line === undefined ? '' : line.slice(line.indexOf(': ') + 2);
}

/** Compartments that a type is in, and the members of the compartment that it defines. */
export function compartmentSection(type: string, compartments: readonly CompartmentRow[], linker: Linker): Section[] {
  const member = compartments.flatMap(({ type: owner, members }): Inline[] => {
    const codes = members[type];
    if (codes === undefined) return [];
    const by = codes.map((code): Inline => (code === '{def}' ? 'being its owner' : [{ code }]));
    return [['In the compartment of ', linker.type(owner), ', by ', ...joined(by, ', '), '.']];
  });
  const opened = compartments
    .filter((compartment) => compartment.type === type)
    .map(({ members, url }): Inline => [
      'Opens a ',
      canonicalLink(url, false, 'compartment'),
      ' with ',
      ...joined(
        Object.keys(members).map((name): Inline => [linker.type(name)]),
        ', ',
      ),
      '.',
    ]);
  if (member.length + opened.length === 0) return [];
  return [{ id: 'compartments', heading: 'Compartments', blocks: [block({ list: [...opened, ...member] })] }];
}
