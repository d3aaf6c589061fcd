import type { Visit } from '../../path/visit.js';
import { readReference } from '../../path/reference-text.js';
import { containedResource } from '../../path/refers.js';
import { localParam } from '../parameter-kinds.js';
import type { ReferenceEntry } from '../entry.js';
import type { Converters, Harvest, Target } from './converter.js';
import { objectOf, textOf } from './json.js';

/**
 * Entries of reference parameters. https://hl7.org/fhir/R5/search.html#reference
 *
 * Text (`Reference.reference` itself) is read like the reference around it. A reference to a contained resource (`#id`) gives an entry
 * of another parameter, for chains and `:missing` only: what it points to has no address outside. A resource in the place of a reference (the first of a document Bundle) counts as a reference to its type and id. An `id`
 * (parameter `_in`) is not a reference and gives none: membership is looked up from the group's side.
 */
export const referenceConverters: Converters = {
  Reference: (target) => {
    return (value, harvest) => {
      const { out } = harvest;
      const reference = objectOf(value);
      if (reference === undefined) return;
      pushLocal(harvest, target, textOf(reference['reference']));
      const entry = literalEntry(target, reference);
      const identifier = logicalIdentifier(reference);
      if (identifier !== undefined) out.push(logicalEntry(target, reference, identifier, entry));
      else if (entry !== undefined) out.push(entry);
    };
  },
  CodeableReference: (target) => {
    const convert = referenceConverters['Reference']?.(target);
    return (value, harvest) => {
      convert?.(objectOf(value)?.['reference'], harvest);
    };
  },
  string: (target) => {
    return (value, harvest) => {
      const { out } = harvest;
      pushLocal(harvest, target, textOf(value));
      const entry = literalEntry(target, { reference: value });
      if (entry !== undefined) out.push(entry);
    };
  },
  uri: canonical,
  Resource: ({ param }) => {
    return (value, { out }) => {
      const resource = objectOf(value);
      const type = textOf(resource?.['resourceType']);
      const id = textOf(resource?.['id']);
      if (type !== undefined && id !== undefined) out.push({ kind: 'reference', param, type, id });
    };
  },
  id: () => () => {},
};

type Json = Readonly<Record<string, unknown>>;
type Identification = NonNullable<ReferenceEntry['identifier']>;

const DEFINITIONS = 'http://hl7.org/fhir/StructureDefinition/';

/** `#m1`: what is within the same resource, once however often it is named. `#` alone, the resource around it, gives none. */
function pushLocal(harvest: Harvest, { param, isPart }: Target, text: string | undefined): void {
  if (text === undefined || text.length < 2 || !text.startsWith('#') || isPart === true) return;
  const fragment = text.slice(1);
  const known = (harvest.local ??= new Set());
  const name = `${param}${text}`;
  if (known.has(name) || containedResource(harvest.root, fragment) === undefined) return;
  known.add(name);
  harvest.out.push({ kind: 'reference', param: localParam(param), fragment });
}

function literalEntry(target: Target, reference: Json): ReferenceEntry | undefined {
  const text = textOf(reference['reference']);
  if (text === undefined || text.startsWith('#')) return undefined;
  const { param } = target;
  const read = target.own.read(text);
  if (read !== undefined && target.isResourceType(read.type)) return { kind: 'reference', param, ...read };
  const type = declaredType(reference, target);
  return type === undefined ? { kind: 'reference', param, url: text } : { kind: 'reference', param, type, url: text };
}

/** One entry says both where a reference points and what identifies its target. */
function logicalEntry(
  target: Target,
  reference: Json,
  identifier: Identification,
  literal: ReferenceEntry | undefined,
): ReferenceEntry {
  if (literal !== undefined) return { ...literal, identifier };
  const { param } = target;
  const type = declaredType(reference, target);
  return type === undefined ? { kind: 'reference', param, identifier } : { kind: 'reference', param, type, identifier };
}

/** `Reference.type`: what the target is where the text does not tell. */
function declaredType(reference: Json, { isResourceType }: Target): string | undefined {
  const declared = textOf(reference['type']);
  if (declared === undefined) return undefined;
  const name = declared.startsWith(DEFINITIONS) ? declared.slice(DEFINITIONS.length) : declared;
  return isResourceType(name) ? name : undefined;
}

/** https://hl7.org/fhir/R5/references.html#logical */
function logicalIdentifier(reference: Json): Identification | undefined {
  const identifier = objectOf(reference['identifier']);
  const value = textOf(identifier?.['value']);
  if (identifier === undefined || value === undefined) return undefined;
  const system = textOf(identifier['system']);
  return system === undefined ? { value } : { system, value };
}

/**
 * Canonicals and other URIs: `url|version#fragment`. They keep their text even where it ends in `Type/id`, because
 * they name a resource by its `url`, not by where it lies; only a relative one (`Type/id`) is a place on this server.
 * https://hl7.org/fhir/R5/references.html#canonical
 */
function canonical(target: Target): Visit<Harvest> {
  return (value, harvest) => {
    if (typeof value === 'string') pushCanonical(harvest, target, value);
  };
}

function pushCanonical(harvest: Harvest, target: Target, text: string): void {
  const { param, isResourceType } = target;
  pushLocal(harvest, target, text);
  const hash = text.indexOf('#');
  const fragment = hash < 0 ? '' : text.slice(hash + 1);
  const named = hash < 0 ? text : text.slice(0, hash);
  const bar = named.indexOf('|');
  const version = bar < 0 ? '' : named.slice(bar + 1);
  const url = bar < 0 ? named : named.slice(0, bar);
  if (url === '') return;
  const place = url.includes(':') ? undefined : readReference(url);
  harvest.out.push({
    kind: 'reference',
    param,
    ...(place !== undefined && isResourceType(place.type) ? place : { url }),
    ...(version !== '' && { version }),
    ...(fragment !== '' && { fragment }),
  });
}
