import { FhirError } from '../../fhir/errors.js';
import { equalJson } from '../../fhir/equal.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { canonicalText } from './diff-canonical.js';
import { listSteps } from './diff-list.js';
import { pairItems } from './diff-pairs.js';
import { writeValue } from './diff-value.js';
import { readItems, type PatchItem } from '../fhirpath/fhirpath-items.js';
import type { PatchElement, PatchModel, PatchType } from '../fhirpath/fhirpath-model.js';
import { MAX_PATCH_OPERATIONS } from '../patch-limits.js';

/** How differences are reported. */
export interface DiffOptions {
  /** Whether `replace` also tells the value before, as the part `previousValue`; patches take no notice of it. */
  readonly previousValue?: boolean;
  /** How many operations there may be; beyond it elements are reported as a whole. Default: as many as a patch may have. */
  readonly maxOperations?: number;
}

/** Operations that an element below the resource may take, each tried where the one before gives too many in all. */
const FINENESS = [Infinity, 256, 64, 16, 4, 1] as const;

/**
 * A FHIRPath Patch that makes one version of a resource another, to the text of numbers: a Parameters resource, without
 * parameters where there is no difference. Elements come in the order in which types define them. What is the same
 * FHIR in other JSON is no difference: the order of properties, and `null`s that arrays are filled up with.
 *
 * There are more operations than `maxOperations` only where more items of the resource's own lists differ: an operation
 * cannot be about several of them.
 * https://hl7.org/fhir/R5/fhirpatch.html
 *
 * Each attempt begins when the one before has made too many operations, and others may have their turn in between.
 *
 * @param from valid in structure, and so `to`
 * @returns the patch at last, undefined before
 * @throws FhirError `too-costly` where they differ in very many places
 * @throws Error where the two are of different types, or have properties that their types do not know
 */
export function* attempts(
  from: Resource,
  to: Resource,
  model: PatchModel,
  options: DiffOptions = {},
): Generator<Resource | undefined> {
  if (from.resourceType !== to.resourceType) throw new Error('only resources of one type can be compared');
  const { maxOperations = MAX_PATCH_OPERATIONS } = options;
  for (const most of FINENESS) {
    const parameter: JsonValue[] = [];
    new Comparison(model, options, parameter, most).objects(from, to, from.resourceType, from.resourceType);
    const isLast = parameter.length <= maxOperations || most === FINENESS.at(-1);
    yield isLast ? { resourceType: 'Parameters', ...(parameter.length === 0 ? {} : { parameter }) } : undefined;
    if (isLast) return;
  }
}

/** Operations that are made at all, though there are too many for a patch. */
const MOST_OPERATIONS = 5000;

/** Items of the two versions of a list, those aside that are the same at both ends. */
const MOST_ITEMS = 10_000;

/** Values in items of all lists, in both versions together: each is written as a text, to find what moved. */
const MOST_VALUES = 100_000;

function tooMany(where: string): FhirError {
  return new FhirError('diff-impossible', `The two differ ${where}; read both instead`);
}

class Comparison {
  private left = MOST_VALUES;

  constructor(
    private readonly model: PatchModel,
    private readonly options: DiffOptions,
    private readonly operations: JsonValue[],
    /** Operations within one value; where there would be more, it is replaced. */
    private readonly most: number,
  ) {}

  /** The children of two objects of one type. */
  objects(from: JsonObject, to: JsonObject, typeName: string, path: string): void {
    const type = this.model.type(typeName);
    if (type === undefined) throw new Error(`there is no type ${typeName}`);
    refuseUnknown(type, from);
    refuseUnknown(type, to);
    for (const element of type.elements.values()) {
      if (element.list) this.lists(from, to, type, element, path);
      else this.singles(from, to, type, element, path);
    }
  }

  private singles(from: JsonObject, to: JsonObject, type: PatchType, element: PatchElement, path: string): void {
    const [before] = this.valuesOf(from, type, element);
    const [after] = this.valuesOf(to, type, element);
    const own = `${path}.${element.name}`;
    if (before === undefined) {
      if (after !== undefined) this.add(path, element, after);
    } else if (after === undefined) this.operation('delete', own);
    else this.values(before, after, own);
  }

  private lists(from: JsonObject, to: JsonObject, type: PatchType, element: PatchElement, path: string): void {
    const before = this.valuesOf(from, type, element);
    const after = this.valuesOf(to, type, element);
    const own = `${path}.${element.name}`;
    if (before.length === 0) {
      for (const value of after) this.add(path, element, value);
      return;
    }
    const [start, end] = sameEnds(before, after);
    const old = before.slice(start, before.length - end);
    const fresh = after.slice(start, after.length - end);
    if (old.length + fresh.length > MOST_ITEMS) throw tooMany(`in a list of more than ${MOST_ITEMS} items, ${own}`);
    for (const { item } of [...old, ...fresh]) {
      this.count(item.value);
      this.count(item.twin);
    }
    const pairs = pairItems(old.map(textOf), fresh.map(textOf));
    for (const step of listSteps(old.length, pairs)) {
      if (step.type === 'delete') this.operation('delete', `${own}[${start + step.index}]`);
      else if (step.type === 'move') {
        const positions = { source: start + step.source, destination: start + step.destination };
        this.operation(
          'move',
          own,
          ...Object.entries(positions).map(([name, valueInteger]) => ({ name, valueInteger })),
        );
      } else {
        const value = fresh[step.item];
        if (value === undefined) continue;
        this.operation('insert', own, { name: 'index', valueInteger: start + step.index }, this.value('value', value));
      }
    }
    pairs.source.forEach((from, i) => {
      const [was, is] = [from === undefined ? undefined : old[from], fresh[i]];
      if (was !== undefined && is !== undefined) this.values(was, is, `${own}[${start + i}]`);
    });
  }

  /** Two values of one element. */
  private values(before: Value, after: Value, path: string): void {
    if (isSame(before, after)) return;
    const [from, to] = [before.item.value, after.item.value];
    if (isObject(from) && isObject(to) && before.type === after.type && areVersions(from, to)) {
      const start = this.operations.length;
      this.objects(from, to, after.type, path);
      if (this.operations.length - start <= this.most) return;
      this.operations.length = start;
    }
    const previous = this.options.previousValue === true ? [this.value('previousValue', before)] : [];
    this.operation('replace', path, ...previous, this.value('value', after));
  }

  /** Counts a value with all that is in it. @throws FhirError `diff-impossible` */
  private count(value: JsonValue | undefined): void {
    if (--this.left < 0) throw tooMany(`in lists of more than ${MOST_VALUES} values together`);
    if (Array.isArray(value)) for (const each of value) this.count(each);
    else if (isObject(value)) for (const each of Object.values(value)) this.count(each);
  }

  private valuesOf(holder: JsonObject, type: PatchType, element: PatchElement): readonly Value[] {
    return type.keysOf(element).flatMap(({ key, type: declared }) =>
      readItems(holder, key).map((item) => {
        const own = isObject(item.value) && this.model.isResource(declared) ? item.value['resourceType'] : undefined;
        return { item, type: typeof own === 'string' ? own : declared };
      }),
    );
  }

  private add(path: string, element: PatchElement, value: Value): void {
    this.operation('add', path, { name: 'name', valueString: element.name }, this.value('value', value));
  }

  private value(name: string, { item, type }: Value): JsonObject {
    return { name, ...writeValue(item, type, this.model) };
  }

  private operation(type: string, path: string, ...parts: readonly JsonObject[]): void {
    const head = [
      { name: 'type', valueCode: type },
      { name: 'path', valueString: path },
    ];
    this.operations.push({ name: 'operation', part: [...head, ...parts] });
    if (this.operations.length > MOST_OPERATIONS) throw tooMany(`in more than ${MOST_OPERATIONS} places`);
  }
}

/** A value of an element, and its type; of a resource its own. */
interface Value {
  readonly item: PatchItem;
  readonly type: string;
}

/** How many values two lists have in common at their beginnings, and at their ends. */
function sameEnds(a: readonly Value[], b: readonly Value[]): readonly [number, number] {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && isSame(a[start], b[start])) start++;
  let end = 0;
  while (end < most - start && isSame(a[a.length - 1 - end], b[b.length - 1 - end])) end++;
  return [start, end];
}

function isSame(a: Value | undefined, b: Value | undefined): boolean {
  return (
    a?.type === b?.type &&
    equalJson(a?.item.value ?? null, b?.item.value ?? null) &&
    equalJson(a?.item.twin ?? null, b?.item.twin ?? null)
  );
}

function textOf({ item, type }: Value): string {
  return `${type} ${canonicalText(item.value ?? null)} ${canonicalText(item.twin ?? null)}`;
}

/** Whether the parts that differ are reported: the two have something in common, and are not distinguished by id or url. */
function areVersions(a: JsonObject, b: JsonObject): boolean {
  const isOther = ['resourceType', 'id', 'url'].some((name) => !equalJson(a[name] ?? null, b[name] ?? null));
  return !isOther && Object.keys(a).some((name) => name !== 'resourceType' && Object.hasOwn(b, name));
}

function refuseUnknown(type: PatchType, object: JsonObject): void {
  for (const name of Object.keys(object)) {
    const key = name.startsWith('_') ? name.slice(1) : name;
    if (!type.keys.has(key) && name !== 'resourceType') throw new Error(`${type.name} has no property ${name}`);
  }
}
