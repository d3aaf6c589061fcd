import { searchAccess } from '../../auth/access/search-access.js';
import { checkConstraintIndexes, recordConstraints } from '../../core/access/constraint-index-status.js';
import type { Call, Reply } from '../../core/call.js';
import { describeStaleIndex, staleParameters } from '../../core/definitions/index-status.js';
import { readStored } from '../../core/read-stored.js';
import { findAll } from '../../core/search-services/find-all.js';
import { withinBudget } from '../../search-execution/execute/search-budget.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue } from '../../fhir/resource.js';
import { read } from '../../interactions/read/read.js';
import { vread } from '../../interactions/read/vread.js';
import type { Condition } from '../../search/query/query.js';
import type { StoredVersion } from '../../store/store.js';
import { readArguments } from '../common/arguments.js';

/**
 * `$meta`: profiles, tags and security labels. Of an instance or a version its whole `meta`; of a type, or of all types that the
 * token may search, what current versions use. https://hl7.org/fhir/R5/resource-operation-meta.html
 *
 * @throws FhirError as `read` and `vread`; of types `index-not-current`, and `too-costly` where looking takes longer than a search may
 */
export async function meta(call: Call, services: Services): Promise<Reply> {
  readArguments(call, services);
  const { level, type } = call;
  if (level === 'instance' || level === 'version') return metaOfInstance(call, services);
  const types = type === undefined ? services.tables.resourceTypes : [type];
  return replyMeta(await metaInUse(types, call, services));
}

function replyMeta(valueMeta: JsonObject): Reply {
  const isEmpty = Object.keys(valueMeta).length === 0;
  const parameter = { name: 'return', ...(isEmpty ? {} : { valueMeta }) };
  return { status: 200, resource: { resourceType: 'Parameters', parameter: [parameter] } };
}

/** A read decides whether there is anything to see: it answers 404 and 410 as the interaction does. */
async function metaOfInstance(call: Call, services: Services): Promise<Reply> {
  const plain: Call = { ...call, params: new URLSearchParams(), conditions: {} };
  const { json } = await (call.level === 'version' ? vread : read)(plain, services);
  if (json === undefined) throw new Error('a read without content');
  const { meta: found } = await readStored(json, services);
  const { type = '', id = '' } = call;
  return { ...replyMeta(isObject(found) ? found : {}), about: [{ type, id, json }] };
}

/** The lists of `meta`, each with the parameter that indexes it and the kind of its entries. */
const LISTS = [
  { list: 'profile', param: '_profile', present: 'reference' },
  { list: 'security', param: '_security', present: 'token' },
  { list: 'tag', param: '_tag', present: 'token' },
] as const;

/** Resources whose `meta` has any of the lists. */
const LABELED: Condition = { some: LISTS.map(({ param, present }) => ({ param, present })) };

/** Resources that are read at a time. */
const PAGE = 500;

/**
 * Reads all current versions that have a profile, a tag or a label. The index finds them, so that unlabeled resources cost nothing;
 * it does not list distinct values.
 */
async function metaInUse(types: readonly string[], call: Call, services: Services): Promise<JsonObject> {
  const { store, tables, limits } = services;
  const { access } = call.principal;
  const recorded = recordConstraints(searchAccess(access, tables.resourceTypes));
  const reaches = types.map((type) => ({ type, reach: recorded.on(type, 's') }));
  await checkConstraintIndexes(recorded.constraints, services);
  await checkLists(types, services);
  const inUse = new InUse();
  await withinBudget(limits.queryTime, call.signal, async (signal) => {
    for (const { type, reach } of reaches) {
      if (reach === 'nothing') continue;
      const where: Condition = reach === 'everything' ? LABELED : { all: [reach, LABELED] };
      const query = { type, where, sort: [], count: PAGE, total: 'none' } as const;
      for await (const version of findAll(query, (...asked) => store.find(...asked), signal)) {
        await inUse.add(version, services);
      }
    }
  });
  return inUse.toMeta();
}

/** An index of other definitions could miss labels, and the answer would not say so. */
async function checkLists(types: readonly string[], services: Services): Promise<void> {
  const used = types.flatMap((type) => LISTS.map(({ param }) => ({ type, code: param })));
  const stale = describeStaleIndex(await staleParameters({ used }, services));
  if (stale !== undefined) throw new FhirError('index-not-current', stale);
}

/** Values that were found, each once: profiles by URL, codings by system and code. */
class InUse {
  private readonly found = new Map<string, Map<string, JsonValue>>(LISTS.map(({ list }) => [list, new Map()]));

  async add({ json = '' }: StoredVersion, services: Services): Promise<void> {
    const { meta: own } = await readStored(json, services);
    if (!isObject(own)) return;
    for (const [list, values] of this.found) {
      const each = own[list];
      if (!Array.isArray(each)) continue;
      for (const value of each) {
        const key = isObject(value) ? JSON.stringify([value['system'] ?? null, value['code'] ?? null]) : String(value);
        if (!values.has(key)) values.set(key, value);
      }
    }
  }

  toMeta(): JsonObject {
    const lists = [...this.found].map(([list, values]) => {
      const sorted = [...values].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
      return [list, sorted] as const;
    });
    return Object.fromEntries(lists.filter(([, values]) => values.length > 0));
  }
}
