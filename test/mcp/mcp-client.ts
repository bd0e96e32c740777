/** The SDK's own client, connected to a service over HTTP, or to the command over stdio. */

import type { TestContext } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

export interface ToolClient {
  client: Client;
  /** The text of the answer; fails if it is an error, unless `isError` is expected. */
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>;
}

export async function connectOverHttp(
  t: TestContext,
  { url, key, query = '' }: { url: string; key: string; query?: string },
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const headers = { authorization: `Bearer ${key}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), {
      requestInit: { headers },
    }) as never,
  );
  t.after(() => client.close());
  return client;
}

/** The texts of an answer, joined. */
export const textOf = ({ content }: Pick<CallToolResult, 'content'>): string =>
  content.flatMap((item) => (item.type === 'text' ? [item.text] : [])).join('\n');

/** The URIs of the resource links of an answer. */
export const linksOf = ({ content }: Pick<CallToolResult, 'content'>): string[] =>
  content.flatMap((item) => (item.type === 'resource_link' ? [item.uri] : []));
