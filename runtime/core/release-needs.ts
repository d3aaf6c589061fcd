import type { Tables } from '../contract/tables.js';

/** A feature of the runtime that is made for definitions of FHIR R5, and an element that says whether the tables have these. */
interface ReleaseNeed {
  readonly feature: string;
  readonly type: string;
  readonly element: string;
}

/** Features that not every release of FHIR has the definitions for. */
const NEEDS = {
  subscriptions: { feature: 'topic subscriptions', type: 'Subscription', element: 'topic' },
  audit: { feature: 'AuditEvents of the audit (--audit-sink)', type: 'AuditEvent', element: 'code' },
  documents: { feature: 'exchange of documents', type: 'DocumentReference', element: 'version' },
} satisfies Readonly<Record<string, ReleaseNeed>>;

/** Whether the tables have the definitions that a feature is made for. */
export function isServable(feature: keyof typeof NEEDS, tables: Pick<Tables, 'types'>): boolean {
  return hasElement(NEEDS[feature], tables);
}

/** Returns, for people, the features that tables have no definitions for. */
export function lackingFeatures(tables: Pick<Tables, 'types'>): readonly string[] {
  return Object.values(NEEDS)
    .filter((need) => !hasElement(need, tables))
    .map(({ feature, type, element }) => `${feature}: there is no ${type}.${element}`);
}

function hasElement({ type, element }: ReleaseNeed, { types }: Pick<Tables, 'types'>): boolean {
  return types.find(({ name }) => name === type)?.elements.some(({ name }) => name === element) === true;
}
