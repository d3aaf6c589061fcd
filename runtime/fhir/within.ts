/**
 * What the work gives, or after so many milliseconds an error. The work goes on all the same, and what becomes of it then
 * nobody is told.
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
