import { FhirError } from '../fhir/errors.js';
import { DEFAULT_LIMITS } from '../fhir/limits.js';
import { OwnBases } from '../path/own-bases.js';
import { utc } from '../indexing/values/zone.js';
import { NO_ACTORS } from './actors.js';
import { NO_GUIDES } from './definitions/guide-claims.js';
import { JSON_PATCHER } from '../patch/apply/patchers.js';
import { DEFAULT_SEARCH } from './search-services/search-settings.js';
import type { Services } from './services.js';

/** The services that a server may leave to their defaults. */
export type DefaultServices = Omit<
  Services,
  | 'tables'
  | 'store'
  | 'extract'
  | 'switches'
  | 'scopeRows'
  | 'pages'
  | 'feeds'
  | 'entries'
  | 'wired'
  | 'operations'
  | 'formats'
>;

/** Services that apply where no setting says otherwise. */
export const DEFAULT_SERVICES: DefaultServices = {
  refit: (_resource, entries) => entries,
  validate: () => [],
  rules: { errors: () => [], thorough: () => ({ faults: [], open: [], named: { codes: [], isCut: false } }) },
  validation: 'full',
  takesEffect: () => false,
  indexStatus: { notCurrent: () => Promise.resolve([]) },
  notInEffect: [],
  guides: NO_GUIDES,
  largeTexts: undefined,
  audit: { answered: () => undefined, failed: () => undefined },
  definitions: undefined,
  jobs: undefined,
  subscriptions: undefined,
  profiles: undefined,
  shipped: undefined,
  validateByProfiles: () => Promise.resolve([]),
  beforeWrite: undefined,
  afterRead: undefined,
  draining: new AbortController().signal,
  findCodes: () => Promise.reject(new FhirError('parameter-invalid', 'This server looks up no codes')),
  knownSystems: () => [],
  limits: DEFAULT_LIMITS,
  search: DEFAULT_SEARCH,
  zone: utc,
  own: new OwnBases(),
  integrity: undefined,
  fetchFile: undefined,
  publish: undefined,
  isReadOnly: false,
  deletesMultiple: false,
  exchange: { documents: true, actors: NO_ACTORS },
  baseUrl: undefined,
  authorization: undefined,
  patchers: JSON_PATCHER,
  subset: undefined,
};
