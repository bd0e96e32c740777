/** Domains that a person judged in writing before any program saw them: the same verdict, and records that harm nothing. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import { checkJudged, domainDifferences, judgedDomains } from '../../helpers/domain-corpus.ts';
import { sendersOf } from '../../helpers/spf-senders.ts';
import { webOf } from '../../helpers/web.ts';
import { assertProposalsCure } from './publish.ts';

const WORLDS = ['unseen-domains', 'more-unseen-domains', 'further-unseen-domains'].flatMap(
  (folder) => judgedDomains(fileURLToPath(new URL(`../../fixtures/${folder}`, import.meta.url))),
);

/** Without fixtures, the tests below would pass. */
test('There are 140 judged domains', () => assert.equal(WORLDS.length, 140));

for (const world of WORLDS) {
  test(`${world.name} is judged as the administrator did`, async () => {
    assert.deepEqual(domainDifferences(world, await checkJudged(world)), []);
  });

  test(`The proposals for ${world.name} cure, and neither drop nor add a sender`, async () => {
    const { zone, domain, selectors, web = {} } = world;
    const pages = Object.entries(web).map(([url, body]) => [url, { body }] as const);
    const options = { selectors, web: webOf(Object.fromEntries(pages)) };
    const { checks } = await assertProposalsCure(zone, domain, options);
    const spf = checks.find(({ id }) => id === 'spf_record');
    const proposed = spf?.fix?.record?.value;
    const node = zone[domain];
    const texts = node && !('fails' in node) ? (node.TXT ?? []) : [];
    const written = texts.filter((text) => /v\W{0,3}=?\W{0,3}spf/i.test(text));
    if (proposed === undefined || written.length === 0) return;
    const resolver = zoneResolver(zone);
    const named = async (records: string[]) => {
      const { networks, includes } = await sendersOf(records, domain, resolver);
      return new Set([...networks.map((one) => one.named), ...includes]);
    };
    const [before, after] = [await named(written), await named([proposed])];
    const lost = [...before].filter((term) => !after.has(term) && !spf!.fix!.text.includes(term));
    assert.deepEqual(lost, [], `${proposed} drops a sender of ${written}`);
    const words = written
      .join(' ')
      .toLowerCase()
      .split(/[^\w.:/-]+/);
    const isWritten = (term: string) =>
      words.some((word) => word === term || word.endsWith(`:${term}`));
    const isCorrected = (term: string) => spf!.fix!.text.includes(`:${term}" instead of`);
    const added = [...after].filter(
      (term) => !before.has(term) && !isWritten(term) && !isCorrected(term),
    );
    assert.deepEqual(added, [], `${proposed} adds a sender to ${written}`);
  });
}
