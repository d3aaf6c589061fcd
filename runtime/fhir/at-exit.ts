const works = new Set<() => void>();

/**
 * Has some work done when the process exits. All of it has one listener: many loggers and temporary stores in one process are no leak.
 *
 * @returns has it not done any more
 */
export function atExit(work: () => void): () => void {
  if (works.size === 0) process.once('exit', runAll);
  works.add(work);
  return () => {
    works.delete(work);
    if (works.size === 0) process.off('exit', runAll);
  };
}

function runAll(): void {
  for (const work of works) work();
}
