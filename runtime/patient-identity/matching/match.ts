import { type Call, type Reply, replyBundle } from '../../core/call.js';
import { ANSWER_ROOM } from '../../core/answer-room.js';
import { withinBudget } from '../../search-execution/execute/search-budget.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { writeJson } from '../../format/write-json.js';
import { escapeValue } from '../../search/parse/parse-value.js';
import { dateInterval } from '../../indexing/values/date-interval.js';
import { readArguments, rowOf, valueOf } from '../../operations/common/arguments.js';
import { findMatches } from '../../operations/common/find-matches.js';
import { subjectOf, withoutSubject } from '../../operations/common/subject.js';
import { identifiersOf, namesOf, scoreMatch, type Match } from './match-score.js';

/** https://hl7.org/fhir/R5/extension-match-grade.html */
const GRADE = 'http://hl7.org/fhir/StructureDefinition/match-grade';

/** Candidates that one call compares, and matches that it answers with where the client does not say. */
const LIMITS = { candidates: 2000, matches: 20 } as const;

/**
 * `Patient/$match`: the patients that a (partial) patient may be, best first, each with a score and a grade. Candidates share an
 * identifier, the birth date, or family and given name. https://hl7.org/fhir/R5/patient-operation-match.html
 *
 * @throws FhirError `type-mismatch` for another resource, `parameter-invalid` without identifier, or name and birth date, `too-costly`
 */
export async function match(call: Call, services: Services): Promise<Reply> {
  const rows = rowOf(call, services).parameters.filter(({ use }) => use === 'in');
  const { body, isWrapped } = subjectOf(call.body, new Set(rows.map(({ name }) => name)));
  const found = readArguments(withoutSubject(call, isWrapped), services, rows.map((row) => ({ ...row, min: 0 }))); // prettier-ignore
  const wanted = readWanted(body);
  const count = valueOf(found, 'count');
  const most = count === undefined ? LIMITS.matches : Number(count);
  if (!(most >= 1)) throw new FhirError('parameter-invalid', 'The parameter "count" is at least 1');
  const { best, certain } = await scoreCandidates(wanted, most, call, services);
  if (valueOf(found, 'onlyCertainMatches') !== true) return replyMatches(best, call);
  // Of several that are certain the client could not know which one it is.
  return replyMatches(certain === 1 ? best.filter(({ match }) => match.grade === 'certain') : [], call);
}

/** The patient that is looked for, as far as the client knows: it need not be valid. @throws FhirError */
function readWanted(body: JsonValue | undefined): Resource {
  if (body === undefined) {
    throw new FhirError('parameter-invalid', 'The parameter "resource" is required', { issue: 'required' });
  }
  const type = isObject(body) ? body['resourceType'] : undefined;
  if (typeof type !== 'string')
    throw new FhirError('not-a-resource', '$match compares a Patient; it has a resourceType');
  if (type !== 'Patient') throw new FhirError('type-mismatch', `$match compares a Patient, not a ${type}`);
  return body as Resource;
}

interface Scored {
  readonly id: string;
  /** The patient as JSON. */
  readonly text: string;
  readonly match: Match;
}

interface Candidates {
  /** The best, as many as the answer may have. */
  readonly best: readonly Scored[];
  /** How many are certain. */
  readonly certain: number;
}

/** Scores each candidate when it is found; of those that cannot be among the best nothing is kept. */
async function scoreCandidates(wanted: Resource, most: number, call: Call, services: Services): Promise<Candidates> {
  const seen = new Set<string>();
  let best: Scored[] = [];
  let size = 0;
  let certain = 0;
  const cut = (): void => {
    best = best.sort((a, b) => b.match.score - a.match.score || (a.id < b.id ? -1 : 1)).slice(0, most);
    size = best.reduce((sum, { text }) => sum + text.length, 0);
  };
  await withinBudget(services.limits.queryTime, call.signal, async (signal) => {
    for (const params of searchesFor(wanted)) {
      for await (const patient of findMatches('Patient', params, call, services, signal)) {
        const id = String(patient['id']);
        if (seen.has(id)) continue;
        if (seen.add(id).size > LIMITS.candidates) {
          throw new FhirError(
            'too-costly',
            `More than ${LIMITS.candidates} candidates; send an identifier or more names`,
          );
        }
        const match = scoreMatch(wanted, patient);
        if (match.grade === 'certainly-not') continue;
        if (match.grade === 'certain') certain++;
        const text = writeJson(patient);
        size += text.length;
        best.push({ id, text, match });
        if (size > ANSWER_ROOM) cut();
        if (size > ANSWER_ROOM) {
          throw new FhirError('too-costly', 'The matches are too large together; ask for fewer with "count"');
        }
      }
    }
  });
  cut();
  return { best, certain };
}

/** The searches that find candidates. @throws FhirError where the patient says too little */
function searchesFor(wanted: Resource): (readonly [string, string])[][] {
  const identifiers = identifiersOf(wanted).map(({ system, value }) =>
    system === undefined ? escapeValue(String(value)) : `${escapeValue(String(system))}|${escapeValue(String(value))}`,
  );
  const { birthDate: born } = wanted;
  const birthDate = typeof born === 'string' && dateInterval(born) !== undefined ? born : undefined;
  const family = namesOf(wanted, 'family').map(escapeValue).join(',');
  const given = namesOf(wanted, 'given').map(escapeValue).join(',');
  const hasName = family !== '' || given !== '';
  if (identifiers.length === 0 && (!hasName || birthDate === undefined)) {
    throw new FhirError('parameter-invalid', '$match needs an identifier, or a name and a birth date');
  }
  return [
    ...(identifiers.length > 0 ? [[['identifier', identifiers.join(',')]] as [string, string][]] : []),
    ...(birthDate !== undefined ? [[['birthdate', birthDate]] as [string, string][]] : []),
    ...(family !== '' && given !== ''
      ? [
          [
            ['family', family],
            ['given', given],
          ] as [string, string][],
        ]
      : []),
  ];
}

function replyMatches(scored: readonly Scored[], { base }: Call): Reply {
  const entries = scored.map(({ id, text, match: { score, grade } }) => {
    const search = { extension: [{ url: GRADE, valueCode: grade }], mode: 'match', score };
    const fullUrl = JSON.stringify(`${base}/Patient/${id}`);
    return `{"fullUrl":${fullUrl},"resource":${text},"search":${JSON.stringify(search)}}`;
  });
  const link = JSON.stringify([{ relation: 'self', url: `${base}/Patient/$match` }]);
  const head =
    `{"resourceType":"Bundle","meta":{"lastUpdated":"${formatInstant(Date.now())}"},"type":"searchset",` +
    `"total":${entries.length},"link":${link}`;
  if (entries.length === 0) return { status: 200, json: `${head}}` };
  return replyBundle({ head: `${head},"entry":[`, entries, tail: ']}' });
}
