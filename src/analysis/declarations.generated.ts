/** Generated from src/analysis/checks by `npm run generate`; do not edit. */

import type { CheckDeclaration } from './check.ts';

export const DECLARATIONS: Record<string, CheckDeclaration> = {
  "dkim": {
    "label": "DKIM signature",
    "category": "authentication",
    "points": 10,
    "reference": {
      "name": "RFC 6376",
      "url": "https://www.rfc-editor.org/rfc/rfc6376"
    },
    "issueTitle": "No DKIM signature that all mailbox providers accept",
    "publicEvidence": {
      "signatures": {
        "domain": "shown",
        "selector": "shown",
        "algorithm": "shown",
        "bits": "shown",
        "result": "shown",
        "reason": "shown",
        "expires": "shown",
        "body_length_limit": "shown",
        "warnings": "shown"
      },
      "signatures_not_looked_at": "shown",
      "receiver_result": "shown"
    }
  },
  "dkim_alignment": {
    "label": "DKIM alignment",
    "category": "authentication",
    "points": 3,
    "reference": {
      "name": "RFC 9989 §4.4.1",
      "url": "https://www.rfc-editor.org/rfc/rfc9989#section-4.4.1"
    },
    "dependsOn": [
      "dkim"
    ],
    "issueTitle": "DKIM is not aligned with the From domain",
    "publicEvidence": {
      "from_domain": "shown",
      "mode": "shown",
      "aligned": "shown",
      "signatures": {
        "domain": "shown",
        "selector": "shown",
        "algorithm": "shown",
        "bits": "shown",
        "result": "shown",
        "reason": "shown",
        "expires": "shown",
        "body_length_limit": "shown",
        "warnings": "shown"
      },
      "signatures_not_looked_at": "shown"
    }
  },
  "dkim_key": {
    "label": "DKIM key",
    "category": "authentication",
    "points": 3,
    "reference": {
      "name": "RFC 8301 §3.2",
      "url": "https://www.rfc-editor.org/rfc/rfc8301#section-3.2"
    },
    "issueTitle": "The DKIM key is weak, revoked or not widely accepted",
    "publicEvidence": {
      "only_ed25519": "shown",
      "signatures": {
        "domain": "shown",
        "selector": "shown",
        "algorithm": "shown",
        "bits": "shown",
        "result": "shown",
        "reason": "shown",
        "expires": "shown",
        "body_length_limit": "shown",
        "warnings": "shown"
      },
      "signatures_not_looked_at": "shown"
    }
  },
  "dkim_coverage": {
    "label": "DKIM coverage",
    "category": "authentication",
    "points": 2,
    "reference": {
      "name": "RFC 6376 §5.4.1",
      "url": "https://www.rfc-editor.org/rfc/rfc6376#section-5.4.1"
    },
    "issueTitle": "A DKIM signature is incomplete or has expired",
    "publicEvidence": {
      "signatures": {
        "domain": "shown",
        "selector": "shown",
        "algorithm": "shown",
        "bits": "shown",
        "result": "shown",
        "reason": "shown",
        "expires": "shown",
        "body_length_limit": "shown",
        "warnings": "shown"
      },
      "signatures_not_looked_at": "shown",
      "judged": "shown",
      "signed": "shown",
      "not_signed": "shown"
    }
  },
  "spf": {
    "label": "SPF",
    "category": "authentication",
    "points": 10,
    "reference": {
      "name": "RFC 7208 §2.6",
      "url": "https://www.rfc-editor.org/rfc/rfc7208#section-2.6"
    },
    "issueTitle": "SPF does not pass",
    "publicEvidence": {
      "setup": "shown",
      "result": "shown",
      "identity": "shown",
      "checked": "mailbox-domain",
      "domain": "shown",
      "client_ip": "shown",
      "record": "shown",
      "reason": "shown",
      "explanation": "unquoted",
      "assumed": "shown",
      "sending_service": "shown",
      "service_evidence": "shown",
      "receiver_result": "shown"
    }
  },
  "spf_alignment": {
    "label": "SPF alignment",
    "category": "authentication",
    "points": 3,
    "reference": {
      "name": "RFC 9989 §4.4",
      "url": "https://www.rfc-editor.org/rfc/rfc9989#section-4.4"
    },
    "dependsOn": [
      "spf"
    ],
    "issueTitle": "SPF is not aligned with the From domain",
    "publicEvidence": {
      "envelope_domain": "shown",
      "from_domain": "shown",
      "mode": "shown",
      "identity": "shown"
    }
  },
  "spf_record": {
    "label": "SPF record",
    "category": "authentication",
    "points": 3,
    "reference": {
      "name": "RFC 7208 §4.6.4",
      "url": "https://www.rfc-editor.org/rfc/rfc7208#section-4.6.4"
    },
    "issueTitle": "The SPF record is missing or has problems",
    "publicEvidence": {
      "domain": "shown",
      "records": "shown",
      "damaged": "shown",
      "lookups": "shown",
      "void_lookups": "shown",
      "octets": "shown",
      "unanswered": "shown",
      "open": "shown",
      "tree": {
        "domain": "shown",
        "via": "shown",
        "state": "shown",
        "record": "shown",
        "includes": "as-parent"
      }
    }
  },
  "dmarc": {
    "label": "DMARC",
    "category": "authentication",
    "points": 12,
    "reference": {
      "name": "RFC 9989 §5.3",
      "url": "https://www.rfc-editor.org/rfc/rfc9989#section-5.3"
    },
    "dependsOn": [
      "dmarc_policy"
    ],
    "issueTitle": "DMARC does not pass",
    "publicEvidence": {
      "result": "shown",
      "from_domain": "shown",
      "organizational_domain": "shown",
      "record_domain": "shown",
      "record": "shown",
      "policy": "shown",
      "spf": {
        "result": "shown",
        "domain": "shown",
        "aligned": "shown",
        "mode": "shown"
      },
      "dkim": {
        "result": "shown",
        "domain": "shown",
        "aligned": "shown",
        "mode": "shown"
      },
      "receiver_result": "shown"
    }
  },
  "dmarc_policy": {
    "label": "DMARC policy",
    "category": "authentication",
    "points": 4,
    "reference": {
      "name": "RFC 9989 §4.7",
      "url": "https://www.rfc-editor.org/rfc/rfc9989#section-4.7"
    },
    "dependsOn": [
      "dmarc_record"
    ],
    "issueTitle": "The DMARC policy is missing or not enforced",
    "publicEvidence": {
      "record": "shown",
      "record_domain": "shown",
      "from_domain": "shown",
      "tag": "shown",
      "published": "shown",
      "policy": "shown",
      "testing": "shown",
      "records": "shown"
    }
  },
  "dmarc_record": {
    "label": "DMARC record",
    "category": "authentication",
    "points": 2,
    "reference": {
      "name": "RFC 9989 §4.7",
      "url": "https://www.rfc-editor.org/rfc/rfc9989#section-4.7"
    },
    "issueTitle": "The DMARC record has errors or no working report address",
    "publicEvidence": {
      "record": "shown",
      "record_domain": "shown",
      "obsolete_tags": "shown",
      "unknown_tags": "shown",
      "external_destinations": {
        "domain": "shown",
        "name": "shown",
        "authorized": "shown"
      },
      "discarded": {
        "domain": "shown",
        "texts": "shown",
        "why": "shown"
      },
      "undeliverable": {
        "domain": "shown",
        "why": "shown",
        "meant": "shown"
      },
      "records": "shown",
      "why": "shown"
    }
  },
  "arc": {
    "label": "ARC chain",
    "category": "authentication",
    "points": 0,
    "reference": {
      "name": "RFC 8617",
      "url": "https://www.rfc-editor.org/rfc/rfc8617"
    },
    "publicEvidence": {
      "result": "shown",
      "reason": "shown",
      "seals": "shown",
      "chain": {
        "instance": "shown",
        "domain": "shown",
        "cv": "shown"
      },
      "unanswered": "shown"
    }
  },
  "bimi": {
    "label": "BIMI logo",
    "category": "authentication",
    "points": 0,
    "reference": {
      "name": "draft-brand-indicators-for-message-identification",
      "url": "https://datatracker.ietf.org/doc/draft-brand-indicators-for-message-identification/"
    },
    "publicEvidence": {
      "name": "shown",
      "record": "shown",
      "logo": "shown",
      "certificate": "shown",
      "logo_file": {
        "bytes": "shown",
        "title": "shown",
        "view_box": "shown"
      },
      "certificate_file": {
        "kind": "shown",
        "mark_type": "shown",
        "names": "shown",
        "issuer": "shown",
        "valid_from": "shown",
        "valid_to": "shown",
        "logotype": "shown"
      },
      "problems": "shown",
      "obstacles": "shown",
      "not_found_out": "shown"
    }
  },
  "ip_blocklists": {
    "label": "IP blocklists",
    "category": "reputation",
    "points": 14,
    "reference": {
      "name": "RFC 5782",
      "url": "https://www.rfc-editor.org/rfc/rfc5782"
    },
    "issueTitle": "The sending IP address is on a blocklist",
    "publicEvidence": {
      "client_ip": "shown",
      "lists": {
        "zone": "shown",
        "name": "shown",
        "tier": "shown",
        "status": "shown",
        "codes": "shown",
        "meaning": "shown",
        "listed": "shown",
        "text": "shown",
        "delisting": "our-page"
      }
    }
  },
  "domain_blocklists": {
    "label": "Domain blocklists",
    "category": "reputation",
    "points": 10,
    "reference": {
      "name": "RFC 5782 §2.3",
      "url": "https://www.rfc-editor.org/rfc/rfc5782#section-2.3"
    },
    "issueTitle": "A sender domain is on a blocklist",
    "publicEvidence": {
      "domains": {
        "name": "shown",
        "roles": "shown"
      },
      "not_asked": "shown",
      "lists": {
        "zone": "shown",
        "name": "shown",
        "tier": "shown",
        "status": "shown",
        "codes": "shown",
        "meaning": "shown",
        "listed": "shown",
        "text": "shown",
        "delisting": "our-page"
      }
    }
  },
  "link_blocklists": {
    "label": "Link blocklists",
    "category": "reputation",
    "points": 6,
    "reference": {
      "name": "RFC 5782 §2.3",
      "url": "https://www.rfc-editor.org/rfc/rfc5782#section-2.3"
    },
    "issueTitle": "A link leads to a domain on a blocklist",
    "publicEvidence": {
      "asked": "shown",
      "not_asked": "shown",
      "lists": {
        "zone": "shown",
        "name": "shown",
        "tier": "shown",
        "status": "shown",
        "codes": "shown",
        "meaning": "shown",
        "listed": "shown",
        "text": "shown",
        "delisting": "our-page"
      }
    }
  },
  "allowlists": {
    "label": "Allowlists",
    "category": "reputation",
    "points": 0,
    "reference": {
      "name": "RFC 8904",
      "url": "https://www.rfc-editor.org/rfc/rfc8904"
    },
    "publicEvidence": {
      "client_ip": "shown",
      "lists": {
        "zone": "shown",
        "name": "shown",
        "tier": "shown",
        "status": "shown",
        "codes": "shown",
        "meaning": "shown",
        "listed": "shown",
        "text": "shown",
        "delisting": "our-page"
      }
    }
  },
  "ptr": {
    "label": "Reverse DNS (PTR)",
    "category": "infrastructure",
    "points": 6,
    "reference": {
      "name": "RFC 1912 §2.1",
      "url": "https://www.rfc-editor.org/rfc/rfc1912#section-2.1"
    },
    "issueTitle": "Reverse DNS of the sending IP address is missing or generic",
    "publicEvidence": {
      "setup": "shown",
      "client_ip": "shown",
      "asked": "shown",
      "names": "shown",
      "unanswered": "shown"
    }
  },
  "fcrdns": {
    "label": "Forward-confirmed reverse DNS",
    "category": "infrastructure",
    "points": 6,
    "reference": {
      "name": "RFC 8601 §3",
      "url": "https://www.rfc-editor.org/rfc/rfc8601#section-3"
    },
    "dependsOn": [
      "ptr"
    ],
    "issueTitle": "The reverse DNS name does not resolve back",
    "publicEvidence": {
      "client_ip": "shown",
      "resolved": {
        "name": "shown",
        "addresses": "shown"
      },
      "unanswered": "shown"
    }
  },
  "helo": {
    "label": "HELO name",
    "category": "infrastructure",
    "points": 4,
    "reference": {
      "name": "RFC 5321 §4.1.1.1",
      "url": "https://www.rfc-editor.org/rfc/rfc5321#section-4.1.1.1"
    },
    "issueTitle": "The HELO name is invalid or does not resolve to the server",
    "publicEvidence": {
      "setup": "shown",
      "helo": "shown",
      "client_ip": "shown",
      "addresses": "shown",
      "length": "shown",
      "unanswered": "shown"
    }
  },
  "tls": {
    "label": "Encrypted delivery (TLS)",
    "category": "infrastructure",
    "points": 6,
    "reference": {
      "name": "RFC 3207",
      "url": "https://www.rfc-editor.org/rfc/rfc3207"
    },
    "issueTitle": "Delivered without TLS, or with an outdated version",
    "publicEvidence": {
      "used": "shown",
      "version": "shown",
      "cipher": "shown"
    }
  },
  "mx": {
    "label": "Mail servers (MX)",
    "category": "infrastructure",
    "points": 4,
    "reference": {
      "name": "RFC 5321 §5.1",
      "url": "https://www.rfc-editor.org/rfc/rfc5321#section-5.1"
    },
    "issueTitle": "MX records are missing or unusable",
    "publicEvidence": {
      "missing": "shown",
      "domains": {
        "domain": "shown",
        "kind": "shown",
        "hosts": {
          "name": "shown",
          "preference": "shown",
          "resolves": "shown",
          "ipv4": "shown",
          "ipv6": "shown",
          "problem": "shown",
          "unreachable": "shown",
          "meant": "shown"
        }
      },
      "unanswered": "shown"
    }
  },
  "return_path": {
    "label": "Return path",
    "category": "infrastructure",
    "points": 3,
    "reference": {
      "name": "RFC 5321 §2.3.5",
      "url": "https://www.rfc-editor.org/rfc/rfc5321#section-2.3.5"
    },
    "issueTitle": "Bounces cannot be delivered",
    "publicEvidence": {
      "mail_from": "mailbox-domain",
      "domain": "shown",
      "kind": "shown",
      "missing": "shown",
      "unanswered": "shown"
    }
  },
  "received_path": {
    "label": "Delivery path",
    "category": "infrastructure",
    "points": 0,
    "reference": {
      "name": "RFC 5321 §4.4",
      "url": "https://www.rfc-editor.org/rfc/rfc5321#section-4.4"
    },
    "publicEvidence": null
  },
  "forwarding": {
    "label": "Forwarding",
    "category": "infrastructure",
    "points": 0,
    "reference": {
      "name": "RFC 7960",
      "url": "https://www.rfc-editor.org/rfc/rfc7960"
    },
    "publicEvidence": {
      "kind": "shown",
      "by": "shown",
      "list_id": "shown",
      "changed": "shown",
      "signs": "shown",
      "seals": {
        "instance": "shown",
        "domain": "shown",
        "results": "shown"
      }
    }
  },
  "ipv6": {
    "label": "IPv6",
    "category": "infrastructure",
    "points": 0,
    "reference": {
      "name": "RFC 5321 §5.2",
      "url": "https://www.rfc-editor.org/rfc/rfc5321#section-5.2"
    },
    "publicEvidence": {
      "client_ip": "shown",
      "protocol": "shown",
      "domain": "shown",
      "hosts_with_ipv6": "shown",
      "unanswered": "shown"
    }
  },
  "mta_sts": {
    "label": "MTA-STS",
    "category": "infrastructure",
    "points": 0,
    "reference": {
      "name": "RFC 8461 §3",
      "url": "https://www.rfc-editor.org/rfc/rfc8461#section-3"
    },
    "publicEvidence": {
      "name": "shown",
      "records": "shown",
      "policy_url": "shown",
      "policy": {
        "": "shown",
        "version": "shown",
        "mode": "shown",
        "max_age": "shown",
        "mx": "shown",
        "content_type": "shown"
      },
      "problems": "shown",
      "lists_none": "shown",
      "unanswered": "shown"
    }
  },
  "tls_rpt": {
    "label": "TLS reporting",
    "category": "infrastructure",
    "points": 0,
    "reference": {
      "name": "RFC 8460 §3",
      "url": "https://www.rfc-editor.org/rfc/rfc8460#section-3"
    },
    "publicEvidence": {
      "name": "shown",
      "records": "shown",
      "destinations": "shown",
      "needed_by": "shown",
      "unanswered": "shown"
    }
  },
  "dane": {
    "label": "DANE",
    "category": "infrastructure",
    "points": 0,
    "reference": {
      "name": "RFC 7672",
      "url": "https://www.rfc-editor.org/rfc/rfc7672"
    },
    "publicEvidence": {
      "hosts": {
        "host": "shown",
        "name": "shown",
        "records": "shown",
        "authenticated": "shown",
        "certificate": "shown"
      },
      "problems": "shown",
      "unanswered": "shown"
    }
  },
  "dnssec": {
    "label": "DNSSEC",
    "category": "infrastructure",
    "points": 0,
    "reference": {
      "name": "RFC 9364",
      "url": "https://www.rfc-editor.org/rfc/rfc9364"
    },
    "publicEvidence": {
      "domain": "shown",
      "ds": "shown",
      "validated": "shown",
      "unanswered": "shown"
    }
  },
  "from": {
    "label": "From",
    "category": "compliance",
    "points": 3,
    "reference": {
      "name": "RFC 5322 §3.6.2",
      "url": "https://www.rfc-editor.org/rfc/rfc5322#section-3.6.2"
    },
    "issueTitle": "The From field is missing or invalid",
    "publicEvidence": {
      "setup": "shown",
      "address": "shown",
      "name": "shown",
      "values": "shown",
      "from": "shown",
      "problem": "shown",
      "addresses": "shown",
      "sender": "shown",
      "shown": "shown",
      "brand": "shown",
      "signed_by": "shown",
      "sent_by": "shown",
      "replaced_by": "shown",
      "own_domain": "shown"
    }
  },
  "date": {
    "label": "Date",
    "category": "compliance",
    "points": 2,
    "reference": {
      "name": "RFC 5322 §3.6.1",
      "url": "https://www.rfc-editor.org/rfc/rfc5322#section-3.6.1"
    },
    "issueTitle": "The Date field is missing or invalid",
    "publicEvidence": {
      "date": "shown",
      "sent_at": "shown",
      "received_at": "shown"
    }
  },
  "message_id": {
    "label": "Message-ID",
    "category": "compliance",
    "points": 2,
    "reference": {
      "name": "RFC 5322 §3.6.4",
      "url": "https://www.rfc-editor.org/rfc/rfc5322#section-3.6.4"
    },
    "issueTitle": "Message-ID is missing or invalid",
    "publicEvidence": {
      "message_id": "shown",
      "values": "shown"
    }
  },
  "recipients": {
    "label": "Recipients",
    "category": "compliance",
    "points": 1,
    "reference": {
      "name": "RFC 5322 §3.6.3",
      "url": "https://www.rfc-editor.org/rfc/rfc5322#section-3.6.3"
    },
    "issueTitle": "Too many recipients in To and Cc, or none",
    "publicEvidence": {
      "to": "shown",
      "cc": "shown"
    }
  },
  "subject": {
    "label": "Subject",
    "category": "compliance",
    "points": 1,
    "reference": {
      "name": "RFC 5322 §3.6.5",
      "url": "https://www.rfc-editor.org/rfc/rfc5322#section-3.6.5"
    },
    "issueTitle": "The subject is missing, empty or too long",
    "publicEvidence": {
      "octets": "shown",
      "limit": "shown"
    }
  },
  "header_duplicates": {
    "label": "Duplicate header fields",
    "category": "compliance",
    "points": 2,
    "reference": {
      "name": "RFC 5322 §3.6",
      "url": "https://www.rfc-editor.org/rfc/rfc5322#section-3.6"
    },
    "issueTitle": "Header fields that must be unique are repeated",
    "publicEvidence": {
      "counts": {
        "*": "shown"
      }
    }
  },
  "line_length": {
    "label": "Line length",
    "category": "compliance",
    "points": 1,
    "reference": {
      "name": "RFC 5322 §2.1.1",
      "url": "https://www.rfc-editor.org/rfc/rfc5322#section-2.1.1"
    },
    "issueTitle": "Lines are too long",
    "publicEvidence": {
      "longest": "shown",
      "line": "shown",
      "too_long": "shown",
      "lines": "shown",
      "recommended": "shown"
    }
  },
  "encoding": {
    "label": "Encoding",
    "category": "compliance",
    "points": 1,
    "reference": {
      "name": "RFC 5322 §2.1",
      "url": "https://www.rfc-editor.org/rfc/rfc5322#section-2.1"
    },
    "issueTitle": "Bytes or lines that mail standards do not allow",
    "publicEvidence": {
      "nul": "shown",
      "bare_cr": "shown",
      "bare_lf": "shown",
      "eight_bit_header": "shown",
      "eight_bit_body": "shown",
      "limits": "shown",
      "eight_bit_fields": "field-name",
      "structure": {
        "problem": "shown",
        "line": "shown"
      }
    },
    "publicTexts": [
      {
        "matches": "\".*\" has no field name(?= before a colon\\.)",
        "replacement": "The line has no field name"
      }
    ]
  },
  "message_protection": {
    "label": "S/MIME and OpenPGP",
    "category": "compliance",
    "points": 0,
    "reference": {
      "name": "RFC 8551",
      "url": "https://www.rfc-editor.org/rfc/rfc8551"
    },
    "publicEvidence": {
      "kind": "shown",
      "by": "shown",
      "opaque": "shown"
    }
  },
  "reply_to": {
    "label": "Reply-To",
    "category": "compliance",
    "points": 1,
    "reference": {
      "name": "RFC 5322 §3.6.2",
      "url": "https://www.rfc-editor.org/rfc/rfc5322#section-3.6.2"
    },
    "issueTitle": "Reply-To is invalid or at another domain",
    "publicEvidence": {
      "reply_to": "token-free"
    }
  },
  "list_unsubscribe": {
    "label": "List-Unsubscribe",
    "category": "compliance",
    "points": 4,
    "reference": {
      "name": "RFC 2369 §3.2",
      "url": "https://www.rfc-editor.org/rfc/rfc2369#section-3.2"
    },
    "issueTitle": "List-Unsubscribe is missing or invalid",
    "publicEvidence": {
      "values": "unquoted",
      "https": "host",
      "mailto": "host",
      "http": "host",
      "problem": "shown"
    }
  },
  "one_click": {
    "label": "One-click unsubscribe",
    "category": "compliance",
    "points": 5,
    "reference": {
      "name": "RFC 8058 §3.1",
      "url": "https://www.rfc-editor.org/rfc/rfc8058#section-3.1"
    },
    "dependsOn": [
      "list_unsubscribe"
    ],
    "issueTitle": "One-click unsubscribe is missing or invalid",
    "publicEvidence": {
      "https": "host",
      "post": "shown"
    }
  },
  "one_click_signed": {
    "label": "One-click unsubscribe signature",
    "category": "compliance",
    "points": 2,
    "reference": {
      "name": "RFC 8058 §4",
      "url": "https://www.rfc-editor.org/rfc/rfc8058#section-4"
    },
    "dependsOn": [
      "one_click",
      "dkim",
      "dkim_alignment"
    ],
    "issueTitle": "One-click unsubscribe is not covered by DKIM",
    "publicEvidence": {
      "signatures": {
        "domain": "shown",
        "selector": "shown",
        "algorithm": "shown",
        "bits": "shown",
        "result": "shown",
        "reason": "shown",
        "expires": "shown",
        "body_length_limit": "shown",
        "warnings": "shown"
      },
      "signatures_not_looked_at": "shown"
    }
  },
  "unsubscribe_link": {
    "label": "Unsubscribe link",
    "category": "compliance",
    "points": 2,
    "reference": {
      "name": "Gmail: Email sender guidelines",
      "url": "https://support.google.com/a/answer/81126"
    },
    "issueTitle": "No working unsubscribe link in the body",
    "publicEvidence": {
      "links": {
        "href": "host",
        "text": "unquoted",
        "part": "shown"
      }
    }
  },
  "feedback_id": {
    "label": "Feedback-ID",
    "category": "compliance",
    "points": 0,
    "reference": {
      "name": "Gmail: Feedback Loop",
      "url": "https://support.google.com/a/answer/6254652"
    },
    "publicEvidence": {
      "feedback_id": "left-out",
      "sender": "shown",
      "fields": "shown"
    }
  },
  "precedence": {
    "label": "Precedence and Auto-Submitted",
    "category": "compliance",
    "points": 0,
    "reference": {
      "name": "RFC 3834 §5",
      "url": "https://www.rfc-editor.org/rfc/rfc3834#section-5"
    },
    "publicEvidence": {
      "precedence": "shown",
      "auto_submitted": "shown"
    }
  },
  "no_reply": {
    "label": "No-reply address",
    "category": "compliance",
    "points": 0,
    "reference": {
      "name": "RFC 5322 §3.6.2",
      "url": "https://www.rfc-editor.org/rfc/rfc5322#section-3.6.2"
    },
    "publicEvidence": {
      "from": "shown",
      "reply_to": "token-free"
    }
  },
  "text_part": {
    "label": "Text part",
    "category": "content",
    "points": 3,
    "reference": {
      "name": "RFC 2046 §5.1.4",
      "url": "https://www.rfc-editor.org/rfc/rfc2046#section-5.1.4"
    },
    "issueTitle": "The text part is missing or empty",
    "publicEvidence": {
      "text": "shown",
      "html": "shown"
    }
  },
  "text_matches_html": {
    "label": "Text part and HTML",
    "category": "content",
    "points": 2,
    "reference": {
      "name": "RFC 2046 §5.1.4",
      "url": "https://www.rfc-editor.org/rfc/rfc2046#section-5.1.4"
    },
    "dependsOn": [
      "text_part"
    ],
    "issueTitle": "Text part and HTML differ",
    "publicEvidence": {
      "html_words": "shown",
      "text_words": "shown",
      "share_of_html_in_text": "shown",
      "share_of_text_in_html": "shown",
      "only_in_html": "unquoted",
      "only_in_text": "unquoted"
    }
  },
  "html_structure": {
    "label": "HTML structure",
    "category": "content",
    "points": 1,
    "reference": {
      "name": "Gmail: Email sender guidelines, message formatting",
      "url": "https://support.google.com/a/answer/81126"
    },
    "issueTitle": "The HTML has errors",
    "publicEvidence": {
      "problems": "shown",
      "count": "shown"
    }
  },
  "html_size": {
    "label": "HTML size",
    "category": "content",
    "points": 2,
    "reference": {
      "name": "Spam Resource: what is Gmail clipping and what to do about it",
      "url": "https://www.spamresource.com/2022/01/what-is-gmail-clipping-and-what-to-do.html"
    },
    "issueTitle": "The HTML is close to or above the Gmail size limit",
    "publicEvidence": {
      "octets": "shown",
      "warn_at": "shown",
      "clipped_near": "shown",
      "style_characters": "shown"
    }
  },
  "message_size": {
    "label": "Message size",
    "category": "content",
    "points": 1,
    "reference": {
      "name": "RFC 1870",
      "url": "https://www.rfc-editor.org/rfc/rfc1870"
    },
    "issueTitle": "The message is large",
    "publicEvidence": {
      "octets": "shown",
      "largest_parts": {
        "type": "shown",
        "filename": "file-name",
        "octets": "shown"
      }
    }
  },
  "image_ratio": {
    "label": "Text-to-image ratio",
    "category": "content",
    "points": 2,
    "reference": {
      "name": "SpamAssassin: HTML_IMAGE_ONLY and HTML_IMAGE_RATIO",
      "url": "https://spamassassin.apache.org/old/tests_3_3_x.html"
    },
    "issueTitle": "Too little text for the number of images",
    "publicEvidence": {
      "words": "shown",
      "images": "shown",
      "words_wanted": "shown"
    }
  },
  "image_alt": {
    "label": "Image alt text",
    "category": "content",
    "points": 1,
    "reference": {
      "name": "WCAG 2.2, 1.1.1 Non-text Content",
      "url": "https://www.w3.org/TR/WCAG22/#non-text-content"
    },
    "issueTitle": "Images without alt text",
    "publicEvidence": {
      "images": "shown",
      "without": "shown",
      "found": {
        "src": "host",
        "problem": "shown"
      }
    }
  },
  "attachments": {
    "label": "Attachments",
    "category": "content",
    "points": 3,
    "reference": {
      "name": "Gmail: file types that are blocked",
      "url": "https://support.google.com/mail/answer/6590"
    },
    "issueTitle": "Attachments that mailbox providers block or distrust",
    "publicEvidence": {
      "attachments": "shown",
      "files": "file-name",
      "found": {
        "file": "file-extension",
        "type": "shown",
        "octets": "shown",
        "problem": "archive-member",
        "refused": "shown",
        "blocked_by": "shown"
      }
    },
    "publicTexts": [
      {
        "list": "found",
        "phrase": "Your attachment {file} {problem}"
      }
    ]
  },
  "active_content": {
    "label": "Active content",
    "category": "content",
    "points": 3,
    "reference": {
      "name": "Can I email: the form element",
      "url": "https://www.caniemail.com/features/html-form/"
    },
    "issueTitle": "The HTML has scripts, forms or other active content",
    "publicEvidence": {
      "found": {
        "*": "shown"
      }
    }
  },
  "hidden_text": {
    "label": "Hidden text",
    "category": "content",
    "points": 2,
    "reference": {
      "name": "Gmail: Email sender guidelines, message formatting",
      "url": "https://support.google.com/a/answer/81126"
    },
    "issueTitle": "The message contains hidden text",
    "publicEvidence": {
      "characters": "shown",
      "preheader_characters": "shown",
      "hidden": {
        "how": "shown",
        "text": "unquoted"
      }
    }
  },
  "link_text": {
    "label": "Link text",
    "category": "content",
    "points": 3,
    "reference": {
      "name": "Gmail: Email sender guidelines, message formatting",
      "url": "https://support.google.com/a/answer/81126"
    },
    "issueTitle": "Links show a different domain than they lead to",
    "publicEvidence": {
      "links": "shown",
      "problems": "shown",
      "found": {
        "text": "unquoted",
        "shows": "shown",
        "leads_to": "shown",
        "href": "host"
      }
    }
  },
  "link_host": {
    "label": "Link hosts",
    "category": "content",
    "points": 2,
    "reference": {
      "name": "RFC 3986 §7.6",
      "url": "https://www.rfc-editor.org/rfc/rfc3986#section-7.6"
    },
    "issueTitle": "Links to hosts that spam filters distrust",
    "publicEvidence": {
      "links": "shown",
      "problems": "shown",
      "found": {
        "href": "host",
        "text": "unquoted",
        "problem": "shown"
      }
    }
  },
  "link_scheme": {
    "label": "Link schemes",
    "category": "content",
    "points": 1,
    "reference": {
      "name": "RFC 3986 §3.1",
      "url": "https://www.rfc-editor.org/rfc/rfc3986#section-3.1"
    },
    "issueTitle": "Links are not encrypted or do not open everywhere",
    "publicEvidence": {
      "links": "shown",
      "problems": "shown",
      "found": {
        "href": "host",
        "text": "unquoted",
        "problem": "shown"
      }
    }
  },
  "link_shorteners": {
    "label": "URL shorteners",
    "category": "content",
    "points": 2,
    "reference": {
      "name": "SpamAssassin: DecodeShortURLs",
      "url": "https://spamassassin.apache.org/full/4.0.x/doc/Mail_SpamAssassin_Plugin_DecodeShortURLs.html"
    },
    "issueTitle": "Links use a public URL shortener",
    "publicEvidence": {
      "links": "shown",
      "problems": "shown",
      "found": {
        "href": "host",
        "text": "unquoted",
        "problem": "shown"
      }
    }
  },
  "link_status": {
    "label": "Dead links",
    "category": "content",
    "points": 2,
    "reference": {
      "name": "RFC 9110 §15.5.5",
      "url": "https://www.rfc-editor.org/rfc/rfc9110#section-15.5.5"
    },
    "issueTitle": "Some links are dead",
    "publicEvidence": {
      "works": "shown",
      "dead": "shown",
      "unknown": "shown",
      "not_asked": "shown",
      "links": {
        "href": "host",
        "status": "shown",
        "reason": "shown"
      }
    }
  },
  "merge_tags": {
    "label": "Merge tags",
    "category": "content",
    "points": 2,
    "reference": {
      "name": "Mailchimp: merge tags",
      "url": "https://mailchimp.com/help/all-the-merge-tags-cheat-sheet/"
    },
    "issueTitle": "Merge tags were not filled in",
    "publicEvidence": {
      "subject": "shown",
      "preheader": "shown",
      "html": "shown",
      "text_part": "shown",
      "header_fields": "shown",
      "unsubscribe_addresses": "shown",
      "links": "shown",
      "images": "shown",
      "tags": "shown",
      "broken": {
        "tag": "shown",
        "problem": "shown",
        "place": "shown"
      }
    }
  },
  "subject_style": {
    "label": "Subject style",
    "category": "content",
    "points": 1,
    "reference": {
      "name": "Gmail: Email sender guidelines",
      "url": "https://support.google.com/mail/answer/81126"
    },
    "issueTitle": "The subject looks like spam",
    "publicEvidence": {
      "subject": "shown",
      "found": "shown"
    }
  },
  "tracking_pixel": {
    "label": "Tracking pixel",
    "category": "content",
    "points": 0,
    "reference": {
      "name": "Apple: Mail Privacy Protection",
      "url": "https://www.apple.com/legal/privacy/data/en/mail-privacy-protection/"
    },
    "publicEvidence": {
      "found": "host"
    }
  },
  "preheader": {
    "label": "Preview text",
    "category": "content",
    "points": 0,
    "reference": {
      "name": "Can I email: the hidden attribute",
      "url": "https://www.caniemail.com/features/html-hidden/"
    },
    "publicEvidence": null
  },
  "client_support": {
    "label": "Email client support",
    "category": "content",
    "points": 0,
    "reference": {
      "name": "Can I email",
      "url": "https://www.caniemail.com/"
    },
    "publicEvidence": {
      "data_of": "shown",
      "clients": "shown",
      "features_used": "shown",
      "features": {
        "feature": "shown",
        "missing_in": "shown",
        "partly_in": "shown",
        "url": "our-page"
      }
    }
  },
  "spamassassin": {
    "label": "SpamAssassin",
    "category": "spam_filters",
    "points": 10,
    "reference": {
      "name": "SpamAssassin",
      "url": "https://spamassassin.apache.org/"
    },
    "issueTitle": "SpamAssassin rates the message as spam or close to it",
    "publicEvidence": {
      "score": "shown",
      "threshold": "shown",
      "engine_score": "shown",
      "rules": {
        "rule": "shown",
        "score": "shown",
        "description": "engine-text"
      },
      "checked_elsewhere": {
        "rule": "shown",
        "score": "shown",
        "description": "engine-text"
      }
    }
  },
  "rspamd": {
    "label": "Rspamd",
    "category": "spam_filters",
    "points": 10,
    "reference": {
      "name": "Rspamd",
      "url": "https://rspamd.com/"
    },
    "issueTitle": "Rspamd rates the message as spam or close to it",
    "publicEvidence": {
      "score": "shown",
      "threshold": "shown",
      "engine_score": "shown",
      "rules": {
        "rule": "shown",
        "score": "shown",
        "description": "engine-text"
      },
      "checked_elsewhere": {
        "rule": "shown",
        "score": "shown",
        "description": "engine-text"
      },
      "action": "shown",
      "threshold_of": "shown",
      "reject_at": "shown"
    }
  },
  "caa": {
    "label": "CAA",
    "category": "infrastructure",
    "points": 0,
    "reference": {
      "name": "RFC 8659 §3",
      "url": "https://www.rfc-editor.org/rfc/rfc8659#section-3"
    },
    "publicEvidence": {
      "domain": "shown",
      "name": "shown",
      "records": "shown",
      "issuers": "shown",
      "problems": "shown",
      "unanswered": "shown"
    }
  },
  "mx_tls": {
    "label": "TLS on the mail servers",
    "category": "infrastructure",
    "points": 3,
    "reference": {
      "name": "RFC 3207",
      "url": "https://www.rfc-editor.org/rfc/rfc3207"
    },
    "dependsOn": [
      "mx"
    ],
    "issueTitle": "Mail servers do not all support verified TLS",
    "publicEvidence": {
      "hosts": {
        "host": "shown",
        "status": "shown",
        "detail": "shown",
        "version": "shown",
        "certificate": {
          "valid": "shown",
          "problem": "shown",
          "names": "shown",
          "issuer": "shown",
          "validTo": "shown"
        }
      },
      "unanswered": "shown"
    }
  },
  "dkim_selector": {
    "label": "DKIM keys",
    "category": "authentication",
    "points": 3,
    "reference": {
      "name": "RFC 6376 §3.6.1",
      "url": "https://www.rfc-editor.org/rfc/rfc6376#section-3.6.1"
    },
    "issueTitle": "A DKIM key is missing, revoked or weak",
    "publicEvidence": {
      "domain": "shown",
      "selector": "shown",
      "name": "shown",
      "known": "shown",
      "records": "shown",
      "type": "shown",
      "bits": "shown"
    }
  },
  "name_servers": {
    "label": "Name servers",
    "category": "infrastructure",
    "points": 3,
    "reference": {
      "name": "RFC 1034 §4.2.2",
      "url": "https://www.rfc-editor.org/rfc/rfc1034#section-4.2.2"
    },
    "issueTitle": "Others cannot look up the domain",
    "publicEvidence": {
      "domain": "shown",
      "zone": "shown",
      "cause": "shown",
      "since": "shown",
      "servers": {
        "host": "shown",
        "address": "shown",
        "answer": "shown"
      },
      "ds": "shown",
      "extended_errors": "shown",
      "unanswered": "shown"
    }
  }
};
