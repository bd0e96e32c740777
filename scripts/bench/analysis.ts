/** Analyses per second with one and two workers, compared with plain mailauth on the same message. */

import { authenticate } from 'mailauth';
import { mailauthResolver } from '../../src/analysis/dns/mailauth-resolver.ts';
import { type AnalysisPool, createAnalysisPool } from '../../src/analysis/pool.ts';
import { silentLog } from '../../src/lib/log.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { measureInTurns, median, rate, ratio } from './measure.ts';
import { type BenchMail, benchMail } from './message.ts';

const COUNT = 1000;

export async function benchAnalysis() {
  const mail = await benchMail();
  const resolver = zoneResolver(mail.zone);
  const one = createAnalysisPool({ threads: 1, resolver, log: silentLog });
  const two = createAnalysisPool({ threads: 2, resolver, log: silentLog });
  const rates = await measureInTurns({
    bare: () => rate(COUNT, () => authenticateAll(mail)),
    one: () => rate(COUNT, () => analyzeAll(one, mail)),
    two: () => rate(COUNT, () => analyzeAll(two, mail)),
  });
  await Promise.all([one.close(), two.close()]);
  return {
    message_bytes: mail.input.raw.byteLength,
    bare_mailauth_per_second: Math.round(median(rates.bare)),
    one_worker_per_second: Math.round(median(rates.one)),
    two_workers_per_second: Math.round(median(rates.two)),
    one_worker_over_bare: ratio(rates.one, rates.bare),
    two_workers_over_one: ratio(rates.two, rates.one),
  };
}

async function authenticateAll({ input, zone }: BenchMail): Promise<void> {
  const { client_ip, helo, mail_from } = input.envelope;
  const options = {
    ip: client_ip!,
    helo: helo!,
    sender: mail_from!,
    mta: 'bench.example',
    resolver: mailauthResolver(zoneResolver(zone)),
    disableBimi: true,
  };
  for (let i = 0; i < COUNT; i++) {
    const result = await authenticate(Buffer.from(input.raw), options);
    if (result.dmarc === false || result.dmarc.status.result !== 'pass')
      throw new Error('DMARC did not pass');
  }
}

async function analyzeAll(pool: AnalysisPool, { input }: BenchMail): Promise<void> {
  const outcomes = await Promise.all(Array.from({ length: COUNT }, () => pool.analyze(input)));
  for (const outcome of outcomes)
    if (!outcome.ok || outcome.result.score !== 100)
      throw new Error('The message did not score 100');
}
