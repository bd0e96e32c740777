/** The library's server, set up as we want it; it listens nowhere, connections are handed to it. */

import { createSecureContext } from 'node:tls';
import { SMTPServer } from 'smtp-server';
import type { KeyPair } from '../lib/certificates.ts';
import type { Room } from './room.ts';
import { transactionHandlers } from './transaction.ts';

/** `name` is what we call ourselves. Throws where the key pair is none. */
export function createProtocol(room: Room, name: string, tls: KeyPair): SMTPServer {
  const server = new SMTPServer({
    ...tls,
    // A sender with outdated TLS is to be told so, not to be turned away (OpenSSL allows TLS 1.0
    // and 1.1 at this level only).
    minVersion: 'TLSv1',
    ciphers: 'DEFAULT@SECLEVEL=0',
    name,
    banner: 'ready',
    heloResponse: '%s greets %s',
    size: room.maxSize,
    maxCommandLength: room.limits.line,
    // An odd sender address is a finding of the analysis, not a reason to refuse.
    lenientAddressParsing: true,
    disabledCommands: ['AUTH', 'XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL'],
    hideENHANCEDSTATUSCODES: false,
    disableReverseLookup: true,
    // Our own deadlines come first.
    socketTimeout: room.limits.session + 60_000,
    logger: false,
    onConnect: (_session, callback) => callback(),
    ...transactionHandlers(room),
  });
  server.on('error', (error) => room.log.debug('SMTP failed.', { error: error.message }));
  return server;
}

/** For the handshakes from now on. Throws where the pair is none; the old one then stays. */
export function replaceKeyPair(server: SMTPServer, { key, cert }: KeyPair): void {
  createSecureContext({ key, cert });
  server.updateSecureContext({ key, cert });
}
