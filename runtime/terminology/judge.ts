import type { Resource } from '../fhir/resource.js';
import { latestKnown, type CodeSystemIndex } from './concepts.js';
import type { Effort } from './effort.js';
import { TerminologyFault } from './fault.js';
import { GRAMMARS } from './systems/grammar.js';
import type { CodeIssue } from './issue.js';
import { namesIn, type Languages } from './systems/languages.js';
import { ruleMember, systemMember } from './member.js';
import { chosenVersion, supplementsNamedBy } from './resolver.js';
import {
  checkComplete,
  checkImports,
  findMember,
  type Member,
  type Mismatch,
  type ValueSetContext,
} from './value-set.js';
import { quote } from '../fhir/quote.js';

/** A coding as it was sent. */
export interface Sent {
  readonly system?: string;
  readonly version?: string;
  readonly code?: string;
  readonly display?: string;
  /** FHIRPath of it; empty: its parts are parameters. */
  readonly place: string;
}

/** Options of a check of codes. */
export interface JudgeOptions {
  readonly languages: Languages;
  /** A wrong display is a warning only. */
  readonly isLenient: boolean;
  /** Codes that only group others are right. */
  readonly takesAbstract: boolean;
  /** Inactive codes are wrong. */
  readonly activeOnly: boolean;
  /** Whether a code that is not in the value set exists at all is not looked at. */
  readonly membershipOnly: boolean;
}

/** Result of checking one coding. It is right if it is a member and no issue is an error. */
export interface Judged {
  readonly member?: Member;
  /** What the code is in its code system, where it is no member of the value set. */
  readonly concept?: Member;
  /** The code is taken although the server cannot know it: it has a part of the code system only. */
  readonly isTaken?: true;
  readonly issues: readonly CodeIssue[];
}

/**
 * Checks a coding against a value set. https://hl7.org/fhir/R5/valueset-operation-validate-code.html
 *
 * @throws FhirError for a value set that cannot be used
 */
export async function judgeInValueSet(
  sent: Sent,
  valueSet: Resource,
  context: ValueSetContext,
  options: JudgeOptions,
): Promise<Judged> {
  const { system, code, version } = sent;
  if (system === undefined || code === undefined) return { issues: [incomplete(sent)] };
  const mismatches: Mismatch[] = [];
  let found: Member | undefined;
  try {
    const coded = { system, code, ...(version !== undefined && { version }) };
    found = await findMember(valueSet, coded, { ...context, mismatches });
  } catch (error) {
    if (!(error instanceof TerminologyFault) || error.kind === 'pinned-version') throw error;
    return { ...(await conceptOf(sent, valueSet, context, options)), ...undecided(error, sent) };
  }
  if (found !== undefined) return { member: found, issues: memberIssues(sent, found, options, context.effort) };
  await checkImports(valueSet, context);
  const name = typeof valueSet['url'] === 'string' ? valueSet['url'] : 'the value set';
  const text = `The code ${quote(`${system}#${code}`)} is not in ${name}`;
  const missing: CodeIssue = {
    severity: 'error',
    code: 'code-invalid',
    type: 'not-in-vs',
    text,
    expression: at(sent, 'code'),
  };
  const others = mismatches.map((each) => mismatched(each, sent));
  if (options.membershipOnly) return { issues: [missing, ...others] };
  // The code system may say why.
  const inSystem = await judgeInSystem(sent, undefined, context, options, supplementsNamedBy(valueSet));
  const reasons = inSystem.issues.filter(({ type }) => type !== 'invalid-display' && type !== 'code-comment');
  return { ...asConcept(inSystem), issues: [missing, ...others, ...reasons] };
}

/** What a code is in its code system, where the value set says nothing of it. */
async function conceptOf(
  sent: Sent,
  valueSet: Resource,
  context: ValueSetContext,
  options: JudgeOptions,
): Promise<Pick<Judged, 'concept'>> {
  if (options.membershipOnly) return {};
  return asConcept(await judgeInSystem(sent, undefined, context, options, supplementsNamedBy(valueSet)));
}

function asConcept({ member }: Judged): Pick<Judged, 'concept'> {
  return member === undefined ? {} : { concept: member };
}

/**
 * Checks a coding against its code system. https://hl7.org/fhir/R5/codesystem-operation-validate-code.html
 *
 * @param own the code system, where the client names or sends it
 */
export async function judgeInSystem(
  sent: Sent,
  own: CodeSystemIndex | undefined,
  { resolver, versions, effort }: ValueSetContext,
  options: JudgeOptions,
  supplements: readonly string[] = [],
): Promise<Judged> {
  const { system = own?.url, code, version } = sent;
  if (system === undefined || code === undefined) return { issues: [incomplete(sent)] };
  const asked = chosenVersion(versions, system, version);
  const index = own ?? (await resolver.codeSystem(system, asked, supplements));
  const grammar = GRAMMARS.get(system);
  if (index === undefined || index.content === 'not-present' || index.content === 'supplement') {
    const known =
      index === undefined && grammar === undefined && asked !== undefined
        ? await resolver.codeSystem(system)
        : undefined;
    if (grammar === undefined || index?.content === 'supplement')
      return { issues: [unknownSystem(system, sent, known, index)] };
    const rule = await grammar.check(code);
    if (rule === undefined) return { issues: [unknownCode(system, sent)] };
    const member = ruleMember(system, code, rule.display);
    return { member, issues: memberIssues(sent, member, options, effort) };
  }
  const concept = index.find(code);
  if (concept === undefined) {
    try {
      checkComplete(index, code);
    } catch (error) {
      if (error instanceof TerminologyFault) return undecided(error, sent);
      throw error;
    }
    return { issues: [unknownCode(system, sent)] };
  }
  const member = systemMember({ url: index.url, version: index.version }, concept);
  return { member, issues: memberIssues(sent, member, options, effort) };
}

/** What is wrong with a code that is there. */
function memberIssues(
  sent: Sent,
  member: Member,
  options: JudgeOptions,
  effort: Effort | undefined,
): readonly CodeIssue[] {
  const { system, code, isAbstract, isInactive } = member;
  const name = quote(`${system}#${code}`);
  const rule = { code: 'business-rule', type: 'code-rule', expression: at(sent, 'code') } as const;
  const issues: CodeIssue[] = [...displayIssues(sent, member, options, effort)];
  if (sent.code !== undefined && sent.code !== code) {
    const text = `The code ${quote(sent.code)} is written ${quote(code)} in ${system}; the code system does not tell case apart`;
    issues.push({ ...rule, severity: 'information', text });
  }
  if (isAbstract && !options.takesAbstract) {
    issues.push({
      ...rule,
      severity: 'error',
      text: `The code ${name} is abstract: it groups others, and stands for none`,
    });
  }
  if (isInactive && options.activeOnly) {
    issues.push({
      ...rule,
      severity: 'error',
      text: `The code ${name} is not active, and only active codes are asked for`,
    });
  } else if (isInactive) {
    const text = `The code ${name} is not active any more: use another one`;
    issues.push({ ...rule, type: 'code-comment', severity: 'warning', text });
  }
  return issues;
}

/**
 * A display has to be a name of the code in one of the languages that are asked for. Where the code has no name in any of them, the
 * display of the code system is right as well. Case and white space do not count.
 */
function displayIssues(
  sent: Sent,
  member: Member,
  { languages, isLenient }: JudgeOptions,
  effort: Effort | undefined,
): readonly CodeIssue[] {
  const { display } = sent;
  if (display === undefined || (member.display === undefined && member.designations.length === 0)) return [];
  const isSame = sameNameTest(display, effort);
  const wanted = namesIn(member, languages);
  if (wanted.some(isSame)) return [];
  const base = { code: 'invalid', type: 'invalid-display', expression: at(sent, 'display') } as const;
  const isDefault = member.display !== undefined && isSame(member.display);
  if (isDefault && (wanted.length === 0 || member.language === undefined)) {
    const text = `The code ${member.system}#${member.code} has no display in ${languages.tags.join(', ')}; ${quote(display)} is that of the code system`;
    return [{ ...base, severity: 'information', text }];
  }
  const names = wanted.length > 0 ? wanted : [member.display ?? member.code];
  const text = `The display ${quote(display)} is wrong for ${member.system}#${member.code}; right is ${[...new Set(names)].slice(0, 5).map(quote).join(' or ')}`;
  return [{ ...base, severity: isLenient ? 'warning' : 'error', text }];
}

/** Whether other names are the same as a display: case and white space do not count. */
export function sameNameTest(display: string, effort?: Effort): (name: string) => boolean {
  let own: string | undefined;
  return (name) => {
    if (name === display) return true;
    effort?.spendText(COMPARED * name.length);
    return plain(name) === (own ??= plain(display));
  };
}

/** How much longer it takes to compare names than to search in them. */
const COMPARED = 10;

function plain(name: string): string {
  return name.normalize().toLowerCase().trim().replaceAll(/\s+/g, ' ');
}

/** Without a system or a code there is nothing to check; whether that is a fault only the client knows. */
function incomplete(sent: Sent): CodeIssue {
  const missing = sent.system === undefined ? (sent.code === undefined ? 'system and no code' : 'system') : 'code';
  const text = `The coding has no ${missing}, so it cannot be checked`;
  return {
    severity: 'warning',
    code: 'invalid',
    type: 'invalid-data',
    text,
    expression: sent.place === '' ? 'code' : sent.place,
  };
}

function undecided({ kind, message, canonical }: TerminologyFault, sent: Sent): Judged {
  if (kind === 'fragment') {
    const issue = { severity: 'warning', code: 'code-invalid', type: 'invalid-code', text: message } as const;
    return { isTaken: true, issues: [{ ...issue, expression: at(sent, 'code') }] };
  }
  const isChecked = kind === 'checked-version';
  const expression = kind === 'coding-version' || isChecked ? at(sent, 'version') : at(sent, 'system');
  const base = { severity: 'error', text: message, expression } as const;
  if (isChecked) return { issues: [{ ...base, code: 'invalid', type: 'vs-invalid' }] };
  return { issues: [{ ...base, code: 'not-found', type: 'not-found', unknown: canonical }] };
}

function mismatched({ system, used, sent: version }: Mismatch, sent: Sent): CodeIssue {
  const text = `The value set uses version ${used} of ${system}, and the code is of version ${version}`;
  return { severity: 'error', code: 'invalid', type: 'vs-invalid', text, expression: at(sent, 'version') };
}

function unknownSystem(
  system: string,
  sent: Sent,
  known: CodeSystemIndex | undefined,
  index: CodeSystemIndex | undefined,
): CodeIssue {
  const reason =
    index?.content === 'supplement'
      ? `${system} is a supplement and no code system`
      : known === undefined
        ? `The server does not know the code system ${quote(system)}`
        : `The server does not know the code system ${quote(system)} in version ${sent.version}; ${latestKnown(known)}`;
  const expression = known === undefined ? at(sent, 'system') : at(sent, 'version');
  const unknown = known === undefined || sent.version === undefined ? system : `${system}|${sent.version}`;
  const text = `${reason}, so the code cannot be checked`;
  const isSupplement = index?.content === 'supplement';
  return {
    ...{
      severity: 'error',
      code: isSupplement ? 'invalid' : 'not-found',
      type: isSupplement ? 'invalid-data' : 'not-found',
    },
    ...{ text, expression },
    ...(!isSupplement && { unknown }),
  };
}

function unknownCode(system: string, sent: Sent): CodeIssue {
  const text = `The code system ${quote(system)} has no code ${quote(sent.code ?? '')}`;
  return { severity: 'error', code: 'code-invalid', type: 'invalid-code', text, expression: at(sent, 'code') };
}

/** FHIRPath of a part of what was sent. */
function at({ place }: Sent, part: 'code' | 'system' | 'version' | 'display'): string {
  return place === '' ? part : `${place}.${part}`;
}
