import type { SearchRow } from '../../contract/search.js';
import { type Call, type Reply, replyBundle } from '../../core/call.js';
import { ANSWER_ROOM, openAnswerRoom } from '../../core/answer-room.js';
import { writeLink } from '../../search-execution/pages/page-walk.js';
import { FORM } from '../../search/control-parameters.js';
import { withinBudget } from '../../search-execution/execute/search-budget.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { writeJson } from '../../format/write-json.js';
import { searchDefinitions } from '../../indexing/definitions.js';
import { sortValue } from '../../search/query/sort.js';
import { dateInterval } from '../../indexing/values/date-interval.js';
import { readArguments, valueOf } from '../common/arguments.js';
import { findMatches } from '../common/find-matches.js';
import { NewestGroups } from './newest-groups.js';
import { splitCriteria, type SplitCall } from './observations.js';

/** Observations that one answer holds. */
const MOST = 10_000;

/** An Observation of the answer, as JSON. */
interface Kept {
  readonly id: string;
  readonly text: string;
}

/** The search parameters that name the subject. */
const SUBJECTS = ['patient', 'subject'];

const CATEGORY = 'category';

/**
 * `Observation/$lastn`: of the Observations that fulfil the criteria the last `max` of each code, the newest code group first and
 * the newest first within it. https://hl7.org/fhir/R5/observation-operation-lastn.html
 *
 * @throws FhirError as a search, `parameter-invalid` where no subject or no code is named, `too-costly`
 */
export async function lastn(call: Call, services: Services): Promise<Reply> {
  const { own, criteria } = splitCriteria(call, services);
  const max = Number(valueOf(readArguments(own, services), 'max') ?? 1);
  checkCriteria(criteria, services);
  const room = openAnswerRoom(ANSWER_ROOM, 'The Observations are too large together; add criteria or a lower "max"');
  const groups = new NewestGroups<Kept>(max);
  await withinBudget(services.limits.queryTime, call.signal, async (signal) => {
    const newest = [...criteria, ['_sort', '-date']] as const;
    for await (const observation of findMatches('Observation', newest, call, services, signal)) {
      groups.add(observation, timeOf(observation, services), () => ({
        id: String(observation['id']),
        text: room.take(writeJson(observation)),
      }));
      if (groups.size > MOST)
        throw new FhirError('too-costly', `More than ${MOST} Observations; add criteria or a lower "max"`);
    }
  });
  const found = groups.list();
  return replyBundle({
    head:
      `{"resourceType":"Bundle","meta":{"lastUpdated":"${formatInstant(Date.now())}"},"type":"searchset","total":${found.length},` +
      `"link":${JSON.stringify([
        {
          relation: 'self',
          url: writeLink(
            call,
            'Observation/$lastn',
            [...call.params].filter(([name]) => !FORM.has(name)),
          ),
        },
      ])}` +
      (found.length === 0 ? '' : ',"entry":['),
    entries: found.map(
      ({ id, text }) =>
        `{"fullUrl":${JSON.stringify(`${call.base}/Observation/${id}`)},"resource":${text},"search":{"mode":"match"}}`,
    ),
    tail: found.length === 0 ? '}' : ']}',
  });
}

/** @throws FhirError `parameter-invalid` */
function checkCriteria(criteria: SplitCall['criteria'], { tables }: Services): void {
  const codes = [...searchDefinitions(tables).rowsOf('Observation').values()].filter(readsCode);
  const kinds = new Set([CATEGORY, ...codes.map(({ code }) => code)]);
  const given = criteria
    .filter(([name, value]) => value !== '' && !name.endsWith(':missing'))
    .map(([name]) => name.split(/[:.]/, 1)[0] ?? '');
  const missing = [
    ...(given.some((name) => SUBJECTS.includes(name)) ? [] : ['a subject, as "patient" or "subject"']),
    ...(given.some((name) => kinds.has(name)) ? [] : ['what is observed, as "category", "code" or another code']),
  ];
  if (missing.length === 0) return;
  throw new FhirError('parameter-invalid', `$lastn needs ${missing.join(', and ')}`, { issue: 'required' });
}

/** Whether a search parameter looks at an element named code, as `code` and `code-value-concept` do. */
function readsCode({ paths, components = [] }: SearchRow): boolean {
  const all = [...paths, ...components.flatMap((each) => each.paths)];
  return all.some(({ steps }) => steps.some((step) => 'get' in step && step.get === 'code'));
}

/** The last moment of the effective time, as searches sort by it; a time of day is a moment. -Infinity: there is none. */
function timeOf(observation: Resource, { zone, extract }: Services): number {
  const read = (text: JsonValue | undefined): number | undefined => {
    const interval = typeof text === 'string' ? dateInterval(text, zone) : undefined;
    return String(text).includes('T') ? interval?.low : interval?.high;
  };
  const { effectivePeriod, effectiveTiming } = observation;
  if (isObject(effectivePeriod) && effectivePeriod['end'] === undefined) return Infinity;
  if (isObject(effectiveTiming)) {
    const key = { by: 'date', param: 'date', isDescending: true } as const;
    const [time = -Infinity] = sortValue(key, { id: '', lastUpdated: 0, entries: extract(observation, 'words') }) ?? [];
    return Number(time);
  }
  const end = isObject(effectivePeriod) ? effectivePeriod['end'] : undefined;
  return read(observation['effectiveDateTime'] ?? observation['effectiveInstant'] ?? end) ?? -Infinity;
}
