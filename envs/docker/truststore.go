package docker

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"software.sslmate.com/src/go-pkcs12"
)

// trustStorePath is where the script finds its certificates as a trust store of Java, which reads no PEM files.
const trustStorePath = "/tmp/relabel-certificates.p12"

// trustStorePassword has no secret to keep: the store has certificates only.
const trustStorePassword = "changeit"

// useTrustStore has each Java that the script starts trust the store, with the image's own options of Java.
const useTrustStore = `export JAVA_TOOL_OPTIONS="${JAVA_TOOL_OPTIONS:+$JAVA_TOOL_OPTIONS }-Djavax.net.ssl.trustStore=` + trustStorePath +
	` -Djavax.net.ssl.trustStoreType=PKCS12 -Djavax.net.ssl.trustStorePassword=` + trustStorePassword + `"
`

// trustStore returns certificates in PEM as a trust store that all versions of Java since 8 read. Certificates that
// Go cannot parse are left out, as Go leaves them out of its own pools.
func trustStore(certificates []byte) ([]byte, error) {
	var entries []pkcs12.TrustStoreEntry
	for rest := certificates; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if parsed, err := x509.ParseCertificate(block.Bytes); err == nil {
			// Java keeps only one entry of a name, and some authorities have several certificates.
			entries = append(entries, pkcs12.TrustStoreEntry{Cert: parsed, FriendlyName: fmt.Sprint("certificate ", len(entries))})
		}
	}
	return pkcs12.LegacyDES.EncodeTrustStoreEntries(entries, trustStorePassword)
}
