import type { AnyResource } from '../../generated/types/index.js';
import { sleep, type Connection, type RequestOptions } from './http.js';
import { queryOf, type ParameterValue } from './search.js';

/** Which resources are exported. https://hl7.org/fhir/uv/bulkdata/STU2/export.html */
export interface ExportOptions extends RequestOptions {
  /** `Patient`: what is in the compartment of any patient; absent: everything, or what is about the members of a group. */
  readonly type?: 'Patient';
  /** Id of the Group whose members are exported. */
  readonly group?: string;
  /** `{ _type: 'Patient,Observation', _since: '2026-01-01T00:00:00Z' }` */
  readonly query?: Readonly<Record<string, ParameterValue | undefined>>;
  /** Called each time that the server tells how far it is, and with each file that is begun. */
  readonly onProgress?: (progress: ExportProgress) => void;
}

/** How far an export is. */
export interface ExportProgress {
  /** The words of the server: `40 of 100 resources`. */
  readonly text: string;
  /** The files to fetch; absent: the server is not done. */
  readonly manifest?: ExportManifest;
  /** Resources that have been read. */
  readonly read: number;
}

/** A list of the files of an export, and since when changes are not in them. */
export interface ExportManifest {
  readonly transactionTime: string;
  readonly output: readonly ExportFile[];
  /** Bundles that name what was deleted. */
  readonly deleted?: readonly ExportFile[];
  readonly error?: readonly ExportFile[];
}

/** A file of an export. */
export interface ExportFile {
  readonly type: string;
  readonly url: string;
  readonly count?: number;
}

const NDJSON = 'application/fhir+ndjson';

/** Starts an export, waits for it, and gives its resources one by one. However that ends, the server may remove the files. */
export async function* exportOf(connection: Connection, options: ExportOptions): AsyncGenerator<AnyResource> {
  const { type, group, query = {}, onProgress, signal, timeout, headers } = options;
  const common = { signal, timeout, headers };
  const path = [group === undefined ? type : `Group/${group}`, '$export']
    .filter((part) => part !== undefined)
    .join('/');
  const started = await connection.open({
    ...common,
    path,
    query: queryOf(query),
    headers: { ...headers, Prefer: 'respond-async' },
  });
  await started.body?.cancel();
  const status = started.headers.get('content-location');
  if (status === null) throw new Error('the server started no export: its answer has no Content-Location');
  try {
    const manifest = await finished(connection, status, options);
    let read = 0;
    for (const file of manifest.output) {
      onProgress?.({ text: `reading ${file.type}`, manifest, read });
      // A file may take longer than any request: only its beginning is waited for.
      const { body } = await connection.open({ ...common, path: file.url, accept: NDJSON });
      for await (const line of linesOf(body)) {
        read++;
        yield JSON.parse(line) as AnyResource;
      }
    }
    onProgress?.({ text: 'done', manifest, read });
  } finally {
    // The caller's signal may be why this ends.
    await connection.open({ method: 'DELETE', path: status, headers }).then(
      ({ body }) => body?.cancel(),
      () => undefined,
    );
  }
}

async function finished(
  connection: Connection,
  status: string,
  { signal, timeout, headers, onProgress }: ExportOptions,
): Promise<ExportManifest> {
  for (;;) {
    const request = { path: status, accept: 'application/json', signal, timeout, headers };
    const answer = await connection.send<ExportManifest>(request);
    if (answer.status === 200) return answer.body as ExportManifest;
    onProgress?.({ text: answer.headers.get('x-progress') ?? '', read: 0 });
    await sleep(Number(answer.headers.get('retry-after') ?? 1) * 1000 || 1000, signal);
  }
}

async function* linesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const pieces = (rest + decoder.decode(value, { stream: !done })).split('\n');
      rest = done ? '' : (pieces.pop() ?? '');
      for (const line of pieces) if (line.trim() !== '') yield line;
      if (done) return;
    }
  } finally {
    await reader.cancel();
  }
}
