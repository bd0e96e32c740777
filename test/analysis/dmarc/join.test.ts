/** Several DMARC records: one proposal, in any order. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { joinDmarc } from '../../../src/analysis/dmarc/join.ts';
import { parseDmarcTags } from '../../../src/analysis/dmarc/record.ts';
import { seededRandom } from '../../helpers/random.ts';
import { checkDomain, item } from '../domain/domains.ts';

const ROWS: [name: string, records: string[], joined: string, next: string | null][] = [
  [
    'two policies',
    [
      'v=DMARC1; p=reject; rua=mailto:a@kiln.example',
      'v=DMARC1; p=none; rua=mailto:b@kiln.example',
    ],
    'v=DMARC1; p=none; rua=mailto:b@kiln.example,mailto:a@kiln.example',
    'reject',
  ],
  [
    'a policy for subdomains in one of them',
    ['v=DMARC1; p=reject; sp=none', 'v=DMARC1; p=quarantine'],
    'v=DMARC1; p=quarantine; sp=none',
    'reject',
  ],
  [
    'strict alignment in one, and in both',
    ['v=DMARC1; p=reject; adkim=s; aspf=s; pct=20', 'v=DMARC1; p=reject; aspf=s'],
    'v=DMARC1; p=none; aspf=s',
    'reject',
  ],
  [
    'a policy for a part of the mail in one of them',
    ['v=DMARC1; p=quarantine; pct=25; rua=mailto:a@kiln.example', 'v=DMARC1; p=quarantine'],
    'v=DMARC1; p=none; rua=mailto:a@kiln.example',
    'quarantine',
  ],
  [
    'a policy for no mail, and a policy for subdomains in both',
    ['v=DMARC1; p=reject; sp=quarantine; pct=0', 'v=DMARC1; p=reject; sp=reject; pct=100'],
    'v=DMARC1; p=none; sp=none',
    'reject',
  ],
  [
    'a policy for a part of the mail beside one that no receiver reads',
    ['v=DMARC1; p=reject; pct=40', '"v=DMARC1; p=quarantine"'],
    'v=DMARC1; p=reject; pct=40',
    null,
  ],
  [
    'strict alignment in words',
    ['v=DMARC1; p=none; adkim=strict', 'v=DMARC1; p=none; adkim=STRICT; rua=mailto:a@kiln.example'],
    'v=DMARC1; p=none; rua=mailto:a@kiln.example; adkim=r',
    null,
  ],
  [
    'the same address twice',
    [
      'v=DMARC1; p=none; rua=mailto:A@kiln.example',
      'v=DMARC1; p=none; rua=mailto:a@kiln.example!10m',
    ],
    'v=DMARC1; p=none; rua=mailto:A@kiln.example',
    null,
  ],
  [
    'one that applies beside a damaged one',
    ['\u201cv=DMARC1; p=none; rua=mailto:b@kiln.example\u201d', 'v=DMARC1; p=reject; adkim=s'],
    'v=DMARC1; p=reject; rua=mailto:b@kiln.example; adkim=s',
    null,
  ],
  [
    'one without a policy',
    ['v=DMARC1;', 'v=DMARC1; p=reject; rua=mailto:a@kiln.example'],
    'v=DMARC1; p=none; rua=mailto:a@kiln.example',
    'reject',
  ],
  [
    'one with a misspelled policy',
    ['v=DMARC1; p=all', 'v=DMARC1; p=quarantine'],
    'v=DMARC1; p=none',
    'quarantine',
  ],
  [
    'one with the policy twice',
    ['v=DMARC1; p=reject; p=none', 'v=DMARC1; p=reject'],
    'v=DMARC1; p=none',
    'reject',
  ],
  [
    'a policy for a part of the mail in all of them',
    ['v=DMARC1; p=reject; pct=5', 'v=DMARC1; p=reject; pct=5; rua=mailto:a@kiln.example'],
    'v=DMARC1; p=none; rua=mailto:a@kiln.example',
    'reject',
  ],
];

describe('joinDmarc', () => {
  for (const [name, records, record, next] of ROWS)
    it(name, () => {
      assert.deepEqual(joinDmarc(records), { record, next });
      assert.deepEqual(joinDmarc(records.toReversed()), { record, next });
    });

  it('keeps the weaker policy and every address, in any order', () => {
    const random = seededRandom(3);
    const strength = ['none', 'quarantine', 'reject'];
    for (let round = 0; round < 60; round += 1) {
      const policies = [0, 1, 2].map(() => random.below(3));
      const records = policies.map((policy, index) => {
        const text = `v=DMARC1; p=${strength[policy]}; rua=mailto:${'abc'[index]}@kiln.example`;
        return random.chance(0.4) ? `"${text}"`.replace('v=DMARC1', 'v=dmarc1') : text;
      });
      const intact = policies.filter((_, index) => records[index]!.startsWith('v=DMARC1'));
      const joined = joinDmarc(records);
      const [first, ...others] = records;
      assert.deepEqual(joinDmarc([...others, first!]), joined);
      const { tags } = parseDmarcTags(joined.record);
      const weakest = Math.min(...(intact.length === 1 ? intact : policies));
      assert.equal(tags.get('p'), strength[weakest], records.join(' | '));
      for (const name of 'abc') assert.ok(tags.get('rua')?.includes(`mailto:${name}@`));
    }
  });
});

describe('The advice on several DMARC records', () => {
  const advice = async (records: string[]) => {
    const zone = {
      'kiln.example': { TXT: ['v=spf1 mx -all'], MX: ['10 mx.kiln.example'] },
      'mx.kiln.example': { A: ['192.0.2.1'] },
      '_dmarc.kiln.example': { TXT: records },
    };
    const { checks } = await checkDomain(zone, {}, 'kiln.example');
    return ['dmarc_record', 'dmarc_policy'].map((id) => {
      const { title, detail, fix, status } = item({ checks } as never, id);
      return { title, detail, fix, status };
    });
  };

  it('is the same in any order, and says why the weaker policy comes first', async () => {
    const records = [
      'v=DMARC1; p=reject; rua=mailto:a@kiln.example',
      'v=DMARC1; p=none',
      '"v=DMARC1; p=none; rua=mailto:b@kiln.example"',
    ];
    const found = await advice(records);
    assert.deepEqual(await advice(records.toReversed()), found);
    const [record] = found;
    assert.match(record!.fix!.text, /and the weaker policy \(p=none\)\. .* change p to reject/);
    assert.equal(
      record!.fix!.record?.value,
      'v=DMARC1; p=none; rua=mailto:b@kiln.example,mailto:a@kiln.example',
    );
  });

  const STEP =
    / Today, alignment is relaxed\. Once the reports show that your own mail also passes with strict alignment, set (.+)\.$/;
  for (const [written, value, step] of [
    ['v=DMARC1; p=reject; aspf=strict', 'v=DMARC1; p=reject; aspf=r', 'aspf=s'],
    ['v=DMARC1; p=reject; ADKIM=s', 'v=DMARC1; p=reject; adkim=r', 'adkim=s'],
    [
      'v=DMARC1; p=reject; aspf:s; adkim=S!',
      'v=DMARC1; p=reject; aspf=r; adkim=r',
      'aspf=s and adkim=s',
    ],
    ['"v=DMARC1; p=reject; adkim=strict"', 'v=DMARC1; p=reject; adkim=r', 'adkim=s'],
    ['v=DMARC1; p=reject; adkim=S; foo=1', 'v=DMARC1; p=reject; adkim=s', null],
    ['"v=DMARC1; p=reject; adkim=s"', 'v=DMARC1; p=reject; adkim=s', null],
  ] as const)
    it(`lets no stricter alignment begin at once: ${written}`, async () => {
      const rua = 'rua=mailto:a@kiln.example';
      const [record] = await advice([written.replace(/(?="?$)/, `; ${rua}`)]);
      const { fix } = record!;
      assert.equal(fix?.record?.value, `${value}; ${rua}`);
      assert.equal(STEP.exec(fix!.text)?.[1] ?? null, step, fix!.text);
    });
});
