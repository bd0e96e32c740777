/** What to do about errors of Microsoft's sign-in (learn.microsoft.com, “Microsoft Entra authentication error codes”). */

const EXPIRED_GRANT = 'Sign in again.';
const ADVICE: Record<number, string> = {
  50057: 'The account is disabled. Ask its administrator to enable it.',
  50076: 'The account needs a second factor. Sign in again, and confirm it.',
  50079: 'The account needs a second factor. Sign in again, and set it up.',
  50173: `The password was changed. ${EXPIRED_GRANT}`,
  53003: 'Conditional Access blocks the sign-in. Ask the administrator of the account for an exception.',
  65001: 'Nobody has consented to the permissions of the app. Sign in again, and accept them.',
  70000: `The sign-in was revoked. ${EXPIRED_GRANT}`,
  70008: `The sign-in has expired. ${EXPIRED_GRANT}`,
  700016: 'The directory has no such app. Check "client_id" and the tenant in the URLs.',
  700082: `The sign-in was not used for too long. ${EXPIRED_GRANT}`,
  7000215: 'The client secret is wrong. Enter its value, not its ID.',
  7000222: 'The client secret has expired. Create a new one in Entra.',
};

/** Empty for other texts. */
export function microsoftAdvice(description = ''): string {
  const code = /\bAADSTS(\d{5,7})\b/.exec(description)?.[1];
  const advice = ADVICE[Number(code)];
  return advice === undefined ? '' : ` ${advice}`;
}
