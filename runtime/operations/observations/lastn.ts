import { type Call, type Reply, replyBundle } from '../../core/call.js';
import { ANSWER_ROOM, openAnswerRoom } from '../../core/answer-room.js';
import { writeLink } from '../../core/search/pages/page-walk.js';
import { withinBudget } from '../../core/search/execute/search-budget.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';
import { writeJson } from '../../format/write-json.js';
import { readArguments, valueOf } from '../arguments.js';
import { findMatches } from '../find-matches.js';
import { codeKeyOf, splitCriteria } from './observations.js';

/** Observations that one answer holds. */
const MOST = 10_000;

/** An Observation of the answer, as JSON. */
interface Kept {
  readonly id: string;
  readonly text: string;
}

/**
 * `Observation/$lastn`: of the Observations that fulfil the criteria the last `max` of each code, the newest code group first and
 * the newest first within it. https://hl7.org/fhir/R5/observation-operation-lastn.html
 *
 * @throws FhirError as a search, `parameter-invalid` for criteria about the form of the result, `too-costly`
 */
export async function lastn(call: Call, services: Services): Promise<Reply> {
  const { own, criteria } = splitCriteria(call, services);
  const max = Number(valueOf(readArguments(own, services), 'max') ?? 1);
  const shaping = criteria.find(([name]) => name === '_sort' || name === '_count');
  if (shaping !== undefined) {
    throw new FhirError('parameter-invalid', `The parameter "${shaping[0]}" is of no use here; "max" limits each code`);
  }
  const room = openAnswerRoom(ANSWER_ROOM, 'The Observations are too large together; add criteria or a lower "max"');
  const groups = new Map<string, Kept[]>();
  let kept = 0;
  await withinBudget(services.limits.queryTime, call.signal, async (signal) => {
    const newest = [...criteria, ['_sort', '-date']] as const;
    for await (const observation of findMatches('Observation', newest, call, services, signal)) {
      const key = codeKeyOf(observation);
      const group = groups.get(key) ?? [];
      if (group.length >= max) continue;
      groups.set(key, group);
      group.push({ id: String(observation['id']), text: room.take(writeJson(observation)) });
      if (++kept > MOST)
        throw new FhirError('too-costly', `More than ${MOST} Observations; add criteria or a lower "max"`);
    }
  });
  const found = [...groups.values()].flat();
  return replyBundle({
    head:
      `{"resourceType":"Bundle","meta":{"lastUpdated":"${formatInstant(Date.now())}"},"type":"searchset","total":${found.length},` +
      `"link":${JSON.stringify([
        {
          relation: 'self',
          url: writeLink(
            call,
            'Observation/$lastn',
            [...call.params].filter(([name]) => name !== '_format' && name !== '_pretty'),
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
