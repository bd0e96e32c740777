/** An HTTP server on loopback whose responses a test decides. */

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface HttpExchange {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
  response: ServerResponse;
  /** Sends JSON. */
  json(status: number, value: unknown, headers?: Record<string, string>): void;
}

export interface HttpScript {
  url: string;
  exchanges: Pick<HttpExchange, 'method' | 'path' | 'query' | 'headers' | 'body'>[];
}

export async function startHttpScript(
  t: TestContext,
  answer: (exchange: HttpExchange) => void,
): Promise<HttpScript> {
  const script: HttpScript = { url: '', exchanges: [] };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname, searchParams } = new URL(request.url ?? '/', script.url);
    const exchange = {
      method: request.method ?? '',
      path: pathname,
      query: searchParams,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    script.exchanges.push(exchange);
    response.on('error', () => {});
    answer({
      ...exchange,
      response,
      json(status, value, headers = {}) {
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(JSON.stringify(value));
      },
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  script.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return script;
}

/** Ways in which a server fails, whatever it is asked. */
export const HTTP_FAULTS = {
  throttled: ({ response }) => {
    response.writeHead(429, { 'retry-after': '120' });
    response.end('Too many requests');
  },
  unavailable: ({ response }) => {
    response.writeHead(500);
    response.end('Internal error');
  },
  /** Sends nothing until the client gives up. */
  slow: () => {},
  /** Closes the connection without a response. */
  broken: ({ response }) => {
    response.destroy();
  },
  /** Closes the connection within the body. */
  truncated: ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
    response.write('{"domains": [', () => response.destroy());
  },
} satisfies Record<string, (exchange: HttpExchange) => void>;
export type HttpFault = keyof typeof HTTP_FAULTS;

/** Responses that no client should read to the end, or believe; each with what it is. */
export const HOSTILE_RESPONSES: [string, (exchange: HttpExchange) => void][] = [
  [
    'a body of 50 MB',
    ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"access_token":"${'x'.repeat(50_000_000)}"}`);
    },
  ],
  [
    'an endless body',
    ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        while (!response.destroyed && response.write('[[[[[[[['.repeat(8192)));
      };
      response.on('drain', more);
      more();
    },
  ],
  [
    'a body that is not JSON',
    ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<h1>Sign in to the hotel Wi-Fi</h1>');
    },
  ],
  [
    'JSON of another form',
    ({ json }) => json(200, { access_token: 7, value: { id: 1 }, token_type: 'bearer' }),
  ],
  ['deeply nested JSON', ({ response }) => response.end('['.repeat(30_000))],
  [
    'a redirect',
    ({ response }) => {
      response.writeHead(302, { location: 'http://127.0.0.1:1/' });
      response.end();
    },
  ],
];
