import type { OperationDefinition, SearchParameter, StructureDefinition } from '../load/fhir-json.js';
import { createParameterContext } from '../../runtime/indexing/parameters/parameter-context.js';
import { readParameterSet } from '../../runtime/indexing/parameters/parameter-set.js';
import { isEffective } from '../../runtime/indexing/parameters/read-parameter.js';
import type { GuideModel, Model, OperationModel, SearchParameterModel } from './model.js';
import { byCodePoint } from './names.js';
import { buildOperations } from './operations.js';
import { buildProfiles } from './profiles.js';
import { tablesOf } from './tables-of.js';

/** A guide, or a package that one needs. */
export interface GuideDefinitions {
  readonly row: GuideModel;
  /** Its profiles are claimed; otherwise only what others need of it counts. */
  readonly isDirect: boolean;
  readonly structures: readonly StructureDefinition[];
  readonly searchParameters: readonly SearchParameter[];
  readonly operations: readonly OperationDefinition[];
}

/** Input beside the model of the core package. */
export interface GuideSources {
  readonly guides: readonly GuideDefinitions[];
  /** The definitions of the core package, which profiles of guides are based on. */
  readonly structures: readonly StructureDefinition[];
  readonly concrete: (type: string) => readonly string[];
}

/** A model with guides, and what of them has no effect: a line each. */
export interface GuidedModel {
  readonly model: Model;
  readonly withoutEffect: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Adds guides to the model of the core package, by the rules that stored definitions have: what is the core's stays so, and a definition that
 * cannot take effect stops nothing.
 */
export function addGuides(model: Model, sources: GuideSources): GuidedModel {
  const { guides, structures, concrete } = sources;
  const withoutEffect: string[] = [];
  const operations = operationsOf(model, guides, concrete, withoutEffect);
  const known = new Map(
    [...structures, ...guides.flatMap((guide) => guide.structures)].map((each) => [each.url, each]),
  );
  const direct = guides.filter(({ isDirect }) => isDirect);
  const urls = direct.flatMap((guide) => guide.structures.map(({ url }) => url));
  const rows = buildProfiles([...known.values()], urls, model, (fault) => withoutEffect.push(fault));
  const profiles = new Map([...model.profiles, ...rows].map((row) => [row.url, row]));
  const supported = direct.flatMap((guide) =>
    guide.structures.filter(({ kind, url }) => kind === 'resource' && profiles.has(url)),
  );
  return {
    withoutEffect,
    model: {
      ...model,
      search: searchOf(model, guides, withoutEffect),
      operations: [...model.operations, ...operations].sort((a, b) => byCodePoint(a.id, b.id)),
      profiles: [...profiles.values()].sort((a, b) => byCodePoint(a.url, b.url)),
      capabilities: model.capabilities.map((row) => {
        const own = supported.filter(({ type }) => type === row.type).map(({ url }) => url);
        return own.length === 0
          ? row
          : { ...row, supportedProfiles: [...new Set([...(row.supportedProfiles ?? []), ...own])] };
      }),
      guides: guides.map(({ row }) => row),
      guideProfiles: direct.map(({ row, structures: own }) => ({
        guide: row.name,
        urls: own.filter(({ url }) => profiles.has(url)).map(({ url }) => url),
      })),
    },
  };
}

/** Adds the parameters of guides after those of the core package, which keep their places in databases. */
function searchOf(model: Model, guides: readonly GuideDefinitions[], withoutEffect: string[]): Model['search'] {
  const context = createParameterContext(tablesOf(model));
  const rank = new Map<Json, number>();
  const definitions = new Map<string, SearchParameter>();
  for (const [place, { searchParameters, isDirect }] of guides.entries())
    for (const each of searchParameters)
      if (!definitions.has(each.url) && isEffective(each as unknown as Json, context)) {
        definitions.set(each.url, each);
        rank.set(each as unknown as Json, isDirect ? place : guides.length + place);
      }
  const { parameters, refused } = readParameterSet([...rank.keys()], context, (each) => rank.get(each) ?? 0);
  for (const { id, url, fault } of refused)
    withoutEffect.push(`SearchParameter ${url ?? id}: ${fault.path.join('.')} ${fault.text}`);
  return model.search.map((table) => {
    const added = parameters.flatMap(({ url, rows }): SearchParameterModel[] => {
      const row = rows.get(table.type);
      if (row === undefined) return [];
      const { isStored: _isStored, ...rest } = row;
      const { id = '', description = '' } = definitions.get(url) ?? {};
      return [{ ...rest, id, description }];
    });
    return added.length === 0 ? table : { ...table, parameters: [...table.parameters, ...added] };
  });
}

/** Operations by the rule of routes: at one place there is one of a name. Ids are the server's, so another one's is made unique. */
function operationsOf(
  model: Model,
  guides: readonly GuideDefinitions[],
  concrete: GuideSources['concrete'],
  withoutEffect: string[],
): OperationModel[] {
  const added: OperationModel[] = [];
  for (const { row, operations } of guides)
    for (const operation of buildOperations(operations, [], concrete)) {
      const all = [...model.operations, ...added];
      const other = all.find((each) => each.name === operation.name && isSamePlace(each, operation));
      if (other !== undefined) {
        withoutEffect.push(`OperationDefinition ${operation.url}: $${operation.name} is ${other.url} already`);
        continue;
      }
      const isTaken = all.some(({ id }) => id === operation.id);
      added.push(isTaken ? { ...operation, id: `${row.name}-${operation.id}` } : operation);
    }
  return added;
}

function isSamePlace(one: OperationModel, other: OperationModel): boolean {
  if (!one.levels.some((level) => other.levels.includes(level))) return false;
  return one.types === undefined || other.types === undefined || one.types.some((type) => other.types?.includes(type));
}
