import type { AnyResource, OperationOutcome, ResourceOf, ResourceType } from '../generated/types/index.js';
import type { AfterRead, ReadContext } from './core/read-hook.js';
import type { BeforeWrite, WriteContext } from './core/write/write-hooks.js';
import { FhirError, type Issue } from './fhir/errors.js';
import type { Resource } from './fhir/resource.js';
import type { Log } from './observe/log.js';
import type { Change, Store, StoredVersion } from './store/store.js';

/** A type that a hook is for; `*`: all. */
export type HookType = ResourceType | '*';

/** The resource that a hook for a type gets. */
export type HookResource<T extends HookType> = T extends ResourceType ? ResourceOf<T> : AnyResource;

/**
 * Changes a resource before it is validated and stored, or refuses it by throwing `WriteRefused`. It gets a copy, which it may change;
 * what it returns is taken instead. It may be called several times for one write, so it has no effects of its own.
 */
export type BeforeWriteHook<T extends HookType> = (
  resource: HookResource<T>,
  context: WriteContext,
) => HookResource<T> | void | Promise<HookResource<T> | void>;

/** A version that was committed. */
export interface WrittenVersion<T extends HookType> {
  readonly type: string;
  readonly id: string;
  readonly versionId: string;
  /** An instant of FHIR. */
  readonly lastUpdated: string;
  readonly action: 'create' | 'update' | 'delete';
  /** The resource as it was stored; undefined: it was deleted. */
  readonly resource: HookResource<T> | undefined;
}

/** Learns of a version after it was committed. The answer to the client does not wait for it. */
export type AfterWriteHook<T extends HookType> = (written: WrittenVersion<T>) => void | Promise<void>;

/** A version that a client got by its id. */
export interface ReadVersion<T extends HookType> extends Omit<WrittenVersion<T>, 'action' | 'resource'>, ReadContext {
  /** The resource as it is stored, whatever `_summary` or `_elements` left of it for the client. */
  readonly resource: HookResource<T>;
}

/** Learns of a read or vread that was allowed and found something. The answer to the client does not wait for it. */
export type ReadHook<T extends HookType> = (version: ReadVersion<T>) => void | Promise<void>;

/** Adds hooks: `fhir.on.beforeWrite('Patient', (patient) => …)`. Hooks of one type run in the order in which they were added. */
export interface KilnHooks {
  beforeWrite<T extends HookType>(type: T, hook: BeforeWriteHook<T>): void;
  afterWrite<T extends HookType>(type: T, hook: AfterWriteHook<T>): void;
  read<T extends HookType>(type: T, hook: ReadHook<T>): void;
}

/** Error that a `beforeWrite` hook throws to refuse a write: 422, with these issues. */
export class WriteRefused extends Error {
  readonly issues: readonly [Issue, ...Issue[]];

  /** @param why a text, or an OperationOutcome whose issues are passed on */
  constructor(why: string | OperationOutcome) {
    const [first, ...others] = typeof why === 'string' ? [issueOf(why)] : (why.issue ?? []).map(readIssue);
    const issues = [first ?? issueOf('The application refuses this resource'), ...others] as const;
    super(issues[0].text);
    this.name = 'WriteRefused';
    this.issues = issues;
  }
}

function issueOf(text: string): Issue {
  return { code: 'write-refused', text };
}

function readIssue({ code, details, diagnostics, expression }: NonNullable<OperationOutcome['issue']>[0]): Issue {
  const place = expression?.[0];
  return {
    ...issueOf(details?.text ?? diagnostics ?? 'The application refuses this resource'),
    ...(code !== undefined && code !== null && { issue: code }),
    ...(place !== undefined && place !== null && { expression: place }),
  };
}

/** The hooks of one application, and what calls them. */
export interface Hooks {
  readonly on: KilnHooks;
  readonly beforeWrite: BeforeWrite;
  /** Has the hooks learn of a read. */
  afterRead(log: Pick<Log, 'defect'>): AfterRead;
  /** A store whose writes the hooks learn of. */
  watch(store: Store, log: Pick<Log, 'defect'>): Store;
  /** Resolves when no hook is running any more. */
  settled(): Promise<void>;
}

interface Added<H> {
  readonly type: HookType;
  readonly hook: H;
}

/** Hooks that can be added at any time. */
export function createHooks(): Hooks {
  const before: Added<BeforeWriteHook<'*'>>[] = [];
  const after: Added<AfterWriteHook<'*'>>[] = [];
  const read: Added<ReadHook<'*'>>[] = [];
  const running = new Set<Promise<void>>();

  const notify = (changes: readonly Change[], versions: readonly StoredVersion[], log: Pick<Log, 'defect'>): void => {
    for (const [i, version] of versions.entries()) {
      const hooks = of(after, version.type);
      if (hooks.length === 0) continue;
      start(hooks, () => describe(version, changes[i]), log);
    }
  };

  /** Runs hooks one after another, beside what goes on. */
  function start<V>(hooks: readonly Learns<V>[], describeIt: () => V, log: Pick<Log, 'defect'>): void {
    const work = runAfter(hooks, describeIt).catch((error: unknown) => log.defect('none', error));
    running.add(work);
    void work.then(() => running.delete(work));
  }

  return {
    on: {
      beforeWrite: (type, hook) => void before.push({ type, hook: hook as unknown as BeforeWriteHook<'*'> }),
      afterWrite: (type, hook) => void after.push({ type, hook: hook as unknown as AfterWriteHook<'*'> }),
      read: (type, hook) => void read.push({ type, hook: hook as unknown as ReadHook<'*'> }),
    },
    afterRead: (log) => (version, context) => {
      if (read.length === 0) return;
      const hooks = of(read, version.type);
      if (hooks.length > 0) start(hooks, () => ({ ...describeLive(version), ...context }), log);
    },
    beforeWrite: {
      has: (type) => before.some((each) => isFor(each, type)),
      async run(resource, context) {
        let current = resource as unknown as AnyResource;
        for (const hook of of(before, resource.resourceType))
          current = (await guarded(hook, current, context)) ?? current;
        return current;
      },
    },
    watch(store, log) {
      const watched = Object.create(store) as Store;
      return Object.assign(watched, {
        async write(...given: Parameters<Store['write']>) {
          const versions = await store.write(...given);
          if (after.length > 0) notify(given[0], versions, log);
          return versions;
        },
      });
    },
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

function isFor({ type }: Added<unknown>, resourceType: string): boolean {
  return type === '*' || type === resourceType;
}

function of<H>(added: readonly Added<H>[], type: string): readonly H[] {
  return added.filter((each) => isFor(each, type)).map(({ hook }) => hook);
}

async function guarded(hook: BeforeWriteHook<'*'>, resource: AnyResource, context: WriteContext) {
  try {
    return await hook(resource, context);
  } catch (error) {
    if (error instanceof WriteRefused) throw FhirError.of(error.issues);
    throw error instanceof Error ? error : new Error('a beforeWrite hook threw what is no Error', { cause: error });
  }
}

type Learns<V> = (version: V) => void | Promise<void>;

async function runAfter<V>(hooks: readonly Learns<V>[], describeIt: () => V): Promise<void> {
  // Not before the store has returned to its caller.
  await Promise.resolve();
  const version = describeIt();
  for (const hook of hooks) await hook(version);
}

function describe(stored: StoredVersion, change?: Change): WrittenVersion<'*'> {
  const action = stored.json === undefined ? 'delete' : change?.expected === 0 ? 'create' : 'update';
  return { ...stampOf(stored), action, resource: stored.json === undefined ? undefined : contentOf(stored.json) };
}

function describeLive(stored: StoredVersion): Omit<ReadVersion<'*'>, keyof ReadContext> {
  return { ...stampOf(stored), resource: contentOf(stored.json ?? 'null') };
}

function stampOf({ type, id, version, lastUpdated }: StoredVersion) {
  return { type, id, versionId: String(version), lastUpdated: new Date(lastUpdated).toISOString() };
}

function contentOf(json: string): AnyResource {
  return JSON.parse(json) as Resource as unknown as AnyResource;
}
