/** What a new password must be: long enough, and not what everybody tries first (NIST SP 800-63B §3.1.1). */

import * as v from 'valibot';
import { MAX_PASSWORD, MIN_PASSWORD } from '../config/readers.ts';
import { AppError } from '../lib/errors.ts';

/** The commonest of those that are long enough, lower case, and the name of this program. */
const COMMONEST = new Set([
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

/** In code points; no rules of composition. */
function hasLength(password: string): boolean {
  const { length } = [...password];
  return length >= MIN_PASSWORD && length <= MAX_PASSWORD;
}

const LENGTH = `must have ${MIN_PASSWORD} to ${MAX_PASSWORD} characters`;

/** A password to be set, in the body of a request; `checkPassword` looks at what else it may not be. */
export const NewPassword = v.pipe(
  v.string('must be text'),
  v.metadata({
    jsonSchema: { type: 'string', minLength: MIN_PASSWORD, maxLength: MAX_PASSWORD },
  }),
  v.check(hasLength, LENGTH),
);

/** A password to be compared; longer than any that could be set is refused unread. */
export const GivenPassword = v.pipe(
  v.string('must be text'),
  v.maxLength(4 * MAX_PASSWORD, 'is longer than a password can be'),
);

/** What is wrong with a new password for the account of that address, after "must"; null where it will do. */
export function passwordFault(password: string, email: string): string | null {
  if (!hasLength(password)) return LENGTH;
  if (!password.isWellFormed()) return 'must be well-formed Unicode';
  const plain = password.normalize('NFKC').toLowerCase().trim();
  const address = email.toLowerCase();
  if (plain === address || plain === address.split('@')[0]) return 'must not be the e-mail address';
  if (COMMONEST.has(plain) || /^(.)\1*$/su.test(plain))
    return 'must not be one of the passwords that everybody tries first';
  return null;
}

/** Throws `validation_failed` that names the field. */
export function checkPassword(password: string, email: string, param = 'password'): void {
  const fault = passwordFault(password, email);
  if (fault !== null)
    throw new AppError('validation_failed', `Wrong: ${param}.`, [
      { param, code: 'invalid', message: fault },
    ]);
}
