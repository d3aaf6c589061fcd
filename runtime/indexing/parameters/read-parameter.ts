import type { ComponentRow, SearchRow, SearchType } from '../../contract/search.js';
import { checkFits, compileComponent, compileExpression, type Compilation } from './compile-parameter.js';
import type { NamedParameter, ParameterContext } from './parameter-context.js';
import { ParameterError, STORED_LIMITS, type ParameterFault, type StoredParameter } from './stored-parameter.js';
import { quote } from '../../fhir/quote.js';
import { textOf } from '../values/json.js';

type Json = Readonly<Record<string, unknown>>;

const TYPES: ReadonlySet<string> = new Set([
  ...['number', 'date', 'string', 'token', 'reference', 'composite', 'quantity', 'uri'],
]);

/** Codes that URLs hold as they are, and that no parameter of the specification has: those begin with `_`. */
const CODE = /^[A-Za-z][A-Za-z0-9_-]*$/;

/** Whether a SearchParameter is meant to be in effect, and does not just describe one that is built in. */
export function isEffective(resource: Json, { builtIn }: Pick<ParameterContext, 'builtIn'>): boolean {
  if (resource['status'] !== 'active') return false;
  const url = textOf(resource['url']);
  return url === undefined || builtIn(url)?.code !== resource['code'];
}

/**
 * Reads a SearchParameter that is to be in effect. Whether it collides with others is not looked at.
 *
 * @param named the parameter of a canonical, for the components of a composite
 * @throws ParameterError for the first thing that is wrong
 */
export function readParameter(
  resource: Json,
  context: ParameterContext,
  named: (url: string) => NamedParameter | undefined,
): StoredParameter {
  const id = textOf(resource['id']) ?? '';
  const url = textOf(resource['url']);
  if (url === undefined) throw invalid('needs a url', 'url');
  const code = textOf(resource['code']) ?? '';
  if (!CODE.test(code) || code.length > STORED_LIMITS.code) {
    throw invalid(
      `${quote(code)} cannot be the name of a parameter: letters, digits, "-" and "_", a letter first, up to ${STORED_LIMITS.code}`,
      'code',
    );
  }
  const type = textOf(resource['type']) ?? '';
  if (!TYPES.has(type)) throw invalid(`${quote(type)} is not supported; ${[...TYPES].join(', ')} are`, 'type');
  const mode = resource['processingMode'];
  if (mode !== undefined && mode !== 'normal') {
    throw invalid(
      `${quote(String(mode))} is not supported, only "normal" is; with status "draft" it is kept as it is`,
      'processingMode',
    );
  }
  if (resource['constraint'] !== undefined) {
    const text =
      'is not evaluated, so the parameter would find more than it says: put the condition into the expression, ' +
      'as in Patient.where(active = true).gender; with status "draft" it is kept as it is';
    throw invalid(text, 'constraint');
  }
  const bases = basesOf(resource, context);
  const expression = textOf(resource['expression']);
  if (expression === undefined)
    throw invalid('needs an expression: what it finds is read off the resource by it', 'expression');
  const rest = restOf(resource, type as SearchType, context);
  const compilation: Compilation = { context, bases, tries: { left: STORED_LIMITS.paths }, fits: new Map() };
  const parts: Parts = { code, type: type as SearchType, url, expression, rest, compilation };
  const rows = new Map(bases.map((base): [string, SearchRow] => [base, rowOf(base, parts, resource, named)]));
  checkFits(expression, ['expression'], compilation);
  return { id, url, code, type: type as SearchType, rows };
}

interface Parts {
  readonly code: string;
  readonly type: SearchType;
  readonly url: string;
  readonly expression: string;
  readonly rest: Partial<SearchRow>;
  readonly compilation: Compilation;
}

function rowOf(
  base: string,
  { code, type, url, expression, rest, compilation }: Parts,
  resource: Json,
  named: (url: string) => NamedParameter | undefined,
): SearchRow {
  const search = type === 'composite' ? undefined : type;
  const { context, tries } = compilation;
  const paths = compileExpression(expression, base, search, ['expression'], compilation);
  if (paths.length === 0) {
    throw invalid(`${quote(expression)} has no branch that starts from ${base}, which base names`, 'expression');
  }
  const components =
    type === 'composite' ? { components: componentsOf(resource, paths, { context, tries }, named) } : {};
  return { code, type, url, paths, ...rest, ...components, isStored: true };
}

function componentsOf(
  { component }: Json,
  paths: SearchRow['paths'],
  compilation: Compilation,
  named: (url: string) => NamedParameter | undefined,
): ComponentRow[] {
  const components = arrayOf(component);
  if (components.length < 2) throw invalid('a composite parameter needs two components or more', 'component');
  if (components.length > STORED_LIMITS.components) {
    throw invalid(`has ${components.length} components, and may have ${STORED_LIMITS.components}`, 'component');
  }
  return components.map((each, i) => {
    const { definition, expression } = (each ?? {}) as Json;
    const url = textOf(definition) ?? '';
    const at = ['component', i];
    const found = named(url.replace(/\|.*$/, ''));
    if (found === undefined || found.type === 'composite' || found.type === 'special') {
      const text = `${quote(url)} names no parameter that is in effect here and has single values`;
      throw new ParameterError({ kind: 'invalid', text, path: [...at, 'definition'], isMissing: true });
    }
    return compileComponent(textOf(expression) ?? '', found, paths, [...at, 'expression'], compilation);
  });
}

function basesOf({ base }: Json, { isBase }: ParameterContext): string[] {
  const bases = [...new Set(arrayOf(base).map((each) => textOf(each) ?? ''))];
  if (bases.length === 0) throw invalid('needs a base: the types that it is for', 'base');
  for (const [i, each] of bases.entries()) {
    if (!isBase(each)) {
      const text = `${quote(each)} is no resource type here; Resource and DomainResource stand for all that are such`;
      throw new ParameterError({ kind: 'invalid', text, path: ['base', i] });
    }
  }
  return bases;
}

function restOf(resource: Json, type: SearchType, { types }: ParameterContext): Partial<SearchRow> {
  const targets = arrayOf(resource['target']).map(String);
  for (const [i, each] of targets.entries()) {
    if (!types.isConcreteResource(each) && each !== 'Resource') {
      throw new ParameterError({ kind: 'invalid', text: `${quote(each)} is no resource type`, path: ['target', i] });
    }
  }
  const comparators = arrayOf(resource['comparator']).map(String);
  const modifiers = arrayOf(resource['modifier']).map(String);
  const isAny = targets.length === 0 || targets.includes('Resource');
  return {
    ...(type === 'reference' && !isAny && { targets: [...new Set(targets)].sort() }),
    ...(comparators.length > 0 && { comparators }),
    ...(modifiers.length > 0 && { modifiers }),
    ...(resource['multipleOr'] === false && { single: true as const }),
    ...(resource['multipleAnd'] === false && { once: true as const }),
  };
}

function invalid(text: string, element: string): ParameterError {
  const fault: ParameterFault = { kind: 'invalid', text, path: [element] };
  return new ParameterError(fault);
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}
