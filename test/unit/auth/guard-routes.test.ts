import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { BRINGS, type Content } from '../../../runtime/auth/access/content.js';
import { decide, type Demand } from '../../../runtime/auth/access/decide.js';
import { scopeTargetOf, indexScopeRows } from '../../../runtime/auth/access/scope-rows.js';
import type { RouteRow } from '../../../runtime/contract/rest.js';
import { accessOf } from './scopes-setup.js';

const rowOf = indexScopeRows(tables.scopes);

/** All routes, with the types that they stand for at their beginning. */
const routes = tables.routes.flatMap((route): readonly (readonly [string, RouteRow, string | undefined])[] => {
  const [first = ''] = route.path.split('/');
  if (first === '[type]')
    return tables.resourceTypes.map((type) => [`${route.method} ${route.path} ${type}`, route, type]);
  return [[`${route.method} ${route.path}`, route, /^[A-Z]/.test(first) ? first : undefined]];
});

/** A request in which everything is there that a condition could bring, of a type that no scope below names. */
const EVERYTHING_BROUGHT = {
  ...Object.fromEntries(
    Object.entries(BRINGS).map(([when, kind]) => [when, { fact: true, types: ['Basic'], groups: [['Basic']] }[kind]]),
  ),
  touched: ['Basic'],
} as Content;

function demand(route: RouteRow, type: string | undefined): Demand {
  const row = rowOf(scopeTargetOf(route));
  if (route.interaction !== 'search-compartment') return { row, content: EVERYTHING_BROUGHT, ...(type && { type }) };
  const searched = route.path.split('/')[2];
  return {
    row,
    content: EVERYTHING_BROUGHT,
    compartment: type!,
    ...(searched !== undefined && searched !== '*' && searched !== '_search' && { type: searched }),
  };
}

/** What answers without any scope; the last ones need a job of the same client. */
const FREE = new Set([
  'capabilities',
  'bundle',
  'Resource-convert',
  'CapabilityStatement-versions',
  'async-poll-status',
  'async-result',
  'bulk-submit-poll-status',
  'bulk-submit-status',
  'bulk-undo',
  'export-poll-status',
  'import-poll-status',
  'sql-export-poll-status',
]);

describe('every route of the tables', () => {
  it('has a scope row, and every operation has one for each level', () => {
    expect(routes.length).toBeGreaterThan(3000);
    for (const [name, route] of routes) expect(() => rowOf(scopeTargetOf(route)), name).not.toThrow();
    for (const { id, levels } of tables.operations) {
      for (const level of levels) expect(rowOf({ interaction: 'operation', operation: id, level }).operation).toBe(id);
    }
  });

  it('is refused without scopes, telling what suffices, and open to nobody but capabilities', () => {
    const none = accessOf('');
    for (const [name, route, type] of routes) {
      const decision = decide({ ...demand(route, type) }, none);
      const id = route.operation ?? route.interaction;
      if (route.interaction === 'capabilities') expect(decision.is, name).toBe('open');
      else if (FREE.has(id) && !(id === 'bundle')) expect(decision.is, name).toBe('allowed');
      else {
        expect(decision.is, name).toBe('refused');
        if (decision.is !== 'refused') continue;
        const { scopes, customs } = decision.needed;
        expect(scopes.length + customs.length, name).toBeGreaterThan(0);
        // What it says suffices.
        const enough = accessOf(
          [...scopes.map(({ type, letters }) => `system/${type}.${letters}`), ...customs].join(' '),
        );
        expect(decide(demand(route, type), enough).is, name).toBe('allowed');
      }
    }
  });

  it('is allowed with all scopes, and with data scopes alone where nothing administrative is asked', () => {
    const all = accessOf('system/*.cruds system/AuditEvent.ud __admin');
    const data = accessOf('system/*.cruds system/AuditEvent.ud');
    for (const [name, route, type] of routes) {
      const asked = demand(route, type);
      if (asked.row.open) continue;
      expect(decide(asked, all).is, name).toBe('allowed');
      expect(decide(asked, data).is, name).toBe(asked.row.admin === undefined ? 'allowed' : 'refused');
    }
  });

  it('needs more than the scopes of another type', () => {
    const other = accessOf('system/VisionPrescription.cruds');
    for (const [name, route, type] of routes) {
      if (type === 'VisionPrescription' || type === undefined) continue;
      const id = route.operation ?? route.interaction;
      if (FREE.has(id)) continue;
      expect(decide(demand(route, type), other).is, name).toBe('refused');
    }
  });
});
