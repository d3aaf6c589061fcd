import type { ElementRow, PathStep, Tables, TypeRow } from '../../../runtime/contract/index.js';

/**
 * Makes resources that have every element, so that every path of every type leads somewhere: official examples leave
 * many untrodden. Over the variants each type of each choice, each code that a path asks for, each kind of target and
 * each form of a reference has its turn; now and then an element is left out. The content means nothing and breaks
 * invariants.
 */
export function createFilledResources(tables: Tables): (type: string, variant: number) => Record<string, unknown> {
  const types = new Map(tables.types.map((row) => [row.name, row]));
  const codes = new Map(tables.codes.map(({ url, codes: bySystem }) => [url, Object.values(bySystem).flat()]));
  return (type, variant) => {
    const asked = askedFor(tables, type);
    const fill = (name: string, element: ElementRow | undefined, above: readonly string[]): unknown => {
      const turn = variant + above.length;
      const row = types.get(name);
      if (row === undefined) return primitive(name, turn, element, codes, asked);
      if (name === 'Extension' && above.length > 4) return undefined;
      if (above.filter((one) => one === name).length > 1 || above.length > 6) return undefined;
      if (name === 'Resource' || row.abstract) return { resourceType: pick(asked.types, turn), id: 'inner' };
      if (name === 'Reference') return reference(turn, [...new Set([...asked.types, ...targetsOf(element)])]);
      const value: Record<string, unknown> = row.kind === 'resource' ? { resourceType: name } : {};
      for (const child of elementsOf(row, types)) {
        if (child.xml === 'xhtml' || (row.kind === 'resource' && child.name === 'contained')) continue;
        addChild(value, child, turn, [...above, name]);
      }
      return value;
    };
    const addChild = (
      value: Record<string, unknown>,
      child: ElementRow,
      turn: number,
      above: readonly string[],
    ): void => {
      if (isLeftOut(child.name, above.length, variant)) return;
      const childType = pick(child.types, turn);
      const key = child.choice ? child.name + childType.charAt(0).toUpperCase() + childType.slice(1) : child.name;
      if (childType === 'Extension') {
        const extensions = asked.extensions.map((url) => ({ ...(fill('Extension', child, above) as object), url }));
        if (extensions.length > 0 && above.length < 4) value[key] = extensions;
        return;
      }
      const content = fill(childType, child, above);
      if (content === undefined) return;
      const second = child.max === '*' && above.length < 2 ? [fill(childType, child, [...above, ''])] : [];
      value[key] = child.max === '*' ? [content, ...second] : content;
    };
    const resource = fill(type, undefined, []) as Record<string, unknown>;
    resource['id'] = `filled-${variant}`;
    resource['contained'] = asked.types.map((resourceType) => ({ resourceType, id: `c-${resourceType}` }));
    return resource;
  };
}

/** Variants from 60 on lack one element in seven, each of them others. */
function isLeftOut(name: string, depth: number, variant: number): boolean {
  let sum = depth;
  for (const character of name) sum += character.charCodeAt(0);
  return variant >= 60 && (sum + variant) % 7 === 6;
}

/** What the paths of a type ask for. */
interface Asked {
  readonly types: readonly string[];
  readonly words: readonly string[];
  readonly extensions: readonly string[];
}

function askedFor(tables: Tables, type: string): Asked {
  const types = new Set(['Patient', 'Basic']);
  const words = new Set(['Text']);
  const extensions = new Set<string>();
  const walk = (steps: readonly PathStep[]): void => {
    for (const step of steps) {
      if ('refers' in step) types.add(step.refers);
      if ('is' in step) types.add(step.is);
      if ('extension' in step) extensions.add(step.extension);
      if ('where' in step) {
        if (typeof step.equals === 'string') words.add(step.equals);
        walk(step.where);
      }
      if ('union' in step) step.union.forEach(walk);
    }
  };
  for (const { paths, components } of tables.search.find((table) => table.type === type)?.parameters ?? []) {
    for (const path of [...paths, ...(components ?? []).flatMap((component) => component.paths)]) walk(path.steps);
  }
  return { types: [...types], words: [...words], extensions: [...extensions] };
}

function elementsOf(row: TypeRow, types: ReadonlyMap<string, TypeRow>): readonly ElementRow[] {
  const base = row.base === undefined ? undefined : types.get(row.base);
  return base === undefined ? row.elements : [...elementsOf(base, types), ...row.elements];
}

function targetsOf(element: ElementRow | undefined): readonly string[] {
  return Object.values(element?.targets ?? {})
    .flat()
    .slice(0, 12);
}

function reference(turn: number, types: readonly string[]): object {
  const type = pick(types, turn);
  const identifier = { system: 'http://example.org/ids', value: `v${turn}` };
  const forms: readonly object[] = [
    { reference: `${type}/r${turn}` },
    { reference: `http://example.org/fhir/${type}/r${turn}`, type: 'Basic' },
    { reference: `${type}/r${turn}/_history/2`, identifier },
    { reference: `#c-${type}` },
    { reference: 'urn:uuid:c757873d-ec9a-4326-a141-556f43239520', type },
    { identifier, type },
    { reference: `http://example.org/fhir/${type}/r/_history/1` },
  ];
  return forms[Math.floor(turn / types.length) % forms.length] ?? {};
}

function primitive(
  name: string,
  turn: number,
  element: ElementRow | undefined,
  codes: ReadonlyMap<string, readonly string[]>,
  asked: Asked,
): unknown {
  const sample = samples[name];
  if (sample !== undefined) return sample(turn);
  const bound = codes.get(element?.binding?.valueSet ?? '') ?? [];
  const pool = [...asked.words.filter((word) => bound.length === 0 || bound.includes(word)), ...bound.slice(0, 2)];
  return pick(pool, turn);
}

/** Text types not named here take the words that paths ask for. */
const samples: Readonly<Record<string, (turn: number) => unknown>> = {
  boolean: (turn) => turn % 3 === 0,
  integer: (turn) => turn,
  positiveInt: (turn) => turn + 1,
  unsignedInt: (turn) => turn,
  integer64: (turn) => String(turn),
  decimal: (turn) => turn + 0.5,
  date: (turn) => `20${10 + (turn % 80)}-03-04`,
  dateTime: (turn) => `20${10 + (turn % 80)}-03-04T05:06:07+01:00`,
  instant: (turn) => `20${10 + (turn % 80)}-03-04T05:06:07.125Z`,
  time: () => '10:00:00',
  base64Binary: () => 'AAAA',
  uri: (turn) => `http://example.org/u${turn}`,
  url: (turn) => `http://example.org/u${turn}`,
  uuid: () => 'urn:uuid:c757873d-ec9a-4326-a141-556f43239520',
  oid: () => 'urn:oid:1.2.3',
  canonical: (turn) => `http://example.org/ValueSet/v${turn}|1.0#part`,
};

function pick(pool: readonly string[], turn: number): string {
  return pool[turn % pool.length] ?? '';
}
