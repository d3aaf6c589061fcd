import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import {
  BINARY,
  contentOf,
  decodeData,
  once,
  pointerOf,
  refusePointer,
  storeContent,
  withoutPointer,
} from '../../core/binary/binary-content.js';
import { holdContent, type HeldContent } from './binary-hold.js';
import { showBinary } from './binary-read.js';
import { composeBinary } from '../../core/binary/binary-store.js';
import { STORED_DEPTH } from '../../core/read-stored.js';
import { conditionalPatchResolver, patchResolver, patchPlan, type PatchHandling } from '../write/patch.js';
import { liveVersion } from '../../core/write/preconditions.js';
import type { Services } from '../../core/services.js';
import type { Target, WritePlanner } from '../../core/write/write-plan.js';

/** `PATCH [base]/Binary/[id]`: of the resource, with its content in `data`. https://hl7.org/fhir/R5/binary.html */
export const planPatchBinary: WritePlanner = async (call, services) =>
  patchPlan(call, patchResolver(call), services, handleBinary(services));

/** `PATCH [base]/Binary?…`: the same for the one that matches the criteria. */
export const planConditionalPatchBinary: WritePlanner = async (call, services) =>
  patchPlan(call, await conditionalPatchResolver(call, services), services, handleBinary(services));

function handleBinary(services: Services): PatchHandling {
  const { store, limits } = services;
  /** Content of the latest attempt; the content of an earlier attempt is deleted. */
  let held: HeldContent | undefined;
  const hold = async (data: Buffer | undefined): Promise<void> => {
    await held?.drop();
    held =
      data && holdContent(store.blobs, (id) => storeContent(store.blobs, id, once(data), limits.body), limits.body);
  };
  return {
    async show(stored, { id }) {
      if (pointerOf(stored) === undefined) return stored;
      return { ...withoutPointer(stored), data: await readContent(stored, id, services) };
    },
    async compose(patched, shown, target) {
      const { id, current } = target;
      refusePointer(patched);
      const before = pointerBefore(target);
      if (before !== undefined && patched['data'] === shown['data']) {
        await hold(undefined);
        return composeBinary(patched, before, id, current, services, { tags: 'as-sent' });
      }
      await hold(decodeData(patched['data']));
      return composeBinary(patched, await held?.at(id), id, current, services, { tags: 'as-sent' });
    },
    reply({ json, ...head }, { id }) {
      return json === undefined ? head : showBinary(head, id, json, services);
    },
    drop: () => hold(undefined),
  };
}

/** The content as base64. @throws FhirError `resource-too-large` if it exceeds the size limit of resources */
async function readContent(stored: Resource, id: string, { store, limits }: Services): Promise<string> {
  const { size, open } = contentOf(stored, id, store.blobs);
  if (size > limits.resource) {
    const text = `The content has ${size} bytes: beyond ${limits.resource} a ${BINARY} cannot be patched, but updated`;
    throw new FhirError('resource-too-large', text);
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of await open()) chunks.push(chunk);
  return Buffer.concat(chunks).toString('base64');
}

function pointerBefore({ current }: Target) {
  const live = liveVersion(current);
  return live === undefined ? undefined : pointerOf(readJson(live.json, STORED_DEPTH) as Resource);
}
