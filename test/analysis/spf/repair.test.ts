/** Damaged SPF records: what a person reads in them, what is proposed, and whom that lets send. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { spf } from '../../../src/analysis/checks/spf.ts';
import { spfRecord } from '../../../src/analysis/checks/spf-record.ts';
import { evaluateSpf } from '../../../src/analysis/spf/evaluate.ts';
import { isSpfRecord } from '../../../src/analysis/spf/record.ts';
import { readSpf, resemblesSpf, spfDamage } from '../../../src/analysis/spf/repair.ts';
import { isReplaced } from '../../../src/domains/merge-records.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { type Random, seededRandom } from '../../helpers/random.ts';
import { checkDomain, item } from '../domain/domains.ts';

const DOMAIN = 'kiln.example';
const MESSAGE = `From: Ann <ann@${DOMAIN}>\n\nHello\n`;

/** What is written, and the record that is meant; null if a part is not certain. */
const ROWS: [name: string, written: string, meant: string | null][] = [
  ['straight quotation marks', '"v=spf1 mx -all"', 'v=spf1 mx -all'],
  ['curly quotation marks and a dash', '\u201cv=spf1 mx \u2013all\u201d', 'v=spf1 mx -all'],
  ['a space before it', ' v=spf1 mx -all', 'v=spf1 mx -all'],
  ['a byte order mark', '\ufeffv=spf1 mx -all', 'v=spf1 mx -all'],
  ['a no-break space', 'v=spf1\u00a0mx -all', 'v=spf1 mx -all'],
  ['commas', 'v=spf1,mx,a:m.kiln.example,-all', 'v=spf1 mx a:m.kiln.example -all'],
  ['semicolons', 'v=spf1; mx; -all;', 'v=spf1 mx -all'],
  ['escaped characters', 'v=spf1\\ mx\\;\\ -all', 'v=spf1 mx -all'],
  ['no space after the version', 'v=spf1include:s.example ~all', 'v=spf1 include:s.example ~all'],
  ['only all after the version', 'v=spf1-all', 'v=spf1 -all'],
  ['spaces at the equals sign', 'v = spf1 mx -all', 'v=spf1 mx -all'],
  ['no v=', 'SPF1 mx ~all', 'v=spf1 mx ~all'],
  ['no number', 'v=spf mx ~all', 'v=spf1 mx ~all'],
  ['a line of a zone file', 'kiln.example. 300 IN TXT "v=spf1 mx -all"', 'v=spf1 mx -all'],
  ['the name of the domain', '@ v=spf1 mx -all', 'v=spf1 mx -all'],
  ['the type, and a field', 'TXT value: "v=spf1 mx -all"', 'v=spf1 mx -all'],
  ['the type and a colon', 'SPF: v=spf1,a,-all', 'v=spf1 a -all'],
  ['the name of a field', 'content=v=spf1 redirect=s.example', 'v=spf1 redirect=s.example'],
  ['the type, and a term that is unclear', 'spf=v=spf1 incl:s.example -all', null],
  ['two strings', '"v=spf1 include:s.exam" "ple -all"', 'v=spf1 include:s.example -all'],
  [
    'two strings, cut between terms',
    '"v=spf1 mx" "ip4:192.0.2.7 ~all"',
    'v=spf1 mx ip4:192.0.2.7 ~all',
  ],
  ['two strings that may be cut anywhere', '"v=spf1 include:s.example" "mx ~all"', null],
  [
    'spaces after colons',
    'v=spf1 ip4: 192.0.2.7 include: s.example -all',
    'v=spf1 ip4:192.0.2.7 include:s.example -all',
  ],
  ['spaces around colons', 'v=spf1 include : s.example -all', 'v=spf1 include:s.example -all'],
  [
    'no colons',
    'v=spf1 ip4 192.0.2.7 include s.example -all',
    'v=spf1 ip4:192.0.2.7 include:s.example -all',
  ],
  ['URLs', 'v=spf1 include:https://s.example/ -all', 'v=spf1 include:s.example -all'],
  ['a page', 'v=spf1 include:https://s.example/spf.html -all', null],
  [
    'an address in a:',
    'v=spf1 a:192.0.2.7 -mx:2001:db8::7 ~all',
    'v=spf1 ip4:192.0.2.7 -ip6:2001:db8::7 ~all',
  ],
  ['an address alone', 'v=spf1 192.0.2.7 -all', 'v=spf1 ip4:192.0.2.7 -all'],
  [
    'addresses in a list',
    'v=spf1 ip4:192.0.2.7,192.0.2.9 -all',
    'v=spf1 ip4:192.0.2.7 ip4:192.0.2.9 -all',
  ],
  ['a netmask', 'v=spf1 ip4:192.0.2.0/255.255.255.128 -all', 'v=spf1 ip4:192.0.2.0/25 -all'],
  ['brackets', 'v=spf1 ip6:[2001:db8::7] -all', 'v=spf1 ip6:2001:db8::7 -all'],
  ['a host in ip4:', 'v=spf1 ip4:m.kiln.example -all', 'v=spf1 a:m.kiln.example -all'],
  ['a service in ip4:', 'v=spf1 ip4:_spf.s.example -all', null],
  ['a name alone', 'v=spf1 s.example -all', null],
  ['a space before all', 'v=spf1 mx ~ all', 'v=spf1 mx ~all'],
  ['no space before all', 'v=spf1 include:s.example-all', 'v=spf1 include:s.example -all'],
  [
    'two records in one',
    'v=spf1 mx ~all v=spf1 include:s.example -all',
    'v=spf1 mx include:s.example -all',
  ],
  [
    'two records without a space',
    'v=spf1 mx ~allv=spf1 include:s.example ~all',
    'v=spf1 mx include:s.example ~all',
  ],
  [
    'hosts in a list',
    'v=spf1 a:m.kiln.example,n.kiln.example -all',
    'v=spf1 a:m.kiln.example a:n.kiln.example -all',
  ],
  ['other Latin letters', 'v=spf1 a:m\u00fcll.example ~all', 'v=spf1 a:xn--mll-hoa.example ~all'],
  ['a range', 'v=spf1 ip4:192.0.2.1-192.0.2.9 -all', null],
  ['no all', '"v=spf1 mx"', 'v=spf1 mx'],
  ['an unknown modifier', '"v=spf1 mx ra=postmaster -all"', 'v=spf1 mx ra=postmaster -all'],
  ['macros', '"v=spf1 exists:%{i}._spf.%{d2} -all"', 'v=spf1 exists:%{i}._spf.%{d2} -all'],
];

describe('readSpf', () => {
  for (const [name, written, meant] of ROWS)
    it(name, () => {
      assert.ok(resemblesSpf(written));
      const { record, unreadable } = readSpf([written]);
      assert.equal(record, meant, unreadable.join());
      assert.equal(unreadable.length === 0, meant !== null);
      if (meant !== null) assert.equal(readSpf([meant]).record, meant, 'read again');
      assert.equal(spfDamage(written) === null, isSpfRecord(written));
    });

  it('takes no other text for an SPF record', () => {
    for (const text of ['v=spf10 x', 'spf2.0/pra mx -all', 'v=DMARC1; p=none', 'spf', 'MS=ms1'])
      assert.equal(resemblesSpf(text), false, text);
  });
});

// The advice of a domain whose record is damaged.

const txt = (...records: string[]) => ({ TXT: records });

const WORLD: Zone = {
  [DOMAIN]: { A: ['198.51.100.1'], MX: ['10 mx.kiln.example'] },
  'mx.kiln.example': { A: ['198.51.100.2'], AAAA: ['2001:db8:1::2'] },
  'm.kiln.example': { A: ['198.51.100.3'] },
  '_spf.s.example': txt('v=spf1 ip4:203.0.113.0/25 -all'),
  'spf.t.example': txt('v=spf1 include:_spf.s.example ip6:2001:db8:2::/48 ~all'),
  'open.example': txt('v=spf1 +all'),
};

const worldWith = (records: string[]): Zone => ({
  ...WORLD,
  [DOMAIN]: { ...WORLD[DOMAIN], TXT: ['site=1', ...records] },
});

const MECHANISMS = [
  'a',
  'mx',
  'a:m.kiln.example',
  'ip4:192.0.2.7',
  'ip4:192.0.2.64/26',
  'ip6:2001:db8:3::/64',
  'include:_spf.s.example',
  'include:spf.t.example',
  '+mx:kiln.example',
];
/** Taken out by name. */
const HARMFUL = ['include:gone.example', 'include:open.example', `include:${DOMAIN}`];

const PROBES = [
  '198.51.100.1',
  '198.51.100.2',
  '198.51.100.3',
  '198.51.100.4',
  '192.0.2.7',
  '192.0.2.8',
  '192.0.2.63',
  '192.0.2.64',
  '192.0.2.127',
  '192.0.2.128',
  '203.0.113.0',
  '203.0.113.127',
  '203.0.113.128',
  '2001:db8:1::2',
  '2001:db8:1::3',
  '2001:db8:2::',
  '2001:db8:2:ffff::',
  '2001:db8:3::',
  '2001:db8:3::ffff',
  '2001:db8:3:1::',
  '2001:db8:4::',
  '9.9.9.9',
];

async function allowed(record: string): Promise<string[]> {
  const sender = `postmaster@${DOMAIN}`;
  const identity = { identity: 'mailfrom' as const, text: sender, sender, domain: DOMAIN };
  const results = await Promise.all(
    PROBES.map((address) =>
      evaluateSpf({ ...identity, assumed: null }, address, null, zoneResolver(worldWith([record]))),
    ),
  );
  return PROBES.filter((_, index) => results[index]!.result === 'pass');
}

/** Ways to damage a record with these terms. */
const DAMAGES: [name: string, (terms: string[]) => string][] = [
  ['quotation marks', (terms) => `"v=spf1 ${terms.join(' ')}"`],
  ['curly quotation marks', (terms) => `\u201cv=spf1 ${terms.join(' ')}\u201d`],
  ['a space in front', (terms) => ` v=spf1 ${terms.join(' ')}`],
  ['an invisible character', (terms) => `\u200bv=spf1 ${terms.join(' ')}`],
  ['commas', (terms) => `v=spf1,${terms.join(',')}`],
  ['commas and spaces', (terms) => `v=spf1 ${terms.join(', ')}`],
  ['semicolons', (terms) => `v=spf1; ${terms.join('; ')};`],
  ['escapes', (terms) => `v=spf1\\; ${terms.join('\\ ')}`],
  ['no space after the version', (terms) => `v=spf1${terms.join(' ')}`],
  ['spaces at the equals sign', (terms) => `v = spf1 ${terms.join(' ')}`],
  ['no v=', (terms) => `SPF1 ${terms.join(' ')}`],
  ['no number', (terms) => `v=spf ${terms.join(' ')}`],
  ['the type in front', (terms) => `spf=v=spf1 ${terms.join(' ')}`],
  ['the name in front', (terms) => `@ v=spf1 ${terms.join(' ')}`],
  ['a field in front', (terms) => `TXT Value: v=spf1 ${terms.join(' ')}`],
  ['a field and commas', (terms) => `"spf: v=spf1, ${terms.join(', ')}"`],
  ['tabs', (terms) => `v=spf1\t${terms.join('\t')}`],
  ['a line of a zone file', (terms) => `@ IN TXT "v=spf1 ${terms.join(' ')}"`],
  [
    'spaces after colons',
    (terms) => `v=spf1  ${terms.join(' ').replaceAll(/(ip[46]|include|a|mx):/g, '$1: ')}`,
  ],
  ['no colons', (terms) => `"v=spf1 ${terms.join(' ').replaceAll(/(ip[46]|include):/g, '$1 ')}"`],
  ['equals signs', (terms) => `v=spf1 ${terms.join(' ').replaceAll(/(ip[46]|include):/g, '$1=')}`],
  ['URLs', (terms) => `"v=spf1 ${terms.join(' ').replaceAll('include:', 'include:https://')}"`],
  ['ipv4:', (terms) => `v=spf1, ${terms.join(' ').replaceAll(/ip(?=[46]:)/g, 'ipv')}`],
  ['addresses in a:', (terms) => `"v=spf1 ${terms.join(' ').replaceAll(/ip[46]:/g, 'a:')}"`],
  ['a host in ip4:', (terms) => `"v=spf1 ${terms.join(' ').replaceAll('a:m.', 'ip4:m.')}"`],
  ['two strings', (terms) => `"v=spf1 ${terms.slice(0, -1).join(' ')}" " ${terms.at(-1)}"`],
  [
    'two records in one',
    (terms) => `v=spf1 ${terms.slice(0, 1).join(' ')} ~all v=spf1 ${terms.slice(1).join(' ')}`,
  ],
];

const pick = <T>(items: T[], random: Random): T => items[random.below(items.length)]!;

const shuffled = <T>(items: T[], random: Random): T[] =>
  items
    .map((item) => [random.below(1_000_000), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item);

const adviceOf = async (records: string[]) => {
  const { title, detail, fix, status } = item(
    await checkDomain(worldWith(records), {}, DOMAIN),
    'spf_record',
  );
  return { title, detail, fix, status };
};

describe('The record proposed for a damaged one', () => {
  for (const [name, damage] of DAMAGES)
    it(`allows the senders that can be read, and no others: ${name}`, async () => {
      const random = seededRandom(name.length * 31 + name.charCodeAt(0));
      for (let round = 0; round < 12; round += 1) {
        const kept = shuffled(MECHANISMS, random).slice(0, 1 + random.below(4));
        const harmful = random.chance(0.3) ? [pick(HARMFUL, random)] : [];
        const end = pick(['-all', '~all'], random);
        const written = damage([...shuffled([...kept, ...harmful], random), end]);
        if (isSpfRecord(written) && readSpf([written]).record === written) continue;
        const { title, fix } = await adviceOf([written]);
        const value = fix?.record?.value;
        assert.ok(value, `${written}: ${title} ${fix?.text}`);
        const meant = `v=spf1 ${[...kept, end].join(' ')}`;
        assert.deepEqual(await allowed(value), await allowed(meant), `${written} became ${value}`);
        assert.doesNotMatch(title, /^\S+ has no SPF record/);
        assert.ok(value.endsWith(end), value);
        for (const target of harmful) assert.match(fix.text, new RegExp(target), written);
        const after = await adviceOf([value]);
        assert.equal(after.status, 'pass', `${value}: ${after.title}`);
      }
    });

  it('is none if a term cannot be read, and the finding names the term', async () => {
    const random = seededRandom(7);
    for (const [, damage] of DAMAGES) {
      const terms = shuffled(['incl:_spf.s.example', ...MECHANISMS.slice(2, 5)], random);
      const { fix, title } = await adviceOf([damage([...terms, '-all'])]);
      assert.equal(fix?.record, undefined, title);
      assert.match(fix!.text, /"incl(?::|: |=)?(?:https:\/\/)?_spf|"incl:"/);
    }
  });
});

describe('No record is proposed', () => {
  const OPEN = [
    '"v=spf1 ip4:0.0.0.0/0 -all"',
    'v=spf1;ip4:0.0.0.0/0;-all',
    '"v=spf1 mx/0 -all"',
    'v=spf1 ip4:0.0.0.0/1 ip4:128.0.0.0/1;-all',
    'v=spf1 ip4:192.0.2.0/0.0.0.0 -all',
    'v=spf1 exists:m.kiln.example -all',
  ];
  const UNCERTAIN = [
    'v=spf1 include:_spf.s.example\u2022 mx -all',
    'v=spf1 include:_spf.s.example\u00c2 mx -all',
    'v=spf1 include:_spf.s.ex\u0430mple mx -all',
    'v=spf1 include:_spf.\u0455.example mx -all',
    'v=spf1 include:_spf.s.examplea:m.kiln.example ip4:192.0.2.7 -all',
    'v=spf1 include:a:m.kiln.example mx -all',
    'v=spf1 include:_spf.s.examplemx ip4:192.0.2.7 -all',
    'v=spf1 include:_spf.s.examplea ip4:192.0.2.7 -all',
  ];
  const SIMILAR = [
    '@ v=spf1 include:_spf.s.example',
    'spf=v=spf1',
    'spf=v=spf10 mx -all',
    'former=v=spf1 mx -all',
    'other.example v=spf1 mx -all',
    '=spf1 mx -all',
    '# v=spf1 mx -all',
    'see kiln.example v=spf1 mx -all',
    'kiln.example v=spf1 mx',
    'kiln.examplev=spf1 mx -all',
    'kiln.example v=spf10 mx -all',
    'kiln.example v=spf1 mx +all',
    'kiln.example v=spf1 include:mx:s.example -all',
    'mail.kiln.example v=spf1 mx -all',
    'v=spf1.0 mx -all',
    'y=spf1 mx -all',
    'site-verification=abc v=spf1 mx -all',
    'include:_spf.s.example -all',
  ];
  for (const written of SIMILAR)
    it(`beside a text that may be one: ${written}`, async () => {
      const { fix, status, title } = await adviceOf([written]);
      assert.equal(status, 'fail');
      assert.match(title, /has no valid SPF record, but a TXT record that looks like one\./);
      assert.equal(fix!.record, undefined, fix!.record?.value);
    });

  for (const written of SIMILAR)
    it(`for a message, beside a text that may be one: ${written}`, async () => {
      const { status, fix } = await runCheck(spf, {
        message: MESSAGE,
        zone: { [DOMAIN]: { TXT: [written] } },
        envelope: { mail_from: `ann@${DOMAIN}` },
      });
      assert.equal(status, 'fail');
      assert.equal(fix!.record, undefined, fix!.record?.value);
    });

  it('with own hosts if others receive the mail, or nobody', async () => {
    const proposed = async (host: string, text: string) => {
      const zone = { [DOMAIN]: { MX: [host], TXT: [text] } };
      const { fix } = item(await checkDomain(zone, {}, DOMAIN), 'spf_record');
      return fix?.record?.value;
    };
    for (const end of [' +all', ' ?all', '']) {
      const google = await proposed('1 aspmx.l.google.com', `v=spf1${end}`);
      assert.equal(google, 'v=spf1 include:_spf.google.com ~all');
      assert.doesNotMatch((await proposed('0 .', `v=spf1${end}`)) ?? '', / a| mx/);
    }
  });

  for (const written of UNCERTAIN)
    it(`without the target of an include that is damaged: ${written}`, async () => {
      const { fix, status } = await adviceOf([written]);
      assert.equal(status, 'fail');
      assert.match(fix!.text, /include:/);
      assert.equal(fix!.record, undefined, fix!.record?.value);
    });

  for (const written of OPEN)
    it(`if it would let anyone send: ${written}`, async () => {
      const { fix, status } = await adviceOf([written]);
      assert.equal(status, 'fail');
      assert.ok(fix?.text);
      assert.equal(fix.record, undefined);
    });
});

describe('A name with letters beyond ASCII', () => {
  const adviceIn = async (record: string, others: Zone) => {
    const zone = { ...worldWith([record]), ...others };
    return item(await checkDomain(zone, {}, DOMAIN), 'spf_record').fix!;
  };
  for (const [written, term] of [
    ['v=spf1 include:_spf.sh\u00f6p.example mx -all', 'include:_spf.sh\u00f6p.example'],
    ['"v=spf1 mx include:s\u00e9nder.example -all"', 'include:s\u00e9nder.example'],
    ['v=spf1; a:m\u00e4il.example; mx; -all', 'a:m\u00e4il.example'],
  ] as const)
    it(`that nobody answers is named as unclear: ${written}`, async () => {
      const { text, record } = await adviceIn(written, {});
      assert.equal(record, undefined);
      assert.ok(text.includes(`"${term}"`), text);
    });

  for (const [written, meant] of [
    ['v=spf1 include:_spf.sh\u00f6p.example mx -all', 'include:_spf.xn--shp-tna.example mx'],
    ['"v=spf1 mx a:sh\u00f6p.example -all"', 'mx a:xn--shp-tna.example'],
  ] as const)
    it(`that is found is published with A-labels: ${written}`, async () => {
      const { record } = await adviceIn(written, {
        '_spf.xn--shp-tna.example': txt('v=spf1 ip4:203.0.113.7 -all'),
        'xn--shp-tna.example': { A: ['203.0.113.8'] },
      });
      assert.equal(record?.value, `v=spf1 ${meant} -all`);
    });

  it('is taken out by name if it is written with A-labels', async () => {
    const { record } = await adviceIn('v=spf1 include:_spf.xn--shp-tna.example mx -all', {});
    assert.equal(record?.value, 'v=spf1 mx -all');
  });
});

describe('A text in front of an SPF record', () => {
  for (const [written, title] of [
    ['Spf=v=spf1 mx -all', 'begins with "Spf=" instead of v=spf1'],
    ['"@ v=spf1 mx -all"', 'is in quotation marks'],
    ['@ 300 IN TXT v=spf1 mx -all', 'begins with part of a zone-file line'],
  ] as const)
    it(`is named: ${written}`, async () => {
      const advice = await adviceOf([written]);
      assert.equal(advice.title, `The SPF record of ${DOMAIN} ${title}, so no receiver reads it.`);
      assert.equal(advice.fix?.record?.value, 'v=spf1 mx -all');
    });
});

describe('The name of the domain in front of an SPF record', () => {
  for (const written of [
    'kiln.example v=spf1 mx -all',
    'Kiln.Example. v=spf1 mx -all',
    '"kiln.example: v=spf1  mx -all"',
    'kiln.example = v=spf1 mx; -all',
  ]) {
    const zone = { ...worldWith([]), [DOMAIN]: { MX: [`10 mx.${DOMAIN}`], TXT: [written] } };
    it(`is left out of the proposed record: ${written}`, async () => {
      const { status, title, fix } = item(await checkDomain(zone, {}, DOMAIN), 'spf_record');
      assert.equal(status, 'fail');
      assert.match(title, /a TXT record that looks like one/);
      assert.deepEqual(fix!.record, { type: 'TXT', name: DOMAIN, value: 'v=spf1 mx -all' });
    });
    it(`is left out for a message too: ${written}`, async () => {
      const envelope = { mail_from: `ann@${DOMAIN}` };
      const { fix } = await runCheck(spf, { message: MESSAGE, zone, envelope });
      assert.equal(fix!.record?.value, 'v=spf1 mx -all');
    });
  }

  it('is not left out if another text looks like a record too', async () => {
    const texts = ['kiln.example v=spf1 mx -all', 'former=v=spf1 ip4:192.0.2.7 -all'];
    assert.equal((await adviceOf(texts)).fix!.record, undefined);
  });
});

describe('A colon in the target of an include', () => {
  it('is the fault that is named', async () => {
    const { title } = await adviceOf(['v=spf1 include:_spf.s.examplemx:m.kiln.example -all']);
    assert.match(title, /which has a second colon in its domain\.$/);
  });
});

describe('Several SPF records', () => {
  it('give the same advice in any order, with the stricter all and all senders', async () => {
    const random = seededRandom(11);
    for (let round = 0; round < 40; round += 1) {
      const parts = [0, 1, 2].map(() => shuffled(MECHANISMS, random).slice(0, 1 + random.below(3)));
      const count = 2 + random.below(2);
      const records = parts.slice(0, count).map((terms) => {
        const all = [...terms, pick(['-all', '~all', '?all'], random)];
        return random.chance(0.5) ? `v=spf1 ${all.join(' ')}` : pick(DAMAGES, random)[1](all);
      });
      const advice = await adviceOf(records);
      for (const other of [records.toReversed(), shuffled(records, random)])
        assert.deepEqual(await adviceOf(other), advice, records.join(' | '));
      const value = advice.fix?.record?.value;
      if (new Set(records).size < 2) continue;
      assert.ok(value, `${records.join(' | ')}: ${advice.title} ${advice.fix?.text}`);
      const meant = `v=spf1 ${[...new Set(parts.slice(0, count).flat())].join(' ')} -all`;
      assert.deepEqual(
        await allowed(value),
        await allowed(meant),
        `${records.join(' | ')}: ${value}`,
      );
    }
  });

  it('keep the strictest all that was written', async () => {
    const { fix } = await adviceOf([
      'v=spf1 a ~all',
      '"v=spf1 mx -all"',
      'v=spf1 a:m.kiln.example ?all',
    ]);
    assert.equal(fix?.record?.value, 'v=spf1 mx a a:m.kiln.example -all');
  });

  it('are not joined if each refuses some senders', async () => {
    const { fix, title } = await adviceOf([
      'v=spf1 -ip4:192.0.2.7 mx -all',
      'v=spf1 -a a:m.kiln.example -all',
    ]);
    assert.match(title, /has 2 SPF records/);
    assert.equal(fix?.record, undefined);
  });

  it('with one that is read: the other one is named, and its senders are kept', async () => {
    const advice = await adviceOf(['v=spf1 mx -all', '"v=spf1 include:_spf.s.example ~all"']);
    assert.equal(advice.status, 'warn');
    assert.match(advice.title, /^One of the 2 SPF records of kiln\.example is in quotation marks/);
    assert.equal(advice.fix?.record?.value, 'v=spf1 include:_spf.s.example mx -all');
  });
});

describe('The checks of a message from a domain with a damaged SPF record', () => {
  const scene = (record: string) => ({
    message: MESSAGE,
    zone: worldWith([record]),
    envelope: { mail_from: `ann@${DOMAIN}`, client_ip: '203.0.113.5' },
  });

  it('name the damage, and repair the record', async () => {
    const found = await runCheck(spf, scene('"v=spf1 include:_spf.s.example -all"'));
    assert.equal(found.status, 'fail');
    assert.equal(
      found.title,
      'The SPF record of kiln.example is in quotation marks, so no receiver reads it.',
    );
    assert.equal(found.fix?.record?.value, 'v=spf1 include:_spf.s.example -all');
    const record = await runCheck(spfRecord, scene('"v=spf1 include:_spf.s.example -all"'));
    assert.deepEqual([record.title, record.fix], [found.title, found.fix]);
  });

  it('propose nothing instead of what cannot be read', async () => {
    const found = await runCheck(spf, scene('v=spf1;incl:_spf.s.example;-all'));
    assert.equal(found.fix?.record, undefined);
    assert.match(found.fix!.text, /unclear what "incl:_spf\.s\.example" means/);
  });
});

describe('An include that is taken out', () => {
  it('leaves the rest as it was written', async () => {
    const { fix } = await adviceOf(['V=SPF1  mx   include:gone.example  +A:M.kiln.example ~ALL']);
    assert.equal(fix?.record?.value, 'V=SPF1  mx  +A:M.kiln.example ~ALL');
  });

  it('is not taken out if no sender would be left', async () => {
    const { fix } = await adviceOf(['v=spf1 include:gone.example -all']);
    assert.equal(fix?.record, undefined);
    assert.match(fix!.text, /would then allow no server to send/);
  });
});

describe('A parked domain with a damaged record', () => {
  it('is told of the damage, and keeps what the record says', async () => {
    const zone: Zone = { [DOMAIN]: { MX: ['0 .'], TXT: ['"v=spf1 -all"'] } };
    const { title, fix } = item(await checkDomain(zone, {}, DOMAIN), 'spf_record');
    assert.match(title, /is in quotation marks, so no receiver reads it/);
    assert.equal(fix?.record?.value, 'v=spf1 -all');
  });
});

describe('A plan for a damaged record', () => {
  it('replaces it, and keeps the other TXT records', () => {
    const proposed = { type: 'TXT', name: DOMAIN, value: 'v=spf1 mx -all' };
    for (const [, damage] of DAMAGES) {
      const written = damage(['mx', '-all']);
      assert.equal(isReplaced(written, proposed), true, written);
    }
    for (const text of ['site=1', 'v=spf10 x', 'spf2.0/pra mx -all'])
      assert.equal(isReplaced(text, proposed), false, text);
  });
});
