import type { CompartmentRow } from '../../contract/search.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type Resource } from '../../fhir/resource.js';
import type { ServiceTables } from '../../core/services.js';
import { readGraphPath, type FollowPath } from './graph-path.js';
import { clip, quote } from '../../fhir/quote.js';

/** The type whose resources are graphs. https://hl7.org/fhir/R5/graphdefinition.html */
export const GRAPH = 'GraphDefinition';

/** A graph that can be followed from the matches of a search. */
export interface Graph {
  /** For messages. */
  readonly name: string;
  /** Several where the graph names no start: any node is one. */
  readonly starts: readonly GraphNode[];
  readonly links: readonly GraphLink[];
}

/** Resources of a type at one place of a graph. */
export interface GraphNode {
  readonly id: string;
  /** `Resource`: of any type. */
  readonly type: string;
}

/** Leads from the resources of one node to those of another. */
export interface GraphLink {
  readonly source: GraphNode;
  readonly target: GraphNode;
  readonly way:
    | { readonly follow: FollowPath }
    /** Parameters of a search of the target's type; `{ref}` in their values is the resource that it begins at. */
    | { readonly params: readonly (readonly [name: string, value: string])[] };
  /** All of them decide on each pair of resources. */
  readonly rules: readonly CompartmentRule[];
}

/** How the compartments of both ends of a link have to be related. */
export interface CompartmentRule {
  readonly compartment: CompartmentRow;
  readonly isSame: boolean;
  /** The rule is a condition: where it holds, the other rules have to hold too. https://hl7.org/fhir/R5/valueset-graph-compartment-use.html */
  readonly isCondition: boolean;
}

/** Placeholder in the value of a parameter for the resource that a link begins at. */
export const REF = '{ref}';

/** Any type. */
export const ANY = 'Resource';

/** Limit of the nodes, links and compartment rules of one graph together. */
const MOST_PARTS = 200;

/** Longest path, and longest params, in characters. */
const LONGEST = { path: 500, params: 2000 };

/** `custom` has an expression of its own. https://hl7.org/fhir/R5/valueset-graph-compartment-rule.html */
const RULES: Readonly<Record<string, boolean>> = { identical: true, matching: true, different: false };

/**
 * Reads the start and the links of a GraphDefinition. `min`, `max` and `profile` describe expectations; they exclude nothing. https://hl7.org/fhir/R5/graphdefinition.html
 *
 * @throws FhirError `parameter-invalid` where the graph is inconsistent or uses something unsupported
 */
export function readGraph(
  definition: Resource,
  { resourceTypes, types, compartments }: Pick<ServiceTables, 'resourceTypes' | 'types' | 'compartments'>,
): Graph {
  const name = `${GRAPH}/${textOf(definition, 'id') ?? ''}`;
  const wrong = (what: string): FhirError => new FhirError('parameter-invalid', `The graph ${name} ${what}`);
  const [nodeParts, linkParts] = [partsOf(definition, 'node'), partsOf(definition, 'link')];
  const rules = linkParts.flatMap((link) => partsOf(link, 'compartment'));
  if ([definition as JsonObject, ...nodeParts, ...linkParts, ...rules].some((part) => 'modifierExtension' in part)) {
    throw wrong('has a modifierExtension, which is not supported here');
  }
  if (nodeParts.length + linkParts.length + rules.length > MOST_PARTS) {
    throw wrong(`has more than ${MOST_PARTS} nodes, links and compartments; make several graphs of it`);
  }
  const nodes = new Map<string, GraphNode>();
  for (const part of nodeParts) {
    const [id, type] = [textOf(part, 'nodeId') ?? '', textOf(part, 'type') ?? ''];
    if (nodes.has(id)) throw wrong(`has two nodes ${quote(id)}; each needs a nodeId of its own`);
    if (type !== ANY && !resourceTypes.includes(type)) {
      throw wrong(`has a node ${quote(id)} of the type ${quote(type)}, which is no type of resources`);
    }
    nodes.set(id, { id, type });
  }
  const nodeOf = (id: string | undefined, of: string): GraphNode => {
    const node = id === undefined ? undefined : nodes.get(id);
    if (node !== undefined) return node;
    throw wrong(id === undefined ? `has no ${of}` : `has ${quote(id)} as ${of}, and no node of this nodeId`);
  };
  const begin = textOf(definition, 'start');
  const starts = begin === undefined ? [...nodes.values()] : [nodeOf(begin, 'start')];
  const links = linkParts.map((part): GraphLink => {
    const source = nodeOf(textOf(part, 'sourceId'), 'sourceId of a link');
    const target = nodeOf(textOf(part, 'targetId'), 'targetId of a link');
    const link = `has a link from ${quote(source.id)} to ${quote(target.id)}`;
    if (part['sliceName'] !== undefined) throw wrong(`${link} with a sliceName; slices are not distinguished here`);
    const rules = partsOf(part, 'compartment').map((each): CompartmentRule => {
      const [code, rule] = [textOf(each, 'code') ?? '', textOf(each, 'rule') ?? ''];
      const compartment = compartments.find(({ type }) => type === code);
      if (compartment === undefined) throw wrong(`${link} by a compartment of ${quote(code)}, which there is not`);
      const isSame = Object.hasOwn(RULES, rule) ? RULES[rule] : undefined;
      if (isSame !== undefined) return { compartment, isSame, isCondition: textOf(each, 'use') === 'where' };
      throw wrong(`${link} with the rule ${quote(rule)}; ${Object.keys(RULES).join(', ')} are followed here`);
    });
    const [path, params] = [textOf(part, 'path'), textOf(part, 'params')];
    for (const [name, most] of Object.entries(LONGEST)) {
      const { length } = textOf(part, name) ?? '';
      if (length > most) throw wrong(`${link} with ${length} characters of ${name}; ${most} may be`);
    }
    if ((path === undefined) === (params === undefined)) throw wrong(`${link} that needs either a path or params`);
    if (path !== undefined) {
      const read = readGraphPath(path, source.type, types);
      if (typeof read === 'string') throw wrong(`${link} by the path ${quote(path)}: ${read}`);
      return { source, target, way: { follow: read }, rules };
    }
    if (target.type === ANY) throw wrong(`${link} by params, so that the target needs a type to search`);
    return { source, target, way: { params: readParams(params ?? '', (what) => wrong(`${link} ${what}`)) }, rules };
  });
  return { name, starts, links };
}

/** Whether resources of a type may be at a node. */
export function standsAt({ type }: GraphNode, of: string): boolean {
  return type === ANY || type === of;
}

function readParams(text: string, wrong: (what: string) => FhirError): readonly (readonly [string, string])[] {
  const pairs = [...new URLSearchParams(text.replace(/^\?/, ''))];
  if (pairs.some(([, value]) => value.includes(REF))) return pairs;
  throw wrong(`by the params ${quote(clip(text))}, in which nothing has the value ${REF}, as in patient=${REF}`);
}

function textOf(object: JsonObject | Resource, name: string): string | undefined {
  const value = (object as JsonObject)[name];
  return typeof value === 'string' ? value : undefined;
}

function partsOf(object: JsonObject | Resource, name: string): readonly JsonObject[] {
  const value = (object as JsonObject)[name];
  return Array.isArray(value) ? (value.filter(isObject) as JsonObject[]) : [];
}
