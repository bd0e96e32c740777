/** docs/pipelines.md: its commands, the GitHub action, the GitLab template, the hooks, and the forms of reports. */

// @one-database: `check` opens no database.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { execFile, execFileSync } from '../../scripts/programs.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { codeBlocks, pathWithProgram } from '../helpers/installed-program.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const CHAPTER = read('docs/pipelines.md');
const run = promisify(execFile);
const GOOD = goodMessage({
  Date: new Date(systemClock.now()).toUTCString().replace('GMT', '+0000'),
});

interface Finished {
  code: number;
  stdout: string;
  stderr: string;
}

/** A repository with messages, and a function that runs a script in it. */
async function prepare(t: TestContext) {
  const folder = temporaryFolder(t);
  for (const name of ['templates/news', 'messages'])
    mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'messages/order.eml'), GOOD);
  writeFileSync(join(folder, 'templates/order.eml'), GOOD);
  writeFileSync(join(folder, 'templates/news/autumn, 50% off.eml'), GOOD);
  writeFileSync(join(folder, 'welcome.eml'), GOOD);
  const env = { PATH: await pathWithProgram(t), HOME: folder, DELIVERABILITY_BLOCKLISTS: '-all' };
  const shell = async (script: string, more: Record<string, string> = {}): Promise<Finished> => {
    const options = { cwd: folder, env: { ...env, ...more } };
    try {
      return { code: 0, ...(await run('bash', ['-euc', script], options)) };
    } catch (error) {
      const { code, stdout, stderr } = error as unknown as Finished;
      return { code, stdout, stderr };
    }
  };
  return { folder, shell, at: (name: string) => join(folder, name) };
}

test('Every command of docs/pipelines.md works as shown', async (t) => {
  const { shell, at } = await prepare(t);
  const dns = await startDnsServer({ 'example.com': { TXT: ['v=spf1 -all'] } });
  t.after(() => dns.close());
  const servers = { DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}` };
  const commands = codeBlocks(CHAPTER, 'sh');
  assert.ok(commands.length >= 8);
  for (const command of commands) {
    const { code, stdout, stderr } = await shell(command, servers);
    assert.equal(code, 0, `${command}\n${stdout}${stderr}`);
  }
  assert.ok(dns.queries.size > 0);
  for (const name of ['mail.json', 'mail.sarif', 'mail-baseline.json', 'result.json'])
    JSON.parse(readFileSync(at(name), 'utf8'));
  const [stage] = codeBlocks(CHAPTER, 'groovy');
  const command = /sh '([^']+)'/.exec(stage!)![1]!;
  assert.equal((await shell(command)).code, 0);
  assert.ok(existsSync(at('mail.xml')));
});

test('The inbox of docs/pipelines.md takes the message of each run', {
  skip: skipUnlessInstalled('swaks') || skipUnlessInstalled('curl'),
}, async (t) => {
  const { shell, at } = await prepare(t);
  const service = await startTestService(t, { env: { DELIVERABILITY_SMTP_PROXY_PROTOCOL: '' } });
  const env = { DELIVERABILITY_BASE_URL: service.url, DELIVERABILITY_API_KEY: service.key };
  const [create, run] = codeBlocks(CHAPTER, 'bash');
  const created = await shell(create!, env);
  const inbox = JSON.parse(created.stdout) as { id: string; address: string };
  const send = `#!/bin/sh\nswaks --server 127.0.0.1:${service.smtp.port} --from you@example.com --to "$1" >/dev/null\n`;
  writeFileSync(at('send-newsletter'), send, { mode: 0o755 });
  const variables = { ...env, INBOX_ID: inbox.id, INBOX_ADDRESS: inbox.address };
  for (const count of [1, 2]) {
    const { code, stdout, stderr } = await shell(run!, variables);
    assert.equal(code, 1, stdout + stderr);
    // SPF of a client on the same machine is unknown, and with it the score.
    assert.match(
      stderr,
      /^test_\w+: The score is unknown, so it does not reach the limit of 80\.$/m,
    );
    const { body } = await service.call<{ data: unknown[] }>(
      'GET',
      `/v1/tests?inbox_id=${inbox.id}`,
    );
    assert.equal(body.data.length, count);
  }
});

test('Every internal link of docs/pipelines.md has a heading', () => {
  const anchors = [...CHAPTER.matchAll(/^#+ (.+)$/gm)].map(
    ([, title]) => `#${title!.toLowerCase().replaceAll(' ', '-')}`,
  );
  const links = [...CHAPTER.matchAll(/\]\((#[^)]+)\)/g)].map(([, link]) => link!);
  assert.deepEqual(
    links.filter((link) => !anchors.includes(link)),
    [],
  );
});

interface Step {
  if?: string;
  uses?: string;
  run?: string;
  env?: Record<string, string>;
  with?: Record<string, string>;
}
interface Action {
  inputs: Record<string, { default?: string; required?: boolean }>;
  runs: { steps: Step[] };
}

test('The GitHub action runs with the inputs of the example, and reads nothing in them as code', async (t) => {
  const { shell, at, folder } = await prepare(t);
  await shell(
    'deliverability check templates --template --offline --report baseline=mail-baseline.json',
  );
  const action = parse(read('action.yml')) as Action;
  const workflow = parse(codeBlocks(CHAPTER, 'yaml')[0]!) as {
    jobs: { mail: { steps: Step[] } };
  };
  const given = workflow.jobs.mail.steps.find(({ uses }) => uses?.includes('deliverability'))!;
  const unknown = Object.keys(given.with!).filter((name) => !(name in action.inputs));
  assert.deepEqual(unknown, []);
  const steps = action.runs.steps.filter((step) => step.run && !step.if);
  // Only variables carry inputs: an expression in a script would be read as code.
  for (const step of action.runs.steps) assert.doesNotMatch(step.run ?? '', /\$\{\{/);
  const runAction = async (inputs: Record<string, string>) => {
    const results: Finished[] = [];
    for (const step of steps) {
      const env = Object.fromEntries(
        Object.entries(step.env ?? {}).map(([name, expression]) => {
          const input = /^\$\{\{ inputs\.([a-z-]+) \}\}$/.exec(expression)![1]!;
          return [name, inputs[input] ?? action.inputs[input]!.default ?? ''];
        }),
      );
      results.push(
        await shell(step.run!, {
          ...env,
          GITHUB_ACTIONS: 'true',
          GITHUB_WORKSPACE: folder,
          GITHUB_ACTION_PATH: ROOT,
          GITHUB_OUTPUT: at('output'),
          GITHUB_STEP_SUMMARY: at('summary.md'),
        }),
      );
    }
    return results.at(-1)!;
  };
  const passed = await runAction(given.with!);
  assert.equal(passed.code, 0, passed.stderr);
  assert.equal(readFileSync(at('output'), 'utf8'), 'source=false\n');
  assert.match(readFileSync(at('summary.md'), 'utf8'), /2 messages: 2 passed\./);
  JSON.parse(readFileSync(at('mail.sarif'), 'utf8'));
  writeFileSync(at('templates/order.eml'), GOOD.replace(/^Subject: /m, '$&{{ name } '));
  const failed = await runAction(given.with!);
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /^::error file=templates\/order\.eml,line=1,title=Merge tags::/m);
  assert.doesNotMatch(failed.stderr, /DKIM/, 'known findings get no annotation');
  const hostile = await runAction({
    paths: '$(touch owned)\n`touch owned`;touch owned',
    options: '--offline',
  });
  assert.equal(hostile.code, 2);
  assert.ok(!existsSync(at('owned')));
});

test('The GitLab template downloads, checks and runs the program, and refuses another one', async (t) => {
  const { shell, at, folder } = await prepare(t);
  const template = parse(read('examples/gitlab-ci.yml')) as Record<
    string,
    { before_script: string[]; script: string[]; variables: Record<string, string> }
  >;
  const job = template['.deliverability']!;
  const example = parse(codeBlocks(CHAPTER, 'yaml')[1]!) as Record<
    string,
    { variables: Record<string, string> }
  >;
  const program = (
    await run('which', ['deliverability'], { env: { PATH: await pathWithProgram(t) } })
  ).stdout.trim();
  const sha256 = createHash('sha256').update(readFileSync(program)).digest('hex');
  const script = [...job.before_script, ...job.script].join('\n').replaceAll('/tmp/', `${folder}/`);
  const variables = {
    ...job.variables,
    ...example['check-mail']!.variables,
    CI_PROJECT_DIR: folder,
    DELIVERABILITY_URL: pathToFileURL(program).href,
    DELIVERABILITY_SHA256: sha256,
  };
  // A problem that costs too little to fail.
  const loud = GOOD.replace(/^Subject: /m, '$&LAST CHANCE TODAY ONLY!!! ');
  writeFileSync(at('templates/news/autumn, 50% off.eml'), loud);
  const { code, stdout, stderr } = await shell(script, variables);
  assert.equal(code, 0, stdout + stderr);
  const issues = JSON.parse(readFileSync(at('deliverability.json'), 'utf8')) as {
    location: { path: string };
    fingerprint: string;
    severity: string;
  }[];
  assert.ok(issues.some(({ location }) => location.path === 'templates/news/autumn, 50% off.eml'));
  assert.equal(new Set(issues.map(({ fingerprint }) => fingerprint)).size, issues.length);
  for (const { severity } of issues)
    assert.match(severity, /^(info|minor|major|critical|blocker)$/);
  const other = await shell(script, { ...variables, DELIVERABILITY_SHA256: '0'.repeat(64) });
  assert.notEqual(other.code, 0);
  assert.doesNotMatch(other.stdout, /checked|passed/);
});

test('The pre-commit hook checks the messages of a commit', {
  skip: skipUnlessInstalled('pre-commit'),
}, async (t) => {
  const { shell, at } = await prepare(t);
  const hooks = temporaryFolder(t);
  cpSync(join(ROOT, '.pre-commit-hooks.yaml'), join(hooks, '.pre-commit-hooks.yaml'));
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
      cwd,
      stdio: 'pipe',
    });
  for (const folder of [hooks, at('')]) git(folder, 'init', '--quiet');
  git(hooks, 'add', '.');
  git(hooks, 'commit', '--quiet', '-m', 'Hooks');
  git(hooks, 'tag', 'v1.0.0');
  const config = codeBlocks(CHAPTER, 'yaml')[2]!;
  writeFileSync(at('.pre-commit-config.yaml'), config.replace(/https:\S+/, hooks));
  git(at(''), 'add', '.');
  const clean = await shell('pre-commit run --all-files');
  assert.equal(clean.code, 0, clean.stdout + clean.stderr);
  assert.match(clean.stdout, /Check email templates\.+Passed/);
  writeFileSync(at('welcome.eml'), '');
  git(at(''), 'add', '.');
  const broken = await shell('pre-commit run');
  assert.equal(broken.code, 1);
  assert.match(broken.stdout, /Failed[\s\S]*exit code: 2[\s\S]*welcome\.eml is empty/);
});

/** The usual form of JUnit reports, as Jenkins and GitLab read it. */
const JUNIT_SCHEMA = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:complexType name="problem" mixed="true">
    <xs:attribute name="message" type="xs:string"/><xs:attribute name="type" type="xs:string"/>
  </xs:complexType>
  <xs:element name="testsuites"><xs:complexType><xs:sequence>
    <xs:element name="testsuite" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="testcase" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:choice minOccurs="0">
        <xs:element name="skipped" type="problem"/><xs:element name="failure" type="problem"/>
        <xs:element name="error" type="problem"/><xs:element name="system-out" type="xs:string"/>
      </xs:choice>
      <xs:attribute name="name" type="xs:string" use="required"/>
      <xs:attribute name="classname" type="xs:string" use="required"/>
      <xs:attribute name="time" type="xs:decimal"/></xs:complexType></xs:element>
    </xs:sequence>
    <xs:attribute name="name" type="xs:string" use="required"/>
    <xs:attribute name="tests" type="xs:nonNegativeInteger" use="required"/>
    <xs:attribute name="failures" type="xs:nonNegativeInteger" use="required"/>
    <xs:attribute name="errors" type="xs:nonNegativeInteger" use="required"/>
    <xs:attribute name="skipped" type="xs:nonNegativeInteger"/>
    <xs:attribute name="time" type="xs:decimal"/></xs:complexType></xs:element>
  </xs:sequence><xs:attribute name="name" type="xs:string"/></xs:complexType></xs:element>
</xs:schema>`;

/** Contains the JSON schema of SARIF 2.1.0. Its dependencies are not needed, so it is not one of ours. */
const SCHEMA_PACKAGE = '@microsoft/jest-sarif@1.0.0-beta.0';
const SCHEMA_FILE = 'package/lib/schemas/sarif-2.1.0-rtm.5.json';

const AJV_OPTIONS = { strict: false, validateFormats: false, unicodeRegExp: false };

interface SarifReport extends Record<string, unknown> {
  runs: {
    results: {
      ruleId: string;
      ruleIndex: number;
      locations: { physicalLocation: { artifactLocation: { uri: string } } }[];
    }[];
    tool: { driver: { rules: { id: string }[] } };
    invocations: { executionSuccessful: boolean }[];
  }[];
}

const HOSTILE =
  'From: a@shop.example\r\nSubject: <![CDATA[ ]]> &amp; \u0001\u001b[31m \ud800 "quoted" \r\n\r\nHello\r\n';

test('JUnit and SARIF reports of hostile messages satisfy their schemas', {
  skip: skipUnlessInstalled('xmllint'),
}, async (t) => {
  const { shell, at, folder } = await prepare(t);
  writeFileSync(at('templates/<&">\u0001 \ufffe%.eml'), HOSTILE);
  writeFileSync(at('templates/empty.eml'), '');
  const script =
    'deliverability check templates --offline --fail-below 1 --baseline base.json --report sarif=o.sarif junit=o.xml';
  await shell('deliverability check templates --offline --report baseline=base.json');
  assert.equal((await shell(script)).code, 2);
  writeFileSync(at('junit.xsd'), JUNIT_SCHEMA);
  const lint = await shell('xmllint --noout --schema junit.xsd o.xml');
  assert.equal(lint.code, 0, lint.stderr);
  // The registry of this machine is in its configuration.
  await run('npm', ['pack', '--silent', SCHEMA_PACKAGE], { cwd: folder, timeout: 60_000 });
  await shell(`tar xzf microsoft-jest-sarif-*.tgz ${SCHEMA_FILE}`);
  // Draft 4 has another name for the identifier of the schema. It needs none here.
  const { $schema: _, id: _id, ...schema } = JSON.parse(readFileSync(at(SCHEMA_FILE), 'utf8'));
  const validate = new Ajv(AJV_OPTIONS).compile<Record<string, unknown>>(schema);
  const report: SarifReport = JSON.parse(readFileSync(at('o.sarif'), 'utf8'));
  assert.ok(validate(report), JSON.stringify(validate.errors));
  const { results, tool, invocations } = report.runs[0]!;
  assert.ok(results.length > 3);
  for (const result of results) {
    assert.equal(tool.driver.rules[result.ruleIndex]!.id, result.ruleId);
    const { uri } = result.locations[0]!.physicalLocation.artifactLocation;
    assert.ok(existsSync(at(decodeURIComponent(uri))), uri);
  }
  assert.equal(invocations[0]!.executionSuccessful, false);
  assert.ok(!validate({ ...report, version: '2' }), 'the schema rejects other documents');
});
