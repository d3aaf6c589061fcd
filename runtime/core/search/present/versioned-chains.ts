import type { OutcomeIssue } from '../../../fhir/outcome-issue.js';
import type { Criterion } from '../../../search/query/query.js';
import type { StoredVersion } from '../../../store/store.js';
import { readStored } from '../../read-stored.js';
import type { Services } from '../../services.js';

/** Resources that the warning names. */
const NAMED = 10;

/**
 * Warns where a chain went through a reference that names a version: searches know current versions only. Servers SHOULD say so.
 * https://hl7.org/fhir/R5/search.html#versions
 *
 * @param matches the page
 */
export async function versionedChainWarnings(
  criteria: readonly Criterion[],
  matches: readonly StoredVersion[],
  services: Pick<Services, 'extract' | 'largeTexts'>,
): Promise<OutcomeIssue[]> {
  const params = new Set(criteria.flatMap(chainedParams));
  if (params.size === 0) return [];
  const names: string[] = [];
  for (const { type, id, json = '' } of matches) {
    // Most texts tell at once that no reference in them names a version.
    if (!json.includes('/_history/')) continue;
    const entries = services.extract(await readStored(json, services), 'words');
    const isVersioned = entries.some(
      (entry) => entry.kind === 'reference' && params.has(entry.param) && entry.version !== undefined && 'id' in entry,
    );
    if (isVersioned) names.push(`${type}/${id}`);
  }
  if (names.length === 0) return [];
  const list = names.slice(0, NAMED).join(', ');
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  const text = `${list}${more}: the reference names a version; the chain followed the current version instead`;
  return [{ severity: 'warning', issue: 'business-rule', code: 'version-ignored', text }];
}

/** The parameters that chains begin with. */
function chainedParams(criterion: Criterion): readonly string[] {
  if ('all' in criterion) return criterion.all.flatMap(chainedParams);
  if ('some' in criterion) return criterion.some.flatMap(chainedParams);
  if ('not' in criterion) return chainedParams(criterion.not);
  return 'chain' in criterion ? [criterion.param] : [];
}
