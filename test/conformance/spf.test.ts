/** Runs the RFC 7208 test suite (openspf.org, 2014.04) against our SPF implementation. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { evaluateSpf, spfIdentity, spfResult } from '../../src/analysis/spf/evaluate.ts';
import { isLocalAddress, normalizeAddress } from '../../src/lib/addresses.ts';
import { KNOWN } from '../../src/net/dns/denials.ts';
import type { DnsAnswer, RecordType, Resolver } from '../../src/net/dns/resolver.ts';
import { contextFor } from '../helpers/analysis.ts';

const SUITE = new URL('../../../shared/vectors/spf/rfc7208-tests.yml', import.meta.url);

/** The number of cases in release 2014.04. */
const CASES = 203;

type SuiteRecord = 'TIMEOUT' | { [type: string]: string | (string | number)[] };

interface Scenario {
  description: string;
  tests: { [name: string]: Case };
  zonedata: { [name: string]: SuiteRecord[] };
}

interface Case {
  helo: string;
  host: string;
  mailfrom: string;
  result: string | string[];
  explanation?: string;
}

const scenarios = existsSync(SUITE) ? readScenarios() : [];

function readScenarios(): Scenario[] {
  const documents = parseAllDocuments(readFileSync(SUITE, 'utf8'));
  return documents.map((document) => document.toJS() as Scenario).filter((scenario) => scenario);
}

/**
 * The zone with the conventions of the suite. `SPF` records are also TXT records, unless the name has
 * TXT records; a TXT of `NONE` means none. `TIMEOUT`: queries for other types are not answered.
 */
function suiteResolver(zonedata: Scenario['zonedata']): Resolver {
  const zone = new Map(Object.entries(zonedata).map(([name, list]) => [name.toLowerCase(), list]));
  const lookUp = (name: string, type: RecordType, depth: number): DnsAnswer => {
    const list = zone.get(name.toLowerCase());
    if (!list) return { status: 'nxdomain' };
    const records = recordsOfType(list, type);
    if (records.length > 0) return { status: 'found', records, ttl: 1, authenticated: false };
    const alias = recordsOfType(list, 'CNAME')[0];
    if (alias && depth < 8) return lookUp(alias, type, depth + 1);
    return list.includes('TIMEOUT') ? { status: 'error', reason: 'timeout' } : { status: 'nodata' };
  };
  // As a public resolver, which can be believed that other names do not exist.
  return async (name, type) =>
    name === KNOWN.name
      ? { status: 'found', records: [], ttl: 60, authenticated: false }
      : lookUp(name, type, 0);
}

function recordsOfType(list: SuiteRecord[], type: string): string[] {
  const values = (key: string) =>
    list.flatMap((record) => (typeof record === 'object' && key in record ? [record[key]!] : []));
  const own = values(type);
  if (type !== 'TXT') return own.map((value) => (Array.isArray(value) ? value.join(' ') : value));
  const texts = own.length > 0 ? own.filter((value) => value !== 'NONE') : values('SPF');
  return texts.map((value) => (Array.isArray(value) ? value.join('') : value));
}

async function resultOf(scenario: Scenario, { helo, host, mailfrom }: Case) {
  const context = await contextFor({
    message: 'From: someone@example.com\n\n',
    resolver: suiteResolver(scenario.zonedata),
    envelope: { mail_from: mailfrom, client_ip: host, helo },
  });
  const client = normalizeAddress(host)!;
  // The suite uses private addresses, which the service does not check.
  if (!isLocalAddress(client)) return context.fact(spfResult);
  return evaluateSpf(spfIdentity(context), client, helo, context.resolver);
}

const skip = scenarios.length === 0 && 'shared/vectors/spf/rfc7208-tests.yml does not exist';

describe('RFC 7208 SPF test suite', { skip }, () => {
  let run = 0;
  for (const scenario of scenarios) {
    for (const [name, expected] of Object.entries(scenario.tests)) {
      run += 1;
      test(`${scenario.description}: ${name}`, async () => {
        const outcome = await resultOf(scenario, expected);
        const accepted = [expected.result].flat();
        assert.ok(
          accepted.includes(outcome.result ?? 'not checked'),
          `${outcome.result} (${outcome.reason}), expected ${accepted.join(' or ')}`,
        );
        const { explanation } = expected;
        // The hexadecimal digits of %{i} may be upper or lower case (RFC 7208 §7.3).
        if (outcome.result === 'fail' && explanation)
          assert.equal((outcome.explanation ?? 'DEFAULT').toLowerCase(), explanation.toLowerCase());
      });
    }
  }
  test('contains all 203 cases', () => assert.equal(run, CASES));
});
