/**
 * How long the service takes for each page with feedback, and how large the pages are. There are 400 days, 5,000 sources, a
 * million rows, and 100,000 bounces and complaints each.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { startChild } from './child.ts';
import { FILL_SUMS } from './counts.ts';
import { round2 } from './measure.ts';
import { measurePage, signIn } from './pages.ts';

const DAYS = 400;
const REPORTS_A_DAY = 50;
const ROWS_EACH = 50;
const SOURCES = 5_000;
const REPORTERS = 25;
/** Sources that send every day, and those that send once a week. The others send on ten days in a row. */
const DAILY = 100;
const WEEKLY = 399;
/** Each of these has so many addresses; the others have one. */
const ADDRESSES_EACH = 6;

export async function benchFeedbackPages() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const service = await startChild<{ http: number; key: string }>('service-child.mjs', [
    folder,
    '1',
  ]);
  try {
    const url = `http://127.0.0.1:${service.ready.http}`;
    const created = await fetch(`${url}/v1/domains`, {
      method: 'POST',
      body: JSON.stringify({ name: 'example.com' }),
      headers: {
        authorization: `Bearer ${service.ready.key}`,
        'content-type': 'application/json',
      },
    });
    const { id } = (await created.json()) as { id: string };
    const path = join(folder, 'deliverability.db');
    const { rows, sourceDays } = fill(path, id);
    fillMessages(path, id);
    const monitor = fillDomains(path, id);
    fillSums(path);
    signIn(path);
    const figures: Record<string, number> = {};
    let [slowest, largest] = [0, 0];
    for (const [name, page] of Object.entries(pagesOf(id, monitor))) {
      const { p95, bytes } = await measurePage(url + page);
      figures[`${name} p95_ms`] = round2(p95);
      figures[`${name} kb`] = round2(bytes / 1000);
      slowest = Math.max(slowest, p95);
      largest = Math.max(largest, bytes);
    }
    return {
      days: DAYS,
      sources: SOURCES,
      rows,
      source_days: sourceDays,
      bounces: MESSAGES,
      slowest_page_p95_ms: round2(slowest),
      largest_page_kb: round2(largest / 1000),
      ...figures,
    };
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function pagesOf(domain: string, monitor: string): Record<string, string> {
  const path = `/feedback/domains/${domain}`;
  return {
    domains: '/feedback',
    '7 days': `${path}?days=7`,
    '30 days': path,
    '90 days': `${path}?days=90`,
    '400 days': `${path}?days=400`,
    'second page': `${path}?starting_after=src_40`,
    'only failing': `${path}?show=failing`,
    'only failing, 400 days': `${path}?show=failing&days=400`,
    'only new': `${path}?show=new`,
    'largest reporter': `${path}?reporter=receiver+0`,
    'largest source': '/feedback/sources/src_0',
    'small source': `/feedback/sources/src_${SOURCES - 1}`,
    reports: '/feedback/reports',
    'refused reports': '/feedback/reports?status=refused',
    'a report': '/feedback/reports/fbr_0000010',
    'largest report': '/feedback/reports/fbr_0000000',
    complaints: `${path}/complaints`,
    'complaints, 90 days': `${path}/complaints?days=90`,
    'complaints, 400 days': `${path}/complaints?days=400`,
    bounces: `${path}/bounces`,
    'bounces, 90 days': `${path}/bounces?days=90`,
    'bounces, 400 days': `${path}/bounces?days=400`,
    'list of domains': '/domains',
    'a domain': `/domains/${domain}`,
    'a monitor': `/monitors/${monitor}`,
  };
}

/** 5,000 rows of one report are kept one by one. */
const LARGE_ROWS = 5_000;

/**
 * What the service stores for these reports, if all addresses have been looked up. Most rows are about the sources that
 * send every day, since each reporter reports them. A report of yesterday names an address of every source. The largest
 * reporter sends a fifth of the reports.
 */
function fill(path: string, domain: string): { rows: number; sourceDays: number } {
  const database = new Sqlite(path, { timeout: 10_000 });
  const today = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000).toISOString();
  const day = (ago: string) => `date('${today}', '-' || (${ago}) || ' days')`;
  const numbers = (name: string, count: number) =>
    `${name}(${name}) AS (SELECT 0 UNION ALL SELECT ${name} + 1 FROM ${name} WHERE ${name} < ${count - 1})`;
  const reports = DAYS * REPORTS_A_DAY;
  const policy = '{"p":"none","sp":null,"np":null}';
  database.exec(`
    PRAGMA synchronous = OFF;
    BEGIN;
    UPDATE feedback_domains SET lookup_at = '9', first_at = ${day(String(DAYS))}, last_at = '${today}' WHERE id = '${domain}';
    WITH RECURSIVE ${numbers('i', REPORTERS)}
    INSERT INTO feedback_reporters (id, name, trusted, first_at, last_at, reports, counted)
      SELECT 'rep_' || i, 'receiver ' || i, 1, '${today}', '${today}', 800, 800 FROM i;
    WITH RECURSIVE ${numbers('i', reports)}
    INSERT INTO feedback_reports (id, mail_id, position, type, status, identity, figures, reporter_id, domain_id, policy_domain,
      period_from, period_to, messages, passed, failed, verified, source, repaired, content, row_count, stored_rows, counted_rows, received_at, attributed)
      SELECT printf('fbr_%07d', i), 'fbm_' || i, 0, 'dmarc', 'counted', 'dmarc ' || i, 'x',
        'rep_' || (CASE WHEN i % 5 = 0 THEN 0 ELSE i % ${REPORTERS} END), '${domain}', 'example.com',
        ${day(`1 + i / ${REPORTS_A_DAY}`)} || 'T00:00:00.000Z', ${day(`1 + i / ${REPORTS_A_DAY}`)} || 'T23:59:59.000Z',
        200, 160, 40, 1, 'smtp', '[]', '{"report_id":"r","policy":${policy}}',
        ${ROWS_EACH}, ${ROWS_EACH}, ${ROWS_EACH}, ${day(`i / ${REPORTS_A_DAY}`)} || 'T04:00:00.000Z', 1 FROM i;
    UPDATE feedback_reports SET row_count = 9000, stored_rows = ${LARGE_ROWS}, counted_rows = ${LARGE_ROWS} WHERE id = 'fbr_0000000';
    INSERT INTO feedback_reports (id, mail_id, position, status, reason, messages, passed, failed, source, repaired, content, row_count, stored_rows, counted_rows, received_at, attributed)
      SELECT 'fbr_x' || id, 'x' || id, 0, 'refused', 'not_a_report', 0, 0, 0, 'smtp', '[]', '{}', 0, 0, 0, received_at, 1 FROM feedback_reports WHERE rowid % 20 = 0;
    WITH RECURSIVE ${numbers('i', reports)}, ${numbers('n', ROWS_EACH)},
      rows AS (SELECT i, n, i / ${REPORTS_A_DAY} AS d, i % ${REPORTS_A_DAY} AS r FROM i, n),
      named AS (SELECT i, n, r, CASE
        WHEN n < 40 THEN (r * 40 + n) % ${DAILY}
        WHEN n < 46 THEN ${DAILY} + d % 7 * ${WEEKLY / 7} + (r * 6 + n) % ${WEEKLY / 7}
        ELSE ${DAILY + WEEKLY} + (d * ${SOURCES - DAILY - WEEKLY} / ${DAYS} + (r * 4 + n) % 110) % ${SOURCES - DAILY - WEEKLY} END AS source FROM rows),
      draws AS (SELECT i, n, CASE WHEN source < ${DAILY + WEEKLY}
        THEN ${SOURCES} + source * ${ADDRESSES_EACH} + r % ${ADDRESSES_EACH} ELSE source END AS address FROM named)
    INSERT INTO dmarc_rows (report_id, position, domain_id, day, address, count, outcome, dkim, spf, disposition, header_from,
      dkim_domain, dkim_selector, dkim_result, spf_domain, spf_result, counted)
      SELECT printf('fbr_%07d', i), n, '${domain}', ${day(`1 + i / ${REPORTS_A_DAY}`)},
        '198.18.' || (address / 256) || '.' || (address % 256),
        1 + n % 7, CASE WHEN n % 5 = 0 THEN 'fail' ELSE 'pass' END, CASE WHEN n % 5 = 0 THEN 'fail' ELSE 'pass' END,
        CASE WHEN n % 3 = 0 THEN 'pass' ELSE 'fail' END, 'none', 'example.com', 'example.com', 's1', 'pass', 'bounce.example.net', 'pass', 1
      FROM draws;
    WITH RECURSIVE ${numbers('n', LARGE_ROWS)}
    INSERT INTO dmarc_rows (report_id, position, domain_id, day, address, count, outcome, dkim, spf, disposition, counted)
      SELECT 'fbr_0000000', n, '${domain}', ${day('1')}, '198.18.' || (n / 256) || '.' || (n % 256), 1, 'pass', 'pass', 'pass', 'none', 1
      FROM n WHERE n >= ${ROWS_EACH};
    INSERT INTO feedback_addresses (id, domain_id, address, first_day, last_day, messages, passed, look_up_at)
      SELECT domain_id || ' ' || address, domain_id, address, min(day), max(day), sum(count), sum(count * (outcome = 'pass')), '9'
      FROM dmarc_rows GROUP BY address;
    WITH numbered AS (SELECT id, substr(address, 8, instr(substr(address, 8), '.') - 1) * 256
        + substr(address, 8 + instr(substr(address, 8), '.')) AS number FROM feedback_addresses)
    UPDATE feedback_addresses SET host = 'h' || number || '.example', source_id = 'src_'
        || CASE WHEN number < ${SOURCES} THEN number ELSE (number - ${SOURCES}) / ${ADDRESSES_EACH} END
      FROM numbered WHERE numbered.id = feedback_addresses.id;
    WITH RECURSIVE ${numbers('i', SOURCES)}
    INSERT INTO feedback_sources (id, domain_id, key, name, evidence)
      SELECT 'src_' || i, '${domain}', 'host h' || i || '.example', 'h' || i || '.example', 'The confirmed host name is h.example.' FROM i;
    INSERT INTO feedback_source_days (source_id, domain_id, day, messages, passed, dkim, spf, quarantined, rejected, forwarded)
      SELECT source_id, r.domain_id, day, sum(count), sum(count * (outcome = 'pass')), sum(count * (dkim = 'pass')), sum(count * (spf = 'pass')), 0, 0, 0
      FROM dmarc_rows r JOIN feedback_addresses a ON a.id = r.domain_id || ' ' || r.address GROUP BY source_id, day;
    INSERT INTO dmarc_days (domain_id, day, messages, passed, failed, none, quarantined, rejected, overridden)
      SELECT domain_id, day, sum(messages), sum(passed), sum(messages - passed), sum(messages), 0, 0, 0
      FROM feedback_source_days GROUP BY day;
    INSERT INTO tls_days (domain_id, day, succeeded, failed) SELECT domain_id, day, 1000, 3 FROM dmarc_days;
    COMMIT;`);
  const count = (table: string) =>
    database.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
  const counts = { rows: count('dmarc_rows'), sourceDays: count('feedback_source_days') };
  database.close();
  return counts;
}

const MESSAGES = 100_000;

/** Bounces and complaints, each in a report of its own. */
function fillMessages(path: string, domain: string): void {
  const database = new Sqlite(path, { timeout: 10_000 });
  const day = `date('now', '-' || (i % ${DAYS}) || ' days')`;
  const report = (type: string, prefix: string, content: string) => `
    WITH RECURSIVE i(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM i WHERE i < ${MESSAGES - 1})
    INSERT INTO feedback_reports (id, mail_id, position, type, status, identity, figures, reporter_id, domain_id, policy_domain,
      period_from, period_to, messages, passed, failed, verified, source, repaired, content, row_count, stored_rows, counted_rows, received_at, attributed)
      SELECT printf('${prefix}_%07d', i), '${prefix}m_' || i, 0, '${type}', 'counted', '${type} ' || i, 'x',
        'rep_' || (i % ${REPORTERS}), '${domain}', 'example.com', NULL, NULL, 0, 0, 0, 1, 'smtp', '[]',
        ${content}, 0, 0, 0, ${day} || 'T05:00:00.000Z', 1 FROM i;`;
  database.exec(`
    PRAGMA synchronous = OFF;
    BEGIN;
    ${report('bounce', 'fbb', `'{"message":{"subject":"News ' || i || '","receivedHosts":["h' || (i % ${SOURCES}) || '.example"],"dkim":[]}}'`)}
    ${report('complaint', 'fbc', `'{}'`)}
    WITH RECURSIVE i(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM i WHERE i < ${MESSAGES - 1})
    INSERT INTO bounces (id, report_id, position, domain_id, received_at, day, class, action, status_code, diagnostic,
      remote_server, reporting_server, provider, from_domain, recipient_domain)
      SELECT printf('bnc_%07d', ${MESSAGES} - i % ${DAYS} * ${MESSAGES / DAYS} - i / ${DAYS}), printf('fbb_%07d', i), 0, '${domain}',
        ${day} || 'T05:00:00.000Z', ${day},
        CASE WHEN i % 7 < 2 THEN 'policy' WHEN i % 7 < 5 THEN 'hard' ELSE 'soft' END, 'failed',
        CASE WHEN i % 11 = 0 THEN NULL ELSE '5.' || (i % 7) || '.' || (i % 13) END, '550 5.7.1 Message ' || i || ' refused',
        'mx.p' || (i % 37) || '.example', CASE WHEN i % 5 = 0 THEN NULL ELSE 'h' || (i % 50) || '.example' END,
        'p' || (i % 37) || '.example', 'example.com', 'p' || (i % 37) || '.example'
      FROM i;
    WITH RECURSIVE i(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM i WHERE i < ${MESSAGES - 1})
    INSERT INTO complaints (id, report_id, domain_id, kind, received_at, day, provider, address, from_domain, subject, recipient_domain, dkim_domain)
      SELECT printf('cpl_%07d', ${MESSAGES} - i % ${DAYS} * ${MESSAGES / DAYS} - i / ${DAYS}), printf('fbc_%07d', i), '${domain}',
        CASE WHEN i % 50 = 0 THEN 'not-spam' ELSE 'abuse' END, ${day} || 'T05:00:00.000Z', ${day},
        'p' || (i % 12) || '.example', '198.18.0.' || (i % 251), 'example.com', 'News ' || i, 'p' || (i % 12) || '.example', 'example.com'
      FROM i;
    COMMIT;`);
  database.close();
}

const DOMAINS = 200;

/** Other domains, with sums of all days, and a monitor of the first one. Resolves with its ID. */
function fillDomains(path: string, domain: string): string {
  const database = new Sqlite(path, { timeout: 10_000 });
  const copy = (table: string, columns: string) => {
    const names = database
      .prepare('SELECT name FROM pragma_table_info(?)')
      .pluck()
      .all(table) as string[];
    const set = new Map(columns.split(', ').map((one) => one.split(' = ') as [string, string]));
    return `
      WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${DOMAINS})
      INSERT INTO ${table} (${names.join(', ')})
        SELECT ${names.map((name) => set.get(name) ?? name).join(', ')} FROM ${table}, n
        WHERE ${names.includes('domain_id') ? 'domain_id' : 'id'} = '${domain}';`;
  };
  database.exec(`
    UPDATE domains SET status = 'verified', verified_at = created_at WHERE id = '${domain}';
    ${copy('domains', "id = 'dom_' || n, name = 'd' || n || '.example'")}
    ${copy('feedback_domains', "id = 'dom_' || n, token = 'x' || n")}
    ${copy('dmarc_days', "domain_id = 'dom_' || n")}
    INSERT INTO monitors (id, name, type, domain_id, frequency, enabled, status, created_at)
      VALUES ('mon_bench', 'Health', 'domain_health', '${domain}', 'daily', 1, 'ok', '2026-01-01T00:00:00.000Z');`);
  database.close();
  return 'mon_bench';
}

function fillSums(path: string): void {
  const database = new Sqlite(path, { timeout: 10_000 });
  database.exec(FILL_SUMS);
  database.close();
}
