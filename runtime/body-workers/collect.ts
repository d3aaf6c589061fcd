import { isObject, type JsonObject, type JsonValue, type Resource } from '../fhir/resource.js';
import { rememberParsed, type ParsedBody } from '../core/write/parsed-bodies.js';
import type { Contained } from '../search/contained.js';
import type { IndexEntry } from '../search/entry.js';
import type { NamedCode } from '../validate/codes/find-codes.js';
import type { Fault } from '../validate/fault.js';
import { assemble } from './assemble.js';
import type { Answer, Findings } from './messages.js';

/** Puts together what a thread answers. */
export interface Collector {
  take(answer: Answer): void;
  /** The body, with what is known of it beside it. */
  end(findings: Findings): JsonValue;
}

const NO_FAULTS: ParsedBody = { faults: [] };

/** Begins with nothing. */
export function openCollector(): Collector {
  const assembly = assemble();
  const entries: IndexEntry[] = [];
  const contained: Contained[] = [];
  const faulty = new Map<number, readonly Fault[]>();
  const codes: NamedCode[] = [];
  return {
    take(answer) {
      if (answer.is === 'piece') assembly.add(answer.piece);
      else if (answer.is === 'entries') for (const entry of answer.entries) entries.push(entry);
      else if (answer.is === 'contained') for (const each of answer.contained) contained.push(each);
      else if (answer.is === 'faults') for (const [index, faults] of answer.faulty) faulty.set(index, faults);
      else if (answer.is === 'codes') for (const code of answer.codes) codes.push(code);
    },
    end(findings) {
      const { tree } = assembly;
      const body = findings.isWrapped ? ((tree as JsonValue[])[0] as JsonValue) : tree;
      if (isObject(body)) {
        keep(body as Resource, findings, { entries, contained }, faulty);
        keepJudgement(body, findings, codes);
      }
      return body;
    },
  };
}

/** Keeps what was found to be wrong with the body, or with the resource in a parameter of it. */
function keepJudgement(body: JsonObject, { judged }: Findings, codes: readonly NamedCode[]): void {
  if (judged === undefined) return;
  const { at, judgement } = judged;
  const subject = at === undefined ? body : (body['parameter'] as readonly JsonObject[])[at]?.['resource'];
  if (!isObject(subject)) return;
  const { structure, named } = judgement;
  rememberParsed(subject as Resource, {
    faults: structure,
    judgement: { ...judgement, named: { ...named, codes } },
  });
}

/** Keeps what was found beside what it was found of. */
function keep(
  body: Resource,
  { faults, content, checked }: Findings,
  found: { readonly entries: readonly IndexEntry[]; readonly contained: readonly Contained[] },
  faulty: ReadonlyMap<number, readonly Fault[]>,
): void {
  if (faults !== undefined) rememberParsed(body, { faults, ...(content && { content: { ...content, ...found } }) });
  const bundled = body['entry'];
  for (const index of checked ?? []) {
    const entry = Array.isArray(bundled) ? bundled[index] : undefined;
    const resource = isObject(entry) ? entry['resource'] : undefined;
    if (!isObject(resource)) continue;
    const wrong = faulty.get(index);
    rememberParsed(resource as Resource, wrong === undefined ? NO_FAULTS : { faults: wrong });
  }
}
