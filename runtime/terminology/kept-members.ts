import type { Resource } from '../fhir/resource.js';
import type { Effort } from './effort.js';
import type { Resolver } from './resolver.js';
import { indexTexts, type TextIndex } from './text-index.js';
import { membersOf, type Member, type ValueSetContext } from './value-set.js';

/** The members of a value set in a form that can be asked again. */
export interface KeptMembers {
  readonly members: readonly Member[];
  /** Finds members by words; made when it is first asked for. */
  texts(effort: Effort): Promise<TextIndex>;
}

/** A question to a resolver with its answer. */
interface Asked {
  readonly again: (resolver: Resolver) => Promise<unknown>;
  readonly answer: unknown;
}

interface Entry extends KeptMembers {
  readonly valueSet: Resource;
  /** What the client chose of versions. */
  readonly rules: string;
  readonly asked: readonly Asked[];
  readonly used: ValueSetContext['used'];
}

/** Members that are kept, of all value sets; what was not used for longest goes first. */
const MOST_KEPT = 250_000;
/** Value sets below this are expanded anew each time: it costs nothing. */
const SMALL = 200;

const entries: Entry[] = [];

/**
 * The members of a value set. Those of large ones are kept: they count as long as everything they were made of is what it was, for the
 * client that asks. @throws as `membersOf`
 */
export async function keptMembers(valueSet: Resource, context: ValueSetContext): Promise<KeptMembers> {
  const rules = JSON.stringify([context.versions.system, context.versions.force, context.versions.check].map((each) => [...each])); // prettier-ignore
  const at = entries.findIndex((each) => each.valueSet === valueSet && each.rules === rules);
  const known = entries[at];
  if (known !== undefined) {
    entries.splice(at, 1);
    if (await isCurrent(known, context.resolver)) {
      keep(known);
      for (const each of known.used.systems) context.used.systems.add(each);
      for (const each of known.used.valueSets) context.used.valueSets.add(each);
      return known;
    }
  }
  const asked: Asked[] = [];
  const used = { systems: new Set<string>(), valueSets: new Set<string>() };
  const found = await membersOf(valueSet, { ...context, used, resolver: recording(context.resolver, asked) });
  for (const each of used.systems) context.used.systems.add(each);
  for (const each of used.valueSets) context.used.valueSets.add(each);
  const members = [...found.values()];
  let texts: TextIndex | undefined;
  const made: Entry = {
    ...{ valueSet, rules, members, asked, used },
    texts: async (effort) => (texts ??= await indexTexts(members, effort)),
  };
  if (members.length > SMALL) keep(made);
  return made;
}

function keep(entry: Entry): void {
  entries.unshift(entry);
  let total = 0;
  const last = entries.findIndex((each) => (total += each.members.length) > MOST_KEPT);
  if (last > 0) entries.length = last;
}

async function isCurrent({ asked }: Entry, resolver: Resolver): Promise<boolean> {
  for (const { again, answer } of asked) if ((await again(resolver)) !== answer) return false;
  return true;
}

/** A resolver that notes what it is asked. */
function recording(resolver: Resolver, asked: Asked[]): Resolver {
  const note = async <T>(again: (resolver: Resolver) => Promise<T>): Promise<T> => {
    const answer = await again(resolver);
    asked.push({ again, answer });
    return answer;
  };
  return {
    valueSet: (canonical, version) => note((each) => each.valueSet(canonical, version)),
    conceptMap: (canonical, version) => note((each) => each.conceptMap(canonical, version)),
    codeSystem: (url, version, supplements) => note((each) => each.codeSystem(url, version, supplements)),
  };
}
