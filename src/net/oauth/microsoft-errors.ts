/** What to do about errors of Microsoft's sign-in (learn.microsoft.com, “Microsoft Entra authentication error codes”). */

const NOT_USED = 'The sign-in was not used for too long. Sign in again.';
const NO_CONSENT = 'Nobody has consented to the permissions. Sign in again, and accept them.';
const SECOND_FACTOR = 'Microsoft asks for a second factor. Sign in again.';

const ADVICE: Record<number, string> = {
  50011: 'The app must allow http://localhost, as a mobile and desktop app.',
  50057: 'The account is disabled. Ask its administrator to enable it.',
  50076: SECOND_FACTOR,
  50079: SECOND_FACTOR,
  50173: 'The password has changed, or the sign-in was revoked. Sign in again.',
  53003:
    'Conditional Access blocks the app. Ask the administrator of the account for an exception.',
  65001: NO_CONSENT,
  65004: NO_CONSENT,
  70008: NOT_USED,
  700082: NOT_USED,
  90023: 'The app is registered as a single-page app. Register a desktop app instead.',
  700016: 'The directory has no such app. Check "client_id" and the tenant in the URLs.',
  7000215: 'The client secret is wrong. Set "client_secret" to its value, not its ID.',
  7000222: 'The client secret has expired. Create a new one in Entra.',
};

/** What to do about an error description; null if nothing special is known. */
export const adviceOn = (description = ''): string | null =>
  ADVICE[Number(/\bAADSTS(\d+)\b/.exec(description)?.[1])] ?? null;
