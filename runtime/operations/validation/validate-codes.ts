import type { Call } from '../../core/call.js';
import type { LookupServices, Services } from '../../core/services.js';
import { ERRORS } from '../../fhir/errors.js';
import { yieldUntil } from '../../fhir/yield-until.js';
import type { CodeSystemIndex } from '../../terminology/concepts.js';
import type { CodeIssue } from '../../terminology/issue.js';
import { sameNameTest, judgeInSystem, type JudgeOptions } from '../../terminology/judge.js';
import { GRAMMARS, type Grammar } from '../../terminology/systems/grammar.js';
import { ANY_LANGUAGE } from '../../terminology/systems/languages.js';
import { listedSystem } from '../../terminology/systems/listed-system.js';
import type { ValueSetContext } from '../../terminology/value-set-context.js';
import { MOST_CODES, type FoundCodes, type NamedCode } from '../../validate/codes/find-codes.js';
import type { Fault } from '../../validate/fault.js';
import { openContext } from '../../terminology/operations/context.js';
import { storedSupplements } from '../../terminology/operations/stored-supplements.js';
import { quote } from '../../fhir/quote.js';
import { UCUM } from '../../fhir/ucum/system.js';

/** Code systems that are looked up for one resource, in each of the versions that it names. */
const MOST_SYSTEMS = 200;

/** Errors that are listed, and other issues. */
const MOST_ISSUES = 100;

/** Any name of a code is right, in whatever language; a wrong one is a warning. */
const OPTIONS: JudgeOptions = {
  ...{ languages: ANY_LANGUAGE, isLenient: true, takesAbstract: true, activeOnly: false, membershipOnly: false },
};

/** What the terminology service says of a code that matters here. https://hl7.org/fhir/tools/CodeSystem-tx-issue-type.html */
const REPORTED: ReadonlySet<string> = new Set(['invalid-code', 'invalid-display', 'invalid-data']);

/** Keys of issues, as rules have them. */
const KEYS = { 'code-unknown': 'code', 'display-wrong': 'display' } as const;

/** The same, wherever the code is. */
interface Finding {
  readonly severity: 'error' | 'warning' | 'information';
  readonly code: 'code-unknown' | 'display-wrong';
  /** Of the Coding or Quantity. */
  readonly part: 'code' | 'display' | 'system';
  readonly text: string;
}

/**
 * Looks up the codes of a resource in their code systems, as far as the server knows these completely and the token may read them. A code
 * that its system does not have is an error, a wrong display a warning. Of systems that are unknown, or known in part, it says nothing.
 * https://hl7.org/fhir/R5/terminologies.html#code
 */
export function judgeCodes(found: FoundCodes, call: Call, services: Services): Promise<readonly Fault[]> {
  const context = openContext(call, services);
  return judgeAll(
    found,
    createJudge(context, (index) => storedSupplements(index, call, services)),
    call,
  );
}

/** The errors among these: what refuses a write. Of displays there are only warnings. */
export async function unknownCodes(
  { codes, isCut }: FoundCodes,
  call: Pick<Call, 'principal' | 'signal'>,
  services: LookupServices,
): Promise<readonly Fault[]> {
  const unnamed = codes.map(({ display: _display, ...rest }) => rest);
  const judge = createJudge(openContext(call, services), () => Promise.resolve([]));
  const faults = await judgeAll({ codes: unnamed, isCut }, judge, call);
  return faults.filter(({ severity }) => severity === 'error');
}

async function judgeAll(
  { codes, isCut }: FoundCodes,
  judge: Judge,
  { signal }: Pick<Call, 'signal'>,
): Promise<readonly Fault[]> {
  const pace = yieldUntil(signal);
  const known = new Map<string, readonly Finding[]>();
  const faults: Fault[] = [];
  const counts = { error: 0, warning: 0, information: 0 };
  for (const named of codes) {
    const { type, system, version, code, display } = named;
    const key = JSON.stringify([type === 'Coding', system, version, code, display]);
    let findings = known.get(key);
    if (findings === undefined) known.set(key, (findings = await judge(named)));
    for (const finding of findings) {
      if (counts[finding.severity]++ < MOST_ISSUES) faults.push(faultOf(finding, named));
    }
    await pace();
  }
  const root = codes[0]?.expression.replace(/[.[].*/s, '') ?? '';
  const more = (severity: Finding['severity'], text: string): void => {
    const { issue } = ERRORS['more-faults'];
    faults.push({ code: 'more-faults', severity, issue, text, expression: root, path: [] });
  };
  for (const severity of ['error', 'warning', 'information'] as const) {
    if (counts[severity] > MOST_ISSUES) more(severity, `There are more issues of codes than the ${MOST_ISSUES} listed`);
  }
  if (isCut) more('warning', `There are more than ${MOST_CODES.toLocaleString('en')} codes; the others were not looked up`); // prettier-ignore
  if (judge.isCut()) more('warning', `There are codes of more than ${MOST_SYSTEMS} code systems; those of the others were not looked up`); // prettier-ignore
  return faults;
}

function faultOf({ severity, code, part, text }: Finding, { expression, path }: NamedCode): Fault {
  const place = `${expression}.${part}`;
  return {
    ...{ code, severity, issue: ERRORS[code].issue, rule: KEYS[code] },
    ...{ text: `${place}: ${text} (${KEYS[code]})`, expression: place, path: [...path, part] },
  };
}

interface Judge {
  (named: NamedCode): Promise<readonly Finding[]>;
  /** Whether code systems were left out. */
  isCut(): boolean;
}

/** @param supplementsOf the supplements of a code system that are stored */
function createJudge(
  context: ValueSetContext,
  supplementsOf: (index: CodeSystemIndex) => Promise<readonly CodeSystemIndex[]>,
): Judge {
  const systems = new Map<string, Promise<CodeSystemIndex | undefined>>();
  const supplements = new Map<CodeSystemIndex, Promise<readonly CodeSystemIndex[]>>();
  let isCut = false;

  async function systemOf({ system, version }: NamedCode): Promise<CodeSystemIndex | undefined> {
    const key = JSON.stringify([system, version]);
    const known = systems.get(key);
    if (known !== undefined) return known;
    if (systems.size >= MOST_SYSTEMS) {
      isCut = true;
      return undefined;
    }
    const found = context.resolver.codeSystem(system, version);
    systems.set(key, found);
    return found;
  }

  /** Whether a supplement that is stored has the display: the client names none, so that all of them count. */
  async function isSupplemented(index: CodeSystemIndex, { code, display = '' }: NamedCode): Promise<boolean> {
    let found = supplements.get(index);
    if (found === undefined) supplements.set(index, (found = supplementsOf(index)));
    const own = index.find(code)?.code ?? code;
    const isSame = sameNameTest(display, context.effort);
    return (await found).some(({ concepts }) => {
      const { display: other, designations = [] } = concepts.get(own) ?? {};
      return (other !== undefined && isSame(other)) || designations.some(({ value }) => isSame(value));
    });
  }

  const judge = async (named: NamedCode): Promise<readonly Finding[]> => {
    const index = await systemOf(named);
    const grammar = GRAMMARS.get(named.system);
    if (index === undefined || index.content === 'not-present') {
      return grammar === undefined ? [] : judgeByGrammar(grammar, named);
    }
    const isListed = index.resource === listedSystem(named.system);
    const issues = await issuesOf(named, index, isListed, context);
    const isWrong = issues.some(({ type }) => type === 'invalid-display') && (await isSupplemented(index, named));
    return issues.filter(({ type }) => !isWrong || type !== 'invalid-display').map(toFinding);
  };
  return Object.assign(judge, { isCut: () => isCut });
}

/** What the code system says of a code. */
async function issuesOf(
  { type, code, display }: NamedCode,
  index: CodeSystemIndex,
  isListed: boolean,
  context: ValueSetContext,
): Promise<readonly CodeIssue[]> {
  // The unit of a Quantity is for people. The platform has other names of countries and currencies than their standards.
  const hasName = type === 'Coding' && !isListed && display !== undefined;
  const sent = { system: index.url, code, ...(hasName && { display }), place: '' };
  const { issues } = await judgeInSystem(sent, index, context, OPTIONS);
  return issues.flatMap((issue): CodeIssue[] => {
    if (!REPORTED.has(issue.type)) return [];
    if (issue.type !== 'invalid-code') return [issue];
    // Of a part of a code system that is known nothing follows.
    if (index.content !== 'complete') return [];
    const other = index.findAnyCase(code)?.code;
    const text = other === undefined ? issue.text : `${issue.text}; it has ${quote(other)}, and case counts`;
    // The list of the platform may lack what is new, or long out of use.
    return [{ ...issue, text, severity: isListed ? 'warning' : issue.severity }];
  });
}

function toFinding({ severity, type, expression, text }: CodeIssue): Finding {
  const isDisplay = type === 'invalid-display';
  return {
    ...{ severity, text, code: isDisplay ? 'display-wrong' : 'code-unknown' },
    part: isDisplay ? 'display' : expression === 'system' ? 'system' : 'code',
  };
}

/** A code of UCUM, a language, or a media type. */
async function judgeByGrammar(grammar: Grammar, { system, code }: NamedCode): Promise<readonly Finding[]> {
  if ((await grammar.check(code)) !== undefined || grammar.mayBe(code)) return [];
  const at = { code: 'code-unknown', part: 'code' } as const;
  if (system !== UCUM) return [{ ...at, severity: 'error', text: `The code system ${quote(system)} has no code ${quote(code)}` }]; // prettier-ignore
  const filled = code.replaceAll(/\{[^{}]*\}/g, (annotation) => annotation.replaceAll(/\s/g, '_'));
  if (filled !== code && (await grammar.check(filled)) !== undefined) {
    const text = `The unit ${quote(code)} has a blank in an annotation; UCUM has none there: ${quote(filled)}`;
    return [{ ...at, severity: 'warning', text }];
  }
  return [{ ...at, severity: 'error', text: `${quote(code)} is no unit of UCUM (${UCUM})` }];
}
