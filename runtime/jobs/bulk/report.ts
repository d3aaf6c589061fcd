import { issueText } from '../../fhir/operation-outcome.js';
import type { JsonObject } from '../../fhir/resource.js';
import type { BulkCounts } from './bulk-input.js';

/** Returns what became of the resources that a job was about, as Parameters. */
export function writeReport(type: string, { done, skipped, failed, failures }: BulkCounts): JsonObject {
  const counts = { [NAMES[type] ?? 'changed']: done, skipped, failed };
  const issue = failures.map((text) => ({ severity: 'error', code: 'processing', ...issueText(text) }));
  return {
    resourceType: 'Parameters',
    parameter: [
      ...Object.entries(counts).map(([name, valueInteger]) => ({ name, valueInteger })),
      ...(issue.length === 0 ? [] : [{ name: 'issues', resource: { resourceType: 'OperationOutcome', issue } }]),
    ],
  };
}

const NAMES: Readonly<Record<string, string>> = {
  'bulk-delete': 'deleted',
  'bulk-patch': 'patched',
  'bulk-undo': 'restored',
};
