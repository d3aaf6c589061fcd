import { jsonName } from '../../contract/json-name.js';
import { lineOf, rowsByName } from '../../contract/type-rows.js';
import type { Tables } from '../../contract/tables.js';
import type { BindingRow, ElementRow, InvariantRow, TypeRow } from '../../contract/types.js';
import { compileExpression } from '../../path/evaluate/compile-expression.js';
import type { Evaluate } from '../../path/evaluate/function-types.js';
import type { CodeTest } from './code-grammars.js';
import { NATIVE_RULES, type NativeRule } from './native-rules.js';
import { memoize } from '../../fhir/memory/memoize.js';

/** The tables that rules are checked by. */
export type RuleTables = Pick<Tables, 'types' | 'primitives' | 'resourceTypes' | 'invariants' | 'codes'>;

/** A rule, ready to be checked. */
export interface Rule {
  /** Key in the definitions: `dom-3`. */
  readonly key: string;
  readonly human: string;
  readonly severity: 'error' | 'warning';
  /** By hand, for rules that come often. */
  readonly native?: NativeRule;
  /** Compiled when it is first checked. */
  readonly evaluate: () => Evaluate;
}

/** Rules of one focus by what comes of breaking them. */
export interface Rules {
  readonly errors: readonly Rule[];
  readonly warnings: readonly Rule[];
}

/** Binding of an element to the value set that its code has to be in. */
export interface Binding extends BindingRow {
  /** Undefined: not decided here. */
  readonly test: CodeTest | undefined;
}

/** Checks of the values of one property in JSON. */
export interface Child {
  readonly key: string;
  /** Name of the element, without the type of a choice. */
  readonly element: string;
  readonly type: string;
  /** `sibling`: the `_name` of a primitive. */
  readonly kind: 'primitive' | 'object' | 'resource' | 'sibling';
  readonly rules: Rules;
  readonly binding: Binding | undefined;
  /** Types that a reference may lead to; undefined: any. */
  readonly targets: readonly string[] | undefined;
  plan: RulePlan | undefined;
}

/** Checks of the values of a type. */
export interface RulePlan {
  readonly type: string;
  readonly kind: TypeRow['kind'];
  readonly rules: Rules;
  /** By name in JSON; properties of which nothing is to be checked are absent. */
  readonly children: ReadonlyMap<string, Child>;
}

/** Finds the plan of a type by name; undefined: there is no such type. */
export type FindRulePlan = (type: string) => RulePlan | undefined;

const NO_RULES: Rules = { errors: [], warnings: [] };
/** Primitive types whose values may be references within the resource. */
const LINKS: ReadonlySet<string> = new Set(['canonical', 'uri', 'url', 'oid', 'uuid']);

/** Makes plans from rows, one type at a time. */
export function createFindRulePlan(
  tables: RuleTables,
  codeTest: (valueSet: string) => CodeTest | undefined,
): FindRulePlan {
  const types = rowsByName(tables.types);
  const primitives = new Set(tables.primitives.map(({ name }) => name));
  const rows = new Map(tables.invariants.map((row) => [row.id, row]));
  const plans = new Map<string, RulePlan>();

  const ruleOf = memoize((id: string): Rule => toRule(rows.get(id), id));
  const rulesOf = (ids: readonly string[]): Rules => {
    if (ids.length === 0) return NO_RULES;
    const all = ids.map(ruleOf);
    const of = (severity: Rule['severity']): Rule[] => all.filter((rule) => rule.severity === severity);
    return { errors: of('error'), warnings: of('warning') };
  };

  /** Of a choice between a concept and a Quantity the value set has concepts, and no units: `Specimen.collection.fastingStatus[x]`. */
  const isBound = ({ types: own }: ElementRow, type: string): boolean => {
    const row = own.includes('CodeableConcept') || own.includes('Coding') ? types.get(type) : undefined;
    return row === undefined || !lineOf(type, types).some(({ name }) => name === 'Quantity');
  };

  function childrenOf(element: ElementRow): Child[] {
    const own = rulesOf(element.rules ?? []);
    const targets = element.targets === undefined ? undefined : Object.values(element.targets).flat();
    return element.types.flatMap((type): Child[] => {
      const key = jsonName(element, type);
      const { binding: row } = element;
      const binding =
        row === undefined || !isBound(element, type) ? undefined : { ...row, test: codeTest(row.valueSet) };
      const common = { key, element: element.name, type, rules: own, binding, targets, plan: undefined };
      if (!primitives.has(type)) {
        return [{ ...common, kind: types.get(type)?.kind === 'resource' ? 'resource' : 'object' }];
      }
      const isPlain = element.xml !== undefined || type === 'xhtml';
      const hasChecks = own !== NO_RULES || binding !== undefined || LINKS.has(type);
      const sibling: Child = { ...common, key: `_${key}`, kind: 'sibling', type: 'Element', rules: NO_RULES, binding: undefined }; // prettier-ignore
      return [...(hasChecks ? [{ ...common, kind: 'primitive' as const }] : []), ...(isPlain ? [] : [sibling])];
    });
  }

  return (type) => {
    const known = plans.get(type);
    if (known !== undefined) return known;
    const row = types.get(type);
    if (row === undefined) return undefined;
    const line = lineOf(type, types).toReversed();
    const children = line.flatMap(({ elements }) => elements.flatMap(childrenOf));
    const plan: RulePlan = {
      type: row.name,
      kind: row.kind,
      rules: rulesOf(line.flatMap((each) => each.rules ?? [])),
      children: new Map(children.map((child) => [child.key, child])),
    };
    plans.set(row.name, plan);
    return plan;
  };
}

function toRule(row: InvariantRow | undefined, id: string): Rule {
  if (row === undefined) throw new Error(`the tables have no rule ${id}`);
  const native = NATIVE_RULES.get(row.expression);
  let compiled: Evaluate | undefined;
  return {
    key: row.id.replace(/@.*/, ''),
    human: row.human,
    severity: row.severity,
    ...(native !== undefined && { native }),
    evaluate: () => (compiled ??= compileExpression(row.expression)),
  };
}
