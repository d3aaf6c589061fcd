import { successOutcome } from '../../fhir/operation-outcome.js';
import type { StoredVersion } from '../../store/store.js';
import type { Call, Reply } from '../../core/call.js';

/**
 * The answer to a create or update, in the form that `Prefer: return` asks for. It names the version, also of a resource that was there
 * already, for clients that read its id and version from there. RFC 9110, 8.7
 * https://hl7.org/fhir/R5/http.html#ops
 */
export function replyWritten(call: Call, status: 200 | 201, stored: StoredVersion, what: string): Reply {
  const name = `${stored.type}/${stored.id}`;
  const versionId = String(stored.version);
  const head = {
    status,
    versionId,
    lastUpdated: stored.lastUpdated,
    location: versionPath(stored),
    ...(status === 200 && { contentLocation: versionPath(stored) }),
  };
  switch (call.prefer.return) {
    case 'minimal':
      return { ...head, about: [stored] };
    case 'OperationOutcome':
      return { ...head, about: [stored], resource: successOutcome(`${name} ${what}, version ${versionId}`) };
    default:
      return stored.json === undefined ? head : { ...head, json: stored.json };
  }
}

/** URL of a version, relative to the base. */
export function versionPath({ type, id, version }: Pick<StoredVersion, 'type' | 'id' | 'version'>): string {
  return `${type}/${id}/_history/${version}`;
}
