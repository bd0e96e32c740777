/** Refuses a list for those of its values that cannot be taken, each named by its place. */

import { AppError } from './errors.ts';

const MOST_NAMED = 10;
const MOST_ERRORS = 50;

/** `message` follows the name of the value: "is the id of no domain". Throws `validation_failed`. */
export function refuseEach(
  field: string,
  values: string[],
  isWrong: (value: string) => boolean,
  message: string,
): void {
  const errors = values.flatMap((value, i) =>
    isWrong(value) ? [{ param: `${field}.${i}`, code: 'invalid', message }] : [],
  );
  if (errors.length === 0) return;
  const names = errors.slice(0, MOST_NAMED).map(({ param }) => param);
  throw new AppError(
    'validation_failed',
    `Wrong: ${names.join(', ')}.`,
    errors.slice(0, MOST_ERRORS),
  );
}
