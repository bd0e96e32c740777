/** Loads the judged domains of test/fixtures, checks them, and compares with the judgement (the README there has the format). */

import { globSync, readFileSync } from 'node:fs';
import { NO_SETUP } from '../../src/analysis/context.ts';
import { analyzeDomain } from '../../src/analysis/domain/analyze-domain.ts';
import { worstFirst } from '../../src/analysis/domain/dangers.ts';
import type { DomainHealth } from '../../src/analysis/domain/health.ts';
import { RECEIVED_AT } from './analysis.ts';
import { type DnsWorld, dnsWorld } from './dns-world.ts';
import type { Difference } from './mail-corpus.ts';
import { webOf } from './web.ts';

export interface JudgedDomain extends DnsWorld {
  title: string;
  domain: string;
  selectors: string[];
  web?: Record<string, string>;
  expect: {
    status: string;
    first: string | null;
    says: string[];
    problems: string[];
    records: Record<string, string | string[] | null>;
    why: string;
  };
}

export interface NamedDomain extends JudgedDomain {
  /** `<group>/<name>`. */
  name: string;
  group: string;
}

export const judgedDomains = (folder: string): NamedDomain[] =>
  globSync(`${folder}/*/*.json`)
    .toSorted()
    .map((path) => {
      const name = path.slice(folder.length + 1, -'.json'.length);
      const world = JSON.parse(readFileSync(path, 'utf8')) as JudgedDomain;
      return Object.assign(world, { name, group: name.split('/')[0]! });
    });

export function checkJudged(world: JudgedDomain): Promise<DomainHealth> {
  const pages = Object.entries(world.web ?? {}).map(([url, body]) => [url, { body }] as const);
  return analyzeDomain(world.domain, {
    ...dnsWorld(world),
    web: webOf(Object.fromEntries(pages)),
    setup: NO_SETUP,
    selectors: world.selectors,
    now: RECEIVED_AT,
  });
}

const alternatives = (text: string): string[] => text.split('|');

/** What the program says otherwise; empty if it judges as the administrator did. */
export function domainDifferences({ expect }: JudgedDomain, health: DomainHealth): Difference[] {
  const found: Difference[] = [];
  const compare = (key: string, isRight: boolean, expected: unknown, is: unknown) => {
    if (!isRight) found.push({ key, expected, found: is });
  };
  const [first] = worstFirst(health.checks);
  const problems = [...new Set(worstFirst(health.checks).map(({ id }) => id))];
  compare(
    'status',
    alternatives(expect.status).includes(health.status),
    expect.status,
    health.status,
  );
  const isFirst = first
    ? alternatives(expect.first ?? '').includes(first.id)
    : expect.first === null;
  compare('first', isFirst, expect.first, first?.id ?? null);
  const said =
    `${first?.title} ${first?.detail} ${first?.fix?.text} ${first?.fix?.record?.value}`.toLowerCase();
  for (const words of first ? expect.says : [])
    compare(
      'says',
      alternatives(words).some((word) => said.includes(word)),
      words,
      said,
    );
  const expected = expect.problems.map(alternatives);
  const isExact =
    expected.every((ids) => ids.some((id) => problems.includes(id))) &&
    problems.every((id) => expected.some((ids) => ids.includes(id)));
  compare('problems', isExact, expect.problems, problems);
  for (const [place, value] of Object.entries(expect.records)) {
    // Hints about optional records and examples with placeholders cure nothing.
    const proposed = health.checks
      .flatMap(({ severity, fix }) =>
        severity !== null && fix?.record && `${fix.record.name} ${fix.record.type}` === place
          ? fix.record.value
          : [],
      )
      .filter((value) => !/<.*>/.test(value));
    const accepted = value === null ? [] : [value].flat();
    const isRight =
      value === null
        ? proposed.length === 0
        : proposed.length > 0 &&
          proposed.every((one) => accepted.some((other) => sameRecord(one, other)));
    compare(`record ${place}`, isRight, value, proposed);
  }
  return found;
}

/** Terms, tags and the addresses within a tag are sets. */
function sameRecord(one: string, other: string): boolean {
  const parts = (text: string): string =>
    (/^v=spf1/i.test(text) ? text.split(/\s+/) : text.split(/\s*;\s*/))
      .map((part) =>
        part
          .trim()
          .split(/\s*,\s*/)
          .toSorted()
          .join(','),
      )
      .filter((part) => part !== '')
      .toSorted()
      .join('\n')
      .toLowerCase();
  return parts(one) === parts(other);
}
