import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Call, Reply } from '../core/call.js';
import type { FailedCall } from '../core/call-audit.js';
import type { Services } from '../core/services.js';
import { FhirError } from '../fhir/errors.js';
import { isId } from '../fhir/id.js';
import { errorOutcome } from '../fhir/operation-outcome.js';
import { isObject, objectsOf, type JsonObject } from '../fhir/resource.js';
import { readJson } from '../format/read-json.js';
import { writeJson } from '../format/write-json.js';
import { execute } from '../interactions/execute.js';
import type { PlainForm } from '../pages/tools/edit-page.js';
import { audited } from './audited.js';
import { readForm } from './request/read-form.js';

/** The result of a form: where to go on, or the form again. */
export type Outcome = { readonly location: string } | { readonly status: number; readonly form: PlainForm };

type Place = Pick<Call, 'principal' | 'base' | 'trace'>;

/** Limits of a page: so many issues, and so many characters of the line that each is about. */
const SHOWN = { issues: 200, source: 200 };

/** Name of a form in the error for one that is too large. Longer ones would be read and parsed while other requests wait. */
const WHAT = 'A form (a longer resource needs the script of the page, or PUT)';

/** `OperationRow.id` of `$validate`. */
const VALIDATE = 'Resource-validate';

/**
 * Does what the form of an editor without a script asks for: it reads, validates, writes with `If-Match`, or deletes one resource, as the same
 * requests do, so that their scopes, checks and audit hold.
 *
 * @param place who asks, and where
 * @throws FhirError for a form that cannot be read, and where no token was presented
 */
export async function editPlainly(
  req: IncomingMessage,
  res: ServerResponse,
  type: string,
  place: Place,
  services: Services,
): Promise<Outcome> {
  const recorded = new WeakSet<FhirError>();
  /** Records in the audit what was refused before a call was made of it. */
  const refused = (error: unknown, about: FailedCall): void => {
    if (!(error instanceof FhirError) || recorded.has(error)) return;
    services.audit.failed({ ...place, type, ...about }, error);
  };
  const fields = await readForm(req, res, services.limits, WHAT).catch((error: unknown) => {
    refused(error, {});
    throw error;
  });
  const [givenId, version] = [fields.get('id'), fields.get('version')].map((each) =>
    each !== null && isId(each) ? each : undefined,
  );
  const over = fields.get('over') ?? undefined;
  const [action, text] = [fields.get('do') ?? 'save', (fields.get('text') ?? '').replaceAll('\r\n', '\n')];
  const form: PlainForm = { type, id: givenId, version, text };
  const subject = { type, ...(givenId !== undefined && { id: givenId }) };
  const run = (call: Pick<Call, 'interaction'> & Partial<Call>): Promise<Reply> => {
    const whole: Call = { ...place, params: new URLSearchParams(), conditions: {}, prefer: {}, ...subject, ...call };
    return audited(
      whole,
      services,
      () => execute(whole, services),
      (reply) => reply,
    ).catch((error: unknown) => {
      if (error instanceof FhirError) recorded.add(error);
      throw error;
    });
  };
  try {
    if (givenId === undefined && !['save', 'check'].includes(action)) {
      throw new FhirError('parameter-invalid', 'The form names no resource: it has no valid id');
    }
    if (action === 'open' || action === 'copy') return { status: 200, form: await read(action === 'copy') };
    if (action === 'ask') return { status: 200, form: { ...form, isDeletion: true } };
    if (action === 'delete') {
      await run({ interaction: 'delete', conditions: matching(version) });
      return { location: `${type}/${givenId}/_history` };
    }
    const body = readJson(text);
    if (action === 'check') return { status: 200, form: { ...form, ...(await check(body)) } };
    const sent = { body, text: () => text, prefer: { return: 'minimal' as const } };
    const reply =
      givenId === undefined
        ? await run({ interaction: 'create', ...sent })
        : await run({ interaction: 'update', ...sent, conditions: matching(over ?? version) });
    return {
      location: (reply.location ?? reply.contentLocation ?? `${type}/${givenId}`).replace(/\/_history\/.*$/, ''),
    };
  } catch (error) {
    refused(error, { ...subject, ...aimOf(action, givenId === undefined) });
    if (!(error instanceof FhirError) || error.status === 401) throw error;
    const newer = error.status === 412 && givenId !== undefined ? await versionNow() : undefined;
    const issues = issuesOf(errorOutcome(error), text);
    return { status: error.status, form: { ...form, state: 'Nothing was changed.', issues, newer } };
  }

  /** Absent: it was deleted, or may not be read. */
  async function versionNow(): Promise<string | undefined> {
    try {
      return (await run({ interaction: 'read' })).versionId;
    } catch {
      return undefined;
    }
  }

  async function read(isCopy: boolean): Promise<PlainForm> {
    const { json, resource, versionId } = await run({ interaction: 'read' });
    const whole = json === undefined ? (resource ?? {}) : (readJson(json) as JsonObject);
    if (!isCopy) return { type, id: givenId, version: versionId, text: writeJson(whole, 2) };
    const { id: _id, meta, ...rest } = whole;
    const { versionId: _version, lastUpdated: _lastUpdated, ...kept } = isObject(meta) ? meta : {};
    const copy = { ...rest, ...(Object.keys(kept).length > 0 && { meta: kept }) };
    return { type, id: undefined, version: undefined, text: writeJson(copy, 2) };
  }

  async function check(body: Call['body']): Promise<Pick<PlainForm, 'state' | 'issues'>> {
    const isNew = givenId === undefined;
    const params = new URLSearchParams({ mode: isNew ? 'create' : 'update' });
    const validation = { operation: VALIDATE, level: isNew ? ('type' as const) : ('instance' as const), params };
    const reply = await run({ interaction: 'operation', ...validation, body: body!, text: () => text });
    const issues = issuesOf(reply.resource ?? {}, text);
    const faults = issues.filter(({ severity }) => severity === 'error' || severity === 'fatal').length;
    return { state: faults === 0 ? 'Valid.' : `Errors: ${faults}. It would be refused.`, issues };
  }
}

/** Returns the interaction or operation that a form asks for, as the audit names it. */
function aimOf(action: string, isNew: boolean): Pick<FailedCall, 'interaction' | 'operation'> {
  if (action === 'check') return { interaction: 'operation', operation: VALIDATE };
  if (action === 'delete') return { interaction: 'delete' };
  if (action !== 'save') return { interaction: 'read' };
  return { interaction: isNew ? 'create' : 'update' };
}

/** The condition that the resource was not changed since it was read. @throws FhirError: it has not been read */
function matching(version: string | undefined): Call['conditions'] {
  if (version !== undefined && isId(version)) return { ifMatch: `W/"${version}"` };
  throw new FhirError('parameter-invalid', 'The form names no version: open the resource first');
}

/** The issues of an outcome, each with the line of the text that it is about. */
function issuesOf({ issue }: JsonObject, text: string): NonNullable<PlainForm['issues']> {
  const lines = text.split('\n');
  return objectsOf(issue)
    .slice(0, SHOWN.issues)
    .map(({ severity, diagnostics }) => {
      const words = String(diagnostics);
      const line = Number(/\bline (\d+), column \d+/i.exec(words)?.[1] ?? 0);
      const source = lines[line - 1];
      return {
        severity: String(severity),
        text: words,
        ...(source !== undefined && { source: `${line}  ${source.trim().slice(0, SHOWN.source)}` }),
      };
    });
}
