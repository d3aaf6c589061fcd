import type { Interaction, RouteRow, Tables } from '../contract/index.js';
import { BINARY } from '../core/binary/binary-content.js';
import { readBinary, vreadBinary } from './binary/binary-read.js';
import { executeBundle } from './bundle/bundle.js';
import { capabilities } from './capabilities/capabilities.js';
import { deleteHistory, deleteHistoryVersion } from './history/delete-history.js';
import { withDocumentReference } from '../exchange/retrieve.js';
import { history } from './history/history.js';
import { BINARY_PLANNERS, PLANNERS } from './write/plan-write.js';
import { read } from './read/read.js';
import { runPlan } from './write/run-plan.js';
import { search } from './search/search.js';
import type { InteractionHandler } from '../core/services.js';
import { vread } from './read/vread.js';
import type { WritePlanner } from '../core/write/write-plan.js';

type Handlers = ReadonlyMap<Interaction, InteractionHandler>;

/** The interactions that are wired. What is missing here has no route, is in no `Allow`, and is claimed nowhere. */
export const INTERACTIONS: Handlers = new Map<Interaction, InteractionHandler>([
  ['read', withDocumentReference(read)],
  ['vread', vread],
  ...handlers(PLANNERS),
  ['history-instance', history],
  ['history-type', history],
  ['history-system', history],
  ['delete-history', deleteHistory],
  ['delete-history-version', deleteHistoryVersion],
  ['search-type', search],
  ['search-compartment', search],
  ['search-system', search],
  ['capabilities', capabilities],
  ['bundle', executeBundle],
]);

/** What the specification has differently for the type whose content is bytes. */
const BINARY_INTERACTIONS: Handlers = new Map<Interaction, InteractionHandler>([
  ['read', withDocumentReference(readBinary)],
  ['vread', vreadBinary],
  ...handlers(BINARY_PLANNERS),
]);

function handlers(planners: ReadonlyMap<Interaction, WritePlanner>): [Interaction, InteractionHandler][] {
  return [...planners].map(([interaction, planner]) => [interaction, runPlan(planner)]);
}

/**
 * Whether a route leads anywhere. Deletion over all types is not wired: criteria of writes are those of one type.
 *
 * @param operations the operations that are wired, by `OperationRow.id`
 */
export function isWired(
  { interaction, operation, path }: RouteRow,
  operations: Pick<ReadonlyMap<string, unknown>, 'has'>,
): boolean {
  if (operation !== undefined) return operations.has(operation);
  return INTERACTIONS.has(interaction) && !(interaction === 'conditional-delete' && path === '');
}

/** Whether a server that is read-only refuses an interaction, or the operation with an id: it writes, or may. */
export function isWrite(name: string, { operations }: Pick<Tables, 'operations'>): boolean {
  if (PLANNERS.has(name as Interaction) || name.startsWith('delete-history')) return true;
  return operations.find(({ id }) => id === name)?.affectsState === true;
}

/** Whether requests and answers of an interaction may be plain content. */
export function hasContent(interaction: Interaction, type: string | undefined): boolean {
  return type === BINARY && BINARY_INTERACTIONS.has(interaction) && !isPatch(interaction);
}

/** Whether the body of an interaction is a patch. */
export function isPatch(interaction: Interaction): boolean {
  return interaction === 'patch' || interaction === 'conditional-patch';
}

/** The interaction for a type. @throws Error where it is not wired: no route leads there */
export function findInteraction(interaction: Interaction, type: string | undefined): InteractionHandler {
  const own = type === BINARY ? BINARY_INTERACTIONS.get(interaction) : undefined;
  const found = own ?? INTERACTIONS.get(interaction);
  if (found === undefined) throw new Error(`no handler for ${interaction}`);
  return found;
}
