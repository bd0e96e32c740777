/** What the failures in TLS reports mean (RFC 8460 §4.3), and what to do about them. */

interface Explanation {
  meaning: string;
  fix: string;
}

const renewCertificate =
  'Renew the certificate of the mail server, and check that the server uses the new one.';

const EXPLANATIONS: Record<string, (domain: string) => Explanation> = {
  'starttls-not-supported': () => ({
    meaning: 'The mail server did not offer STARTTLS.',
    fix: 'Turn on STARTTLS on this mail server. A firewall or proxy in front of it may remove the offer.',
  }),
  'certificate-host-mismatch': () => ({
    meaning: 'The certificate of the mail server does not contain the name in the MX record.',
    fix: 'Get a certificate for the name in the MX record, or change the MX record to a name in the certificate.',
  }),
  'certificate-expired': () => ({
    meaning: 'The certificate of the mail server has expired.',
    fix: renewCertificate,
  }),
  'certificate-not-trusted': () => ({
    meaning: 'The certificate of the mail server is not from a trusted authority.',
    fix: 'Use a certificate of a public authority, and send the intermediate certificates with it.',
  }),
  'validation-failure': () => ({
    meaning: 'The TLS connection failed for a reason that the report does not name.',
    fix: 'Test STARTTLS on the mail server: protocol version, ciphers, and the certificate chain.',
  }),
  'tlsa-invalid': () => ({
    meaning: 'The TLSA record does not match the certificate of the mail server.',
    fix: 'Publish a TLSA record for the current certificate. Publish the record of a new certificate before you use it.',
  }),
  'dnssec-invalid': () => ({
    meaning: 'The DNSSEC signatures of the domain or of its mail server are not valid.',
    fix: 'Check the DS record at the registrar and the signatures of the zone.',
  }),
  'dane-required': () => ({
    meaning: 'The sender requires DANE, and found no usable TLSA record.',
    fix: 'Publish TLSA records for every mail server, in a zone signed with DNSSEC.',
  }),
  'sts-policy-fetch-error': (domain) => ({
    meaning: 'The MTA-STS policy could not be fetched.',
    fix: `Make https://mta-sts.${domain}/.well-known/mta-sts.txt available, with a valid certificate for mta-sts.${domain}.`,
  }),
  'sts-policy-invalid': (domain) => ({
    meaning: 'The MTA-STS policy is not valid.',
    fix: `Correct the policy at https://mta-sts.${domain}/.well-known/mta-sts.txt: version, mode, mx and max_age, one on each line.`,
  }),
  'sts-webpki-invalid': (domain) => ({
    meaning: 'The certificate of the server with the MTA-STS policy is not valid.',
    fix: `Renew the certificate of mta-sts.${domain}.`,
  }),
};

/** For any kind of failure, also an unknown one. */
export function explainTlsFailure(type: string, domain: string): Explanation {
  const explain = Object.hasOwn(EXPLANATIONS, type) ? EXPLANATIONS[type] : undefined;
  return (
    explain?.(domain) ?? {
      meaning: 'The report names a kind of failure that RFC 8460 does not define.',
      fix: 'Ask the reporter what it means, and test STARTTLS on the mail server.',
    }
  );
}
