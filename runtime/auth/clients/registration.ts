import { CLIENT_ALGORITHMS, isAlgorithm, type SignatureAlgorithm } from '../jwks/algorithms.js';
import type { AllowList } from '../jwks/allow-list.js';
import { setFault } from '../jwks/jwk-set.js';
import { DIALECTS } from '../scopes/dialect.js';
import { GRANT, type Client } from './client.js';

/** A registration was refused: the message is one line for the person who registers, and holds no key. */
export class ClientRefused extends Error {
  constructor(text: string) {
    super(text);
    this.name = 'ClientRefused';
  }
}

/** Rules that a registration is checked by. */
export interface RegistrationRules {
  /** Which JWKS URLs may be fetched. */
  readonly allow: AllowList;
  /** What clients may sign with; absent: RS384 and ES384. */
  readonly algorithms?: readonly SignatureAlgorithm[];
  /** Whether anything could be granted of a scope as it is registered. */
  readonly isScope: (registered: Pick<Client, 'scope' | 'dialect'>) => boolean;
  /** What of it means nothing, each with the reason. */
  readonly explain?: (registered: Pick<Client, 'scope' | 'dialect'>) => readonly string[];
}

/** Longest life of a token, in seconds. SMART: "SHOULD NOT exceed 300" */
export const MAX_LIFETIME = 300;

/** RFC 6749 §A.1 without space, quote and backslash. */
const ID = /^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/;
const MAX_NAME = 200;
const MAX_SCOPE = 16 * 1024;
const MAX_URL = 2048;
const MEMBERS = [
  'id',
  'name',
  'scope',
  'dialect',
  'jwks',
  'jwksUrl',
  'enabled',
  'lifetime',
  'algorithms',
  'grants',
] as const satisfies readonly (keyof Client)[];

/**
 * Reads a registration: from a command, or from the configuration. `enabled` is true where it is absent.
 * authorization.md §2.3, §2.4
 *
 * @throws ClientRefused
 */
export function readRegistration(value: unknown, rules: RegistrationRules): Client {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refused('A client is an object');
  const given = value as Partial<Record<string, unknown>>;
  const unknown = Object.keys(given).find((name) => !(MEMBERS as readonly string[]).includes(name));
  if (unknown !== undefined) throw refused(`A client has no member "${unknown.slice(0, 50)}"`);
  const fault = MEMBERS.map((name) => CHECKS[name](given[name], rules)).find((text) => text !== undefined);
  if (fault !== undefined) throw refused(fault);
  if ((given['jwks'] === undefined) === (given['jwksUrl'] === undefined)) {
    throw refused('A client has either a JWKS or the URL of one');
  }
  const client = { enabled: true, ...given } as unknown as Client;
  if (client.grants?.length !== 0 && !rules.isScope(client)) {
    const why = rules.explain?.(client).join('; ') ?? '';
    throw refused(
      `Nothing in the scope of the client could be granted: ${why || 'system/Patient.rs is an example of a scope'}`,
    );
  }
  return client;
}

type Check = (value: unknown, rules: RegistrationRules) => string | undefined;

/** A check of a member that may be absent. */
function optional(check: Check): Check {
  return (value, rules) => (value === undefined ? undefined : check(value, rules));
}

/** What is wrong with each member. */
const CHECKS: Readonly<Record<(typeof MEMBERS)[number], Check>> = {
  id: (value) => must(isText(value) && ID.test(value), 'The id of a client has 1 to 255 printable characters of ASCII'),
  name: optional((value) => must(isText(value) && value.length <= MAX_NAME, 'The name of a client is a short text')),
  scope: (value) =>
    must(
      isText(value) && value.length <= MAX_SCOPE,
      'The scope of a client is needed: a text such as system/Patient.rs, and not endless',
    ),
  dialect: optional((value) =>
    must((DIALECTS as readonly unknown[]).includes(value), 'The dialect of a client is v2, v1 or eu-0.1'),
  ),
  jwks: optional((value, { algorithms = CLIENT_ALGORITHMS }) => setFault(value, algorithms)),
  jwksUrl: optional((value, { allow }) => {
    const url = isText(value) && value.length <= MAX_URL && URL.canParse(value) ? new URL(value) : undefined;
    if (url === undefined) return 'The JWKS URL of the client cannot be read';
    const fault = allow.urlFault(url);
    return fault === undefined ? undefined : `The JWKS URL of the client ${fault}`;
  }),
  enabled: optional((value) => must(typeof value === 'boolean', 'A client is enabled: true or false')),
  lifetime: optional((value) =>
    must(
      Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_LIFETIME,
      `The lifetime of a client's tokens is 1 to ${MAX_LIFETIME} seconds`,
    ),
  ),
  algorithms: optional((value, { algorithms = CLIENT_ALGORITHMS }) =>
    must(
      Array.isArray(value) && value.length > 0 && value.every((alg) => isAlgorithm(alg) && algorithms.includes(alg)),
      `The algorithms of a client are some of ${algorithms.join(', ')}`,
    ),
  ),
  grants: optional((value) =>
    must(
      Array.isArray(value) && value.every((grant) => grant === GRANT),
      `The grants of a client are "${GRANT}" or none`,
    ),
  ),
};

function must(isGood: boolean, fault: string): string | undefined {
  return isGood ? undefined : fault;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function refused(text: string): ClientRefused {
  return new ClientRefused(text);
}
