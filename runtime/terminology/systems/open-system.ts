import { FhirError } from '../../fhir/errors.js';
import { type JsonObject, type JsonValue, objectsOf } from '../../fhir/resource.js';
import { latestKnown, type CodeSystemIndex } from '../concepts.js';
import { TerminologyFault } from '../fault.js';
import type { Effort } from '../effort.js';
import { readFilter, type Filter } from '../filter.js';
import { GRAMMARS, type Grammar } from './grammar.js';
import { chosenVersion } from '../resolver.js';
import type { Mismatch, ValueSetContext } from '../value-set-context.js';
import { isPattern, isVersion } from '../version.js';

/** The code system of an include, in the version that counts. */
export interface OpenSystem {
  readonly url: string;
  /** Absent: a rule defines the codes, or the server does not know the system. */
  readonly system: CodeSystemIndex | undefined;
  readonly grammar: Grammar | undefined;
  readonly version: string | undefined;
  /** The list of the value set itself. */
  readonly concepts: readonly JsonObject[] | undefined;
  /** All of them have to be met. */
  readonly filters: readonly Filter[];
  /** The version is not the one that the code comes with. */
  readonly mismatch: Mismatch | undefined;
}

/**
 * Opens the code system of an include. The version is the one that the client forces, else that of the value set, of the client, of the
 * code, and else the latest.
 *
 * @param supplements canonicals that the value set names
 * @param effort what the filters cost is counted there
 * @param sent version that a code comes with
 * @throws TerminologyFault; FhirError `value-set-invalid`
 */
export async function openSystem(
  include: JsonObject,
  { resolver, versions, used }: ValueSetContext,
  supplements: readonly string[],
  effort: Effort,
  sent?: string,
): Promise<OpenSystem> {
  const url = String(include['system']);
  const pinned = textOf(include['version']);
  const chosen = chosenVersion(versions, url, pinned);
  const isFree = chosen === undefined || (isPattern(chosen) && sent !== undefined && isVersion(sent, chosen));
  const asked = isFree ? (sent ?? chosen) : chosen;
  const concepts = Array.isArray(include['concept']) ? listOf(include['concept']) : undefined;
  const filters = objectsOf(include['filter']);
  effort.spend(filters.length);
  if (concepts !== undefined && filters.length > 0) {
    throw new FhirError('value-set-invalid', 'The value set cannot be used: an include has concepts or filters, not both (vsd-3)'); // prettier-ignore
  }
  const found = await resolver.codeSystem(url, asked, supplements);
  const grammar = GRAMMARS.get(url);
  const isUsable = found !== undefined && found.content !== 'not-present' && found.content !== 'supplement';
  const version = found?.version ?? (grammar === undefined ? asked : undefined);
  if (!isUsable && grammar === undefined) {
    const known = asked === undefined ? undefined : await resolver.codeSystem(url);
    if (known !== undefined) {
      const kind = isFree && sent !== undefined ? 'coding-version' : 'pinned-version';
      const text = `The server does not know the code system ${url} in version ${asked}; ${latestKnown(known)}`;
      throw new TerminologyFault(kind, `${url}|${asked}`, text);
    }
    if (concepts === undefined) {
      const text = `The server does not know the code system ${url}${asked === undefined ? '' : `|${asked}`}, so the value set cannot be expanded`;
      throw new TerminologyFault('system', url, text);
    }
  }
  const check = versions.check.get(url);
  if (check !== undefined && !versions.force.has(url) && !isVersion(version, check)) {
    const text = `The version of ${url} has to be ${check}, and is ${version ?? 'unknown'}`;
    throw new TerminologyFault('checked-version', url, text, 'value-set-invalid');
  }
  if (!isUsable && grammar !== undefined && filters.length > 0) {
    throw new FhirError('value-set-invalid', `Filters on ${url} are not supported: a rule defines its codes`);
  }
  used.systems.add(version === undefined ? url : `${url}|${version}`);
  const system = isUsable ? found : undefined;
  const isOther = sent !== undefined && version !== undefined && !isVersion(version, sent);
  return {
    ...{ url, system, grammar, version, concepts },
    filters: system === undefined ? [] : filters.map((filter) => readFilter(filter, system, effort)),
    mismatch: isOther ? { system: url, used: version, sent } : undefined,
  };
}

const lists = new WeakMap<readonly JsonValue[], readonly JsonObject[]>();

/** The objects of a list, the same each time. */
function listOf(value: readonly JsonValue[]): readonly JsonObject[] {
  const known = lists.get(value) ?? objectsOf(value as JsonValue);
  lists.set(value, known);
  return known;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
