import type { Worker } from 'node:worker_threads';

import { FhirError } from '../fhir/errors.js';
import type { JsonValue } from '../fhir/resource.js';
import type { Answer, Job, Request } from './messages.js';
import { assemble } from './pieces.js';

/** A thread that takes in one body at a time. Idle, it does not keep the process alive. */
export interface BodyWorker {
  /**
   * Has it read a body. Each piece is put in its place in a turn of its own.
   *
   * @returns the tree that its pieces make
   * @throws FhirError for what is wrong with the body, and where the thread ends over it
   */
  read(job: Job, signal: AbortSignal): Promise<JsonValue>;
  /** Ends it; the next body starts it anew. */
  end(): Promise<void>;
}

/** Opens a thread that `start` starts, with the first body, and again with the next one where it has ended. */
export function openBodyWorker(start: () => Worker): BodyWorker {
  let worker: Worker | undefined;
  /** The one that is reading; one that is being ended may outlast its time beside the next. */
  let reading: Worker | undefined;
  let answered: (answer: Answer) => void = () => {};
  let ended: (error: FhirError) => void = () => {};

  function running(): Worker {
    if (worker !== undefined) return worker;
    const started = start();
    worker = started;
    let cause: Error | undefined;
    started.on('message', (answer: Answer) => answered(answer));
    started.on('error', (error: Error) => (cause = error));
    started.on('exit', () => {
      if (worker === started) worker = undefined;
      if (reading === started) ended(unread(cause));
    });
    return started;
  }

  return {
    async read(job, signal) {
      const assembly = assemble();
      const target = running();
      reading = target;
      const ask = (request: Request): Promise<Answer> =>
        new Promise((resolve, reject) => {
          answered = resolve;
          ended = reject;
          const bytes = request.ask === 'read' ? request.job.bytes : undefined;
          target.postMessage(request, bytes !== undefined && isAlone(bytes) ? [bytes.buffer as ArrayBuffer] : []);
        });
      target.ref();
      let isOver = false;
      try {
        for (let answer = await ask({ ask: 'read', job }); ; answer = await ask({ ask: 'next' })) {
          isOver = answer.is === 'end' || answer.is === 'failure' || answer.is === 'defect';
          if (signal.aborted) throw new FhirError('body-incomplete', 'The client left');
          if (answer.is === 'end') return assembly.tree;
          if (answer.is === 'failure') throw Object.assign(FhirError.of(answer.issues), { headers: answer.headers });
          if (answer.is === 'defect') throw answer.error;
          assembly.add(answer.piece);
        }
      } finally {
        reading = undefined;
        if (!isOver) target.postMessage({ ask: 'drop' } satisfies Request);
        target.unref();
      }
    },
    async end() {
      const ending = worker;
      // A body that comes before it has ended gets a new one.
      worker = undefined;
      await ending?.terminate();
    },
  };
}

/** Whether nothing else lies in the memory of these bytes, so that they can be given away. */
function isAlone({ buffer, byteLength }: Uint8Array): boolean {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
}

function unread(cause: (Error & { readonly code?: string }) | undefined): FhirError {
  if (cause?.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return new FhirError(
      'body-too-large',
      'The body takes more memory than there is for one; send it in smaller parts',
    );
  }
  return new FhirError('body-unread', undefined, { diagnostics: cause?.message ?? 'a thread ended' });
}
