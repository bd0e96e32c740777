/** The database cannot be used for a moment, which clients should know. */

import { AppError } from '../lib/errors.ts';
import {
  DatabaseUnavailableError,
  isDiskError,
  isLocked,
  isOutOfSpace,
  isReadOnly,
} from '../store/errors.ts';
import { outOfSpace } from './disk-space.ts';

/** `unavailable` with the reason; null for every other error. */
export function unavailableDatabase(error: unknown): AppError | null {
  if (isOutOfSpace(error)) return outOfSpace();
  if (isReadOnly(error))
    return new AppError(
      'unavailable',
      'The server cannot write to its database. Ask your administrator to check its disk.',
    );
  if (isDiskError(error))
    return new AppError(
      'unavailable',
      'The server cannot read or write its database. Ask your administrator to check its disk.',
    );
  if (error instanceof DatabaseUnavailableError)
    return new AppError(
      'unavailable',
      'The server cannot use its database at the moment. Try again in 5 seconds.',
      [],
      { 'retry-after': '5' },
    );
  if (isLocked(error))
    return new AppError(
      'unavailable',
      'Another program is using the database. Try again in 5 seconds.',
      [],
      { 'retry-after': '5' },
    );
  return null;
}
