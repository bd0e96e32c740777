/** Shares of own and forged mail of a domain: invented domains, with the right answers written before the first run. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SharedSource, sharesOf } from '../../src/feedback/mail-shares.ts';
import { kindOf } from '../../src/feedback/sources/kind.ts';
import { formatShare, NO_MAIL, sharesInWords } from '../../src/figures/mail-shares.ts';

interface Invented {
  /** The basis and the subject of the source. */
  key: string;
  messages: number;
  /** Default none. */
  passed?: number;
  /** What passes with alignment: SPF as well, or only a signature. */
  spf?: boolean;
  mark?: 'own' | 'forwarder' | 'foreign';
  claim?: string;
}

/** The kinds are those that the product gives these sources. */
const named = ({ key, messages, passed = 0, spf = true, mark, claim }: Invented): SharedSource => {
  const totals = { messages, passed, dkim: passed, spf: spf ? passed : 0, forwarded: 0 };
  const source = { key, mark: mark ?? null, claim: claim ?? null };
  return { ...source, messages, passed, kind: kindOf(source, totals) };
};

const OWN: Invented = { key: 'own mail.example.com', messages: 110, passed: 110 };
const FORGER: Invented = { key: 'network 203.0.114.0/24', messages: 890 };

interface Domain {
  title: string;
  record: string | null | undefined;
  isParked?: boolean;
  sources: Invented[];
  /** Messages whose source is not known yet. */
  unnamed?: number;
  says: string | null;
}

const DOMAINS: Domain[] = [
  {
    title: 'a shop that others forge, with p=reject',
    record: 'v=DMARC1; p=reject',
    sources: [OWN, FORGER],
    says: 'Your own mail: 100% passes DMARC; 89% of all mail with your name is forged.',
  },
  {
    title: 'the same with p=none: the domain does not say yet that failing mail is not its own',
    record: 'v=DMARC1; p=none',
    sources: [OWN, FORGER],
    says: 'Your own mail: 100% passes DMARC; 89% of all mail with your name looks forged.',
  },
  {
    title: 'a policy for a fifth of the mail, or with an exception for subdomains, says no more',
    record: 'v=DMARC1; p=quarantine; pct=20',
    sources: [OWN, FORGER],
    says: 'Your own mail: 100% passes DMARC; 89% of all mail with your name looks forged.',
  },
  {
    title: 'a new sender that authenticates nothing: all of it may be own mail',
    record: 'v=DMARC1; p=none',
    sources: [FORGER],
    says: '100% of all mail with your name is from sources you have not judged yet.',
  },
  {
    title: 'the same after somebody published p=reject too early',
    record: 'v=DMARC1; p=reject',
    sources: [FORGER],
    says: '100% of all mail with your name is from sources you have not judged yet.',
  },
  {
    title: 'a parked domain, whose DNS says that it sends nothing',
    record: 'v=DMARC1; p=none',
    isParked: true,
    sources: [FORGER, { key: 'service mailchimp', messages: 10 }],
    says: '100% of all mail with your name is forged.',
  },
  {
    title: 'a parked domain that sends after all',
    record: 'v=DMARC1; p=none',
    isParked: true,
    sources: [OWN, FORGER],
    says: 'Your own mail: 100% passes DMARC; 89% of all mail with your name looks forged.',
  },
  {
    title: 'a newsletter service in the SPF record that is not set up',
    record: 'v=DMARC1; p=none',
    sources: [
      { key: 'own mail.example.com', messages: 900, passed: 900 },
      { key: 'service brevo', messages: 100, claim: 'spf' },
    ],
    says: 'Your own mail: 90% passes DMARC.',
  },
  {
    title: 'a service that never passes and that nothing claims, even with p=reject',
    record: 'v=DMARC1; p=reject',
    sources: [
      { key: 'own mail.example.com', messages: 70, passed: 70 },
      { key: 'service mailchimp', messages: 30 },
    ],
    says: 'Your own mail: 100% passes DMARC; 30% of all mail with your name is from sources you have not judged yet.',
  },
  {
    title: 'a source that a person marked as not theirs, with p=none',
    record: 'v=DMARC1; p=none',
    sources: [
      { ...OWN, messages: 50, passed: 50 },
      { ...FORGER, messages: 50, mark: 'foreign' },
    ],
    says: 'Your own mail: 100% passes DMARC; 50% of all mail with your name is forged.',
  },
  {
    title: 'forwarded mail is own mail that others passed on: neither',
    record: 'v=DMARC1; p=reject',
    sources: [
      { ...OWN, messages: 80, passed: 80 },
      { key: 'forwarder Forward Email', messages: 20, passed: 15, spf: false },
    ],
    says: 'Your own mail: 100% passes DMARC; 20% of all mail with your name was passed on by forwarders.',
  },
  {
    title: 'all of it at once',
    record: 'v=DMARC1; p=quarantine',
    sources: [
      { ...OWN, messages: 500, passed: 495 },
      { ...FORGER, messages: 380 },
      { key: 'rest others', messages: 20 },
      { key: 'forwarder Forward Email', messages: 40, passed: 40, spf: false },
      { key: 'host crm.example.net', messages: 40, passed: 10, spf: false },
    ],
    unnamed: 20,
    says: 'Your own mail: 99% passes DMARC; 38% of all mail with your name is forged; 2% looks forged; 4% was passed on by forwarders; 6% is from sources you have not judged yet.',
  },
  {
    title: 'a record that was not looked up yet declares nothing',
    record: undefined,
    sources: [OWN, FORGER],
    says: 'Your own mail: 100% passes DMARC; 89% of all mail with your name looks forged.',
  },
  { title: 'a domain without reports', record: null, sources: [], says: null },
];

for (const { title, record, isParked = false, sources, unnamed = 0, says } of DOMAINS)
  test(`Shares of mail: ${title}`, () => {
    const messages = sources.reduce((sum, source) => sum + source.messages, unnamed);
    const shares = sharesOf(sources.map(named), { messages, record, isParked });
    assert.equal(sharesInWords(shares), says);
    const { own_passed: _, ...parts } = shares;
    assert.equal(
      Object.values(parts).reduce((sum, part) => sum + part, 0),
      messages,
    );
  });

test('A policy for subdomains that does not stop mail declares nothing', () => {
  const sources = [OWN, FORGER].map(named);
  const shares = sharesOf(sources, {
    messages: 1000,
    record: 'v=DMARC1; p=reject; sp=none',
    isParked: false,
  });
  assert.deepEqual(shares, { ...NO_MAIL, own: 110, own_passed: 110, suspected: 890 });
});

test('formatShare rounds down, so that 100% means all and 0% means none', () => {
  const shares = [
    [0, 5],
    [1, 100_000],
    [1, 3],
    [57, 100],
    [99_999, 100_000],
    [7, 7],
  ] as const;
  assert.deepEqual(
    shares.map(([part, whole]) => formatShare(part, whole)),
    ['0%', '<0.1%', '33.3%', '57%', '99.9%', '100%'],
  );
});
