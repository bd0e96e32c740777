/** Requests to Amazon are signed as its published test suite says. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signedHeaders } from '../../src/net/aws-signature.ts';

/** The credentials, the time and the scope of all cases (aws-sig-v4-test-suite). */
const CREDENTIALS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const SCOPE = {
  service: 'service',
  region: 'us-east-1',
  now: Date.parse('2015-08-30T12:36:00Z'),
};

const CASES: [name: string, method: string, url: string, signature: string][] = [
  ['get-vanilla', 'GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'get-vanilla-query-order-key-case',
    'GET',
    '/?Param2=value2&Param1=value1',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'get-vanilla-query-unreserved',
    'GET',
    '/?-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz=-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
    '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197',
  ],
  ['post-vanilla', 'POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    'post-vanilla-query',
    'POST',
    '/?Param1=value1',
    '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11',
  ],
];

for (const [name, method, path, signature] of CASES)
  test(`the signature of ${name} is that of Amazon's test suite`, () => {
    const url = new URL(`https://example.amazonaws.com${path}`);
    const { authorization, 'x-amz-date': date } = signedHeaders(
      { ...SCOPE, method, url },
      CREDENTIALS,
    );
    assert.equal(date, '20150830T123600Z');
    assert.equal(
      authorization,
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
    );
  });

test('the body and more headers are signed', () => {
  const { authorization } = signedHeaders(
    {
      ...SCOPE,
      method: 'POST',
      url: new URL('https://example.amazonaws.com/'),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'Param1=value1',
    },
    CREDENTIALS,
  );
  // post-x-www-form-urlencoded
  assert.match(
    authorization!,
    /SignedHeaders=content-type;host;x-amz-date, Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a$/,
  );
});
