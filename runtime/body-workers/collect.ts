import { isObject, type JsonObject, type JsonValue, type Resource } from '../fhir/resource.js';
import { rememberParsed } from '../core/write/parsed-bodies.js';
import { assemble } from './assemble.js';
import type { Answer, Whole } from './messages.js';

/** Puts together what a thread answers. */
export interface Collector {
  take(answer: Answer): void;
  /** The body, with what is known of it beside it. @param members those of its content */
  end(members: string | undefined): JsonValue;
}

/** Begins with nothing. */
export function openCollector(): Collector {
  const assembly = assemble();
  return {
    take(answer) {
      if (answer.is === 'piece') assembly.add(answer.piece);
    },
    end(members) {
      const whole = assembly.tree as unknown as Whole;
      const { tree } = whole;
      if (isObject(tree)) keep(tree as Resource, whole, members);
      return tree;
    },
  };
}

/** Keeps what was found of the body, of the resources in its entries, or of the one in a parameter beside each of these. */
function keep(body: Resource, { prepared, entries = [], judged }: Whole, members: string | undefined): void {
  if (prepared !== undefined) {
    const { faults, content } = prepared;
    const entryBytes = content?.entryBytes ?? Infinity;
    rememberParsed(body, {
      faults,
      ...(content !== undefined && members !== undefined && { content: { ...content, entryBytes, members } }),
    });
  }
  const bundled = body['entry'];
  for (const [index, faults] of entries) {
    const entry = Array.isArray(bundled) ? bundled[index] : undefined;
    const resource = isObject(entry) ? entry['resource'] : undefined;
    if (isObject(resource)) rememberParsed(resource as Resource, { faults });
  }
  if (judged === undefined) return;
  const { at, judgement } = judged;
  const subject = at === undefined ? body : (body['parameter'] as readonly JsonObject[])[at]?.['resource'];
  if (isObject(subject)) rememberParsed(subject as Resource, { faults: judgement.structure, judgement });
}
