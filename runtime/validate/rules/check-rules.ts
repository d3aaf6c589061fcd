import { toBoolean, isJson, PathItem, type Json } from '../../path/evaluate/item.js';
import { TooCostly } from '../../path/evaluate/environment.js';
import { checkBinding } from './check-base-binding.js';
import { checkLink, checkReference } from './check-reference.js';
import { bundleScopeOf, checkEntries } from './check-bundle.js';
import type { Child, FindRulePlan, Rule, RulePlan, Rules } from './rule-plan.js';
import type { NativeRule } from './native-rules.js';
import type { RuleRun } from './rule-run.js';
import { SPEC_CHECKS } from './spec-checks.js';

/** Objects within each other: more are a fault of structure, which is reported elsewhere. */
const MAX_DEPTH = 250;

/** Checks the rules of a resource; the run is at it. What has the wrong structure is passed over. */
export function checkResourceRules(resource: Json, find: FindRulePlan, run: RuleRun): void {
  const type = resource['resourceType'];
  const plan = typeof type === 'string' ? find(type) : undefined;
  if (plan?.kind !== 'resource') return;
  const outer = { ids: run.ids, resource: run.resource };
  run.ids = new Set();
  run.resource = resource;
  checkContainedIds(resource, plan, run);
  checkObject(plan, resource, find, run);
  Object.assign(run, outer);
}

/** Checks a resource that is an element of another one. */
function checkHeld(value: unknown, child: Child, holder: Json, find: FindRulePlan, run: RuleRun): void {
  if (!isJson(value)) return;
  const { root, bundle } = run;
  if (child.element !== 'contained') {
    run.root = value;
    run.bundle = bundleScopeOf(holder, run) ?? run.bundle;
  }
  checkResourceRules(value, find, run);
  run.root = root;
  run.bundle = bundle;
}

function checkObject(plan: RulePlan, object: Json, find: FindRulePlan, run: RuleRun): void {
  if (run.depth > MAX_DEPTH) return;
  checkFocus(plan.rules, object, plan.type, undefined, run);
  if (plan.kind !== 'resource') checkElementId(plan, object, run);
  else if (plan.type === 'Bundle') checkEntries(object, run);
  for (const key in object) {
    const child = plan.children.get(key);
    if (child === undefined) continue;
    const value = object[key];
    run.path[run.depth++] = child;
    const isDefined = child.type === 'Extension' && plan.type !== 'Extension';
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        run.path[run.depth++] = i;
        if (isDefined) checkExtensionUrl(value[i], run);
        checkValue(child, value[i], object, i, find, run);
        run.depth--;
      }
    } else checkValue(child, value, object, 0, find, run);
    run.depth--;
  }
}

function checkValue(child: Child, value: unknown, holder: Json, index: number, find: FindRulePlan, run: RuleRun): void {
  if (value === null || value === undefined) return;
  const { kind, rules, type } = child;
  if (kind === 'resource') {
    checkFocus(rules, value, type, undefined, run);
    checkHeld(value, child, holder, find, run);
    return;
  }
  if (kind === 'primitive') {
    if (rules.errors.length + rules.warnings.length > 0)
      checkFocus(rules, value, type, besideOf(holder, child, index), run);
    if (child.binding !== undefined) checkBinding(child.binding, type, value, run);
    if (typeof value === 'string') checkLink(value, type, run);
    return;
  }
  if (!isJson(value)) return;
  const plan = (child.plan ??= find(type));
  if (plan === undefined) return;
  checkFocus(rules, value, type, undefined, run);
  if (child.binding !== undefined) checkBinding(child.binding, type, value, run);
  if (run.tools.isThorough) SPEC_CHECKS.get(type)?.(value, run);
  if (type === 'Reference' || type === 'CodeableReference') checkReference(child, value, run);
  checkObject(plan, value, find, run);
}

function besideOf(holder: Json, { key }: Child, index: number): Json | undefined {
  const beside = holder[`_${key}`];
  const own: unknown = Array.isArray(beside) ? beside[index] : beside;
  return isJson(own) ? own : undefined;
}

function checkFocus(rules: Rules, value: unknown, type: string, beside: Json | undefined, run: RuleRun): void {
  const { errors, warnings } = rules;
  if (errors.length > 0) checkAll(errors, value, type, beside, run);
  if (run.tools.isThorough && warnings.length > 0) checkAll(warnings, value, type, beside, run);
}

function checkAll(rules: readonly Rule[], value: unknown, type: string, beside: Json | undefined, run: RuleRun): void {
  // Of most values all rules are native.
  let context: PathItem | undefined;
  for (const rule of rules) {
    if (rule.native !== undefined) checkNative(rule, rule.native, value, run);
    else checkExpression(rule, (context ??= contextOf(value, type, beside)), run);
  }
}

function contextOf(value: unknown, type: string, beside: Json | undefined): PathItem {
  return new PathItem(
    value,
    isJson(value) && typeof value['resourceType'] === 'string' ? value['resourceType'] : type,
    beside,
  );
}

function checkNative({ key, human, severity }: Rule, native: NativeRule, value: unknown, run: RuleRun): void {
  const result = native(value, run, key);
  if (result === true) return;
  run.report('invariant-broken', key, result === '' ? human : `${human}; ${result}`, severity);
}

function checkExpression({ key, human, severity, evaluate }: Rule, context: PathItem, run: RuleRun): void {
  const environment = run.environment(context);
  try {
    const result = toBoolean(evaluate()([context], environment));
    // A rule has to be true. Where it is neither, that is no fault if something could not be decided.
    if (result === true || (result === undefined && (environment.isUndecided || environment.isOpen === true))) return;
    run.report('invariant-broken', key, human, severity);
  } catch (error) {
    if (!(error instanceof TooCostly)) throw error;
    run.report('rules-too-costly', key, 'the rule looks at too many values to be checked', severity);
  }
}

/** Parts of an extension have relative URLs; the whole is defined by an absolute one. https://hl7.org/fhir/R5/extensibility.html */
function checkExtensionUrl(extension: unknown, run: RuleRun): void {
  const url: unknown = isJson(extension) ? extension['url'] : undefined;
  if (typeof url !== 'string' || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(url)) return;
  const text = `the URL of an extension is absolute, and ${JSON.stringify(url.slice(0, 64))} is relative`;
  run.report('url-invalid-in-content', 'extension', text);
}

/** Ids of elements are unique in their resource; those of ElementDefinitions are paths, and have rules of their own. */
function checkElementId({ type }: RulePlan, object: Json, run: RuleRun): void {
  const { id } = object;
  if (typeof id !== 'string' || type === 'ElementDefinition') return;
  // What is beside a primitive has its value, or else a fault of structure.
  if (type !== 'Element' && hasOnlyId(object)) {
    run.report('invariant-broken', 'ele-1', 'an element has a value or children besides its id');
  }
  if (run.ids.has(id))
    run.report('id-repeated', 'id', `another element of the resource has the id ${JSON.stringify(id.slice(0, 64))}`);
  run.ids.add(id);
}

function hasOnlyId(object: Json): boolean {
  for (const key in object) if (key !== 'id') return false;
  return true;
}

/** Ids of contained resources are unique in what contains them. https://hl7.org/fhir/R5/references.html#contained */
function checkContainedIds({ contained }: Json, { children }: RulePlan, run: RuleRun): void {
  const child = children.get('contained');
  if (!Array.isArray(contained) || child === undefined) return;
  const ids = new Set<string>();
  for (const [index, each] of contained.entries()) {
    const id: unknown = isJson(each) ? each['id'] : undefined;
    if (typeof id !== 'string') continue;
    if (ids.has(id)) {
      run.path[run.depth++] = child;
      run.path[run.depth++] = index;
      run.report('id-repeated', 'id', `another contained resource has the id ${JSON.stringify(id.slice(0, 64))}`);
      run.depth -= 2;
    }
    ids.add(id);
  }
}
