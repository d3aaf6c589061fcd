import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { checkExtension, checkNumbers, type Holder } from './check-extension.js';
import { inResource } from './conforms.js';
import type { ProfileRun } from './profile-run.js';

/** Checks a resource that lies in another one; the run is at it. */
export type NestedCheck = (resource: Resource, run: ProfileRun) => void;

/** Goes through all that is in a resource: checks extensions by their definitions, and hands nested resources on. */
export function visitResource(resource: Resource, run: ProfileRun, hasProfile: boolean, nested: NestedCheck): void {
  const type = resource.resourceType;
  visitObject(resource, { type, path: type, parent: undefined, object: resource }, { run, hasProfile, nested });
}

interface Visit {
  readonly run: ProfileRun;
  /** Whether the resource is validated by a profile. */
  readonly hasProfile: boolean;
  readonly nested: NestedCheck;
}

/** A property: the element that it belongs to, and the type of its values; an empty text where that is not known. */
interface Member {
  readonly name: string;
  readonly type: string;
}

function visitObject(object: JsonObject, holder: Holder, visit: Visit): void {
  for (const key in object) {
    const value = object[key];
    if (typeof value !== 'object' || value === null) continue;
    const isBeside = key.startsWith('_');
    const member = visit.run.deps.types.member(holder.type, isBeside ? key.slice(1) : key);
    const { type = '', element } = member ?? {};
    visitMember(value, { name: element?.name ?? key, type }, holder, visit);
  }
}

function visitMember(value: JsonValue, member: Member, holder: Holder, visit: Visit): void {
  const { run } = visit;
  const { depth } = run;
  run.path[run.depth++] = member.name;
  if (Array.isArray(value)) {
    if (value.length > 1 && isExtensions(member)) checkNumbers(value, run);
    value.forEach((each, i) => {
      run.path[run.depth++] = i;
      visitValue(each, member, holder, visit);
      run.depth--;
    });
  } else visitValue(value, member, holder, visit);
  run.depth = depth;
}

function isExtensions({ name }: Pick<Member, 'name'>): boolean {
  return name === 'extension' || name === 'modifierExtension';
}

function visitValue(value: JsonValue, { name, type }: Member, holder: Holder, visit: Visit): void {
  if (!isObject(value)) return;
  const { run, hasProfile, nested } = visit;
  if (typeof value['resourceType'] === 'string') {
    inResource(value as Resource, run, () => nested(value as Resource, run));
    return;
  }
  if (isExtensions({ name })) {
    checkExtension(value, holder, { run, isModifier: name === 'modifierExtension', hasProfile });
  }
  visitObject(
    value,
    { type, path: `${holder.path}.${name}`, parent: { type: holder.type, name }, object: value },
    visit,
  );
}
