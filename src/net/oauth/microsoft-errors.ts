/** What to do about errors of Microsoft's sign-in (learn.microsoft.com, “Microsoft Entra authentication error codes”). */

const ADVICE: Record<number, string> = {
  50057: 'The account is disabled. Ask its administrator to enable it.',
  50076: 'The account needs a second factor.',
  50079: 'The account needs a second factor. Set it up first.',
  53003:
    'Conditional Access blocks the app. Ask the administrator of the account for an exception.',
  65001: 'Nobody has accepted the permissions of the app yet.',
  700016: 'The directory has no such app. Check "client_id" and the tenant in the URLs.',
  7000215: 'The client secret is wrong. Set "client_secret" to its value, not its ID.',
  7000222: 'The client secret has expired. Create a new one in Entra.',
};

/** Empty for other texts. */
export function microsoftAdvice(description = ''): string {
  const advice = ADVICE[Number(/\bAADSTS(\d+)\b/.exec(description)?.[1])];
  return advice === undefined ? '' : ` ${advice}`;
}
