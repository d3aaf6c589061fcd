import type { ProfileTypeRow } from '../../contract/profiles.js';
import { isObject, type Resource } from '../../fhir/resource.js';
import { PENDING } from './answers.js';
import type { FhirTypes } from './fhir-types.js';
import type { ElementValue } from './item.js';
import type { ItemCheck, ProfileRun } from './profile-run.js';
import { baseType, typeOfProfile } from './profile-type.js';
import { namedType } from './references.js';

/** Types that an element is restricted to, the profiles of its values, and what its references may point to. */
export function compileTypes(rows: readonly ProfileTypeRow[]): ItemCheck {
  const codes = rows.flatMap(({ code }) => code ?? []);
  const isAny = codes.length < rows.length;
  return (item, run) => {
    const mine = rows.filter(({ code }) => code === undefined || isType(item.type, code, run.deps.types));
    if (!isAny && mine.length === 0) {
      const text = `is of type ${item.type}; the profile admits ${codes.join(', ')}`;
      run.report({ severity: 'error', issue: 'structure', key: 'type', text });
      return;
    }
    checkProfiles(item, mine, run);
    checkAggregation(item, mine, run);
    checkTargets(item, mine, run);
  };
}

/** Whether a type is this one, or specializes or implements it. */
export function isType(type: string, code: string, types: FhirTypes): boolean {
  return type === code || (types.kindOf(type) === 'resource' && types.kinds(type).includes(code));
}

function checkProfiles(item: ElementValue, rows: readonly ProfileTypeRow[], run: ProfileRun): void {
  const profiles = rows.flatMap(({ profiles: each = [] }) => each);
  if (profiles.length === 0 || rows.some(({ profiles: each }) => each === undefined)) return;
  if (item.type === 'Extension' && !profiles.some((each) => isForProfiles(each, run))) return;
  const [only] = profiles;
  if (profiles.length === 1) run.conforms(item, only!);
  else if (!profiles.some((each) => run.doesConform(item, each))) {
    const text = `conforms to none of ${profiles.join(', ')}`;
    run.report({ severity: 'error', issue: 'structure', key: 'profile', text });
  }
}

/** Whether an extension is checked here: others are checked by their own definitions, wherever they are. */
function isForProfiles(url: string, run: ProfileRun): boolean {
  if (run.deps.tellsAll === true) return false;
  const row = run.find(url);
  return row !== PENDING && row?.trial === true;
}

/** Where the target of a reference is. Outside of a Bundle nothing is known of one that the target should be in. */
function checkAggregation(item: ElementValue, rows: readonly ProfileTypeRow[], run: ProfileRun): void {
  if (rows.some(({ aggregation }) => aggregation === undefined)) return;
  const modes = new Set(rows.flatMap(({ aggregation: each = [] }) => each));
  const text = referenceOf(item)?.text;
  if (text === undefined || modes.size === 0) return;
  const isContained = text.startsWith('#');
  const isElsewhere = !isContained && run.scope.entries !== undefined && run.resolveWithin(text) === undefined;
  if (isContained ? modes.has('contained') : modes.has('referenced') || (modes.has('bundled') && !isElsewhere)) return;
  const found = isContained ? 'is contained' : isElsewhere ? 'is not in the Bundle' : 'is not contained';
  const admitted = [...modes].join(', ');
  const words = `refers to ${JSON.stringify(text.slice(0, 100))}, which ${found}; the profile admits what is ${admitted}`;
  run.report({ severity: 'error', issue: 'value', key: 'aggregation', text: words });
}

function checkTargets(item: ElementValue, rows: readonly ProfileTypeRow[], run: ProfileRun): void {
  if (rows.some(({ targets }) => targets === undefined)) return;
  const targets = rows.flatMap(({ targets: each = [] }) => each);
  const reference = referenceOf(item);
  if (reference === undefined) return;
  const verdicts = new Set(targets.map((each) => pointsTo(reference, each, run)));
  if (verdicts.has('right')) return;
  const admitted = targets.join(', ');
  const text = verdicts.has('unlike')
    ? `refers to ${describe(reference, run)}, which does not conform to ${admitted}`
    : `refers to ${describe(reference, run)}; the profile admits ${admitted}`;
  run.report({ severity: 'error', issue: 'value', key: 'reference', text });
}

/** A reference as far as it says to what. */
interface SentReference {
  readonly text: string | undefined;
  readonly type: string | undefined;
}

function referenceOf({ value, type }: ElementValue): SentReference | undefined {
  if (type === 'canonical') return undefined;
  const reference = type === 'CodeableReference' && isObject(value) ? value['reference'] : value;
  if (!isObject(reference)) return undefined;
  const { reference: text, type: named } = reference;
  return {
    text: typeof text === 'string' ? text : undefined,
    type: typeof named === 'string' ? named.slice(named.lastIndexOf('/') + 1) : undefined,
  };
}

/**
 * The type of what a reference points to, and the resource where it is to be had.
 *
 * @param how `type`: where the reference itself tells the type, nothing is looked up
 */
export function targetOf(
  item: ElementValue,
  run: ProfileRun,
  how: 'type' | 'resource',
): { readonly type?: string; readonly resource?: Resource } {
  const { text, type } = referenceOf(item) ?? {};
  const isNamed = how === 'type' && text !== undefined && namedType(text) !== undefined;
  const resource = text === undefined ? undefined : isNamed ? run.resolveWithin(text) : run.resolve(text);
  if (resource !== undefined) return { type: resource.resourceType, resource };
  const named = (text === undefined ? undefined : namedType(text)) ?? type;
  return named === undefined ? {} : { type: named };
}

/** Right, or undecided; or the target is of another type, or does not conform. */
type Verdict = 'right' | 'other type' | 'unlike';

function pointsTo({ text, type }: SentReference, profile: string, run: ProfileRun): Verdict {
  const wanted = typeOfProfile(profile, run);
  // Nothing to compare: an unknown profile.
  if (wanted === undefined || wanted === PENDING) return 'right';
  const isForType = baseType(profile, run) !== undefined;
  const within = text === undefined ? undefined : run.resolveWithin(text);
  const named = within?.resourceType ?? (text === undefined ? undefined : namedType(text)) ?? type;
  if (isOtherType(named, wanted, run)) return 'other type';
  // Where the text of the reference tells all, nothing is looked up.
  const target = text === undefined || (isForType && named !== undefined) ? within : run.resolve(text);
  if (target === undefined) return 'right';
  if (isOtherType(target.resourceType, wanted, run)) return 'other type';
  if (isForType) return 'right';
  return run.doesConform({ value: target, beside: undefined, type: target.resourceType }, profile) ? 'right' : 'unlike';
}

/** Undefined, or no type at all: the reference does not say what it leads to. */
function isOtherType(type: string | undefined, wanted: string, { deps }: ProfileRun): boolean {
  return type !== undefined && deps.types.kindOf(type) !== undefined && !isType(type, wanted, deps.types);
}

function describe({ text, type }: SentReference, run: ProfileRun): string {
  const target = text === undefined ? undefined : run.resolveWithin(text);
  const named = target?.resourceType ?? type;
  return `${JSON.stringify(text?.slice(0, 100) ?? '')}${named === undefined ? '' : ` (${named})`}`;
}
