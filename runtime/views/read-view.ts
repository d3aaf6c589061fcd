import { isObject, type JsonObject, type JsonValue } from '../fhir/resource.js';
import { quote } from '../fhir/quote.js';
import { isNumber, PathItem, type Items } from '../path/evaluate/item.js';
import type { ColumnDefinition, Iteration, Selection, View, ViewPath } from './view.js';
import { ViewError, type ViewFault } from './view-error.js';

/** Limits of a view. */
const MOST = { depth: 20, columns: 1000, path: 10_000, paths: 200_000 };

/** The names of columns and constants. */
const NAME = /^[A-Za-z][A-Za-z0-9_]{0,254}$/;

/** Names that FHIRPath or the guide gives a meaning. */
const TAKEN: ReadonlySet<string> = new Set(
  'rowIndex context resource rootResource ucum sct loinc current previous terminologies server factory'.split(' '),
);

const ITERATIONS = ['forEach', 'forEachOrNull', 'repeat'] as const;

/** What selections, columns and the rest may have, beside what every element has. */
const MEMBERS = {
  select: new Set(['column', 'select', 'unionAll', ...ITERATIONS]),
  column: new Set(['path', 'name', 'description', 'collection', 'type', 'tag']),
  where: new Set(['path', 'description']),
};

/** Types of constants, and whether a JSON value is one. */
const CONSTANT_TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  boolean: (value) => typeof value === 'boolean',
  ...Object.fromEntries(['integer', 'positiveInt', 'unsignedInt', 'decimal'].map((type) => [type, isNumber])),
  ...Object.fromEntries(
    'base64Binary canonical code date dateTime id instant integer64 oid string time uri url uuid'
      .split(' ')
      .map((type) => [type, (value: unknown) => typeof value === 'string']),
  ),
};

/**
 * Reads a ViewDefinition, as far as running it goes. Expressions are not looked into.
 *
 * @throws ViewError with all faults of its structure
 */
export function readView(json: JsonObject): View {
  return new Reader().view(json);
}

class Reader {
  private readonly faults: ViewFault[] = [];
  private readonly names = new Set<string>();
  private columns = 0;
  /** Characters of all paths, which are compiled at once. */
  private characters = 0;

  view(json: JsonObject): View {
    const { name, resource } = json;
    if (typeof resource !== 'string' || resource === '') this.fault('resource', 'has to name a resource type');
    const selects = this.objects(json, 'select', '').map((each, i) => this.selection(each, `select[${i}]`, 1, false));
    if (selects.length === 0) this.fault('select', 'has to have one selection at least');
    const constants = this.constants(json);
    const where = this.objects(json, 'where', '').map((each, i) => {
      this.members(each, 'where', `where[${i}]`);
      return this.path(each['path'], `where[${i}].path`);
    });
    if (this.columns === 0 && this.faults.length === 0) this.fault('select', 'has no column');
    if (this.faults.length > 0) throw new ViewError(this.faults);
    const selection = { place: 'select', columns: [], selects, unionAll: [] };
    return { ...(typeof name === 'string' && { name }), resource: resource as string, constants, selection, where };
  }

  /** @param isBranch its names are those of another branch */
  private selection(json: JsonObject, place: string, depth: number, isBranch: boolean): Selection {
    if (depth > MOST.depth) {
      this.fault(place, `is nested more than ${MOST.depth} levels deep`);
      return { place, columns: [], selects: [], unionAll: [] };
    }
    this.members(json, 'select', place);
    const columns = this.objects(json, 'column', place).map((each, i) => {
      return this.column(each, `${place}.column[${i}]`, isBranch);
    });
    const iteration = this.iteration(json, place);
    const selects = this.objects(json, 'select', place).map((each, i) =>
      this.selection(each, `${place}.select[${i}]`, depth + 1, isBranch),
    );
    const unionAll = this.objects(json, 'unionAll', place).map((each, i) =>
      this.selection(each, `${place}.unionAll[${i}]`, depth + 1, isBranch || i > 0),
    );
    const selection = { place, columns, selects, unionAll, ...(iteration !== undefined && { iteration }) };
    this.checkBranches(selection);
    return selection;
  }

  private checkBranches({ unionAll, place }: Selection): void {
    const [first, ...others] = unionAll.map(columnsOf);
    if (first === undefined) return;
    const shown = (columns: readonly ColumnDefinition[]): string => columns.map(({ name }) => name).join(', ');
    for (const [i, other] of others.entries()) {
      const at = `${place}.unionAll[${i + 1}]`;
      if (shown(first) !== shown(other)) {
        this.fault(at, `has the columns ${shown(other) || '(none)'}, and the branch before it ${shown(first)}`);
        continue;
      }
      const unlike = other.find(({ type }, c) => (type ?? '') !== (first[c]?.type ?? type ?? ''));
      if (unlike !== undefined) this.fault(at, `declares another type for the column ${unlike.name}`);
    }
  }

  private iteration(json: JsonObject, place: string): Iteration | undefined {
    const given = ITERATIONS.filter((each) => json[each] !== undefined);
    const [kind, other] = given;
    if (kind === undefined) return undefined;
    if (other !== undefined) this.fault(place, `has both ${kind} and ${other}; one of them is allowed`);
    if (kind !== 'repeat') return { kind, paths: [this.path(json[kind], `${place}.${kind}`)] };
    const paths = Array.isArray(json[kind]) ? (json[kind] as readonly JsonValue[]) : [];
    if (paths.length === 0) this.fault(`${place}.repeat`, 'is a list of paths');
    return { kind, paths: paths.map((each, i) => this.path(each, `${place}.repeat[${i}]`)) };
  }

  private column(json: JsonObject, place: string, isBranch: boolean): ColumnDefinition {
    this.members(json, 'column', place);
    const { name, type, collection, description } = json;
    if (++this.columns === MOST.columns + 1) this.fault(place, `is one column more than ${MOST.columns}`);
    const path = this.path(json['path'], `${place}.path`);
    if (typeof name !== 'string' || !NAME.test(name)) {
      this.fault(`${place}.name`, wrongName(name));
    } else if (!isBranch) {
      if (this.names.has(name)) this.fault(`${place}.name`, `${name} is the name of another column, too`);
      this.names.add(name);
    }
    if (type !== undefined && typeof type !== 'string') this.fault(`${place}.type`, 'is a text');
    if (collection !== undefined && typeof collection !== 'boolean') {
      this.fault(`${place}.collection`, 'is true or false');
    }
    const tags = this.objects(json, 'tag', place);
    const at = tags.findIndex((each) => each['name'] === 'ansi/type');
    const sqlType = tags[at]?.['value'];
    return {
      ...{ name: String(name), path, isCollection: collection === true },
      ...(typeof description === 'string' && { description }),
      ...(typeof type === 'string' && { type: typeName(type) }),
      ...(typeof sqlType === 'string' && {
        sqlType: { text: sqlType.trim().replace(/\s+/g, ' ').toUpperCase(), place: `${place}.tag[${at}].value` },
      }),
    };
  }

  private constants(json: JsonObject): ReadonlyMap<string, Items> {
    const found = new Map<string, Items>();
    for (const [i, each] of this.objects(json, 'constant', '').entries()) {
      const place = `constant[${i}]`;
      const { name } = each;
      if (typeof name !== 'string' || !NAME.test(name)) {
        this.fault(`${place}.name`, wrongName(name));
        continue;
      }
      if (TAKEN.has(name)) this.fault(`${place}.name`, `%${name} has a meaning of its own`);
      if (found.has(name)) this.fault(`${place}.name`, `${name} is the name of another constant, too`);
      const [key, ...others] = Object.keys(each).filter((member) => member.startsWith('value'));
      const type = key === undefined ? '' : key.charAt(5).toLowerCase() + key.slice(6);
      const isOfType = Object.hasOwn(CONSTANT_TYPES, type) ? CONSTANT_TYPES[type] : undefined;
      const value = key === undefined ? undefined : each[key];
      if (isOfType?.(value) !== true || others.length > 0) {
        this.fault(place, `has to have one value, like valueString; it has ${key ?? 'none'}`);
      }
      found.set(name, [new PathItem(value, type)]);
    }
    return found;
  }

  private path(value: unknown, place: string): ViewPath {
    const isText = typeof value === 'string' && value.trim() !== '';
    if (!isText) this.fault(place, 'has to be a FHIRPath expression');
    else if (value.length > MOST.path) this.fault(place, `is longer than ${MOST.path} characters`);
    else {
      const before = this.characters;
      this.characters += value.length;
      if (before <= MOST.paths && this.characters > MOST.paths)
        this.fault(place, `and the paths before it have more than ${MOST.paths} characters together`);
    }
    return { text: isText ? value : '', place };
  }

  /** The objects of a list; anything else is a fault. */
  private objects(json: JsonObject, name: string, place: string): readonly JsonObject[] {
    const list = json[name];
    if (list === undefined) return [];
    const at = place === '' ? name : `${place}.${name}`;
    if (Array.isArray(list) && list.every(isObject)) return list;
    this.fault(at, 'is a list of objects');
    return [];
  }

  private members(json: JsonObject, kind: keyof typeof MEMBERS, place: string): void {
    for (const key of Object.keys(json)) {
      const name = key.replace(/^_/, '');
      if (MEMBERS[kind].has(name) || name === 'id' || name === 'extension' || name === 'modifierExtension') continue;
      const known = [...MEMBERS[kind]].join(', ');
      this.fault(place, `has no member ${JSON.stringify(key.slice(0, 64))}; it has ${known}`);
    }
  }

  private fault(place: string, text: string): void {
    if (this.faults.length < MOST_FAULTS) this.faults.push({ place, text });
  }
}

/** Types of FHIRPath as those of FHIR that have the same values. https://hl7.org/fhirpath/#types */
const FHIRPATH: Readonly<Record<string, string>> = {
  ...{ Boolean: 'boolean', String: 'string', Integer: 'integer', Long: 'integer64', Decimal: 'decimal' },
  ...{ Date: 'date', DateTime: 'dateTime', Time: 'time' },
};

/** The name of a type of FHIR, also where a URL or FHIRPath names it. */
function typeName(type: string): string {
  const name = type.replace(/^(?:http:\/\/hl7\.org\/fhirpath\/)?(?:System\.)?/, '');
  const own = Object.hasOwn(FHIRPATH, name) ? FHIRPATH[name] : undefined;
  return own ?? type.replace('http://hl7.org/fhir/StructureDefinition/', '');
}

function wrongName(name: unknown): string {
  const what = name === undefined ? 'is required:' : `is ${quote(String(name))};`;
  return `${what} a name has a letter, then up to 254 letters, digits and underscores`;
}

/** Faults that are listed at once. */
const MOST_FAULTS = 100;

/** The columns of a selection, and of what is nested in it, in the order of the table. */
export function columnsOf(selection: Selection): readonly ColumnDefinition[] {
  const [branch] = selection.unionAll;
  return [
    ...selection.columns,
    ...selection.selects.flatMap(columnsOf),
    ...(branch === undefined ? [] : columnsOf(branch)),
  ];
}
