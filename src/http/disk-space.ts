/** Refuses requests that the disk has no space for. */

import type { App } from '../app.ts';
import { AppError } from '../lib/errors.ts';

export const outOfSpace = (): AppError =>
  new AppError(
    'unavailable',
    'The server is out of disk space. Ask your administrator to free up space.',
  );

/** For messages to tests. Throws `unavailable`. */
export async function requireSpace({ hasSpace }: Pick<App, 'hasSpace'>): Promise<void> {
  if (!(await hasSpace())) throw outOfSpace();
}

/** For all else, which must not use the space that is reserved for them. Throws `unavailable`. */
export async function requireSpare({ hasSpare }: Pick<App, 'hasSpare'>): Promise<void> {
  if (!(await hasSpare())) throw outOfSpace();
}
