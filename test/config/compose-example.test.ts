/** The example of two nodes: a valid configuration, and the same on both except for their names. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { readConfig } from '../../src/config/config.ts';

interface Compose {
  services: Record<string, { environment?: Record<string, string>; ports?: string[] }>;
  networks: { default: { ipam: { config: { subnet: string }[] } } };
}

test('examples/compose-nodes.yaml configures two nodes that differ only in their names', () => {
  const text = readFileSync('examples/compose-nodes.yaml', 'utf8');
  const { services, networks } = parse(text, { merge: true }) as Compose;
  const [one, two] = ['node1', 'node2'].map((name) => {
    const { DELIVERABILITY_SECRET_KEY_FILE, ...env } = services[name]!.environment!;
    assert.equal(DELIVERABILITY_SECRET_KEY_FILE, '/run/secrets/secret_key');
    const { config, warnings } = readConfig({
      ...env,
      DELIVERABILITY_SECRET_KEY: '9f8e7d6c5b4a39281706f5e4d3c2b1a0',
    });
    assert.deepEqual(warnings, []);
    return config;
  });
  const { NODE_NAME, SMTP_NAME, ...rest } = one!;
  assert.deepEqual({ ...two, NODE_NAME, SMTP_NAME }, { ...rest, NODE_NAME, SMTP_NAME });
  assert.notEqual(two!.NODE_NAME, NODE_NAME);
  assert.notEqual(two!.SMTP_NAME, SMTP_NAME);
  const { subnet } = networks.default.ipam.config[0]!;
  assert.equal(services.node1!.environment!.DELIVERABILITY_TRUSTED_PROXIES, subnet);
});
