import { type JsonObject, objectsOf, type Resource } from '../fhir/resource.js';
import type { Concept, Designation } from './concepts.js';
import type { Effort } from './effort.js';
import type { OpenSystem } from './systems/open-system.js';
import type { Member } from './value-set-context.js';

const NONE: readonly Designation[] = [];

/** What it costs to check a code by a rule, such as a unit. */
const STEPS_OF_RULE = 300;

/** A member that a code system defines. */
export function systemMember({ url, version }: Pick<OpenSystem, 'url' | 'version'>, concept: Concept): Member {
  const { code, display, language, designations, isAbstract, isInactive } = concept;
  // Properties are added one by one, because spreads take most of the time of large expansions.
  const member: { -readonly [name in keyof Member]: Member[name] } = { system: url, code, designations, concept, isAbstract, isInactive }; // prettier-ignore
  if (version !== undefined) member.version = version;
  if (display !== undefined) member.display = display;
  if (language !== undefined) member.language = language;
  return member;
}

/** A member that a rule defines. */
export function ruleMember(system: string, code: string, display: string | undefined): Member {
  return {
    ...{ system, code },
    ...(display !== undefined && { display, language: 'en' }),
    ...{ designations: NONE, isAbstract: false, isInactive: false },
  };
}

/**
 * Members that a value set lists: those that the code system has, or all where it is not known or incomplete. Displays and designations
 * of the list go before those of the code system.
 */
export async function listedMembers(
  listed: readonly JsonObject[],
  opened: OpenSystem,
  valueSet: Resource,
  effort: Effort,
): Promise<readonly Member[]> {
  const { url, version, system, grammar } = opened;
  const found: Member[] = [];
  for (const each of listed) {
    const turn = effort.pace();
    if (turn !== undefined) await turn;
    effort.spend(system === undefined && grammar !== undefined ? STEPS_OF_RULE : 1);
    const code = String(each['code']);
    const concept = system?.find(code);
    if (system?.content === 'complete' && concept === undefined) continue;
    const rule = system === undefined ? await grammar?.check(code) : undefined;
    if (system === undefined && grammar !== undefined && rule === undefined) continue;
    const base: Member = concept !== undefined ? systemMember(opened, concept) : { ...ruleMember(url, code, rule?.display), ...(version !== undefined && { version }) }; // prettier-ignore
    found.push(withListed(base, each, valueSet));
  }
  return found;
}

function withListed(member: Member, listed: JsonObject, valueSet: Resource): Member {
  const display = listed['display'];
  const own = objectsOf(listed['designation']).map(({ language, use, value }): Designation => ({
    ...(typeof language === 'string' && { language }),
    ...(use !== undefined && { use: use as JsonObject }),
    value: String(value),
  }));
  if (typeof display !== 'string' || display === '') {
    return own.length === 0 ? member : { ...member, designations: [...own, ...member.designations] };
  }
  const { language: _language, ...rest } = member;
  const language = valueSet['language'] ?? (display === member.display ? member.language : undefined);
  // The display of the code system stays a name of the code.
  const before: readonly Designation[] =
    member.display === undefined || member.display === display
      ? NONE
      : [{ ...(member.language !== undefined && { language: member.language }), value: member.display }];
  return {
    ...rest,
    display,
    ...(typeof language === 'string' && { language }),
    designations: [...own, ...before, ...member.designations],
  };
}
