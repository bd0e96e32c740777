/** The SDK's own clients of both lines, connected to a service over HTTP or to the command over stdio. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import * as modern from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { TOOLS } from '../../src/features.ts';
import { DATA_NOTE, MAX_ANSWER } from '../../src/http/tool-text.ts';

export async function connect(t: TestContext, transport: unknown): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport as Transport);
  t.after(() => client.close());
  return client;
}

export function connectOverHttp(
  t: TestContext,
  { url, key }: { url: string; key: string },
  query = '',
): Promise<Client> {
  const headers = { authorization: `Bearer ${key}` };
  const endpoint = new URL(`${url}/mcp${query}`);
  return connect(t, new StreamableHTTPClientTransport(endpoint, { requestInit: { headers } }));
}

/** A revision with `initialize`, and the one without. */
export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
type Revision = (typeof REVISIONS)[number];

/** A client of the SDK's second line, which knows only this revision. */
export async function connectModern(
  t: TestContext,
  transport: modern.Transport,
  revision: Revision = '2026-07-28',
): Promise<modern.Client> {
  const mode = revision === '2026-07-28' ? { pin: revision } : 'legacy';
  const client = new modern.Client(
    { name: 'test', version: '2' },
    { versionNegotiation: { mode }, supportedProtocolVersions: [revision] },
  );
  await client.connect(transport);
  t.after(() => client.close());
  assert.equal(client.getNegotiatedProtocolVersion(), revision);
  return client;
}

export function connectModernOverHttp(
  t: TestContext,
  { url, key }: { url: string; key: string },
  { query = '', revision }: { query?: string; revision?: Revision } = {},
): Promise<modern.Client> {
  const headers = { authorization: `Bearer ${key}` };
  const endpoint = new URL(`${url}/mcp${query}`);
  const transport = new modern.StreamableHTTPClientTransport(endpoint, {
    requestInit: { headers },
  });
  return connectModern(t, transport, revision);
}

/** What clients of both lines can do. */
export type AnyClient = Pick<modern.Client, 'getInstructions'> & {
  callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>;
  listTools(): Promise<{
    tools: { name: string; description?: string | undefined; outputSchema?: object | undefined }[];
  }>;
};

export interface Answer {
  text: string;
  isError: boolean;
  /** The URIs of its resource links. */
  links: string[];
  /** Only if the client asked for it. The clients of the SDK validate it. */
  structured: unknown;
}

/**
 * Calls a tool, and asserts that its answer is short and clean, and says that it is data, whether it is an error or not.
 * Returns what follows.
 */
export async function callTool(client: AnyClient, name: string, args = {}): Promise<Answer> {
  const result = (await client.callTool({ name, arguments: args })) as CallToolResult;
  const whole = result.content
    .flatMap((item) => (item.type === 'text' ? [item.text] : []))
    .join('');
  assert.ok(whole.length <= MAX_ANSWER, `${name}: ${whole.length} characters`);
  const [note, ...lines] = whole.split('\n');
  assert.equal(note, DATA_NOTE, name);
  const text = lines.join('\n');
  assert.notEqual(text, '', name);
  assert.doesNotMatch(text, /[^\P{C}\n]|\p{Default_Ignorable_Code_Point}/u, name);
  assert.doesNotMatch(text.replace(/«[^«»\n]*»/g, ''), /[«»]/, name);
  return {
    text,
    isError: result.isError === true,
    links: result.content.flatMap((item) => (item.type === 'resource_link' ? [item.uri] : [])),
    structured: result.structuredContent,
  };
}

/** The text of an answer that is no error. */
export async function answerOf(client: AnyClient, name: string, args = {}): Promise<string> {
  const { text, isError } = await callTool(client, name, args);
  assert.ok(!isError, `${name}: ${text}`);
  return text;
}

/** The text of an answer that is an error. */
export async function errorOf(client: AnyClient, name: string, args = {}): Promise<string> {
  const { text, isError } = await callTool(client, name, args);
  assert.ok(isError, `${name}: ${text}`);
  return text;
}

/** The tools that the texts for the model name although the client does not have them. */
export async function missingTools(client: AnyClient): Promise<string[]> {
  const { tools } = await client.listTools();
  const texts = [client.getInstructions(), ...tools.map(({ description }) => description)].join();
  return TOOLS.map(({ name }) => name).filter(
    (name) => texts.includes(name) && !tools.some((tool) => tool.name === name),
  );
}

export const toolNames = async (client: AnyClient): Promise<string[]> =>
  (await client.listTools()).tools.map(({ name }) => name);
