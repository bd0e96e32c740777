/**
 * Handles one request of a connection at a time. node:http hands over all pipelined requests at once, and their work would
 * then delay every other connection.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Waiting {
  request: IncomingMessage;
  response: ServerResponse;
  handle: Handle;
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * What a waiting request counts as: node:http stops reading a connection while 64 KiB of its output are pending. So it reads
 * one piece of 64 KiB with requests that must wait, and no more before most of them were handled.
 */
const WAITING_BYTES = 4096;
/** One piece can have thousands of requests, each of which takes some kilobytes. No client needs that many. */
const MAX_WAITING = 1000;

/**
 * Returns a function that calls `handle` once all earlier responses of the connection are complete, or never if the
 * connection ends before. Between two requests of a connection, others have their turn.
 */
export function createTurns(): (
  request: IncomingMessage,
  response: ServerResponse,
  handle: Handle,
) => void {
  /** The waiting requests of connections on which a request is handled. */
  const queues = new WeakMap<Socket, Waiting[]>();

  function start({ request, response, handle }: Waiting): void {
    const { socket } = request;
    response.once('close', () => {
      if (queues.get(socket)!.length > 0) setImmediate(startNext, socket);
      else queues.delete(socket);
    });
    handle(request, response);
  }

  function startNext(socket: Socket): void {
    const next = queues.get(socket)!.shift()!;
    // Not after the response that closes a connection (RFC 9112 §9.6).
    if (!socket.writable) return;
    addPending(next.response, -WAITING_BYTES);
    start(next);
  }

  return (request, response, handle) => {
    const queue = queues.get(request.socket);
    if (queue) {
      if (queue.length >= MAX_WAITING) {
        request.socket.destroy();
        return;
      }
      queue.push({ request, response, handle });
      addPending(response, WAITING_BYTES);
      return;
    }
    queues.set(request.socket, []);
    start({ request, response, handle });
  };
}

/** Adds to the pending output of the connection, by which node:http decides whether to read on. */
function addPending(response: ServerResponse, bytes: number): void {
  (response as never as { _onPendingData(delta: number): void })._onPendingData(bytes);
}
