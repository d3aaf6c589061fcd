import { describe, expect, it } from 'vitest';

import { OWN } from '../../toy/own.js';
import { tables } from '../../../generated/tables.js';
import { createIntegrity } from '../../../runtime/core/references/integrity.js';
import type { Store } from '../../../runtime/store/store.js';
import { word } from '../write-server.js';
import { ASYNC, jobsServer, linesOf } from './jobs-server.js';

/** `$import` where references have to lead somewhere. */
export function importedReferences(store: Store): void {
  const modes = ['written', 'enforced'] as const;
  const servers = modes.map((mode) => {
    const integrity = createIntegrity({ mode, paths: {} }, { tables, own: OWN, isShipped: () => false });
    return [mode, jobsServer(store, { integrity })] as const;
  });

  const basic = (id: string, ...to: readonly string[]): object => ({
    resourceType: 'Basic',
    id,
    code: { text: 'x' },
    extension: to.map((reference) => ({ url: 'urn:x', valueReference: { reference } })),
    ...(to.length === 0 && { extension: undefined }),
  });

  describe.each(servers)('%s', (_, server) => {
    const { all } = server;

    /** Imports files of these lines. @returns the report, and what is there afterwards */
    async function imported(...files: readonly (readonly object[])[]) {
      const parameter = [];
      for (const lines of files) {
        const bytes = Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n'));
        const answer = await all.send('POST', '/Binary', bytes, { 'content-type': 'application/fhir+ndjson' });
        const [url] = /Binary\/[^/]+/.exec(String(answer.headers['location']))!;
        parameter.push({ name: 'input', part: [{ name: 'url', valueUri: url }] });
      }
      const client = server.as('system/*.cruds', 'importer');
      const started = await client.send('POST', '/$import', { resourceType: 'Parameters', parameter }, ASYNC);
      expect(started.status, started.text).toBe(202);
      await server.finish();
      const status = String(started.headers['content-location']).replace(/^.*?\/fhir/, '');
      const report = (await client.send('GET', status)).json();
      const faults: string[] = [];
      for (const { url } of report.error as { url: string }[]) {
        const file = await client.send('GET', url.replace(/^.*?\/fhir/, ''));
        for (const { issue } of linesOf(file.text) as unknown as {
          issue: { details: { text: string }; diagnostics: string }[];
        }[])
          faults.push(...issue.map(({ details, diagnostics }) => `${details.text} ${diagnostics}`));
      }
      const counts = (report.output as { created: number; failed: number }[]).map((each) => [
        each.created,
        each.failed,
      ]);
      return { counts, faults };
    }
    const isThere = async (id: string): Promise<boolean> => (await all.send('GET', `/Basic/${id}`)).status === 200;

    it('lines may come in any order over all files, and refer to each other in circles', async () => {
      const [a, b, c, d, e] = [word(), word(), word(), word(), word()];
      const { counts, faults } = await imported(
        [basic(a, `Basic/${b}`), basic(c, `Basic/${d}`)],
        [basic(b, `Basic/${e}`), basic(d, `Basic/${c}`, `Basic/${a}`)],
        [basic(e)],
      );
      expect([counts, faults]).toEqual([[[2, 0], [2, 0], [1, 0]], []]); // prettier-ignore
      for (const id of [a, b, c, d, e]) expect(await isThere(id)).toBe(true);
      const kept = (await store.blobs.list('import/')).map(({ key }) => key);
      expect(kept.filter((key) => key.includes('-waiting-'))).toEqual([]);
    });

    it('a line may wait for many, and many lines for one', async () => {
      const [hub, lost, one, none] = [word(), word(), word(), word()];
      const targets = Array.from({ length: 45 }, () => word());
      const names = targets.map((id) => `Basic/${id}`);
      const waiting = Array.from({ length: 30 }, () => basic(word(), `Basic/${one}`));
      const { counts, faults } = await imported(
        targets.slice(0, 10).map((id) => basic(id)),
        [basic(hub, ...names), basic(lost, ...names, `Basic/${none}`), ...waiting],
        [basic(one), ...targets.slice(10).map((id) => basic(id))],
      );
      expect(counts).toEqual([[10, 0], [31, 1], [36, 0]]); // prettier-ignore
      expect(faults).toHaveLength(1);
      expect(faults[0]).toContain(`There is no Basic/${none}`);
      expect([await isThere(hub), await isThere(lost)]).toEqual([true, false]);
    });

    it('what leads to nothing at the end is an error of its line, and so is what leads to that', async () => {
      const [a, b, c, d, none] = [word(), word(), word(), word(), word()];
      const { counts, faults } = await imported(
        [basic(a, `Basic/${b}`), basic(b, `Basic/${a}`, `Basic/${none}`)],
        [basic(c, `Basic/${a}`, `Basic/${d}`), basic(d)],
      );
      expect(counts).toEqual([
        [0, 2],
        [1, 1],
      ]);
      expect(faults.filter((fault) => fault.includes(`There is no Basic/${none}`))).toHaveLength(1);
      expect(faults.some((fault) => fault.includes(`There is no Basic/${a}`) && fault.includes('line 1'))).toBe(true);
      for (const id of [a, b, c]) expect(await isThere(id)).toBe(false);
      expect(await isThere(d)).toBe(true);
    });
  });
}
