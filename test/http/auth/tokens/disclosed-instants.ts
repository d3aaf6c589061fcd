import { describe, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { word } from '../../bundles/bundle-server.js';
import { EVERYTHING, LAB, observed, serveWith } from '../support.js';

const PATHS = ['/Observation', '/Observation/_history', '/_history', '/?_type=Observation'];
const SLOT = 5000;

/** The instant up to which an answer is complete does not disclose when a hidden resource was written last. */
export function disclosedInstants(store: Store): void {
  const server = serveWith(store);
  const admin = server.as(EVERYTHING);
  const lab = server.as(`system/Observation.rs?${LAB}`);
  const completeUpTo = async (client: typeof lab, path: string): Promise<number> =>
    Date.parse((await client.send('GET', path)).json().meta.lastUpdated);
  const write = async (category: Parameters<typeof observed>[0]): Promise<number> => {
    const id = word();
    const answer = await admin.send('PUT', `/Observation/${id}`, observed(category, { id }));
    return Date.parse(answer.json().meta.lastUpdated);
  };

  describe('the instant up to which an answer is complete', () => {
    it.each(PATHS)('%s: is that of a grid for who does not see everything', async (path) => {
      await write('vital-signs');
      const rounded = await completeUpTo(lab, path);
      expect(rounded % SLOT).toBe(0);
      // Asked later: it grows meanwhile.
      expect(await completeUpTo(admin, path)).toBeGreaterThanOrEqual(rounded);
    });

    it('is none before what a poller was shown, so that it is not shown it for ever', async () => {
      const written = await write('laboratory');
      const since = new Date(written - 1).toISOString();
      const exact = await completeUpTo(admin, '/Observation/_history');
      const first = (await lab.send('GET', `/Observation/_history?_since=${since}`)).json();
      expect(first.total).toBe(1);
      const next = (await lab.send('GET', `/Observation/_history?_since=${first.meta.lastUpdated}`)).json();
      expect(next.meta.lastUpdated >= first.meta.lastUpdated).toBe(true);
      // MongoDB shows everybody what is new for some seconds.
      const isPast = Date.parse(first.meta.lastUpdated) > written;
      expect(isPast || exact <= written).toBe(true);
      expect(next.total).toBe(isPast ? 0 : 1);
    });

    it('is no answer to the question whether it lies before an instant to come', async () => {
      await write('vital-signs');
      const since = new Date(Date.now() + 3_600_000).toISOString();
      const { meta } = (await lab.send('GET', `/Observation/_history?_since=${since}`)).json();
      expect(Date.parse(meta.lastUpdated) % SLOT).toBe(0);
    });
  });
}
