import type { ProfileRow } from '../../contract/profiles.js';
import type { Resource } from '../../fhir/resource.js';
import { append } from '../../fhir/lists.js';
import { TooCostly } from '../../path/evaluate/environment.js';
import type { Fault } from '../fault.js';
import { jsonPathOf } from '../json-path-of.js';
import { PENDING, type Answers } from './answers.js';
import type { ElementValue } from './item.js';
import type { CodeToCheck, EvaluateRule, ProfileDeps, RuleFocus, RuleLookups } from './profile-deps.js';
import { findReferenced, type Scope } from './references.js';
import { unversioned } from './definition/structure-definition.js';

/** Content of an issue, without its place. */
export interface Finding {
  readonly severity: 'error' | 'warning' | 'information';
  readonly issue: string;
  readonly key: string;
  readonly text: string;
}

/** Where in the resource a run is. */
interface Place {
  readonly path: readonly (string | number)[];
  readonly scope: Scope;
}

/** A rule of a profile or of the definition of an extension. */
interface RuleToEvaluate {
  readonly key: string;
  readonly expression: string;
}

/** Checks one value; the run is at it. */
export type ItemCheck = (item: ElementValue, run: ProfileRun) => void;

/** Checks a value by the profile of a canonical. */
export type Conforms = (item: ElementValue, canonical: string, run: ProfileRun) => void;

/** Errors that one validation keeps, and other issues. */
const MOST_ISSUES = 200;
/** Definitions that one validation asks for: each may be a look-up in the store. */
const MOST_PROFILES = 1000;

/** Targets of references that one validation asks for: each may be a look-up in the store. */
const MOST_TARGETS = 1000;

/** Elements of profiles that may be compared with one resource only to find out whether it conforms: about half a second. */
const MOST_TRIED = 1_000_000;
/** The same in a whole validation, for whatever reason: some seconds, of which each resource is a turn. */
const MOST_COMPARED = 50_000_000;

/** The validation of a resource costs too much and ends; the issue says why. */
export class ValidationEnds extends Error {
  constructor(readonly issue: Fault) {
    super(issue.text);
  }
}

/** Makes the fault of a finding at a place in a resource. */
export function faultOf({ severity, issue, key, text }: Finding, expression: string, resource: Resource): Fault {
  const code = issue === 'too-costly' ? 'rules-too-costly' : 'profile-broken';
  return { code, severity, issue, rule: key, text, expression, path: jsonPathOf(resource, expression) };
}

/** One pass over a resource: its place there, and the issues so far. */
export class ProfileRun {
  /** Names of elements and positions in lists; what lies beyond `depth` is left over. */
  readonly path: (string | number)[] = [];
  depth = 0;
  readonly issues: Fault[] = [];
  /** Canonical of the profile at hand, and name of the slice there. */
  profile: string | undefined;
  slice: string | undefined;
  /** A reference could not be followed since this was set to false. */
  hasUnresolved = false;
  /** Above 0: nothing is reported, only whether there was an error. */
  private muted = 0;
  private hasFailed = false;
  private errors = 0;
  private remarks = 0;
  private readonly told = new Set<string>();
  /** The rows of profiles that were asked for; `PENDING`: not there yet. */
  private readonly profiles = new Map<string, ProfileRow | undefined | typeof PENDING>();
  /** References that were looked up, and what was found. */
  private readonly targets = new Set<string>();
  private readonly found = new WeakSet<Resource>();
  /** What is being compared with a profile: a circle of references ends there. */
  private readonly open = new Map<object, Set<string>>();
  private tried = 0;
  private compared = 0;
  private readonly whole: Resource;
  private readonly rules: EvaluateRule;
  private readonly lookups: RuleLookups;
  /** Whether values conform to profiles, and those of which it was found last that they do. */
  private readonly verdicts = new Map<object, Map<string, boolean>>();
  private readonly passed: (readonly [object, string])[] = [];

  constructor(
    readonly deps: ProfileDeps,
    private readonly answers: Answers,
    public scope: Scope,
    private readonly checkProfile: Conforms,
    makeLookups: (run: ProfileRun) => RuleLookups,
  ) {
    this.whole = scope.resource;
    this.rules = deps.beginRules();
    this.lookups = makeLookups(this);
  }

  /** Checks the value that the run is at by a profile. */
  conforms(item: ElementValue, canonical: string): void {
    this.checkProfile(item, canonical, this);
  }

  report(finding: Finding, tail?: string): void {
    if (this.muted > 0) {
      if (finding.severity === 'error') this.hasFailed = true;
      return;
    }
    this.add(finding.severity, () => this.issueOf(finding, tail));
  }

  /** Goes on with a resource, after whatever was before. */
  beginAt({ path, scope }: Place): void {
    this.path.length = 0;
    append(this.path, path);
    this.depth = path.length;
    this.scope = scope;
    this.muted = 0;
    this.tried = 0;
    this.profile = undefined;
    this.slice = undefined;
  }

  /** Where the run is. */
  get place(): Place {
    return { path: this.path.slice(0, this.depth), scope: this.scope };
  }

  /** Runs a check; where that costs too much, an issue says so. */
  attempt(check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!(error instanceof ValidationEnds)) throw error;
      this.add('error', () => error.issue);
    }
  }

  /** Errors have a bound of their own, so that no number of warnings hides one. */
  private add(severity: Finding['severity'], issue: () => Fault): void {
    if (severity === 'error' ? this.errors++ < MOST_ISSUES : this.remarks++ < MOST_ISSUES) this.issues.push(issue());
  }

  private issueOf(finding: Finding, tail?: string): Fault {
    const { profile, slice, whole } = this;
    const expression = this.expression(tail);
    const place = `${expression}${slice === undefined ? '' : ` (slice ${slice})`}`;
    const origin = profile === undefined ? '' : ` (profile ${profile})`;
    return faultOf({ ...finding, text: `${place}: ${finding.text}${origin}` }, expression, whole);
  }

  private end(key: string, text: string): ValidationEnds {
    return new ValidationEnds(this.issueOf({ severity: 'error', issue: 'too-costly', key, text }));
  }

  /** The same, but once for each subject. */
  reportOnce(subject: string, finding: Finding, tail?: string): void {
    if (this.muted > 0 || this.told.has(subject)) return;
    this.told.add(subject);
    this.report(finding, tail);
  }

  /** Whether a check finds no error; nothing is reported. */
  passes(check: () => void): boolean {
    const before = this.hasFailed;
    this.hasFailed = false;
    this.muted++;
    try {
      check();
      return !this.hasFailed;
    } finally {
      this.muted--;
      this.hasFailed = before;
    }
  }

  /**
   * Whether a value conforms to a profile; nothing is reported. It is found out once: resources that refer to each other would be
   * looked at on every way through them.
   */
  doesConform(item: ElementValue, canonical: string): boolean {
    const { value } = item;
    const find = (): boolean => this.passes(() => this.conforms(item, canonical));
    if (typeof value !== 'object' || value === null || this.open.get(value)?.has(canonical) === true) return find();
    const known = this.verdicts.get(value) ?? new Map<string, boolean>();
    this.verdicts.set(value, known);
    const before = known.get(canonical);
    if (before !== undefined) return before;
    const { hasUnresolved } = this;
    this.hasUnresolved = false;
    const begun = this.passed.length;
    const verdict = find();
    // Those that pass may do so because this one was taken to pass while it was open.
    if (!verdict) for (const [other, url] of this.passed.splice(begun)) this.verdicts.get(other)?.delete(url);
    if (!this.hasUnresolved) {
      known.set(canonical, verdict);
      if (verdict) this.passed.push([value, canonical]);
    }
    this.hasUnresolved ||= hasUnresolved;
    return verdict;
  }

  /** To be called for each element of a profile that is compared. @throws ValidationEnds */
  spend(): void {
    if (this.muted > 0 && ++this.tried > MOST_TRIED) {
      throw this.end('profile', `related in so many ways by profiles that more than ${MOST_TRIED.toLocaleString('en')} comparisons do not suffice`); // prettier-ignore
    }
    if (++this.compared > MOST_COMPARED) {
      throw this.end('profile', `the profiles take more than ${MOST_COMPARED.toLocaleString('en')} comparisons, so that not all of the request was checked`); // prettier-ignore
    }
  }

  /** Runs a check on what lies elsewhere, such as the target of a reference, unless it is running already. */
  once(value: object, url: string, check: () => void): void {
    const urls = this.open.get(value) ?? new Set();
    if (urls.has(url)) return;
    this.open.set(value, urls.add(url));
    try {
      check();
    } finally {
      urls.delete(url);
    }
  }

  /** The row of a profile; undefined: there is none; `PENDING`: ask again in the next pass. */
  find(canonical: string): ProfileRow | undefined | typeof PENDING {
    const known = this.profiles.get(canonical);
    if (known !== undefined || this.profiles.has(canonical)) return known;
    if (this.profiles.size >= MOST_PROFILES) {
      const text = `more than ${MOST_PROFILES} profiles and extensions are named, so not all of them were checked`;
      this.reportOnce('profiles', { severity: 'error', issue: 'too-costly', key: 'profile', text });
      return undefined;
    }
    const row = this.answers.get(`profile ${canonical}`, () => this.deps.profile(canonical));
    this.profiles.set(canonical, row);
    return row;
  }

  /** Why there is no profile of a canonical: `is not known here`. */
  whyUnknown(canonical: string): string {
    const why = this.deps.whyUnusable?.(canonical);
    return why === undefined ? 'is not known here' : `is stored, but cannot be used (${why})`;
  }

  isMember(valueSet: string, coding: CodeToCheck): boolean | undefined {
    const { bindings } = this.deps;
    if (bindings === undefined) return undefined;
    const key = `code ${valueSet} ${coding.isPlain === true ? '*' : (coding.system ?? '')} ${coding.code}`;
    const answer = this.answers.get(key, () => bindings.isMember(valueSet, coding));
    return answer === PENDING ? undefined : answer;
  }

  /** Whether a rule holds; undefined: it cannot be decided. @throws ValidationEnds where that costs too much: what is not checked is not right */
  evaluate({ key, expression }: RuleToEvaluate, focus: RuleFocus): boolean | undefined {
    try {
      return this.rules(expression, focus, this.scope.resource, this.lookups);
    } catch (error) {
      if (!(error instanceof TooCostly)) throw error;
      throw this.end(key, `rule ${key} costs too much to be checked: ${error.message} (${expression})`);
    }
  }

  /** What a reference points to within the resource or the Bundle around it. */
  resolveWithin(reference: string): Resource | undefined {
    return findReferenced(reference, this.scope);
  }

  /**
   * The same, or what is found elsewhere. That is not looked up for what was found elsewhere itself, so that resources that refer to each
   * other have an end; nor for entries of a Bundle, whose references may mean another server.
   *
   * @throws ValidationEnds
   */
  resolve(reference: string): Resource | undefined {
    const within = this.resolveWithin(reference);
    const { resolve } = this.deps;
    const { entries, isFound } = this.scope;
    if (within !== undefined || resolve === undefined || reference.startsWith('#')) return within;
    if (entries !== undefined || isFound === true) return undefined;
    if (this.targets.add(reference).size > MOST_TARGETS) {
      throw this.end('reference', `the profiles ask for more than ${MOST_TARGETS.toLocaleString('en')} resources that references lead to, so that not all of them were checked`); // prettier-ignore
    }
    const answer = this.answers.get(`reference ${reference}`, () => resolve(reference));
    if (answer === PENDING || answer === undefined) return undefined;
    this.found.add(answer);
    return answer;
  }

  /** Whether a resource was found outside of the one that is validated. */
  isFound(resource: Resource): boolean {
    return this.found.has(resource);
  }

  /** Works within another profile. */
  within(row: ProfileRow, check: () => void): void {
    const { profile, slice } = this;
    this.profile = unversioned(row.url);
    this.slice = undefined;
    check();
    this.profile = profile;
    this.slice = slice;
  }

  expression(tail?: string): string {
    let text = '';
    for (let i = 0; i < this.depth; i++) {
      const step = this.path[i]!;
      text += typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`;
    }
    return tail === undefined ? text : `${text}.${tail}`;
  }
}
