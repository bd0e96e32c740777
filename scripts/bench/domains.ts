/** DNS questions and CPU time of `deliverability domain`, over 1,000 domains in memory. */

import { NO_SETUP } from '../../src/analysis/context.ts';
import { analyzeDomain } from '../../src/analysis/domain/analyze-domain.ts';
import { type DnsWorld, dnsWorld } from '../../test/helpers/dns-world.ts';
import { type JudgedDomain, judgedDomains } from '../../test/helpers/domain-corpus.ts';
import { webOf } from '../../test/helpers/web.ts';
import { median, percentile, round2 } from './measure.ts';

const COUNT = 1000;
const FOLDER = 'test/fixtures/unseen-domains';
const ROUNDS = 5;
const NOW = Date.parse('2026-11-15T10:00:00Z');

/** The judged domains over and over, each time under another name. */
function fakeDomains(): JudgedDomain[] {
  const texts = judgedDomains(FOLDER).map(
    (world) => [world.domain, JSON.stringify(world)] as const,
  );
  return Array.from({ length: COUNT }, (_, i) => {
    const [domain, text] = texts[i % texts.length]!;
    return JSON.parse(text.replaceAll(domain, `n${i}-${domain}`)) as JudgedDomain;
  });
}

/** Counts the questions to the resolver, and to name servers. */
function counted(world: DnsWorld) {
  const { resolver, askDns } = dnsWorld(world);
  const count = { questions: 0 };
  return {
    count,
    resolver: ((name, type) => {
      count.questions++;
      return resolver(name, type);
    }) satisfies typeof resolver,
    askDns: ((question) => {
      count.questions++;
      return askDns(question);
    }) satisfies typeof askDns,
  };
}

async function checkAll(domains: JudgedDomain[]) {
  const questions: number[] = [];
  const before = process.cpuUsage();
  for (const world of domains) {
    const { count, ...dns } = counted(world);
    await analyzeDomain(world.domain, {
      ...dns,
      web: webOf({}),
      setup: NO_SETUP,
      selectors: world.selectors,
      now: NOW,
    });
    questions.push(count.questions);
  }
  const { user, system } = process.cpuUsage(before);
  return { questions, cpuMs: (user + system) / 1000 / domains.length };
}

export async function benchDomains() {
  const domains = fakeDomains();
  const { questions } = await checkAll(domains);
  const times: number[] = [];
  for (let i = 0; i < ROUNDS; i++) times.push((await checkAll(domains)).cpuMs);
  return {
    domains: COUNT,
    questions_median: median(questions),
    questions_p95: percentile(questions, 0.95),
    questions_max: Math.max(...questions),
    cpu_ms_per_domain: round2(median(times)),
    cpu_ms_spread: round2(Math.max(...times) - Math.min(...times)),
  };
}
