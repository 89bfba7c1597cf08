/**
 * Certificates for tests alone, made once with openssl and good for a hundred years. Their keys are public by being here: nothing but a test may
 * trust them.
 */

/** The authority that signed the servers' certificates. Its own key was thrown away. */
export const TEST_AUTHORITY: string = `-----BEGIN CERTIFICATE-----
MIIBiTCCAS6gAwIBAgICEAAwCgYIKoZIzj0EAwIwKjEoMCYGA1UEAwwfVG9vbEFy
c2VuYWwgdGVzdC1vbmx5IGF1dGhvcml0eTAgFw0yMDAxMDEwMDAwMDBaGA8yMTE5
MTIzMTIzNTk1OVowKjEoMCYGA1UEAwwfVG9vbEFyc2VuYWwgdGVzdC1vbmx5IGF1
dGhvcml0eTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOavsUEPjHPASKf8wi0a
ET/iCdF/MY72qNmY9/PQfzvycvN3MvGfSxZt0yANsVf7baCCEfml2Oos0F9ZEmzo
2PmjQjBAMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgIEMB0GA1UdDgQW
BBQb69G1gei0k1PvNCiQGVTAJQYZEzAKBggqhkjOPQQDAgNJADBGAiEAjCA3OgzD
YKxe+AVUCA9y+EBq3s4G46LzeIqGTrgoQgkCIQDUo5IJi/D6hRE2XkE64iH4z1QM
Nn7+gFePY/+jN79Olw==
-----END CERTIFICATE-----
`;

/** A server's key and certificate, for `pinned.test`, `other.test` and 127.0.0.1. */
export interface TestServerCertificate {
  readonly key: string;
  readonly cert: string;
  /** As a certificate pin names its public key: what `openssl dgst -sha256` says of it. */
  readonly pin: string;
}

/** One server. */
export const TEST_SERVER_ONE: TestServerCertificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgPCwgvSV5Kag/Isx3
g+Vhlfj8bcE+4j6W+1nJ7JV1/BahRANCAARZiy2/WAtigtZt6XyhesqqpGHFHJVw
elozSj4RLgqF4jCMI43TATZPYvCwTbcVjBn65WcM3jw5mxqB6bL9ZAoR
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBujCCAWCgAwIBAgICEAEwCgYIKoZIzj0EAwIwKjEoMCYGA1UEAwwfVG9vbEFy
c2VuYWwgdGVzdC1vbmx5IGF1dGhvcml0eTAgFw0yMDAxMDEwMDAwMDBaGA8yMTE5
MTIzMTIzNTk1OVowJzElMCMGA1UEAwwcVG9vbEFyc2VuYWwgdGVzdC1vbmx5IHNl
cnZlcjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABFmLLb9YC2KC1m3pfKF6yqqk
YcUclXB6WjNKPhEuCoXiMIwjjdMBNk9i8LBNtxWMGfrlZwzePDmbGoHpsv1kChGj
dzB1MAkGA1UdEwQCMAAwKAYDVR0RBCEwH4ILcGlubmVkLnRlc3SCCm90aGVyLnRl
c3SHBH8AAAEwHQYDVR0OBBYEFGo0Yf2NUxf3BhgnbNjaNy+IWxJqMB8GA1UdIwQY
MBaAFBvr0bWB6LSTU+80KJAZVMAlBhkTMAoGCCqGSM49BAMCA0gAMEUCIQDDMLKj
fEn86TgorMBqnHBLz8yI1b9MZntnLKFyJuB7YgIgWWIkdekBYk7R/pxtE0QaFY6H
ISR9wn4amlssJuQKPMg=
-----END CERTIFICATE-----
`,
  pin: "sha256/9Dr5q4NOxw6iampviAbF0LQE3DpKsIBo/KMjf9hcfl8=",
};

/** The same server after its key was changed. */
export const TEST_SERVER_TWO: TestServerCertificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgfNliICv6+eDGb5TL
NyPzyScLXakc/BdhTMki9Ui7E0ahRANCAARJwq6O5ej0aF6K7XFF0N8tQB8rXeYn
4+V1vNOATWwlVpbrnKv2fTnGaAs5+buejPe08t37w6/W0Q0Ga1sjTdNz
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBuTCCAWCgAwIBAgICEAIwCgYIKoZIzj0EAwIwKjEoMCYGA1UEAwwfVG9vbEFy
c2VuYWwgdGVzdC1vbmx5IGF1dGhvcml0eTAgFw0yMDAxMDEwMDAwMDBaGA8yMTE5
MTIzMTIzNTk1OVowJzElMCMGA1UEAwwcVG9vbEFyc2VuYWwgdGVzdC1vbmx5IHNl
cnZlcjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABEnCro7l6PRoXortcUXQ3y1A
Hytd5ifj5XW804BNbCVWluucq/Z9OcZoCzn5u56M97Ty3fvDr9bRDQZrWyNN03Oj
dzB1MAkGA1UdEwQCMAAwKAYDVR0RBCEwH4ILcGlubmVkLnRlc3SCCm90aGVyLnRl
c3SHBH8AAAEwHQYDVR0OBBYEFGIkrOcXc+6llguZAqPTP+ZMk4BtMB8GA1UdIwQY
MBaAFBvr0bWB6LSTU+80KJAZVMAlBhkTMAoGCCqGSM49BAMCA0cAMEQCIHqV0AW9
ltpmwvugFGbcFdfH9Pzsbyx3WlkFu+wBGh5SAiBQTjKUJsqzIro5NtzKpPBHPf7V
iJoSPmtgd0UuHRYD0A==
-----END CERTIFICATE-----
`,
  pin: "sha256/jSdK/psfyaB7l8oGlHBTmtL9P77mHdrFQ+3pXsOK7Qc=",
};
