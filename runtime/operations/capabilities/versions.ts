import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { readArguments } from '../common/arguments.js';

/**
 * `[base]/$versions`: the FHIR versions that the server speaks, as major and minor numbers.
 * https://hl7.org/fhir/R5/capabilitystatement-operation-versions.html
 */
export function versions(call: Call, services: Services): Promise<Reply> {
  readArguments(call, services);
  const valueCode = services.tables.origin.fhirVersion.split('.').slice(0, 2).join('.');
  const parameter = [
    { name: 'version', valueCode },
    { name: 'default', valueCode },
  ];
  return Promise.resolve({ status: 200, resource: { resourceType: 'Parameters', parameter } });
}
