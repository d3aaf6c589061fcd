import { withinReach } from '../auth/scopes/reach.js';
import { anyVisible } from '../core/access/any-visible.js';
import type { Call } from '../core/call.js';
import type { Services } from '../core/services.js';
import type { OutcomeIssue } from '../fhir/outcome-issue.js';
import type { Criterion, TokenTest } from '../search/query/query.js';

const PATIENT = 'Patient';

/** A search that found nothing. */
interface EmptySearch {
  readonly type: string | undefined;
  readonly criteria: readonly Criterion[];
}

/**
 * Returns warnings of domains of identifiers that a search for patients names (`identifier=SYSTEM|`) and that no patient has whom the token
 * shows. IHE PDQm 3.2.0, 2:3.78.4.1.3 (case 5)
 */
export async function unknownDomainWarnings(
  { type, criteria }: EmptySearch,
  { principal: { access }, signal }: Pick<Call, 'principal' | 'signal'>,
  services: Services,
): Promise<readonly OutcomeIssue[]> {
  if (type !== PATIENT || !services.exchange.actors.transactions.has('ITI-78')) return [];
  const domains = criteria.flatMap(domainsIn);
  if (domains.length === 0) return [];
  const questions = await anyVisible(
    (seen) =>
      domains.map((domain) => {
        const where = withinReach({ param: 'identifier', any: [domain] }, seen.onAny(PATIENT, ['s', 'r']));
        return { domain, parts: [{ type: PATIENT, where }] };
      }),
    access,
    services,
    signal,
  );
  const known = new Set(questions.map(({ domain }) => domain));
  return domains
    .filter((domain) => !known.has(domain))
    .map(({ system }): OutcomeIssue => {
      const text = `No Patient has an identifier of ${system ?? 'no system'}`;
      return { severity: 'warning', issue: 'not-found', code: 'domain-unknown', text, parameter: 'identifier' };
    });
}

/** The systems that a criterion names without a value. */
function domainsIn(criterion: Criterion): readonly TokenTest[] {
  if (!('param' in criterion) || criterion.param !== 'identifier' || !('any' in criterion)) return [];
  return criterion.any.filter(
    (test): test is TokenTest => test.is === 'token' && test.code === undefined && typeof test.system === 'string',
  );
}
