/** Shares of own, forged and forwarded mail of a domain: the figures, and the sentence that all surfaces show. */

import { valuesOf } from './figure.ts';

/** Numbers of messages. Each message is in one of them, and `own_passed` is a part of `own`. */
export const MAIL_SHARES = [
  { name: 'own', description: 'Messages of your own servers and services.' },
  { name: 'own_passed', description: 'Of these, how many pass DMARC.' },
  {
    name: 'forged',
    description:
      'Messages that others sent in the name of the domain. Their sources are marked as not yours, or never pass while your DNS says that failing mail is not yours. An enforced policy says so, and a domain that sends no mail.',
  },
  {
    name: 'suspected',
    description:
      'Messages that look forged: they never pass, and nothing shows that they are yours, but the policy does not say that they are not.',
  },
  { name: 'forwarded', description: 'Messages that forwarders passed on.' },
  {
    name: 'unjudged',
    description:
      'Messages of sources that may be yours: you have not judged them, or the service is still identifying them.',
  },
] as const;

export type MailShares = Record<(typeof MAIL_SHARES)[number]['name'], number>;

export const NO_MAIL: MailShares = valuesOf(MAIL_SHARES, 'name', () => 0);

export const addShares = (a: MailShares, b: MailShares): MailShares =>
  valuesOf(MAIL_SHARES, 'name', ({ name }) => a[name] + b[name]);

const allOf = ({ own, forged, suspected, forwarded, unjudged }: MailShares): number =>
  own + forged + suspected + forwarded + unjudged;

/** To one decimal, rounded down: 100% always means all, and 0% always means none. */
export function formatShare(part: number, whole: number): string {
  if (part <= 0) return '0%';
  const percent = Math.floor((part / whole) * 1000 + 1e-9) / 10;
  return percent === 0 ? '<0.1%' : `${percent}%`;
}

const OTHERS = [
  ['forged', 'is forged'],
  ['suspected', 'looks forged'],
  ['forwarded', 'was passed on by forwarders'],
  ['unjudged', 'is from sources you have not judged yet'],
] as const;

/** "your own mail: 100% passes DMARC", or null if none is known. */
export const ownInWords = ({ own, own_passed }: MailShares): string | null =>
  own === 0 ? null : `your own mail: ${formatShare(own_passed, own)} passes DMARC`;

/** "89% of all mail with your name is forged; 3% is from sources you have not judged yet", or null if all is your own. */
export function othersInWords(shares: MailShares): string | null {
  const all = allOf(shares);
  const parts = OTHERS.filter(([name]) => shares[name] > 0).map(
    ([name, is], index) =>
      `${formatShare(shares[name], all)}${index === 0 ? ' of all mail with your name' : ''} ${is}`,
  );
  return parts.length === 0 ? null : parts.join('; ');
}

/** The whole sentence; null without messages. */
export function sharesInWords(shares: MailShares): string | null {
  const all = [ownInWords(shares), othersInWords(shares)].filter((part) => part !== null);
  if (all.length === 0) return null;
  const text = all.join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
