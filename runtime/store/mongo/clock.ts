import type { Db, MongoClient } from 'mongodb';

/** Greatest tolerated difference between the clock of this machine and that of the server, in milliseconds. */
const MAX_OFFSET = 5000;

/** Interval between two measurements, in milliseconds. */
const PAUSE = 30_000;

/** Measurements with a longer round trip are discarded as too inaccurate. In milliseconds. */
const MAX_ROUND_TRIP = 2000;

/**
 * Greatest drift between the wall clock and the monotonic clock of this process, in milliseconds. More means that the wall clock
 * was set or that the machine slept, so the server is measured again.
 */
const MAX_PARTED = 500;

/** Clock of the server: processes on several machines agree on its time within the error of a round trip. */
export interface ServerClock {
  /** Milliseconds since the epoch. Goes back only when a measurement corrects it. */
  now(): number;
  /** Measures again if the clocks of this process have drifted apart. Call it before reading a time that is stored. */
  settle(): Promise<void>;
  close(): void;
}

/**
 * Measures the server's clock now, every half minute, and at each new primary. Between measurements the process's
 * monotonic clock is used, which does not change when the wall clock is set.
 *
 * @throws Error where it differs from the machine's by more than 5 s
 */
export async function openServerClock(client: MongoClient, db: Db): Promise<ServerClock> {
  let offset = 0;
  let parted = 0;
  let primary: string | undefined;
  const { timeOrigin } = performance;
  const monotonic = (): number => timeOrigin + performance.now();

  async function sample() {
    const sent = monotonic();
    const { localTime, me } = (await db.command({ hello: 1 })) as { localTime: Date; me?: string };
    return { server: localTime.getTime(), me, sent, received: monotonic() };
  }

  async function measure(): Promise<void> {
    // The sample with the shortest round trip is the most accurate.
    const samples = [await sample(), await sample(), await sample()];
    const [best] = samples.sort((a, b) => a.received - a.sent - (b.received - b.sent));
    const { server, me, sent, received } = best!;
    if (received - sent > MAX_ROUND_TRIP) return;
    offset = server - (sent + received) / 2;
    parted = Date.now() - monotonic();
    primary = me;
  }

  await measure();
  const difference = offset - parted;
  if (Math.abs(difference) > MAX_OFFSET) {
    throw new Error(
      `the clock of this machine is ${(Math.abs(difference) / 1000).toFixed(1)} s ${difference > 0 ? 'behind' : 'ahead of'} ` +
        `that of the MongoDB server, and at most ${MAX_OFFSET / 1000} s are tolerated; have both set by NTP`,
    );
  }
  // A failed measurement is repeated later; until then the previous offset is accurate enough.
  const again = (): void => void measure().catch(() => {});
  const timer = setInterval(again, PAUSE).unref();
  const onChange = ({ newDescription }: { newDescription: { type: string; address: string } }): void => {
    if (newDescription.type === 'RSPrimary' && newDescription.address !== primary) again();
  };
  client.on('serverDescriptionChanged', onChange);
  return {
    now: () => monotonic() + offset,
    async settle() {
      if (Math.abs(Date.now() - monotonic() - parted) > MAX_PARTED) await measure();
    },
    close() {
      clearInterval(timer);
      client.off('serverDescriptionChanged', onChange);
    },
  };
}
