import { pathOf } from '../core/definitions/check-parameter.js';
import { SEARCH_PARAMETER } from '../indexing/parameters/stored-parameter.js';
import type { Core } from '../server.js';
import { printable } from '../cli/terminal.js';
import type { PackageRow } from './journal.js';

/** The SearchParameters of packages that are stored without effect, with the reason, a line each. */
export function withoutEffect(
  rows: readonly PackageRow[],
  { definitions }: Pick<Core, 'definitions'>,
): readonly string[] {
  const ids = new Set(rows.flatMap(idsOf));
  return definitions
    .current()
    .refused.flatMap(({ id, url = '', fault }) =>
      ids.has(id) ? [printable(`without effect: SearchParameter/${id} (${url}): ${pathOf(fault)}: ${fault.text}`)] : [],
    );
}

function idsOf({ resources }: PackageRow): readonly string[] {
  return resources.filter(({ type }) => type === SEARCH_PARAMETER).map(({ id }) => id);
}
