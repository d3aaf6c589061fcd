import { tables } from '../../../../generated/tables.js';
import type { Interaction, RouteRow } from '../../../../runtime/contract/rest.js';
import type { Random } from '../../../contract/random.js';
import { FORM_TYPE } from '../../search-server.js';
import type { Policy } from './leak-twins.js';
import { searchMaker } from './leak-searches.js';
import { ASKED_ROUTES, operationCall, operationRoute, someJob } from './leak-operations.js';
import { PROFILES } from './leak-profiles.js';
import type { Values } from './leak-values.js';
import { contentMaker, DRAFT_TYPES, idsOfType } from './leak-world.js';

/** A request to both twins. `@n@` in it stands for the instant of a version that both have, `@jobN@` for a job. */
export interface LeakRequest {
  readonly method: string;
  /** Below `/fhir`, encoded. */
  readonly path: string;
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Lines that the client uploads before. */
  readonly upload?: string;
}

/** How often interactions come, where it is not once. */
const WEIGHTS: Readonly<Partial<Record<Interaction, number>>> = {
  'search-type': 40,
  'search-system': 8,
  'search-compartment': 12,
  read: 6,
  vread: 6,
  'history-instance': 5,
  'history-type': 5,
  'history-system': 5,
  bundle: 6,
  operation: 20,
  // It is open, and says when the server began.
  capabilities: 0,
};
const WRITE_WEIGHT = 8;
/** The part of requests whose answer comes later. */
const LATER = 0.1;
/** The part of requests that are GraphQL queries: as an operation among many they would hardly come. */
const GRAPHQL = 0.05;
const WRITES: ReadonlySet<Interaction> = new Set<Interaction>([
  ...(['create', 'update', 'patch', 'delete'] as const),
  ...(['conditional-update', 'conditional-patch', 'conditional-delete'] as const),
  ...(['delete-history', 'delete-history-version'] as const),
]);

const JSON_PATCH = 'application/json-patch+json';
const HISTORY: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['_since', ['@1@', '@9@', '@30@', '2094']],
  ['_at', ['@5@', '@20@', '@60@']],
  ['_count', ['0', '1', '3', '50']],
  ['_summary', ['count', 'true']],
];

const EMPTY = '{"resourceType":"Parameters"}';
const STATEMENT_HEADS = ['select id, count(*)', 'select id'];
const STATEMENT_TESTS = ['id.exists()', "language = 'en'", 'meta.lastUpdated > @2020-01-01', 'extension.empty()'];

/** Makes requests to all routes that there are, with all parameters that there are. */
export function requestMaker(policy: Policy, random: Random, value: Values): () => LeakRequest {
  const { pick, chance } = random;
  const known = [...policy.all, ...(policy.open ?? [])];
  const search = searchMaker(random, value, known);
  const make = contentMaker(random);
  const interactions = [...new Set(tables.routes.map(({ interaction }) => interaction))];
  const wheel = interactions.flatMap((interaction) => {
    const weight = WRITES.has(interaction) && policy.writes ? WRITE_WEIGHT : (WEIGHTS[interaction] ?? 1);
    return Array.from({ length: weight }, () => interaction);
  });

  const typeOf = (row: RouteRow): string | undefined => {
    const first = row.path.split('/')[0]!;
    if (first !== '[type]') return /^[A-Z]/.test(first) ? first : undefined;
    if (chance(0.9)) return pick(known);
    return pick(chance(0.8) ? DRAFT_TYPES : tables.resourceTypes);
  };
  const searched = (row: RouteRow, type: string | undefined): string | undefined => {
    if (row.interaction !== 'search-compartment') return type;
    const member = row.path.split('/')[2]!;
    return member === '*' || member === '_search' ? undefined : member;
  };
  const resource = (type: string, id?: string): { readonly resourceType: string } => {
    const profiles = PROFILES.filter((each) => each.type === type);
    return {
      ...make(DRAFT_TYPES.includes(type) ? type : 'Basic', chance(0.7)),
      resourceType: type,
      ...(id !== undefined && { id }),
      ...(profiles.length > 0 && chance(0.5) && { meta: { profile: [pick(profiles).url] } }),
    };
  };
  const content = (type: string, id?: string): string => JSON.stringify(resource(type, id));
  /** What finds few. */
  const criteria = (type: string): string => {
    const name = pick(['_id', 'identifier', 'status', '_language']);
    return encode([[name, name === '_language' ? pick(['en', 'de']) : value.find(type, name, random)]]);
  };

  const requestTo = (row: RouteRow): LeakRequest => {
    const { method, interaction } = row;
    const type = typeOf(row);
    const file = interaction === 'read' && type === 'Binary' && chance(0.3) ? `${someJob(random)}.0` : undefined;
    const id = file ?? (chance(0.9) ? pick(idsOfType(type ?? 'Patient')) : 'none');
    const base = `/${row.path
      .replace('[type]', type ?? '')
      .replace('[id]', id)
      .replace('[vid]', String(1 + random.below(4)))}`;
    const headers: Record<string, string> = chance(0.1) ? { prefer: 'handling=lenient' } : {};
    const to = (query: string, more: Partial<LeakRequest> = {}): LeakRequest => ({
      method,
      path: query === '' ? base : `${base}?${query}`,
      ...more,
      headers: { ...headers, ...more.headers },
    });
    if (interaction.startsWith('search')) {
      const query = encode(search(searched(row, type), interaction === 'search-type'));
      return method === 'GET' ? to(query) : to('', { body: query, headers: FORM_TYPE });
    }
    if (interaction.startsWith('history')) {
      return to(encode(HISTORY.flatMap(([name, values]) => (chance(0.3) ? [[name, pick(values)] as const] : []))));
    }
    if (interaction === 'bundle') return to('', { body: JSON.stringify(bundle()) });
    const when = chance(0.2) ? { 'if-match': `W/"${1 + random.below(3)}"` } : {};
    switch (interaction) {
      case 'read':
      case 'vread':
        return to(chance(0.2) ? '_summary=true' : '', {
          method: chance(0.8) ? 'GET' : 'HEAD',
          headers: chance(0.3) ? { 'if-none-match': `W/"${1 + random.below(3)}"` } : {},
        });
      case 'create':
        return to('', {
          body: content(type!),
          headers: chance(0.5) ? { 'if-none-exist': criteria(type!) } : {},
        });
      case 'update':
        return to('', { body: content(type!, id), headers: when });
      case 'conditional-update':
        return to(criteria(type!), { body: content(type!), headers: when });
      case 'patch':
      case 'conditional-patch': {
        const path = pick(['/language', '/name', '/status', '/text']);
        const patch = [{ op: pick(['add', 'replace', 'test']), path, value: pick(['en', 'de', 'final']) }];
        const query = interaction === 'patch' ? '' : criteria(type!);
        return to(query, { body: JSON.stringify(patch), headers: { 'content-type': JSON_PATCH, ...when } });
      }
      case 'delete':
        return to('', { headers: when });
      case 'conditional-delete':
        return to(criteria(type ?? 'Patient'));
      case 'operation': {
        if (base === '/$hfql-execute') return to('', { body: statement() });
        const { query = '', ...call } = operationCall(row, type ?? pick(known), operands);
        return to(query, call);
      }
      default:
        return to('', method === 'POST' ? { body: EMPTY } : {});
    }
  };
  const operands = {
    ...{ random, value, known, content: resource },
    search: (type: string) => (chance(0.8) ? criteria(type) : encode(search(type, true))),
  };
  /** A statement that counts, sorts, and asks by conditions. The search behind a walk has an id that is random: groups have none. */
  const statement = (): string => {
    const type = pick(known);
    const [name, found] = ['_id', pick(idsOfType(type))];
    const where = chance(0.5) ? `id in search_match('${name}', '${found}')` : pick(STATEMENT_TESTS);
    const query = `${pick(STATEMENT_HEADS)} from ${type} where ${where}${pick([' order by id', ' group by id order by id'])}`;
    const parameter = [
      { name: 'action', valueCode: 'search' },
      { name: 'query', valueString: query },
    ];
    return JSON.stringify({ resourceType: 'Parameters', parameter });
  };
  /** Single resources, lists, what refers to them, and the targets of references. What a type does not have is 400 for both. */
  const graphql = (): LeakRequest => {
    const [type, other] = [pick(known), pick(known)];
    const id = pick(idsOfType(type));
    const fields = pick([
      'id resourceType',
      `id ${other}List(_reference: ${pick(['subject', 'patient', 'focus', 'encounter'])}) { id }`,
      `id ${pick(['subject', 'patient', 'encounter'])} { reference resource${pick(['', '(optional: true)'])} { id resourceType } }`,
      `id ${other}Connection(_reference: subject) { count }`,
    ]);
    const query = pick([
      `{ ${type}(id: "${id}") { ${fields} } }`,
      `{ ${type}List(_sort: "_id") { ${fields} } }`,
      `{ ${type}List(_id: ["${id}", "none"]) { ${fields} } }`,
      `{ ${type}Connection(_count: 50, _sort: "_id") { count edges { resource { ${fields} } } } }`,
    ]);
    const parameter = [{ name: 'query', valueString: query }];
    return { method: 'POST', path: '/$graphql', body: JSON.stringify({ resourceType: 'Parameters', parameter }), headers: {} }; // prettier-ignore
  };
  const some = (): LeakRequest => {
    if (chance(GRAPHQL)) return graphql();
    const interaction = pick(wheel);
    if (interaction === 'operation' && chance(0.8)) return requestTo(operationRoute(random, known));
    return requestTo(pick(ASKED_ROUTES.filter((row) => row.interaction === interaction)));
  };
  const bundle = (): object => {
    const type = pick(['batch', 'batch', 'transaction']);
    const entry = Array.from({ length: 1 + random.below(4) }, () => entryOf(some));
    return { resourceType: 'Bundle', type, entry: type === 'batch' ? independent(entry) : entry };
  };
  return () => {
    const request = some();
    if (!chance(LATER)) return request;
    const { prefer = '' } = request.headers;
    const wishes = ['respond-async', prefer, ...(chance(0.3) ? ['async-form=redirect'] : [])];
    return { ...request, headers: { ...request.headers, prefer: wishes.filter((each) => each !== '').join(', ') } };
  };
}

/** A batch executes the writes of one kind at the same time: which of two finds what the other wrote is chance. */
function independent(entries: readonly LeakEntry[]): LeakEntry[] {
  const written = new Set<string>();
  return entries.filter(({ request: { method } }) => {
    const phase = method === 'PATCH' ? 'PUT' : method;
    if (method === 'GET' || method === 'HEAD') return true;
    return !written.has(phase) && written.add(phase);
  });
}

interface LeakEntry {
  readonly request: { readonly method: string; readonly [field: string]: string };
}

/** A request that may stand in a Bundle, as an entry. */
function entryOf(some: () => LeakRequest): LeakEntry {
  for (;;) {
    const { method, path, body, headers } = some();
    const isPlain = headers['content-type'] === undefined && path !== '/' && !path.includes('$');
    if (!isPlain || (method === 'POST' && path.includes('_'))) continue;
    return {
      request: {
        method,
        url: path.slice(1),
        ...(headers['if-none-exist'] !== undefined && { ifNoneExist: headers['if-none-exist'] }),
        ...(headers['if-match'] !== undefined && { ifMatch: headers['if-match'] }),
        ...(headers['if-none-match'] !== undefined && { ifNoneMatch: headers['if-none-match'] }),
      },
      ...(body !== undefined && { resource: JSON.parse(body) as object }),
    };
  }
}

function encode(pairs: readonly (readonly [string, string])[]): string {
  return pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
}
