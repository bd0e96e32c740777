import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { buildProgram, runProgram } from '../helpers/program.ts';
import { serveEnvironment } from '../helpers/serve-process.ts';
import { sendMail } from '../helpers/send.ts';
import { BOMBS } from './bombs.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { SENDER_ZONE } from './sender.ts';
const dns = await startDnsServer(SENDER_ZONE);
const folder = mkdtempSync('/tmp/prof-');
const env = { ...serveEnvironment(folder), DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`, PATH: process.env.PATH! };
const key = JSON.parse((await runProgram(['owner', 'a@b.c', '--json'], env)).stdout).key;
const child = spawn(process.execPath, ['--require', '/tmp/wrap.cjs', await buildProgram(), 'serve'], { env });
const ready: any = await new Promise((r) => createInterface(child.stderr).on('line', (l) => { const x = JSON.parse(l); if (x.message === 'ready') r(x); else console.log(l.includes('STALL') ? l.slice(0,700) : ''); }));
const call = async (method: string, path: string, body?: any, type = 'application/json') => (await (await fetch(ready.api + path, { method, body, headers: { authorization: `Bearer ${key}`, ...(body ? {'content-type': type} : {}) } })).json());
if (process.argv[2] === 'smtp') {
  for (const name of ['20 MB of base64', '20 MB of HTML text', '20 MB of base64']) {
    const { id, address } = await call('POST', '/v1/tests', '{}');
    await sendMail({ port: Number(ready.smtp.split(':')[1]), to: address, raw: BOMBS[name]!() });
    console.log((await call('GET', `/v1/tests/${id}?wait=30`)).status);
  }
} else {
  const ids = await Promise.all(Object.values(BOMBS).map(async (make) => (await call('POST', '/v1/tests', make().toString().replaceAll('\r\n', '\n'), 'message/rfc822')).id));
  for (const id of ids) console.log((await call('GET', `/v1/tests/${id}?wait=50`)).status);
}
child.kill('SIGTERM'); await once(child, 'close'); rmSync(folder, { recursive: true });
await dns.close();
