import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

import { ALL_SETTINGS, variableOf } from '../../../runtime/config/settings.js';

const text = readFileSync(new URL('../../../examples/deploy/kubernetes/kiln.yaml', import.meta.url), 'utf8');

// Kept to what can be told without a cluster, and without a reader of YAML: names that have to agree, and settings that have to exist.
it('the Kubernetes manifests name settings that exist, with values that they take', () => {
  const byVariable = new Map([...ALL_SETTINGS].map(([key, setting]) => [variableOf(key), setting]));
  const given = [...text.matchAll(/name: (KILN_\w+)(?:, value: '?([^'}]+?)'? \})?$/gm)];
  expect(given.map(([, name]) => name)).toEqual([
    ...['KILN_BASE_URL', 'KILN_PROXY_TRUST', 'KILN_AUDIT_SINK', 'KILN_METRICS_PORT', 'KILN_METRICS_HOST'],
    ...['KILN_SHUTDOWN_DELAY', 'KILN_STORE'],
  ]);
  for (const [, name = '', value] of given) {
    const setting = byVariable.get(name);
    expect(setting, name).toBeDefined();
    if (value !== undefined) expect(() => setting!.parse(value)).not.toThrow();
  }
});

it('the Kubernetes manifests agree with each other', () => {
  const documents = text.split(/^---$/m);
  const kinds = documents.map((document) =>
    [/^apiVersion: (\S+)$/m, /^kind: (\S+)$/m].map((row) => row.exec(document)?.[1]),
  );
  expect(kinds).toEqual([
    ['apps/v1', 'Deployment'],
    ['v1', 'Service'],
    ['networking.k8s.io/v1', 'Ingress'],
    ['policy/v1', 'PodDisruptionBudget'],
  ]);
  for (const document of documents) expect(document).toMatch(/^metadata:\n {2}name: kiln$/m);
  const [deployment, service, ingress, budget] = documents as [string, string, string, string];
  for (const each of [deployment, service, budget]) expect(each).toContain('{ app: kiln }');
  expect(deployment).toMatch(/name: fhir, containerPort: 8080/);
  expect(service).toMatch(/targetPort: fhir/);
  expect(ingress).toMatch(/service: \{ name: kiln, port: \{ name: fhir \} \}/);
  for (const mount of ['data', 'tmp']) {
    expect(deployment).toContain(`- { name: ${mount}, mountPath`);
    expect(deployment).toContain(`- { name: ${mount}, emptyDir: {} }`);
  }
  for (const path of ['/health/ready', '/health/live'])
    expect(deployment).toContain(`httpGet: { path: ${path}, port: fhir }`);
  expect(text).toContain('Not run on a cluster');
});
