/** Rules for new passwords: a length range, and no commonly used passwords (NIST SP 800-63B §3.1.1). */

import * as v from 'valibot';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../config/readers.ts';
import { maxCharacters } from '../http/schemas.ts';
import { invalidParams } from '../lib/errors.ts';

/** The most common passwords of sufficient length in lower case, and the name of this program. */
const COMMON_PASSWORDS = new Set([
  '0123456789',
  '0987654321',
  '1234567890',
  '12345678910',
  '123456789a',
  '1q2w3e4r5t',
  '1qaz2wsx3edc',
  'abcdefghij',
  'administrator',
  'changeme123',
  'deliverability',
  'iloveyou123',
  'letmein123',
  'p@ssw0rd123',
  'password12',
  'password123',
  'password1234',
  'passwordpassword',
  'q1w2e3r4t5',
  'qwerty12345',
  'qwerty123456',
  'qwertyuiop',
  'welcome123',
]);

/** Counts code points. There are no composition rules. */
function hasAllowedLength(password: string): boolean {
  const { length } = [...password];
  return length >= MIN_PASSWORD_LENGTH && length <= MAX_PASSWORD_LENGTH;
}

const LENGTH_MESSAGE = `must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`;

/** A new password in a request. `checkPassword` checks the other rules. */
export const NewPassword = v.pipe(
  v.string('must be a string'),
  v.metadata({
    jsonSchema: { type: 'string', minLength: MIN_PASSWORD_LENGTH, maxLength: MAX_PASSWORD_LENGTH },
  }),
  v.check(hasAllowedLength, LENGTH_MESSAGE),
);

/** An existing password in a request. A value too long to be a password is rejected without hashing. */
export const EnteredPassword = v.pipe(
  v.string('must be a string'),
  maxCharacters(4 * MAX_PASSWORD_LENGTH, `must have at most ${4 * MAX_PASSWORD_LENGTH} characters`),
);

/** The problem with a new password, such as "must not be the email address"; null if it is acceptable. */
export function findPasswordProblem(password: string, email: string): string | null {
  if (!hasAllowedLength(password)) return LENGTH_MESSAGE;
  if (!password.isWellFormed()) return 'must be well-formed Unicode';
  const normalized = password.normalize('NFKC').toLowerCase().trim();
  const address = email.toLowerCase();
  if (normalized === address || normalized === address.split('@')[0])
    return 'must not be the email address';
  if (COMMON_PASSWORDS.has(normalized) || /^(.)\1*$/su.test(normalized))
    return 'must not be a commonly used password';
  return null;
}

/** Throws `validation_failed` if the password is not acceptable. */
export function checkPassword(password: string, email: string, param = 'password'): void {
  const message = findPasswordProblem(password, email);
  if (message !== null) throw invalidParams([{ param, code: 'invalid', message }]);
}
