import type { Tables } from '../../contract/tables.js';

/** The type and the operations of SQL on FHIR: the setting `sqlOnFhir`. https://sql-on-fhir.org/ig/latest/ */
const TYPE = 'ViewDefinition';
const OPERATIONS: ReadonlySet<string | undefined> = new Set(['sql-run', 'sql-export', 'sql-export-poll-status']);

/** The tables of a server that has nothing of SQL on FHIR. */
export function withoutViews(tables: Tables): Tables {
  const isOther = ({ type }: { readonly type: string }): boolean => type !== TYPE;
  return {
    ...tables,
    resourceTypes: tables.resourceTypes.filter((type) => type !== TYPE),
    types: tables.types.filter(({ name }) => name.split('.')[0] !== TYPE),
    search: tables.search.filter(isOther),
    capabilities: tables.capabilities.filter(isOther),
    operations: tables.operations.filter(({ id }) => !OPERATIONS.has(id)),
    routes: tables.routes.filter(({ operation }) => !OPERATIONS.has(operation)),
    codes: tables.codes.map(({ url, codes }) => ({
      url,
      codes: Object.fromEntries(
        Object.entries(codes).map(([system, all]) => [system, all.filter((code) => code !== TYPE)]),
      ),
    })),
  };
}
