/** How to send a first test from a shell: commands that work as they stand, once there is a key. */

import { Copyable } from '../render/page/shown-values.tsx';

const BEARER = '-H "Authorization: Bearer $API_KEY"';

function Command({ lines, label }: { lines: string[]; label: string }) {
  return (
    <div class="box command">
      <Copyable text={lines.join(' \\\n  ')} label={label} />
    </div>
  );
}

/** `baseUrl` is the address of the API. */
export function FirstTest({ baseUrl }: { baseUrl: string }) {
  const tests = `${baseUrl.replace(/\/$/, '')}/v1/tests`;
  return (
    <section class="card form" aria-labelledby="first-test">
      <h2 id="first-test">Send a first test</h2>
      <ol class="steps">
        <li>
          <p>
            Read an API key into your shell. Who runs the server makes one with{' '}
            <code>deliverability key NAME --role member</code>.
          </p>
          <Command lines={['read -rs API_KEY']} label="the command that reads the key" />
        </li>
        <li>
          <p>
            Ask for an address, and send your mail to it: it is the <code>address</code> in the
            answer.
          </p>
          <Command
            lines={[`curl -X POST "${tests}"`, BEARER]}
            label="the command that asks for an address"
          />
        </li>
        <li>
          <p>
            Put the <code>id</code> in the answer into <code>TEST_ID</code>, and read the result;
            this waits up to 50 seconds for the mail.
          </p>
          <Command
            lines={[`curl "${tests}/$TEST_ID?wait=50"`, BEARER]}
            label="the command that reads the result"
          />
        </li>
      </ol>
      <p>Or test a message that you have as a file, without sending it:</p>
      <Command
        lines={[
          `curl "${tests}"`,
          BEARER,
          '-H "Content-Type: message/rfc822"',
          '--data-binary @message.eml',
        ]}
        label="the command that hands a message in"
      />
      <p>
        The <a href="/docs">API reference</a> has all that there is beyond it, for programs as an{' '}
        <a href="/openapi.json">OpenAPI document</a>.
      </p>
    </section>
  );
}
