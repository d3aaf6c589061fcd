import { storeBusy, translateMongoError } from './mongo-errors.js';

/**
 * What the work gives, or after so many milliseconds an error, whatever the driver still waits for.
 *
 * @param late makes the error
 */
export async function within<T>(time: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), time);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The same for what can be done again without harm, its failure put into words for clients.
 *
 * @throws FhirError `store-busy`, `store-unavailable`
 */
export async function answered<T>(time: number, work: Promise<T>): Promise<T> {
  try {
    return await within(time, work, storeBusy);
  } catch (error) {
    throw translateMongoError(error);
  }
}
