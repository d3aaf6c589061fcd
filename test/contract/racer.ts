// Child process of the contract suite: writes to one resource, as `count` others do at the same time.
import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import { VersionConflict } from '../../runtime/store/store.js';

const [url = '', racer = '', count = ''] = process.argv.slice(2);
const store = openSqliteStore(url);
let won = 0;
let lost = 0;
// All begin at once, or the slowest start would meet nobody.
process.send?.('ready');
await new Promise((resolve) => process.once('message', resolve));
while (won < Number(count)) {
  const current = await store.read('Patient', 'shared');
  const body = { head: '{"meta":{', tail: `},"text":"${racer}-${won}"}` };
  const entries = [{ kind: 'token' as const, param: `p${won % 7}`, system: `urn:${racer}:${won}`, code: 'c' }];
  try {
    await store.write([{ type: 'Patient', id: 'shared', expected: current?.version ?? 0, body, entries }]);
    won++;
  } catch (error) {
    if (!(error instanceof VersionConflict)) throw error;
    lost++;
  }
}
await store.close();
process.send?.({ won, lost });
process.disconnect();
