import { ERRORS, type JsonPath } from '../../fhir/errors.js';
import { PathItem, isJson, type Json } from '../../path/evaluate/item.js';
import type { Environment } from '../../path/evaluate/environment.js';
import type { Schema } from '../../path/evaluate/schema.js';
import type { Fault, FaultCode } from '../fault.js';
import type { CodeTest } from './code-grammars.js';
import { localLinksOf, type LocalLinks } from './local-links.js';
import { resolveReference, type BundleScope } from './resolve.js';

/** Codes whose value set the tables do not have; a terminology service can decide them. */
export interface OpenBinding {
  readonly strength: 'required' | 'extensible';
  readonly valueSet: string;
  /** Any of them has to be in the value set. */
  readonly codes: readonly { readonly system?: string; readonly code: string; readonly isPlain?: true }[];
  readonly expression: string;
  readonly path: JsonPath;
}

/** A property on the way to a value. */
export interface PathStep {
  readonly key: string;
  /** Name of the element, without the type of a choice. */
  readonly element: string;
}

/** Tools that a run works with. */
export interface RunTools {
  readonly schema: Schema;
  readonly codeTest: (valueSet: string) => CodeTest | undefined;
  readonly resourceTypes: ReadonlySet<string>;
  /** Greatest number of errors that are listed, and of warnings: one kind takes no room from the other. */
  readonly most: number;
  /** Check also what only gives warnings, and collect open bindings. */
  readonly isThorough: boolean;
}

/**
 * Rules that official examples break, and that refuse no write therefore: `$validate` reports them as errors. Six examples
 * refer to types that the element does not name, and one to a contained resource that is missing; three Bundles have a
 * fullUrl with another id than the resource; ten logical models have a base and no derivation; an identifier has an id alone.
 */
const PASSED_ON_WRITE: ReadonlySet<string> = new Set(['reference', 'fullUrl', 'sdf-27', 'ele-1']);

/** Values that the rules of one resource may look at together: some seconds of work. The official Bundle of 42 MB takes 6,100,000. */
const BUDGET = 10_000_000;

/** One check of the rules of a resource: where it is in the resource, and what it found. */
export class RuleRun {
  readonly faults: Fault[] = [];
  readonly open: OpenBinding[] = [];
  /** Severities of which there are more faults than are listed. */
  readonly full = new Set<'error' | 'warning'>();
  private readonly listed = { error: 0, warning: 0 };
  private readonly leftOpen = { required: 0, extensible: 0 };
  /** The way to the value at hand; beyond `depth` it is left over. */
  readonly path: (PathStep | number)[] = [];
  depth = 0;
  /** The innermost resource. */
  resource: Json;
  /** What contains it, or itself. */
  root: Json;
  bundle: BundleScope | undefined;
  /** Ids of the elements of the innermost resource. */
  ids = new Set<string>();
  /** What expressions know; one object serves all of them, one after the other. */
  private readonly known: { -readonly [Name in keyof Environment]: Environment[Name] };
  /** Type of the outermost resource, with which expressions begin. */
  readonly rootName: string;
  private contained: { readonly of: Json; readonly byId: ReadonlyMap<string, Json> } | undefined;
  private links: { readonly of: Json; readonly found: LocalLinks } | undefined;

  constructor(
    resource: Json,
    readonly tools: RunTools,
  ) {
    this.rootName = String(resource['resourceType']);
    this.resource = resource;
    this.root = resource;
    const item = this.itemOf(resource);
    this.known = {
      schema: tools.schema,
      ...{ resource: item, root: item, context: item },
      resolve: (reference) => resolveReference(reference, this),
      isMember: ({ value }, valueSet) => isCodeMember(value, tools.codeTest(valueSet)),
      isUndecided: false,
      isOpen: false,
      isDefinition: true,
      budget: BUDGET,
    };
  }

  /** Contained resources of the root, by id. */
  get containedById(): ReadonlyMap<string, Json> {
    if (this.contained?.of !== this.root) {
      const all = this.root['contained'];
      const byId = new Map<string, Json>();
      for (const each of Array.isArray(all) ? all : []) {
        if (isJson(each) && typeof each['id'] === 'string') byId.set(each['id'], each);
      }
      this.contained = { of: this.root, byId };
    }
    return this.contained.byId;
  }

  /** References within the innermost resource. */
  localLinks(): LocalLinks {
    if (this.links?.of !== this.resource) {
      this.links = { of: this.resource, found: localLinksOf(this.itemOf(this.resource), this.known) };
    }
    return this.links.found;
  }

  /** What an expression that begins at a value knows. */
  environment(context: PathItem): Environment {
    const { known } = this;
    if (known.resource.value !== this.resource) known.resource = this.itemOf(this.resource);
    if (known.root.value !== this.root) known.root = this.itemOf(this.root);
    known.context = context;
    known.isUndecided = known.isOpen = false;
    return known;
  }

  /** A resource as an item. */
  itemOf(resource: Json): PathItem {
    return new PathItem(resource, String(resource['resourceType']));
  }

  /** Notes a broken rule at the value at hand. `text` follows the expression. */
  report(code: FaultCode, key: string, text: string, severity: 'error' | 'warning' = 'error'): void {
    if (!this.tools.isThorough && PASSED_ON_WRITE.has(key)) return;
    if (this.listed[severity] >= this.tools.most) {
      this.full.add(severity);
      return;
    }
    this.listed[severity]++;
    const expression = this.expression();
    this.faults.push({
      ...{ code, rule: key, severity, issue: ERRORS[code].issue, expression },
      text: `${expression}: ${text} (${key})`,
      path: this.jsonPath(),
    });
  }

  /** Notes a binding that the tables cannot decide. */
  leaveOpen(binding: Pick<OpenBinding, 'strength' | 'valueSet' | 'codes'>): void {
    if (this.leftOpen[binding.strength]++ < this.tools.most) {
      this.open.push({ ...binding, expression: this.expression(), path: this.jsonPath() });
    }
  }

  private expression(): string {
    let text = this.rootName;
    for (const step of this.path.slice(0, this.depth)) {
      text += typeof step === 'number' ? `[${step}]` : `.${step.element}`;
    }
    return text;
  }

  private jsonPath(): JsonPath {
    return this.path.slice(0, this.depth).map((step) => (typeof step === 'number' ? step : step.key));
  }
}

/** Of a code, or a Coding; undefined: it cannot be decided here. */
function isCodeMember(value: unknown, test: CodeTest | undefined): boolean | undefined {
  if (typeof value === 'string') return test?.(value);
  if (!isJson(value) || typeof value['code'] !== 'string') return undefined;
  return test?.(value['code'], String(value['system']));
}
