import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import type { JsonValue } from '../../fhir/resource.js';
import { readArguments, valueOf, valuesOf } from '../common/arguments.js';
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

/** Reads them so that one answer reports all faults. */
export function readExportParameters(call: Call, services: Services, faults: Faults): ExportParameters {
  const found = readArguments(call, services, [], faults);
  const text = (name: string): string | undefined => valueOf(found, name) as string | undefined;
  const texts = (name: string): string[] => valuesOf(found, name).map(String);
  const flag = (name: string): boolean => valueOf(found, name) === true;
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
    patients: valuesOf(found, 'patient'),
    elements: texts('_elements').flatMap(cutList),
    associated: texts('includeAssociatedData').flatMap(cutList),
    ...(outputFormat !== undefined && { outputFormat }),
    ...(exportId !== undefined && { exportId }),
    ...(organizedBy !== undefined && { organizedBy }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  };
}

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
