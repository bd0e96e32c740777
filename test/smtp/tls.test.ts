import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SecureVersion } from 'node:tls';
import { makeCertificate } from '../../src/lib/certificates.ts';
import { ADDRESS, beginData, listen, NOW, PAIR } from './listener.ts';

describe('STARTTLS', () => {
  const versions: SecureVersion[] = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'];
  for (const version of versions) {
    it(`takes ${version} and tells it`, async (t) => {
      const listener = await listen(t);
      const client = await listener.connect();
      const secure = await client.startTls({
        minVersion: 'TLSv1',
        maxVersion: version,
        ciphers: 'DEFAULT@SECLEVEL=0',
        servername: 'mx.example.com',
        ca: PAIR.cert,
        rejectUnauthorized: true,
      });
      assert.equal(secure.authorized, true);
      await beginData(client);
      await client.say('a\r\n.', 250);
      assert.deepEqual(listener.messages[0]?.envelope.tls, {
        used: true,
        version,
        cipher: secure.getCipher().name,
      });
    });
  }

  it('forgets what was said before it', async (t) => {
    const client = await (await listen(t)).connect();
    await client.say('EHLO client.example.com', 250);
    await client.say('MAIL FROM:<a@example.com>', 250);
    await client.startTls();
    await client.say(`RCPT TO:<${ADDRESS}>`, 503);
    await client.say('MAIL FROM:<a@example.com>', 503);
    await client.say('EHLO client.example.com', 250);
    await client.say(`RCPT TO:<${ADDRESS}>`, 503);
    await client.say('STARTTLS', 503);
  });

  it('discards what was written behind it in the clear', async (t) => {
    const asked: string[] = [];
    const listener = await listen(
      t,
      {},
      {
        recipient: (address) => {
          asked.push(address);
          return { accept: true };
        },
      },
    );
    const injected = `EHLO evil\r\nMAIL FROM:<evil@example.net>\r\nRCPT TO:<${ADDRESS}>`;
    const client = await listener.connect();
    await client.startTls({}, `\r\n${injected}`);
    // Had any of the injected commands run, its reply would be the next.
    await client.say('DATA', 503);
    await client.say('EHLO client.example.com', 250);
    await client.say('DATA', 503);
    assert.deepEqual(asked, []);
  });

  it('a handshake that is none ends the connection and nothing else', async (t) => {
    const listener = await listen(t);
    const client = await listener.connect();
    await client.say('STARTTLS', 220);
    await client.write('EHLO client.example.com\r\n'.repeat(20));
    await client.closed;
    while (listener.connections() > 0) await new Promise(setImmediate);
    await (await listener.connect()).say('NOOP', 250);
  });
});

describe('a new key pair', () => {
  it('is used from the next handshake on; one that is none changes nothing', async (t) => {
    const listener = await listen(t);
    const nameShown = async () => {
      const secure = await (await listener.connect()).startTls();
      return secure.getPeerCertificate().subject.CN;
    };
    assert.equal(await nameShown(), 'mx.example.com');
    assert.throws(() => listener.updateTls({ key: 'none', cert: 'none' }));
    assert.equal(await nameShown(), 'mx.example.com');
    listener.updateTls(await makeCertificate('new.example.com', NOW));
    assert.equal(await nameShown(), 'new.example.com');
  });
});
