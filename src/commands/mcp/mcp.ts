/** `mcp`: a server of the Model Context Protocol over stdio, for assistants on this machine. */

import type { Transport } from '@modelcontextprotocol/server';
import { ConfigError } from '../../config/config.ts';
import { isLoopback } from '../../config/seed-mailboxes.ts';
import { TOOLS } from '../../features.ts';
import { AppError } from '../../lib/errors.ts';
import { checkMessage, checkOnService } from '../../mailtests/tools.ts';
import { createMcpServer, type ServerOptions } from '../../mcp/server.ts';
import { VERSION } from '../../version.ts';
import { defineCommand, EXIT, type Io, UsageError } from '../command.ts';
import { messageTool } from './check-message.ts';
import {
  createServiceInvoke,
  readClient,
  type ServiceTarget,
  TIMEOUT_MS,
} from './service-client.ts';
import { standaloneTools } from './standalone.ts';

export const mcp = defineCommand({
  name: 'mcp',
  summary:
    'Let an AI assistant check mail and domains through the Model Context Protocol, on the service at DELIVERABILITY_URL if set',
  options: {
    'allow-writes': {
      description: 'Also offer tools that change settings, as the role of the API key allows',
    },
    structured: {
      description: 'Also return the JSON of answers, for programs',
    },
  },
  async run({ values }, io) {
    const target = readTarget(io);
    const { 'allow-writes': allowsWrites = false, structured: isStructured = false } = values;
    if (!target && (allowsWrites || isStructured))
      throw new UsageError('--allow-writes and --structured require DELIVERABILITY_URL');
    const { input, output, exit } = io.protocol!;
    const options = {
      version: VERSION,
      allowsWrites,
      isStructured,
      reportsProgress: true,
      toAppError: toAppErrorFor(io),
      ...(target ? serviceOptions(target) : standaloneOptions(io)),
    };
    const { serveStdio, StdioServerTransport } = await import('@modelcontextprotocol/server/stdio');
    const transport = new StdioServerTransport(input, output, { maxBufferSize: MAX_INPUT_BYTES });
    // The end of the input would end the requests in progress.
    transport._onstdinclose = () => {};
    const onerror = ({ message }: Error) => io.stderr(`${message}\n`);
    serveStdio(() => createMcpServer(options), { transport, onerror, maxSubscriptions: 0 });
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
    const pending = watchPending(transport);
    // A script sends its requests, closes its output, and reads the answers. Other clients end the process themselves.
    input.once('end', () => void pending(TIMEOUT_MS).then(resolve));
    await closed;
    // Analyses and requests in progress end with the process.
    return exit(EXIT.success);
  },
});

/** A message as a JSON string, in which many characters need two bytes. */
const MAX_INPUT_BYTES = 16 * 1024 * 1024;

function readTarget({ env, stderr }: Io): ServiceTarget | null {
  const base = env.DELIVERABILITY_URL?.trim() ?? '';
  const key = env.DELIVERABILITY_API_KEY?.trim() ?? '';
  if (base === '') return null;
  if (!URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol))
    throw new UsageError(
      'DELIVERABILITY_URL must be the URL of a service, such as https://mail.example.com',
    );
  if (key === '') throw new UsageError('Set DELIVERABILITY_API_KEY to an API key of the service');
  const { protocol, hostname } = new URL(base);
  if (protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, '')))
    stderr('DELIVERABILITY_URL is not HTTPS: others on the network can read the API key.\n');
  return { base: base.replace(/\/+$/, ''), key };
}

type Backend = Pick<ServerOptions, 'tools' | 'client' | 'invoke' | 'findResource'>;

function serviceOptions(target: ServiceTarget): Backend {
  const message = messageTool(checkOnService, checkMessage);
  return {
    tools: TOOLS.map((tool) => (tool === checkMessage ? message : tool)),
    client: () => readClient(target),
    invoke: (signal) => createServiceInvoke(target, signal),
  };
}

const standaloneOptions = (io: Io): Backend => ({
  ...standaloneTools(io),
  client: async () => null,
  invoke: () => () => Promise.reject(new AppError('unavailable', 'There is no service.')),
});

/** A bug is printed to stderr, which clients keep as a log. */
const toAppErrorFor =
  (io: Io): ServerOptions['toAppError'] =>
  (error) => {
    if (error instanceof AppError) return error;
    if (error instanceof ConfigError || error instanceof UsageError)
      return new AppError('malformed_request', error.message);
    io.stderr(`${(error as Error)?.stack ?? error}\n`);
    return new AppError('internal_error', 'An internal error occurred. The details are on stderr.');
  };

/** Returns a function that resolves when all requests are answered, or after a time limit. */
function watchPending(transport: Transport): (ms: number) => Promise<void> {
  const pending = new Set<unknown>();
  const { onmessage, send } = transport;
  let notify = () => {};
  transport.onmessage = (message, extra) => {
    if ('method' in message && 'id' in message) pending.add(message.id);
    // A cancelled request gets no answer.
    if ('method' in message && message.method === 'notifications/cancelled')
      pending.delete(message.params?.requestId);
    onmessage?.(message, extra);
  };
  transport.send = async (message, options) => {
    await send.call(transport, message, options);
    if (!('method' in message) && 'id' in message) pending.delete(message.id);
    if (pending.size === 0) notify();
  };
  return (ms) =>
    new Promise((resolve) => {
      if (pending.size === 0) return resolve();
      notify = resolve;
      setTimeout(resolve, ms).unref();
    });
}
