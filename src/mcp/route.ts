/**
 * `POST /mcp`: the Model Context Protocol over streamable HTTP. Each request has a server of its own, so all nodes are
 * alike, and nothing is kept between requests. GET and DELETE, which are for sessions, answer 405.
 */

import type { Server } from '@modelcontextprotocol/server';
import * as v from 'valibot';
import { rejectOtherOrigins } from '../http/authorize.ts';
import { parseJson } from '../http/parse.ts';
import { type AnyCall, type Invocation, type Route, route } from '../http/route.ts';
import { toAppError } from '../http/router.ts';
import type { Tool, ToolCall } from '../http/tool.ts';
import { AppError } from '../lib/errors.ts';
import { createMcpServer } from './server.ts';

/** A message as a JSON string, in which many characters need two bytes. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** The memory of a larger request is counted until its response, which then comes as a whole. */
const MAX_STREAMED_BYTES = 256 * 1024;

const FLAG = v.optional(v.picklist(['true', 'false'], 'must be true or false'), 'false');

/** `tools` is called by requests: the list contains the tools of all features. */
export const mcpRoute = (tools: () => Tool[]) =>
  route({
    method: 'POST',
    path: '/mcp',
    operation: 'callMcp',
    limited: true,
    role: 'viewer',
    invokes: true,
    acceptsAssistants: true,
    summary: 'Call the MCP server',
    query: v.strictObject({
      allow_writes: FLAG,
      structured: FLAG,
    }),
    consumes: { type: 'application/json', maxBytes: () => MAX_BODY_BYTES },
    produces: ['application/json', 'text/event-stream'],
    async handle(call) {
      const { app, actor, headers, raw, query, signal } = call;
      rejectOtherOrigins(headers, app.config);
      const message = parseJson(raw);
      if (Array.isArray(message))
        throw new AppError('malformed_request', 'Send one JSON-RPC message, not a batch.');
      // Only calls of tools take so long that a client, or a proxy, must see that the connection is alive.
      const streams = methodOf(message) === 'tools/call' && raw.byteLength <= MAX_STREAMED_BYTES;
      const server = await createMcpServer({
        version: app.version,
        tools: tools(),
        allowsWrites: actor.assistant?.writes ?? query.allow_writes === 'true',
        isStructured: query.structured === 'true',
        reportsProgress: streams,
        client: async () => actor,
        invoke: () => createInvoke(call as unknown as AnyCall),
        signal,
        toAppError: (error) => toAppError(error, app, call.requestId),
      });
      const { promise: gone, reject } = Promise.withResolvers<never>();
      const onAbort = () => {
        void server.close();
        reject(new AppError('malformed_request', 'The client closed the connection.'));
      };
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      const url = `${app.config.BASE_URL}/mcp`;
      const request = new Request(url, { method: 'POST', headers, signal });
      // A closed transport never completes a response as a whole, which would keep the memory of the request.
      return Promise.race([answer(server, request, message, streams), gone]);
    },
  });

const methodOf = (message: unknown): unknown => (message as { method?: unknown } | null)?.method;

async function answer(
  server: Server,
  request: Request,
  message: unknown,
  streams: boolean,
): Promise<Response> {
  const {
    createMcpHandler,
    isLegacyRequest,
    WebStandardStreamableHTTPServerTransport: Transport,
  } = await import('@modelcontextprotocol/server');
  const body = { parsedBody: message };
  // Before 2026-07-28, which put the version into each request: specification, basic/versioning.
  if (await isLegacyRequest(request, message)) {
    const transport = new Transport({ enableJsonResponse: !streams });
    await server.connect(transport);
    return transport.handleRequest(request, body);
  }
  const responseMode = streams ? 'sse' : 'auto';
  const options = { legacy: 'reject', responseMode, maxSubscriptions: 0 } as const;
  const response = await createMcpHandler(() => server, options).fetch(request, body);
  if (!response.ok || methodOf(message) !== 'subscriptions/listen') return response;
  // There are no changes to subscribe to. The SDK would say that there are too many subscriptions.
  const error = { code: -32601, message: 'Method not found' };
  return Response.json({ ...(await response.json()), error }, { status: 404 });
}

/** Passes on the role, the mode and the transactions of the request. */
const createInvoke =
  (call: AnyCall): ToolCall['invoke'] =>
  (invoked, invocation) =>
    call.invoke(invoked as Route, invocation as Invocation<Route>) as never;
