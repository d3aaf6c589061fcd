import type { ExtensionContextRow, ProfileRow } from '../../contract/profiles.js';
import { isObject, type JsonObject, type JsonValue } from '../../fhir/resource.js';
import { PENDING } from './answers.js';
import type { Finding, ProfileRun } from './profile-run.js';
import { unversioned } from './definition/structure-definition.js';

/** The element that has an extension. */
export interface Holder {
  /** Its type; of a backbone element the path; empty: unknown. */
  readonly type: string;
  /** Path from the resource: `Patient.contact.name`. */
  readonly path: string;
  /** The type around it, and the name that it has there. */
  readonly parent: { readonly type: string; readonly name: string } | undefined;
  readonly object: JsonObject;
}

interface ExtensionCheck {
  readonly run: ProfileRun;
  readonly isModifier: boolean;
  readonly hasProfile: boolean;
}

const ABSOLUTE = /^[a-z][a-z0-9+.-]*:/i;

/**
 * Checks an extension by its definition, where that is known here. Which ones may be used is for profiles to say; but one that changes
 * the meaning of what it extends and that is not known here is an error in a resource that is validated by a profile. In others it is a
 * warning: who stores a resource does not process it.
 * https://hl7.org/fhir/R5/extensibility.html
 */
export function checkExtension(extension: JsonObject, holder: Holder, check: ExtensionCheck): void {
  const { run, isModifier } = check;
  const { url } = extension;
  // Parts of an extension are named in the definition of the whole.
  if (typeof url !== 'string' || !ABSOLUTE.test(url)) return;
  const row = run.find(url);
  if (row === PENDING) return;
  if (row === undefined) {
    tellUnknown(url, check);
    return;
  }
  if (row.type !== 'Extension') {
    run.report(notRefused(`${url} defines no extension but a profile of ${row.type}`, run));
    return;
  }
  // An extension names no version of its definition, and those of a trial contradict each other: data by an earlier one is stored.
  if (row.trial === true && run.deps.tellsAll !== true) return;
  if ((row.modifier === true) !== isModifier) {
    const place = row.modifier === true ? 'modifierExtension' : 'extension';
    run.report(notRefused(`the extension ${url} belongs into ${place}`, run));
  }
  run.within(row, () => {
    checkContext(row, holder, run);
    checkContextRules(row, holder, run);
  });
  run.conforms({ value: extension, beside: undefined, type: 'Extension' }, url);
}

function tellUnknown(url: string, { run, isModifier, hasProfile }: ExtensionCheck): void {
  if (!isModifier) {
    const text = `the extension ${url} ${run.whyUnknown(url)}, so its value was not checked`;
    run.reportOnce(url, { severity: 'information', issue: 'extension', key: 'extension', text });
    return;
  }
  const remedy = run.deps.whyUnusable?.(url) === undefined ? 'store its StructureDefinition first' : 'correct it first';
  const text = `the modifier extension ${url} ${run.whyUnknown(url)}, so what it changes cannot be decided; ${remedy}`;
  run.report({ ...finding(text), severity: hasProfile ? 'error' : 'warning' });
}

function finding(text: string): Finding {
  return { severity: 'error', issue: 'extension', key: 'extension', text };
}

/**
 * Returns a finding about the place of an extension, or about what defines it, not about its content. A definition that one client stores
 * refuses no writes of others for that: `$validate` reports it as an error.
 */
function notRefused(text: string, run: ProfileRun): Finding {
  return { ...finding(text), severity: run.deps.tellsAll === true ? 'error' : 'warning' };
}

/**
 * Reports extensions that are there more often than the root of their definition says; the run is at the list. That limits nothing: a
 * profile does, in a slice. https://hl7.org/fhir/R5/defining-extensions.html#cardinality
 */
export function checkNumbers(extensions: readonly JsonValue[], run: ProfileRun): void {
  if (run.deps.tellsAll !== true) return;
  const numbers = new Map<string, number>();
  for (const extension of extensions) {
    const url = isObject(extension) ? extension['url'] : undefined;
    if (typeof url === 'string' && ABSOLUTE.test(url)) numbers.set(url, (numbers.get(url) ?? 0) + 1);
  }
  for (const [url, number] of numbers) {
    const row = number > 1 ? run.find(url) : undefined;
    if (row === undefined || row === PENDING || row.type !== 'Extension' || number <= (row.root.max ?? number))
      continue;
    const text = `the extension ${url} is there ${number} times; its definition expects ${row.root.max ?? ''} at most, where no profile says otherwise`;
    const said = { ...finding(text), severity: 'information', issue: 'informational', key: 'cardinality' } as const;
    run.within(row, () => run.report(said));
  }
}

/** https://hl7.org/fhir/R5/defining-extensions.html#context */
function checkContext({ url, contexts = [] }: ProfileRow, holder: Holder, run: ProfileRun): void {
  if (contexts.length === 0) return;
  const names = namesOf(holder, run);
  if (contexts.some((context) => mayStandOn(context, names, holder, run))) return;
  const places = contexts.map(({ type, expression }) => (type === 'element' ? expression : `${type} ${expression}`));
  run.report(notRefused(`the extension ${url} is not for ${holder.path}; it is for ${places.join(', ')}`, run));
}

/** https://hl7.org/fhir/R5/structuredefinition-definitions.html#StructureDefinition.contextInvariant */
function checkContextRules(
  { url, contextRules = [] }: ProfileRow,
  { type, path, object }: Holder,
  run: ProfileRun,
): void {
  // Of a primitive there is no value at hand.
  if (type === '' || run.deps.types.isPrimitive(type)) return;
  for (const rule of contextRules) {
    if (run.evaluate({ key: 'extension', expression: rule }, { value: object, type }) !== false) continue;
    run.report(notRefused(`the extension ${url} may be on ${path} only where ${rule}`, run));
  }
}

/** What contexts may call an element: its path, its type and what that specializes, and its name in the type around it. */
function namesOf({ type, path, parent }: Holder, run: ProfileRun): ReadonlySet<string> {
  const { types } = run.deps;
  const around = parent === undefined ? [] : types.kinds(parent.type).map((each) => `${each}.${parent.name}`);
  const own = type === '' ? [] : types.kinds(type);
  // `Element` means any place, resources too: tools write it where an author says nothing, and the validator of HL7 reads it so.
  const isResource = types.kindOf(type) === 'resource';
  return new Set([path, ...own, ...around, ...(isResource ? ['Resource'] : []), 'Element', 'Base']);
}

function mayStandOn(
  { type, expression }: ExtensionContextRow,
  names: ReadonlySet<string>,
  holder: Holder,
  run: ProfileRun,
): boolean {
  if (type === 'extension') return holder.type === 'Extension' && holder.object['url'] === nameOf(expression);
  if (type === 'fhirpath') return isSelected(expression, run);
  // `url#id` is an element of a profile: only its place is compared.
  const element = expression.slice(expression.indexOf('#') + 1).replaceAll(/:[^.]*|\[x\]/g, '');
  return names.has(element);
}

/** The URL that an extension has which is a context: `part` for `url#part`, which is a part of another one. */
function nameOf(expression: string): string {
  return unversioned(expression).split('#').at(-1) ?? expression;
}

/** Whether an expression finds anything in the resource. Whether that is this very element is not checked. */
function isSelected(expression: string, run: ProfileRun): boolean {
  const { resource } = run.scope;
  const rule = { key: 'extension', expression: `(${expression}).exists()` };
  return run.evaluate(rule, { value: resource, type: resource.resourceType }) !== false;
}
