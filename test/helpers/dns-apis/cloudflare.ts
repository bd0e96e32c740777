/** The API of Cloudflare, for the tests of what all kinds of name servers do. */

import type { TestContext } from 'node:test';
import { cloudflare } from '../../../src/dns-changes/servers/cloudflare.ts';
import { loopbackContext } from '../bind.ts';
import { CLOUDFLARE_TOKEN, startCloudflareServer } from '../cloudflare-server.ts';
import { HTTP_FAULTS, type HttpExchange } from '../http-script.ts';
import type { Harness } from './harness.ts';
import { plainValue, type Records, RefusedData } from './records.ts';

export async function startCloudflareApi(t: TestContext, records: Records): Promise<Harness> {
  const served = await startCloudflareServer(t, records.zones);
  const add = (name: string, type: string, values: string[], ttl: number) => {
    for (const value of values) {
      const [preference, host = ''] = value.split(' ');
      if (type === 'MX')
        served.add({ name, type, ttl, content: host, priority: Number(preference) });
      else served.add({ name, type, ttl, content: type === 'TXT' ? JSON.stringify(value) : value });
    }
  };
  for (const { name, type, ttl, data } of records.sets)
    add(
      name,
      type,
      data.map((one) => plainValue(type, one)),
      ttl,
    );
  const open = (api_token: string, timeoutMs?: number) =>
    cloudflare.open(
      { api_token },
      {
        ...loopbackContext(),
        web: served.web,
        ...(timeoutMs && { signal: AbortSignal.timeout(timeoutMs) }),
      },
    );
  const harness: Harness = {
    open: ({ timeoutMs } = {}) => open(CLOUDFLARE_TOKEN, timeoutMs),
    openWrong: () => open('wrong-token-0123456789'),
    put(name, type, values, ttl = 3600) {
      const others = served.records.filter((one) => one.name !== name || one.type !== type);
      if (others.some((one) => one.name === name && (one.type === 'CNAME' || type === 'CNAME')))
        throw new RefusedData('conflict');
      served.records = others;
      add(name, type, values, ttl);
    },
    values: (name, type) =>
      served.records
        .filter((one) => one.name === name && one.type === type)
        .map(({ content, priority }) => {
          if (type === 'TXT') return plainValue('TXT', content);
          return type === 'MX' ? `${priority} ${content}` : content;
        }),
    fault: null,
  };
  served.intercept = (exchange: HttpExchange) => {
    const { fault } = harness;
    if (fault === null || (fault.on === 'write' && exchange.method !== 'POST')) return false;
    if (fault.kind === 'cut') {
      // The server answers into a connection that is gone.
      setImmediate(() => exchange.response.destroy());
      exchange.response.end = (() => exchange.response) as never;
      return false;
    }
    if (fault.kind === 'busy') {
      harness.fault = null;
      exchange.response.writeHead(429, { 'retry-after': '0' });
      exchange.response.end('slow down');
    } else if (fault.kind === 'hostile') exchange.response.end('['.repeat(20_000));
    else HTTP_FAULTS[fault.kind](exchange);
    return true;
  };
  return harness;
}
