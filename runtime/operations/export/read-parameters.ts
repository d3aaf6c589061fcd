import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import type { JsonValue } from '../../fhir/resource.js';
import { isObject } from '../../fhir/resource.js';
import { readArguments, valueOf, valuesOf, type Arguments } from '../common/arguments.js';
import type { Faults } from '../common/faults.js';

/** The parameters of an export as they were sent; what is wrong by its type is left out and collected. */
export interface ExportParameters {
  readonly outputFormat?: string;
  readonly types: readonly string[];
  readonly since?: number;
  readonly until?: number;
  readonly typeFilters: readonly string[];
  readonly postFilters: readonly string[];
  readonly exportId?: string;
  readonly isHistory: boolean;
  readonly isPartial: boolean;
  readonly patients: readonly JsonValue[];
  readonly elements: readonly string[];
  readonly associated: readonly string[];
  readonly organizedBy?: string;
}

/** Reads them one by one, so that one answer reports all faults. */
export async function readExportParameters(call: Call, services: Services, faults: Faults): Promise<ExportParameters> {
  const found = new Map<string, Arguments>();
  for (const [name, part] of splitByName(call)) {
    const read = await faults.collect(() => readArguments(part, services));
    if (read !== undefined) found.set(name, read);
  }
  const text = (name: string): string | undefined => valueOf(found.get(name) ?? NONE, name) as string | undefined;
  const texts = (name: string): string[] => valuesOf(found.get(name) ?? NONE, name).map(String);
  const flag = (name: string): boolean => valueOf(found.get(name) ?? NONE, name) === true;
  const instant = (name: string): number | undefined => {
    const value = text(name);
    return value === undefined ? undefined : Date.parse(value);
  };
  const [outputFormat, exportId, organizedBy] = [text('_outputFormat'), text('_exportId'), text('organizeOutputBy')];
  const [since, until] = [instant('_since'), instant('_until')];
  return {
    types: texts('_type').flatMap(cutList),
    typeFilters: texts('_typeFilter').flatMap(cutSearches),
    postFilters: texts('_typePostFetchFilterUrl').flatMap(cutSearches),
    isHistory: flag('_includeHistory'),
    isPartial: flag('allowPartialManifests'),
    patients: valuesOf(found.get('patient') ?? NONE, 'patient'),
    elements: texts('_elements').flatMap(cutList),
    associated: texts('includeAssociatedData').flatMap(cutList),
    ...(outputFormat !== undefined && { outputFormat }),
    ...(exportId !== undefined && { exportId }),
    ...(organizedBy !== undefined && { organizedBy }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  };
}

const NONE: Arguments = new Map();

/** The call as often as it names parameters, each time with one of them. */
function splitByName(call: Call): ReadonlyMap<string, Call> {
  const { body, params, ...rest } = call;
  const calls = new Map<string, Call>();
  for (const name of new Set(params.keys())) {
    const own = params.getAll(name).map((value): [string, string] => [name, value]);
    calls.set(name, { ...rest, params: new URLSearchParams(own) });
  }
  if (body === undefined) return calls;
  const parameter = isObject(body) ? body['parameter'] : undefined;
  if (!Array.isArray(parameter) || !parameter.every((each) => isObject(each) && typeof each['name'] === 'string')) {
    // It is refused as a whole, where there is anything in it.
    return calls.set('', { ...rest, params: NO_PARAMS, body });
  }
  const { text: _text, ...plain } = rest;
  for (const each of parameter) {
    const name = String((each as { name: string }).name);
    const before = calls.get(name);
    const own = isObject(before?.body) ? (before.body['parameter'] as JsonValue[]) : [];
    const all = { resourceType: (body as { resourceType: string }).resourceType, parameter: [...own, each] };
    calls.set(name, { ...plain, params: before?.params ?? NO_PARAMS, body: all });
  }
  return calls;
}

const NO_PARAMS = new URLSearchParams();

function cutList(text: string): string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

/** A list of searches: a comma within a search is none between two. */
function cutSearches(text: string): string[] {
  return text
    .split(/,(?=[A-Z][A-Za-z]*\?)/)
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
