import type { Config } from '../config/settings.js';
import { addressesOf } from '../auth/server/settings.js';
import { messageOf } from '../cli/terminal.js';
import { reportOf, type Finding } from './finding.js';

/** Time for an answer, in milliseconds. */
const PATIENCE = 5000;

/**
 * Checks that the base URL leads to a server whose discovery document has the addresses that follow from it.
 * https://hl7.org/fhir/smart-app-launch/conformance.html
 */
export async function checkBase({ 'base-url': root, 'auth.external.issuer': external }: Config): Promise<Finding> {
  const report = reportOf('base-url');
  if (root === undefined) return report.fine('none is set: only this machine is served');
  const { audience } = addressesOf(root);
  const isElsewhere = external !== undefined;
  const url = `${audience}/.well-known/smart-configuration`;
  const remedy = 'start the server, and let the proxy pass this path on; or set --base-url to the URL that clients use';
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(PATIENCE), redirect: 'manual' });
    if (answer.status !== 200) return report.fault(`${url} answers with ${answer.status}`, remedy);
    const { token_endpoint: endpoint } = (await answer.json()) as { token_endpoint?: unknown };
    const isOwn = isElsewhere || (typeof endpoint === 'string' && endpoint.startsWith(`${root}/`));
    if (isOwn) return report.fine(`${root} leads to a server that says the same`);
    return report.fault(`the server at ${root} gives clients another token endpoint: ${String(endpoint)}`, remedy);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return report.fault(`${url} does not answer: ${messageOf(cause)}`, remedy);
  }
}
