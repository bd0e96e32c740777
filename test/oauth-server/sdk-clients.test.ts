/** The clients of both lines of the SDK connect by themselves: from the 401 to tools, a refresh and the end. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auth, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { auth as authV1 } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { webOf } from '../helpers/web.ts';
import { ownerBrowser } from '../team/browser.ts';
import {
  consent,
  mcpStatus,
  memoryProvider,
  revoke,
  startOAuthService,
  type Tokens,
} from './oauth-client.ts';

const DOCUMENT = 'https://assistant.example/client.json';
const REDIRECT = 'https://assistant.example/callback';

const document = (more: object = {}) => ({
  type: 'application/json',
  body: JSON.stringify({
    client_id: DOCUMENT,
    client_name: 'SDK',
    redirect_uris: [REDIRECT],
    ...more,
  }),
});

const CLIENTS = [
  { line: 'v1', Client: ClientV1, Transport: TransportV1, auth: authV1 },
  { line: 'v2', Client, Transport: StreamableHTTPClientTransport, auth },
] as const;

for (const { line, Client: AnyClient, Transport, auth: authorize } of CLIENTS)
  for (const by of ['registration', 'metadata document'] as const)
    test(`The client of the SDK ${line} connects by ${by}, refreshes its token, and is revoked`, async (t) => {
      const service = await startOAuthService(t, { web: webOf({ [DOCUMENT]: document() }) });
      const browser = await ownerBrowser(service);
      const provider = memoryProvider(REDIRECT, by === 'registration' ? undefined : DOCUMENT);
      const endpoint = new URL(`${service.url}/mcp`);
      const open = () => new Transport(endpoint, { authProvider: provider as never }) as never;
      const connect = async () => {
        const client = new AnyClient({ name: 'test', version: '1' });
        const transport = open() as InstanceType<typeof StreamableHTTPClientTransport>;
        t.after(() => client.close());
        await client.connect(transport as never);
        return client;
      };
      const first = open() as InstanceType<typeof StreamableHTTPClientTransport>;
      await assert.rejects(new AnyClient({ name: 'test', version: '1' }).connect(first as never));
      const { pathname, search, searchParams } = provider.asked!;
      assert.equal(searchParams.get('scope'), 'mcp');
      assert.equal(searchParams.get('resource'), `${service.url}/mcp`);
      assert.equal(searchParams.get('client_id') === DOCUMENT, by === 'metadata document');
      const target = await consent(service, browser, pathname + search);
      assert.equal(target.searchParams.get('iss'), service.url);
      assert.equal(target.searchParams.get('state'), 'state of the SDK');
      if (line === 'v2') await first.finishAuth(target.searchParams);
      else await first.finishAuth(target.searchParams.get('code')!);
      const client = await connect();
      const { tools } = await client.listTools();
      assert.ok(tools.some(({ name }) => name === 'list_tests'));
      assert.ok(!tools.some(({ name }) => name === 'add_domain'));

      const before = provider.tokens() as Tokens;
      assert.equal(await authorize(provider as never, { serverUrl: endpoint }), 'AUTHORIZED');
      const after = provider.tokens() as Tokens;
      assert.notEqual(after.access_token, before.access_token);
      assert.notEqual(after.refresh_token, before.refresh_token);
      assert.ok((await (await connect()).listTools()).tools.length > 0);

      const id = searchParams.get('client_id')!;
      assert.equal((await revoke(service, id, after.refresh_token)).status, 200);
      assert.equal(await mcpStatus(service, after.access_token), 401);
      // The SDK asks for consent again.
      provider.asked = null;
      await assert.rejects(connect());
      assert.ok(provider.asked);
    });
