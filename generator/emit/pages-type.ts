import type { Model, Structure } from '../model/model.js';
import { tail } from '../model/names.js';
import { block, spans, type Fact, type Inline, type PageData, type Section } from './pages-data.js';
import { elementSection, invariantSection } from './pages-elements.js';
import { canonicalLink, prose, type Linker } from './pages-inline.js';
import { operationSection, operationsOn } from './pages-operations.js';
import { scopeSection } from './pages-scopes.js';
import { compartmentSection, searchSections, searchTables } from './pages-search.js';

/**
 * The page of a resource type or a datatype.
 *
 * @param structures the type, and its backbone types after it
 */
export function typePage(structures: readonly Structure[], model: Model, linker: Linker): Omit<PageData, 'navigation'> {
  const [root] = structures;
  if (root === undefined) throw new Error('a type without structures');
  const capability = model.capabilities.find(({ type }) => type === root.name);
  const operations = capability === undefined ? [] : operationsOn(root.name, model);
  return {
    title: root.name,
    lead: prose(root.definition),
    facts: facts(root, linker),
    sections: [
      ...elementSection(root, structures, linker),
      ...searchSections(root.name, model, linker),
      ...operationSection(operations, linker),
      ...(capability === undefined ? [] : scopeSection(root.name, operations, model)),
      ...invariantSection(structures, model, linker),
      ...compartmentSection(root.name, model.compartments, linker),
      ...profileSection(capability?.supportedProfiles ?? []),
      ...correctionSection(structures, model),
    ],
  };
}

function facts(root: Structure, linker: Linker): Fact[] {
  const kind = `${root.abstract === true ? 'abstract ' : ''}${root.kind === 'resource' ? 'resource type' : 'datatype'}`;
  return [
    { name: 'Kind', value: kind },
    ...(root.base === undefined ? [] : [{ name: 'Extends', value: [linker.type(root.base)] }]),
    { name: 'Definition', value: [canonicalLink(root.url, false, root.url)] },
  ];
}

function profileSection(profiles: readonly string[]): Section[] {
  if (profiles.length === 0) return [];
  const list = profiles.map((url): Inline => [canonicalLink(url)]);
  const paragraphs = ['Beside its own definition, the CapabilityStatement names these profiles.'];
  return [{ id: 'profiles', heading: 'Profiles', blocks: [block({ paragraphs, list })] }];
}

/** Corrections of definitions that the page describes, or would describe if they were not omitted. */
function correctionSection(structures: readonly Structure[], model: Model): Section[] {
  const type = structures[0]?.name ?? '';
  const [table] = searchTables(type, model);
  const shown = new Set([
    ...structures.map(({ url }) => url),
    ...(table?.parameters ?? []).map(({ url }) => url),
    ...model.operations.filter(({ types }) => types?.includes(type) === true).map(({ url }) => url),
    ...structures.flatMap(({ elements, inherited }) =>
      elements.slice(inherited).flatMap(({ bound }) => bound?.valueSet ?? []),
    ),
  ]);
  const resources = new Set(model.capabilities.map((capability) => capability.type));
  const concerned = model.corrections.filter(({ target, reason }) => {
    if (!target.includes('/SearchParameter/')) return shown.has(target);
    // A parameter may belong to many types, or have been removed from this one: the reason names the types concerned.
    const named = reason.split(/[^A-Za-z]+/).filter((word) => resources.has(word));
    return named.length > 0 ? named.includes(type) : shown.has(target) || tail(target).startsWith(`${type}-`);
  });
  return correctionList(concerned, 'What the package says was put right here, or left out:');
}

/** Corrections with their reasons, each once. */
export function correctionList(corrections: Model['corrections'], introduction: string): Section[] {
  const items = new Map(corrections.map((correction) => [JSON.stringify(correction), correction]));
  const list = [...items.values()].map(({ target, reason }): Inline => {
    const label = target.split('/').slice(-2).join('/');
    return [canonicalLink(target, false, label), ': ', ...spans(prose(reason))];
  });
  if (list.length === 0) return [];
  return [{ id: 'corrections', heading: 'Corrections', blocks: [block({ paragraphs: [introduction], list })] }];
}
