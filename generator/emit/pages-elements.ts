import type { Element, Model, Structure } from '../model/model.js';
import { block, joined, lines, spans, type Inline, type Row, type Section } from './pages-data.js';
import { canonicalLink, prose, type Linker } from './pages-inline.js';

/** The elements of a type, with those of its backbone types below the element of that type. */
export function elementSection(root: Structure, structures: readonly Structure[], linker: Linker): Section[] {
  if (root.elements.length === 0) return [];
  const byName = new Map(structures.map((structure) => [structure.name, structure]));
  const context: Context = { root, byName, linker, referred: referredTo(structures) };
  const rows = rowsOf(root, 0, context);
  const backbones = structures.filter((structure) => structure !== root);
  const table = { label: 'Elements', columns: ['Element', 'Card.', 'Type', 'Description'], rows };
  return [
    {
      id: 'elements',
      heading: 'Elements',
      blocks: [
        block({
          paragraphs: [...inherited([root], 'From ', linker), ...inherited(backbones, PARTS, linker)],
          tables: rows.length === 0 ? [] : [table],
        }),
      ],
    },
  ];
}

interface Context {
  readonly root: Structure;
  readonly byName: ReadonlyMap<string, Structure>;
  readonly linker: Linker;
  /** Backbone types that several elements have. */
  readonly referred: ReadonlySet<string>;
}

function rowsOf(structure: Structure, depth: number, context: Context): Row[] {
  return structure.elements.flatMap((element, index) => {
    if (index < structure.inherited) return [];
    const inner = context.byName.get(element.path);
    const row: Row = {
      id: context.referred.has(element.path) ? element.path : '',
      depth,
      head: element.path.slice(context.root.name.length + 1),
      cells: [cardinality(element), typesCell(element, inner !== undefined, context), describe(element)],
    };
    return inner === undefined ? [row] : [row, ...rowsOf(inner, depth + 1, context)];
  });
}

/** `0..1`, as the specification writes it. */
export function cardinality(element: Element): string {
  return `${String(element.min ?? 0)}..${element.max ?? '1'}`;
}

function typesCell(element: Element, holder: boolean, { root, linker }: Context): Inline {
  if (holder) return 'parts below';
  const { types, targets } = element;
  if (types.length > 20) return `any of ${String(types.length)} types`;
  return joined(
    types.map((type) => {
      const label = type.startsWith(`${root.name}.`) ? `as ${type.slice(root.name.length + 1)}` : type;
      const allowed = targets?.[type];
      const link = linker.type(type, label);
      return allowed === undefined ? [link] : [link, ' to ', ...spans(linker.types(allowed))];
    }),
    types.some((type) => targets?.[type] !== undefined) ? '; ' : ', ',
  );
}

function describe(element: Element): Inline {
  const { bound } = element;
  const marks = [
    ...(element.modifier === true ? ['modifier'] : []),
    ...(element.summary === true ? ['in summary'] : []),
    ...(element.xml === 'attribute' ? ['attribute in XML'] : []),
  ];
  const rules = element.rules ?? [];
  return lines(
    prose(element.short),
    bound === undefined ? '' : [`${bound.strength}: `, canonicalLink(bound.valueSet)],
    rules.length === 0 ? '' : [{ mark: `rules: ${rules.join(', ')}` }],
    marks.length === 0 ? '' : [{ mark: marks.join(', ') }],
  );
}

/** Backbone types that several elements have. */
function referredTo(structures: readonly Structure[]): Set<string> {
  const elements = structures.flatMap((structure) => structure.elements);
  return new Set(elements.flatMap(({ path, types }) => types.filter((type) => type !== path && type.includes('.'))));
}

const PARTS = 'Elements with parts below them also have those of ';

/** The elements that structures inherit, by base, which have no rows of their own. @param words the words before the base */
function inherited(structures: readonly Structure[], words: string, linker: Linker): Inline[] {
  const bases = new Map(structures.map((structure) => [structure.base, structure]));
  return [...bases].flatMap(([base, structure]): Inline[] => {
    if (base === undefined || structure.inherited === 0) return [];
    const names = structure.elements.slice(0, structure.inherited).map(({ name }): Inline => [{ code: name }]);
    return [[words, linker.type(base), ': ', ...joined(names, ', '), '.']];
  });
}

/** The rules that a type and its elements add, and the names of those that it inherits. */
export function invariantSection(structures: readonly Structure[], model: Model, linker: Linker): Section[] {
  const [root] = structures;
  const base = model.structures.find(({ name }) => name === root?.base);
  const inherited = new Set(base?.rules);
  const used = new Map<string, Set<string>>();
  const use = (id: string, place: string): void => void used.set(id, (used.get(id) ?? new Set()).add(place));
  for (const structure of structures) {
    for (const id of structure.rules) if (!inherited.has(id)) use(id, structure.name);
    for (const element of structure.elements) for (const id of element.rules ?? []) use(id, element.path);
  }
  const rows = model.invariants
    .filter(({ id }) => used.has(id))
    .map(({ id, severity, human, expression, bestPractice }): Row => ({
      id: '',
      depth: 0,
      head: id,
      cells: [
        bestPractice === true ? 'best practice' : severity,
        joined(
          [...(used.get(id) ?? [])].map((place): Inline => [{ code: place }]),
          ', ',
        ),
        lines(prose(human), [{ code: expression }]),
      ],
    }));
  const names = joined(
    [...inherited].map((code): Inline => [{ code }]),
    ', ',
  );
  const paragraphs: Inline[] = base === undefined || inherited.size === 0 ? [] : [['From ', linker.type(base.name), ': ', ...names, '.']]; // prettier-ignore
  if (rows.length === 0 && paragraphs.length === 0) return [];
  const table = { label: 'Invariants', columns: ['Rule', 'Severity', 'Holds for', 'What it says'], rows };
  const tables = rows.length === 0 ? [] : [table];
  return [{ id: 'invariants', heading: 'Invariants', blocks: [block({ paragraphs, tables })] }];
}
