/** JSON Schemas of settings whose value is JSON. What a value means is checked where it is used. */

const text = (description: string): object => ({ type: 'string', minLength: 1, description });

/** Clients of the configuration: the members that `readRegistration` reads. */
export const CLIENTS_SCHEMA = {
  type: 'array',
  description: 'a list of clients',
  items: {
    type: 'object',
    description: 'a client',
    required: ['id', 'scope'],
    additionalProperties: false,
    properties: {
      id: text('the id of a client'),
      name: text('a name'),
      scope: text('a scope such as system/Patient.rs'),
      dialect: { enum: ['v2', 'v1', 'eu-0.1'] },
      jwks: { type: 'object', description: 'a JWK Set, {"keys": […]}' },
      jwksUrl: text('the URL of a JWK Set'),
      enabled: { type: 'boolean', description: 'true or false' },
      lifetime: { type: 'integer', minimum: 1, maximum: 300, description: '1 to 300 seconds' },
      algorithms: { type: 'array', items: text('an algorithm such as ES384'), description: 'a list of algorithms' },
      grants: { type: 'array', items: text('a grant'), description: 'a list of grants' },
    },
  },
};

/** Schema of the meanings of foreign scopes, by scope. */
export const SCOPES_SCHEMA = {
  type: 'object',
  description: 'an object of texts',
  additionalProperties: text('a scope such as system/*.rs'),
};

/** Profiles that all resources of a type have to conform to, by type. */
export const PROFILES_SCHEMA = {
  type: 'object',
  description: 'an object of lists',
  additionalProperties: {
    type: 'array',
    description: 'a list of canonical URLs',
    items: { type: 'string', pattern: '^[a-z][a-z0-9+.-]*:\\S{1,1000}$', description: 'a canonical URL' },
  },
};

/** Modes of reference integrity, by type or element. */
export const INTEGRITY_SCHEMA = {
  type: 'object',
  description: 'an object of modes',
  additionalProperties: { enum: ['none', 'written', 'enforced'], description: 'none, written or enforced' },
};
