import type { ErrorObject } from 'ajv';
import type { Tables } from '../../../runtime/contract/index.js';
import type { Fault } from '../../../runtime/validate/fault.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import { readExample } from '../formats/examples.js';
import type { JsonSchemaOracle } from './json-schema-oracle.js';
import { MUTATIONS, pick, seeded, type Mutation, type Random } from './validate-mutations.js';
import { createFindSlots, type Slot } from './validate-slots.js';

/** A changed example, and what each side says of it. */
export interface Case {
  readonly file: string;
  readonly mutation: Mutation;
  readonly slot: Slot;
  /** What exactly was changed. */
  readonly what: string;
  readonly faults: readonly Fault[];
  readonly error: ErrorObject | undefined;
}

/** A way in which the official JSON schema differs from the specification. */
interface Difference {
  readonly reason: string;
  readonly explains: (one: Case) => boolean;
}

const kind = (...kinds: readonly string[]) => {
  return ({ mutation }: Case): boolean => kinds.includes(mutation.kind);
};
const badOf = (pattern: RegExp) => {
  return ({ mutation, what }: Case): boolean => mutation.kind === 'bad primitive' && pattern.test(what);
};

/**
 * The official examples that the schema refuses, wrongly, and why. It takes a canonical for a complex type: it requires
 * it, and knows no `_name` for it; and it allows no null in arrays.
 */
export const REFUSED_BY_SCHEMA: Readonly<Record<string, string>> = {
  'Bundle-searchParams.json': '/entry/17/resource/_base/0 must be object',
  'QuestionnaireResponse-f201.json': "must have required property 'questionnaire'",
  'StructureDefinition-example-composition.json':
    '/differential/element/2/type/0 must NOT have additional properties _profile',
  'TestScript-testscript-example-history.json': 'must NOT have additional properties _profile',
  'TestScript-testscript-example-readtest.json': 'must NOT have additional properties _profile',
  'TestScript-testscript-example-search.json': 'must NOT have additional properties _profile',
  'TestScript-testscript-example-update.json': 'must NOT have additional properties _profile',
  'TestScript-testscript-example.json': 'must NOT have additional properties _profile',
};

/** What the schema has against a resource, in short. */
export function tellError({ instancePath, message, params }: ErrorObject): string {
  return `${instancePath} ${message} ${String((params as { additionalProperty?: string }).additionalProperty ?? '')}`.trim();
}

/** Where the schema is laxer than the specification, and we are not. */
export const LAXER: readonly Difference[] = [
  {
    reason: 'requires no primitive: extensions may stand for it, which the schema cannot say',
    explains: ({ mutation, slot }) => mutation.kind === 'required element dropped' && slot.isPrimitive,
  },
  {
    reason: 'requires no choice element',
    explains: ({ mutation, slot }) => mutation.kind === 'required element dropped' && slot.element.choice === true,
  },
  { reason: 'lets arrays and objects be empty', explains: kind('empty array', 'empty object') },
  {
    reason: 'lets strings be empty where its pattern does, or where it has none',
    explains: (one) =>
      one.mutation.kind === 'empty string' && /^(?:uri|url|canonical|base64Binary|xhtml) /.test(one.what),
  },
  { reason: 'lets a choice have two types', explains: kind('two types of a choice') },
  { reason: 'does not compare an array with that of its siblings', explains: kind('siblings not aligned') },
  {
    reason: 'lets siblings and their extensions be empty',
    explains: ({ mutation, what }) =>
      mutation.kind === 'malformed sibling' && ['{}', '[]', '{"extension":[]}'].includes(what),
  },
  { reason: 'takes an id for a value', explains: kind('sibling with an id for a value') },
  {
    reason: 'does not know ext-1, nor that an extension needs its url',
    explains: ({ mutation, what }) => mutation.kind === 'malformed extension' && !/Humanname|"url":1/.test(what),
  },
  {
    reason: 'gives extensions to the url of an extension',
    explains: ({ mutation, what }) => mutation.kind === 'sibling where there are no extensions' && what === 'url',
  },
  {
    reason: 'applies patterns of text to numbers, where JSON schema ignores them',
    explains: badOf(/^(?:decimal|integer|positiveInt|unsignedInt) /),
  },
  {
    reason: 'has no pattern for base64Binary, where an element refers to its definition',
    explains: badOf(/^base64Binary /),
  },
  { reason: 'does not anchor each alternative of integer64', explains: badOf(/^integer64 /) },
  { reason: 'knows no calendar', explains: badOf(/^(?:date|dateTime|instant) "20(?:20-02-30|19-02-29|21-02-29)/) },
  {
    reason: 'lets a time go without zone, and a zone without time',
    explains: badOf(/^dateTime "20(?:20-01-01T00:00:00|20Z)"/),
  },
  {
    reason: 'takes texts of white space alone, which XML cannot have',
    explains: badOf(/^(?:string|markdown) "(?:\\n| )+"/),
  },
  { reason: 'allows control characters', explains: badOf(/\\u00[01]|\\b/) },
  {
    reason: 'has no type for the text of a narrative',
    explains: ({ mutation, slot }) =>
      slot.type === 'xhtml' && ['wrong JSON type', 'null', 'one value in an array'].includes(mutation.kind),
  },
];

/** Where the schema is stricter than the specification, and we are not. */
export const STRICTER: readonly Difference[] = [
  {
    reason: 'gives no extensions to a canonical',
    explains: ({ slot, mutation }) =>
      slot.type === 'canonical' && /^extension (?:for|beside) a value$/.test(mutation.kind),
  },
  { reason: 'allows no null in arrays', explains: kind('null filled up with extensions') },
  {
    reason: 'knows the codes of some required bindings, which are no matter of structure',
    explains: ({ mutation, error }) => mutation.kind === 'another value' && error?.keyword === 'enum',
  },
];

/** What a comparison found. */
export interface Agreement {
  readonly cases: number;
  /** How often which kind of change was made. */
  readonly kinds: ReadonlyMap<string, number>;
  /** How often which difference was met. */
  readonly differences: ReadonlyMap<string, number>;
  /** Cases in which we are not of the specification's opinion, or the schema differs without a known reason. */
  readonly unexplained: readonly string[];
}

/** Compares on so many changes of each of these examples (which the schema has to accept), the same ones at each run. */
export function compareOnMutations(
  tables: Tables,
  oracle: JsonSchemaOracle,
  files: readonly string[],
  perFile: number,
): Agreement {
  const validate = createValidator(tables);
  const findSlots = createFindSlots(tables);
  const differences = new Map([...LAXER, ...STRICTER].map(({ reason }) => [reason, 0]));
  const kinds = new Map(MUTATIONS.map((mutation) => [mutation.kind, 0]));
  const unexplained: string[] = [];
  let cases = 0;
  files.forEach((file, seed) => {
    const random = seeded(seed);
    const { text } = readExample(file);
    if (file in REFUSED_BY_SCHEMA) return;
    for (let i = 0; i < perFile; i++) {
      const mutation = MUTATIONS[(seed * perFile + i) % MUTATIONS.length]!;
      const resource = JSON.parse(text) as Record<string, unknown>;
      const slots = findSlots(resource);
      for (let tries = 0; tries < 30; tries++) {
        const slot = pickSlot(slots, random);
        const what = mutation.apply(slot, random);
        if (what === undefined) continue;
        cases++;
        kinds.set(mutation.kind, kinds.get(mutation.kind)! + 1);
        const one: Case = { file, mutation, slot, what, faults: validate(resource), error: oracle(resource) };
        const verdict = judge(one);
        if (verdict.startsWith('!')) unexplained.push(`${verdict} ${tell(one)}`);
        else if (verdict !== '') differences.set(verdict, differences.get(verdict)! + 1);
        break;
      }
    }
  });
  return { cases, kinds, differences, unexplained };
}

/** By type as often as by place, or rare types would hardly ever have their turn. */
function pickSlot(slots: readonly Slot[], random: Random): Slot {
  if (random() < 0.5) return pick(slots, random);
  const type = pick([...new Set(slots.map((slot) => slot.type))], random);
  return pick(
    slots.filter((slot) => slot.type === type),
    random,
  );
}

/** The reason of a difference; empty where there is none; with `!` where it has none. */
function judge(one: Case): string {
  const { mutation, faults, error, slot } = one;
  if ((faults.length === 0) !== mutation.isValid) return '! we are wrong:';
  if (
    !mutation.isValid &&
    !faults.some(({ path }) => path.every((step, i) => i >= slot.path.length - 1 || step === slot.path[i]))
  ) {
    return '! the fault is elsewhere:';
  }
  if ((error === undefined) === mutation.isValid) return '';
  const known = (mutation.isValid ? STRICTER : LAXER).find(({ explains }) => explains(one));
  return known?.reason ?? '! the schema differs:';
}

function tell({ file, mutation, slot, what, faults, error }: Case): string {
  const theirs = error ? tellError(error) : 'accepted';
  return `${file}: ${mutation.kind} at ${slot.path.join('.')} (${what}): ours ${faults[0]?.text ?? 'accepted'}; schema ${theirs}`;
}
