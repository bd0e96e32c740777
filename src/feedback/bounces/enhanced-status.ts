/** Explains enhanced status codes by their subject and detail. */

/**
 * By subject and detail. From RFC 3463; 1.8 and 7.8 to 7.19 from the registry of RFC 5248, 1.10 and 7.27 from
 * RFC 7505.
 */
const MEANINGS: Record<string, string> = {
  '1.0': 'There is a problem with the address.',
  '1.1': 'The mailbox does not exist. Remove the address from your list.',
  '1.2': 'The domain of the recipient does not exist or does not accept mail. Check its spelling.',
  '1.3': 'The address is not valid. Check its spelling.',
  '1.4': 'The address matches several mailboxes.',
  '1.6': 'The mailbox has moved, and mail is not forwarded.',
  '1.7': 'The address of the sender is not valid.',
  '1.8': 'The domain of the sender does not exist in DNS or does not accept mail.',
  '1.10': 'The domain of the recipient does not accept mail (null MX).',
  '2.0': 'There is a problem with the mailbox.',
  '2.1': 'The mailbox exists but is disabled.',
  '2.2': 'The mailbox is full.',
  '2.3': 'The message is larger than the mailbox accepts.',
  '2.4': 'The mailing list behind the address does not work.',
  '3.0': 'The recipient’s server has a problem.',
  '3.1': 'The recipient’s server is out of storage.',
  '3.2': 'The recipient’s server does not accept mail at the moment.',
  '3.3': 'The recipient’s server does not support a feature that the message requires.',
  '3.4': 'The message is larger than the server accepts.',
  '3.5': 'The server is not configured correctly.',
  '4.0': 'There is a problem with the network.',
  '4.1': 'The recipient’s server did not answer.',
  '4.2': 'The connection to the recipient’s server was lost.',
  '4.3': 'A directory server, such as DNS, did not answer.',
  '4.4': 'The mail could not be routed. Check the MX records of the domain.',
  '4.5': 'The recipient’s server is overloaded.',
  '4.6': 'The message went in a loop between servers.',
  '4.7': 'The message could not be delivered in time.',
  '5.0': 'An SMTP protocol error occurred.',
  '5.1': 'The server rejects an SMTP command.',
  '5.2': 'The server could not read an SMTP command.',
  '5.3': 'The message has too many recipients.',
  '5.4': 'The server rejects a parameter of an SMTP command.',
  '5.5': 'The servers use different versions of a protocol.',
  '6.0': 'The server cannot process the content of the message.',
  '6.1': 'The server does not accept this type of content.',
  '6.2': 'The content must be converted, which is not allowed.',
  '6.3': 'The content must be converted, which the server cannot do.',
  '6.4': 'The content was converted with losses.',
  '6.5': 'The conversion of the content failed.',
  '7.0': 'The server rejects the message because of a security policy that it does not name.',
  '7.1':
    'The sender is not allowed to send to this recipient. Blocklists, filters and rules of organizations use this code.',
  '7.2': 'The sender is not allowed to send to this mailing list.',
  '7.3': 'The message must be converted between security protocols, which is not possible.',
  '7.4': 'The server does not support a security feature of the message.',
  '7.5': 'The message could not be decrypted or verified.',
  '7.6': 'The server does not support the encryption of the message.',
  '7.7': 'The message was changed on the way.',
  '7.8': 'The user name or password for sending is wrong.',
  '7.9': 'The server requires a stronger method to sign in.',
  '7.10': 'The server accepts mail only over an encrypted connection.',
  '7.11': 'The server requires an encrypted connection to sign in.',
  '7.13': 'The account that sends is disabled.',
  '7.17': 'The mailbox has a new owner since the address was last confirmed.',
  '7.18': 'The domain of the recipient has a new owner since the address was last confirmed.',
  '7.19': 'The server cannot tell whether the mailbox has a new owner.',
  '7.27':
    'The domain of the sender does not accept mail (null MX), so the server accepts none from it.',
};

const SUBJECTS: Record<string, string> = {
  '0': 'The reply has no detailed code.',
  '1': MEANINGS['1.0']!,
  '2': MEANINGS['2.0']!,
  '3': MEANINGS['3.0']!,
  '4': MEANINGS['4.0']!,
  '5': MEANINGS['5.0']!,
  '6': MEANINGS['6.0']!,
  '7': 'The server rejects the message for a security or policy reason.',
};

/** What a code such as `5.1.1` means. null for text that is no code. */
export function explainStatus(code: string): string | null {
  const [, subject, detail] = /^[245]\.(\d{1,3})\.(\d{1,3})$/.exec(code) ?? [];
  if (subject === undefined) return null;
  return MEANINGS[`${subject}.${detail}`] ?? SUBJECTS[subject] ?? SUBJECTS['0']!;
}
