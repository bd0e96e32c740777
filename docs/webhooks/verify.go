// Go standard library: WEBHOOK_SECRET=whsec_… go run verify.go headers.txt < body.json
// Exits with 0 if the delivery is genuine, otherwise with 1.
package main

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"strconv"
	"strings"
	"time"
)

// isGenuine expects the raw body.
func isGenuine(header http.Header, body []byte, secret string) bool {
	timestamp := header.Get("X-Service-Timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return false
	}
	age := time.Since(time.Unix(seconds, 0))
	if age > 300*time.Second || age < -300*time.Second {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	expected := []byte(hex.EncodeToString(mac.Sum(nil)))
	matches := func(name string) bool {
		given := strings.TrimPrefix(header.Get(name), "sha256=")
		return hmac.Equal([]byte(given), expected)
	}
	// After a rotation, the second signature uses the previous secret.
	return matches("X-Service-Signature") || matches("X-Service-Signature-Previous")
}

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	header, err := textproto.NewReader(bufio.NewReader(file)).ReadMIMEHeader()
	if err != nil && err != io.EOF {
		panic(err)
	}
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	if !isGenuine(http.Header(header), body, os.Getenv("WEBHOOK_SECRET")) {
		os.Exit(1)
	}
}
