import type { Call, Reply } from '../core/call.js';
import { withinBudget } from '../search-execution/execute/search-budget.js';
import type { Services } from '../core/services.js';
import { FhirError } from '../fhir/errors.js';
import type { Resource } from '../fhir/resource.js';
import { yieldUntil } from '../fhir/yield-until.js';
import type { Misshape } from '../patch/diff/diff-shape.js';
import type { PatchModel } from '../patch/fhirpath/fhirpath-model.js';
import { readArguments, valueOf, type Arguments } from './common/arguments.js';
import { parseNamed, readNamed, type NamedResource, type ReadResource } from './common/read-argument.js';

/**
 * `$diff`: a FHIRPath Patch that makes one version of a resource another, or one resource another of its type. Identity and
 * `meta` are left out; `includeMeta` compares `meta` too. https://hl7.org/fhir/R5/fhirpatch.html
 *
 * @throws FhirError `parameter-invalid`, `scope-missing`, `not-found`, `deleted`, `diff-impossible`
 */
export async function diff(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const hasMeta = valueOf(found, 'includeMeta') === true;
  const { from, to } =
    call.level === 'system' ? await readTwo(found, call, services) : await readVersions(found, call, services);
  const about = [from, to].flatMap((each) => (each === undefined ? [] : [whole(each)]));
  if (from === undefined) return { status: 200, resource: insertionOf(to.resource), about };
  const pace = yieldUntil(call.signal);
  const [{ attempts }, { findMisshape, withoutCommon }, model] = await Promise.all([
    import('../patch/diff/diff.js'),
    import('../patch/diff/diff-shape.js'),
    modelOf(services),
  ]);
  const [before, after] = withoutCommon(comparable(from.resource, hasMeta), comparable(to.resource, hasMeta), model);
  for (const [content, read] of [
    [before, from],
    [after, to],
  ] as const) {
    await pace();
    const fault = findMisshape(content, model);
    if (fault !== undefined) throw impossible(read, fault);
  }
  for (const patch of attempts(before, after, model, { previousValue: true })) {
    if (patch !== undefined) return { status: 200, resource: patch, about };
    await pace();
  }
  throw new Error('no attempt was the last');
}

function whole({ resource }: ReadResource) {
  return { type: resource.resourceType, id: String(resource['id']), json: resource };
}

interface Pair {
  /** Undefined: no earlier version with content exists. */
  readonly from: ReadResource | undefined;
  readonly to: ReadResource;
}

/** The resources that `from` and `to` name. Types are compared before anything is read. */
async function readTwo(found: Arguments, call: Call, services: Services): Promise<Pair> {
  const to = parseNamed(String(valueOf(found, 'to')), 'to', services);
  const from = withVersion(parseNamed(String(valueOf(found, 'from')), 'from', services), found);
  if (from.type !== to.type) {
    const text = `"from" names a ${from.type} and "to" a ${to.type}; only resources of one type can be compared`;
    throw new FhirError('parameter-invalid', text);
  }
  return { from: await readNamed(from, call, services), to: await readNamed(to, call, services) };
}

/** `fromVersion` is the version of a `from` that names none. */
function withVersion(from: NamedResource, found: Arguments): NamedResource {
  const versionId = fromVersionOf(found);
  if (versionId === undefined) return from;
  if (from.versionId !== undefined && from.versionId !== versionId) {
    const text = `"from" names version ${from.versionId}, and "fromVersion" is ${versionId}; give one of the two`;
    throw new FhirError('parameter-invalid', text);
  }
  return { ...from, versionId };
}

/** The version in the URL, or the current one, and the version that it is compared with. */
async function readVersions(found: Arguments, call: Call, services: Services): Promise<Pair> {
  const { type = '', id = '', versionId } = call;
  const fromVersion = fromVersionOf(found);
  const to = await readNamed({ type, id, ...(versionId !== undefined && { versionId }) }, call, services);
  if (fromVersion !== undefined) {
    return { from: await readNamed({ type, id, versionId: fromVersion }, call, services), to };
  }
  return { from: await readBefore({ type, id }, to.version, call, services), to };
}

function fromVersionOf(found: Arguments): string | undefined {
  const text = valueOf(found, 'fromVersion') as string | undefined;
  if (text === undefined || /^[1-9][0-9]*$/.test(text)) return text;
  throw new FhirError('parameter-invalid', 'The parameter "fromVersion" is the id of a version: a number from 1');
}

/** The nearest earlier version that has content and that the token may see; expunged ones and deletions are passed over. */
async function readBefore(
  named: NamedResource,
  version: number,
  call: Call,
  services: Services,
): Promise<ReadResource | undefined> {
  return withinBudget(services.limits.queryTime, call.signal, async (signal) => {
    for (let before = version - 1; before >= 1; before--) {
      signal?.throwIfAborted();
      try {
        return await readNamed({ ...named, versionId: String(before) }, call, services);
      } catch (error) {
        if (!(error instanceof FhirError && (error.code === 'not-found' || error.code === 'deleted'))) throw error;
      }
    }
    return undefined;
  });
}

function impossible({ resource, version }: ReadResource, { path, text }: Misshape): FhirError {
  const named = `${resource.resourceType}/${String(resource.id)}/_history/${version}`;
  return new FhirError('diff-impossible', `No FHIRPath Patch tells what ${named} has: ${path} ${text}`, {
    expression: path,
  });
}

/** Where nothing came before, all of the resource is new. */
function insertionOf(resource: Resource): Resource {
  const part = [
    { name: 'type', valueCode: 'insert' },
    { name: 'path', valueString: resource.resourceType },
    { name: 'value', resource },
  ];
  return { resourceType: 'Parameters', parameter: [{ name: 'operation', part }] };
}

function comparable(resource: Resource, hasMeta: boolean): Resource {
  const { id: _id, meta, ...rest } = resource;
  return { ...rest, ...(hasMeta && meta !== undefined && { meta }) } as Resource;
}

const models = new WeakMap<object, Promise<PatchModel>>();

/** The types as patches see them, made on first use. */
function modelOf({ tables }: Services): Promise<PatchModel> {
  const made = models.get(tables.types);
  if (made !== undefined) return made;
  const model = import('../patch/fhirpath/fhirpath-model.js').then((module) => module.createPatchModel(tables));
  models.set(tables.types, model);
  return model;
}
