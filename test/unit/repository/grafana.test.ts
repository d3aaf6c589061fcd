import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

import { createMetrics } from '../../../runtime/observe/metrics.js';

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

const file = new URL('../../../examples/grafana/kiln.json', import.meta.url);

/** What Prometheus adds by itself. */
const ADDED = ['instance', 'le'];

/** The metrics of a server that did one of everything, with the labels that each has. */
async function labelsByMetric(): Promise<Map<string, Set<string>>> {
  const metrics = createMetrics({ fhir: '5.0.0' });
  metrics.request({
    requestId: 'r',
    method: 'GET',
    route: '[type]/[id]',
    interaction: 'read',
    status: 200,
    duration: 1,
  });
  metrics.store('read', 1, false);
  metrics.command('find', 1, false);
  metrics.watchJobs(() => Promise.resolve([{ type: 'export', state: 'queued', progress: { done: 0 } }]));
  const text = await metrics.expose();
  metrics.close();
  const found = new Map<string, Set<string>>();
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    found.set(name, new Set([...ADDED, ...[...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label)]));
  }
  return found;
}

it('the dashboard asks for metrics and labels that a server has', async () => {
  const { panels } = JSON.parse(readFileSync(file, 'utf8')) as Dashboard;
  const known = await labelsByMetric();
  expect(panels.length).toBeGreaterThan(5);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const { title, targets } of panels) {
    for (const { expr, legendFormat } of targets) {
      const names = expr.match(/\b(?:kiln|process|nodejs)_\w+/g) ?? [];
      expect(names.length, title).toBeGreaterThan(0);
      for (const name of names) {
        const labels = known.get(name);
        expect(labels, `${title}: ${name}`).toBeDefined();
        const grouped = /by \(([^)]*)\)/.exec(expr)?.[1]?.split(/, /) ?? [];
        const asked = [...expr.matchAll(/[{,](\w+)=/g)].map(([, label = '']) => label);
        const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
        for (const label of [...grouped, ...asked, ...shown])
          expect([...labels!], `${title}: ${expr}`).toContain(label);
      }
    }
  }
});
